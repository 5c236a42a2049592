#include "search/fold_counts.hpp"

#include <algorithm>

#include "support/pairs.hpp"
#include "tanager/counts.hpp"

namespace tanager::internal {
namespace {

/// Cells handed to a thread at once, and those that stay in the first cache while folds are added up.
constexpr std::size_t kCellsAtOnce = 2048;

}  // namespace

double SearchCounts::bytes_to_make(std::size_t threads) const {
  double values = 0, squares = 0;
  for (std::size_t f = 0; f < rows_.n_features(); ++f) {
    values += rows_.n_values(f);
    squares += static_cast<double>(rows_.n_values(f)) * rows_.n_values(f);
  }
  const double cells = (values + (values * values - squares) / 2) * rows_.n_classes();
  const auto folds = static_cast<double>(rows_.n_folds());
  const double at_once = std::min(static_cast<double>(threads), folds);
  return cells * (folds * sizeof(float) + at_once * sizeof(double));
}

void SearchCounts::make_room() {
  const std::size_t n = rows_.n_features(), s = rows_.n_classes();
  std::size_t cells = 0;
  for (std::size_t f = 0; f < n; ++f) {
    single_offsets_.push_back(cells);
    cells += rows_.n_values(f) * s;
  }
  pair_offsets_.reserve(n * (n - 1) / 2);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      pair_offsets_.push_back(cells);
      cells += std::size_t{rows_.n_values(u)} * rows_.n_values(v) * s;
    }
  cells_ = cells;
  counts_ = std::make_unique_for_overwrite<float[]>(cells * rows_.n_folds());
}

void SearchCounts::count_fold(std::size_t k) {
  const CountSet counts = count(rows_.fold(k), CountScope::kPairs);
  std::transform(counts.cells().begin(), counts.cells().end(), counts_.get() + k * cells_,
                 [](double n) { return static_cast<float>(n); });
}

void SearchCounts::leave_folds_out(ThreadTeam& team) {
  if (empty()) return;
  const std::size_t folds = rows_.n_folds();
  team.run(cells_, kCellsAtOnce, [&](std::size_t begin, std::size_t end) {
    std::vector<float> totals(end - begin, 0.0F);
    const auto for_folds = [&](auto change) {
      for (std::size_t k = 0; k < folds; ++k) {
        float* counts = counts_.get() + k * cells_ + begin;
        for (std::size_t i = 0; i < totals.size(); ++i) change(totals[i], counts[i]);
      }
    };
    for_folds([](float& total, float& n) { total += n; });
    for_folds([](float& total, float& n) { n = total - n; });
  });
}

CountView<float> SearchCounts::single(std::size_t child, std::size_t k) const {
  return {counts_.get() + k * cells_ + single_offsets_[child], 0, rows_.n_classes()};
}

CountView<float> SearchCounts::pair(std::size_t parent, std::size_t child, std::size_t k) const {
  const std::size_t s = rows_.n_classes(), u = std::min(parent, child), v = std::max(parent, child);
  const float* counts = counts_.get() + k * cells_ + pair_offsets_[pair_index(u, v, rows_.n_features())];
  if (parent < child) return {counts, rows_.n_values(child) * s, s};
  return {counts, s, rows_.n_values(parent) * s};
}

}  // namespace tanager::internal

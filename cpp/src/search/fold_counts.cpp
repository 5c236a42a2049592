#include "search/fold_counts.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "search/kernels.hpp"
#include "support/flat_index.hpp"
#include "support/pairs.hpp"
#include "tanager/counts.hpp"

namespace tanager::internal {
namespace {

/// Cells handed to a thread at once; while folds are added up, the totals of so many stay in the first-level cache.
constexpr std::size_t kCellsAtOnce = 2048;

void add(const std::vector<double>& other, std::vector<double>& sum) {
  std::transform(sum.begin(), sum.end(), other.begin(), sum.begin(), std::plus<>());
}

/// Turns the counts of every fold into those of all others. The difference from the total is exact where counts are
/// integers; sums of weights are added up anew, since a difference could leave a little where nothing was.
void leave_folds_out(std::vector<std::vector<double>>& folds, bool weighted) {
  std::vector<double> zeros(folds[0].size(), 0.0);
  if (weighted) {
    const std::vector<std::vector<double>> given = std::exchange(folds, {folds.size(), zeros});
    for (std::size_t k = 0; k < folds.size(); ++k)
      for (std::size_t other = 0; other < folds.size(); ++other)
        if (other != k) add(given[other], folds[k]);
    return;
  }
  std::vector<double> total = std::move(zeros);
  for (const auto& fold : folds) add(fold, total);
  for (auto& fold : folds) std::transform(total.begin(), total.end(), fold.begin(), fold.begin(), std::minus<>());
}

/// Replaces values by numbers 0, 1, 2, ... in the order of their first appearance; returns how many there are.
std::size_t number_distinct(std::vector<std::uint32_t>& values) {
  FlatIndex<std::uint32_t> index(values.size());
  for (std::uint32_t& value : values) value = index.insert(value);
  return index.size();
}

}  // namespace

std::vector<std::uint32_t> joint_values(const FoldRows& rows, std::span<const Digit> digits) {
  std::vector<std::uint32_t> values(rows.n_rows(), 0);
  for (const Digit& digit : digits)
    add_codes(rows.codes(digit.feature), digit.stride, values.size(), values.data(), best_isa());
  return values;
}

double PairCounts::bytes_to_make(const FoldRows& rows, std::size_t threads) {
  double values = 0;
  double squares = 0;
  for (std::size_t f = 0; f < rows.n_features(); ++f) {
    values += rows.n_values(f);
    squares += static_cast<double>(rows.n_values(f)) * rows.n_values(f);
  }
  const double cells = (values + (values * values - squares) / 2) * rows.n_classes();
  const auto folds = static_cast<double>(rows.n_folds());
  const double at_once = std::min(static_cast<double>(threads), folds);
  return cells * (folds * sizeof(float) + at_once * sizeof(double));
}

PairCounts::PairCounts(const FoldRows& rows, ThreadTeam& team) : rows_(rows) {
  const std::size_t n = rows.n_features();
  for (std::size_t f = 0; f < n; ++f) {
    single_offsets_.push_back(n_cells_);
    n_cells_ += std::size_t{rows.n_values(f)} * rows.n_classes();
  }
  pair_offsets_.reserve(n * (n - 1) / 2);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      pair_offsets_.push_back(n_cells_);
      n_cells_ += std::size_t{rows.n_values(u)} * rows.n_values(v) * rows.n_classes();
    }
  counts_ = std::make_unique_for_overwrite<float[]>(n_cells_ * rows.n_folds());
  team.run_items(rows.n_folds(), [&](std::size_t k, std::size_t) {
    const CountSet counts = count(rows.fold(k), CountScope::kPairs);
    std::transform(counts.cells().begin(), counts.cells().end(), counts_.get() + k * n_cells_,
                   [](double n_rows) { return static_cast<float>(n_rows); });
  });
  leave_folds_out(team);
}

/// Turns the counts of every fold into those of all others.
void PairCounts::leave_folds_out(ThreadTeam& team) {
  team.run(n_cells_, kCellsAtOnce, [&](std::size_t begin, std::size_t end) {
    std::vector<float> totals(end - begin, 0.0F);
    const auto for_folds = [&](auto change) {
      for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
        float* counts = counts_.get() + k * n_cells_ + begin;
        for (std::size_t i = 0; i < totals.size(); ++i) change(totals[i], counts[i]);
      }
    };
    for_folds([](float& total, float& n) { total += n; });
    for_folds([](float& total, float& n) { n = total - n; });
  });
}

CountView<float> PairCounts::single(std::size_t child, std::size_t k) const {
  return {
      .cells = counts_.get() + k * n_cells_ + single_offsets_[child], .configuration = 0, .value = rows_.n_classes()};
}

CountView<float> PairCounts::pair(std::size_t parent, std::size_t child, std::size_t k) const {
  const std::size_t n_classes = rows_.n_classes();
  const std::size_t pair = pair_index(std::min(parent, child), std::max(parent, child), rows_.n_features());
  const float* counts = counts_.get() + k * n_cells_ + pair_offsets_[pair];
  if (parent < child) return {.cells = counts, .configuration = rows_.n_values(child) * n_classes, .value = n_classes};
  return {.cells = counts, .configuration = n_classes, .value = rows_.n_values(parent) * n_classes};
}

std::vector<std::vector<double>> training_counts(const FoldRows& rows, std::span<const Digit> digits,
                                                 std::size_t n_values) {
  const std::size_t n_classes = rows.n_classes();
  const std::span<const double> weights = rows.data().weights();
  const std::vector<std::uint32_t> values = joint_values(rows, digits);
  std::vector<std::vector<double>> counts(rows.n_folds(), std::vector<double>(n_values * n_classes, 0.0));
  for (const RowSegment& segment : rows.segments()) {
    double* of_class = counts[segment.fold].data() + segment.label;
    for (std::size_t row = segment.begin; row < segment.end; ++row)
      of_class[values[row] * n_classes] += weights.empty() ? 1.0 : weights[row];
  }
  leave_folds_out(counts, !weights.empty());
  return counts;
}

SparseCounts::SparseCounts(const FoldRows& rows, std::vector<std::uint32_t> values)
    : rows_(rows),
      values_(std::move(values)),
      number_(number_distinct(values_)),
      totals_(number_.size() * rows.n_classes(), 0) {
  for (const RowSegment& segment : rows.segments())
    for (std::size_t row = segment.begin; row < segment.end; ++row)
      ++totals_[std::size_t{values_[row]} * rows.n_classes() + segment.label];
}

void SparseCounts::count_fold(std::size_t k) {
  const std::size_t n_classes = rows_.n_classes();
  first_row_.clear();
  training_.clear();
  for (const RowSegment& segment : rows_.segments(k))
    for (std::size_t row = segment.begin; row < segment.end; ++row) {
      const std::uint32_t value = values_[row];
      std::uint32_t& number = number_[value];
      // A number is left over from another fold unless its first row has the same value.
      if (number >= first_row_.size() || values_[first_row_[number]] != value) {
        number = static_cast<std::uint32_t>(first_row_.size());
        first_row_.push_back(row);
        const std::uint32_t* total = totals_.data() + std::size_t{value} * n_classes;
        training_.insert(training_.end(), total, total + n_classes);
      }
      --training_[number * n_classes + segment.label];
    }
}

}  // namespace tanager::internal

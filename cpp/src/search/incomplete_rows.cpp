#include "search/incomplete_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tanager/inference.hpp"

namespace tanager::internal {
namespace {

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

void IncompleteRows::update(const SearchState& state, std::vector<std::uint32_t> summed_rows) {
  const FoldRows& rows = tables_.rows();
  if (!rows.has_missing()) return;
  if (tables_.grid().has_zeros()) summed_rows_ = std::move(summed_rows);
  const std::size_t n = rows.n_features();
  component_.resize(n);
  std::iota(component_.begin(), component_.end(), std::size_t{0});
  const auto root = [&](std::size_t f) {
    while (component_[f] != f) f = component_[f];
    return f;
  };
  std::vector<bool> is_parent(n, false);
  for (std::size_t f = 0; f < n; ++f)
    for (const std::size_t p : state.parents[f]) {
      component_[root(f)] = root(p);
      is_parent[p] = true;
    }
  for (std::size_t f = 0; f < n; ++f) component_[f] = root(f);
  missing_parents_.assign(n, {});
  for (std::size_t f = 0; f < n; ++f)
    if (is_parent[f] && !rows.missing_rows(f).empty()) missing_parents_[component_[f]].push_back(f);
}

std::vector<std::uint32_t> IncompleteRows::find(std::span<const StructureChange> changes) const {
  if (!tables_.rows().has_missing()) return {};
  std::vector<std::size_t> features;
  const auto touch = [&](std::size_t f) {
    const auto& found = missing_parents_[component_[f]];
    features.insert(features.end(), found.begin(), found.end());
  };
  for (const StructureChange& change : changes) {
    touch(change.feature);
    for (const std::size_t p : change.parents) {
      touch(p);
      features.push_back(p);
    }
  }
  sort_unique(features);
  std::vector<std::uint32_t> found = summed_rows_;
  for (const std::size_t f : features) {
    const auto missing = tables_.rows().missing_rows(f);
    found.insert(found.end(), missing.begin(), missing.end());
  }
  sort_unique(found);
  return found;
}

void IncompleteRows::sum_out(const SearchState& state, std::span<const std::uint32_t> wanted,
                             const std::function<void(std::uint32_t row, const double* sums)>& take) const {
  if (wanted.empty()) return;
  const FoldRows& rows = tables_.rows();
  const std::size_t n = rows.n_features();
  const Structure structure = state.structure();
  std::vector<std::optional<Terms>> families(n);
  for (const std::size_t f : structure.order()) families[f] = tables_.terms(f, state.parents[f]);

  const std::uint64_t max_cells =
      std::clamp<std::uint64_t>(memory_limit_ / kBytesPerCliqueCell, kMaxCliqueCells, kMostCliqueCells);
  const Inference inference(structure, rows.data().cardinalities(), rows.n_classes(), max_cells);
  Inference::Workspace work;
  std::vector<double> logs(rows.n_classes());
  std::vector<double> sums(tables_.width());
  std::vector<Code> codes(n);
  std::size_t next = 0;
  for (std::size_t k = 0; k < rows.n_folds(); ++k) {
    const std::size_t end = rows.fold_begin(k + 1);
    if (next == wanted.size() || wanted[next] >= end) continue;
    FamilyTables logs_of_fold(n + 1);
    for (const std::size_t f : structure.order()) logs_of_fold[f] = (*families[f])->logs[k];
    const auto prior = tables_.log_prior(k);
    logs_of_fold[n].assign(prior.begin(), prior.end());
    const auto tables = InferenceTables::from_logs(std::move(logs_of_fold));
    for (; next < wanted.size() && wanted[next] < end; ++next) {
      for (std::size_t f = 0; f < n; ++f) {
        const std::uint16_t code = rows.codes(f)[wanted[next]];
        codes[f] = code == rows.n_values(f) ? kMissing : code;
      }
      inference.log_evidence(tables, codes, work, logs);
      tables_.to_width(logs.data(), sums.data());
      take(wanted[next], sums.data());
    }
  }
}

}  // namespace tanager::internal

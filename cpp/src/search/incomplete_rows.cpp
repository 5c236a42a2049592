// Rows with missing cells. Where a missing feature has children its rows are no sums of terms, and are judged one by
// one with the feature summed out.
#include <algorithm>
#include <numeric>
#include <utility>

#include "search/scorer.hpp"
#include "tanager/inference.hpp"

namespace tanager::internal {

void SearchScorer::find_components() {
  if (!rows_.has_missing()) return;
  const std::size_t n = rows_.n_features();
  component_.resize(n);
  std::iota(component_.begin(), component_.end(), std::size_t{0});
  const auto root = [&](std::size_t f) {
    while (component_[f] != f) f = component_[f] = component_[component_[f]];
    return f;
  };
  std::vector<bool> is_parent(n, false);
  for (std::size_t f = 0; f < n; ++f)
    for (const std::size_t p : state_.parents[f]) {
      component_[root(f)] = root(p);
      is_parent[p] = true;
    }
  missing_parents_.assign(n, {});
  for (std::size_t f = 0; f < n; ++f) component_[f] = root(f);
  for (std::size_t f = 0; f < n; ++f)
    if (is_parent[f] && !rows_.missing_rows(f).empty()) missing_parents_[component_[f]].push_back(f);
}

/// A missing feature without children sums to one and takes its term with it. One with children couples theirs: rows
/// where such a feature is missing, in the components that a candidate touches, are judged one by one.
std::vector<std::uint32_t> SearchScorer::find_inexact_rows(std::span<const StructureChange> changes) const {
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
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  std::vector<std::uint32_t> rows = summed_rows_;
  for (const std::size_t f : features) {
    const auto missing = rows_.missing_rows(f);
    rows.insert(rows.end(), missing.begin(), missing.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

void SearchScorer::exact_sums(const Candidate& candidate, std::span<const std::uint32_t> rows,
                              const std::function<void(std::uint32_t row, const double* sums)>& take) const {
  if (rows.empty()) return;
  const std::size_t n = rows_.n_features(), width = tables_.width();
  SearchState after = state_;
  after.apply(candidate.changes);
  const Structure structure = after.structure();
  const std::vector<std::uint32_t> cardinalities = rows_.data().cardinalities();
  std::vector<Terms> families(n);
  for (const std::size_t f : structure.order()) families[f] = tables_.terms(f, after.parents[f]);

  std::vector<double> logs(rows_.n_classes()), sums(width);
  std::vector<Code> codes(n);
  const std::uint64_t max_cells =
      std::clamp<std::uint64_t>(memory_limit_ / kBytesPerCliqueCell, kMaxCliqueCells, kMostCliqueCells);
  const Inference inference(structure, cardinalities, rows_.n_classes(), max_cells);
  Inference::Workspace work;
  std::size_t next = 0;
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const std::size_t end = rows_.fold_begin(k + 1);
    if (next == rows.size() || rows[next] >= end) continue;
    FamilyTables logs_of_fold(n + 1);
    for (const std::size_t f : structure.order())
      logs_of_fold[f].assign(families[f]->logs[k].begin(), families[f]->logs[k].end());
    const auto prior = tables_.log_prior(k);
    logs_of_fold[n].assign(prior.begin(), prior.end());
    const auto tables = InferenceTables::from_logs(std::move(logs_of_fold));
    for (; next < rows.size() && rows[next] < end; ++next) {
      for (std::size_t f = 0; f < n; ++f) {
        const std::uint16_t code = rows_.codes(f)[rows[next]];
        codes[f] = code == rows_.n_values(f) ? kMissing : code;
      }
      inference.log_evidence(tables, codes, work, logs);
      tables_.to_width(logs.data(), sums.data());
      take(rows[next], sums.data());
    }
  }
}

}  // namespace tanager::internal

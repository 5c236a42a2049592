// Rows with missing values. A missing feature without children sums to one and takes its term with it. One with
// children couples their terms: the log-joint of such a row is not a sum of terms, and is found by exact inference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/candidates.hpp"
#include "search/term_tables.hpp"

namespace tanager::internal {

/// A search lets exact inference use as many cells as fill its memory limit at this many bytes each, but never fewer
/// than the default.
inline constexpr std::size_t kBytesPerCliqueCell = 64;

class IncompleteRows {
 public:
  IncompleteRows(const TermTables& tables, std::size_t memory_limit) : tables_(tables), memory_limit_(memory_limit) {}

  /// To be called for every new state, with the rows that were summed exactly to reach it.
  void update(const SearchState& state, std::vector<std::uint32_t> summed_rows);
  /// The rows whose log-joint is not a sum of terms after some changes, or was not before, in the components of
  /// features that these touch; in increasing order.
  std::vector<std::uint32_t> find(std::span<const StructureChange> changes) const;
  /// Calls take(row, sums) with the sums[width] of given rows in a state, missing features summed out.
  void sum_out(const SearchState& state, std::span<const std::uint32_t> rows,
               const std::function<void(std::uint32_t row, const double* sums)>& take) const;

 private:
  const TermTables& tables_;
  std::size_t memory_limit_;
  std::vector<std::size_t> component_;                     // of every feature
  std::vector<std::vector<std::size_t>> missing_parents_;  // by component: features with children that may be missing
  // Rows summed out before. If their sums are ln 0, it is unknown which terms were, so none can be taken away.
  std::vector<std::uint32_t> summed_rows_;
};

}  // namespace tanager::internal

// Look-ups that change the log-joint of rows, in as few tables as possible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/kernels.hpp"
#include "search/term_tables.hpp"

namespace tanager::internal {

/// Terms that are added to the log-joint, with the sign 1, or taken away, with -1.
struct Lookup {
  Terms terms;
  double sign;
};
using Lookups = std::vector<Lookup>;

/// Joins neighbors into one table while that is small, so a row costs fewer look-ups.
Lookups joined(Lookups lookups, const TermTables& tables);

/// Writes the cells of rows [first, first + n_rows) in a table to `index`.
void find_cells(const FamilyTerms& family, const FoldRows& rows, std::size_t first, std::size_t n_rows,
                std::uint32_t* index);

/// Adds look-ups to sums[row][width] of rows [first, first + n_rows) of one fold: at most kSearchBlock of them.
void add_lookups(std::span<const Lookup> lookups, const TermTables& tables, std::size_t fold, std::size_t first,
                 std::size_t n_rows, double* sums);

/// Calls use(segment, first, n_rows) for rows [first, first + n_rows), at most kSearchBlock at a time.
template <class Use>
void for_each_block(std::span<const RowSegment> segments, Use use) {
  for (const RowSegment& segment : segments)
    for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock)
      use(segment, first, std::min(kSearchBlock, segment.end - first));
}

}  // namespace tanager::internal

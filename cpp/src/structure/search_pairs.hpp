// Single arcs between two features of a two-class problem: the case of which there may be millions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "structure/search_rows.hpp"
#include "structure/search_tables.hpp"

namespace tanager {

/// Mean accuracy over the folds after parent -> child, for every parent. `sums` is the difference of the two classes
/// without the child's term, row by row. All tables are made in one go, rows that no table can sway are counted once,
/// and only the others are looked at for every parent. Needs SearchTables::has_plain_pairs().
std::vector<double> score_pairs(const SearchRows& rows, const SearchTables& tables, std::size_t child,
                                std::span<const std::size_t> parents, std::span<const double> sums);

}  // namespace tanager

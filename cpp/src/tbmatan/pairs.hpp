// What the table of a pair of features says: its margins, and by how much the pair is more probable than independent
// features would be.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tanager/counts.hpp"

namespace tanager::internal {

/// Margins of counts [i][j][class]. Where cells are missing these are not the counts of the single features: a table
/// counts the rows in which both are observed.
struct PairMargins {
  PairMargins(std::span<const double> cells, std::size_t n_u, std::size_t n_v, std::size_t n_classes);

  std::vector<double> u, v, classes;  // [i][class], [j][class], [class]
};

/// lift = N*_uv N*_c / (N*_u N*_v) of every cell, [i][j][class]; * is the count and its share of the prior.
std::vector<double> pair_lifts(const CountSet& counts, std::size_t u, std::size_t v, double equivalent_sample_size);

}  // namespace tanager::internal

// Counting straight into the table of a family: any number of parents, any width, any size, weighted or not.
#pragma once

#include <span>

#include "tanager/counts.hpp"

namespace tanager::internal {

/// Adds every row of the data to the cells of the family's table (laid out as in CountTable), in the order of the rows.
void count_direct(const Dataset& data, const Family& family, std::span<double> cells);

}  // namespace tanager::internal

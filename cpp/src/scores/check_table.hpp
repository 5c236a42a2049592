// Count tables that a caller made must be what they say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "support/text.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {

/// Whether there are as many cells as the product of all dimensions, however large that is.
inline bool has_cells(std::size_t cells, std::span<const std::size_t> dims) {
  for (const std::size_t dim : dims)
    if (dim == 0) return cells == 0;
  for (const std::size_t dim : dims) {
    if (cells % dim != 0) return false;
    cells /= dim;
  }
  return cells == 1;
}

/// Throws InvalidInput unless the cells are those of whole distributions over the values, for all classes.
inline void check_blocks(std::size_t cells, std::size_t values, std::size_t classes) {
  if (values == 0 || classes == 0 ? cells != 0 : cells % values != 0 || cells / values % classes != 0)
    throw InvalidInput(
        join_text("a count table over ", values, " values and ", classes, " classes cannot have ", cells, " cells"));
}

/// Throws InvalidInput unless the cells number as many as the dimensions say.
inline void check_table(const CountTable& table) {
  std::vector<std::size_t> dims(table.dims.begin(), table.dims.end());
  dims.push_back(table.n_classes);
  if (dims.size() < 2 || !has_cells(table.cells.size(), dims))
    throw InvalidInput(join_text("a count table of feature ", table.family.child, " has ", table.cells.size(),
                                 " cells, which its ", table.dims.size(), " dimensions and ", table.n_classes,
                                 " classes do not give"));
}

}  // namespace tanager::internal

// Structures as Python knows them: the parents of every feature, None for a feature that the model leaves out.
#pragma once

#include <pybind11/stl.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tanager/network.hpp"

namespace tanager::python {

using Parents = std::vector<std::optional<std::vector<std::size_t>>>;

inline Structure to_structure(const Parents& given) {
  std::vector<std::vector<std::size_t>> parents(given.size());
  std::vector<bool> absent(given.size(), false);
  for (std::size_t f = 0; f < given.size(); ++f) {
    absent[f] = !given[f].has_value();
    if (given[f]) parents[f] = *given[f];
  }
  return Structure::leaving_out(std::move(absent), std::move(parents));
}

inline Parents parents_of(const Structure& structure) {
  Parents parents(structure.n_features());
  for (const std::size_t f : structure.order()) parents[f] = structure.parents(f);
  return parents;
}

}  // namespace tanager::python

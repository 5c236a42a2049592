// Structures as Python knows them: an object, or the parents of every feature, None for one that the model leaves out.
#pragma once

#include <pybind11/stl.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tanager/network.hpp"

namespace tanager::python {

using ParentLists = std::vector<std::optional<std::vector<std::size_t>>>;

/// The structure argument of functions.
using Parents = std::variant<const Structure*, ParentLists>;

inline Structure to_structure(const ParentLists& given, std::optional<std::vector<bool>> class_children = {},
                              std::vector<std::size_t> class_parents = {}) {
  std::vector<std::vector<std::size_t>> parents(given.size());
  std::vector<bool> absent(given.size(), false);
  for (std::size_t f = 0; f < given.size(); ++f) {
    absent[f] = !given[f].has_value();
    if (given[f]) parents[f] = *given[f];
  }
  return Structure::general(std::move(parents),
                            class_children ? std::move(*class_children) : std::vector<bool>(given.size(), true),
                            std::move(class_parents), std::move(absent));
}

inline Structure to_structure(const Parents& given) {
  if (const auto* lists = std::get_if<ParentLists>(&given)) return to_structure(*lists);
  return *std::get<const Structure*>(given);
}

inline ParentLists parents_of(const Structure& structure) {
  ParentLists parents(structure.n_features());
  for (const std::size_t f : structure.order()) parents[f] = structure.parents(f);
  return parents;
}

}  // namespace tanager::python

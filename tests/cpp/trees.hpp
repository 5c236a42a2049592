// All spanning trees of a few nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tanager/tree_sums.hpp"

namespace reference {

/// All spanning trees of n nodes, from their Pruefer sequences.
inline std::vector<std::vector<tanager::Edge>> all_trees(std::size_t n) {
  if (n == 1) return {{}};
  if (n == 2) return {{{0, 1}}};
  std::vector<std::vector<tanager::Edge>> trees;
  std::vector<std::size_t> code(n - 2, 0);
  for (;;) {
    std::vector<std::size_t> degree(n, 1);
    for (const std::size_t v : code) ++degree[v];
    std::vector<tanager::Edge> edges;
    const auto next_leaf = [&](std::size_t from) {
      return static_cast<std::size_t>(
          std::find(degree.begin() + static_cast<std::ptrdiff_t>(from), degree.end(), std::size_t{1}) - degree.begin());
    };
    for (const std::size_t v : code) {
      const std::size_t leaf = next_leaf(0);
      edges.emplace_back(std::min(leaf, v), std::max(leaf, v));
      --degree[leaf];
      --degree[v];
    }
    const std::size_t first = next_leaf(0);
    edges.emplace_back(first, next_leaf(first + 1));
    std::sort(edges.begin(), edges.end());
    trees.push_back(edges);
    std::size_t digit = 0;
    while (digit < code.size() && ++code[digit] == n) code[digit++] = 0;
    if (digit == code.size()) return trees;
  }
}

}  // namespace reference

// Prim's algorithm on a complete graph. Edges are ordered by (weight, then lowest pair index), a strict order, so the
// tree is unique and the same as Kruskal's with that order. Growing through edges of negative weight first and dropping
// them afterwards gives the maximum forest: a negative edge is taken only where no other joins the two parts.
#include "graph/spanning_tree.hpp"

#include <algorithm>

#include "support/pairs.hpp"

namespace tanager::internal {
namespace {

struct Link {
  double weight;
  std::size_t pair;

  bool better_than(const Link& other) const {
    return weight > other.weight || (weight == other.weight && pair < other.pair);
  }
};

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> maximum_spanning_forest(std::size_t n,
                                                                         std::span<const double> weights) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  if (n == 0) return edges;
  const auto link = [&](std::size_t a, std::size_t b) {
    const std::size_t pair = pair_index(std::min(a, b), std::max(a, b), n);
    return Link{weights[pair], pair};
  };
  std::vector<std::size_t> outside(n - 1), nearest(n, 0);
  std::vector<Link> best(n);
  for (std::size_t v = 1; v < n; ++v) {
    outside[v - 1] = v;
    best[v] = link(0, v);
  }
  while (!outside.empty()) {
    const auto next = std::min_element(outside.begin(), outside.end(),
                                       [&](std::size_t a, std::size_t b) { return best[a].better_than(best[b]); });
    const std::size_t node = *next;
    *next = outside.back();
    outside.pop_back();
    if (best[node].weight >= 0) edges.emplace_back(std::min(node, nearest[node]), std::max(node, nearest[node]));
    for (const std::size_t v : outside) {
      const Link candidate = link(node, v);
      if (candidate.better_than(best[v])) {
        best[v] = candidate;
        nearest[v] = node;
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

std::vector<std::optional<std::size_t>> root_forest(std::size_t n,
                                                    const std::vector<std::pair<std::size_t, std::size_t>>& edges,
                                                    std::optional<std::size_t> root) {
  std::vector<std::vector<std::size_t>> neighbors(n);
  for (const auto& [u, v] : edges) {
    neighbors[u].push_back(v);
    neighbors[v].push_back(u);
  }
  std::vector<std::optional<std::size_t>> parent(n);
  std::vector<bool> reached(n, false);
  std::vector<std::size_t> stack;
  const auto grow = [&](std::size_t start) {
    if (reached[start]) return;
    reached[start] = true;
    stack.push_back(start);
    while (!stack.empty()) {
      const std::size_t node = stack.back();
      stack.pop_back();
      for (const std::size_t next : neighbors[node]) {
        if (reached[next]) continue;
        reached[next] = true;
        parent[next] = node;
        stack.push_back(next);
      }
    }
  };
  if (root) grow(*root);
  for (std::size_t node = 0; node < n; ++node) grow(node);
  return parent;
}

}  // namespace tanager::internal

#include "constraint/orientation.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace tanager::internal {
namespace {

/// For every node, which strongly connected component of the arcs it is in (Tarjan 1972).
std::vector<std::size_t> circles_of(const PartialDag& graph) {
  const std::size_t n = graph.n_nodes();
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> number(n, kNone), lowest(n), component(n, kNone), stack;
  std::size_t n_numbered = 0;
  const std::function<void(std::size_t)> visit = [&](std::size_t u) {
    number[u] = lowest[u] = n_numbered++;
    stack.push_back(u);
    for (std::size_t v = 0; v < n; ++v) {
      if (!graph.is_arc(u, v)) continue;
      if (number[v] == kNone) {
        visit(v);
        lowest[u] = std::min(lowest[u], lowest[v]);
      } else if (component[v] == kNone) {
        lowest[u] = std::min(lowest[u], number[v]);
      }
    }
    if (lowest[u] != number[u]) return;
    for (bool more = true; more;) {
      const std::size_t v = stack.back();
      stack.pop_back();
      component[v] = u;
      more = v != u;
    }
  };
  for (std::size_t u = 0; u < n; ++u)
    if (number[u] == kNone) visit(u);
  return component;
}

/// Takes the direction off all of these arcs that are part of a circle, and says which.
std::vector<Pair> undo_circles(PartialDag& graph, const std::vector<Pair>& arcs) {
  const auto circle = circles_of(graph);
  std::vector<Pair> undone;
  for (const auto& [u, v] : arcs)
    if (circle[u] == circle[v]) {
      graph.connect(u, v);
      undone.emplace_back(u, v);
    }
  return undone;
}

void direct_colliders(const Skeleton& skeleton, PartialDag& graph) {
  const std::size_t n = graph.n_nodes();
  std::vector<bool> told(n * n, false);
  for (std::size_t z = 0; z < n; ++z) {
    const auto around = graph.neighbors(z);
    for (std::size_t i = 0; i < around.size(); ++i)
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        const std::size_t x = around[i], y = around[j];
        if (graph.adjacent(x, y) || !skeleton.of(x, y).mostly_without(z)) continue;
        told[x * n + z] = told[y * n + z] = true;
      }
  }
  std::vector<Pair> arcs;
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v)
      if (told[u * n + v] && !told[v * n + u]) {
        graph.direct(u, v);
        arcs.emplace_back(u, v);
      }
  undo_circles(graph, arcs);
}

/// Whether the edge between a and b must be an arc from a to b, so that there is neither a new collider nor a circle.
class MeekRules {
 public:
  explicit MeekRules(const PartialDag& graph) : graph_(graph) {}

  bool imply(std::size_t a, std::size_t b) const {
    const std::size_t n = graph_.n_nodes();
    for (std::size_t c = 0; c < n; ++c) {
      if (c == a || c == b) continue;
      if (graph_.is_arc(c, a) && !graph_.adjacent(c, b)) return true;  // otherwise a is a new collider
      if (!graph_.is_arc(c, b)) continue;
      if (graph_.is_arc(a, c)) return true;  // otherwise there is a circle
      if (graph_.adjacent(a, c) && leads_by(a, b, c)) return true;
    }
    return false;
  }

 private:
  /// The third and the fourth rule, where c is a parent of b and a neighbor of a.
  bool leads_by(std::size_t a, std::size_t b, std::size_t c) const {
    for (std::size_t d = 0; d < graph_.n_nodes(); ++d) {
      if (d == b || d == c || !graph_.is_undirected(a, d)) continue;
      if (graph_.is_undirected(a, c) && graph_.is_arc(d, b) && !graph_.adjacent(c, d)) return true;
      if (graph_.is_arc(d, c) && !graph_.adjacent(d, b)) return true;
    }
    return false;
  }

  const PartialDag& graph_;
};

/// Round by round: what a round finds is found from the graph before it, so that no edge comes first.
void direct_by_rules(PartialDag& graph) {
  const std::size_t n = graph.n_nodes();
  std::vector<bool> left_alone(n * n, false);
  for (bool more = true; more;) {
    std::vector<Pair> arcs;
    const MeekRules rules(graph);
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        if (!graph.is_undirected(u, v) || left_alone[u * n + v]) continue;
        const bool forth = rules.imply(u, v), back = rules.imply(v, u);
        if (forth != back) arcs.push_back(forth ? Pair{u, v} : Pair{v, u});
      }
    for (const auto& [u, v] : arcs) graph.direct(u, v);
    for (const auto& [u, v] : undo_circles(graph, arcs)) left_alone[std::min(u, v) * n + std::max(u, v)] = true;
    more = !arcs.empty();
  }
}

/// Sets nodes aside, children first.
class Extension {
 public:
  Extension(PartialDag graph, std::vector<std::size_t> preference, std::vector<std::uint32_t> cardinalities)
      : graph_(std::move(graph)), left_(std::move(preference)), cardinalities_(std::move(cardinalities)) {
    if (left_.empty()) {
      left_.resize(graph_.n_nodes());
      std::iota(left_.begin(), left_.end(), std::size_t{0});
    }
    if (cardinalities_.empty()) cardinalities_.assign(graph_.n_nodes(), 2);
  }

  std::vector<std::vector<std::size_t>> run() {
    std::vector<std::vector<std::size_t>> parents(graph_.n_nodes());
    while (!left_.empty()) {
      const std::size_t place = next(), child = left_[place];
      parents[child] = graph_.neighbors(child);
      for (const std::size_t parent : parents[child]) graph_.disconnect(parent, child);
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return parents;
  }

 private:
  std::size_t next() const {
    std::size_t cheapest = left_.size();
    double least = 0;
    for (std::size_t place = left_.size(); place-- > 0;) {
      if (has_children(left_[place])) continue;
      if (makes_no_collider(left_[place])) return place;
      const double cost = n_parameters(left_[place]);
      if (cheapest == left_.size() || cost < least) {
        cheapest = place;
        least = cost;
      }
    }
    return cheapest;  // there are no circles, so that some node is without children
  }

  bool has_children(std::size_t u) const {
    for (const std::size_t v : left_)
      if (graph_.is_arc(u, v)) return true;
    return false;
  }

  /// Whether the parents that it would get are neighbors of all its other neighbors.
  bool makes_no_collider(std::size_t u) const {
    const auto around = graph_.neighbors(u);
    return std::all_of(around.begin(), around.end(), [&](std::size_t v) {
      return graph_.is_arc(v, u) ||
             std::all_of(around.begin(), around.end(), [&](std::size_t w) { return w == v || graph_.adjacent(v, w); });
    });
  }

  double n_parameters(std::size_t u) const {
    std::vector<std::uint32_t> of_parents;
    for (const std::size_t v : graph_.neighbors(u)) of_parents.push_back(cardinalities_[v]);
    std::sort(of_parents.begin(), of_parents.end());  // in any order of variables the same product
    double product = cardinalities_[u] - 1.0;
    for (const double r : of_parents) product *= r;
    return product;
  }

  PartialDag graph_;               // of the nodes that are left
  std::vector<std::size_t> left_;  // the most preferred first
  std::vector<std::uint32_t> cardinalities_;
};

}  // namespace

PartialDag directed_pattern(const Skeleton& skeleton) {
  PartialDag graph = skeleton.graph;
  direct_colliders(skeleton, graph);
  direct_by_rules(graph);
  return graph;
}

std::vector<std::vector<std::size_t>> directed_extension(PartialDag pattern, const std::vector<std::size_t>& preference,
                                                         const std::vector<std::uint32_t>& cardinalities) {
  return Extension(std::move(pattern), preference, cardinalities).run();
}

}  // namespace tanager::internal

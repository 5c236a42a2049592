// H = -ln P(best tree) + E[ln w(best tree) - ln w(tree)]. The second part is written as a sum over edges and over the
// levels at which the best tree's edges join groups of nodes, so that weights of very different magnitude never meet.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "graph/edge_probabilities.hpp"
#include "graph/elimination.hpp"

namespace tanager {

using namespace internal;

namespace {

/// ln(a / b)
double log_ratio(Scaled a, Scaled b) {
  return Scaled{a.mantissa / b.mantissa, a.exponent - b.exponent}.log();
}

/// Which edge of the best tree is the weakest on the way between two nodes, by its place from the strongest on.
class Levels {
 public:
  explicit Levels(std::vector<Edge> edges, std::size_t n_nodes)
      : edges_(std::move(edges)), level_(n_nodes * n_nodes, 0), n_(n_nodes) {
    // Joining the strongest edges first, the edge that brings two nodes together is the weakest between them.
    std::vector<std::vector<std::size_t>> group(n_nodes);
    std::vector<std::size_t> of_node(n_nodes);
    std::iota(of_node.begin(), of_node.end(), std::size_t{0});
    for (std::size_t v = 0; v < n_nodes; ++v) group[v] = {v};
    for (std::size_t place = 0; place < edges_.size(); ++place) {
      std::size_t a = of_node[edges_[place].first], b = of_node[edges_[place].second];
      if (group[a].size() < group[b].size()) std::swap(a, b);
      for (const std::size_t u : group[a])
        for (const std::size_t v : group[b]) level_[u * n_ + v] = level_[v * n_ + u] = place;
      for (const std::size_t v : group[b]) of_node[v] = a;
      group[a].insert(group[a].end(), group[b].begin(), group[b].end());
      group[b].clear();
    }
  }
  std::size_t operator()(std::size_t u, std::size_t v) const { return level_[u * n_ + v]; }
  const Edge& edge(std::size_t place) const { return edges_[place]; }
  std::size_t size() const { return edges_.size(); }

 private:
  std::vector<Edge> edges_;  // strongest first
  std::vector<std::size_t> level_;
  std::size_t n_;
};

}  // namespace

double tree_entropy(const EdgeWeights& weights, int threads) {
  const std::size_t n = weights.n_nodes();
  if (n < 2) return 0;
  const TreeDistribution trees = tree_distribution(weights);
  const EdgeExpectations expected = edge_expectations(weights, threads);
  std::vector<Edge> strongest = trees.best_tree;
  const auto weight = [&](const Edge& edge) { return weights(edge.first, edge.second); };
  std::stable_sort(strongest.begin(), strongest.end(),
                   [&](const Edge& a, const Edge& b) { return weight(b) < weight(a); });
  const Levels levels(std::move(strongest), n);

  double entropy = 0 - trees.log_best_probability;  // never minus zero
  // How many edges of the tree are missing at every level: those of the best tree that are not in it, less the others
  // that take their places within the same group.
  std::vector<double> missing(levels.size(), 0.0);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      const std::size_t level = levels(u, v);
      if (levels.edge(level) == Edge{u, v}) {
        missing[level] += expected.out[u * n + v];
      } else if (weights(u, v).mantissa > 0) {
        missing[level] -= expected.in[u * n + v];
        entropy += expected.in[u * n + v] * log_ratio(weight(levels.edge(level)), weights(u, v));
      }
    }
  // An edge that is missing at a level costs the way down to the next, and so on until it is made up for.
  double carried = 0;
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    carried += missing[level];
    const double way = log_ratio(weight(levels.edge(level)), weight(levels.edge(level + 1)));
    // With the groups of this level shorted, the edges between them are in the tree less often by w (R - R'), which is
    // what is carried. R - R' is at most what a unit of flow meets on the best tree's edges within groups, below
    // n / w(level); w is at most w(next level), for below n^2 / 2 edges. Where that is less than rounding leaves, there
    // is nothing.
    const double most = 0.5 * std::pow(static_cast<double>(n), 3) * std::exp(-way);
    entropy += std::clamp(carried, 0.0, most) * way;
  }
  return entropy;
}

}  // namespace tanager

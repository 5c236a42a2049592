// Sums over spanning trees, and the most probable tree.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/elimination.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

// ln 2 in two parts, together good to more than a hundred bits.
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLn2Rest = 0x1.abc9e3b39803fp-56;

}  // namespace

double Scaled::log() const {
  if (!(mantissa > 0)) return -std::numeric_limits<double>::infinity();
  // The mantissa is taken around one: from just below two its logarithm would cancel that of the exponent -1.
  int shift = 0;
  double near_one = std::frexp(mantissa, &shift);
  if (near_one < 0.7071067811865476) {
    near_one *= 2;
    --shift;
  }
  return std::fma(static_cast<double>(exponent + shift), kLn2, std::log(near_one));
}

EdgeWeights::EdgeWeights(std::size_t n_nodes) : n_nodes_(n_nodes), weights_(n_nodes * n_nodes, kScaledZero) {
  if (n_nodes == 0) throw InvalidInput("expected a graph with at least one node, got none");
}

void EdgeWeights::set(std::size_t u, std::size_t v, Scaled weight) {
  if (u >= n_nodes_ || v >= n_nodes_ || u == v)
    throw InvalidInput(
        join_text("expected an edge between two different nodes below ", n_nodes_, ", got (", u, ", ", v, ")"));
  int shift = 0;
  const double mantissa = std::frexp(weight.mantissa, &shift);
  if (!(weight.mantissa >= 0) || std::isinf(weight.mantissa))
    throw InvalidInput(
        join_text("expected a finite weight >= 0, got ", weight.mantissa, " for edge (", u, ", ", v, ")"));
  if (mantissa > 0 && (weight.exponent > kMaxWeightExponent || weight.exponent < -kMaxWeightExponent))
    throw InvalidInput(join_text("expected a weight with an exponent from -2^40 to 2^40, got ", weight.exponent,
                                 " for edge (", u, ", ", v, ")"));
  const Scaled stored = mantissa > 0 ? Scaled{2 * mantissa, weight.exponent + shift - 1} : kScaledZero;
  weights_[u * n_nodes_ + v] = stored;
  weights_[v * n_nodes_ + u] = stored;
}

EdgeWeights EdgeWeights::from_logs(std::size_t n_nodes, std::span<const double> logs) {
  EdgeWeights weights(n_nodes);
  if (logs.size() != n_nodes * n_nodes)
    throw InvalidInput(
        join_text("expected a matrix of ", n_nodes, " x ", n_nodes, " logarithms, got ", logs.size(), " numbers"));
  for (std::size_t u = 0; u < n_nodes; ++u)
    for (std::size_t v = u + 1; v < n_nodes; ++v) {
      const double log = logs[u * n_nodes + v];
      if (log == -std::numeric_limits<double>::infinity()) continue;
      const double exponent = std::floor(log / kLn2);
      if (!(std::abs(exponent) <= static_cast<double>(kMaxWeightExponent)))
        throw InvalidInput(
            join_text("log_weights: expected numbers from -7e11 to 7e11, or minus infinity for no edge, got ", log,
                      " for edge (", u, ", ", v, ")"));
      // The product must not be rounded before the subtraction: the rest would lose its last places.
      const double rest = std::fma(-exponent, kLn2Rest, std::fma(-exponent, kLn2, log));
      weights.set(u, v, {std::exp(rest), static_cast<std::int64_t>(exponent)});
    }
  return weights;
}

Scaled tree_sum(const EdgeWeights& weights) {
  JoiningOrder order = joining_order(weights);
  if (order.nodes.size() < weights.n_nodes()) return kScaledZero;
  ReducedGraph graph(weights, std::move(order.nodes));
  Scaled product = kScaledOne, sum;
  while (graph.size() > 1) {
    graph.eliminate_last(sum);
    product = product * sum;
  }
  return product;
}

TreeDistribution tree_distribution(const EdgeWeights& weights) {
  const JoiningOrder order = connected_order(weights);
  TreeDistribution found;
  ReducedGraph graph(weights, order.nodes);
  Scaled product = kScaledOne, sum;
  while (graph.size() > 1) {
    const std::size_t node = graph.node(graph.size() - 1), parent = order.parent[node];
    found.best_tree.emplace_back(std::min(node, parent), std::max(node, parent));
    // The sum is the parent edge's own weight and others, so that the quotient of both is one plus something positive.
    std::size_t at = 0;
    while (graph.node(at) != parent) ++at;
    Scaled others = graph.added(at, graph.size() - 1);
    const std::vector<Scaled> row = graph.eliminate_last(sum);
    for (std::size_t i = 0; i < row.size(); ++i)
      if (i != at) others = others + row[i];
    found.log_best_probability -= std::log1p(ratio(others, weights(node, parent)));
    product = product * sum;
  }
  found.log_sum = product.log();
  std::sort(found.best_tree.begin(), found.best_tree.end());
  return found;
}

}  // namespace tanager

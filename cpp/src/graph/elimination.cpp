#include "graph/elimination.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "support/check_stop.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

/// Pairwise, so that rounding grows with the logarithm of their number.
Scaled sum_of(std::span<const Scaled> numbers) {
  if (numbers.empty()) return kScaledZero;
  if (numbers.size() == 1) return numbers[0];
  const std::size_t half = numbers.size() / 2;
  return sum_of(numbers.first(half)) + sum_of(numbers.subspan(half));
}

Edge edge_of(std::size_t u, std::size_t v) {
  return {std::min(u, v), std::max(u, v)};
}

}  // namespace

JoiningOrder joining_order(const EdgeWeights& weights) {
  const std::size_t n = weights.n_nodes();
  JoiningOrder order{{0}, std::vector<std::size_t>(n, 0)};
  std::vector<bool> joined(n, false);
  joined[0] = true;
  std::vector<Scaled> best(n, kScaledZero);
  for (std::size_t v = 1; v < n; ++v) best[v] = weights(0, v);
  while (order.nodes.size() < n) {
    // Of equal weights the lowest pair: the parent that joined with it is kept as long as nothing is better.
    const auto pair_of = [&](std::size_t v) { return edge_of(v, order.parent[v]); };
    std::size_t next = n;
    for (std::size_t v = 0; v < n; ++v) {
      if (joined[v] || best[v].mantissa == 0) continue;
      if (next == n || best[next] < best[v] || (!(best[v] < best[next]) && pair_of(v) < pair_of(next))) next = v;
    }
    if (next == n) break;
    joined[next] = true;
    order.nodes.push_back(next);
    for (std::size_t v = 0; v < n; ++v) {
      if (joined[v]) continue;
      const Scaled weight = weights(next, v);
      if (best[v] < weight || (!(weight < best[v]) && edge_of(v, next) < pair_of(v))) {
        best[v] = weight;
        order.parent[v] = next;
      }
    }
  }
  return order;
}

JoiningOrder connected_order(const EdgeWeights& weights) {
  JoiningOrder order = joining_order(weights);
  if (order.nodes.size() < weights.n_nodes())
    throw InvalidInput(join_text("there is no spanning tree: the edges connect the first node with ",
                                 order.nodes.size() - 1, " of the ", weights.n_nodes() - 1, " others"));
  return order;
}

ReducedGraph::ReducedGraph(const EdgeWeights& weights, std::vector<std::size_t> nodes)
    : weights_(&weights), nodes_(std::move(nodes)), stride_(nodes_.size()), added_(stride_ * stride_, kScaledZero) {}

std::vector<Scaled> ReducedGraph::eliminate_last(Scaled& sum) {
  check_stop();
  const std::size_t k = size() - 1;
  std::vector<Scaled> weights(k);
  for (std::size_t i = 0; i < k; ++i) weights[i] = own(i, k) + added(i, k);
  sum = sum_of(weights);
  nodes_.pop_back();
  if (sum.mantissa == 0) return weights;
  for (std::size_t i = 0; i < k; ++i) {
    if (weights[i].mantissa == 0) continue;
    const Scaled share = weights[i] / sum;
    for (std::size_t j = 0; j < i; ++j) {
      Scaled& cell = added_[i * stride_ + j];
      cell = cell + share * weights[j];
      added_[j * stride_ + i] = cell;
    }
  }
  return weights;
}

ReducedGraph ReducedGraph::without(std::size_t begin, std::size_t end) const {
  // Those to be eliminated are put last.
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < size(); ++i)
    if (i < begin || i >= end) from.push_back(i);
  const std::size_t kept = from.size();
  for (std::size_t i = begin; i < end; ++i) from.push_back(i);
  std::vector<std::size_t> nodes;
  for (const std::size_t i : from) nodes.push_back(nodes_[i]);
  ReducedGraph reduced(*weights_, std::move(nodes));
  for (std::size_t i = 0; i < size(); ++i)
    for (std::size_t j = 0; j < size(); ++j) reduced.added_[i * size() + j] = added(from[i], from[j]);
  Scaled sum;
  while (reduced.size() > kept) reduced.eliminate_last(sum);
  return reduced;
}

}  // namespace tanager::internal

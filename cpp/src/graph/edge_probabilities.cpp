// P(edge in tree) = weight / (conductance between its ends), and that conductance is the weight of the one edge that is
// left when all other nodes have been eliminated. For all pairs at once the nodes are halved: pairs within a half are
// gone into after the other half was eliminated; pairs between the halves by halving both, again and again. Every pair
// is reached once, and all of it takes O(n^3).
#include "graph/edge_probabilities.hpp"

#include <functional>
#include <numeric>
#include <utility>

#include "graph/elimination.hpp"
#include "support/parallel.hpp"

namespace tanager {
namespace {

/// Graphs of fewer nodes are not worth another thread.
constexpr std::size_t kParallelNodes = 24;

class Expectations {
 public:
  explicit Expectations(std::size_t n)
      : n_(n), found_{std::vector<double>(n * n, 0.0), std::vector<double>(n * n, 0.0)} {}

  /// All pairs of a graph.
  void within(const ReducedGraph& graph, int threads) {
    const std::size_t n = graph.size(), half = n / 2;
    if (n < 2) return;
    if (n == 2) return take(graph);
    const std::function<void()> tasks[] = {
        [&] { within(graph.without(half, n), 1); },
        [&] { within(graph.without(0, half), 1); },
        [&] { between(graph, half); },
    };
    parallel_for(3, 1, n < kParallelNodes ? 1 : threads, [&](std::size_t i, std::size_t) { tasks[2 - i](); });
  }

  EdgeExpectations result() { return std::move(found_); }

 private:
  /// All pairs of one of the first `first` nodes and one of the others.
  void between(const ReducedGraph& graph, std::size_t first) {
    const std::size_t n = graph.size();
    if (n == 2) return take(graph);
    // One side is halved at a time, the larger one.
    if (first >= n - first) {
      const std::size_t half = first / 2;
      between(graph.without(0, half), first - half);
      between(graph.without(half, first), half);
    } else {
      const std::size_t half = first + (n - first) / 2;
      between(graph.without(first, half), first);
      between(graph.without(half, n), first);
    }
  }

  void take(const ReducedGraph& graph) {
    const std::size_t u = graph.node(0), v = graph.node(1);
    const Scaled own = graph.own(0, 1), added = graph.added(0, 1), sum = own + added;
    found_.in[u * n_ + v] = found_.in[v * n_ + u] = ratio(own, sum);
    found_.out[u * n_ + v] = found_.out[v * n_ + u] = ratio(added, sum);
  }

  std::size_t n_;
  EdgeExpectations found_;
};

}  // namespace

EdgeExpectations edge_expectations(const EdgeWeights& weights, int threads) {
  const JoiningOrder order = connected_order(weights);
  Expectations expectations(weights.n_nodes());
  expectations.within(ReducedGraph(weights, order.nodes), threads);
  return expectations.result();
}

std::vector<double> edge_probabilities(const EdgeWeights& weights, int threads) {
  return edge_expectations(weights, threads).in;
}

}  // namespace tanager

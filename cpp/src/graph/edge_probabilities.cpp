// P(edge in tree) = weight / (conductance between its ends), and that conductance is the weight of the one edge that is
// left when all other nodes have been eliminated. For all pairs at once the nodes are halved: pairs within a half are
// gone into after the other half was eliminated; pairs between the halves by halving both, again and again. Every pair
// is reached once, and all of it takes O(n^3).
#include "graph/edge_probabilities.hpp"

#include <memory>
#include <utility>

#include "graph/elimination.hpp"
#include "support/parallel.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Graphs of fewer nodes are gone into by the thread that made them.
constexpr std::size_t kParallelNodes = 24;

/// Pairs of nodes that are wanted: all of a graph, or those of one of the first nodes and one of the others.
struct Task {
  std::shared_ptr<const ReducedGraph> graph;
  std::size_t first = 0;  ///< zero: all pairs
};

/// The same with some of the graph's nodes still to be eliminated.
struct Part {
  std::shared_ptr<const ReducedGraph> graph;
  std::size_t begin = 0, end = 0;
  std::size_t first = 0;
};

void split_between(const std::shared_ptr<const ReducedGraph>& graph, std::size_t first, std::vector<Part>& parts) {
  const std::size_t n = graph->size();
  // One side is halved at a time, the larger one.
  if (first >= n - first) {
    const std::size_t half = first / 2;
    parts.push_back({graph, 0, half, first - half});
    parts.push_back({graph, half, first, half});
  } else {
    const std::size_t half = first + (n - first) / 2;
    parts.push_back({graph, first, half, first});
    parts.push_back({graph, half, n, first});
  }
}

/// Parts of a graph of at least three nodes that have all its pairs among them.
void split(const Task& task, std::vector<Part>& parts) {
  const std::size_t n = task.graph->size(), half = n / 2;
  if (task.first > 0) return split_between(task.graph, task.first, parts);
  parts.push_back({task.graph, half, n, 0});
  parts.push_back({task.graph, 0, half, 0});
  split_between(task.graph, half, parts);
}

class Expectations {
 public:
  explicit Expectations(std::size_t n)
      : n_(n), found_{std::vector<double>(n * n, 0.0), std::vector<double>(n * n, 0.0)} {}

  /// Large graphs are halved level by level, all parts of a level at once.
  void find(ReducedGraph graph, int threads) {
    std::vector<Task> level{{std::make_shared<const ReducedGraph>(std::move(graph)), 0}};
    while (!level.empty()) {
      std::vector<Part> parts;
      for (const Task& task : level) {
        if (task.graph->size() < kParallelNodes) {
          go_into(task);
        } else {
          split(task, parts);
        }
      }
      level.assign(parts.size(), Task{});
      parallel_for(parts.size(), 1, threads, [&](std::size_t i, std::size_t) {
        level[i] = reduced(parts[i]);
        if (level[i].graph->size() >= kParallelNodes) return;
        go_into(level[i]);
        level[i].graph.reset();
      });
      std::erase_if(level, [](const Task& task) { return task.graph == nullptr; });
    }
  }

  EdgeExpectations result() { return std::move(found_); }

 private:
  static Task reduced(const Part& part) {
    return {std::make_shared<const ReducedGraph>(part.graph->without(part.begin, part.end)), part.first};
  }

  /// Every pair is written by one task alone.
  void go_into(const Task& task) {
    if (task.graph->size() < 2) return;
    if (task.graph->size() == 2) return take(*task.graph);
    std::vector<Part> parts;
    split(task, parts);
    for (const Part& part : parts) go_into(reduced(part));
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

EdgeExpectations internal::edge_expectations(const EdgeWeights& weights, int threads) {
  const JoiningOrder order = connected_order(weights);
  Expectations expectations(weights.n_nodes());
  expectations.find(ReducedGraph(weights, order.nodes), threads);
  return expectations.result();
}

std::vector<double> edge_probabilities(const EdgeWeights& weights, int threads) {
  return edge_expectations(weights, threads).in;
}

}  // namespace tanager

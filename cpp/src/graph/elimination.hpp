// Elimination of nodes without subtraction (Grassmann, Taksar and Heyman 1985): taking a node k out of a graph adds
// w_ik w_kj / d_k to every pair of its neighbors, d_k being the sum of its weights, and divides the tree sum by d_k.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/scaled.hpp"
#include "tanager/tree_sums.hpp"

namespace tanager::internal {

/// The nodes in the order in which they joined a maximum spanning tree, each after the first with its parent there.
/// Taken backwards, every node is eliminated before its parent.
struct JoiningOrder {
  std::vector<std::size_t> nodes;   ///< fewer than the graph has, if the edges do not connect them all
  std::vector<std::size_t> parent;  ///< by node; the first one's is itself
};
JoiningOrder joining_order(const EdgeWeights& weights);

/// The joining order of a graph that must be connected. Throws InvalidInput if it is not.
JoiningOrder connected_order(const EdgeWeights& weights);

/// A graph on some of the nodes of another one, after elimination of the rest. Weights are those of the other graph and
/// what elimination has added; the latter is kept apart, so that it can be looked at alone.
class ReducedGraph {
 public:
  ReducedGraph(const EdgeWeights& weights, std::vector<std::size_t> nodes);

  std::size_t size() const { return nodes_.size(); }
  /// Nodes are numbered from 0 here; this is the number in the whole graph.
  std::size_t node(std::size_t i) const { return nodes_[i]; }
  Scaled added(std::size_t i, std::size_t j) const { return added_[i * stride_ + j]; }
  Scaled own(std::size_t i, std::size_t j) const { return (*weights_)(nodes_[i], nodes_[j]); }

  /// Takes the last node out. Returns its weights to all others and writes their sum.
  std::vector<Scaled> eliminate_last(Scaled& sum);
  /// The same graph without some consecutive nodes, these eliminated.
  ReducedGraph without(std::size_t begin, std::size_t end) const;

 private:
  const EdgeWeights* weights_;
  std::vector<std::size_t> nodes_;
  std::size_t stride_;
  std::vector<Scaled> added_;  // [i][j], symmetric
};

}  // namespace tanager::internal

// Where every edge of a random spanning tree is expected, and where not.
#pragma once

#include <vector>

#include "tanager/tree_sums.hpp"

namespace tanager::internal {

struct EdgeExpectations {
  std::vector<double> in;   ///< [u][v] probability that the edge is in the tree
  std::vector<double> out;  ///< [u][v] one minus that, without a subtraction
};

/// Throws InvalidInput if the edges do not connect all nodes.
EdgeExpectations edge_expectations(const EdgeWeights& weights, int threads);

}  // namespace tanager::internal

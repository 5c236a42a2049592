// How the tree sums of many rows are computed: which edges are looked at, on which scales, and in which order nodes are
// eliminated. All rows and classes share one plan, since a row changes a weight only by the lift of one of its cells,
// and the least and the largest lift of an edge are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tanager/tbmatan.hpp"

namespace tanager {

/// An edge that is looked at. Its table holds weight * lift on the edge's scale: [value of u][value of v][class].
struct PlanEdge {
  std::uint32_t u, v;
  std::uint32_t slot;
  std::size_t table;
};

/// w[target] += share[a] * w[b] * factor: what eliminating a node adds to a pair of its neighbors.
struct PlanUpdate {
  std::uint32_t target, a, b;
  double factor;
};

/// The elimination of one node.
struct PlanStep {
  std::uint32_t first_neighbor, n_neighbors;
  std::uint32_t n_shares;  ///< so many of the neighbors, the first ones, need their share
  std::size_t first_update, n_updates;
  bool renormalize;  ///< whether the product of sums must be brought back into range here
};

struct PlanNeighbor {
  std::uint32_t slot;
  double scale;  ///< a power of two: the scale of the edge over the largest of the node's edges
};

struct TreePlan {
  std::size_t n_features = 0;
  std::uint32_t n_classes = 0;
  std::size_t n_slots = 0;  ///< of edges, and of those that elimination makes
  std::vector<PlanEdge> edges;
  std::vector<double> tables;
  std::vector<PlanStep> steps;
  std::vector<PlanNeighbor> neighbors;
  std::vector<PlanUpdate> updates;
  /// ln of what all tree sums are to be multiplied by: the scales that were taken out.
  double log_scale = 0;
};

/// Half of the logarithms (base 2) by which a weight may differ from what scales are made for, at most: with these the
/// proofs leave room for a hundred thousand features.
inline constexpr double kMaxSlack = 300;

/// log2 of the square root of (largest lift / least lift), the greatest over all edges.
double lift_slack(const Tbmatan& model);

/// Edges and updates that cannot change any tree sum by more than 1e-16 in all are left out if `prune`. The slack must
/// be at most kMaxSlack. Throws InvalidInput, stating the need, if the plan would be too large.
TreePlan make_tree_plan(const Tbmatan& model, bool prune);

}  // namespace tanager

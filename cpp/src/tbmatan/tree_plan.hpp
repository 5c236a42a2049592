// How the tree sums of many rows are computed: which edges are looked at, on which scales, and in which order nodes are
// eliminated. All rows and classes share one plan, since a row changes a weight only by the lift of one of its cells,
// and the least and the largest lift of an edge are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "tanager/tbmatan.hpp"

namespace tanager::internal {

/// An edge that is looked at. Its table holds weight * lift on the edge's scale: [value of u][value of v][class].
struct PlanEdge {
  std::uint32_t u, v;
  std::uint32_t slot;
  std::size_t table;
};

/// w[target] += share * w[other] * factor: what eliminating a node adds to a pair of its neighbors.
struct PlanUpdate {
  std::uint32_t target, other;
  double factor;
};

/// All updates with the share of one neighbor.
struct PlanRun {
  std::uint32_t slot, n_updates;
};

/// The elimination of one node.
struct PlanStep {
  std::uint32_t n_neighbors, n_runs;
  bool renormalize;  ///< whether the product of sums must be brought back into range here
};

struct PlanNeighbor {
  std::uint32_t slot;
  double scale;  ///< a power of two: the scale of the edge over the largest of the node's edges
};

/// Nodes one after the other, each with its neighbors only. Neighbors, runs and updates of all steps follow each other.
struct SparseSchedule {
  std::vector<PlanStep> steps;
  std::vector<PlanNeighbor> neighbors;
  std::vector<PlanRun> runs;
  std::vector<PlanUpdate> updates;
};

/// Where next to nothing can be left out: all nodes one after the other, and no lists. The slot of a pair of positions
/// i < j in that order is pair_index(i, j, n).
struct DenseSchedule {
  std::vector<std::int32_t> exponents;     ///< of scales, [i][j], from one of them on
  std::vector<double> negative_powers;     ///< 2^-k for k = 0, 1, ..., and zero where no double is left
  std::vector<std::int32_t> largest;       ///< of position i with all after it
  std::vector<std::uint8_t> renormalizes;  ///< whether the product must be brought back into range after position i
};

struct TreePlan {
  bool is_dense() const { return std::holds_alternative<DenseSchedule>(schedule); }
  std::uint64_t n_updates() const {
    const std::uint64_t n = n_features;
    return is_dense() ? n * (n - 1) * (n - 2) / 6 : std::get<SparseSchedule>(schedule).updates.size();
  }

  std::size_t n_features = 0;
  std::uint32_t n_classes = 0;
  std::size_t n_slots = 0;  ///< of edges, and of those that elimination makes
  std::vector<PlanEdge> edges;
  std::vector<double> tables;
  std::variant<SparseSchedule, DenseSchedule> schedule;
  /// All tree sums are to be multiplied by two to this power: the scales that were taken out.
  std::int64_t scale = 0;
};

/// Edges and updates that cannot change any tree sum by more than 1e-16 in all are left out if `prune`. Gives nothing
/// if lifts or weights differ by so much that a plan would not be safe. Throws InvalidInput, stating the need, if it
/// would be too large.
std::optional<TreePlan> make_tree_plan(const Tbmatan& model, bool prune);

}  // namespace tanager::internal

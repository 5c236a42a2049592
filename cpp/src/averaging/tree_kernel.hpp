// The hot loop of averaging over trees: one elimination for eight tree sums at once. No branches and no pivoting; every
// lane is on its own, so that a sum does not depend on what is computed beside it.
#pragma once

#include <cstddef>
#include <vector>

#include "averaging/tree_plan.hpp"
#include "support/cpu.hpp"

namespace tanager {

inline constexpr std::size_t kTreeLanes = 8;

/// What a thread needs for it.
class TreeWorkspace {
 public:
  explicit TreeWorkspace(const TreePlan& plan);

  /// [slot][lane]: the weights of edges are to be written here before every run, and are gone after it.
  double* weights() { return weights_.data(); }
  double* shares() { return shares_.data(); }

 private:
  std::vector<double> weights_, shares_;
};

/// Writes the logarithms of eight tree sums to `out`. Subnormal numbers should be flushed meanwhile.
void log_tree_sums(const TreePlan& plan, TreeWorkspace& work, double* out, Isa isa);

}  // namespace tanager

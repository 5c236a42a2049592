// The hot loop of averaging over trees: one elimination for eight tree sums at once. No branches and no
// pivoting; every lane is on its own, so that a sum does not depend on what is computed beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/cpu.hpp"
#include "tbmatan/tree_plan.hpp"

namespace tanager::internal {

inline constexpr std::size_t kTreeLanes = 8;

/// Rows whose tree sums, one for every class, are computed together. Lanes are rows and classes.
class TreeLanes {
 public:
  explicit TreeLanes(const TreePlan& plan);

  /// So many rows fill whole vectors.
  std::size_t rows() const { return rows_; }

  /// Adds the logarithms of tree sums, without the plan's scale and less a number, to `out`, [row][class], for up to
  /// `rows()` rows. The code of feature f in row i is columns[f * stride + i]. Subnormal numbers should be flushed
  /// meanwhile.
  void add_log_sums(const std::uint16_t* columns, std::size_t stride, std::size_t n_rows,
                    std::span<const std::uint32_t> cardinalities, double less, double* out, Isa isa);

 private:
  const TreePlan& plan_;
  std::size_t rows_, row_lanes_, lanes_;
  std::vector<double> weights_;  // [slot][lane]
  std::vector<double> logs_;     // [lane]
};

}  // namespace tanager::internal

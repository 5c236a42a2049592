// Logarithms on a grid. All terms of a search are multiples of one power of two, chosen so fine that sums of them never
// need rounding: taking a term away and adding another is then exact, whatever the order, and a candidate's score does
// not depend on the way it was reached, on the instruction set or on threads.
#pragma once

#include <cmath>
#include <cstddef>

namespace tanager::internal {

class LogGrid {
 public:
  /// For sums of `n_terms` logarithms of magnitude at most `largest`, any of which may be ln 0 if `zeros`.
  LogGrid(std::size_t n_terms, double largest, bool zeros);

  /// The nearest number on the grid.
  double round(double x) const { return (x + magic_) - magic_; }
  /// Half a step of the grid: what decides a tie without disturbing anything else.
  double half_step() const { return half_step_; }
  /// Whether ln 0 can occur.
  bool has_zeros() const { return has_zeros_; }
  /// Stands for ln 0 in sums: so low that a sum with one of them is below `floor`, and all others are above.
  double zero() const { return zero_; }
  /// Sums below this mean probability zero; at least 800 below all other sums. Minus infinity if there are no zeros.
  double floor() const { return floor_; }

 private:
  double magic_, half_step_, zero_, floor_;
  bool has_zeros_;
};

}  // namespace tanager::internal

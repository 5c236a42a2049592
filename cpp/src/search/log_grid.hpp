// Logarithms on a grid. All terms of a search are multiples of one power of two, fine enough that sums of them never
// need rounding: taking a term away and adding another is exact in any order, and a candidate's score does not depend
// on the way it was reached, on the instruction set or on threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tanager::internal {

class LogGrid {
 public:
  /// For sums of `n_terms` logarithms of magnitude at most `largest`, any of which may be ln 0 if `zeros`.
  LogGrid(std::size_t n_terms, double largest, bool zeros) : has_zeros_(zeros) {
    // Two terms more than a sum has: one taken away, one added.
    const double terms = static_cast<double>(n_terms) + 2;
    double bound = terms * largest;
    floor_ = -std::numeric_limits<double>::infinity();
    zero_ = floor_;
    if (zeros) {
      floor_ = -std::exp2(std::ceil(std::log2(2 * bound + kLeastGap)));
      zero_ = 2 * floor_;
      bound = terms * -zero_;
    }
    // Doubles hold 53 bits. One is for the half step, one for the difference of two classes, one for safety.
    const double bits = 50 - std::max(0.0, std::ceil(std::log2(bound)));
    half_step_ = std::exp2(-bits - 1);
    magic_ = 1.5 * std::exp2(52 - bits);
  }

  /// The nearest number on the grid.
  double round(double x) const { return (x + magic_) - magic_; }
  /// Half a step of the grid: decides a tie without disturbing anything else.
  double half_step() const { return half_step_; }
  /// Whether ln 0 can occur.
  bool has_zeros() const { return has_zeros_; }
  /// Stands for ln 0 in sums: so low that a sum with one of them is below `floor`, and all others are above.
  double zero() const { return zero_; }
  /// Sums below this mean probability zero; at least kLeastGap below all other sums. Minus infinity without zeros.
  double floor() const { return floor_; }

 private:
  static constexpr double kLeastGap = 800;  // exp(-800) is zero in double precision

  double magic_;
  double half_step_;
  double zero_;
  double floor_;
  bool has_zeros_;
};

}  // namespace tanager::internal

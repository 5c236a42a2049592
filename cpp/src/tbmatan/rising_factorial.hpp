// Rising factorials a (a+1) ... (a+x-1) = Gamma(a+x) / Gamma(a) as mantissa and exponent. As differences of log-gammas
// they would lose as many digits as the logarithm has before its point.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/scaled.hpp"
#include "tbmatan/double_double.hpp"

namespace tanager::internal {

/// A long product of positive numbers, of which next to nothing is lost to rounding.
class ScaledProduct {
 public:
  void multiply(Scaled factor);
  void multiply(DoubleDouble factor);
  Scaled value() const { return normalized({high_, exponent_}); }

 private:
  void keep_in_range();

  double high_ = 1, low_ = 0;
  std::int64_t exponent_ = 0;
};

/// Counts up to this are possible.
inline constexpr double kMaxRisingCount = 4294967296.0;  // 2^32

class RisingFactorials {
 public:
  /// For a = numerator / denominator and x up to `max_count`.
  RisingFactorials(double numerator, double denominator, double max_count);

  /// Gamma(a + x) / Gamma(a) for any x >= 0, whole or not.
  Scaled operator()(double x) const;

 private:
  DoubleDouble plus(double k) const;
  /// Gamma(a + x) / Gamma(a) for x beyond the table, which is full then.
  Scaled beyond_table(double x) const;

  DoubleDouble a_;
  std::vector<Scaled> table_;  // by x = 0, 1, ...
};

}  // namespace tanager::internal

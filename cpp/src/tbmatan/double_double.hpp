// Numbers as sums of two doubles: about 106 bits, for logarithms so large that a double would keep none of their
// fraction.
#pragma once

namespace tanager::internal {

/// The second is below the last place of the first.
struct DoubleDouble {
  double high = 0, low = 0;
};

/// a + b, exactly.
DoubleDouble sum_of(double a, double b);

DoubleDouble operator+(DoubleDouble a, DoubleDouble b);
DoubleDouble operator-(DoubleDouble a, DoubleDouble b);
DoubleDouble operator*(DoubleDouble a, DoubleDouble b);
DoubleDouble operator/(DoubleDouble a, DoubleDouble b);

/// ln(1 + x) of a number that is not negative: to its last places, however small it is.
DoubleDouble log1p_of(DoubleDouble x);
/// ln x of a positive number.
DoubleDouble log_of(DoubleDouble x);

inline constexpr DoubleDouble kLn2Twice{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

}  // namespace tanager::internal

// Arithmetic of nonnegative numbers of any magnitude. A normalized number has a mantissa in [1, 2), or is zero.
#pragma once

#include <bit>
#include <cstdint>

#include "tanager/tree_sums.hpp"

namespace tanager::internal {

/// Below all exponents that occur; the exponent of zero, so that a sum needs no question for it.
inline constexpr std::int64_t kZeroExponent = std::int64_t{-1} << 61;

inline constexpr Scaled kScaledZero{0.0, kZeroExponent};
inline constexpr Scaled kScaledOne{1.0, 0};

/// 2^exponent for an exponent of at most 1023; zero where that is below the normal numbers.
inline double power_of_two(std::int64_t exponent) {
  return exponent < -1022 ? 0.0 : std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The same number with its mantissa in [1, 2). The mantissa must be a normal number or zero.
inline Scaled normalized(Scaled x) {
  if (!(x.mantissa > 0)) return kScaledZero;
  const auto bits = std::bit_cast<std::uint64_t>(x.mantissa);
  const auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  return {std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52)), x.exponent + exponent};
}

inline Scaled operator*(Scaled a, Scaled b) {
  return normalized({a.mantissa * b.mantissa, a.exponent + b.exponent});
}

/// The divisor must not be zero.
inline Scaled operator/(Scaled a, Scaled b) {
  return normalized({a.mantissa / b.mantissa, a.exponent - b.exponent});
}

/// Of normalized numbers. What is beyond the last place of the larger one is lost, as in any sum.
inline Scaled operator+(Scaled a, Scaled b) {
  if (a.exponent < b.exponent) {
    const Scaled larger = b;
    b = a;
    a = larger;
  }
  double sum = a.mantissa + b.mantissa * power_of_two(b.exponent - a.exponent);
  const bool carries = sum >= 2;
  sum *= carries ? 0.5 : 1.0;
  return {sum, a.exponent + (carries ? 1 : 0)};
}

inline bool operator<(Scaled a, Scaled b) {
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.mantissa < b.mantissa;
}

/// a / b where the quotient is a double; zero where it is too small for one.
inline double ratio(Scaled a, Scaled b) {
  return a.mantissa / b.mantissa * power_of_two(a.exponent - b.exponent);
}

}  // namespace tanager::internal

// exp for loops that compilers turn into vector code. Plain operations only, and no contraction, so that every
// instruction set gives the same bits. Error below 1 ulp; results below the smallest normal number round gradually.
#pragma once

#include <bit>
#include <cstdint>

#include "simd/cpu.hpp"

namespace tanager::internal {

/// Adding this rounds to an integer and leaves that number in the low bits.
inline constexpr double kRoundToWhole = 6755399441055744.0;  // 1.5 * 2^52

/// 2^n for an integer n within the range of exponents, which is not checked.
TANAGER_ALWAYS_INLINE double exact_power_of_two(double n) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(n + kRoundToWhole) << 52) + (std::uint64_t{1023} << 52));
}

/// Below this e^x is zero.
inline constexpr double kExpLimit = -750.0;

/// e^x for kExpLimit <= x <= 709. Without any branch: baseline compilers vectorize nothing else.
TANAGER_ALWAYS_INLINE double vector_exp_in_range(double x) {
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 significant bits: k * kLn2High is exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  const double k = (x * kLog2E + kRoundToWhole) - kRoundToWhole;
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2

  // Taylor's series to r^13; what is left out is below 5e-18.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = (p * r) * r + r;  // the small part last, so that 1 + p rounds once

  // 2^k in two factors, so that neither leaves the range of exponents when the result is subnormal.
  const double half = (k * 0.5 + kRoundToWhole) - kRoundToWhole;
  return ((1.0 + p) * exact_power_of_two(half)) * exact_power_of_two(k - half);
}

/// e^x for x <= 709; minus infinity gives zero.
TANAGER_ALWAYS_INLINE double vector_exp(double x) {
  return vector_exp_in_range(x < kExpLimit ? kExpLimit : x);
}

}  // namespace tanager::internal

// ln for loops that compilers turn into vector code. Plain operations only, and no contraction, so that every
// instruction set gives the same bits. Error below 1 ulp.
#pragma once

#include <bit>
#include <cstdint>

#include "simd/cpu.hpp"

namespace tanager::internal {

/// ln x for positive normal x. Without any branch: baseline compilers vectorize nothing else.
TANAGER_ALWAYS_INLINE double vector_log(double x) {
  constexpr std::uint64_t kHalfRoot = 0x3FE6A09E667F3BCDu;  // the bits of sqrt(1/2)
  constexpr std::uint64_t kBias = std::uint64_t{1024} << 52;
  constexpr std::uint64_t kExponent = std::uint64_t{0xFFF} << 52;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 significant bits: k * kLn2High is exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;

  // x = 2^k m with m in [sqrt(1/2), sqrt(2)). The exponent is biased, for logical shifts are all that vectors have;
  // 2^52 with the number in its low bits turns it into a double.
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t biased = bits - kHalfRoot + kBias;
  const double k = std::bit_cast<double>((biased >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1024.0);
  const double f = std::bit_cast<double>(bits - ((biased & kExponent) - kBias)) - 1.0;

  // ln(1+f) = 2 atanh(t) with t = f / (2+f); the polynomial is a Chebyshev fit to (2 atanh(t) - 2t) / t^3, off by less
  // than 5e-18 of the result. 2t is f - f^2/2 + t f^2/2: this way the large part, f, is exact.
  const double t = f / (2.0 + f), z = t * t;
  double p = 0.14616585424888621989;
  p = p * z + 0.15331710618210771568;
  p = p * z + 0.18182889455674946039;
  p = p * z + 0.22222211130259877029;
  p = p * z + 0.28571428626003268742;
  p = p * z + 0.39999999999899443233;
  p = p * z + 0.66666666666666696883;
  const double half_square = 0.5 * f * f;
  return k * kLn2High - ((half_square - (t * (half_square + z * p) + k * kLn2Low)) - f);
}

}  // namespace tanager::internal

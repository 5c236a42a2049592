// Classes side by side in vector registers, and numbers with a power of two beside them: products of thousands of
// probabilities without under- or overflow, and without a logarithm. Plain operations, and powers of two are exact, so
// every instruction set gives the same bits.
#pragma once

#include <bit>
#include <cstdint>

#include "aode/plan.hpp"
#include "simd/vec.hpp"
#include "simd/vector_exp.hpp"

namespace tanager::internal {

template <class Vector>
TANAGER_ALWAYS_INLINE void multiply_vector(const double* by, Vector& product) {
  Vector factor;
  load_vector(by, factor);
  product *= factor;
}
template <class Vector>
TANAGER_ALWAYS_INLINE void add_vector(const Vector& term, double* sum) {
  Vector total;
  load_vector(sum, total);
  total += term;
  store_vector(total, sum);
}

/// Some vectors side by side, few enough that compilers keep them in registers.
template <class V, std::size_t kVectors>
struct Lanes {
  using Vector = V;
  static constexpr std::size_t kPerVector = kLanesOf<Vector>;
  static constexpr std::size_t kCount = kVectors * kPerVector;

  Vector part[kVectors];

  TANAGER_ALWAYS_INLINE void load(const double* cells) {
    for (std::size_t i = 0; i < kVectors; ++i) load_vector(cells + i * kPerVector, part[i]);
  }
  TANAGER_ALWAYS_INLINE void multiply(const double* cells) {
    for (std::size_t i = 0; i < kVectors; ++i) multiply_vector(cells + i * kPerVector, part[i]);
  }
  TANAGER_ALWAYS_INLINE void multiply(const Lanes& other) {
    for (std::size_t i = 0; i < kVectors; ++i) part[i] *= other.part[i];
  }
  TANAGER_ALWAYS_INLINE void store(double* cells) const {
    for (std::size_t i = 0; i < kVectors; ++i) store_vector(part[i], cells + i * kPerVector);
  }
  TANAGER_ALWAYS_INLINE void add_to(double* cells) const {
    for (std::size_t i = 0; i < kVectors; ++i) add_vector(part[i], cells + i * kPerVector);
  }
};

/// The power that goes with zero: below that of any number.
inline constexpr double kPowerOfZero = -1e300;
/// Numbers this many powers of two apart do not notice each other.
inline constexpr double kFarApart = -1000;

/// Moves the power of two of every number to `power`, leaving it between 2^(kStartPower - 1) and 2^kStartPower; zero
/// stays. Numbers must not be subnormal.
template <std::size_t kLanes>
TANAGER_ALWAYS_INLINE void take_power(double* number, double* power) {
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  constexpr std::uint64_t kNewExponent = std::uint64_t{1023 + kStartPower - 1} << 52;
  constexpr std::uint64_t kWhole = std::uint64_t{0x433} << 52;  // 2^52: a small whole number in its low bits adds to it
  for (std::size_t c = 0; c < kLanes; ++c) {
    const auto bits = std::bit_cast<std::uint64_t>(number[c]);
    const double exponent = std::bit_cast<double>((bits >> 52) | kWhole) - 4503599627370496.0;
    const double scaled = std::bit_cast<double>((bits & kFraction) | kNewExponent);
    power[c] += number[c] == 0 ? 0.0 : exponent - (1023 + kStartPower - 1);
    number[c] = number[c] == 0 ? 0.0 : scaled;
  }
}

/// sum += number, both with powers beside them; the sum's power becomes the larger of the two.
template <std::size_t kLanes>
TANAGER_ALWAYS_INLINE void add_scaled(const double* number, const double* power, double* sum, double* sum_power) {
  for (std::size_t c = 0; c < kLanes; ++c) {
    const double own = number[c] == 0 ? kPowerOfZero : power[c];
    const double largest = own > sum_power[c] ? own : sum_power[c];
    const double down = own - largest < kFarApart ? kFarApart : own - largest;
    const double sum_down = sum_power[c] - largest < kFarApart ? kFarApart : sum_power[c] - largest;
    sum[c] = sum[c] * exact_power_of_two(sum_down) + number[c] * exact_power_of_two(down);
    sum_power[c] = largest;
  }
}

}  // namespace tanager::internal

// Classes side by side in vector registers, and numbers with a power of two beside them: products of thousands of
// probabilities without under- or overflow, and without a logarithm. Plain operations, and powers of two are exact, so
// every instruction set gives the same bits.
#pragma once

#include <bit>
#include <cstdint>

#include "averaging/aode_plan.hpp"
#include "support/cpu.hpp"
#include "support/vector_exp.hpp"

namespace tanager {

/// So many doubles at any address of a double.
template <int kCount>
struct PlainVector {
  double lane[kCount];

  PlainVector& operator*=(const PlainVector& other) {
    for (int c = 0; c < kCount; ++c) lane[c] *= other.lane[c];
    return *this;
  }
  PlainVector& operator+=(const PlainVector& other) {
    for (int c = 0; c < kCount; ++c) lane[c] += other.lane[c];
    return *this;
  }
};

struct OneLane {
  using Vector = double;
  static constexpr int kCount = 1;
};
struct TwoLanes {
#if defined(__GNUC__)
  typedef double Vector __attribute__((vector_size(16), aligned(8), may_alias));
#else
  using Vector = PlainVector<2>;
#endif
  static constexpr int kCount = 2;
};
struct FourLanes {
#if defined(__GNUC__)
  typedef double Vector __attribute__((vector_size(32), aligned(8), may_alias));
#else
  using Vector = PlainVector<4>;
#endif
  static constexpr int kCount = 4;
};

template <class Kind>
TANAGER_ALWAYS_INLINE const typename Kind::Vector& vector_at(const double* cells, int i = 0) {
  return *reinterpret_cast<const typename Kind::Vector*>(cells + i * Kind::kCount);
}
template <class Kind>
TANAGER_ALWAYS_INLINE typename Kind::Vector& vector_at(double* cells, int i = 0) {
  return *reinterpret_cast<typename Kind::Vector*>(cells + i * Kind::kCount);
}

/// One to four vectors, named so that compilers keep them in registers.
template <class VectorKind, int kVectors>
struct Lanes {
  using Kind = VectorKind;
  static constexpr int kCount = kVectors * Kind::kCount;

  typename Kind::Vector a, b, c, d;

  TANAGER_ALWAYS_INLINE void load(const double* cells) {
    a = vector_at<Kind>(cells, 0);
    if constexpr (kVectors > 1) b = vector_at<Kind>(cells, 1);
    if constexpr (kVectors > 2) c = vector_at<Kind>(cells, 2);
    if constexpr (kVectors > 3) d = vector_at<Kind>(cells, 3);
  }
  TANAGER_ALWAYS_INLINE void multiply(const double* cells) {
    a *= vector_at<Kind>(cells, 0);
    if constexpr (kVectors > 1) b *= vector_at<Kind>(cells, 1);
    if constexpr (kVectors > 2) c *= vector_at<Kind>(cells, 2);
    if constexpr (kVectors > 3) d *= vector_at<Kind>(cells, 3);
  }
  TANAGER_ALWAYS_INLINE void multiply(const Lanes& other) {
    a *= other.a;
    if constexpr (kVectors > 1) b *= other.b;
    if constexpr (kVectors > 2) c *= other.c;
    if constexpr (kVectors > 3) d *= other.d;
  }
  TANAGER_ALWAYS_INLINE void store(double* cells) const {
    vector_at<Kind>(cells, 0) = a;
    if constexpr (kVectors > 1) vector_at<Kind>(cells, 1) = b;
    if constexpr (kVectors > 2) vector_at<Kind>(cells, 2) = c;
    if constexpr (kVectors > 3) vector_at<Kind>(cells, 3) = d;
  }
  TANAGER_ALWAYS_INLINE void add_to(double* cells) const {
    vector_at<Kind>(cells, 0) += a;
    if constexpr (kVectors > 1) vector_at<Kind>(cells, 1) += b;
    if constexpr (kVectors > 2) vector_at<Kind>(cells, 2) += c;
    if constexpr (kVectors > 3) vector_at<Kind>(cells, 3) += d;
  }
};

/// The power that goes with zero: below that of any number.
inline constexpr double kPowerOfZero = -1e300;
/// Numbers this many powers of two apart do not notice each other.
inline constexpr double kFarApart = -1000;

/// Moves the power of two of every number to `power`, leaving it between 2^(kStartPower - 1) and 2^kStartPower; zero
/// stays. Numbers must not be subnormal.
template <int kLanes>
TANAGER_ALWAYS_INLINE void take_power(double* number, double* power) {
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  constexpr std::uint64_t kNewExponent = std::uint64_t{1023 + kStartPower - 1} << 52;
  constexpr std::uint64_t kWhole = std::uint64_t{0x433} << 52;  // 2^52: a small whole number in its low bits adds to it
  for (int c = 0; c < kLanes; ++c) {
    const auto bits = std::bit_cast<std::uint64_t>(number[c]);
    const double exponent = std::bit_cast<double>((bits >> 52) | kWhole) - 4503599627370496.0;
    const double scaled = std::bit_cast<double>((bits & kFraction) | kNewExponent);
    power[c] += number[c] == 0 ? 0.0 : exponent - (1023 + kStartPower - 1);
    number[c] = number[c] == 0 ? 0.0 : scaled;
  }
}

/// sum += number, both with powers beside them; the sum's power becomes the larger of the two.
template <int kLanes>
TANAGER_ALWAYS_INLINE void add_scaled(const double* number, const double* power, double* sum, double* sum_power) {
  for (int c = 0; c < kLanes; ++c) {
    const double own = number[c] == 0 ? kPowerOfZero : power[c];
    const double largest = own > sum_power[c] ? own : sum_power[c];
    const double down = own - largest < kFarApart ? kFarApart : own - largest;
    const double sum_down = sum_power[c] - largest < kFarApart ? kFarApart : sum_power[c] - largest;
    sum[c] = sum[c] * power_of_two(sum_down) + number[c] * power_of_two(down);
    sum_power[c] = largest;
  }
}

}  // namespace tanager

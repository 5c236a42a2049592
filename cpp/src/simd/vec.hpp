// Vectors of two, four and eight doubles, whatever registers they take, and what they are made of where compilers have
// none of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simd/cpu.hpp"

namespace tanager::internal {

#if defined(__GNUC__)
typedef double Two __attribute__((vector_size(16)));
typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));
#else
/// The operators that loops use, lane by lane.
template <std::size_t kLanes>
struct PlainVector {
  double lane[kLanes];

  double operator[](std::size_t i) const { return lane[i]; }
  PlainVector& operator*=(const PlainVector& other) {
    for (std::size_t i = 0; i < kLanes; ++i) lane[i] *= other.lane[i];
    return *this;
  }
  PlainVector& operator+=(const PlainVector& other) {
    for (std::size_t i = 0; i < kLanes; ++i) lane[i] += other.lane[i];
    return *this;
  }
  friend PlainVector operator+(PlainVector a, double b) {
    for (double& x : a.lane) x += b;
    return a;
  }
  friend PlainVector operator*(PlainVector a, double b) {
    for (double& x : a.lane) x *= b;
    return a;
  }
  friend PlainVector operator*(PlainVector a, const PlainVector& b) { return a *= b; }
  friend PlainVector operator/(double a, PlainVector b) {
    for (double& x : b.lane) x = a / x;
    return b;
  }
};
using Two = PlainVector<2>;
using Four = PlainVector<4>;
using Eight = PlainVector<8>;
#endif

/// What fills a register of the level.
template <Isa kIsa>
using VectorOf = std::conditional_t<kIsa == Isa::kAvx512, Eight, std::conditional_t<kIsa == Isa::kAvx2, Four, Two>>;

template <class Vector>
inline constexpr std::size_t kLanesOf = sizeof(Vector) / sizeof(std::uint64_t);

/// Vectors at any address of a double: what compilers make of memcpy is one unaligned access.
template <class Vector>
TANAGER_ALWAYS_INLINE void load_vector(const double* from, Vector& to) {
  std::memcpy(&to, from, sizeof(Vector));
}
template <class Vector>
TANAGER_ALWAYS_INLINE void store_vector(const Vector& from, double* to) {
  std::memcpy(to, &from, sizeof(Vector));
}

/// largest[i] = max(largest[i], other[i])
template <class Vector>
TANAGER_ALWAYS_INLINE void keep_larger(Vector& largest, const Vector& other) {
#if defined(__GNUC__)
  largest = other > largest ? other : largest;
#else
  for (std::size_t i = 0; i < kLanesOf<Vector>; ++i)
    if (other.lane[i] > largest.lane[i]) largest.lane[i] = other.lane[i];
#endif
}

}  // namespace tanager::internal

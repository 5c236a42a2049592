// The library's own generator of random numbers: the same numbers on every platform, which the standard library's
// distributions and shuffles do not promise. xoshiro256** (Blackman and Vigna 2021), its state filled by SplitMix64.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tanager::internal {

/// One stream of random numbers. Streams of the same seed and different tasks have nothing to do with each other, so
/// that what one task draws does not depend on how much another drew, nor on which thread runs it.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t task = 0) {
    // Mixed one after the other: seed + 1 with task 0 must not be seed with task 1.
    std::uint64_t start = scrambled(seed + kStep);
    start = scrambled(start ^ (task + kStep));
    for (std::uint64_t& word : state_) {
      start += kStep;
      word = scrambled(start);
    }
  }

  /// The next 64 random bits.
  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// A whole number from 0 to bound - 1, all equally probable; the bound must not be zero.
  std::uint64_t below(std::uint64_t bound) {
    if (bound <= (std::uint64_t{1} << 32)) return below_32(bound);
    const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(bound - 1);
    for (;;)
      if (const std::uint64_t drawn = next() & mask; drawn < bound) return drawn;
  }

  /// A number in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Puts values into an order drawn from all orders with equal probability.
  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[below(left)]);
  }

 private:
  /// The upper half of draw * bound is the number; draws whose lower half falls into the part that would make some
  /// numbers more probable than others are rejected (Lemire 2019).
  std::uint64_t below_32(std::uint64_t bound) {
    constexpr std::uint64_t kLow = 0xFFFFFFFF;
    std::uint64_t product = (next() >> 32) * bound;
    if ((product & kLow) < bound) {
      const std::uint64_t surplus = (kLow + 1) % bound;
      while ((product & kLow) < surplus) product = (next() >> 32) * bound;
    }
    return product >> 32;
  }

  static std::uint64_t scrambled(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace tanager::internal

// Sizes that may be too large for a number: those give the largest one, which no limit allows.
#pragma once

#include <cstdint>
#include <limits>

namespace tanager::internal {

inline constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kSaturated / b ? kSaturated : a * b;
}

constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return b > kSaturated - a ? kSaturated : a + b;
}

}  // namespace tanager::internal

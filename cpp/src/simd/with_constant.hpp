// Numbers known to the compiler, so that it may unroll loops over them.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simd/cpu.hpp"

namespace tanager::internal {

/// Calls body with `n` as a std::integral_constant if it is one of kValues, else with zero.
template <std::size_t... kValues, class Body>
TANAGER_ALWAYS_INLINE void with_constant(std::size_t n, Body body) {
  const bool found = ((n == kValues && (body(std::integral_constant<std::size_t, kValues>{}), true)) || ...);
  if (!found) body(std::integral_constant<std::size_t, 0>{});
}

}  // namespace tanager::internal

// The pairs of n things, numbered.
#pragma once

#include <cstddef>

namespace tanager::internal {

/// Position of the pair u < v among all pairs of n, in the order (0,1), (0,2), ..., (1,2), ...
inline std::size_t pair_index(std::size_t u, std::size_t v, std::size_t n) {
  return u * (2 * n - u - 1) / 2 + (v - u - 1);
}

}  // namespace tanager::internal

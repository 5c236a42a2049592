// Loops over classes that the compiler may unroll.
#pragma once

#include <cstddef>
#include <type_traits>

namespace tanager::internal {

/// Calls body with the number of classes as a compile-time constant where it is small, else with zero.
template <class Body>
void with_classes(std::size_t n_classes, Body body) {
  switch (n_classes) {
    case 1:
      return body(std::integral_constant<std::size_t, 1>{});
    case 2:
      return body(std::integral_constant<std::size_t, 2>{});
    case 3:
      return body(std::integral_constant<std::size_t, 3>{});
    case 4:
      return body(std::integral_constant<std::size_t, 4>{});
    default:
      return body(std::integral_constant<std::size_t, 0>{});
  }
}

}  // namespace tanager::internal

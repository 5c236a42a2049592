// The logarithm of zero.
#pragma once

#include <limits>

namespace tanager::internal {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace tanager::internal

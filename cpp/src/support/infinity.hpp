// The logarithm of zero.
#pragma once

#include <limits>

namespace tanager {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace tanager

// Informations that are equal but for rounding, made equal.
#pragma once

#include <cmath>

namespace tanager::internal {

/// Rounding leaves informations of independent variables at about 1e-16 times a logarithm, and tells equal ones of
/// symmetric tables (full factorials, say) apart by chance. Rounded to about 1.5e-11 nats, which is far above that and
/// far below anything rows can tell, they are zero, and equal ones are equal.
inline double without_noise(double information) {
  constexpr double kPerNat = 68'719'476'736;  // 2^36
  return std::round(information * kPerNat) / kPerNat;
}

}  // namespace tanager::internal

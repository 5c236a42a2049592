// The highest point along a line, without derivatives (Brent 1973).
#pragma once

#include <functional>

namespace tanager {

struct LinePoint {
  double length = 0;
  double value = 0;
};

/// Finds a length above zero with a value above `start`, near the highest: a step up is bracketed from `guess`, which
/// is then narrowed by parabolas and golden sections. Length zero if there is no step up that rounding could tell.
/// `slope` is the derivative at zero, above zero.
LinePoint climb_line(const std::function<double(double)>& value_at, double start, double slope, double guess);

}  // namespace tanager

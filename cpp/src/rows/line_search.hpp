// The highest point along a line (Brent 1973), derivatives being dear.
#pragma once

#include <functional>

namespace tanager::internal {

struct LinePoint {
  double length = 0;
  double value = 0;
};

/// A point with the derivative along the line.
struct SlopedPoint : LinePoint {
  double slope = 0;
};

/// Values along a line, by the length from its start.
struct Line {
  std::function<double(double)> value_at;
  std::function<SlopedPoint(double)> point_at;  // costs more
};

/// Finds a length above zero with a value above `start`, near the highest. A parabola through the start and `guess`
/// tells where to look; if the line is not nearly flat there, a step up is bracketed, and narrowed by parabolas and
/// golden sections. The last look is at what is returned. Length zero if there is no step up that rounding could tell.
/// `slope` is the derivative at zero, above zero.
LinePoint maximize_along(const Line& line, double start, double slope, double guess);

}  // namespace tanager::internal

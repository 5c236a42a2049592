#include "rows/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tanager::internal {
namespace {

constexpr double kGolden = 0.38196601125010515180;  // 2 less the golden ratio
constexpr int kMostHalvings = 40, kMostDoublings = 20, kMostTrials = 12;
// The top need not be known better, in shares of its length or of the slope at the start: the next direction makes up
// for it.
constexpr double kTolerance = 0.02, kNearlyFlat = 0.1;
// How much nearer or farther than a guess a parabola is believed.
constexpr double kNearest = 0.05, kFarthest = 8;

/// Three lengths of which the middle one is the highest.
struct Bracket {
  LinePoint low, middle, high;
};

/// The top of the parabola through a start with a slope and another point.
double parabola_top(double start, double slope, const LinePoint& point) {
  const double fall = start + slope * point.length - point.value;  // below the tangent
  return fall > 0 ? slope * point.length * point.length / (2 * fall) : INFINITY;
}

std::optional<Bracket> bracket(const std::function<double(double)>& value_at, double start, double slope,
                               LinePoint next) {
  LinePoint low{0, start}, high = next;
  for (int i = 0; !(next.value > start); ++i) {
    if (i == kMostHalvings || next.length <= 0) return std::nullopt;
    high = next;
    const double top = parabola_top(start, slope, next);
    const double length =
        std::isfinite(next.value) ? std::clamp(top, 0.05 * next.length, 0.5 * next.length) : 0.05 * next.length;
    next = {length, value_at(length)};
  }
  if (high.length > next.length) return Bracket{low, next, high};
  for (int i = 0; i < kMostDoublings; ++i) {
    const double top = parabola_top(start, slope, next);
    const double length = std::clamp(1.5 * top, 1.6 * next.length, 8 * next.length);
    const LinePoint further{length, value_at(length)};
    if (!(further.value > next.value)) return Bracket{low, next, further};
    low = std::exchange(next, further);
  }
  return Bracket{low, next, next};  // it rises for ever, as far as anybody looks
}

/// Brent's method.
LinePoint narrow(const std::function<double(double)>& value_at, const Bracket& found) {
  double a = found.low.length, b = found.high.length;
  // The best point so far, the second best, and the one before that.
  LinePoint best = found.middle, second = found.low, third = found.high;
  if (third.value > second.value) std::swap(second, third);
  double last = b - a, before = last;
  for (int i = 0; i < kMostTrials; ++i) {
    const double middle = 0.5 * (a + b), close = kTolerance * best.length;
    if (std::abs(best.length - middle) <= 2 * close - 0.5 * (b - a)) break;
    double step = 0;
    bool parabolic = false;
    if (std::abs(before) > close) {
      const double r = (best.length - second.length) * (best.value - third.value);
      double q = (best.length - third.length) * (best.value - second.value);
      double p = (best.length - third.length) * q - (best.length - second.length) * r;
      q = 2 * (q - r);
      if (q > 0) p = -p;
      q = std::abs(q);
      parabolic = std::abs(p) < std::abs(0.5 * q * before) && p > q * (a - best.length) && p < q * (b - best.length);
      if (parabolic) step = p / q;
    }
    if (parabolic) {
      before = std::exchange(last, step);
      const double at = best.length + step;
      if (at - a < 2 * close || b - at < 2 * close) last = best.length < middle ? close : -close;
      step = last;
    } else {
      before = best.length >= middle ? a - best.length : b - best.length;
      last = step = kGolden * before;
    }
    if (std::abs(step) < close) step = step > 0 ? close : -close;
    const LinePoint trial{best.length + step, value_at(best.length + step)};
    if (trial.value >= best.value) {
      (trial.length >= best.length ? a : b) = best.length;
      third = std::exchange(second, std::exchange(best, trial));
    } else {
      (trial.length < best.length ? a : b) = trial.length;
      if (trial.value >= second.value || second.length == best.length)
        third = std::exchange(second, trial);
      else if (trial.value >= third.value || third.length == best.length || third.length == second.length)
        third = trial;
    }
  }
  return best;
}

}  // namespace

LinePoint maximize_along(const Line& line, double start, double slope, double guess) {
  LinePoint known{guess, line.value_at(guess)};
  if (std::isfinite(known.value)) {
    const double top = std::clamp(parabola_top(start, slope, known), kNearest * guess, kFarthest * guess);
    const SlopedPoint near = line.point_at(top);
    if (near.value > start && std::abs(near.slope) <= kNearlyFlat * slope) return near;
    if (near.value > known.value) known = near;
  }
  const std::optional<Bracket> found = bracket(line.value_at, start, slope, known);
  if (!found) return {};
  return line.point_at(narrow(line.value_at, *found).length);
}

}  // namespace tanager::internal

#include "tbmatan/double_double.hpp"

#include <cmath>

namespace tanager::internal {
namespace {

/// a + b where a is the larger one.
DoubleDouble normalized_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

DoubleDouble scaled(DoubleDouble x, int exponent) {
  return {std::ldexp(x.high, exponent), std::ldexp(x.low, exponent)};
}

/// ln((1 + t) / (1 - t)) = 2 (t + t^3 / 3 + t^5 / 5 + ...) for |t| of at most 0.21.
DoubleDouble twice_atanh(DoubleDouble t) {
  constexpr int kTerms = 25;  // 0.21^50 is below 2^-112
  const DoubleDouble square = t * t;
  DoubleDouble sum{0, 0};
  for (int k = kTerms - 1; k >= 0; --k) sum = sum * square + DoubleDouble{1, 0} / DoubleDouble{2.0 * k + 1, 0};
  return scaled(sum * t, 1);
}

}  // namespace

DoubleDouble sum_of(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = sum_of(a.high, b.high), low = sum_of(a.low, b.low);
  const DoubleDouble sum = normalized_sum(high.high, high.low + low.high);
  return normalized_sum(sum.high, sum.low + low.low);
}

DoubleDouble operator-(DoubleDouble a, DoubleDouble b) {
  return a + DoubleDouble{-b.high, -b.low};
}

DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const double product = a.high * b.high;
  return normalized_sum(product, std::fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high));
}

DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.high / b.high;
  const DoubleDouble rest = a - b * DoubleDouble{first, 0};
  const double second = rest.high / b.high;
  const DoubleDouble last = rest - b * DoubleDouble{second, 0};
  return normalized_sum(first, second) + DoubleDouble{last.high / b.high, 0};
}

DoubleDouble log1p_of(DoubleDouble x) {
  if (x.high < 0.5) return twice_atanh(x / (x + DoubleDouble{2, 0}));
  return log_of(x + DoubleDouble{1, 0});
}

DoubleDouble log_of(DoubleDouble x) {
  int exponent = 0;
  // The mantissa is taken from 0.7 to 1.4, where the series converges best.
  if (std::frexp(x.high, &exponent) < 0.7071067811865476) --exponent;
  const DoubleDouble mantissa = scaled(x, -exponent), one{1, 0};
  return twice_atanh((mantissa - one) / (mantissa + one)) + kLn2Twice * DoubleDouble{static_cast<double>(exponent), 0};
}

}  // namespace tanager::internal

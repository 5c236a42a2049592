#include "tbmatan/rising_factorial.hpp"

#include <algorithm>
#include <cmath>

namespace tanager::internal {
namespace {

/// Up to so many, all rising factorials of whole numbers are kept; more go by Stirling's series.
constexpr double kMaxTable = 65536;

/// What ln Gamma(x) has beyond (x - 1/2) ln x - x + ln(2 pi) / 2, for x of at least 16.
double stirling_rest(double x) {
  const double y = 1 / (x * x);
  return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188))))) / x;
}

/// ln of Gamma(z + f) / Gamma(z) for 0 < f < 1 and z of at least 16, by the difference of two Stirling series.
double log_gamma_step(double z, double f) {
  return (z + f - 0.5) * std::log1p(f / z) + f * std::log(z) - f + (stirling_rest(z + f) - stirling_rest(z));
}

/// Gamma(z + f) / Gamma(z) for 0 < f < 1.
double gamma_step(double z, double f) {
  double factor = 1;
  for (; z < 16; ++z) factor *= z / (z + f);
  return factor * std::exp(log_gamma_step(z, f));
}

}  // namespace

void ScaledProduct::keep_in_range() {
  if (high_ >= 0x1p-400 && high_ <= 0x1p400) return;
  const int shift = std::ilogb(high_);
  high_ = std::ldexp(high_, -shift);
  low_ = std::ldexp(low_, -shift);
  exponent_ += shift;
}

void ScaledProduct::multiply(Scaled factor) {
  multiply(DoubleDouble{factor.mantissa, 0});
  exponent_ += factor.exponent;
}

void ScaledProduct::multiply(DoubleDouble factor) {
  const double product = high_ * factor.high;
  const double rest = std::fma(high_, factor.high, -product) + (high_ * factor.low + low_ * factor.high);
  high_ = product + rest;
  low_ = rest - (high_ - product);
  keep_in_range();
}

RisingFactorials::RisingFactorials(double numerator, double denominator, double max_count)
    : a_{numerator / denominator, 0} {
  a_.low = std::fma(-a_.high, denominator, numerator) / denominator;
  const auto last = static_cast<std::size_t>(std::min(max_count, kMaxTable));
  table_.reserve(last + 1);
  ScaledProduct product;
  for (std::size_t k = 0; k <= last; ++k) {
    table_.push_back(product.value());
    product.multiply(plus(static_cast<double>(k)));
  }
}

DoubleDouble RisingFactorials::plus(double k) const {
  DoubleDouble sum = sum_of(k, a_.high);
  sum.low += a_.low;
  return sum;
}

Scaled RisingFactorials::operator()(double x) const {
  if (x > kMaxTable) return beyond_table(x);
  const double whole = std::floor(x), rest = x - whole;
  const Scaled known = table_[static_cast<std::size_t>(whole)];
  if (rest == 0) return known;
  ScaledProduct product;
  product.multiply(known);
  product.multiply(DoubleDouble{gamma_step(whole + a_.high, rest), 0});
  return product.value();
}

Scaled RisingFactorials::beyond_table(double x) const {
  // ln Gamma(z + d) / Gamma(z) = (z - 1/2) ln(1 + d / z) + d ln(z + d) - d + what is left of the series. It may be
  // near 10^12, and half of a double double's digits are still behind the point.
  const DoubleDouble z = plus(kMaxTable), end = plus(x), d{x - kMaxTable, 0};
  const double rest = stirling_rest(end.high) - stirling_rest(z.high);
  const DoubleDouble log =
      (z - DoubleDouble{0.5, 0}) * log1p_of(d / z) + d * (log_of(end) - DoubleDouble{1, 0}) + DoubleDouble{rest, 0};
  const double exponent = std::round(log.high / kLn2Twice.high);
  const DoubleDouble mantissa = log - kLn2Twice * DoubleDouble{exponent, 0};
  return table_.back() * normalized({std::exp(mantissa.high + mantissa.low), static_cast<std::int64_t>(exponent)});
}

}  // namespace tanager::internal

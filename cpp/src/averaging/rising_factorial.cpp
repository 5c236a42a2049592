#include "averaging/rising_factorial.hpp"

#include <cmath>

namespace tanager {
namespace {

/// Up to so many, all rising factorials are kept; of more, every 1024th.
constexpr double kMaxTable = 65536;
constexpr std::size_t kStride = 1024;

DoubleDouble sum_of(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// ln of Gamma(z + f) / Gamma(z) for 0 < f < 1 and z of at least 16, by the difference of two Stirling series.
double log_gamma_step(double z, double f) {
  const auto series = [](double x) {
    const double y = 1 / (x * x);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188))))) / x;
  };
  return (z + f - 0.5) * std::log1p(f / z) + f * std::log(z) - f + (series(z + f) - series(z));
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
    : a_{numerator / denominator, 0}, stride_(max_count <= kMaxTable ? 1 : kStride) {
  a_.low = std::fma(-a_.high, denominator, numerator) / denominator;
  const auto last = static_cast<std::size_t>(max_count);
  ScaledProduct product;
  for (std::size_t k = 0; k <= last; ++k) {
    if (k % stride_ == 0) table_.push_back(product.value());
    product.multiply(plus(static_cast<double>(k)));
  }
}

DoubleDouble RisingFactorials::plus(double k) const {
  DoubleDouble sum = sum_of(k, a_.high);
  sum.low += a_.low;
  return sum;
}

Scaled RisingFactorials::operator()(double x) const {
  const double whole = std::floor(x), rest = x - whole;
  const auto k = static_cast<std::size_t>(whole);
  if (stride_ == 1 && rest == 0) return table_[k];
  ScaledProduct product;
  product.multiply(table_[k / stride_]);
  for (std::size_t i = k / stride_ * stride_; i < k; ++i) product.multiply(plus(static_cast<double>(i)));
  if (rest > 0) product.multiply(DoubleDouble{gamma_step(whole + a_.high, rest), 0});
  return product.value();
}

}  // namespace tanager

#include "support/special.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tanager::internal {

namespace {

// From here on Stirling's series is right to the last bit.
constexpr double kStirling = 16;

/// What ln Gamma(x) has beyond (x - 1/2) ln x - x + ln(2 pi) / 2, for x >= kStirling.
double stirling_rest(double x) {
  const double inverse = 1 / x, square = inverse * inverse;
  return inverse *
         (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square * (1.0 / 1188)))));
}

/// ln(1 + t) - t, which is small and negative, without losing its digits where t is small.
double log1p_rest(double t) {
  if (std::abs(t) > 0.25) return std::log1p(t) - t;
  // ln(1+t) = 2 artanh(u), u = t / (2+t), and t = 2u + u t: what is left is 2 (u^3/3 + u^5/5 + ...) - u t.
  const double u = t / (2 + t), square = u * u;
  constexpr int kTerms = 27;  // |u| <= 1/7, and 7^-27 is far below the last bit
  double sum = 0, power = 2 * u * square;
  for (int k = 3; k < kTerms; k += 2, power *= square) sum += power / k;
  return sum - u * t;
}

/// ln(x^a e^-x / Gamma(a+1)): what the series and the fraction of the incomplete gamma function begin with.
double log_gamma_density(double a, double x) {
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  if (a < kStirling) return a * std::log(x) - x - log_gamma(a + 1);
  return a * log1p_rest((x - a) / a) - 0.5 * std::log(a) - kHalfLog2Pi - stirling_rest(a);
}

/// The part of a gamma variable below x, for x < a + 1: density (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...).
double lower_gamma(double a, double x) {
  double sum = 1, term = 1;
  for (double n = a + 1; term > sum * 1e-17; ++n) sum += term *= x / n;
  return std::exp(log_gamma_density(a, x)) * sum;
}

/// ln of the part above x, for x >= a + 1: Legendre's continued fraction by Lentz's method.
double log_upper_gamma(double a, double x) {
  constexpr double kTiny = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (double i = 1;; ++i) {
    const double numerator = -i * (i - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    const double step = c * d;
    fraction *= step;
    if (!(std::abs(step - 1) >= 1e-15)) break;
  }
  return log_gamma_density(a, x) + std::log(a) + std::log(fraction);
}

}  // namespace

double log_chi_square_tail(double statistic, double degrees) {
  if (!(statistic > 0) || !(degrees > 0)) return 0;
  const double a = degrees / 2, x = statistic / 2;
  return x < a + 1 ? std::log1p(-lower_gamma(a, x)) : log_upper_gamma(a, x);
}

double log_gamma(double x) {
  // Smaller arguments are moved up by Gamma(x) = Gamma(x+m) / (x (x+1) ... (x+m-1)).
  double product = 1;
  while (x < kStirling) product *= x++;
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  return (x - 0.5) * std::log(x) - x + kHalfLog2Pi + stirling_rest(x) - std::log(product);
}

double log_rising(double x, double n) {
  // A short product of exact factors beats the difference of two large logarithms.
  if (n <= 32 && n == std::floor(n) && x < 1e30) {
    double sum = 0, product = 1;
    for (int i = 0; i < static_cast<int>(n); ++i) {
      product *= x + i;
      if (i % 8 == 7) {
        sum += std::log(product);
        product = 1;
      }
    }
    return sum + std::log(product);
  }
  if (x < kStirling) return log_gamma(x + n) - log_gamma(x);
  // The difference of Stirling's terms, taken before they grow: (x - 1/2) ln(1 + n/x) + n ln(x + n) - n + ...
  return (x - 0.5) * std::log1p(n / x) + n * (std::log(x + n) - 1) + stirling_rest(x + n) - stirling_rest(x);
}

double digamma(double x) {
  // Smaller arguments are moved up by digamma(x) = digamma(x+1) - 1/x; what the sum loses to rounding is kept.
  double sum = 0, lost = 0;
  for (; x < kStirling; ++x) {
    const double term = -1 / x, next = sum + term;
    lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
  const double inverse = 1 / x, square = inverse * inverse;
  const double series =
      square * (1.0 / 12 -
                square * (1.0 / 120 -
                          square * (1.0 / 252 - square * (1.0 / 240 - square * (1.0 / 132 - square * 691.0 / 32760)))));
  return (std::log(x) + sum) + (lost - inverse / 2 - series);
}

double trigamma_rest(double x) {
  // All terms are positive: rest(x) = rest(x+1) + 1 / (x^2 (x+1)), and Bernoulli's series from kStirling on.
  double steps = 0;
  for (; x < kStirling; ++x) steps += 1 / (x * x * (x + 1));
  const double inverse = 1 / x, square = inverse * inverse;
  const double series =
      1.0 / 6 -
      square * (1.0 / 30 - square * (1.0 / 42 - square * (1.0 / 30 - square * (5.0 / 66 - square * 691.0 / 2730))));
  return steps + square * (0.5 + inverse * series);
}

double trigamma(double x) {
  return 1 / x + trigamma_rest(x);
}

const double* CountLogs::small_logs() {
  static const auto table = [] {
    std::array<double, kSmall> logs{};
    for (std::size_t i = 1; i < logs.size(); ++i) logs[i] = std::log(static_cast<double>(i));
    return logs;
  }();
  return table.data();
}

}  // namespace tanager::internal

#include "support/special.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace tanager {

namespace {

// From here on Stirling's series is right to the last bit.
constexpr double kStirling = 16;

/// What ln Gamma(x) has beyond (x - 1/2) ln x - x + ln(2 pi) / 2, for x >= kStirling.
double stirling_rest(double x) {
  const double inverse = 1 / x, square = inverse * inverse;
  return inverse *
         (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square * (1.0 / 1188)))));
}

}  // namespace

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

}  // namespace tanager

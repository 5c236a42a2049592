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

const double* CountLogs::small_logs() {
  static const auto table = [] {
    std::array<double, kSmall> logs{};
    for (std::size_t i = 1; i < logs.size(); ++i) logs[i] = std::log(static_cast<double>(i));
    return logs;
  }();
  return table.data();
}

}  // namespace tanager

#include "support/special.hpp"

#include <cmath>

namespace tanager {

double log_gamma(double x) {
  // Stirling's series, whose error is below 1e-17 relative from 16 on; smaller arguments are moved up by
  // Gamma(x) = Gamma(x+m) / (x (x+1) ... (x+m-1)).
  double product = 1;
  while (x < 16) product *= x++;
  const double inverse = 1 / x, square = inverse * inverse;
  const double series =
      inverse *
      (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square * (1.0 / 1188)))));
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  return (x - 0.5) * std::log(x) - x + kHalfLog2Pi + series - std::log(product);
}

double log_rising(double x, double n) {
  // A short product of exact factors beats the difference of two large logarithms.
  if (n <= 32 && n == std::floor(n)) {
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
  return log_gamma(x + n) - log_gamma(x);
}

}  // namespace tanager

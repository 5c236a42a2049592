// Special functions. std::lgamma writes the global signgam, which threads may not share; these do not.
#pragma once

#include <cmath>
#include <cstdint>

namespace tanager::internal {

/// ln Gamma(x) for x > 0.
double log_gamma(double x);

/// ln of the rising factorial x (x+1) ... (x+n-1) = ln Gamma(x+n) - ln Gamma(x), for x > 0 and real n >= 0.
double log_rising(double x, double n);

/// The digamma function, the derivative of ln Gamma, for x > 0. Off by about 1e-15, of the result where that is
/// above 1.
double digamma(double x);

/// The trigamma function, the derivative of digamma, for x > 0.
double trigamma(double x);

/// trigamma(x) - 1/x, which is positive, to full relative precision: differences of trigammas of large numbers are made
/// of it.
double trigamma_rest(double x);

/// ln P(X > statistic) of a chi-square variable with so many degrees of freedom: the logarithm of the p-value, which
/// itself would underflow. Zero (P = 1) if the statistic or the degrees of freedom are zero.
double log_chi_square_tail(double statistic, double degrees);

/// Logarithms of counts, where 0 ln 0 is 0: that of zero is given as zero. Most counts are small whole numbers, whose
/// logarithms are kept; the result is that of std::log in any case.
class CountLogs {
 public:
  CountLogs() : small_(small_logs()) {}

  double operator()(double n) const {
    if (n >= 0 && n < kSmall) {
      const auto whole = static_cast<std::int32_t>(n);
      if (whole == n) return small_[whole];
    }
    return n > 0 ? std::log(n) : 0.0;
  }

 private:
  static constexpr std::int32_t kSmall = 4096;
  static const double* small_logs();

  const double* small_;
};

}  // namespace tanager::internal

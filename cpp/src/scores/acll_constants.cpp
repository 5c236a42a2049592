// The constants of the approximate conditional log-likelihood (Carvalho, Adão and Mateus 2013, theorem 3.2): beta =
// Cov(A,B) / Var(B) and gamma = E[A - beta B] with A = -ln(U_1 + ... + U_s) and B = ln U_1 + ... + ln U_s. The paper
// draws them at random; both of its assumptions have them exactly.
//
// Dirichlet: the shares of the U in their sum are independent of the sum, so that all moments are digammas and
// trigammas. Uniform on [0,1]: -ln U is exponential, and 1/S and ln S of the sum S are integrals over its Laplace
// transform ((1 - e^-t) / t)^s; the trapezoid rule in ln t is right to the last bit there.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "support/special.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/scores.hpp"

namespace tanager {

using namespace internal;

namespace {

// The nodes in ln t. What the rule leaves out is of the order of e^(-pi^2 / step).
constexpr double kStep = 0.25;
// From here on E1(t) is below the last bit of ln t.
constexpr double kLargeTime = 42;

// Up to here a series gives the logarithm of the transform.
constexpr double kSmallTime = 0.25;

/// ln((1 - e^-t) / t) + t/2 = ln(sinh(t/2) / (t/2)) for t <= kSmallTime.
double log_transform_rest(double t) {
  const double z = t * t / 4;
  return z * (1.0 / 6 -
              z * (1.0 / 180 - z * (1.0 / 2835 - z * (1.0 / 37800 - z * (1.0 / 467775 - z * 691.0 / 3831077250)))));
}

/// ln((1 - e^-t) / t), accurate relative to itself, for it is multiplied by the number of classes.
double log_transform(double t) {
  return t <= kSmallTime ? log_transform_rest(t) - t / 2 : std::log(-std::expm1(-t) / t);
}

// Terms of the series for Ein up to kLargeTime: more are nothing.
constexpr std::size_t kTerms = 160;

struct Series {
  std::array<double, kTerms> inverses{}, harmonics{};  // 1/n, and 1/2 + ... + 1/n
};

constexpr Series kSeries = [] {
  Series series;
  double sum = 0;
  for (std::size_t n = 2; n < kTerms; ++n) {
    series.inverses[n] = 1.0 / static_cast<double>(n);
    series.harmonics[n] = sum += series.inverses[n];
  }
  return series;
}();

/// [Ein(t) - 1 + e^-t] / t^2, where Ein(t) = E1(t) + ln t + 0.5772...
double covariance_kernel(double t) {
  if (t > kLargeTime) return (std::log(t) + std::numbers::egamma - 1) / (t * t);
  // Ein(t) = e^-t * sum of H_n t^n / n!, H_n = 1 + 1/2 + ... + 1/n: what is left has positive terms only.
  double sum = 0.25, power = 0.5;  // n = 2: (H_2 - 1) t^0 / 2!
  for (std::size_t n = 3; n < kTerms; ++n) {
    power *= t * kSeries.inverses[n];
    const double term = power * kSeries.harmonics[n];
    sum += term;
    if (term < sum * 1e-17 && static_cast<double>(n) > t) break;
  }
  return sum * std::exp(-t);
}

/// The integral over ln t of what falls as t below 1/s, and as t^-s ln t far above 1: what lies outside is nothing.
template <class Integrand>
double integrate_over_time(std::size_t n_classes, Integrand integrand) {
  const auto s = static_cast<double>(n_classes);
  const double first = -38 - std::log(s), last = 40 / s + 2;
  double sum = 0;
  for (double x = first; x < last; x += kStep) sum += integrand(std::exp(x));
  return sum * kStep;
}

double uniform_beta(std::size_t n_classes) {
  if (n_classes == 1) return -1;
  const auto others = static_cast<double>(n_classes - 1);
  return -integrate_over_time(n_classes, [&](double t) {
    const double factor = std::exp(others * log_transform(t));
    return factor == 0 ? 0.0 : t * covariance_kernel(t) * factor;
  });
}

/// E ln(U_1 + ... + U_s) of the uniform distribution on [0,1]^s, for s > 1.
double uniform_log_sum(std::size_t n_classes) {
  const auto s = static_cast<double>(n_classes);
  return std::log(s / 2) + integrate_over_time(n_classes, [&](double t) {
           const double middle = std::exp(-s * t / 2);
           if (t > kSmallTime) return middle - std::exp(s * log_transform(t));
           if (middle == 0) return 0.0;  // and so is the other one, of which only the quotient might overflow
           return -middle * std::expm1(s * log_transform_rest(t));
         });
}

void check_classes(std::size_t n_classes) {
  if (n_classes == 0) throw InvalidInput("expected at least one class, got 0");
}

void check_positive(const char* name, double value) {
  if (!(value > 0)) throw InvalidInput(join_text(name, ": expected a number > 0, got ", value));
}

double dirichlet_beta(std::size_t n_classes, double a, double b) {
  if (n_classes == 1) return -1;
  const auto s = static_cast<double>(n_classes);
  const double of_classes = s * a, all = of_classes + b;
  // trigamma(x) = 1/x + rest(x): the differences of the first parts are known without subtraction.
  const double rest_of_all = std::isinf(all) ? 0.0 : trigamma_rest(all);
  const double share = std::isinf(all) ? 1.0 : b / all;
  const double covariance = share / of_classes + (trigamma_rest(of_classes) - rest_of_all);
  const double variance = share / a + (trigamma_rest(a) - s * rest_of_all);
  return -covariance / variance;
}

double rows_of(const CountSet& counts, const AcllOptions& options) {
  return options.b.value_or(std::max(1.0, counts.n_rows()));
}

void check_dirichlet(std::size_t n_classes, double a, double b) {
  check_classes(n_classes);
  check_positive("a", a);
  check_positive("b", b);
  const double beta = dirichlet_beta(n_classes, a, b);
  if (!std::isfinite(beta) || !(beta < 0))
    throw InvalidInput(join_text("a and b: expected numbers whose aCLL constants fit a double for ", n_classes,
                                 " classes, got ", a, " and ", b));
}

}  // namespace

AcllConstants uniform_acll_constants(std::size_t n_classes, double p) {
  check_classes(n_classes);
  if (!(p > 0 && p <= 1)) throw InvalidInput(join_text("p: expected a number > 0 and <= 1, got ", p));
  if (n_classes == 1) return {-1, 0};
  const auto s = static_cast<double>(n_classes);
  const double beta = uniform_beta(n_classes);
  return {beta, s * beta - uniform_log_sum(n_classes) - (1 + s * beta) * std::log(p)};
}

AcllConstants dirichlet_acll_constants(std::size_t n_classes, double a, double b) {
  check_dirichlet(n_classes, a, b);
  if (n_classes == 1) return {-1, 0};
  if (std::isinf(b)) return {dirichlet_beta(n_classes, a, b), b};
  const auto s = static_cast<double>(n_classes);
  const double beta = dirichlet_beta(n_classes, a, b), of_all = digamma(s * a + b);
  return {beta, (of_all - digamma(s * a)) + s * beta * (of_all - digamma(a))};
}

AcllConstants acll_constants(const CountSet& counts, const AcllOptions& options) {
  if (options.assumption == AcllAssumption::kUniform) return uniform_acll_constants(counts.n_classes());
  return dirichlet_acll_constants(counts.n_classes(), options.a, rows_of(counts, options));
}

double acll_beta(const CountSet& counts, const AcllOptions& options) {
  const std::size_t n_classes = counts.n_classes();
  check_classes(n_classes);
  if (options.assumption == AcllAssumption::kUniform) return uniform_beta(n_classes);
  check_dirichlet(n_classes, options.a, rows_of(counts, options));
  return dirichlet_beta(n_classes, options.a, rows_of(counts, options));
}

}  // namespace tanager

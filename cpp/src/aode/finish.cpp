#include "aode/finish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "aode/lanes.hpp"

namespace tanager::internal {
namespace {

/// A row's sums over models.
struct Row {
  const double* sums;
  const double* powers;  // null unless scaled
  std::size_t n_classes;

  double power(std::size_t c) const { return powers == nullptr ? 0.0 : powers[c]; }
  double largest_power() const { return powers == nullptr ? 0.0 : *std::max_element(powers, powers + n_classes); }
};

Row row_of(const AodePlan& plan, const AodeBlock& block, std::size_t row) {
  const std::size_t at = row * plan.width;
  return {block.sums.data() + at, plan.scaled ? block.powers.data() + at : nullptr, plan.n_classes};
}

/// P(class, row) of every class, times a factor common to all of them that keeps the largest in range. Returns the sum.
double weigh(const Row& row, double* weights) {
  double sum = 0;
  if (row.powers == nullptr) {
    for (std::size_t c = 0; c < row.n_classes; ++c) {
      weights[c] = row.sums[c];
      sum += weights[c];
    }
    return sum;
  }
  const double largest = row.largest_power();
  for (std::size_t c = 0; c < row.n_classes; ++c) {
    // In two factors, since posteriors may be far below what one power of two can express.
    const double down = std::max(row.power(c) - largest, 2 * kFarApart);
    const double half = std::trunc(down / 2);
    weights[c] = row.sums[c] * exact_power_of_two(half) * exact_power_of_two(down - half);
    sum += weights[c];
  }
  return sum;
}

void posterior(const Row& row, double* out) {
  const double sum = weigh(row, out);
  for (std::size_t c = 0; c < row.n_classes; ++c)
    out[c] = sum > 0 ? out[c] / sum : 1.0 / static_cast<double>(row.n_classes);
}

/// ln(number * 2^power), both parts of the result having the same sign for probabilities, so that nothing cancels.
double scaled_log(double number, double power) {
  if (number == 0) return -std::numeric_limits<double>::infinity();
  int own = 0;
  const double fraction = std::frexp(number, &own);
  return std::log(fraction) + (own + power) * std::numbers::ln2;
}

/// ln(number / sum * 2^power), also where the quotient is too small for a double.
double scaled_log_ratio(double number, double sum, double power) {
  const double ratio = number / sum;
  if (ratio >= std::numeric_limits<double>::min() || number == 0) return scaled_log(ratio, power);
  int own = 0;
  const double fraction = std::frexp(number, &own);
  return scaled_log(fraction / sum, own + power);
}

void log_joint(const Row& row, std::uint32_t n_models, double* out) {
  const double models = std::max(n_models, 1U);  // naive Bayes is one
  for (std::size_t c = 0; c < row.n_classes; ++c) out[c] = scaled_log(row.sums[c] / models, row.power(c) - kStartPower);
}

void log_posterior(const Row& row, double* out) {
  const double sum = weigh(row, out);
  const double largest = row.largest_power();
  for (std::size_t c = 0; c < row.n_classes; ++c)
    out[c] = sum > 0 ? scaled_log_ratio(row.sums[c], sum, row.power(c) - largest)
                     : -std::log(static_cast<double>(row.n_classes));
}

}  // namespace

void finish_rows(const AodePlan& plan, const AodeBlock& block, Output output, double* out) {
  for (std::size_t i = 0; i < block.rows; ++i, out += plan.n_classes) {
    const Row row = row_of(plan, block, i);
    if (output == Output::kPosterior) posterior(row, out);
    if (output == Output::kLogPosterior) log_posterior(row, out);
    if (output == Output::kLogJoint) log_joint(row, block.n_models[i], out);
  }
}

void finish_classes(const AodePlan& plan, const AodeBlock& block, std::uint32_t* out) {
  std::vector<double> weights(plan.n_classes);
  for (std::size_t i = 0; i < block.rows; ++i) {
    weigh(row_of(plan, block, i), weights.data());
    out[i] = static_cast<std::uint32_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  }
}

std::uint32_t finish_row(const AodePlan& plan, const AodeBlock& block, Output output, double* out) {
  weigh(row_of(plan, block, 0), out);
  const auto best = std::max_element(out, out + plan.n_classes) - out;
  finish_rows(plan, block, output, out);
  return static_cast<std::uint32_t>(best);
}

}  // namespace tanager::internal

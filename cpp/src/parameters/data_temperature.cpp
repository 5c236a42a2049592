// Minimum free energy with an explicit data temperature (Isozaki, Kato and Ueno 2008). A distribution that N rows speak
// for is theta_k proportional to f_k^beta with beta = 1 - exp(-N / (gamma n_c)) and relative frequencies f_k = N_k / N.
// Powers are taken of f_k over the largest of them: that is at most one and reached, so that sums neither overflow nor
// vanish. Where beta rounds to one, as it does with some dozens of rows, no power is needed at all.
#include <algorithm>
#include <cmath>
#include <limits>

#include "parameters/from_counts.hpp"
#include "tanager/learn_parameters.hpp"

namespace tanager {

using namespace internal;

namespace {

// From here on 1 - exp(-x) is one to the last bit.
constexpr double kCold = 38;

struct Temperature {
  Degrees degrees;
  double n_c;
  double added;

  /// gamma n_c of a variable with so many values.
  double rows_needed(std::size_t values) const {
    const auto r = static_cast<double>(values);
    return n_c * (degrees == Degrees::kLog ? std::log(r) : r - 1);
  }
};

/// (n / most)^beta, also where the quotient is too small for a double and its power is not.
double power_of_ratio(double n, double most, double beta) {
  const double ratio = n / most;
  if (ratio >= std::numeric_limits<double>::min() || n == 0) return std::pow(ratio, beta);
  return std::exp(beta * (std::log(n) - std::log(most)));
}

/// One distribution of `values` counts, `stride` apart, of which `total` > 0 is the sum and `most` the largest.
void temper(double* cells, std::size_t values, std::size_t stride, double total, double most, double beta,
            double added) {
  const auto frequency = [&](double n) { return added > 0 ? n / total + added : n; };
  const double largest = frequency(most);
  // Most counts of a large table are zero.
  const double of_zero = power_of_ratio(frequency(0), largest, beta);
  double sum = 0;
  for (std::size_t k = 0; k < values; ++k) {
    double& cell = cells[k * stride];
    cell = cell == 0 ? of_zero : cell == most ? 1.0 : power_of_ratio(frequency(cell), largest, beta);
    sum += cell;
  }
  for (std::size_t k = 0; k < values; ++k) cells[k * stride] /= sum;
}

/// Turns counts, [configurations][values][classes], into tempered frequencies.
void temper_all(std::span<double> cells, std::size_t values, std::size_t classes, const Temperature& temperature) {
  const double rows_needed = temperature.rows_needed(values), added = temperature.added;
  const double inverse_sum = 1 / (1 + static_cast<double>(values) * added);  // of all f_k after the addition
  for (std::size_t start = 0; start < cells.size(); start += values * classes)
    for (std::size_t c = 0; c < classes; ++c) {
      double* const first = cells.data() + start + c;
      double total = 0, most = 0;
      for (std::size_t k = 0; k < values; ++k) {
        total += first[k * classes];
        most = std::max(most, first[k * classes]);
      }
      if (!(total > 0)) {
        for (std::size_t k = 0; k < values; ++k) first[k * classes] = 1 / static_cast<double>(values);
      } else if (total >= kCold * rows_needed) {  // always for a single value, which needs no rows
        for (std::size_t k = 0; k < values; ++k)
          first[k * classes] = (first[k * classes] / total + added) * inverse_sum;
      } else {
        temper(first, values, classes, total, most, -std::expm1(-total / rows_needed), added);
      }
    }
}

}  // namespace

Network estimate_data_temperature(const Structure& structure, const CountSet& counts,
                                  const DataTemperatureOptions& options) {
  const double n_c = options.n_c.value_or(options.degrees == Degrees::kLog ? 2.0 : 1.0);
  check_pseudo_counts("n_c", n_c, false);
  check_pseudo_counts("added_frequency", options.added_frequency, true);
  const Temperature temperature{options.degrees, n_c, options.added_frequency};
  const auto estimate = [&](const TableCells& table) {
    temper_all(table.cells, table.values, table.classes, temperature);
  };
  return make_network(structure, counts, options.class_prior, estimate,
                      [&](std::size_t, const TableCells& table) { estimate(table); });
}

}  // namespace tanager

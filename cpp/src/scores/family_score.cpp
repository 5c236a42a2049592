// Decomposable scores of a feature given its parents and the class.
#include <cmath>
#include <numeric>
#include <vector>

#include "scores/check_table.hpp"
#include "support/special.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/scores.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Calls visit(cells of one parent configuration and class, their sum): the distribution's counts, gathered.
template <class Visit>
void for_each_distribution(const CountTable& table, Visit visit) {
  const std::size_t values = table.dims.back(), classes = table.n_classes, block = values * classes;
  std::vector<double> counts(values);
  for (std::size_t start = 0; start < table.cells.size(); start += block)
    for (std::size_t c = 0; c < classes; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < values; ++k) sum += counts[k] = table.cells[start + k * classes + c];
      visit(counts, sum);
    }
}

double log_marginal_likelihood(const CountTable& table, double alpha) {
  const double total_alpha = alpha * static_cast<double>(table.dims.back());
  double score = 0;
  for_each_distribution(table, [&](const std::vector<double>& counts, double sum) {
    for (const double n : counts) score += log_rising(alpha, n);
    score -= log_rising(total_alpha, sum);
  });
  return score;
}

double free_parameters(const CountTable& table) {
  if (table.cells.empty()) return 0;
  const double values = table.dims.back();
  return static_cast<double>(table.cells.size()) / values * (values - 1);
}

}  // namespace

double bic_factor(double rows) {
  return rows > 1 ? std::log(rows) / 2 : 0.0;
}

double log_likelihood(const CountTable& table) {
  check_table(table);
  double score = 0;
  for_each_distribution(table, [&](const std::vector<double>& counts, double sum) {
    for (const double n : counts)
      if (n > 0) score += n * std::log(n / sum);
  });
  return score;
}

double family_score(const CountTable& table, Score score, double equivalent_sample_size) {
  check_table(table);
  switch (score) {
    case Score::kLogLikelihood:
      return log_likelihood(table);
    case Score::kAic:
      return log_likelihood(table) - free_parameters(table);
    case Score::kBic: {
      const double rows = std::accumulate(table.cells.begin(), table.cells.end(), 0.0);
      return log_likelihood(table) - free_parameters(table) * bic_factor(rows);
    }
    case Score::kBdeu:
      if (!(equivalent_sample_size > 0) || !std::isfinite(equivalent_sample_size))
        throw InvalidInput(
            join_text("equivalent_sample_size: expected a finite number > 0, got ", equivalent_sample_size));
      return log_marginal_likelihood(table, equivalent_sample_size / static_cast<double>(table.cells.size()));
    case Score::kK2:
      return log_marginal_likelihood(table, 1.0);
  }
  throw InvalidInput("unknown score");
}

}  // namespace tanager

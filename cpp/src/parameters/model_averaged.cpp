// Exact averaging of naive Bayes models over all subsets of features (Dash and Cooper 2002; Wei, Visweswaran and Cooper
// 2011). Arcs are independent of each other, so that for every feature the ratio of two marginal likelihoods, with the
// arc from the class and without, gives the arc's probability P, and the average is again a naive Bayes model:
// theta_kc = P (N_kc + a) / (N_c + r a) + (1 - P) (N_k + a) / (N + r a). All in logarithms.
#include <cmath>
#include <limits>

#include "parameters/from_counts.hpp"
#include "support/special.hpp"
#include "tanager/learn_parameters.hpp"

namespace tanager {

using namespace internal;

namespace {

// Marginal likelihoods are as large as the rows weigh, times logarithms: these must stay finite.
constexpr double kMostRows = 1e300;

/// Counts of one feature without the class, and of the rows where it is observed.
struct Margins {
  std::vector<double> values;   // N_k
  std::vector<double> classes;  // N_c
  double total = 0;
};

Margins margins_of(std::span<const double> cells, std::size_t values, std::size_t classes) {
  Margins sums{std::vector<double>(values), std::vector<double>(classes)};
  for (std::size_t k = 0; k < values; ++k)
    for (std::size_t c = 0; c < classes; ++c) {
      sums.values[k] += cells[k * classes + c];
      sums.classes[c] += cells[k * classes + c];
    }
  for (const double n : sums.classes) sums.total += n;
  return sums;
}

/// ln Gamma(x + n) - ln Gamma(x) for one x and many n.
class LogRising {
 public:
  explicit LogRising(double x) : x_(x), direct_(x < kSmall), at_x_(direct_ ? log_gamma(x) : 0) {}

  double operator()(double n) const {
    // Few rows, or much that is added to them: what a difference of large logarithms would lose matters.
    return direct_ && n > kSmall ? log_gamma(x_ + n) - at_x_ : log_rising(x_, n);
  }

 private:
  static constexpr double kSmall = 16;

  double x_;
  bool direct_;
  double at_x_;
};

/// ln of P(feature's cells | arc) / P(feature's cells | no arc).
double log_bayes_factor(std::span<const double> cells, const Margins& sums, const LogRising& of_cell, double alpha) {
  // With one value or one class both are the same, and so they are to the last bit.
  if (sums.values.size() == 1 || sums.classes.size() == 1) return 0;
  const LogRising of_row(alpha * static_cast<double>(sums.values.size()));
  double with = 0, without = -of_row(sums.total);
  for (const double n : cells) with += of_cell(n);
  for (const double n : sums.classes) with -= of_row(n);
  for (const double n : sums.values) without += of_cell(n);
  return with - without;
}

/// 1 / (1 + e^-x), where it is tiny, too.
double logistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

void check_arc_prior(const std::vector<double>& prior, std::size_t n_features) {
  if (prior.size() != 1 && prior.size() != n_features)
    throw InvalidInput(join_text("arc_prior: expected one probability, or one for each of the ", n_features,
                                 " features, got ", prior.size()));
  for (const double p : prior)
    if (!(p >= 0 && p <= 1)) throw InvalidInput(join_text("arc_prior: expected probabilities from 0 to 1, got ", p));
}

}  // namespace

ModelAverage estimate_model_averaged(const Structure& structure, const CountSet& counts,
                                     const ModelAveragedOptions& options) {
  check_pseudo_counts("alpha", options.alpha, false);
  check_arc_prior(options.arc_prior, counts.n_features());
  if (counts.n_rows() > kMostRows)
    throw InvalidInput(join_text("sample_weight: expected a sum of at most ", kMostRows, " for model averaging, got ",
                                 counts.n_rows()));
  for (const std::size_t f : structure.order())
    if (!structure.parents(f).empty())
      throw InvalidInput(
          join_text("averaging over naive Bayes models needs a structure without arcs between features, ",
                    "but feature ", f, " has parent ", structure.parents(f).front()));
  check_augmented_naive(structure, "averaging over naive Bayes models");
  const LogRising of_cell(options.alpha);
  std::vector<double> found(counts.n_features(), std::numeric_limits<double>::quiet_NaN());
  const auto smoothed = [&](const TableCells& table) {
    smooth(table.cells, table.values, table.classes, options.alpha);
  };
  const auto average = [&](std::size_t f, const TableCells& table) {
    const auto& [cells, r, s] = table;
    const Margins sums = margins_of(cells, r, s);
    const double prior = options.arc_prior.size() == 1 ? options.arc_prior[0] : options.arc_prior[f];
    const double factor = log_bayes_factor(cells, sums, of_cell, options.alpha);
    const double p = logistic(std::log(prior) - std::log1p(-prior) + factor);
    std::vector<double> alone = sums.values;
    smoothed(table);
    smooth(alone, r, 1, options.alpha);
    for (std::size_t k = 0; k < r; ++k)
      for (std::size_t c = 0; c < s; ++c) cells[k * s + c] = p * cells[k * s + c] + (1 - p) * alone[k];
    found[f] = p;
  };
  Network network = make_network(structure, counts, options.class_prior, smoothed, average);
  return {std::move(network), std::move(found)};
}

}  // namespace tanager

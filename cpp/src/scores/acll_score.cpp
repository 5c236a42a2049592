// The approximate conditional log-likelihood of a family (Carvalho, Adão and Mateus 2013, theorem 3.8 and eq 28). The
// paper's weights alpha N_jkc + beta sum over the other classes, alpha = 1 + beta, are N_jkc + beta N_jk.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "scores/check_table.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/scores.hpp"

namespace tanager {

using namespace internal;

namespace {

// Logarithms of less, and sums of more, could leave the range of normal doubles.
constexpr double kLeastPseudoCounts = 1e-200, kMostAcllPseudoCounts = 1e200;

/// Counts of one parent configuration, [values][classes], to weights in place.
void weigh(std::span<double> cells, std::size_t classes, double beta) {
  for (auto row = cells.begin(); row != cells.end(); row += static_cast<std::ptrdiff_t>(classes)) {
    const auto end = row + static_cast<std::ptrdiff_t>(classes);
    const double others = beta * std::accumulate(row, end, 0.0);
    std::for_each(row, end, [&](double& cell) { cell += others; });
  }
}

}  // namespace

void check_acll_pseudo_counts(double pseudo_counts) {
  if (!(pseudo_counts >= kLeastPseudoCounts && pseudo_counts <= kMostAcllPseudoCounts))
    throw InvalidInput(join_text("pseudo_counts: expected a number from ", kLeastPseudoCounts, " to ",
                                 kMostAcllPseudoCounts, ", got ", pseudo_counts));
}

void acll_parameters(std::span<double> cells, std::size_t values, std::size_t classes, double beta,
                     double pseudo_counts) {
  check_blocks(cells.size(), values, classes);
  const std::size_t block = values * classes;
  for (std::size_t start = 0; start < cells.size(); start += block) {
    const auto part = cells.subspan(start, block);
    weigh(part, classes, beta);
    for (double& cell : part) cell = std::max(cell, pseudo_counts);
    for (std::size_t c = 0; c < classes; ++c) {
      double sum = 0;
      for (std::size_t i = c; i < block; i += classes) sum += part[i];
      for (std::size_t i = c; i < block; i += classes) part[i] /= sum;
    }
  }
}

double acll_family_score(std::span<const double> cells, std::size_t values, std::size_t classes, double beta,
                         double pseudo_counts) {
  check_acll_pseudo_counts(pseudo_counts);
  check_blocks(cells.size(), values, classes);
  const std::size_t block = values * classes;
  std::vector<double> weights(block);
  double score = 0;
  for (std::size_t start = 0; start < cells.size(); start += block) {
    std::copy_n(cells.begin() + static_cast<std::ptrdiff_t>(start), block, weights.begin());
    weigh(weights, classes, beta);
    for (std::size_t c = 0; c < classes; ++c) {
      double raised = 0;
      for (std::size_t i = c; i < block; i += classes) raised += std::max(weights[i], pseudo_counts);
      // Logarithms of ratios: the terms are then no larger than the score is.
      for (std::size_t i = c; i < block; i += classes)
        score += weights[i] * std::log(std::max(weights[i], pseudo_counts) / raised);
    }
  }
  return score;
}

double acll_family_score(const CountTable& table, double beta, double pseudo_counts) {
  check_table(table);
  return acll_family_score(table.cells, table.dims.back(), table.n_classes, beta, pseudo_counts);
}

void acll_class_parameters(std::span<double> class_counts, double beta, double pseudo_counts) {
  const double others = beta * std::accumulate(class_counts.begin(), class_counts.end(), 0.0);
  for (double& n : class_counts) n = std::max(n + others, pseudo_counts);
  const double sum = std::accumulate(class_counts.begin(), class_counts.end(), 0.0);
  for (double& n : class_counts) n /= sum;
}

double acll_class_score(std::span<const double> class_counts, double beta, double pseudo_counts) {
  check_acll_pseudo_counts(pseudo_counts);
  const double others = beta * std::accumulate(class_counts.begin(), class_counts.end(), 0.0);
  double raised = 0, score = 0;
  for (const double n : class_counts) raised += std::max(n + others, pseudo_counts);
  for (const double n : class_counts) score += (n + others) * std::log(std::max(n + others, pseudo_counts) / raised);
  return score;
}

}  // namespace tanager

#pragma once

#include <cstddef>
#include <span>

#include "tanager/counts.hpp"

namespace tanager {

/// Entropy of the distribution that counts describe, in nats. Zero for no counts.
double entropy(std::span<const double> counts);

/// I(X;Y) in nats from a table [x][y]; never negative.
double mutual_information(std::span<const double> table, std::size_t n_x, std::size_t n_y);

/// I(X;Y|Z) in nats from a table [x][y][z]; never negative.
double conditional_mutual_information(std::span<const double> table, std::size_t n_x, std::size_t n_y, std::size_t n_z);

/// Decomposable scores of a family; larger is better.
enum class Score {
  kLogLikelihood,
  kAic,   ///< log-likelihood - free parameters
  kBic,   ///< log-likelihood - free parameters * ln(N) / 2
  kBdeu,  ///< log marginal likelihood, Dirichlet prior of a given equivalent sample size spread evenly
  kK2     ///< log marginal likelihood, uniform Dirichlet prior
};

/// Score of a feature given its parents and the class. `equivalent_sample_size` matters for kBdeu only.
double family_score(const CountTable& table, Score score, double equivalent_sample_size = 1.0);

/// What BIC takes off per free parameter: ln(rows) / 2, but never less than nothing, which weights below one in all
/// would give.
double bic_factor(double rows);

/// Maximum log-likelihood of a table of conditional counts: sum of N_jkc ln(N_jkc / N_jc).
double log_likelihood(const CountTable& table);

}  // namespace tanager

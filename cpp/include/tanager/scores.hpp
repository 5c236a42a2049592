#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tanager/counts.hpp"

namespace tanager {

/// Entropy of the distribution that counts describe, in nats. Zero for no counts.
[[nodiscard]] double entropy(std::span<const double> counts);

/// I(X;Y) in nats from a table [x][y]; never negative.
[[nodiscard]] double mutual_information(std::span<const double> table, std::size_t n_x, std::size_t n_y);

/// I(X;Y|Z) in nats from a table [x][y][z]; never negative.
[[nodiscard]] double conditional_mutual_information(std::span<const double> table, std::size_t n_x, std::size_t n_y,
                                                    std::size_t n_z);

/// Decomposable scores of a family; larger is better.
enum class Score {
  kLogLikelihood,
  kAic,   ///< log-likelihood - free parameters
  kBic,   ///< log-likelihood - free parameters * ln(N) / 2
  kBdeu,  ///< log marginal likelihood, Dirichlet prior of a given equivalent sample size spread evenly
  kK2     ///< log marginal likelihood, uniform Dirichlet prior
};

/// Score of a feature given its parents and the class. `equivalent_sample_size` matters for kBdeu only.
[[nodiscard]] double family_score(const CountTable& table, Score score, double equivalent_sample_size = 1.0);

/// The penalty of BIC per free parameter: ln(rows) / 2, or zero for a total weight below one.
[[nodiscard]] double bic_factor(double rows);

/// Maximum log-likelihood of a table of conditional counts: sum of N_jkc ln(N_jkc / N_jc).
[[nodiscard]] double log_likelihood(const CountTable& table);

/// The assumed distribution of the joint probabilities U_1, ..., U_s of a row with each of the s classes (Carvalho,
/// Adão and Mateus 2013): that they are uniform on [0, p]^s, or that they and the rest of the probability are Dirichlet
/// with parameters a, ..., a, b.
enum class AcllAssumption { kUniform, kDirichlet };

struct AcllOptions {
  AcllAssumption assumption = AcllAssumption::kDirichlet;
  double a = 1.0;
  /// In learning and scoring, the sum of the weights of all rows, but at least one, unless it is given.
  std::optional<double> b;
  /// Minimum count of a cell (N'), which keeps probabilities away from zero. Must be positive.
  double pseudo_counts = 5.0;
};

/// The approximation ln P(c | row) ~ ln U_c + beta * (ln U_1 + ... + ln U_s) + gamma, with the least squared error of
/// all approximations of this form, and no bias.
struct AcllConstants {
  double beta = 0;
  double gamma = 0;
};

/// The constants for U uniform on [0, p]^s, 0 < p <= 1, by quadrature. Only gamma depends on p. One class has beta = -1
/// and gamma = 0, under any assumption: ln P(c | row) is zero.
[[nodiscard]] AcllConstants uniform_acll_constants(std::size_t n_classes, double p = 1.0);

/// The constants for U Dirichlet with parameters a, ..., a, b, in closed form. An infinite b gives the limit, where
/// gamma is infinite unless there is only one class.
[[nodiscard]] AcllConstants dirichlet_acll_constants(std::size_t n_classes, double a, double b);

/// The constants that learning from these counts uses; gamma is that of p = 1 under the uniform assumption.
[[nodiscard]] AcllConstants acll_constants(const CountSet& counts, const AcllOptions& options);

/// Beta alone, which is sufficient for maximizing.
[[nodiscard]] double acll_beta(const CountSet& counts, const AcllOptions& options);

/// Throws InvalidInput unless the pseudo-counts are positive and finite.
void check_acll_pseudo_counts(double pseudo_counts);

/// Turns counts, [configurations][values][classes], into the parameters that maximize the score (theorem 3.8): weights
/// w_jkc = N_jkc + beta * (N_jk1 + ... + N_jks), raised to the pseudo-counts where they are less, normalized over k.
void acll_parameters(std::span<double> cells, std::size_t values, std::size_t classes, double beta,
                     double pseudo_counts);

/// The contribution of a family to the score with these parameters (eq 28): sum of w_jkc ln theta_jkc, without gamma.
[[nodiscard]] double acll_family_score(const CountTable& table, double beta, double pseudo_counts);
[[nodiscard]] double acll_family_score(std::span<const double> cells, std::size_t values, std::size_t classes,
                                       double beta, double pseudo_counts);

/// The same for the class: w_c = N_c + beta N, raised and normalized, and sum of w_c ln theta_c.
void acll_class_parameters(std::span<double> class_counts, double beta, double pseudo_counts);
[[nodiscard]] double acll_class_score(std::span<const double> class_counts, double beta, double pseudo_counts);

}  // namespace tanager

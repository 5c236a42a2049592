#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/dataset.hpp"
#include "tanager/errors.hpp"
#include "tanager/inference.hpp"
#include "tanager/network.hpp"

namespace tanager {

/// Parameters learned from the rows themselves, with or without missing values: EM and APN maximize the likelihood of
/// the rows, ELR the conditional likelihood of their classes. The class is known in every row.

/// The function to maximize.
enum class RowGoal {
  kLikelihood,            ///< sum of ln P(class, observed features)
  kConditionalLikelihood  ///< sum of ln P(class | observed features)
};

/// The quality of parameters on some rows.
struct RowEvaluation {
  double value = 0;  ///< the goal, weighted by the weights of the rows
  double wrong = 0;  ///< weight of the rows whose most probable class is another; only for kConditionalLikelihood
};

/// The goal as a function of softmax parameters b, theta = e^b / sum of e^b over the values of each distribution
/// (Greiner, Su, Shen and Zhou 2005, equation 11), with its gradient (proposition 3). The parameters of all families
/// follow each other in the order of the structure, the class last; each family's are laid out as its table. Missing
/// values are marginalized exactly. With a class prior given the class distribution does not change; rows of a class
/// that it makes impossible add nothing to the conditional likelihood. Immutable and safe to share between threads.
class RowLikelihood {
 public:
  /// Throws InvalidInput if structure, rows and prior do not fit each other. Rows that need more than `max_cells` cells
  /// of exact inference (as in Inference) are rejected when they are evaluated. Columns are not kept.
  RowLikelihood(const Structure& structure, const Dataset& data, RowGoal goal, std::vector<double> class_prior = {},
                std::uint64_t max_cells = kMaxCliqueCells);

  [[nodiscard]] std::size_t n_parameters() const;
  /// Sum of the weights of the rows.
  [[nodiscard]] double total_weight() const;
  /// The logarithms of a network's probabilities, which are softmax parameters of it.
  [[nodiscard]] std::vector<double> parameters(const Network& network) const;
  [[nodiscard]] Network network(std::span<const double> parameters) const;
  /// The value at some parameters; unless it is empty, `gradient` gets the derivatives. The result does not depend on
  /// the number of threads.
  RowEvaluation evaluate(std::span<const double> parameters, std::span<double> gradient = {}, int threads = 1) const;
  /// The same for probabilities laid out as the parameters; `counts` gets the expected counts of all cells, from
  /// that part of every row which depends on them: a missing feature with nothing observed below it adds nothing.
  RowEvaluation expect(std::span<const double> probabilities, std::span<double> counts, int threads = 1) const;

 private:
  class State;
  std::shared_ptr<const State> state_;
};

/// Progress of a learner.
struct FitProgress {
  bool held_out = false;       ///< whether it tunes its number of iterations on held-out rows
  std::size_t iterations = 0;  ///< done so far
  double value =
      0;  ///< the last of FitResult::training, or of FitResult::held_out while it tunes; zero before the first
};

enum class FitStop { kConverged, kIterationLimit, kTuned, kInterrupted };

struct FitResult {
  Network network;
  /// The goal, at the initial estimate and after every iteration.
  std::vector<double> training;
  /// Held-out scores of tuning, at the initial estimate and after every iteration: the mean of ln P(class | features),
  /// and the share of rows with a wrong prediction; the same per fold, [fold][iteration].
  std::vector<double> held_out, held_out_error;
  std::vector<std::vector<double>> fold_held_out, fold_error;
  FitStop stop = FitStop::kConverged;
};

enum class OptimizerMethod {
  kConjugateGradient,  ///< Polak-Ribière, with Brent's line search
  kLbfgs               ///< limited-memory quasi-Newton
};

struct EmOptions {
  /// Pseudo-counts of every cell: zero gives maximum likelihood, more the mode of the posterior under a Dirichlet prior
  /// of alpha + 1. The initial estimate is that of estimate_dirichlet from available cases with alpha, or with one if
  /// alpha is zero.
  double alpha = 1.0;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior = {};
  /// Iterations end when the goal, averaged over rows, rises by no more than this.
  double tol = 1e-6;
  std::size_t max_iter = 200;
  /// False ends the learner, whose result then has FitStop::kInterrupted.
  KeepGoing<FitProgress> keep_going = {};
  /// Limit for rows with missing values, as in Inference.
  std::uint64_t max_cells = kMaxCliqueCells;
};

/// Expectation maximization (Dempster, Laird and Rubin 1977; Lauritzen 1995): expected counts, then the parameters that
/// maximize their likelihood, until convergence. The likelihood (with the prior) never decreases. `training` is the
/// logarithm of the likelihood plus alpha times the sum of the logarithms of all parameters.
[[nodiscard]] FitResult estimate_em(const Structure& structure, const Dataset& data, const EmOptions& options = {},
                                    int threads = 1);

struct ApnOptions {
  double alpha = 1.0;  ///< as in EmOptions
  std::vector<double> class_prior = {};
  OptimizerMethod method = OptimizerMethod::kConjugateGradient;
  /// Iterations end when no parameter can improve the goal, averaged over rows, at a greater rate than this.
  double tol = 1e-6;
  std::size_t max_iter = 200;
  KeepGoing<FitProgress> keep_going = {};     ///< as in EmOptions
  std::uint64_t max_cells = kMaxCliqueCells;  ///< as in EmOptions
};

/// Adaptive probabilistic networks (Binder, Koller, Russell and Kanazawa 1997): the same goal as EM's, maximized along
/// gradients in softmax parameters.
[[nodiscard]] FitResult estimate_apn(const Structure& structure, const Dataset& data, const ApnOptions& options = {},
                                     int threads = 1);

/// Criterion for the number of iterations, on held-out rows: their errors, or their conditional log-likelihood (CLL).
/// Of several iterations with equally few errors the last is taken, unless the initial estimate is one of them.
enum class TuneBy { kError, kCll };
/// The iteration to stop at: that of the best mean over all folds, or the median of the folds' best.
enum class TuneRule { kMean, kMedian };

struct ElrOptions {
  /// Pseudo-counts of the initial estimate, which `l2` shrinks to: estimate_dirichlet from available cases.
  double alpha = 1.0;
  std::vector<double> class_prior = {};
  OptimizerMethod method = OptimizerMethod::kConjugateGradient;
  /// Penalty: l2 / 2 times the squared distance of all parameters from the initial estimate.
  double l2 = 0;
  /// As in ApnOptions.
  double tol = 1e-6;
  /// Maximum number of iterations, also in tuning.
  std::size_t max_iter = 100;
  /// The fold of every row, if the number of iterations is to be tuned; otherwise empty.
  std::vector<std::uint32_t> fold_of_row = {};
  TuneBy tune_by = TuneBy::kCll;
  TuneRule tune_rule = TuneRule::kMean;
  /// Tuning ends after this many iterations without an improvement on the held-out rows.
  std::size_t patience = 20;
  KeepGoing<FitProgress> keep_going = {};     ///< as in EmOptions
  std::uint64_t max_cells = kMaxCliqueCells;  ///< as in EmOptions
};

/// Extended logistic regression (Greiner, Su, Shen and Zhou 2005): goes from available-case estimates to parameters
/// of greater conditional likelihood, for any structure and rows with missing values, and stops after as many
/// iterations as were best for rows held out (cross tuning). No parameter goes farther than kMostDistance from the
/// initial estimate: perfectly separable rows would drive them to infinity.
[[nodiscard]] FitResult estimate_elr(const Structure& structure, const Dataset& data, const ElrOptions& options = {},
                                     int threads = 1);

/// Maximum distance of a softmax parameter from its initial value.
inline constexpr double kMostDistance = 40.0;

}  // namespace tanager

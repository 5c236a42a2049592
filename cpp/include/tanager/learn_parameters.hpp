#pragma once

#include <optional>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/network.hpp"
#include "tanager/scores.hpp"

namespace tanager {

struct DirichletOptions {
  /// Added to every count. Zero gives maximum likelihood; a parent configuration never seen then gives a uniform row.
  double alpha = 1.0;
  /// If set, replaces alpha: this much is spread evenly over all cells of every table (BDeu).
  std::optional<double> equivalent_sample_size;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

/// Posterior mean of every parameter under a Dirichlet prior: (N_jkc + a) / (N_jc + r a).
[[nodiscard]] Network estimate_dirichlet(const Structure& structure, const CountSet& counts,
                                         const DirichletOptions& options = {});

/// How many degrees of freedom a feature of r values has: ln r (the effective ones), or r - 1.
enum class Degrees { kLog, kLinear };

struct DataTemperatureOptions {
  Degrees degrees = Degrees::kLog;
  /// Rows per degree of freedom after which beta has come to 1 - 1/e; if not set, 2 for kLog and 1 for kLinear.
  std::optional<double> n_c;
  /// Added to every relative frequency before it is tempered; no probability is then zero. Dividing the frequencies
  /// by their new sum would change nothing, since the tempered ones are divided by theirs.
  double added_frequency = 1e-4;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

/// Minimum free energy with data temperature (Isozaki, Kato and Ueno 2008, equations 16 to 19): relative frequencies to
/// the power beta = 1 - exp(-N_jc / (degrees of freedom * n_c)), divided by their sum. Without rows beta is 0, and the
/// distribution uniform; with many it is 1, and only `added_frequency` is left of the smoothing. The class distribution
/// is made in the same way, as that of a variable without parents.
[[nodiscard]] Network estimate_data_temperature(const Structure& structure, const CountSet& counts,
                                                const DataTemperatureOptions& options = {});

struct SoftenedOptions {
  /// Weight of the distribution of the feature alone, in rows.
  double n0 = 5.0;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

/// Relative frequencies shrunk to those of the feature alone, for all parents and classes (Friedman, Geiger and
/// Goldszmidt 1997): (N_jkc + n0 N_k / N) / (N_jc + n0). The class keeps its relative frequencies.
[[nodiscard]] Network estimate_softened(const Structure& structure, const CountSet& counts,
                                        const SoftenedOptions& options = {});

struct ModelAveragedOptions {
  /// The probability, before any rows are seen, that a feature depends on the class: one for all, or one per feature.
  std::vector<double> arc_prior = {0.5};
  /// Added to every count.
  double alpha = 1.0;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

struct ModelAverage {
  Network network;
  /// The probability, given the rows, that the feature depends on the class; NaN for features that are left out.
  std::vector<double> arc_probabilities;
};

/// The average of the naive Bayes models of all subsets of the features, weighted by their posterior probabilities
/// (Dash and Cooper 2002): one network whose tables lie between those of features with and without the class. Throws
/// InvalidInput if a feature has feature parents.
[[nodiscard]] ModelAverage estimate_model_averaged(const Structure& structure, const CountSet& counts,
                                                   const ModelAveragedOptions& options = {});

struct AcllOptimalOptions {
  AcllOptions score;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

/// The parameters that maximize the approximate conditional log-likelihood of a structure (theorem 3.8), those of the
/// class included, where no weight may count less than the pseudo-counts.
[[nodiscard]] Network estimate_acll_optimal(const Structure& structure, const CountSet& counts,
                                            const AcllOptimalOptions& options = {});

}  // namespace tanager

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/dataset.hpp"
#include "tanager/network.hpp"

namespace tanager {

/// Weights of features in [0, 1]: the tables are raised to these powers. A weight of one leaves a table unchanged, and
/// a weight of zero removes the feature from the prediction.

struct TreeDepthOptions {
  std::size_t n_trees = 10;
  /// Rows drawn for every tree, with replacement, as a share of all rows: above zero, at most one.
  double bootstrap = 0.5;
  /// Features are tested down to this depth; the root is at depth one.
  std::optional<std::size_t> max_depth = {};
  std::uint64_t seed = 0;
};

/// Learns unpruned classification trees, each from a bootstrap sample, and returns how high up every feature is tested:
/// [tree][feature], the least depth at which the tree tests the feature, zero if it does not. Features that the
/// structure leaves out are in no tree.
///
/// Splits are binary, one value against all others, by information gain. Rows are drawn with probabilities proportional
/// to their weights. A row whose value is missing adds nothing to the gain of that feature, and goes where most of the
/// others go. Ties go to the lowest feature, then the lowest value. The result does not depend on the number of
/// threads. Throws InvalidInput for options without meaning, or if there is no row to draw.
[[nodiscard]] std::vector<std::uint32_t> tree_depths(const Structure& structure, const Dataset& data,
                                                     const TreeDepthOptions& options, int threads = 1);

/// Mean over the trees of 1 / sqrt(depth), or zero where a tree does not test the feature (Hall 2007); `depths` is
/// [tree][feature]. Throws InvalidInput if the depths of a tree are incomplete.
[[nodiscard]] std::vector<double> weights_from_depths(std::span<const std::uint32_t> depths, std::size_t n_features);

struct WeightedOptions {
  /// Added to every count; zero gives maximum likelihood, where unseen values stay impossible at any power above
  /// zero.
  double alpha = 1.0;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior = {};
};

/// Dirichlet estimates taken to the power of the feature's weight, and normalized again over the feature's values.
/// Throws InvalidInput unless there is a weight in [0, 1] for every feature of the structure.
[[nodiscard]] Network estimate_weighted(const Structure& structure, const CountSet& counts,
                                        std::span<const double> weights, const WeightedOptions& options = {});

enum class WanbiaLoss {
  kConditionalLikelihood,  ///< minus the sum of ln P(class | row)
  kSquaredError            ///< half the sum of (P(c | row) - [c is the row's class])^2 over rows and classes
};

struct WanbiaOptions {
  /// Added to every count; must be positive.
  double alpha = 1.0;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior = {};
  WanbiaLoss loss = WanbiaLoss::kConditionalLikelihood;
  /// Whether tables are normalized again after the power is taken; see WanbiaObjective.
  bool renormalize = false;
};

/// The function that WANBIA minimizes over the weights of naive Bayes, with its gradient (Zaidi, Cerquides, Carman and
/// Webb 2013).
///
/// With t = theta_ick^w_i, a row's posterior is proportional either to P(c) prod_i t / sum_k t (`renormalize`, as in
/// bnclassify) or to P(c) prod_i t (the paper, where conditional likelihood is concave in the weights if no value is
/// missing). Both are the predictions of the network that `network` returns: in the second case its tables are t p_k^(1
/// - w_i), normalized, with p_k the share of the value in all classes, which no posterior of a complete row notices,
/// and the class probabilities take up the normalizers. A missing value is marginalized, which is exact in both cases:
/// its factor is one in the first, and the normalizer that the class probabilities took up in the second. Rows count by
/// their weight. Rows of a class that the given class prior makes impossible add nothing to the conditional likelihood.
/// Immutable and safe to share between threads.
class WanbiaObjective {
 public:
  /// Throws InvalidInput unless the structure is naive, the counts are those of the data's variables and alpha is
  /// positive. Columns are shared with the data, which need not outlive the objective.
  WanbiaObjective(const Structure& structure, const Dataset& data, const CountSet& counts,
                  const WanbiaOptions& options = {});

  [[nodiscard]] std::size_t n_features() const;
  /// Sum of the weights of the rows.
  [[nodiscard]] double total_weight() const;
  /// The value at some weights, one per feature; that of a feature left out does not matter. Unless it is empty,
  /// `gradient` gets the derivatives. The result does not depend on the number of threads.
  double evaluate(std::span<const double> weights, std::span<double> gradient = {}, int threads = 1) const;
  /// The network whose predictions `evaluate` evaluates. Throws InvalidInput if a weight is not in [0, 1], or if class
  /// probabilities that take up the normalizers of very many features are too small for a double.
  [[nodiscard]] Network network(std::span<const double> weights) const;

 private:
  class State;
  std::shared_ptr<const State> state_;
};

}  // namespace tanager

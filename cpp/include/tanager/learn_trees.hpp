#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/scores.hpp"
#include "tanager/structure.hpp"

namespace tanager {

struct ChowLiuOptions {
  /// kLogLikelihood gives a tree (TAN); kAic and kBic leave out arcs that do not increase the score (a forest).
  Score score = Score::kLogLikelihood;
  /// The feature that becomes the root of its tree; otherwise each tree is rooted at its first feature.
  std::optional<std::size_t> root;
};

/// Weight of every pair of features, in the order (0,1), (0,2), ..., (1,2), ...: N I(X;Y|C) minus the penalty. With
/// missing values I is that of the rows where both are observed, and N counts these under a penalty, all rows without
/// one.
[[nodiscard]] std::vector<double> chow_liu_weights(const CountSet& counts, Score score, int threads = 1);

/// The one-dependence structure of greatest score (Friedman, Geiger and Goldszmidt 1997). Needs CountScope::kPairs.
[[nodiscard]] Structure learn_chow_liu(const CountSet& counts, const ChowLiuOptions& options = {}, int threads = 1);

struct KdbOptions {
  /// Maximum number of feature parents of a feature.
  std::size_t k = 2;
};

/// The k-dependence structure of Sahami's filter (1996): features are ranked by I(X;C), and each takes the up to k
/// earlier-ranked ones Y with the highest I(X;Y|C), listed in the order of the columns. Ties in the ranking go to the
/// lowest feature, ties among parents to the one ranked first; informations that differ by less than rounding can
/// explain (1.5e-11 nats) are tied. With missing values each information is that of the rows where its variables are
/// observed. Needs CountScope::kPairs unless k is 0. The counts of families with two parents and more have to be made
/// once the structure is known.
[[nodiscard]] Structure learn_kdb(const CountSet& counts, const KdbOptions& options = {}, int threads = 1);

/// Approximate conditional log-likelihood of a structure with the parameters that maximize it (Carvalho, Adão and
/// Mateus 2013, eq 28): the scores of the class and of every family, and gamma for every row. Larger is better.
[[nodiscard]] double acll_score(const Structure& structure, const CountSet& counts, const AcllOptions& options = {});

struct AcllTreeOptions {
  AcllOptions score;
  /// The root; otherwise that of the best tree.
  std::optional<std::size_t> root;
};

/// The contribution of every arc u -> v to the score of naive Bayes, [u][v]. The two directions differ. With missing
/// values it is that of the rows where both are observed, times the ratio of the weight of all rows to theirs.
[[nodiscard]] std::vector<double> acll_tree_weights(const CountSet& counts, const AcllOptions& options = {},
                                                    int threads = 1);

/// The tree over all features (TAN) of greatest approximate conditional log-likelihood. Needs CountScope::kPairs.
[[nodiscard]] Structure learn_acll_tree(const CountSet& counts, const AcllTreeOptions& options = {}, int threads = 1);

}  // namespace tanager

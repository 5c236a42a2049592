#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/network.hpp"
#include "tanager/scores.hpp"

namespace tanager {

/// Approximate conditional log-likelihood of a structure with the parameters that maximize it (Carvalho, Adão and
/// Mateus 2013, eq 28): the scores of the class and of every family, and gamma for every row. Larger is better.
double acll_score(const Structure& structure, const CountSet& counts, const AcllOptions& options = {});

struct AcllTreeOptions {
  AcllOptions score;
  /// The feature that becomes the root; otherwise that of the best tree.
  std::optional<std::size_t> root;
};

/// What every arc u -> v adds to the score of naive Bayes, [u][v]. The two directions differ. With missing cells it is
/// that of the rows where both are observed, times what all rows weigh over what these do.
std::vector<double> acll_tree_weights(const CountSet& counts, const AcllOptions& options = {}, int threads = 1);

/// The tree over all features (TAN) of greatest approximate conditional log-likelihood. Needs CountScope::kPairs.
Structure learn_acll_tree(const CountSet& counts, const AcllTreeOptions& options = {}, int threads = 1);

struct AcllOptimalOptions {
  AcllOptions score;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

/// The parameters that maximize the approximate conditional log-likelihood of a structure (theorem 3.8), those of the
/// class included, where no weight may count less than the pseudo-counts.
Network estimate_acll_optimal(const Structure& structure, const CountSet& counts,
                              const AcllOptimalOptions& options = {});

}  // namespace tanager

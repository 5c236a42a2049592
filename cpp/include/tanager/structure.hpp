#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/network.hpp"
#include "tanager/scores.hpp"

namespace tanager {

struct ChowLiuOptions {
  /// kLogLikelihood gives a tree (TAN); kAic and kBic leave out arcs that do not pay (a forest).
  Score score = Score::kLogLikelihood;
  /// The feature that becomes the root of its tree; otherwise each tree is rooted at its first feature.
  std::optional<std::size_t> root;
};

/// Weight of every pair of features, in the order (0,1), (0,2), ..., (1,2), ...: N I(X;Y|C), less the penalty. With
/// missing cells I is that of the rows where both are observed, and N counts these under a penalty, all rows without
/// one.
std::vector<double> chow_liu_weights(const CountSet& counts, Score score, int threads = 1);

/// The one-dependence structure of greatest score (Friedman, Geiger and Goldszmidt 1997). Needs CountScope::kPairs.
Structure learn_chow_liu(const CountSet& counts, const ChowLiuOptions& options = {}, int threads = 1);

}  // namespace tanager

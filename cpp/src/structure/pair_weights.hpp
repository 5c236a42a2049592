// What learners that weigh every pair of features share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/pairs.hpp"
#include "support/parallel.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"
#include "tanager/scores.hpp"

namespace tanager::internal {

/// I(U;V|C) of a pair of features u < v, from the rows where both are observed.
inline double pair_information(const CountSet& counts, std::size_t u, std::size_t v) {
  return conditional_mutual_information(counts.pair(u, v), counts.cardinalities()[u], counts.cardinalities()[v],
                                        counts.n_classes());
}

/// weigh(u, v) of every pair of features u < v, in the order of pair_index. `learner` names the structure in the error
/// if the pairs were not counted.
template <class Weigh>
std::vector<double> weigh_pairs(const CountSet& counts, const char* learner, int threads, Weigh weigh) {
  if (counts.scope() != CountScope::kPairs)
    throw InvalidInput(std::string(learner) +
                       " needs the counts of all pairs of features, but only single ones were made");
  const std::size_t n = counts.n_features();
  std::vector<double> weights(n < 2 ? 0 : n * (n - 1) / 2);
  parallel_for(n, 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u)
      for (std::size_t v = u + 1; v < n; ++v) weights[pair_index(u, v, n)] = weigh(u, v);
  });
  return weights;
}

}  // namespace tanager::internal

// Chow-Liu one-dependence classifiers: a maximum spanning tree (or forest) over the features, each pair weighted by its
// mutual information given the class. Friedman, Geiger and Goldszmidt 1997; with penalties as in Mihaljević, Bielza and
// Larrañaga.
#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/spanning_tree.hpp"
#include "structure/pair_weights.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_trees.hpp"

namespace tanager {

using namespace internal;

namespace {

// What an arc between u and v gains. df = (r_u - 1)(r_v - 1) s is what it adds to the number of parameters. A penalized
// gain is that of the rows where both are observed, since the penalty is weighed against what these rows tell. Without
// a penalty only the order of the pairs matters, and cells that happen to be missing must not make a pair look weaker:
// all rows are taken to tell as much as the observed ones. On complete data both are N I(X;Y|C).
double gain(const CountSet& counts, std::size_t u, std::size_t v, Score score) {
  const double information = pair_information(counts, u, v);
  if (score == Score::kLogLikelihood) return counts.n_rows() * information;
  const double r_u = counts.cardinalities()[u], r_v = counts.cardinalities()[v], s = counts.n_classes();
  const auto table = counts.pair(u, v);
  const double observed = std::accumulate(table.begin(), table.end(), 0.0);
  const double degrees = (r_u - 1) * (r_v - 1) * s;
  switch (score) {
    case Score::kAic:
      return observed * information - degrees;
    case Score::kBic:
      return observed * information - degrees * bic_factor(observed);
    default:
      throw InvalidInput("score: expected the log-likelihood, AIC or BIC, got another score");
  }
}

}  // namespace

std::vector<double> chow_liu_weights(const CountSet& counts, Score score, int threads) {
  return weigh_pairs(counts, "a Chow-Liu structure", threads,
                     [&](std::size_t u, std::size_t v) { return gain(counts, u, v, score); });
}

Structure learn_chow_liu(const CountSet& counts, const ChowLiuOptions& options, int threads) {
  const std::size_t n = counts.n_features();
  if (options.root && *options.root >= n)
    throw InvalidInput(join_text("root: expected a feature below ", n, ", got ", *options.root));
  if (n == 0) return Structure::naive(0);
  auto weights = chow_liu_weights(counts, options.score, threads);
  // Under a penalty an arc must pay. One with a feature of a single value, or between features that were never observed
  // together, costs nothing and gains nothing.
  if (options.score != Score::kLogLikelihood)
    std::replace_if(
        weights.begin(), weights.end(), [](double weight) { return weight <= 0; },
        -std::numeric_limits<double>::infinity());
  const auto parent = root_forest(n, maximum_spanning_forest(n, weights), options.root);
  std::vector<std::vector<std::size_t>> parents(n);
  for (std::size_t f = 0; f < n; ++f)
    if (parent[f]) parents[f] = {*parent[f]};
  return Structure(std::move(parents));
}

}  // namespace tanager

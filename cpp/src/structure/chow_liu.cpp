// Chow-Liu one-dependence classifiers: a maximum spanning tree (or forest) over the features, each pair weighted by its
// mutual information given the class. Friedman, Geiger and Goldszmidt 1997; with penalties as in Mihaljević, Bielza and
// Larrañaga.
#include <cmath>
#include <numeric>

#include "graph/spanning_tree.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/structure.hpp"

namespace tanager {
namespace {

// df = (r_x - 1)(r_y - 1) s is what the arc adds to the number of parameters. N counts the rows where both are
// observed.
double penalty(Score score, double rows, double degrees) {
  switch (score) {
    case Score::kLogLikelihood:
      return 0;
    case Score::kAic:
      return degrees;
    case Score::kBic:
      return rows > 0 ? degrees * std::log(rows) / 2 : 0;
    default:
      throw InvalidInput("the score of a Chow-Liu structure must be the log-likelihood, AIC or BIC");
  }
}

}  // namespace

std::vector<double> chow_liu_weights(const CountSet& counts, Score score, int threads) {
  if (counts.scope() != CountScope::kPairs)
    throw InvalidInput(
        "a Chow-Liu structure needs the counts of all pairs of features, but only single ones were made");
  const std::size_t n = counts.n_features(), s = counts.n_classes();
  const auto cards = counts.cardinalities();
  std::vector<double> weights(n * (n - 1) / 2);
  parallel_for(n, 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        const auto table = counts.pair(u, v);
        const double rows = std::accumulate(table.begin(), table.end(), 0.0);
        const double degrees = (cards[u] - 1.0) * (cards[v] - 1.0) * static_cast<double>(s);
        weights[pair_index(u, v, n)] =
            rows * conditional_mutual_information(table, cards[u], cards[v], s) - penalty(score, rows, degrees);
      }
  });
  return weights;
}

Structure learn_chow_liu(const CountSet& counts, const ChowLiuOptions& options, int threads) {
  const std::size_t n = counts.n_features();
  if (options.root && *options.root >= n)
    throw InvalidInput(join_text("the root must be one of the ", n, " features, but is feature ", *options.root));
  if (n == 0) return Structure::naive(0);
  const auto weights = chow_liu_weights(counts, options.score, threads);
  const auto parent = root_forest(n, maximum_spanning_forest(n, weights), options.root);
  std::vector<std::vector<std::size_t>> parents(n);
  for (std::size_t f = 0; f < n; ++f)
    if (parent[f]) parents[f] = {*parent[f]};
  return Structure(std::move(parents));
}

}  // namespace tanager

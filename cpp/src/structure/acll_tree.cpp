// The one-dependence structure of greatest approximate conditional log-likelihood (Carvalho, Adão and Mateus 2013). The
// score is not the same for both directions of an arc, so the best tree is an optimal branching.
#include "parameters/from_counts.hpp"
#include "structure/acll_pairs.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/branching.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_trees.hpp"

namespace tanager {

using namespace internal;

namespace {

// Gains are as large as the rows weigh, times logarithms: these and their sums must stay finite.
constexpr double kMostRows = 1e290;

}  // namespace

std::vector<double> acll_tree_weights(const CountSet& counts, const AcllOptions& options, int threads) {
  if (counts.scope() != CountScope::kPairs)
    throw InvalidInput("an aCLL tree needs the counts of all pairs of features, but only single ones were made");
  check_acll_pseudo_counts(options.pseudo_counts);
  if (counts.n_rows() > kMostRows)
    throw InvalidInput(
        join_text("sample_weight: expected a sum of at most ", kMostRows, " for an aCLL tree, got ", counts.n_rows()));
  const std::size_t n = counts.n_features();
  const AcllPairs pairs(counts, acll_beta(counts, options), options.pseudo_counts, best_isa());
  std::vector<double> weights(n * n, 0.0);
  parallel_for(n, 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u) pairs.weigh_row(u, weights);
  });
  return weights;
}

Structure learn_acll_tree(const CountSet& counts, const AcllTreeOptions& options, int threads) {
  const std::size_t n = counts.n_features();
  if (options.root && *options.root >= n)
    throw InvalidInput(join_text("root: expected a feature below ", n, ", got ", *options.root));
  const auto parent = maximum_branching(n, acll_tree_weights(counts, options.score, threads), options.root);
  std::vector<std::vector<std::size_t>> parents(n);
  for (std::size_t f = 0; f < n; ++f)
    if (parent[f]) parents[f] = {*parent[f]};
  return Structure(std::move(parents));
}

double acll_score(const Structure& structure, const CountSet& counts, const AcllOptions& options) {
  if (structure.n_features() != counts.n_features())
    throw InvalidInput(join_text("the structure has ", structure.n_features(), " features, but the counts have ",
                                 counts.n_features()));
  check_augmented_naive(structure, "the approximate conditional log-likelihood");
  const AcllConstants constants = acll_constants(counts, options);
  double score = counts.n_rows() * constants.gamma +
                 acll_class_score(counts.class_counts(), constants.beta, options.pseudo_counts);
  for (const std::size_t f : structure.order())
    score += acll_family_score(counts.table(structure.family(f)), constants.beta, options.pseudo_counts);
  return score;
}

}  // namespace tanager

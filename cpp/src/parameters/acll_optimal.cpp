// The parameters that maximize the approximate conditional log-likelihood of a structure (Carvalho, Adão and Mateus
// 2013, theorem 3.8), those of the class included.
#include "parameters/from_counts.hpp"
#include "tanager/learn_parameters.hpp"

namespace tanager {

using namespace internal;

Network estimate_acll_optimal(const Structure& structure, const CountSet& counts, const AcllOptimalOptions& options) {
  const double least = options.score.pseudo_counts;
  check_acll_pseudo_counts(least);
  const double beta = acll_beta(counts, options.score);
  check_augmented_naive(structure, "the approximate conditional log-likelihood");
  return make_network(
      structure, counts, options.class_prior,
      [&](const TableCells& table) { acll_class_parameters(table.cells, beta, least); },
      [&](std::size_t, const TableCells& table) {
        acll_parameters(table.cells, table.values, table.classes, beta, least);
      });
}

}  // namespace tanager

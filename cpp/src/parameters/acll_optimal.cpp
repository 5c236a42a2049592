// The parameters that maximize the approximate conditional log-likelihood of a structure (Carvalho, Adão and Mateus
// 2013, theorem 3.8), those of the class included.
#include "parameters/tables.hpp"
#include "tanager/acll.hpp"

namespace tanager {

Network estimate_acll_optimal(const Structure& structure, const CountSet& counts, const AcllOptimalOptions& options) {
  const double least = options.score.pseudo_counts;
  check_acll_pseudo_counts(least);
  const double beta = acll_beta(counts, options.score);
  std::vector<double> classes = options.class_prior;
  if (classes.empty()) {
    classes.assign(counts.class_counts().begin(), counts.class_counts().end());
    acll_class_parameters(classes, beta, least);
  } else {
    classes = class_distribution(counts, 0.0, std::move(classes));  // checks their number
  }
  return make_network(structure, counts, std::move(classes), [&](std::size_t f, std::span<double> cells) {
    acll_parameters(cells, counts.cardinalities()[f], counts.n_classes(), beta, least);
  });
}

}  // namespace tanager

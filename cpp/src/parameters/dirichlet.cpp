// Posterior means under Dirichlet priors: theta_jkc = (N_jkc + a) / (N_jc + r a), from available cases.
#include "parameters/tables.hpp"
#include "tanager/parameters.hpp"

namespace tanager {

Network estimate_dirichlet(const Structure& structure, const CountSet& counts, const DirichletOptions& options) {
  check_pseudo_counts("alpha", options.alpha, true);
  if (options.equivalent_sample_size)
    check_pseudo_counts("the equivalent sample size", *options.equivalent_sample_size, false);
  const std::size_t s = counts.n_classes();
  const auto alpha_of = [&](std::size_t cells) {
    return options.equivalent_sample_size ? *options.equivalent_sample_size / static_cast<double>(cells)
                                          : options.alpha;
  };
  return make_network(structure, counts, class_distribution(counts, alpha_of(s), options.class_prior),
                      [&](std::size_t f, std::span<double> cells) {
                        smooth(cells, counts.cardinalities()[f], s, alpha_of(cells.size()));
                      });
}

}  // namespace tanager

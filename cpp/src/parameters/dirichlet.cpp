// Posterior means under Dirichlet priors: theta_jkc = (N_jkc + a) / (N_jc + r a), from available cases.
#include "parameters/from_counts.hpp"
#include "tanager/learn_parameters.hpp"

namespace tanager {

using namespace internal;

Network estimate_dirichlet(const Structure& structure, const CountSet& counts, const DirichletOptions& options) {
  check_pseudo_counts("alpha", options.alpha, true);
  if (options.equivalent_sample_size)
    check_pseudo_counts("equivalent_sample_size", *options.equivalent_sample_size, false);
  const auto estimate = [&](const TableCells& table) {
    const double alpha = options.equivalent_sample_size
                             ? *options.equivalent_sample_size / static_cast<double>(table.cells.size())
                             : options.alpha;
    smooth(table.cells, table.values, table.classes, alpha);
  };
  return make_network(structure, counts, options.class_prior, estimate,
                      [&](std::size_t, const TableCells& table) { estimate(table); });
}

}  // namespace tanager

#include "rows/start.hpp"

#include <algorithm>

#include "parameters/from_counts.hpp"
#include "support/text.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"

namespace tanager::internal {

void check_fit(double alpha, bool zero_allowed, double tol) {
  check_pseudo_counts("alpha", alpha, zero_allowed);
  if (!(tol >= 0)) throw InvalidInput(join_text("tol: expected a number >= 0, got ", tol));
}

Network start_network(const Structure& structure, const Dataset& data, double alpha,
                      const std::vector<double>& class_prior) {
  std::vector<Family> families;
  for (const std::size_t f : structure.order())
    if (!structure.parents(f).empty()) families.push_back(structure.family(f));
  if (const auto family = structure.class_family(); family && !family->parents.empty()) families.push_back(*family);
  DirichletOptions options;
  options.alpha = alpha;
  options.class_prior = class_prior;
  return estimate_dirichlet(structure, count(data, CountScope::kSingles, families), options);
}

void restore_class(std::span<const double> class_prior, std::span<double> probabilities) {
  std::ranges::copy(class_prior, probabilities.last(class_prior.size()).begin());
}

}  // namespace tanager::internal

// Posterior means under Dirichlet priors: theta_jkc = (N_jkc + a) / (N_jc + r a), from available cases.
#include <cmath>
#include <numeric>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/parameters.hpp"

namespace tanager {
namespace {

// Sums of pseudo-counts must stay finite.
constexpr double kMostPseudoCounts = 1e200;

void check(const char* name, double value, bool zero_allowed) {
  if (value <= kMostPseudoCounts && (value > 0 || (zero_allowed && value == 0))) return;
  throw InvalidInput(join_text(name, zero_allowed ? " must not be negative" : " must be positive",
                               " and must be at most ", kMostPseudoCounts, ", but is ", value));
}

// `cells` is [configurations][values][classes] and turns from counts into probabilities.
void normalize(std::span<double> cells, std::size_t values, std::size_t classes, double alpha) {
  const std::size_t block = values * classes;
  for (std::size_t start = 0; start < cells.size(); start += block)
    for (std::size_t c = 0; c < classes; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < values; ++k) sum += cells[start + k * classes + c];
      const double total = sum + static_cast<double>(values) * alpha;
      for (std::size_t k = 0; k < values; ++k) {
        double& cell = cells[start + k * classes + c];
        cell = total > 0 ? (cell + alpha) / total : 1.0 / static_cast<double>(values);
      }
    }
}

}  // namespace

Network estimate_dirichlet(const Structure& structure, const CountSet& counts, const DirichletOptions& options) {
  check("alpha", options.alpha, true);
  if (options.equivalent_sample_size) check("the equivalent sample size", *options.equivalent_sample_size, false);
  if (structure.n_features() != counts.n_features())
    throw InvalidInput(join_text("the structure has ", structure.n_features(), " features, but the counts have ",
                                 counts.n_features()));
  const std::size_t s = counts.n_classes();
  const auto alpha_of = [&](std::size_t cells) {
    return options.equivalent_sample_size ? *options.equivalent_sample_size / static_cast<double>(cells)
                                          : options.alpha;
  };

  std::vector<double> prior(counts.class_counts().begin(), counts.class_counts().end());
  if (options.class_prior.empty()) {
    normalize(prior, s, 1, alpha_of(s));
  } else if (options.class_prior.size() == s) {
    prior = options.class_prior;
  } else {
    throw InvalidInput(join_text("the class prior must have ", s, " probabilities, one per class, but has ",
                                 options.class_prior.size()));
  }

  std::vector<std::vector<double>> tables(counts.n_features());
  for (const std::size_t f : structure.order()) {
    tables[f] = counts.table(structure.family(f)).cells;
    normalize(tables[f], counts.cardinalities()[f], s, alpha_of(tables[f].size()));
  }
  return Network(structure, {counts.cardinalities().begin(), counts.cardinalities().end()}, std::move(prior),
                 std::move(tables));
}

}  // namespace tanager

#include "weights/powers.hpp"

#include <algorithm>
#include <cmath>

#include "parameters/from_counts.hpp"
#include "tanager/learn_weights.hpp"

namespace tanager {

using namespace internal;

void internal::check_feature_weights(const Structure& structure, std::span<const double> weights) {
  if (weights.size() != structure.n_features())
    throw InvalidInput(
        join_text("expected ", structure.n_features(), " weights, one per feature, got ", weights.size()));
  for (const std::size_t f : structure.order())
    if (!(weights[f] >= 0 && weights[f] <= 1))
      throw InvalidInput(join_text("expected weights from 0 to 1, got ", weights[f], " for feature ", f));
}

void internal::take_power(std::span<double> cells, std::size_t values, std::size_t classes, double weight) {
  if (weight == 1) return;
  if (weight == 0) {
    std::ranges::fill(cells, 1.0 / static_cast<double>(values));
    return;
  }
  const std::size_t block = values * classes;
  for (std::size_t start = 0; start < cells.size(); start += block)
    for (std::size_t c = 0; c < classes; ++c) {
      // Relative to the largest, which becomes one: small powers of tiny numbers cannot vanish all at once.
      double largest = 0, sum = 0;
      for (std::size_t k = 0; k < values; ++k) largest = std::max(largest, cells[start + k * classes + c]);
      for (std::size_t k = 0; k < values; ++k) {
        double& cell = cells[start + k * classes + c];
        cell = std::pow(cell / largest, weight);
        sum += cell;
      }
      for (std::size_t k = 0; k < values; ++k) cells[start + k * classes + c] /= sum;
    }
}

Network estimate_weighted(const Structure& structure, const CountSet& counts, std::span<const double> weights,
                          const WeightedOptions& options) {
  check_pseudo_counts("alpha", options.alpha, true);
  check_feature_weights(structure, weights);
  const auto estimate = [&](const TableCells& table) {
    smooth(table.cells, table.values, table.classes, options.alpha);
  };
  return make_network(structure, counts, options.class_prior, estimate, [&](std::size_t f, const TableCells& table) {
    estimate(table);
    take_power(table.cells, table.values, table.classes, weights[f]);
  });
}

}  // namespace tanager

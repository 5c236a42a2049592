// Smoothing towards the marginal (Friedman, Geiger and Goldszmidt 1997; Cerquides and López de Màntaras 2003, equation
// 3): theta_jkc = (N_jkc + n0 m_k) / (N_jc + n0), where m_k is the relative frequency of value k among the rows in
// which the feature is observed, whatever its parents and the class.
#include <algorithm>

#include "parameters/from_counts.hpp"
#include "tanager/learn_parameters.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Relative frequencies of a feature's values; uniform if it was never observed.
std::vector<double> marginal(const CountSet& counts, std::size_t feature) {
  const std::size_t n_classes = counts.n_classes();
  const std::span<const double> cells = counts.single(feature);
  std::vector<double> sums(counts.cardinalities()[feature]);
  for (std::size_t k = 0; k < sums.size(); ++k)
    for (std::size_t c = 0; c < n_classes; ++c) sums[k] += cells[k * n_classes + c];
  smooth(sums, sums.size(), 1, 0);
  return sums;
}

}  // namespace

Network estimate_softened(const Structure& structure, const CountSet& counts, const SoftenedOptions& options) {
  check_pseudo_counts("n0", options.n0, true);
  const auto soften = [&](const TableCells& table, std::span<const double> towards) {
    const auto& [cells, r, n_classes] = table;
    for (std::size_t start = 0; start < cells.size(); start += r * n_classes)
      for (std::size_t c = 0; c < n_classes; ++c) {
        double total = options.n0;
        for (std::size_t k = 0; k < r; ++k) total += cells[start + k * n_classes + c];
        for (std::size_t k = 0; k < r; ++k) {
          double& cell = cells[start + k * n_classes + c];
          cell = total > 0 ? (cell + options.n0 * towards[k]) / total : towards[k];
        }
      }
  };
  const auto soften_class = [&](const TableCells& table) {
    const std::vector<double> towards = class_distribution(counts, 0, {});
    if (structure.class_parents().empty())
      std::ranges::copy(towards, table.cells.begin());  // it is its own marginal
    else
      soften(table, towards);
  };
  return make_network(structure, counts, options.class_prior, soften_class,
                      [&](std::size_t f, const TableCells& table) { soften(table, marginal(counts, f)); });
}

}  // namespace tanager

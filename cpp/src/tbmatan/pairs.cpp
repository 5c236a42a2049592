#include "tbmatan/pairs.hpp"

namespace tanager::internal {

PairMargins::PairMargins(std::span<const double> cells, std::size_t n_u, std::size_t n_v, std::size_t n_classes)
    : u(n_u * n_classes, 0.0), v(n_v * n_classes, 0.0), classes(n_classes, 0.0) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < n_u; ++i)
    for (std::size_t j = 0; j < n_v; ++j)
      for (std::size_t c = 0; c < n_classes; ++c, ++at) {
        u[i * n_classes + c] += cells[at];
        v[j * n_classes + c] += cells[at];
        classes[c] += cells[at];
      }
}

std::vector<double> pair_lifts(const CountSet& counts, std::size_t u, std::size_t v, double equivalent_sample_size) {
  const std::size_t n_classes = counts.n_classes(), n_u = counts.cardinalities()[u], n_v = counts.cardinalities()[v];
  const auto cells = counts.pair(u, v);
  const PairMargins margins(cells, n_u, n_v, n_classes);
  const double of_class = equivalent_sample_size / static_cast<double>(n_classes);
  const double of_u = of_class / static_cast<double>(n_u), of_v = of_class / static_cast<double>(n_v);
  const double of_cell = of_u / static_cast<double>(n_v);
  std::vector<double> lifts(cells.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < n_u; ++i)
    for (std::size_t j = 0; j < n_v; ++j)
      for (std::size_t c = 0; c < n_classes; ++c, ++at)
        // In this order nothing leaves the range of doubles on the way.
        lifts[at] = (cells[at] + of_cell) / (margins.u[i * n_classes + c] + of_u) *
                    ((margins.classes[c] + of_class) / (margins.v[j * n_classes + c] + of_v));
  return lifts;
}

}  // namespace tanager::internal

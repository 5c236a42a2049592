#include "parameters/tables.hpp"

namespace tanager {

void check_pseudo_counts(const char* name, double value, bool zero_allowed) {
  if (value <= kMostPseudoCounts && (value > 0 || (zero_allowed && value == 0))) return;
  throw InvalidInput(join_text(name, zero_allowed ? " must not be negative" : " must be positive",
                               " and must be at most ", kMostPseudoCounts, ", but is ", value));
}

void smooth(std::span<double> cells, std::size_t values, std::size_t classes, double alpha) {
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

std::vector<double> class_distribution(const CountSet& counts, double alpha, std::vector<double> given) {
  const std::size_t s = counts.n_classes();
  if (given.empty()) {
    given.assign(counts.class_counts().begin(), counts.class_counts().end());
    smooth(given, s, 1, alpha);
  } else if (given.size() != s) {
    throw InvalidInput(
        join_text("the class prior must have ", s, " probabilities, one per class, but has ", given.size()));
  }
  return given;
}

}  // namespace tanager

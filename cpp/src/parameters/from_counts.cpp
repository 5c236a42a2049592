#include "parameters/from_counts.hpp"

#include "parameters/class_prior.hpp"

namespace tanager::internal {

void check_pseudo_counts(const char* name, double value, bool zero_allowed) {
  if (value <= kMostPseudoCounts && (value > 0 || (zero_allowed && value == 0))) return;
  throw InvalidInput(join_text(name, ": expected a number ", zero_allowed ? ">= 0" : "> 0",
                               " and <= ", kMostPseudoCounts, ", got ", value));
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
  const std::size_t n_classes = counts.n_classes();
  if (given.empty()) {
    given.assign(counts.class_counts().begin(), counts.class_counts().end());
    smooth(given, n_classes, 1, alpha);
  } else {
    check_class_prior(given, n_classes);
  }
  return given;
}

void check_augmented_naive(const Structure& structure, const char* what) {
  if (!structure.class_parents().empty())
    throw InvalidInput(join_text(what, " needs a class without parents, but feature ",
                                 structure.class_parents().front(), " is a parent of the class"));
  for (const std::size_t f : structure.order())
    if (!structure.is_class_child(f))
      throw InvalidInput(
          join_text(what, " needs the class as a parent of every feature, but it is not a parent of feature ", f));
}

std::vector<double> class_family_counts(const Structure& structure, const CountSet& counts) {
  if (const auto family = structure.class_family()) return counts.table(*family).cells;
  return {counts.class_counts().begin(), counts.class_counts().end()};
}

std::vector<double> family_counts(const Structure& structure, const CountSet& counts, std::size_t feature) {
  std::vector<double> cells = counts.table(structure.family(feature)).cells;
  if (structure.is_class_child(feature)) return cells;
  const std::size_t n_classes = counts.n_classes();
  std::vector<double> sums(cells.size() / n_classes, 0.0);
  for (std::size_t i = 0; i < cells.size(); ++i) sums[i / n_classes] += cells[i];
  return sums;
}

}  // namespace tanager::internal

// What parameter learners that work from counts share: the class distribution, and one pass over the tables.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "support/text.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"
#include "tanager/network.hpp"

namespace tanager::internal {

// Sums of pseudo-counts must stay finite.
inline constexpr double kMostPseudoCounts = 1e200;

/// Throws InvalidInput unless `value` may be added to counts; `name` is what the message calls it.
void check_pseudo_counts(const char* name, double value, bool zero_allowed);

/// Turns counts, [configurations][values][classes], into (N + alpha) / (sum of N + values * alpha); distributions
/// without any counts become uniform.
void smooth(std::span<double> cells, std::size_t values, std::size_t classes, double alpha);

/// The class probabilities: those given, if any are, else smoothed relative frequencies.
/// Throws InvalidInput if their number is wrong.
std::vector<double> class_distribution(const CountSet& counts, double alpha, std::vector<double> given);

/// Throws InvalidInput unless the class has no parents and is a parent of every feature; `what` needs that.
void check_augmented_naive(const Structure& structure, const char* what);

/// A table to be turned from counts into probabilities in place: [parent configurations][values][classes].
struct TableCells {
  std::span<double> cells;
  std::size_t values;
  std::size_t classes;  ///< one where the class is no parent
};

/// Counts of the class with its parents, [parent configurations][classes].
std::vector<double> class_family_counts(const Structure& structure, const CountSet& counts);
/// Counts of a feature with its parents, [parent configurations][values][classes], summed over the classes where the
/// class is no parent.
std::vector<double> family_counts(const Structure& structure, const CountSet& counts, std::size_t feature);

/// The class's table: the given probabilities, if there are any, else what `estimate(cells)` makes of its counts.
template <class Estimate>
std::vector<double> class_table(const Structure& structure, const CountSet& counts,
                                const std::vector<double>& class_prior, const Estimate& estimate) {
  if (!class_prior.empty()) {
    if (!structure.class_parents().empty())
      throw InvalidInput(
          join_text("class probabilities cannot be given where the class depends on features, but feature ",
                    structure.class_parents().front(), " is its parent"));
    return class_distribution(counts, 0, class_prior);
  }
  std::vector<double> cells = class_family_counts(structure, counts);
  estimate(TableCells{cells, counts.n_classes(), 1});
  return cells;
}

/// The network whose tables are made from counts by `estimate_class(cells)` and `estimate(feature, cells)`. With
/// class probabilities given, these are taken for the class.
template <class EstimateClass, class Estimate>
Network make_network(const Structure& structure, const CountSet& counts, const std::vector<double>& class_prior,
                     const EstimateClass& estimate_class, const Estimate& estimate) {
  if (structure.n_features() != counts.n_features())
    throw InvalidInput(join_text("the structure has ", structure.n_features(), " features, but the counts have ",
                                 counts.n_features()));
  std::vector<double> of_class = class_table(structure, counts, class_prior, estimate_class);
  std::vector<std::vector<double>> tables(counts.n_features());
  for (const std::size_t f : structure.order()) {
    tables[f] = family_counts(structure, counts, f);
    estimate(f, TableCells{tables[f], counts.cardinalities()[f],
                           structure.is_class_child(f) ? std::size_t{counts.n_classes()} : 1});
  }
  return Network(structure, {counts.cardinalities().begin(), counts.cardinalities().end()}, counts.n_classes(),
                 std::move(of_class), std::move(tables));
}

}  // namespace tanager::internal

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

namespace tanager {

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

/// The network whose tables are made from those of the counts by `estimate(feature, cells)`, which turns
/// [parent configurations][values][classes] of one feature from counts into probabilities in place.
template <class Estimate>
Network make_network(const Structure& structure, const CountSet& counts, std::vector<double> classes,
                     const Estimate& estimate) {
  if (structure.n_features() != counts.n_features())
    throw InvalidInput(join_text("the structure has ", structure.n_features(), " features, but the counts have ",
                                 counts.n_features()));
  std::vector<std::vector<double>> tables(counts.n_features());
  for (const std::size_t f : structure.order()) {
    tables[f] = counts.table(structure.family(f)).cells;
    estimate(f, std::span<double>(tables[f]));
  }
  return Network(structure, {counts.cardinalities().begin(), counts.cardinalities().end()}, std::move(classes),
                 std::move(tables));
}

}  // namespace tanager

// Tables taken to the powers of feature weights.
#pragma once

#include <cstddef>
#include <span>

#include "tanager/network.hpp"

namespace tanager::internal {

/// Throws InvalidInput unless there is a weight in [0, 1] for every feature of the structure.
void check_feature_weights(const Structure& structure, std::span<const double> weights);

/// Probabilities p, [configurations][values][classes], to p^weight / sum over values of p^weight. Anything to the power
/// of zero is one.
void take_power(std::span<double> cells, std::size_t values, std::size_t classes, double weight);

}  // namespace tanager::internal

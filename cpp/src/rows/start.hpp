// Where learners that go step by step begin, and what their settings must be.
#pragma once

#include <span>
#include <vector>

#include "tanager/dataset.hpp"
#include "tanager/network.hpp"

namespace tanager::internal {

/// Throws InvalidInput for pseudo-counts or a tolerance without meaning.
void check_fit(double alpha, bool zero_allowed, double tol);

/// Estimates from available cases.
Network start_network(const Structure& structure, const Dataset& data, double alpha,
                      const std::vector<double>& class_prior);

/// Puts class probabilities that are given, if any are, to the end of a vector, where those of the class stand.
void restore_class(std::span<const double> class_prior, std::span<double> probabilities);

}  // namespace tanager::internal

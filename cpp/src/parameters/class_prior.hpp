// The one rule for class probabilities that a caller gives.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/distributions.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {

/// Throws InvalidInput unless there is one probability per class and they sum to one.
inline void check_class_prior(std::span<const double> prior, std::size_t n_classes) {
  if (prior.size() != n_classes)
    throw InvalidInput(
        join_text("class_prior: expected ", n_classes, " probabilities, one per class, got ", prior.size()));
  check_distributions(prior, n_classes, 1, [] { return std::string("class_prior"); });
}

}  // namespace tanager::internal

// The checks that variables and tables of probabilities go through before a model takes them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/text.hpp"
#include "tanager/dataset.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {

/// Throws InvalidInput unless there is a class, and every feature has a value, and none has too many.
inline void check_cardinalities(std::span<const std::uint32_t> cardinalities, std::size_t n_classes) {
  if (n_classes == 0 || n_classes > kMaxValues)
    throw InvalidInput(join_text("expected 1 to ", kMaxValues, " classes, got ", n_classes));
  for (std::size_t f = 0; f < cardinalities.size(); ++f)
    if (cardinalities[f] == 0 || cardinalities[f] > kMaxValues)
      throw InvalidInput(join_text("feature ", f, " must have 1 to ", kMaxValues, " values, got ", cardinalities[f]));
}

// Estimates are quotients of sums, so a distribution's sum is off by rounding only.
inline constexpr double kSumTolerance = 1e-6;

/// `table` is [configurations][values][classes]; for every configuration and class the values must be a distribution.
/// Throws InvalidInput otherwise; `what()` is what the message calls the table, made only when it is needed.
template <class Describe>
void check_distributions(std::span<const double> table, std::size_t values, std::size_t classes, const Describe& what) {
  const std::size_t block = values * classes;
  for (std::size_t start = 0; start < table.size(); start += block)
    for (std::size_t c = 0; c < classes; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < values; ++k) {
        const double p = table[start + k * classes + c];
        if (!(p >= 0 && p <= 1 + kSumTolerance))
          throw InvalidInput(join_text(what(), ": expected probabilities, got ", p));
        sum += p;
      }
      if (!(std::abs(sum - 1) <= kSumTolerance))
        throw InvalidInput(join_text(what(), ": expected probabilities that sum to 1, got a sum of ", sum));
    }
}

}  // namespace tanager::internal

#include "search/log_grid.hpp"

#include <algorithm>
#include <limits>

namespace tanager::internal {

LogGrid::LogGrid(std::size_t n_terms, double largest, bool zeros) : has_zeros_(zeros) {
  // Two terms more than a sum has: one taken away, one added.
  const double terms = static_cast<double>(n_terms) + 2;
  double bound = terms * largest;
  floor_ = -std::numeric_limits<double>::infinity();
  zero_ = floor_;
  if (zeros) {
    floor_ = -std::exp2(std::ceil(std::log2(2 * bound + 800)));
    zero_ = 2 * floor_;
    bound = terms * -zero_;
  }
  // Doubles hold 53 bits. One is for the half step, one for the difference of two classes, one for safety.
  const double bits = 50 - std::max(0.0, std::ceil(std::log2(bound)));
  half_step_ = std::exp2(-bits - 1);
  magic_ = 1.5 * std::exp2(52 - bits);
}

}  // namespace tanager::internal

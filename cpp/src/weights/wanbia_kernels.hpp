// The loops of WANBIA's objective over a block of rows. Sums are [row][class], so that the classes of a row are read
// and written together, whatever its codes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tanager/learn_weights.hpp"
#include "tanager/predictor.hpp"

namespace tanager::internal {

/// What the rows of a block are evaluated by.
struct BlockRows {
  const std::uint16_t* classes = nullptr;
  const double* weights = nullptr;  ///< null if every row weighs one
  std::size_t rows = 0;
  std::size_t n_classes = 0;
};

/// Adds the terms, [code][class], of one feature, whose codes of the block begin at row `first`. A missing value has
/// the code after those of the values.
void add_block_terms(const CodeColumn& codes, std::size_t first, const double* terms, std::size_t rows,
                     std::size_t n_classes, double* sums);

/// Turns logarithms of unnormalized posteriors, at least one of them finite in every row, into the derivatives of the
/// loss by them; returns the loss. `shifts` is scratch of one number per row.
double evaluate_block(WanbiaLoss loss, const BlockRows& block, double* sums, double* shifts);

/// The sum over rows and classes of slopes, [code][class], times derivatives.
double block_slope(const CodeColumn& codes, std::size_t first, const double* slopes, std::size_t rows,
                   std::size_t n_classes, const double* derivatives);

}  // namespace tanager::internal

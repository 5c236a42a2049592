// The inner loops of a search: one pass over the rows of a segment for one candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "simd/cpu.hpp"

namespace tanager::internal {

/// Rows handled at once: their sums and indices stay in the first-level cache.
inline constexpr std::size_t kSearchBlock = 256;

/// Rows of one class and the table that a candidate adds.
struct CandidateBlock {
  std::size_t rows;
  std::size_t width;           ///< 1 for the difference of two classes, else a multiple of 4
  std::size_t n_classes;       ///< lanes from this one on are padding
  std::uint32_t label;         ///< the class of these rows
  const double* sums;          ///< [row][width] without the candidate's terms
  const std::uint32_t* index;  ///< cell of every row; null if every row has its own
  const double* terms;         ///< [cell][width]; null if the sums are complete
  const double* bias;          ///< [width] half a step of the grid for the classes before `label`, zero for the others
  const double* zeros;         ///< [width]
  double floor;                ///< sums below are ln 0
};

/// index[row] = a[row] * a_stride + b[row] * b_stride
void pair_codes(const std::uint16_t* a, std::uint32_t a_stride, const std::uint16_t* b, std::uint32_t b_stride,
                std::size_t rows, std::uint32_t* index, Isa isa);

/// index[row] += codes[row] * stride
void add_codes(const std::uint16_t* codes, std::uint32_t stride, std::size_t rows, std::uint32_t* index, Isa isa);

/// sums[row] += sign * terms[index[row]]; the sign is 1 or -1.
void add_terms(const double* terms, const std::uint32_t* index, std::size_t rows, std::size_t width, double sign,
               double* sums, Isa isa);

/// Tables over one feature that all of them share, outermost, and some joint value of each table's own. They follow
/// each other for every value of the shared feature: `stride` is from one value to the next.
struct SharedTables {
  static constexpr std::size_t kMost = 4;
  std::size_t count = 0;
  const double* terms[kMost];         ///< of the shared feature's first value
  const std::uint16_t* index[kMost];  ///< the joint value of every row
  std::size_t stride = 0;
};

/// sums[row] += terms[i][shared[row] * stride + index[i][row]] for every table i: one number per cell.
void add_shared_terms(const SharedTables& tables, const std::uint16_t* shared, std::size_t rows, double* sums);

/// How many rows of the block the candidate predicts correctly.
std::size_t count_correct(const CandidateBlock& block, Isa isa);

/// Parents of one child that are looked at side by side.
inline constexpr std::size_t kParentLanes = 8;
/// Up to this many values of a parent, choosing one of their terms is faster than looking it up.
inline constexpr std::size_t kMaxChosenValues = 4;

/// A row that is predicted to be of the second of two classes if what a candidate adds is above a threshold.
struct OpenRow {
  double threshold;
  double gain;  ///< 1 if the row is right in that case, -1 if it is wrong
  std::uint32_t row;
  std::uint32_t value;  ///< of the child
};

/// The rows of a fold that are not decided yet.
struct OpenFold {
  std::span<const OpenRow> rows;
  double right;   ///< rows of the fold that are right if none of these is above its threshold
  double weight;  ///< of all rows of the fold
};

/// Writes into scores[kParentLanes] the sum of the folds' accuracies for parents side by side. What they add is
/// terms[fold][value of the child][value of the parent][lane], the child having `n_values`; their own values are
/// codes[row][lane], below `n_parent_values`, which is at most kMaxChosenValues.
void sum_accuracies(std::span<const OpenFold> folds, const std::uint8_t* codes, const double* terms,
                    std::size_t n_values, std::size_t n_parent_values, double* scores, Isa isa);

/// Whether sums[width] predict the class of the block's rows.
bool is_correct(const CandidateBlock& block, const double* sums);

/// ln P(label | row) for sums[width].
double log_posterior(const CandidateBlock& block, const double* sums);

}  // namespace tanager::internal

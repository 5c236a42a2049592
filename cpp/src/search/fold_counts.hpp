// The counts that the tables of a search come from. Every fold has its own: those of its training rows, which are all
// rows outside of the fold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/fold_rows.hpp"
#include "support/parallel.hpp"

namespace tanager::internal {

/// A feature of a joint value, and what one step of its code adds to the number of that joint value.
struct Digit {
  std::size_t feature;
  std::uint32_t stride;
};

/// The number of every row's joint value: the sum of code * stride.
std::vector<std::uint32_t> joint_values(const FoldRows& rows, std::span<const Digit> digits);

/// The counts of a parent configuration j and a value v of the child begin at j * configuration + v * value.
template <class T>
struct CountView {
  const T* cells;
  std::size_t configuration;
  std::size_t value;
};

/// Counts of every feature and of every pair of features. They are integers below 2^24, hence exact in single
/// precision, which halves the memory.
class PairCounts {
 public:
  /// Bytes that it takes to make them, with the counts of a fold in double precision that every thread makes first.
  static double bytes_to_make(const FoldRows& rows, std::size_t threads);

  PairCounts(const FoldRows& rows, ThreadTeam& team);

  std::size_t bytes() const { return n_cells_ * rows_.n_folds() * sizeof(float); }
  /// A feature without parents has one configuration.
  CountView<float> single(std::size_t child, std::size_t k) const;
  CountView<float> pair(std::size_t parent, std::size_t child, std::size_t k) const;

 private:
  void leave_folds_out(ThreadTeam& team);

  const FoldRows& rows_;
  std::size_t n_cells_ = 0;                  // of a fold
  std::vector<std::size_t> single_offsets_;  // in a fold
  std::vector<std::size_t> pair_offsets_;    // in a fold
  std::unique_ptr<float[]> counts_;          // [fold][cell], laid out as in CountSet::cells
};

/// Counts of all joint values, weights counted: [fold][joint value][class].
std::vector<std::vector<double>> training_counts(const FoldRows& rows, std::span<const Digit> digits,
                                                 std::size_t n_values);

/// Counts of the joint values that occur, one fold at a time: for joint values too many to count all of them.
class SparseCounts {
 public:
  /// `values` is the joint value of every row, in any numbering.
  SparseCounts(const FoldRows& rows, std::vector<std::uint32_t> values);

  /// Numbers the joint values of a fold's rows from 0 and counts them in all other folds.
  void count_fold(std::size_t k);
  /// Joint values in the fold.
  std::size_t size() const { return first_row_.size(); }
  /// The number of a row's joint value; only for rows of the fold.
  std::uint32_t operator[](std::size_t row) const { return number_[values_[row]]; }
  /// The first row of the fold with a joint value.
  std::size_t first_row(std::size_t i) const { return first_row_[i]; }
  /// Counts of a joint value by class.
  const std::uint32_t* training(std::size_t i) const { return training_.data() + i * rows_.n_classes(); }

 private:
  const FoldRows& rows_;
  std::vector<std::uint32_t> values_;  // of every row, numbered from 0 without gaps
  std::vector<std::uint32_t> number_;  // of every value in the present fold; of others, anything
  std::vector<std::uint32_t> totals_;  // [value][class], in all folds
  std::vector<std::size_t> first_row_;
  std::vector<std::uint32_t> training_;  // [number in the fold][class]
};

}  // namespace tanager::internal

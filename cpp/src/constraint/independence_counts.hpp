// Counts of a pair of variables given others, and what they tell about dependence, to the last bit the same for any
// order of the variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/flat_index.hpp"
#include "tanager/dataset.hpp"
#include "tanager/learn_constraint.hpp"

namespace tanager::internal {

/// Sums n ln n over counts with signs. Equal counts are gathered first and added in increasing order, so that the sum
/// depends on nothing but which counts there are.
class CountTerms {
 public:
  void add(double count, int sign);
  void add(std::span<const double> counts, int sign);
  /// The sum; begins anew.
  double take();

 private:
  static constexpr std::size_t kSmall = 4096;

  std::vector<std::int64_t> small_ = std::vector<std::int64_t>(kSmall, 0);
  std::size_t end_small_ = 0;  // no small count from here on has come
  std::vector<std::pair<double, int>> others_;
};

/// Counts one test after the other, with memory of its own. Several threads need one each.
class DependenceCounter {
 public:
  /// From a table of counts [x][y][z] that are whole numbers.
  DependenceFinding of_table(std::span<const double> table, std::size_t n_x, std::size_t n_y, std::size_t n_z);
  /// From rows whose class has a single value, since all variables are features here. With `whole` weights are whole
  /// numbers, so that margins may be added up from cells; others are added up row by row.
  DependenceFinding of_rows(const Dataset& rows, bool whole, std::size_t x, std::size_t y,
                            std::span<const std::size_t> given);

 private:
  void count_margins(std::span<const double> table, std::size_t n_x, std::size_t n_y, std::size_t n_z);
  DependenceFinding finish(std::span<const double> table, std::size_t n_x, std::size_t n_y, std::size_t n_z);
  DependenceFinding of_sparse_rows(const Dataset& rows, std::size_t x, std::size_t y,
                                   std::span<const std::size_t> given);
  /// Joins a variable to the keys of all rows, of which there are at most `bound`; says how many there may be now.
  std::uint64_t join(const Dataset& rows, std::size_t variable, std::uint64_t bound, std::vector<std::uint64_t>& keys);
  /// Numbers the keys that occur, in the order of their first rows, and adds up the weights of each in `sums`.
  std::uint64_t number(const Dataset& rows, std::vector<std::uint64_t>& keys, std::vector<double>& sums);

  CountTerms terms_;
  std::vector<double> cells_, of_x_, of_y_, of_z_;
  std::vector<std::uint64_t> given_keys_, keys_;
  FlatIndex<std::uint64_t> index_;  // of the keys that were numbered last
  std::vector<double> values_of_x_, values_of_y_;
};

}  // namespace tanager::internal

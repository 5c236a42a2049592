// Joint values of several features, numbered: in full where they are few, only those that occur where they are many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/fold_rows.hpp"

namespace tanager::internal {

/// A feature of a joint value, and what one step of its code adds to that value's number.
struct Digit {
  std::size_t feature;
  std::uint32_t stride;
};

/// The joint value of some features in every row: the sum of code * stride.
std::vector<std::uint32_t> cells_of_rows(const SearchRows& rows, std::span<const Digit> digits);

/// Replaces values by numbers 0, 1, 2, ... in the order of their first appearance; returns how many there are.
std::size_t number_distinct(std::vector<std::uint32_t>& values);

/// How many rows of every class have a joint value.
class ClassCounts {
 public:
  /// `cell` has the number of every row's joint value, below n_cells.
  ClassCounts(const SearchRows& rows, std::size_t n_cells, std::span<const std::uint32_t> cell);
  std::size_t size() const { return n_cells_; }
  const std::uint32_t* operator[](std::size_t cell) const { return counts_.data() + cell * n_classes_; }

 private:
  std::size_t n_cells_, n_classes_;
  std::vector<std::uint32_t> counts_;
};

/// The joint values of one fold's rows, numbered anew, with their counts in all other folds.
class FoldCounts {
 public:
  /// Writes the new number of every value that occurs to `place`.
  FoldCounts(const ClassCounts& total, const SearchRows& rows, std::size_t fold, std::span<const std::uint32_t> cell,
             std::span<std::uint32_t> place);
  std::size_t size() const { return first_row_.size(); }
  std::size_t first_row(std::size_t i) const { return first_row_[i]; }
  const std::uint32_t* training(std::size_t i) const { return training_.data() + i * n_classes_; }

 private:
  std::size_t n_classes_;
  std::vector<std::size_t> first_row_;
  std::vector<std::uint32_t> training_;
};

}  // namespace tanager::internal

// The rows of a search, sorted by fold and class: a fold's test rows of one class are neighbors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/parallel.hpp"
#include "tanager/dataset.hpp"

namespace tanager::internal {

/// Rows [begin, end) are those of one fold and one class.
struct RowSegment {
  std::size_t begin;
  std::size_t end;
  std::uint32_t fold;
  std::uint32_t label;
};

class FoldRows {
 public:
  /// The rows in their new order, where the rows of every fold begin there, and the end.
  struct Order {
    std::vector<std::uint32_t> rows;
    std::vector<std::size_t> fold_begin;
  };

  /// Throws InvalidInput unless every fold below the largest has rows, and there are two folds or more.
  FoldRows(const Dataset& data, std::span<const std::uint32_t> fold_of_row, ThreadTeam& team);

  std::size_t n_rows() const { return data_.n_rows(); }
  std::size_t n_features() const { return data_.n_features(); }
  std::uint32_t n_classes() const { return data_.n_classes(); }
  std::size_t n_folds() const { return fold_begin_.size() - 1; }
  /// The rows in their new order.
  const Dataset& data() const { return data_; }
  /// The rows of one fold alone.
  Dataset fold(std::size_t k) const;
  std::size_t fold_begin(std::size_t k) const { return fold_begin_[k]; }
  std::span<const RowSegment> segments() const { return segments_; }
  std::span<const RowSegment> segments(std::size_t k) const {
    return std::span(segments_).subspan(segment_begin_[k], segment_begin_[k + 1] - segment_begin_[k]);
  }
  const RowSegment& segment_of(std::size_t row) const;
  /// Sum of the weights of a fold's rows.
  double fold_weight(std::size_t k) const { return fold_weight_[k]; }

  /// The codes of a feature for all rows; a missing value has the code n_values(f), for which tables have a place.
  const std::uint16_t* codes(std::size_t f) const { return codes_.get() + f * n_rows(); }
  std::uint32_t n_values(std::size_t f) const { return data_.feature(f).n_values(); }
  /// Number of codes of a feature: its values, and one more if it is missing in some row.
  std::uint32_t n_slots(std::size_t f) const { return n_values(f) + (missing_rows_[f].empty() ? 0 : 1); }
  /// The rows in which a feature is missing.
  std::span<const std::uint32_t> missing_rows(std::size_t f) const { return missing_rows_[f]; }
  bool has_missing() const { return has_missing_; }

 private:
  FoldRows(const Dataset& data, Order order, ThreadTeam& team);
  Dataset reordered(const Dataset& data, std::span<const std::uint32_t> order, ThreadTeam& team);
  void copy_codes(std::size_t f, const Column& column);

  std::unique_ptr<std::uint16_t[]> codes_;  // [feature][row]
  std::vector<std::vector<std::uint32_t>> missing_rows_;
  Dataset data_;
  std::vector<std::size_t> fold_begin_;     // n_folds + 1
  std::vector<std::size_t> segment_begin_;  // n_folds + 1
  std::vector<RowSegment> segments_;
  std::vector<double> fold_weight_;
  bool has_missing_ = false;
};

}  // namespace tanager::internal

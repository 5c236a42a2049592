#include "search/joint_values.hpp"

#include "search/kernels.hpp"
#include "support/flat_index.hpp"

namespace tanager::internal {

std::vector<std::uint32_t> cells_of_rows(const SearchRows& rows, std::span<const Digit> digits) {
  std::vector<std::uint32_t> cells(rows.n_rows(), 0);
  for (const Digit& digit : digits)
    add_codes(rows.codes(digit.feature), digit.stride, cells.size(), cells.data(), best_isa());
  return cells;
}

std::size_t number_distinct(std::vector<std::uint32_t>& values) {
  FlatIndex<std::uint32_t> index(values.size());
  for (std::uint32_t& value : values) value = index.insert(value);
  return index.size();
}

ClassCounts::ClassCounts(const SearchRows& rows, std::size_t n_cells, std::span<const std::uint32_t> cell)
    : n_cells_(n_cells), n_classes_(rows.n_classes()), counts_(n_cells * n_classes_, 0) {
  for (std::size_t k = 0; k < rows.n_folds(); ++k)
    for (const RowSegment& segment : rows.segments(k))
      for (std::size_t row = segment.begin; row < segment.end; ++row)
        ++counts_[std::size_t{cell[row]} * n_classes_ + segment.label];
}

FoldCounts::FoldCounts(const ClassCounts& total, const SearchRows& rows, std::size_t fold,
                       std::span<const std::uint32_t> cell, std::span<std::uint32_t> place)
    : n_classes_(rows.n_classes()) {
  // A place is this fold's own if its first row points back to the value.
  for (const RowSegment& segment : rows.segments(fold))
    for (std::size_t row = segment.begin; row < segment.end; ++row) {
      std::uint32_t& at = place[cell[row]];
      if (at >= first_row_.size() || cell[first_row_[at]] != cell[row]) {
        at = static_cast<std::uint32_t>(first_row_.size());
        first_row_.push_back(row);
        training_.insert(training_.end(), total[cell[row]], total[cell[row]] + n_classes_);
      }
      --training_[at * n_classes_ + segment.label];
    }
}

}  // namespace tanager::internal

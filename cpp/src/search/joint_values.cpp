#include "search/joint_values.hpp"

#include <bit>
#include <limits>

#include "search/kernels.hpp"

namespace tanager::internal {

std::vector<std::uint32_t> cells_of_rows(const SearchRows& rows, std::span<const Digit> digits) {
  std::vector<std::uint32_t> cells(rows.n_rows(), 0);
  for (const Digit& digit : digits)
    add_codes(rows.codes(digit.feature), digit.stride, cells.size(), cells.data(), best_isa());
  return cells;
}

std::size_t number_distinct(std::vector<std::uint32_t>& values) {
  // Open addressing in a table at most half full; multiplying by an odd number spreads neighbors over the upper bits.
  constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
  struct Slot {
    std::uint32_t value, number;
  };
  const auto bits = static_cast<int>(std::bit_width(2 * values.size() + 1));
  std::vector<Slot> slots(std::size_t{1} << bits, Slot{0, kFree});
  const std::size_t mask = slots.size() - 1;
  std::uint32_t n_distinct = 0;
  for (std::uint32_t& value : values) {
    std::size_t at = (std::uint64_t{value} * 0x9E3779B97F4A7C15ULL) >> (64 - bits);
    while (slots[at].number != kFree && slots[at].value != value) at = (at + 1) & mask;
    if (slots[at].number == kFree) slots[at] = {value, n_distinct++};
    value = slots[at].number;
  }
  return n_distinct;
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

// Rows without missing cells: posteriors of the class and their derivatives by all logarithms of parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rows/softmax_families.hpp"
#include "simd/cpu.hpp"
#include "support/lookup_groups.hpp"
#include "tanager/dataset.hpp"
#include "tanager/learn_rows.hpp"

namespace tanager::internal {

/// Families that share features are joined into groups: a row then looks up one cell for several families, both when
/// logarithms are added up and when derivatives are. Families that do not know the class say nothing of its posterior
/// and are in none.
class CompleteRows {
 public:
  CompleteRows(const SoftmaxFamilies& families, const Dataset& data, std::span<const std::size_t> rows);

  std::size_t n_rows() const { return classes_.size(); }
  /// Cells of all groups, classes padded: room that expanded logarithms and sums of derivatives take.
  std::size_t n_cells() const { return n_cells_; }
  /// Work of one pass, in additions.
  std::size_t cost() const { return n_rows() * groups_.size() * padded_; }

  /// The groups' cells from expanded logarithms.
  std::vector<double> joined(std::span<const double> logs) const;
  /// Goal and errors of some rows. Unless it is empty, `slopes` (n_cells numbers) gets the derivatives by the groups'
  /// cells added.
  RowEvaluation evaluate(std::span<const double> cells, std::size_t begin, std::size_t end, std::span<double> slopes,
                         Isa isa) const;
  /// Adds derivatives by the groups' cells to those by the expanded logarithms.
  void split(std::span<const double> slopes, std::span<double> expanded) const;

 private:
  std::vector<std::uint32_t> number_cells(const LookupGroup& group) const;

  const SoftmaxFamilies& families_;
  std::size_t padded_;
  std::vector<LookupGroup> groups_;                  // of families; members with the last one counting fastest
  std::vector<std::vector<std::uint32_t>> cell_of_;  // [group][family][joint value]
  std::size_t n_cells_ = 0;
  std::vector<std::uint32_t> index_;  // [group][row]: the offset of the row's cell
  std::vector<std::uint16_t> classes_;
  std::vector<double> weights_;  // empty if all are one
};

}  // namespace tanager::internal

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/dataset.hpp"

namespace tanager {

/// A view of numbers anywhere in memory, a fixed number of bytes apart: an array, or one column of a table in either
/// order. NaN means missing. The memory must outlive the view. Safe to share between threads while the memory does not
/// change.
class NumberColumn {
 public:
  NumberColumn(std::span<const double> values);  // NOLINT: implicit on purpose, an array is a column
  NumberColumn(std::span<const float> values);   // NOLINT
  /// `step` is in bytes and may be negative, and need not be a multiple of the size of a number.
  NumberColumn(const double* first, std::ptrdiff_t step, std::size_t size);
  NumberColumn(const float* first, std::ptrdiff_t step, std::size_t size);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Rows begin, begin+1, ... as doubles, as many as `out` holds.
  void read(std::size_t begin, std::span<double> out) const;

 private:
  const std::byte* first_;
  std::ptrdiff_t step_;
  std::size_t size_;
  bool single_;
};

// Cut points c[0] < c[1] < ... split the numbers into bins; bin i holds c[i-1] < x <= c[i]. All functions below ignore
// missing numbers and rows of weight zero, and place a cut half-way between the two neighboring values it separates.
// Empty weights mean that every row has weight one; an integer weight w acts exactly as w copies of the row. They throw
// InvalidInput for an infinite number, a weight that is negative or not finite, and sizes that differ.

/// A variable of kMaxValues values has at most this many cuts between them.
inline constexpr std::size_t kMaxCuts = kMaxValues - 1;

/// Recursive minimal-entropy partition under the MDL stopping rule (Fayyad and Irani, 1993). Of cuts equally good the
/// lowest is taken. A total weight below two is penalized as two.
[[nodiscard]] std::vector<double> mdl_cuts(const NumberColumn& x, const Column& classes,
                                           std::span<const double> weights = {});

/// The cuts nearest to equal weight in every bin; equal values are never separated, so heavy ties give fewer bins.
[[nodiscard]] std::vector<double> equal_frequency_cuts(const NumberColumn& x, std::size_t bins,
                                                       std::span<const double> weights = {});

/// Bins of equal width between the smallest and the largest number; none for a constant column.
[[nodiscard]] std::vector<double> equal_width_cuts(const NumberColumn& x, std::size_t bins,
                                                   std::span<const double> weights = {});

/// The same for several columns, on up to `threads` threads.
[[nodiscard]] std::vector<std::vector<double>> mdl_cuts(std::span<const NumberColumn> columns, const Column& classes,
                                                        std::span<const double> weights = {}, int threads = 1);
[[nodiscard]] std::vector<std::vector<double>> equal_frequency_cuts(std::span<const NumberColumn> columns,
                                                                    std::size_t bins,
                                                                    std::span<const double> weights = {},
                                                                    int threads = 1);
[[nodiscard]] std::vector<std::vector<double>> equal_width_cuts(std::span<const NumberColumn> columns, std::size_t bins,
                                                                std::span<const double> weights = {}, int threads = 1);

/// The bin of every number, and the missing code for NaN. Throws InvalidInput if the cuts do not increase strictly, are
/// more than the codes can represent, or the sizes of x and out differ. Infinities fall into the outer bins.
void apply_cuts(const NumberColumn& x, std::span<const double> cuts, std::span<std::uint8_t> out);
void apply_cuts(const NumberColumn& x, std::span<const double> cuts, std::span<std::uint16_t> out);

/// Throws InvalidInput unless they are valid cut points: at most kMaxCuts numbers that increase strictly, none of them
/// NaN.
void check_cuts(std::span<const double> cuts);

}  // namespace tanager

// Which rows of a block belong to which class, and where they go when a block is ordered by class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/cpu.hpp"
#include "tanager/dataset.hpp"

namespace tanager::internal {

/// Rows of a block of bit sets at most: 16-bit row numbers, and what the kernels' counters allow.
inline constexpr std::size_t kMaxOrderedRows = 32768;

/// A block of consecutive rows, ordered by class. In a bit row every class begins at a new granule of words, and the
/// bits after its last row are zero.
class ClassOrder {
 public:
  /// granule: words that every class is padded to a multiple of. Masks need at most kMaxNarrowValues classes; throws
  /// std::logic_error otherwise.
  ClassOrder(std::uint32_t n_classes, std::size_t granule, bool with_rows, bool with_masks);

  /// Takes rows [begin, begin + n) of the target.
  void assign(const Column& target, std::size_t begin, std::size_t n, Isa isa);

  std::uint32_t n_classes() const { return n_classes_; }
  std::size_t begin() const { return begin_; }
  std::size_t n_rows() const { return n_rows_; }
  /// Words of a bit row of this block.
  std::size_t n_words() const { return word_begin_[n_classes_]; }
  /// Where the words of a class begin; for n_classes, where the last one's end.
  std::size_t word_begin(std::size_t c) const { return word_begin_[c]; }
  /// The rows of a class, counted from the block's beginning; only with_rows.
  std::span<const std::uint16_t> rows_of(std::size_t c) const {
    return std::span(rows_).subspan(row_begin_[c], row_begin_[c + 1] - row_begin_[c]);
  }
  /// For every 64 rows of the block in their original order, which are of the class; only with_masks.
  std::span<const std::uint64_t> mask_of(std::size_t c) const {
    return std::span(masks_).subspan(c * mask_words_, mask_words_);
  }

 private:
  // Both leave the number of rows of class c in row_begin_[c + 1].
  template <class T>
  void count_rows(const T* classes);
  void match_classes(const Column& target, Isa isa);
  template <class T>
  void sort_rows(const T* classes);

  std::uint32_t n_classes_;
  std::size_t granule_;
  bool with_rows_;
  bool with_masks_;
  std::size_t begin_ = 0;
  std::size_t n_rows_ = 0;
  std::size_t mask_words_ = 0;
  std::vector<std::size_t> word_begin_;
  std::vector<std::size_t> row_begin_;
  std::vector<std::uint16_t> rows_;
  std::vector<std::uint64_t> masks_;
};

}  // namespace tanager::internal

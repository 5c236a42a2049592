#include "counts/class_order.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "counts/match.hpp"
#include "support/text.hpp"

namespace tanager::internal {

ClassOrder::ClassOrder(std::uint32_t n_classes, std::size_t granule, bool with_rows, bool with_masks)
    : n_classes_(n_classes),
      granule_(granule),
      with_rows_(with_rows),
      with_masks_(with_masks),
      word_begin_(n_classes + std::size_t{1}),
      row_begin_(n_classes + std::size_t{1}) {
  if (with_masks && n_classes > kMaxNarrowValues)
    throw std::logic_error(join_text("class masks need 8-bit codes, but there are ", n_classes, " classes"));
}

template <class T>
void ClassOrder::count_rows(const T* classes) {
  std::fill(row_begin_.begin(), row_begin_.end(), 0);
  for (std::size_t r = 0; r < n_rows_; ++r) ++row_begin_[classes[r] + std::size_t{1}];
}

template <class T>
void ClassOrder::sort_rows(const T* classes) {
  rows_.resize(n_rows_);
  std::vector<std::size_t> next(row_begin_.begin(), row_begin_.end() - 1);
  for (std::size_t r = 0; r < n_rows_; ++r) rows_[next[classes[r]]++] = static_cast<std::uint16_t>(r);
}

void ClassOrder::match_classes(const Column& target, Isa isa) {
  mask_words_ = (n_rows_ + kWordBits - 1) / kWordBits;
  masks_.resize(n_classes_ * mask_words_);
  // The constructor made sure that the classes fit eight bits, whatever the width of the column.
  std::vector<std::uint8_t> narrowed;
  match_column(target, begin_, n_rows_, {0, n_classes_}, {masks_.data(), mask_words_}, narrowed, isa);
  for (std::size_t c = 0; c < n_classes_; ++c) {
    row_begin_[c + 1] = 0;
    for (const std::uint64_t mask : mask_of(c)) row_begin_[c + 1] += static_cast<std::size_t>(std::popcount(mask));
  }
}

void ClassOrder::assign(const Column& target, std::size_t begin, std::size_t n, Isa isa) {
  begin_ = begin;
  n_rows_ = n;
  if (with_masks_)
    match_classes(target, isa);
  else
    target.visit([&](auto classes) { count_rows(classes.data() + begin); });
  for (std::size_t c = 0; c < n_classes_; ++c) {
    const std::size_t words = (row_begin_[c + 1] + kWordBits - 1) / kWordBits;
    word_begin_[c + 1] = word_begin_[c] + (words + granule_ - 1) / granule_ * granule_;
    row_begin_[c + 1] += row_begin_[c];
  }
  if (with_rows_) target.visit([&](auto classes) { sort_rows(classes.data() + begin); });
}

}  // namespace tanager::internal

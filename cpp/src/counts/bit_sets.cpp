#include "counts/bit_sets.hpp"

#include <algorithm>

#include "counts/match.hpp"

namespace tanager::internal {
namespace {

/// Products of bit rows and classes up to this are faster by pext than by gathering.
constexpr std::size_t kMaxPextWork = 16;
static_assert(kMaxPextWork <= kMaxNarrowValues, "masks of classes are made from 8-bit codes");
constexpr std::size_t kRowsMatchedAtOnce = 4;

/// Matches the codes where they are, then moves the bits of each class together.
void build_by_pext(const Column& column, const ClassOrder& order, std::uint64_t* out, std::size_t stride,
                   BuildScratch& scratch, Isa isa) {
  const std::size_t words = (order.n_rows() + kWordBits - 1) / kWordBits;
  const std::size_t n_rows = bit_rows_of(column);
  scratch.matched.resize(kRowsMatchedAtOnce * words);
  const BitRows matched{scratch.matched.data(), words};
  for (std::size_t v = 0; v < n_rows; v += kRowsMatchedAtOnce) {
    const std::size_t some = std::min(kRowsMatchedAtOnce, n_rows - v);
    match_column(column, order.begin(), order.n_rows(), {v, some}, matched, scratch.narrowed, isa);
    for (std::size_t c = 0; c < order.n_classes(); ++c)
      compress_rows(matched, order.mask_of(c).data(), words, some, {out + v * stride + order.word_begin(c), stride},
                    order.word_begin(c + 1) - order.word_begin(c));
  }
}

/// Moves the codes of each class together, padded by the missing code, then matches them.
void build_by_gathering(const Column& column, const ClassOrder& order, std::uint64_t* out, std::size_t stride,
                        BuildScratch& scratch, Isa isa) {
  const std::uint8_t* codes = narrow_codes(column, order.begin(), order.n_rows(), scratch.narrowed);
  scratch.ordered.resize(order.n_words() * kWordBits);
  std::uint8_t* next = scratch.ordered.data();
  for (std::size_t c = 0; c < order.n_classes(); ++c) {
    for (const std::uint16_t row : order.rows_of(c)) *next++ = codes[row];
    std::uint8_t* const end = scratch.ordered.data() + order.word_begin(c + 1) * kWordBits;
    next = std::fill_n(next, end - next, kMissing8);
  }
  match_codes(scratch.ordered.data(), order.n_words(), {0, bit_rows_of(column)}, {out, stride}, isa);
}

}  // namespace

std::size_t bit_rows_of(const Column& column) {
  return column.has_missing() || column.n_values() == 0 ? column.n_values() : column.n_values() - 1;
}

bool builds_by_pext(std::size_t bit_rows, std::uint32_t n_classes, Isa isa, bool fast_pext) {
  return fast_pext && isa >= Isa::kAvx2 && bit_rows > 0 && bit_rows * n_classes <= kMaxPextWork;
}

void build_bit_rows(const Column& column, const ClassOrder& order, bool by_pext, std::uint64_t* out, std::size_t stride,
                    BuildScratch& scratch, Isa isa) {
  if (bit_rows_of(column) == 0) return;
  if (by_pext)
    build_by_pext(column, order, out, stride, scratch, isa);
  else
    build_by_gathering(column, order, out, stride, scratch, isa);
}

}  // namespace tanager::internal

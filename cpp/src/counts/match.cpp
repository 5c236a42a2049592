#include "counts/match.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "support/text.hpp"

#if TANAGER_X86_DISPATCH
#include <immintrin.h>
#endif

namespace tanager::internal {
namespace {

#if TANAGER_X86_DISPATCH

std::uint64_t match_sixteen(const std::uint8_t* codes, __m128i value) {
  const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)), value);
  return static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
}

std::uint64_t match_word(const std::uint8_t* codes, std::uint8_t value) {
  const __m128i key = _mm_set1_epi8(static_cast<char>(value));
  return match_sixteen(codes, key) | match_sixteen(codes + 16, key) << 16 | match_sixteen(codes + 32, key) << 32 |
         match_sixteen(codes + 48, key) << 48;
}

TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE std::uint64_t matches(__m256i low, __m256i high, __m256i key) {
  const auto low_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, key)));
  const auto high_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, key)));
  return low_bits | static_cast<std::uint64_t>(high_bits) << 32;
}

/// kValues values share the loads, and their keys stay in registers.
template <std::size_t kValues>
TANAGER_TARGET_AVX2 void match_some(const std::uint8_t* codes, std::size_t words, std::size_t first, BitRows out) {
  __m256i keys[kValues];
  for (std::size_t v = 0; v < kValues; ++v) keys[v] = _mm256_set1_epi8(static_cast<char>(first + v));
  for (std::size_t w = 0; w < words; ++w) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + w * kWordBits));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + w * kWordBits + 32));
    for (std::size_t v = 0; v < kValues; ++v) out.first[v * out.stride + w] = matches(low, high, keys[v]);
  }
}

void match_avx2(const std::uint8_t* codes, std::size_t words, ValueRange values, BitRows out) {
  for (; values.count >= 4; values = {values.first + 4, values.count - 4}, out.first += 4 * out.stride)
    match_some<4>(codes, words, values.first, out);
  if (values.count == 3) match_some<3>(codes, words, values.first, out);
  if (values.count == 2) match_some<2>(codes, words, values.first, out);
  if (values.count == 1) match_some<1>(codes, words, values.first, out);
}

#else

std::uint64_t match_word(const std::uint8_t* codes, std::uint8_t value) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kWordBits; ++i) bits |= static_cast<std::uint64_t>(codes[i] == value) << i;
  return bits;
}

#endif

void match_baseline(const std::uint8_t* codes, std::size_t words, ValueRange values, BitRows out) {
  for (std::size_t w = 0; w < words; ++w)
    for (std::size_t v = 0; v < values.count; ++v)
      out.first[v * out.stride + w] = match_word(codes + w * kWordBits, static_cast<std::uint8_t>(values.first + v));
}

}  // namespace

void match_codes(const std::uint8_t* codes, std::size_t words, ValueRange values, BitRows out, Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa >= Isa::kAvx2) return match_avx2(codes, words, values, out);
#endif
  static_cast<void>(isa);
  match_baseline(codes, words, values, out);
}

const std::uint8_t* narrow_codes(const Column& column, std::size_t begin, std::size_t n,
                                 std::vector<std::uint8_t>& buffer) {
  if (column.n_values() > kMaxNarrowValues)
    throw std::logic_error(join_text("a column of ", column.n_values(), " values does not fit 8-bit codes"));
  if (!column.is_wide()) return column.narrow().data() + begin;
  buffer.resize(n);
  const std::uint16_t* codes = column.wide().data() + begin;
  // Keeping the low byte also turns the missing code of 16 bits into that of eight.
  for (std::size_t i = 0; i < n; ++i) buffer[i] = static_cast<std::uint8_t>(codes[i]);
  return buffer.data();
}

void match_column(const Column& column, std::size_t begin, std::size_t n, ValueRange values, BitRows out,
                  std::vector<std::uint8_t>& buffer, Isa isa) {
  const std::uint8_t* codes = narrow_codes(column, begin, n, buffer);
  const std::size_t words = n / kWordBits;
  match_codes(codes, words, values, out, isa);
  if (n % kWordBits == 0) return;
  std::array<std::uint8_t, kWordBits> last;
  last.fill(kMissing8);
  std::copy(codes + words * kWordBits, codes + n, last.begin());
  match_codes(last.data(), 1, values, {out.first + words, out.stride}, isa);
}

#if TANAGER_X86_DISPATCH
namespace {

/// kRows bit rows share the masks and the places their bits go to. Every step stores the unfinished word, so that the
/// only question left, whether it is full, needs no branch: it would be guessed wrong too often.
template <std::size_t kRows>
TANAGER_TARGET_AVX2 void compress_some(BitRows bits, const std::uint64_t* masks, std::size_t words, BitRows out,
                                       std::size_t out_words) {
  std::uint64_t open[kRows] = {};
  std::size_t filled = 0;
  std::size_t at = 0;
  for (std::size_t w = 0; w < words && at < out_words; ++w) {
    const std::uint64_t mask = masks[w];
    const std::size_t after = filled + static_cast<std::size_t>(_mm_popcnt_u64(mask));
    const std::uint64_t full = 0 - static_cast<std::uint64_t>(after >> 6);
    for (std::size_t v = 0; v < kRows; ++v) {
      const std::uint64_t chosen = _pext_u64(bits.first[v * bits.stride + w], mask);
      open[v] |= chosen << filled;
      out.first[v * out.stride + at] = open[v];
      const std::uint64_t beyond = (chosen >> 1) >> (63 - filled);
      open[v] = (beyond & full) | (open[v] & ~full);
    }
    at += after >> 6;
    filled = after & 63;
  }
  for (std::size_t v = 0; v < kRows; ++v) {
    std::uint64_t* row = out.first + v * out.stride;
    if (filled > 0) row[at] = open[v];
    std::fill(row + at + (filled > 0 ? 1 : 0), row + out_words, 0);
  }
}

}  // namespace

void compress_rows(BitRows bits, const std::uint64_t* masks, std::size_t words, std::size_t n_rows, BitRows out,
                   std::size_t out_words) {
  for (; n_rows >= 4; n_rows -= 4, bits.first += 4 * bits.stride, out.first += 4 * out.stride)
    compress_some<4>(bits, masks, words, out, out_words);
  if (n_rows == 3) compress_some<3>(bits, masks, words, out, out_words);
  if (n_rows == 2) compress_some<2>(bits, masks, words, out, out_words);
  if (n_rows == 1) compress_some<1>(bits, masks, words, out, out_words);
}

#else

void compress_rows(BitRows, const std::uint64_t*, std::size_t, std::size_t, BitRows, std::size_t) {}

#endif

}  // namespace tanager::internal

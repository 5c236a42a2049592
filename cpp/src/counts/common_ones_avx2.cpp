// The kernel for AVX2, which has no instruction that counts ones: carry-save adders after Harley and Seal, then a table
// of 16 entries by pshufb (Mula, Kurz and Lemire, Faster Population Counts Using AVX2 Instructions, 2018).
#include "counts/common_ones.hpp"

#if TANAGER_X86_DISPATCH
#include <immintrin.h>

namespace tanager::internal {
namespace {

TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE __m256i load_both(const std::uint64_t* a, const std::uint64_t* b) {
  return _mm256_and_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(a)),
                          _mm256_load_si256(reinterpret_cast<const __m256i*>(b)));
}

TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE __m256i add_bits(__m256i& low, __m256i b, __m256i c) {
  const __m256i changed = _mm256_xor_si256(low, b);
  const __m256i carry = _mm256_or_si256(_mm256_and_si256(low, b), _mm256_and_si256(changed, c));
  low = _mm256_xor_si256(changed, c);
  return carry;
}

TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE __m256i ones_of_bytes(__m256i x) {
  const __m256i table =
      _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low_half = _mm256_set1_epi8(0x0F);
  const __m256i low = _mm256_and_si256(x, low_half);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), low_half);
  return _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
}

constexpr std::size_t kLanes = 4;
constexpr std::size_t kAtOnce = 8 * kLanes;
// The eights of a whole row are added up in 8-bit counters: 8 bits of each of at most 31 words.
static_assert(kMaxGramBits / 64 < 32 * kAtOnce);

TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE __m256i twice(__m256i x) {
  return _mm256_add_epi8(x, x);
}

/// The carry-save adders of one pair of rows.
struct Adders {
  __m256i ones, twos, fours, eights;
};

TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE void add_eight(Adders& sum, const std::uint64_t* x, const std::uint64_t* y) {
  const __m256i twos_a = add_bits(sum.ones, load_both(x, y), load_both(x + 4, y + 4));
  const __m256i twos_b = add_bits(sum.ones, load_both(x + 8, y + 8), load_both(x + 12, y + 12));
  const __m256i fours_a = add_bits(sum.twos, twos_a, twos_b);
  const __m256i twos_c = add_bits(sum.ones, load_both(x + 16, y + 16), load_both(x + 20, y + 20));
  const __m256i twos_d = add_bits(sum.ones, load_both(x + 24, y + 24), load_both(x + 28, y + 28));
  const __m256i fours_b = add_bits(sum.twos, twos_c, twos_d);
  sum.eights = _mm256_add_epi8(sum.eights, ones_of_bytes(add_bits(sum.fours, fours_a, fours_b)));
}

/// Adds the words from `w` on, fewer than eight vectors of them, and everything up.
TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE std::uint32_t finish(const Adders& sum, const std::uint64_t* a,
                                                               const std::uint64_t* b, std::size_t w,
                                                               std::size_t words) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i rest = _mm256_add_epi8(twice(ones_of_bytes(sum.fours)), ones_of_bytes(sum.twos));
  rest = _mm256_add_epi8(twice(rest), ones_of_bytes(sum.ones));
  // At most 7 * 8 from the adders and as much from the words left over: still below 256.
  for (; w < words; w += kLanes) rest = _mm256_add_epi8(rest, ones_of_bytes(load_both(a + w, b + w)));
  const __m256i eights = _mm256_slli_epi64(_mm256_sad_epu8(sum.eights, zero), 3);
  const __m256i total = _mm256_add_epi64(eights, _mm256_sad_epu8(rest, zero));
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(half)) + static_cast<std::uint32_t>(_mm_extract_epi32(half, 2));
}

/// kRows rows of b at once: their adders do not wait for each other.
template <std::size_t kRows>
TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE void common_ones(const std::uint64_t* a, const std::uint64_t* b,
                                                           std::size_t stride, std::size_t words,
                                                           std::uint32_t* counts) {
  const __m256i zero = _mm256_setzero_si256();
  Adders sums[kRows];
  for (Adders& sum : sums) sum = {zero, zero, zero, zero};
  std::size_t w = 0;
  for (; w + kAtOnce <= words; w += kAtOnce)
    for (std::size_t r = 0; r < kRows; ++r) add_eight(sums[r], a + w, b + r * stride + w);
  for (std::size_t r = 0; r < kRows; ++r) counts[r] = finish(sums[r], a, b + r * stride, w, words);
}

}  // namespace

TANAGER_TARGET_AVX2 void count_common_ones_avx2(const std::uint64_t* a, std::size_t n_a, const std::uint64_t* b,
                                                std::size_t n_b, std::size_t stride, std::size_t words,
                                                std::uint32_t* counts) {
  for (std::size_t i = 0; i < n_a; ++i) {
    std::size_t j = 0;
    for (; j + 2 <= n_b; j += 2) common_ones<2>(a + i * stride, b + j * stride, stride, words, counts + i * n_b + j);
    if (j < n_b) common_ones<1>(a + i * stride, b + j * stride, stride, words, counts + i * n_b + j);
  }
}

}  // namespace tanager::internal
#endif

// The kernel of every instruction set. Without an instruction that counts ones, they are counted after Harley and Seal:
// carry-save adders turn eight words into one word of eights, so that only every eighth word needs the long way to its
// number of ones.
#include "counts/common_ones.hpp"

#include <cstring>

#if TANAGER_X86_DISPATCH
#include <immintrin.h>
#endif

namespace tanager::internal {
namespace {

namespace baseline {

#if defined(__GNUC__)
typedef std::uint64_t Word __attribute__((vector_size(16)));
#else
using Word = std::uint64_t;
#endif
constexpr std::size_t kLanes = sizeof(Word) / sizeof(std::uint64_t);

Word splat(std::uint64_t value) {
  return Word{} + value;
}

Word load_both(const std::uint64_t* a, const std::uint64_t* b) {
  Word x;
  Word y;
  std::memcpy(&x, a, sizeof(Word));
  std::memcpy(&y, b, sizeof(Word));
  return x & y;
}

/// Adds three bits in every position: sum stays in `low`, the carry is returned.
Word add_bits(Word& low, Word b, Word c) {
  const Word changed = low ^ b;
  const Word carry = (low & b) | (changed & c);
  low = changed ^ c;
  return carry;
}

/// The number of ones of every byte.
Word ones_of_bytes(Word x) {
  x -= (x >> 1) & splat(0x5555555555555555);
  x = (x & splat(0x3333333333333333)) + ((x >> 2) & splat(0x3333333333333333));
  return (x + (x >> 4)) & splat(0x0F0F0F0F0F0F0F0F);
}

std::uint32_t sum_of_bytes(Word x) {
  x = (x & splat(0x00FF00FF00FF00FF)) + ((x >> 8) & splat(0x00FF00FF00FF00FF));
  std::uint64_t lanes[kLanes];
  std::memcpy(lanes, &x, sizeof(Word));
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += (lane * 0x0001000100010001) >> 48;
  return static_cast<std::uint32_t>(sum);
}

constexpr std::size_t kAtOnce = 8 * kLanes;

/// Ones of the bytes of 8 * 31 words at most are added up in 8-bit counters, before those could overflow.
constexpr std::size_t kWordsPerSum = 31 * kAtOnce;

std::uint32_t common_ones(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
  Word ones = splat(0);
  Word twos = splat(0);
  Word fours = splat(0);
  std::uint32_t eights_counted = 0;
  std::size_t w = 0;
  while (w + kAtOnce <= words) {
    Word eights = splat(0);
    const std::size_t end = words - w > kWordsPerSum ? w + kWordsPerSum : words;
    for (; w + kAtOnce <= end; w += kAtOnce) {
      const auto pair = [&](std::size_t i) {
        const std::size_t at = w + 2 * i * kLanes;
        return add_bits(ones, load_both(a + at, b + at), load_both(a + at + kLanes, b + at + kLanes));
      };
      const Word twos_a = pair(0);
      const Word twos_b = pair(1);
      const Word fours_a = add_bits(twos, twos_a, twos_b);
      const Word twos_c = pair(2);
      const Word twos_d = pair(3);
      const Word fours_b = add_bits(twos, twos_c, twos_d);
      eights += ones_of_bytes(add_bits(fours, fours_a, fours_b));
    }
    eights_counted += sum_of_bytes(eights);
  }
  // At most 7 * 8 from the adders and as much from the words left over: still below 256.
  Word rest = ones_of_bytes(fours);
  rest = rest + rest + ones_of_bytes(twos);
  rest = rest + rest + ones_of_bytes(ones);
  for (; w < words; w += kLanes) rest += ones_of_bytes(load_both(a + w, b + w));
  return 8 * eights_counted + sum_of_bytes(rest);
}

void count(const std::uint64_t* a, std::size_t n_a, const std::uint64_t* b, std::size_t n_b, std::size_t stride,
           std::size_t words, std::uint32_t* counts) {
  for (std::size_t i = 0; i < n_a; ++i)
    for (std::size_t j = 0; j < n_b; ++j) counts[i * n_b + j] = common_ones(a + i * stride, b + j * stride, words);
}

}  // namespace baseline

#if TANAGER_X86_DISPATCH
// The long way by a table of 16 entries with pshufb (Mula, Kurz and Lemire, Faster Population Counts Using AVX2
// Instructions, 2018).
namespace avx2 {

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

TANAGER_TARGET_AVX2 void count(const std::uint64_t* a, std::size_t n_a, const std::uint64_t* b, std::size_t n_b,
                               std::size_t stride, std::size_t words, std::uint32_t* counts) {
  for (std::size_t i = 0; i < n_a; ++i) {
    std::size_t j = 0;
    for (; j + 2 <= n_b; j += 2) common_ones<2>(a + i * stride, b + j * stride, stride, words, counts + i * n_b + j);
    if (j < n_b) common_ones<1>(a + i * stride, b + j * stride, stride, words, counts + i * n_b + j);
  }
}

}  // namespace avx2

// With VPOPCNTDQ compilers turn plain loops into vector code. Four rows of b share every word of a.
namespace avx512 {

/// Plain code, always inlined: it takes over the instruction set of the function it ends up in.
template <std::size_t kRows>
TANAGER_ALWAYS_INLINE void common_ones(const std::uint64_t* a, const std::uint64_t* b, std::size_t stride,
                                       std::size_t words, std::uint32_t* counts) {
  std::uint64_t sums[kRows] = {};
  for (std::size_t w = 0; w < words; ++w)
    for (std::size_t j = 0; j < kRows; ++j)
      sums[j] += static_cast<std::uint64_t>(__builtin_popcountll(a[w] & b[j * stride + w]));
  for (std::size_t j = 0; j < kRows; ++j) counts[j] = static_cast<std::uint32_t>(sums[j]);
}

TANAGER_TARGET_AVX512 void count(const std::uint64_t* a, std::size_t n_a, const std::uint64_t* b, std::size_t n_b,
                                 std::size_t stride, std::size_t words, std::uint32_t* counts) {
  for (std::size_t i = 0; i < n_a; ++i) {
    const std::uint64_t* row = a + i * stride;
    std::size_t j = 0;
    for (; j + 4 <= n_b; j += 4) common_ones<4>(row, b + j * stride, stride, words, counts + i * n_b + j);
    for (; j < n_b; ++j) common_ones<1>(row, b + j * stride, stride, words, counts + i * n_b + j);
  }
}

}  // namespace avx512
#endif

}  // namespace

CountCommonOnes common_ones_kernel(Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa == Isa::kAvx512) return avx512::count;
  if (isa == Isa::kAvx2) return avx2::count;
#endif
  static_cast<void>(isa);
  return baseline::count;
}

std::size_t gram_granule(Isa isa) {
  return isa == Isa::kAvx512 ? 8 : 4;
}

}  // namespace tanager::internal

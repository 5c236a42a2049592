// The choice of the kernel, and the one for any CPU. Ones are counted after Harley and Seal: carry-save adders turn
// eight words into one word of eights, so that only every eighth word needs the long way to its number of ones.
#include "counts/common_ones.hpp"

#include <cstring>

namespace tanager::internal {
namespace {

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

void count_common_ones_baseline(const std::uint64_t* a, std::size_t n_a, const std::uint64_t* b, std::size_t n_b,
                                std::size_t stride, std::size_t words, std::uint32_t* counts) {
  for (std::size_t i = 0; i < n_a; ++i)
    for (std::size_t j = 0; j < n_b; ++j) counts[i * n_b + j] = common_ones(a + i * stride, b + j * stride, words);
}

}  // namespace

CountCommonOnes common_ones_kernel(Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa == Isa::kAvx512) return count_common_ones_avx512;
  if (isa == Isa::kAvx2) return count_common_ones_avx2;
#endif
  static_cast<void>(isa);
  return count_common_ones_baseline;
}

std::size_t gram_granule(Isa isa) {
  return isa == Isa::kAvx512 ? 8 : 4;
}

}  // namespace tanager::internal

// The kernel for AVX-512 with VPOPCNTDQ: compilers turn these plain loops into vector code under the target attribute.
// Four rows of b share every word of a.
#include "counts/common_ones.hpp"

#if TANAGER_X86_DISPATCH

namespace tanager::internal {
namespace {

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

}  // namespace

TANAGER_TARGET_AVX512 void count_common_ones_avx512(const std::uint64_t* a, std::size_t n_a, const std::uint64_t* b,
                                                    std::size_t n_b, std::size_t stride, std::size_t words,
                                                    std::uint32_t* counts) {
  for (std::size_t i = 0; i < n_a; ++i) {
    const std::uint64_t* row = a + i * stride;
    std::size_t j = 0;
    for (; j + 4 <= n_b; j += 4) common_ones<4>(row, b + j * stride, stride, words, counts + i * n_b + j);
    for (; j < n_b; ++j) common_ones<1>(row, b + j * stride, stride, words, counts + i * n_b + j);
  }
}

}  // namespace tanager::internal
#endif

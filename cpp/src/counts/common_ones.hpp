// Counting the common ones of bit rows: the inner loop of counting pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/cpu.hpp"

namespace tanager::internal {

/// Bit rows of this many bits or fewer may be counted: some kernels keep 8-bit counters for a whole row.
inline constexpr std::size_t kMaxGramBits = 32768 + 512;

/// For n_a bit rows from `a` on and n_b from `b` on, `stride` words apart, over `words` words from their beginning:
/// counts[i * n_b + j] = number of ones in (row i of a) & (row j of b). Rows are aligned to 64 bytes from `a` and `b`
/// on as far as gram_granule says; words is a multiple of it.
using CountCommonOnes = void (*)(const std::uint64_t* a, std::size_t n_a, const std::uint64_t* b, std::size_t n_b,
                                 std::size_t stride, std::size_t words, std::uint32_t* counts);

CountCommonOnes common_ones_kernel(Isa isa);

/// The number of words that the kernels of this level take at a time.
std::size_t gram_granule(Isa isa);

}  // namespace tanager::internal

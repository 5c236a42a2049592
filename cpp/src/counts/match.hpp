// From codes to bits: which of 64 rows have a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/cpu.hpp"
#include "tanager/dataset.hpp"

namespace tanager::internal {

inline constexpr std::size_t kWordBits = 64;

/// Consecutive values, each of which gets a bit row.
struct ValueRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Where bit rows are written: row i begins at first + i * stride.
struct BitRows {
  std::uint64_t* first = nullptr;
  std::size_t stride = 0;
};

/// Bit r of a value's row says whether codes[r] is the value, for 64 * words codes.
void match_codes(const std::uint8_t* codes, std::size_t words, ValueRange values, BitRows out, Isa isa);

/// The same for rows [begin, begin + n) of a column of at most 254 values; the bits after the last row are zero. Codes
/// of a 16-bit column are narrowed in the buffer.
void match_column(const Column& column, std::size_t begin, std::size_t n, ValueRange values, BitRows out,
                  std::vector<std::uint8_t>& buffer, Isa isa);

/// The codes of rows [begin, begin + n) in eight bits: the column's own, or narrowed in the buffer. Throws
/// std::logic_error if the column has more than 254 values.
const std::uint8_t* narrow_codes(const Column& column, std::size_t begin, std::size_t n,
                                 std::vector<std::uint8_t>& buffer);

/// The bits that a mask selects, packed together: those of bits[w] & masks[w], one word after the other, for n_rows bit
/// rows at once. Fills the words of the destination up to out_words with zeros. Needs pext, so Isa::kAvx2 or better.
void compress_rows(BitRows bits, const std::uint64_t* masks, std::size_t words, std::size_t n_rows, BitRows out,
                   std::size_t out_words);

}  // namespace tanager::internal

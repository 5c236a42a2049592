// Rows of bytes into columns of bytes, with the encoding of contiguous ranges done on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tanager::internal {

/// The code of one byte.
struct ByteCode {
  std::uint8_t byte = 0;
  std::uint8_t code = 0;
};

/// Up to so many codes, comparing bytes with each is faster than looking them up.
inline constexpr std::size_t kMaxFew = 24;

/// How the bytes of one column become codes: byte - offset (modulo 256) where that is at most limit, else 255; then, if
/// there is a table of 256 codes, table[that]. Offset 0 with limit 255 keeps bytes as they are.
struct ByteRange {
  std::uint8_t offset = 0;
  std::uint8_t limit = 255;
  const std::uint8_t* table = nullptr;
  /// All entries of the table that are not 255, if they are at most kMaxFew.
  std::span<const ByteCode> few = {};
};

/// Rows of bytes: row i starts at data + i * row_stride, and its n_columns bytes lie side by side.
struct ByteRows {
  const std::uint8_t* data = nullptr;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::ptrdiff_t row_stride = 0;
};

/// Writes the codes of column j of rows [begin, end) to columns[j][begin, end), and sets outside[j] to 1 where a byte
/// fell outside its range. A column whose pointer is null is left out.
void transpose_rows(const ByteRows& rows, std::size_t begin, std::size_t end, std::span<const ByteRange> ranges,
                    std::span<std::uint8_t* const> columns, std::span<std::uint8_t> outside);

}  // namespace tanager::internal

// Rows of bytes into columns of bytes, with the encoding of contiguous ranges done on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tanager {

/// How the bytes of one column become codes: byte - offset (modulo 256) where that is at most limit, else 255.
/// Offset 0 with limit 255 copies bytes as they are.
struct ByteRange {
  std::uint8_t offset = 0;
  std::uint8_t limit = 255;
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

}  // namespace tanager

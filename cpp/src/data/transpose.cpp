// Tiles of 16 x 16 bytes are loaded row by row, encoded while they are still rows (every column's offset and limit sit
// in one register each), transposed by four rounds of interleaving, and stored as 16 pieces of 16 bytes. Pieces are
// gathered in a small buffer first: columns lie a whole table apart, often a multiple of the cache's set size, and
// writing 16 of them in turn would throw each other's lines out. Edges, and CPUs without SSE2, take the plain loop.
#include "data/transpose.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#define TANAGER_SSE2 1
#include <emmintrin.h>
#else
#define TANAGER_SSE2 0
#endif

namespace tanager {
namespace {

void transpose_plain(const ByteRows& rows, std::size_t begin, std::size_t end, std::size_t first_column,
                     std::size_t last_column, std::span<const ByteRange> ranges, std::span<std::uint8_t* const> columns,
                     std::span<std::uint8_t> outside) {
  for (std::size_t j = first_column; j < last_column; ++j) {
    if (columns[j] == nullptr) continue;
    const ByteRange range = ranges[j];
    const std::uint8_t* cell = rows.data + static_cast<std::ptrdiff_t>(begin) * rows.row_stride + j;
    std::uint8_t* out = columns[j];
    bool out_of_range = false;
    for (std::size_t i = begin; i < end; ++i, cell += rows.row_stride) {
      const auto code = static_cast<std::uint8_t>(*cell - range.offset);
      out_of_range |= code > range.limit;
      out[i] = code > range.limit ? std::uint8_t{255} : code;
    }
    if (out_of_range) outside[j] = 1;
  }
}

#if TANAGER_SSE2

constexpr std::size_t kTile = 16;
constexpr std::size_t kPiece = 256;  // rows gathered per column before they are written out

/// What one group of 16 columns needs in registers.
struct TileRange {
  __m128i offset;
  __m128i limit;
};

TileRange load_ranges(std::span<const ByteRange> ranges) {
  alignas(16) std::array<std::uint8_t, kTile> offset{};
  alignas(16) std::array<std::uint8_t, kTile> limit;
  limit.fill(255);
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    offset[j] = ranges[j].offset;
    limit[j] = ranges[j].limit;
  }
  return {_mm_load_si128(reinterpret_cast<const __m128i*>(offset.data())),
          _mm_load_si128(reinterpret_cast<const __m128i*>(limit.data()))};
}

inline void interleave(const __m128i (&in)[kTile], __m128i (&out)[kTile]) {
  for (std::size_t i = 0; i < kTile / 2; ++i) {
    out[2 * i] = _mm_unpacklo_epi8(in[i], in[i + kTile / 2]);
    out[2 * i + 1] = _mm_unpackhi_epi8(in[i], in[i + kTile / 2]);
  }
}

/// Encodes and transposes 16 rows of 16 bytes; column j goes to out + j * kPiece. Collects range failures in `outside`.
inline void transpose_tile(const std::uint8_t* row, std::ptrdiff_t stride, const TileRange& range, std::uint8_t* out,
                           __m128i& outside) {
  __m128i a[kTile];
  __m128i b[kTile];
  for (auto& line : a) {
    const __m128i code = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)), range.offset);
    // Saturating subtraction leaves zero exactly where code <= limit; those lanes keep their code, others become 255.
    const __m128i inside = _mm_cmpeq_epi8(_mm_subs_epu8(code, range.limit), _mm_setzero_si128());
    const __m128i failed = _mm_andnot_si128(inside, _mm_set1_epi8(-1));
    outside = _mm_or_si128(outside, failed);
    line = _mm_or_si128(code, failed);
    row += stride;
  }
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  interleave(b, a);
  for (std::size_t j = 0; j < kTile; ++j) _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j * kPiece), a[j]);
}

/// One group of up to 16 columns, for a number of rows that is a multiple of 16.
void transpose_group(const ByteRows& rows, std::size_t begin, std::size_t end, std::size_t first_column,
                     std::size_t n_columns, std::span<const ByteRange> ranges, std::span<std::uint8_t* const> columns,
                     std::span<std::uint8_t> outside) {
  const TileRange range = load_ranges(ranges.subspan(first_column, n_columns));
  alignas(64) std::array<std::uint8_t, kTile * kPiece> gathered;
  __m128i failed = _mm_setzero_si128();
  for (std::size_t at = begin; at < end; at += kPiece) {
    const std::size_t length = std::min(kPiece, end - at);
    const std::uint8_t* row = rows.data + static_cast<std::ptrdiff_t>(at) * rows.row_stride + first_column;
    for (std::size_t i = 0; i < length; i += kTile)
      transpose_tile(row + static_cast<std::ptrdiff_t>(i) * rows.row_stride, rows.row_stride, range, &gathered[i],
                     failed);
    for (std::size_t j = 0; j < n_columns; ++j)
      if (columns[first_column + j] != nullptr)
        std::memcpy(columns[first_column + j] + at, &gathered[j * kPiece], length);
  }
  alignas(16) std::array<std::uint8_t, kTile> flags;
  _mm_store_si128(reinterpret_cast<__m128i*>(flags.data()), failed);
  for (std::size_t j = 0; j < n_columns; ++j)
    if (flags[j] != 0 && columns[first_column + j] != nullptr) outside[first_column + j] = 1;
}

#endif

}  // namespace

void transpose_rows(const ByteRows& rows, std::size_t begin, std::size_t end, std::span<const ByteRange> ranges,
                    std::span<std::uint8_t* const> columns, std::span<std::uint8_t> outside) {
  std::size_t done = begin;
#if TANAGER_SSE2
  const std::size_t width = rows.n_columns;
  const auto stride = static_cast<std::size_t>(std::max<std::ptrdiff_t>(rows.row_stride, 0));
  // Narrow rows are read beyond their end, which is still inside the table except for its last rows.
  std::size_t safe_end = end;
  if (width < kTile && stride >= width && width > 0) {
    const std::size_t table_bytes = (rows.n_rows - 1) * stride + width;
    safe_end = table_bytes < kTile ? begin : std::clamp((table_bytes - kTile) / stride + 1, begin, end);
  }
  if (stride >= width && safe_end - begin >= kTile) {
    done = begin + (safe_end - begin) / kTile * kTile;
    // The last group of columns overlaps the one before rather than reading past the row.
    for (std::size_t first = 0; first < width; first += kTile) {
      const std::size_t start = width >= kTile ? std::min(first, width - kTile) : 0;
      transpose_group(rows, begin, done, start, std::min(width, kTile), ranges, columns, outside);
    }
  }
#endif
  if (done < end) transpose_plain(rows, done, end, 0, rows.n_columns, ranges, columns, outside);
}

}  // namespace tanager

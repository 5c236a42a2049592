// Tiles of 16 x 16 bytes are loaded row by row, encoded while they are still rows (every column's offset sits in one
// register), transposed by four rounds of interleaving, and stored as 16 pieces of 16 bytes; AVX2 does two tiles at
// once. Pieces are gathered in a small buffer first: columns lie a whole table apart, often a multiple of the cache's
// set size, and writing 16 of them in turn would throw each other's lines out. Values outside their range are rare, so
// tiles only keep the largest code of each column; a strip of tiles that exceeds a limit is done again by a version
// that replaces each such code. Edges, and CPUs without SSE2, take the plain loop.
#include "data/transpose.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "simd/cpu.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#define TANAGER_SSE2 1
#include <immintrin.h>
#else
#define TANAGER_SSE2 0
#endif

namespace tanager::internal {
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
      auto code = static_cast<std::uint8_t>(*cell - range.offset);
      if (code > range.limit) code = 255;
      if (range.table != nullptr) code = range.table[code];
      out_of_range |= code == 255 && (range.limit != 255 || range.table != nullptr);
      out[i] = code;
    }
    if (out_of_range) outside[j] = 1;
  }
}

#if TANAGER_SSE2

constexpr std::size_t kTile = 16;
constexpr std::size_t kPiece = 512;  // rows gathered per column before they are written out
// Tables beyond this size leave the cache before anybody reads them: they are written past it, which spares reading the
// lines that are overwritten.
constexpr std::size_t kStreamBytes = std::size_t{1} << 22;

/// The 16 columns that are transposed together, and where their rows are.
struct Group {
  const std::uint8_t* first_row;
  std::ptrdiff_t stride;
  alignas(16) std::array<std::uint8_t, kTile> offset{};
  alignas(16) std::array<std::uint8_t, kTile> limit{};
};

inline __m128i load(const std::uint8_t* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

/// All ones where a code is above its limit.
inline __m128i above(__m128i code, __m128i limit) {
  // Saturating subtraction leaves zero exactly where code <= limit.
  const __m128i inside = _mm_cmpeq_epi8(_mm_subs_epu8(code, limit), _mm_setzero_si128());
  return _mm_andnot_si128(inside, _mm_set1_epi8(-1));
}

/// One round of the transposition: four of them turn 16 rows into 16 columns.
inline void interleave(const __m128i (&in)[kTile], __m128i (&out)[kTile]) {
  for (std::size_t i = 0; i < kTile / 2; ++i) {
    out[2 * i] = _mm_unpacklo_epi8(in[i], in[i + kTile / 2]);
    out[2 * i + 1] = _mm_unpackhi_epi8(in[i], in[i + kTile / 2]);
  }
}

/// Encodes and transposes 16 rows of 16 bytes; column j goes to out + j * kPiece. Keeps the largest codes in `largest`.
template <bool kReplace>
inline void transpose_tile(const std::uint8_t* row, std::ptrdiff_t stride, __m128i offset, __m128i limit,
                           std::uint8_t* out, __m128i& largest) {
  __m128i a[kTile];
  __m128i b[kTile];
  for (auto& line : a) {
    line = _mm_sub_epi8(load(row), offset);
    if constexpr (kReplace) line = _mm_or_si128(line, above(line, limit));
    largest = _mm_max_epu8(largest, line);
    row += stride;
  }
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  interleave(b, a);
  for (std::size_t j = 0; j < kTile; ++j) _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j * kPiece), a[j]);
}

/// Rows [begin, begin + n), n a multiple of 16, into a buffer of 16 columns of kPiece bytes. Returns which columns went
/// above their limit, as a bit mask.
template <bool kReplace>
int transpose_strip(const Group& group, std::size_t begin, std::size_t n, std::uint8_t* out) {
  const __m128i offset = load(group.offset.data());
  const __m128i limit = load(group.limit.data());
  __m128i largest = _mm_setzero_si128();
  for (std::size_t i = 0; i < n; i += kTile)
    transpose_tile<kReplace>(group.first_row + static_cast<std::ptrdiff_t>(begin + i) * group.stride, group.stride,
                             offset, limit, out + i, largest);
  return _mm_movemask_epi8(above(largest, limit));
}

#if TANAGER_X86_DISPATCH

TANAGER_TARGET_AVX2 TANAGER_ALWAYS_INLINE void interleave(const __m256i (&in)[kTile], __m256i (&out)[kTile]) {
  for (std::size_t i = 0; i < kTile / 2; ++i) {
    out[2 * i] = _mm256_unpacklo_epi8(in[i], in[i + kTile / 2]);
    out[2 * i + 1] = _mm256_unpackhi_epi8(in[i], in[i + kTile / 2]);
  }
}

/// As transpose_strip<false>, two tiles at a time: rows i and i + 16 share a register, one in each half, and
/// interleaving never crosses the halves. n is a multiple of 32.
TANAGER_TARGET_AVX2 int transpose_strip_avx2(const Group& group, std::size_t begin, std::size_t n, std::uint8_t* out) {
  const __m256i offset = _mm256_broadcastsi128_si256(load(group.offset.data()));
  __m256i largest = _mm256_setzero_si256();
  const std::uint8_t* row = group.first_row + static_cast<std::ptrdiff_t>(begin) * group.stride;
  const std::ptrdiff_t half = static_cast<std::ptrdiff_t>(kTile) * group.stride;
  for (std::size_t i = 0; i < n; i += 2 * kTile, row += half) {
    __m256i a[kTile];
    __m256i b[kTile];
    for (auto& line : a) {
      const __m256i rows = _mm256_inserti128_si256(_mm256_castsi128_si256(load(row)), load(row + half), 1);
      line = _mm256_sub_epi8(rows, offset);
      largest = _mm256_max_epu8(largest, line);
      row += group.stride;
    }
    interleave(a, b);
    interleave(b, a);
    interleave(a, b);
    interleave(b, a);
    for (std::size_t j = 0; j < kTile; ++j) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j * kPiece + i), a[j]);
  }
  const __m128i of_columns = _mm_max_epu8(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  return _mm_movemask_epi8(above(of_columns, load(group.limit.data())));
}

#endif

int transpose_strip_unchanged(const Group& group, std::size_t begin, std::size_t n, std::uint8_t* out, bool avx2) {
#if TANAGER_X86_DISPATCH
  if (avx2 && n % (2 * kTile) == 0) return transpose_strip_avx2(group, begin, n, out);
#else
  (void)avx2;
#endif
  return transpose_strip<false>(group, begin, n, out);
}

/// Codes by a table, in place, or by comparing with each of a few bytes. There is room for whole tiles.
bool look_up(const ByteRange& range, std::uint8_t* codes, std::size_t n) {
  std::uint8_t largest = 0;
  if (range.few.empty()) {
    const std::uint8_t* table = range.table;
    for (std::size_t i = 0; i < n; ++i) {
      codes[i] = table[codes[i]];
      largest = std::max(largest, codes[i]);
    }
    return largest == 255;
  }
  // Spreading a byte over a register takes several instructions of the baseline CPU, so it is done once.
  __m128i bytes_of[kMaxFew];
  __m128i codes_of[kMaxFew];
  for (std::size_t k = 0; k < range.few.size(); ++k) {
    bytes_of[k] = _mm_set1_epi8(static_cast<char>(range.few[k].byte));
    codes_of[k] = _mm_set1_epi8(static_cast<char>(~range.few[k].code));
  }
  __m128i most = _mm_setzero_si128();
  for (std::size_t i = 0; i < n; i += kTile) {
    const __m128i bytes = load(codes + i);
    // The complement of the code of the one byte that matches, or of 255, which is zero, if none does.
    __m128i found = _mm_setzero_si128();
    for (std::size_t k = 0; k < range.few.size(); ++k)
      found = _mm_or_si128(found, _mm_and_si128(_mm_cmpeq_epi8(bytes, bytes_of[k]), codes_of[k]));
    found = _mm_xor_si128(found, _mm_set1_epi8(-1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + i), found);
    most = _mm_max_epu8(most, found);
  }
  return _mm_movemask_epi8(_mm_cmpeq_epi8(most, _mm_set1_epi8(-1))) != 0;
}

/// Copies whole cache lines past the cache.
void stream_copy(std::uint8_t* to, const std::uint8_t* from, std::size_t n) {
  constexpr std::size_t line = 64;
  const std::size_t head = std::min(n, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  const std::size_t whole = (n - head) / line * line;
  std::memcpy(to, from, head);
  for (std::size_t i = head; i < head + whole; i += kTile)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), load(from + i));
  std::memcpy(to + head + whole, from + head + whole, n - head - whole);
}

/// One group of up to 16 columns, for a number of rows that is a multiple of 16.
void transpose_group(const ByteRows& rows, std::size_t begin, std::size_t end, std::size_t first_column,
                     std::size_t n_columns, std::span<const ByteRange> ranges, std::span<std::uint8_t* const> columns,
                     std::span<std::uint8_t> outside) {
  Group group{rows.data + first_column, rows.row_stride};
  group.limit.fill(255);
  for (std::size_t j = 0; j < n_columns; ++j) {
    group.offset[j] = ranges[first_column + j].offset;
    group.limit[j] = ranges[first_column + j].limit;
  }
  const bool avx2 = best_isa() >= Isa::kAvx2;
  const bool stream = rows.n_rows * rows.n_columns > kStreamBytes;
  alignas(64) std::array<std::uint8_t, kTile * kPiece> gathered;
  int failed = 0;
  for (std::size_t at = begin; at < end; at += kPiece) {
    const std::size_t length = std::min(kPiece, end - at);
    // Where one strip failed the next probably will.
    if (failed == 0) failed = transpose_strip_unchanged(group, at, length, gathered.data(), avx2);
    if (failed != 0) failed |= transpose_strip<true>(group, at, length, gathered.data());
    for (std::size_t j = 0; j < n_columns; ++j) {
      std::uint8_t* column = columns[first_column + j];
      if (column == nullptr) continue;
      std::uint8_t* codes = &gathered[j * kPiece];
      const ByteRange& range = ranges[first_column + j];
      if (range.table != nullptr && look_up(range, codes, length)) outside[first_column + j] = 1;
      if (stream) {
        stream_copy(column + at, codes, length);
      } else {
        std::memcpy(column + at, codes, length);
      }
    }
  }
  for (std::size_t j = 0; j < n_columns; ++j)
    if ((failed >> j & 1) != 0 && columns[first_column + j] != nullptr) outside[first_column + j] = 1;
  if (stream) _mm_sfence();
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

}  // namespace tanager::internal

// Integers to codes. Rows of single bytes go through the tiled transposition; everything else is encoded block by
// block, where a block of rows stays in the cache while its columns are taken out one after the other.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "data/transpose.hpp"
#include "support/parallel.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

namespace tanager {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 17;

/// Calls body with a value of the matrix's cell type.
template <class Body>
decltype(auto) with_type(IntegerType type, Body body) {
  switch (type) {
    case IntegerType::kInt8:
      return body(std::int8_t{});
    case IntegerType::kUint8:
      return body(std::uint8_t{});
    case IntegerType::kInt16:
      return body(std::int16_t{});
    case IntegerType::kUint16:
      return body(std::uint16_t{});
    case IntegerType::kInt32:
      return body(std::int32_t{});
    case IntegerType::kUint32:
      return body(std::uint32_t{});
    case IntegerType::kUint64:
      return body(std::uint64_t{});
    default:
      return body(std::int64_t{});
  }
}

std::size_t type_size(IntegerType type) {
  return with_type(type, [](auto zero) { return sizeof(zero); });
}

const char* cell_at(const IntegerMatrix& matrix, std::size_t row, std::size_t column) {
  return static_cast<const char*>(matrix.data) + static_cast<std::ptrdiff_t>(row) * matrix.row_stride +
         static_cast<std::ptrdiff_t>(column) * matrix.column_stride;
}

/// Rows per block such that a block of the table, as it lies in memory, stays in the second-level cache.
std::size_t block_rows(const IntegerMatrix& matrix) {
  const bool columns_apart = matrix.n_columns <= 1 || std::abs(matrix.column_stride) > std::abs(matrix.row_stride);
  const std::size_t row_bytes = type_size(matrix.type) * (columns_apart ? 1 : matrix.n_columns);
  return std::clamp<std::size_t>(kBlockBytes / row_bytes, 64, std::size_t{1} << 16) / 16 * 16;
}

/// The part of a book's keys that type T can hold: cells first .. first + span have the codes shift, shift + 1, ....
template <class T>
struct TypeRange {
  std::make_unsigned_t<T> first = 0;
  std::make_unsigned_t<T> span = 0;
  std::uint32_t shift = 0;
  bool empty = true;
};

template <class T>
TypeRange<T> range_in_type(const CodeBook& book) {
  using U = std::make_unsigned_t<T>;
  constexpr auto lowest = static_cast<std::int64_t>(std::numeric_limits<T>::min());
  constexpr std::int64_t highest = std::is_same_v<T, std::uint64_t>
                                       ? std::numeric_limits<std::int64_t>::max()
                                       : static_cast<std::int64_t>(std::numeric_limits<T>::max());
  const std::int64_t first = std::max(book.first(), lowest);
  const std::int64_t last = std::min(book.last(), highest);
  if (first > last) return {};
  return {static_cast<U>(first), static_cast<U>(static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)),
          static_cast<std::uint32_t>(static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(book.first())),
          false};
}

/// out[i] = code_of(cell i); cells may lie any distance apart. The contiguous case is a loop of its own, for the
/// vectorizer.
template <class T, class Out, class CodeOf>
bool encode_cells(const char* cell, std::ptrdiff_t stride, std::size_t n, Out* out, CodeOf code_of) {
  constexpr Out missing = std::numeric_limits<Out>::max();
  bool unseen = false;
  if (stride == sizeof(T)) {
    const T* cells = reinterpret_cast<const T*>(cell);
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = code_of(cells[i]);
      unseen |= out[i] == missing;
    }
    return unseen;
  }
  for (std::size_t i = 0; i < n; ++i, cell += stride) {
    out[i] = code_of(*reinterpret_cast<const T*>(cell));
    unseen |= out[i] == missing;
  }
  return unseen;
}

/// A column's codes for all 256 bytes.
template <class T, class Out>
std::array<Out, 256> byte_table(const CodeBook& book) {
  std::array<Out, 256> table;
  for (std::size_t byte = 0; byte < table.size(); ++byte)
    table[byte] = static_cast<Out>(book.find(static_cast<T>(static_cast<std::uint8_t>(byte))));
  return table;
}

template <class T, class Out>
bool encode_block(const char* cell, std::ptrdiff_t stride, std::size_t n, const CodeBook& book, Out* out) {
  using U = std::make_unsigned_t<T>;
  constexpr Out missing = std::numeric_limits<Out>::max();
  if (book.kind() == CodeBook::Kind::kHash) {
    return encode_cells<T>(cell, stride, n, out, [&](T value) {
      if constexpr (std::is_same_v<T, std::uint64_t>)
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return missing;
      return static_cast<Out>(book.find(static_cast<std::int64_t>(value)));
    });
  }
  const TypeRange<T> range = range_in_type<T>(book);
  if (range.empty) {
    std::fill_n(out, n, missing);
    return n > 0;
  }
  if (book.kind() == CodeBook::Kind::kTable) {
    const Code* table = book.table().data() + range.shift;
    return encode_cells<T>(cell, stride, n, out, [=](T value) {
      const auto at = static_cast<U>(static_cast<U>(value) - range.first);
      return at <= range.span ? static_cast<Out>(table[at]) : missing;
    });
  }
  return encode_cells<T>(cell, stride, n, out, [=](T value) {
    const auto at = static_cast<U>(static_cast<U>(value) - range.first);
    return at <= range.span ? static_cast<Out>(at + range.shift) : missing;
  });
}

bool encode_block(const IntegerMatrix& matrix, std::size_t begin, std::size_t end, std::size_t column,
                  const CodeBook& book, CodeBuffer out) {
  const char* cell = cell_at(matrix, begin, column);
  return with_type(matrix.type, [&](auto zero) {
    using T = decltype(zero);
    return out.wide ? encode_block<T>(cell, matrix.row_stride, end - begin, book,
                                      static_cast<std::uint16_t*>(out.data) + begin)
                    : encode_block<T>(cell, matrix.row_stride, end - begin, book,
                                      static_cast<std::uint8_t*>(out.data) + begin);
  });
}

/// Encodes rows of bytes: ranges during the transposition, other narrow columns by a table after it, wide ones apart.
class ByteEncoder {
 public:
  ByteEncoder(const IntegerMatrix& matrix, std::span<const CodeBook* const> books, std::span<const CodeBuffer> out)
      : matrix_(matrix), books_(books), out_(out), ranges_(matrix.n_columns), columns_(matrix.n_columns, nullptr) {
    for (std::size_t j = 0; j < matrix.n_columns; ++j) {
      if (out[j].wide) continue;
      columns_[j] = static_cast<std::uint8_t*>(out[j].data);
      if (!set_range(j))
        tables_.emplace_back(j, matrix.type == IntegerType::kInt8 ? byte_table<std::int8_t, std::uint8_t>(*books[j])
                                                                  : byte_table<std::uint8_t, std::uint8_t>(*books[j]));
    }
  }

  void encode(std::size_t begin, std::size_t end, std::span<std::uint8_t> unseen) const {
    const ByteRows rows{static_cast<const std::uint8_t*>(matrix_.data), matrix_.n_rows, matrix_.n_columns,
                        matrix_.row_stride};
    transpose_rows(rows, begin, end, ranges_, columns_, unseen);
    for (const auto& [j, table] : tables_) {
      std::uint8_t* codes = columns_[j];
      bool found = false;
      for (std::size_t i = begin; i < end; ++i) {
        codes[i] = table[codes[i]];
        found |= codes[i] == kMissing8;
      }
      if (found) unseen[j] = 1;
    }
    for (std::size_t j = 0; j < out_.size(); ++j)
      if (out_[j].wide && encode_block(matrix_, begin, end, j, *books_[j], out_[j])) unseen[j] = 1;
  }

 private:
  bool set_range(std::size_t j) {
    if (books_[j]->kind() != CodeBook::Kind::kRange) return false;
    const auto set = [&](auto range) {
      if (range.empty || range.shift != 0) return false;
      ranges_[j] = {range.first, range.span};
      return true;
    };
    return matrix_.type == IntegerType::kInt8 ? set(range_in_type<std::int8_t>(*books_[j]))
                                              : set(range_in_type<std::uint8_t>(*books_[j]));
  }

  const IntegerMatrix& matrix_;
  std::span<const CodeBook* const> books_;
  std::span<const CodeBuffer> out_;
  std::vector<ByteRange> ranges_;
  std::vector<std::uint8_t*> columns_;
  std::vector<std::pair<std::size_t, std::array<std::uint8_t, 256>>> tables_;
};

}  // namespace

std::vector<std::uint8_t> encode_integers(const IntegerMatrix& matrix, std::span<const CodeBook* const> books,
                                          std::span<const CodeBuffer> out, int threads) {
  std::vector<std::atomic<bool>> found(matrix.n_columns);
  const auto run = [&](auto encode_rows) {
    parallel_for(matrix.n_rows, block_rows(matrix), threads, [&](std::size_t begin, std::size_t end) {
      std::vector<std::uint8_t> unseen(matrix.n_columns, 0);
      encode_rows(begin, end, unseen);
      for (std::size_t j = 0; j < unseen.size(); ++j)
        if (unseen[j] != 0) found[j].store(true, std::memory_order_relaxed);
    });
  };
  const bool rows_of_bytes = type_size(matrix.type) == 1 && matrix.n_columns > 1 && matrix.column_stride == 1 &&
                             matrix.row_stride >= static_cast<std::ptrdiff_t>(matrix.n_columns);
  // Tables of 256 entries per column cost more than they save on a few rows.
  if (rows_of_bytes && matrix.n_rows >= 64) {
    const ByteEncoder encoder(matrix, books, out);
    run([&](std::size_t begin, std::size_t end, std::vector<std::uint8_t>& unseen) {
      encoder.encode(begin, end, unseen);
    });
  } else {
    run([&](std::size_t begin, std::size_t end, std::vector<std::uint8_t>& unseen) {
      for (std::size_t j = 0; j < matrix.n_columns; ++j)
        unseen[j] = encode_block(matrix, begin, end, j, *books[j], out[j]);
    });
  }
  return {found.begin(), found.end()};
}

}  // namespace tanager

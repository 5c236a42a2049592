// Integers to codes. Rows of single bytes go through the tiled transposition; everything else is encoded block by
// block, where a block of rows stays in the cache while its columns are taken out one after the other.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "data/integer_types.hpp"
#include "data/transpose.hpp"
#include "support/parallel.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

// What a thread takes at a time stays in half of a small second-level cache; what columns are taken from one by one, in
// half of the first level.
constexpr std::size_t kChunkBytes = std::size_t{1} << 17;
constexpr std::size_t kBlockBytes = std::size_t{1} << 14;

std::size_t type_size(IntegerType type) {
  return with_type(type, [](auto zero) { return sizeof(zero); });
}

const char* cell_at(const IntegerMatrix& matrix, std::size_t row, std::size_t column) {
  return static_cast<const char*>(matrix.data) + static_cast<std::ptrdiff_t>(row) * matrix.row_stride +
         static_cast<std::ptrdiff_t>(column) * matrix.column_stride;
}

/// Rows per block such that a block of the table, as it lies in memory, stays in a cache of that many bytes.
std::size_t block_rows(const IntegerMatrix& matrix, std::size_t cache_bytes) {
  const bool columns_apart = matrix.n_columns <= 1 || std::abs(matrix.column_stride) > std::abs(matrix.row_stride);
  const std::size_t row_bytes = type_size(matrix.type) * (columns_apart ? 1 : matrix.n_columns);
  return std::clamp<std::size_t>(cache_bytes / row_bytes, 64, std::size_t{1} << 16) / 16 * 16;
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
  constexpr std::int64_t lowest = std::numeric_limits<T>::min();  // NOLINT(bugprone-signed-char-misuse): a number
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

/// A run of cells of one column, and where their codes go.
template <class T, class Out>
struct Run {
  const char* cell;
  std::ptrdiff_t stride;
  std::size_t n;
  Out* out;

  /// Calls visit(value, code to write) for every cell. Contiguous cells are a loop of their own, for the vectorizer.
  template <class Visit>
  void for_each(Visit visit) const {
    // Locals, because a store of a byte might change any member of an object in memory.
    Out* const codes = out;
    const std::size_t count = n;
    if (stride == sizeof(T)) {
      const T* cells = reinterpret_cast<const T*>(cell);
      for (std::size_t i = 0; i < count; ++i) visit(cells[i], codes[i]);
      return;
    }
    const std::ptrdiff_t step = stride;
    const char* at = cell;
    for (std::size_t i = 0; i < count; ++i, at += step) visit(*reinterpret_cast<const T*>(at), codes[i]);
  }
};

template <class Out>
constexpr Out kAbsent = std::numeric_limits<Out>::max();

/// Codes by a function of the value; returns whether any is missing.
template <class T, class Out, class CodeOf>
bool encode_by(const Run<T, Out>& run, CodeOf code_of) {
  bool absent = false;
  run.for_each([&](T value, Out& out) {
    const Out code = code_of(value);
    out = code;
    absent |= code == kAbsent<Out>;
  });
  return absent;
}

/// Codes by distance from the start of a range. The missing code is all ones, so it is or-ed in, which unlike a choice
/// between two results is something vectorizers handle together with the flag.
template <class T, class Out>
bool encode_range(const Run<T, Out>& run, const TypeRange<T>& range) {
  using U = std::make_unsigned_t<T>;
  const U first = range.first;
  const U span = range.span;
  const Out shift = static_cast<Out>(range.shift);
  Out absent = 0;
  run.for_each([&](T value, Out& out) {
    const auto at = static_cast<U>(static_cast<U>(value) - first);
    const Out mask = at <= span ? Out{0} : kAbsent<Out>;
    out = static_cast<Out>(static_cast<Out>(static_cast<Out>(at) + shift) | mask);
    absent = static_cast<Out>(absent | mask);
  });
  return absent != 0;
}

/// A narrow column's codes for all 256 bytes.
template <class T>
std::array<std::uint8_t, 256> byte_table(const CodeBook& book) {
  std::array<std::uint8_t, 256> table;
  for (std::size_t byte = 0; byte < table.size(); ++byte)
    table[byte] = static_cast<std::uint8_t>(book.find(static_cast<T>(static_cast<std::uint8_t>(byte))));
  return table;
}

/// The bytes that have a code.
std::vector<ByteCode> list_codes(const std::array<std::uint8_t, 256>& table) {
  std::vector<ByteCode> codes;
  for (std::size_t byte = 0; byte < table.size(); ++byte)
    if (table[byte] != kMissing8) codes.push_back({static_cast<std::uint8_t>(byte), table[byte]});
  return codes;
}

template <class T, class Out>
bool encode_run(const Run<T, Out>& run, const CodeBook& book) {
  using U = std::make_unsigned_t<T>;
  if (book.kind() == CodeBook::Kind::kHash) {
    return encode_by(run, [&](T value) {
      if constexpr (std::is_same_v<T, std::uint64_t>)
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return kAbsent<Out>;
      return static_cast<Out>(book.find(static_cast<std::int64_t>(value)));
    });
  }
  const TypeRange<T> range = range_in_type<T>(book);
  if (range.empty) {
    std::fill_n(run.out, run.n, kAbsent<Out>);
    return run.n > 0;
  }
  if (book.kind() == CodeBook::Kind::kRange) return encode_range(run, range);
  const Code* table = book.table().data() + range.shift;
  return encode_by(run, [=](T value) {
    const auto at = static_cast<U>(static_cast<U>(value) - range.first);
    return at <= range.span ? static_cast<Out>(table[at]) : kAbsent<Out>;
  });
}

bool encode_rows(const IntegerMatrix& matrix, std::size_t begin, std::size_t end, std::size_t column,
                 const CodeBook& book, CodeBuffer out) {
  const char* cell = cell_at(matrix, begin, column);
  return with_type(matrix.type, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [&](auto* codes) {
      using Out = std::remove_pointer_t<decltype(codes)>;
      return encode_run(Run<T, Out>{cell, matrix.row_stride, end - begin, codes + begin}, book);
    };
    return out.wide ? run(static_cast<std::uint16_t*>(out.data)) : run(static_cast<std::uint8_t*>(out.data));
  });
}

/// Encodes rows of bytes: narrow columns during the transposition, by a range or a table, and wide ones apart.
class ByteEncoder {
 public:
  ByteEncoder(const IntegerMatrix& matrix, std::span<const CodeBook* const> books, std::span<const CodeBuffer> out)
      : matrix_(matrix), books_(books), out_(out), ranges_(matrix.n_columns), columns_(matrix.n_columns, nullptr) {
    tables_.reserve(matrix.n_columns);  // ranges point into both
    few_.reserve(matrix.n_columns);
    const bool is_signed = matrix.type == IntegerType::kInt8;
    for (std::size_t j = 0; j < matrix.n_columns; ++j) {
      if (out[j].wide) continue;
      columns_[j] = static_cast<std::uint8_t*>(out[j].data);
      if (is_signed ? set_range<std::int8_t>(j) : set_range<std::uint8_t>(j)) continue;
      tables_.push_back(is_signed ? byte_table<std::int8_t>(*books[j]) : byte_table<std::uint8_t>(*books[j]));
      ranges_[j].table = tables_.back().data();
      few_.push_back(list_codes(tables_.back()));
      if (few_.back().size() <= kMaxFew) ranges_[j].few = few_.back();
    }
  }

  void encode(std::size_t begin, std::size_t end, std::span<std::uint8_t> unseen) const {
    const ByteRows rows{static_cast<const std::uint8_t*>(matrix_.data), matrix_.n_rows, matrix_.n_columns,
                        matrix_.row_stride};
    transpose_rows(rows, begin, end, ranges_, columns_, unseen);
    for (std::size_t j = 0; j < out_.size(); ++j)
      if (out_[j].wide && encode_rows(matrix_, begin, end, j, *books_[j], out_[j])) unseen[j] = 1;
  }

 private:
  template <class T>
  bool set_range(std::size_t j) {
    const TypeRange<T> range = range_in_type<T>(*books_[j]);
    if (books_[j]->kind() != CodeBook::Kind::kRange || range.empty || range.shift != 0) return false;
    ranges_[j] = {range.first, range.span};
    return true;
  }

  const IntegerMatrix& matrix_;
  std::span<const CodeBook* const> books_;
  std::span<const CodeBuffer> out_;
  std::vector<ByteRange> ranges_;
  std::vector<std::uint8_t*> columns_;
  std::vector<std::array<std::uint8_t, 256>> tables_;
  std::vector<std::vector<ByteCode>> few_;
};

}  // namespace

std::vector<std::uint8_t> encode_integers(const IntegerMatrix& matrix, std::span<const CodeBook* const> books,
                                          std::span<const CodeBuffer> out, int threads) {
  std::vector<std::atomic<bool>> found(matrix.n_columns);
  const auto run = [&](auto encode_rows) {
    parallel_for(matrix.n_rows, block_rows(matrix, kChunkBytes), threads, [&](std::size_t begin, std::size_t end) {
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
    const std::size_t block = block_rows(matrix, kBlockBytes);
    run([&](std::size_t begin, std::size_t end, std::vector<std::uint8_t>& unseen) {
      for (; begin < end; begin += block)
        for (std::size_t j = 0; j < matrix.n_columns; ++j)
          if (encode_rows(matrix, begin, std::min(end, begin + block), j, *books[j], out[j])) unseen[j] = 1;
    });
  }
  return {found.begin(), found.end()};
}

}  // namespace tanager

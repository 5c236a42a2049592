// Columns of numbers to codes, by code books that map numbers to codes; and columns of strings to numbers, which the
// caller maps to codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tanager/dataset.hpp"

/// A stream of the Arrow C data interface.
struct ArrowArrayStream;

namespace tanager {

namespace internal {
class IntegerIndex;
}

/// Maps integers to codes by a range, a table or a hash index, whichever is fastest. Immutable and safe to share
/// between threads.
class CodeBook {
 public:
  enum class Kind { kRange, kTable, kHash };

  /// The keys of codes 0, 1, .... Throws InvalidInput if a key occurs twice or there are more than kMaxValues.
  explicit CodeBook(std::span<const std::int64_t> keys);
  /// Key `i` has the given code, which may be kMissing; several keys may share one. `n_codes` sets the width.
  [[nodiscard]] static CodeBook from_table(std::vector<Code> codes, std::uint32_t n_codes);

  [[nodiscard]] std::uint32_t n_codes() const { return n_codes_; }
  [[nodiscard]] bool is_wide() const { return n_codes_ > kMaxNarrowValues; }
  [[nodiscard]] Kind kind() const { return kind_; }
  /// Smallest and largest key of a range or table; the smallest is the larger one if there is no key.
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t last() const { return last_; }
  /// Codes of the keys first() .. last(), for Kind::kTable.
  [[nodiscard]] std::span<const Code> table() const { return table_; }
  /// The code of a key, or kMissing.
  [[nodiscard]] Code find(std::int64_t key) const;

 private:
  CodeBook() = default;

  Kind kind_ = Kind::kRange;
  std::uint32_t n_codes_ = 0;
  std::int64_t first_ = 0;
  std::int64_t last_ = -1;
  std::vector<Code> table_;
  std::shared_ptr<const internal::IntegerIndex> index_;
};

enum class IntegerType { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kInt64, kUint64 };

/// A matrix of integers: element (i, j) is at data + i * row_stride + j * column_stride, in bytes, and aligned for its
/// type.
struct IntegerMatrix {
  const void* data = nullptr;
  IntegerType type = IntegerType::kInt64;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

/// Where the codes of one column go: n_rows codes of 8 or, if wide, 16 bits.
struct CodeBuffer {
  void* data = nullptr;
  bool wide = false;
};

/// The distinct integers of some columns, each list ascending. Throws InvalidInput for an integer above 2^63 - 1.
[[nodiscard]] std::vector<std::vector<std::int64_t>> distinct_integers(const IntegerMatrix& matrix,
                                                                       std::span<const std::size_t> columns,
                                                                       int threads = 1);

/// The distinct integers of about 4,000 rows spread over the matrix: a cheap estimate of all its integers.
[[nodiscard]] std::vector<std::vector<std::int64_t>> sampled_integers(const IntegerMatrix& matrix);

/// Encodes all columns, column j by books[j] into out[j], which must have the width of the book. Integers without a
/// code become missing; returns for every column whether there were any.
std::vector<std::uint8_t> encode_integers(const IntegerMatrix& matrix, std::span<const CodeBook* const> books,
                                          std::span<const CodeBuffer> out, int threads = 1);

/// Finds the distinct integers of every column, ascending, and encodes them by their position. `out` has 8 bits per
/// code; `widened(column)` replaces the buffer of a column that needs 16, and is called by the calling thread. A column
/// of more than kMaxValues integers gets meaningless codes, and the caller must reject it.
[[nodiscard]] std::vector<std::vector<std::int64_t>> learn_integers(
    const IntegerMatrix& matrix, std::span<CodeBuffer> out,
    const std::function<CodeBuffer(std::size_t column)>& widened, int threads = 1);

/// A column of floating-point numbers, stride in bytes.
template <class Float>
struct FloatColumn {
  const void* data = nullptr;
  std::size_t n_rows = 0;
  std::ptrdiff_t stride = 0;
};

/// A matrix of floating-point numbers, laid out as in IntegerMatrix.
template <class Float>
struct FloatMatrix {
  const void* data = nullptr;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

/// Discretizes column j at cuts[j], as apply_cuts does, into out[j], which must be wide for more than kMaxNarrowValues
/// - 1 cuts.
template <class Float>
void encode_intervals(const FloatMatrix<Float>& matrix, std::span<const std::vector<double>> cuts,
                      std::span<const CodeBuffer> out, int threads = 1);

/// The book's key of a number that is a category by value: its bit pattern, the same for both zeros.
[[nodiscard]] std::int64_t float_key(double value);

/// The distinct numbers of a column, ascending, without NaN.
template <class Float>
[[nodiscard]] std::vector<double> distinct_floats(const FloatColumn<Float>& column);

/// The meaning of the keys of a book.
enum class FloatKeys {
  kWhole,   ///< integers: a number matches if it is an integer
  kPattern  ///< float_key of the categories
};

/// Encodes a column of floating-point numbers. NaN becomes missing, and so do numbers without a code; returns whether
/// there were any of the latter.
template <class Float>
bool encode_floats(const FloatColumn<Float>& column, const CodeBook& book, FloatKeys keys, CodeBuffer out);

/// Strings of one fixed size in bytes (NumPy's padded ones), any stride: writes the number of each row's string, in the
/// order of first appearance, and returns the row where each string appeared first.
std::vector<std::int64_t> number_fixed_strings(const char* data, std::ptrdiff_t stride, std::size_t size,
                                               std::span<std::int32_t> numbers);

/// A column of strings that a data frame provides through the Arrow C data interface, in one or more chunks, kept
/// alive as long as this object. Immutable and safe to share between threads.
class ArrowStrings {
 public:
  /// Takes ownership of the stream's chunks and releases the stream. Throws InvalidInput if it fails or does not hold
  /// strings.
  explicit ArrowStrings(ArrowArrayStream& stream);
  ~ArrowStrings();
  ArrowStrings(const ArrowStrings&) = delete;
  ArrowStrings& operator=(const ArrowStrings&) = delete;

  [[nodiscard]] std::size_t n_rows() const;
  /// Writes the number of each row's string, in the order of first appearance, -1 where it is null; returns the strings
  /// in the order of their numbers.
  std::vector<std::string_view> number(std::span<std::int32_t> numbers) const;

 private:
  struct Chunks;
  std::unique_ptr<Chunks> chunks_;
};

}  // namespace tanager

// Which numbers a column holds. Integers of a moderate span are marked in a table of flags, others are hashed. Blocks
// of rows keep all columns of a row-major table going at once, so memory is read twice at most, not once per column.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "data/integer_types.hpp"
#include "support/check_stop.hpp"
#include "support/parallel.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

constexpr std::uint64_t kMaxFlags = std::uint64_t{1} << 22;
constexpr std::size_t kBlockRows = 1024;
constexpr std::size_t kColumnsPerTask = 8;
// A sample that misses a value costs a second look at the table, so small tables can do with small samples.
constexpr std::size_t kLeastSample = 256, kLargestSample = 4096, kSampleShare = 8;

template <class T>
T load(const char* cell) {
  return *reinterpret_cast<const T*>(cell);
}

/// The distinct values of one column in the making.
template <class T>
struct Collector {
  T smallest = std::numeric_limits<T>::max();
  T largest = std::numeric_limits<T>::min();
  std::vector<std::uint8_t> flags;  // of smallest .. largest
  IntegerIndex index;

  void bound(const char* cell, std::ptrdiff_t stride, std::size_t n) {
    T low = smallest;
    T high = largest;
    for (std::size_t i = 0; i < n; ++i, cell += stride) {
      const T value = load<T>(cell);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    smallest = low;
    largest = high;
  }

  void prepare() {
    if constexpr (std::is_same_v<T, std::uint64_t>)
      if (largest > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw InvalidInput("an integer category must be below 2^63, got " + std::to_string(largest));
    const std::uint64_t span = static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(smallest);
    if (span < kMaxFlags) flags.assign(static_cast<std::size_t>(span) + 1, 0);
  }

  void collect(const char* cell, std::ptrdiff_t stride, std::size_t n) {
    if (flags.empty()) {
      for (std::size_t i = 0; i < n; ++i, cell += stride) index.insert(static_cast<std::int64_t>(load<T>(cell)));
      return;
    }
    using U = std::make_unsigned_t<T>;
    for (std::size_t i = 0; i < n; ++i, cell += stride)
      flags[static_cast<U>(static_cast<U>(load<T>(cell)) - static_cast<U>(smallest))] = 1;
  }

  std::vector<std::int64_t> values() const {
    std::vector<std::int64_t> found = index.keys();
    for (std::size_t i = 0; i < flags.size(); ++i)
      if (flags[i] != 0) found.push_back(static_cast<std::int64_t>(smallest) + static_cast<std::int64_t>(i));
    sort_in_pieces(std::span(found));
    return found;
  }
};

template <class T>
void collect_columns(const IntegerMatrix& matrix, std::span<const std::size_t> columns,
                     std::span<std::vector<std::int64_t>> found) {
  std::vector<Collector<T>> collectors(columns.size());
  const auto for_blocks = [&](auto visit) {
    for (std::size_t begin = 0; begin < matrix.n_rows; begin += kBlockRows) {
      check_stop();
      const std::size_t n = std::min(kBlockRows, matrix.n_rows - begin);
      for (std::size_t c = 0; c < columns.size(); ++c)
        visit(collectors[c],
              static_cast<const char*>(matrix.data) + static_cast<std::ptrdiff_t>(begin) * matrix.row_stride +
                  static_cast<std::ptrdiff_t>(columns[c]) * matrix.column_stride,
              n);
    }
  };
  if constexpr (sizeof(T) <= 2) {
    for (auto& collector : collectors) {
      collector.smallest = std::numeric_limits<T>::min();
      collector.largest = std::numeric_limits<T>::max();
    }
  } else {
    for_blocks([&](Collector<T>& c, const char* cell, std::size_t n) { c.bound(cell, matrix.row_stride, n); });
  }
  for (auto& collector : collectors) collector.prepare();
  for_blocks([&](Collector<T>& c, const char* cell, std::size_t n) { c.collect(cell, matrix.row_stride, n); });
  std::transform(collectors.begin(), collectors.end(), found.begin(), [](const auto& c) { return c.values(); });
}

}  // namespace

std::vector<std::vector<std::int64_t>> distinct_integers(const IntegerMatrix& matrix,
                                                         std::span<const std::size_t> columns, int threads) {
  std::vector<std::vector<std::int64_t>> found(columns.size());
  if (matrix.n_rows == 0) return found;
  parallel_for(columns.size(), kColumnsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    with_type(matrix.type, [&]<class T>(T) {
      collect_columns<T>(matrix, columns.subspan(begin, end - begin), std::span(found).subspan(begin, end - begin));
    });
  });
  return found;
}

std::vector<std::vector<std::int64_t>> sampled_integers(const IntegerMatrix& matrix) {
  IntegerMatrix sample = matrix;
  const std::size_t rows = std::clamp(matrix.n_rows / kSampleShare, kLeastSample, kLargestSample);
  const std::size_t step = std::max<std::size_t>(matrix.n_rows / rows, 1);
  sample.n_rows = (matrix.n_rows + step - 1) / step;
  sample.row_stride *= static_cast<std::ptrdiff_t>(step);
  std::vector<std::size_t> columns(matrix.n_columns);
  for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = j;
  return distinct_integers(sample, columns);
}

}  // namespace tanager

// A table of floating-point numbers cut into intervals. A block of rows stays in the cache while its columns are taken
// out one after the other; column by column, a row-major table would be read from memory once per column.
#include <algorithm>

#include "support/parallel.hpp"
#include "tanager/discretize.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

constexpr std::size_t kCutRows = 1024;  // what apply_cuts works on at a time
constexpr std::size_t kChunkRows = 16 * kCutRows;

template <class Float>
void cut_rows(const FloatMatrix<Float>& matrix, std::size_t begin, std::size_t end, std::size_t column,
              std::span<const double> cuts, CodeBuffer out) {
  const char* first = static_cast<const char*>(matrix.data) + static_cast<std::ptrdiff_t>(begin) * matrix.row_stride +
                      static_cast<std::ptrdiff_t>(column) * matrix.column_stride;
  const NumberColumn numbers(reinterpret_cast<const Float*>(first), matrix.row_stride, end - begin);
  if (out.wide) {
    apply_cuts(numbers, cuts, std::span(static_cast<std::uint16_t*>(out.data) + begin, end - begin));
  } else {
    apply_cuts(numbers, cuts, std::span(static_cast<std::uint8_t*>(out.data) + begin, end - begin));
  }
}

}  // namespace

template <class Float>
void encode_intervals(const FloatMatrix<Float>& matrix, std::span<const std::vector<double>> cuts,
                      std::span<const CodeBuffer> out, int threads) {
  parallel_for(matrix.n_rows, kChunkRows, threads, [&](std::size_t chunk_begin, std::size_t chunk_end) {
    for (std::size_t begin = chunk_begin; begin < chunk_end; begin += kCutRows)
      for (std::size_t j = 0; j < matrix.n_columns; ++j)
        cut_rows(matrix, begin, std::min(begin + kCutRows, chunk_end), j, cuts[j], out[j]);
  });
}

template void encode_intervals(const FloatMatrix<float>&, std::span<const std::vector<double>>,
                               std::span<const CodeBuffer>, int);
template void encode_intervals(const FloatMatrix<double>&, std::span<const std::vector<double>>,
                               std::span<const CodeBuffer>, int);

}  // namespace tanager

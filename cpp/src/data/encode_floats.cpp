// Floating-point cells to codes by value, for columns whose numbers are categories.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "data/integer_types.hpp"
#include "support/check_stop.hpp"
#include "tanager/encode.hpp"

namespace tanager {

using namespace internal;

namespace {

/// The whole number a double holds as a key that no book lacks by accident, or false if it is not one.
bool whole_key(double value, std::int64_t& key) {
  // 2^63 itself is not an int64, and -2^63 is.
  if (!(value >= -0x1p63 && value < 0x1p63)) return false;
  key = static_cast<std::int64_t>(value);
  return static_cast<double>(key) == value;
}

template <class Float>
double cell_at(const FloatColumn<Float>& column, std::size_t row) {
  return static_cast<double>(*reinterpret_cast<const Float*>(static_cast<const char*>(column.data) +
                                                             static_cast<std::ptrdiff_t>(row) * column.stride));
}

template <class Float, class Out>
bool encode_rows(const FloatColumn<Float>& column, const CodeBook& book, FloatKeys keys, Out* out) {
  constexpr Out missing = std::numeric_limits<Out>::max();
  bool unseen = false;
  for (std::size_t i = 0; i < column.n_rows; ++i) {
    if (i % kStepsPerCheck == 0) check_stop();
    const double value = cell_at(column, i);
    out[i] = missing;
    if (std::isnan(value)) continue;
    std::int64_t key = 0;
    if (keys == FloatKeys::kPattern) {
      out[i] = static_cast<Out>(book.find(float_key(value)));
    } else if (whole_key(value, key)) {
      out[i] = static_cast<Out>(book.find(key));
    }
    unseen |= out[i] == missing;
  }
  return unseen;
}

}  // namespace

std::int64_t float_key(double value) {
  return std::bit_cast<std::int64_t>(value == 0.0 ? 0.0 : value);
}

template <class Float>
std::vector<double> distinct_floats(const FloatColumn<Float>& column) {
  IntegerIndex index;
  for (std::size_t i = 0; i < column.n_rows; ++i) {
    if (i % kStepsPerCheck == 0) check_stop();
    const double value = cell_at(column, i);
    if (!std::isnan(value)) index.insert(float_key(value));
  }
  std::vector<double> values(index.keys().size());
  std::transform(index.keys().begin(), index.keys().end(), values.begin(),
                 [](std::int64_t key) { return std::bit_cast<double>(key); });
  sort_in_pieces(std::span(values));
  return values;
}

template <class Float>
bool encode_floats(const FloatColumn<Float>& column, const CodeBook& book, FloatKeys keys, CodeBuffer out) {
  return out.wide ? encode_rows(column, book, keys, static_cast<std::uint16_t*>(out.data))
                  : encode_rows(column, book, keys, static_cast<std::uint8_t*>(out.data));
}

template std::vector<double> distinct_floats(const FloatColumn<float>&);
template std::vector<double> distinct_floats(const FloatColumn<double>&);
template bool encode_floats(const FloatColumn<float>&, const CodeBook&, FloatKeys, CodeBuffer);
template bool encode_floats(const FloatColumn<double>&, const CodeBook&, FloatKeys, CodeBuffer);

}  // namespace tanager

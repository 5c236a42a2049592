// Tables somewhere in memory, for targets of encoders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fuzz.hpp"

namespace fuzz {

/// A table somewhere in memory that is not a byte larger than it must be.
struct Place {
  std::vector<char> memory;  // aligned for any number
  std::ptrdiff_t first = 0, row_stride = 0, column_stride = 0;

  const char* data() const { return memory.data() + first; }
  char* at(std::size_t row, std::size_t column) {
    return memory.data() + first + static_cast<std::ptrdiff_t>(row) * row_stride +
           static_cast<std::ptrdiff_t>(column) * column_stride;
  }
};

/// Row by row or column by column, with or without gaps, forwards or backwards, or one row or column for all.
inline Place read_place(Input& input, std::size_t n_rows, std::size_t n_columns, std::size_t size) {
  const auto gap = [&] { return static_cast<std::ptrdiff_t>(size * (input.flag() ? 0 : input.size(0, 3))); };
  const auto cell = static_cast<std::ptrdiff_t>(size);
  const auto rows = static_cast<std::ptrdiff_t>(n_rows), columns = static_cast<std::ptrdiff_t>(n_columns);
  Place place;
  if (input.flag()) {
    place.column_stride = cell + gap();
    place.row_stride = std::max(cell, columns * place.column_stride) + gap();
  } else {
    place.row_stride = cell + gap();
    place.column_stride = std::max(cell, rows * place.row_stride) + gap();
  }
  const std::size_t way = input.size(0, 7);
  if (way == 6) place.row_stride = 0;
  if (way == 7) place.column_stride = 0;
  const std::ptrdiff_t last_row = std::max<std::ptrdiff_t>(0, rows - 1) * place.row_stride;
  const std::ptrdiff_t last_column = std::max<std::ptrdiff_t>(0, columns - 1) * place.column_stride;
  if (n_rows > 0 && n_columns > 0) place.memory.resize(static_cast<std::size_t>(last_row + last_column + cell));
  if (place.memory.empty()) return place;
  if (way == 4) {
    place.first += last_row;
    place.row_stride = -place.row_stride;
  }
  if (way == 5) {
    place.first += last_column;
    place.column_stride = -place.column_stride;
  }
  return place;
}

inline std::size_t read_n_rows(Input& input) {
  return input.number(0, 7) == 7 ? input.size(0, 1200) : input.size(0, 100);
}

}  // namespace fuzz

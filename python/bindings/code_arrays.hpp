// Arrays of codes, 8 or 16 bits wide, that the core writes and Python keeps.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tanager/encode.hpp"

namespace tanager::python {

namespace py = pybind11;

inline bool is_wide(std::uint32_t n_values) {
  return n_values > kMaxNarrowValues;
}

/// The arrays that codes are written to, one per column, given the number of values of each; narrow columns are the
/// rows of one array, because making a single one is what takes time when few rows are encoded.
struct CodeArrays {
  CodeArrays(std::size_t rows, std::span<const std::uint32_t> n_values) : n_rows(static_cast<py::ssize_t>(rows)) {
    const auto n_narrow = std::count_if(n_values.begin(), n_values.end(), std::not_fn(is_wide));
    py::array_t<std::uint8_t> narrow({static_cast<py::ssize_t>(n_narrow), n_rows});
    std::uint8_t* next = narrow.mutable_data();
    arrays = py::reinterpret_steal<py::list>(PySequence_List(narrow.ptr()));
    if (!arrays) throw py::error_already_set();
    buffers.reserve(n_values.size());
    for (std::size_t j = 0; j < n_values.size(); ++j) {
      buffers.push_back({next, false});
      if (is_wide(n_values[j])) {
        arrays.insert(j, py::none());
        widen(j);
      } else {
        next += n_rows;
      }
    }
  }

  /// Gives a column 16 bits per code.
  void widen(std::size_t column) {
    py::array_t<std::uint16_t> codes(n_rows);
    buffers[column] = {codes.mutable_data(), true};
    arrays[column] = std::move(codes);
  }

  py::ssize_t n_rows;
  py::list arrays;
  std::vector<CodeBuffer> buffers;
};

}  // namespace tanager::python

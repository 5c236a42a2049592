// NumPy arrays at the border: spans in, arrays out, no silent copies.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "gil.hpp"

namespace tanager::python {

namespace py = pybind11;

/// A C-contiguous array of exactly this type; bind such arguments with .noconvert().
template <class T>
using Array = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> as_span(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

template <class T>
std::span<T> as_mutable_span(Array<T>& array) {
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

/// Gives a vector to Python without copying it.
template <class T>
Array<T> to_array(std::vector<T>&& values, std::vector<py::ssize_t> shape = {}) {
  auto* owner = new std::vector<T>(std::move(values));
  const py::capsule keep(owner, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  if (shape.empty()) shape = {static_cast<py::ssize_t>(owner->size())};
  return Array<T>(std::move(shape), owner->data(), keep);
}

/// A copy of core memory as a new array.
template <class T>
Array<T> copy_array(std::span<const T> values, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<py::ssize_t>(values.size())};
  return Array<T>(std::move(shape), values.data());
}

}  // namespace tanager::python

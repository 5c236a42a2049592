// Arrays of numbers and strings to codes; their meaning is decided in tanager/_encoding.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "code_arrays.hpp"
#include "tanager/encode.hpp"

namespace tanager::python {
namespace {

/// The code books of all columns of an array.
struct CodeBooks {
  std::vector<std::shared_ptr<CodeBook>> books;
};

IntegerType integer_type(const py::dtype& type) {
  const bool is_signed = type.kind() == 'i';
  if (!is_signed && type.kind() != 'u' && type.kind() != 'b')
    throw py::type_error("expected an array of integers, got one of " + std::string(py::str(type)));
  switch (type.itemsize()) {
    case 1:
      return is_signed ? IntegerType::kInt8 : IntegerType::kUint8;
    case 2:
      return is_signed ? IntegerType::kInt16 : IntegerType::kUint16;
    case 4:
      return is_signed ? IntegerType::kInt32 : IntegerType::kUint32;
    default:
      return is_signed ? IntegerType::kInt64 : IntegerType::kUint64;
  }
}

/// Throws ValueError unless the array has two dimensions and that many columns.
void check_shape(const py::array& array, std::size_t n_columns) {
  if (array.ndim() != 2 || static_cast<std::size_t>(array.shape(1)) != n_columns)
    throw py::value_error("expected an array of " + std::to_string(n_columns) + " columns, got " +
                          (array.ndim() == 2 ? std::to_string(array.shape(1)) + " columns"
                                             : std::to_string(array.ndim()) + " dimensions"));
}

/// A view of a 2-D array, or of a 1-D array as one column.
IntegerMatrix as_matrix(const py::array& array) {
  if (array.ndim() != 1 && array.ndim() != 2)
    throw py::type_error("expected an array of 1 or 2 dimensions, got " + std::to_string(array.ndim()));
  const bool flat = array.ndim() == 1;
  return {array.data(),
          integer_type(array.dtype()),
          static_cast<std::size_t>(array.shape(0)),
          flat ? std::size_t{1} : static_cast<std::size_t>(array.shape(1)),
          array.strides(0),
          flat ? 0 : array.strides(1)};
}

std::vector<std::uint32_t> n_values_of(std::span<const CodeBook* const> books) {
  std::vector<std::uint32_t> n_values;
  n_values.reserve(books.size());
  for (const auto* book : books) n_values.push_back(book->n_codes());
  return n_values;
}

py::tuple encode_matrix(const CodeBooks& self, const py::array& array, int threads) {
  const auto& books = self.books;
  if (array.ndim() != 1 || books.size() != 1) check_shape(array, books.size());
  const IntegerMatrix matrix = as_matrix(array);
  std::vector<const CodeBook*> pointers;
  pointers.reserve(books.size());
  for (const auto& book : books) pointers.push_back(book.get());
  CodeArrays out(matrix.n_rows, n_values_of(pointers));
  std::vector<std::uint8_t> unseen;
  {
    const ReleaseGil nogil;
    unseen = encode_integers(matrix, pointers, out.buffers, threads);
  }
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < unseen.size(); ++j)
    if (unseen[j] != 0) columns.push_back(j);
  return py::make_tuple(std::move(out.arrays), std::move(columns));
}

template <class T>
void fill(py::array& array, const std::vector<std::int64_t>& values) {
  std::transform(values.begin(), values.end(), static_cast<T*>(array.mutable_data()),
                 [](std::int64_t value) { return static_cast<T>(value); });
}

/// Integers as a read-only array of the smallest type that fits.
py::array constant_array(const std::vector<std::int64_t>& values, const py::dtype& type) {
  py::array array(type, static_cast<py::ssize_t>(values.size()));
  switch (type.itemsize()) {
    case 1:
      fill<std::int8_t>(array, values);
      break;
    case 2:
      fill<std::int16_t>(array, values);
      break;
    case 4:
      fill<std::int32_t>(array, values);
      break;
    default:
      fill<std::int64_t>(array, values);
  }
  // pybind11 has no public name for this.
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// The distinct integers of every column, and its codes.
py::tuple learn_matrix(const py::array& array, int threads) {
  const IntegerMatrix matrix = as_matrix(array);
  CodeArrays out(matrix.n_rows, std::vector<std::uint32_t>(matrix.n_columns, 0));
  std::vector<std::vector<std::int64_t>> keys;
  {
    const ReleaseGil nogil;
    const auto widened = [&](std::size_t column) {
      const AcquireGil gil;
      out.widen(column);
      return out.buffers[column];
    };
    keys = learn_integers(matrix, out.buffers, widened, threads);
  }
  py::list arrays_of_keys;
  const py::dtype type = array.dtype();
  for (const auto& found : keys) arrays_of_keys.append(constant_array(found, type));
  return py::make_tuple(std::move(arrays_of_keys), std::move(out.arrays));
}

/// Codes of one numbering to codes of another: table[code], or missing where the code is outside the table.
py::object recode(const py::array& codes, const Array<std::uint16_t>& table, std::uint32_t n_codes) {
  const IntegerMatrix matrix = as_matrix(codes);
  const auto entries = as_span(table);
  const CodeBook book = CodeBook::from_table({entries.begin(), entries.end()}, n_codes);
  const CodeBook* only = &book;
  CodeArrays out(matrix.n_rows, n_values_of({&only, 1}));
  {
    const ReleaseGil nogil;
    encode_integers(matrix, {&only, 1}, out.buffers);
  }
  return out.arrays[0];
}

template <class Float>
FloatColumn<Float> as_float_column(const py::array_t<Float>& array) {
  if (array.ndim() != 1) throw py::type_error("expected an array of 1 dimension, got " + std::to_string(array.ndim()));
  return {array.data(), static_cast<std::size_t>(array.shape(0)), array.strides(0)};
}

template <class Float>
Array<double> distinct_float_array(const py::array_t<Float>& array) {
  const auto column = as_float_column(array);
  std::vector<double> values;
  {
    const ReleaseGil nogil;
    values = distinct_floats(column);
  }
  return to_array(std::move(values));
}

template <class Float>
py::tuple encode_float_array(const CodeBook& book, const py::array_t<Float>& array, bool by_pattern) {
  const auto column = as_float_column(array);
  const CodeBook* only = &book;
  CodeArrays out(column.n_rows, n_values_of({&only, 1}));
  bool unseen = false;
  {
    const ReleaseGil nogil;
    unseen = encode_floats(column, book, by_pattern ? FloatKeys::kPattern : FloatKeys::kWhole, out.buffers[0]);
  }
  return py::make_tuple(out.arrays[0], unseen);
}

/// The cut points of all columns of an array.
struct CutBooks {
  std::vector<std::vector<double>> cuts;
  std::vector<std::uint32_t> n_values;
};

CutBooks make_cut_books(const std::vector<Array<double>>& cuts) {
  CutBooks books;
  for (const auto& column : cuts) {
    const auto points = as_span(column);
    books.cuts.emplace_back(points.begin(), points.end());
    books.n_values.push_back(static_cast<std::uint32_t>(points.size()) + 1);
  }
  return books;
}

template <class Float>
py::list cut_matrix(const CutBooks& self, const py::array_t<Float>& array, int threads) {
  check_shape(array, self.cuts.size());
  const FloatMatrix<Float> matrix{array.data(), static_cast<std::size_t>(array.shape(0)), self.cuts.size(),
                                  array.strides(0), array.strides(1)};
  CodeArrays out(matrix.n_rows, self.n_values);
  {
    const ReleaseGil nogil;
    encode_intervals<Float>(matrix, self.cuts, out.buffers, threads);
  }
  return std::move(out.arrays);
}

Array<std::int64_t> float_keys(const Array<double>& values) {
  std::vector<std::int64_t> keys;
  keys.reserve(static_cast<std::size_t>(values.size()));
  for (const double value : as_span(values)) keys.push_back(float_key(value));
  return to_array(std::move(keys));
}

/// Numbers the strings of an array of NumPy's padded strings (or bytes), and returns where each appeared first.
py::tuple number_fixed(const py::array& array) {
  if (array.ndim() != 1) throw py::type_error("expected an array of 1 dimension");
  Array<std::int32_t> numbers(array.shape(0));
  const auto out = as_mutable_span(numbers);
  const auto* data = static_cast<const char*>(array.data());
  const auto stride = array.strides(0);
  const auto size = static_cast<std::size_t>(array.itemsize());
  std::vector<std::int64_t> first_rows;
  {
    const ReleaseGil nogil;
    first_rows = number_fixed_strings(data, stride, size, out);
  }
  return py::make_tuple(std::move(numbers), to_array(std::move(first_rows)));
}

/// Numbers the strings of an Arrow stream of one column of strings; null is -1.
py::tuple number_arrow(const py::capsule& capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw py::error_already_set();
  const ArrowStrings strings(*stream);
  Array<std::int32_t> numbers(static_cast<py::ssize_t>(strings.n_rows()));
  const auto out = as_mutable_span(numbers);
  std::vector<std::string_view> distinct;
  {
    const ReleaseGil nogil;
    distinct = strings.number(out);
  }
  py::list values;
  for (const auto text : distinct) values.append(py::str(text.data(), text.size()));
  return py::make_tuple(std::move(numbers), std::move(values));
}

}  // namespace

void bind_encoding(py::module_& m) {
  py::class_<CodeBook, std::shared_ptr<CodeBook>>(m, "CodeBook")
      .def(py::init([](const Array<std::int64_t>& keys) { return std::make_shared<CodeBook>(as_span(keys)); }),
           py::arg("keys").noconvert())
      .def("encode_floats", &encode_float_array<double>, py::arg("values").noconvert(), py::arg("by_pattern"))
      .def("encode_floats", &encode_float_array<float>, py::arg("values").noconvert(), py::arg("by_pattern"));

  py::class_<CodeBooks>(m, "CodeBooks")
      .def(py::init([](std::vector<std::shared_ptr<CodeBook>> books) { return CodeBooks{std::move(books)}; }),
           py::arg("books"))
      .def("encode", &encode_matrix, py::arg("integers"), py::arg("threads") = 1);

  py::class_<CutBooks>(m, "CutBooks")
      .def(py::init(&make_cut_books), py::arg("cuts"))
      .def("encode", &cut_matrix<double>, py::arg("numbers").noconvert(), py::arg("threads") = 1)
      .def("encode", &cut_matrix<float>, py::arg("numbers").noconvert(), py::arg("threads") = 1);

  m.def("learn_integers", &learn_matrix, py::arg("integers"), py::arg("threads") = 1);
  m.def("recode", &recode, py::arg("codes"), py::arg("table").noconvert(), py::arg("n_codes"));
  m.def("distinct_floats", &distinct_float_array<double>, py::arg("values").noconvert());
  m.def("distinct_floats", &distinct_float_array<float>, py::arg("values").noconvert());
  m.def("float_keys", &float_keys, py::arg("values").noconvert());
  m.def("number_fixed_strings", &number_fixed, py::arg("strings"));
  m.def("number_arrow_strings", &number_arrow, py::arg("stream"));
}

}  // namespace tanager::python

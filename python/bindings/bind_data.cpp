// tanager._core.Dataset: columns that view NumPy memory.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/dataset.hpp"
#include "tanager/errors.hpp"

namespace tanager::python {
namespace {

/// Keeps an array alive for as long as a column views it. The last column may go away on any thread, with or without
/// the GIL, so the reference is dropped under it; after the interpreter's end there is nothing left to drop.
std::shared_ptr<const void> keep_alive(const py::array& array) {
  return {new py::array(array), [](py::array* held) {
            if (!Py_IsInitialized()) return;
            const AcquireGil gil;
            delete held;
          }};
}

/// Makes an array and all that it is a view of read-only: codes are checked only once. (The core does not copy
/// them. An older view of the same memory stays writable; nothing in this package has one.)
void freeze(py::handle array) {
  while (array && py::isinstance<py::array>(array)) {
    auto* fields = py::detail::array_proxy(array.ptr());  // pybind11 has no public name for this
    fields->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    array = fields->base;
  }
}

Column to_column(const py::array& codes, std::uint32_t n_values, const std::string& what) {
  if (codes.ndim() != 1 || (codes.flags() & py::array::c_style) == 0)
    throw InvalidInput(what + " must be a contiguous array of one dimension");
  freeze(codes);
  const auto size = static_cast<std::size_t>(codes.size());
  try {
    if (py::isinstance<py::array_t<std::uint8_t>>(codes))
      return Column(std::span(static_cast<const std::uint8_t*>(codes.data()), size), n_values, keep_alive(codes));
    if (py::isinstance<py::array_t<std::uint16_t>>(codes))
      return Column(std::span(static_cast<const std::uint16_t*>(codes.data()), size), n_values, keep_alive(codes));
  } catch (const InvalidInput& error) {
    throw InvalidInput(what + ": " + error.what());
  }
  throw InvalidInput(what + " must hold uint8 or uint16 codes, but holds " + std::string(py::str(codes.dtype())));
}

Dataset make_dataset(const std::vector<py::array>& columns, const std::vector<std::uint32_t>& cardinalities,
                     const py::array& target, std::uint32_t n_classes, const std::optional<Array<double>>& weights) {
  if (columns.size() != cardinalities.size())
    throw InvalidInput("expected one cardinality per column, got " + std::to_string(cardinalities.size()) + " for " +
                       std::to_string(columns.size()) + " columns");
  std::vector<Column> features;
  features.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    features.push_back(to_column(columns[i], cardinalities[i], "feature " + std::to_string(i)));
  std::vector<double> row_weights;
  if (weights) {
    const auto view = as_span(*weights);
    if (weights->ndim() != 1 || view.size() != static_cast<std::size_t>(target.size()))
      throw InvalidInput("expected " + std::to_string(target.size()) + " weights, one per row, got " +
                         std::to_string(view.size()));
    row_weights.assign(view.begin(), view.end());
  }
  return Dataset(std::move(features), to_column(target, n_classes, "the class"), std::move(row_weights));
}

Array<std::uint16_t> target_of(const Dataset& data) {
  std::vector<std::uint16_t> codes(data.n_rows());
  for (std::size_t row = 0; row < codes.size(); ++row) codes[row] = data.target()[row];
  return to_array(std::move(codes));
}

template <class T>
Dataset subset(const Dataset& data, const Array<T>& rows) {
  const auto view = as_span(rows);
  std::vector<std::size_t> chosen;
  chosen.reserve(view.size());
  for (const T row : view) {
    if (row < 0) throw InvalidInput("rows must be non-negative, got " + std::to_string(row));
    chosen.push_back(static_cast<std::size_t>(row));
  }
  const ReleaseGil nogil;
  return data.subset(chosen);
}

}  // namespace

void bind_data(py::module_& m) {
  py::class_<Dataset>(m, "Dataset")
      .def(py::init(&make_dataset), py::arg("columns"), py::arg("cardinalities"), py::arg("target"),
           py::arg("n_classes"), py::arg("weights").noconvert() = py::none())
      .def_property_readonly("n_rows", &Dataset::n_rows)
      .def_property_readonly("n_features", &Dataset::n_features)
      .def_property_readonly("n_classes", &Dataset::n_classes)
      .def_property_readonly("cardinalities", &Dataset::cardinalities)
      .def_property_readonly("target", &target_of)
      .def("subset", &subset<std::int64_t>, py::arg("rows").noconvert())
      .def("subset", &subset<std::uint64_t>, py::arg("rows").noconvert());
}

}  // namespace tanager::python

// What all predictors offer to Python: batches of columns in, arrays out.
#pragma once

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "tanager/errors.hpp"
#include "tanager/predictor.hpp"

namespace tanager::python {

inline Output output_of(const std::string& name) {
  if (name == "log_joint") return Output::kLogJoint;
  if (name == "log_posterior") return Output::kLogPosterior;
  if (name == "posterior") return Output::kPosterior;
  throw InvalidInput("the output must be log_joint, log_posterior or posterior, but is " + name);
}

/// Columns of a batch as the core wants them; the arrays must stay alive meanwhile.
inline std::vector<CodeColumn> columns_of(const std::vector<py::array>& arrays, std::size_t n_rows) {
  std::vector<CodeColumn> columns;
  columns.reserve(arrays.size());
  for (const py::array& array : arrays) {
    const bool narrow = py::isinstance<Array<std::uint8_t>>(array), wide = py::isinstance<Array<std::uint16_t>>(array);
    if ((!narrow && !wide) || array.ndim() != 1 || static_cast<std::size_t>(array.size()) != n_rows)
      throw InvalidInput("every column of codes must be a contiguous uint8 or uint16 array of " +
                         std::to_string(n_rows) + " rows");
    if (narrow)
      columns.emplace_back(static_cast<const std::uint8_t*>(array.data()));
    else
      columns.emplace_back(static_cast<const std::uint16_t*>(array.data()));
  }
  return columns;
}

template <class P>
Array<double> predict(const P& predictor, const std::vector<py::array>& arrays, std::size_t n_rows,
                      const std::string& output, int threads) {
  const auto columns = columns_of(arrays, n_rows);
  const Output kind = output_of(output);
  Array<double> out({static_cast<py::ssize_t>(n_rows), static_cast<py::ssize_t>(predictor.n_classes())});
  const auto span = as_mutable_span(out);
  {
    const py::gil_scoped_release release;
    predictor.predict_columns(columns, n_rows, kind, span, threads);
  }
  return out;
}

template <class P>
Array<std::uint32_t> predict_classes(const P& predictor, const std::vector<py::array>& arrays, std::size_t n_rows,
                                     int threads) {
  const auto columns = columns_of(arrays, n_rows);
  Array<std::uint32_t> out(static_cast<py::ssize_t>(n_rows));
  const auto span = as_mutable_span(out);
  {
    const py::gil_scoped_release release;
    predictor.predict_classes_columns(columns, n_rows, span, threads);
  }
  return out;
}

/// A class of the module for a kind of predictor, still without a constructor.
template <class P>
py::class_<P> bind_predictor(py::module_& m, const char* name) {
  return py::class_<P>(m, name)
      .def_property_readonly("n_features", &P::n_features)
      .def_property_readonly("n_classes", &P::n_classes)
      .def("predict", &predict<P>, py::arg("columns"), py::arg("n_rows"), py::arg("output"), py::arg("threads") = 1)
      .def("predict_classes", &predict_classes<P>, py::arg("columns"), py::arg("n_rows"), py::arg("threads") = 1);
}

}  // namespace tanager::python

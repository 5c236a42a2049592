// Structures, networks and prediction.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "structures.hpp"
#include "tanager/errors.hpp"
#include "tanager/network.hpp"
#include "tanager/predictor.hpp"

namespace tanager::python {
namespace {

Output output_of(const std::string& name) {
  if (name == "log_joint") return Output::kLogJoint;
  if (name == "log_posterior") return Output::kLogPosterior;
  if (name == "posterior") return Output::kPosterior;
  throw InvalidInput("the output must be log_joint, log_posterior or posterior, but is " + name);
}

/// Columns of a batch as the core wants them; the arrays must stay alive meanwhile.
std::vector<CodeColumn> columns_of(const std::vector<py::array>& arrays, std::size_t n_rows) {
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

Array<double> predict(const AnyPredictor& predictor, const std::vector<py::array>& arrays, std::size_t n_rows,
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

Array<std::uint32_t> predict_classes(const AnyPredictor& predictor, const std::vector<py::array>& arrays,
                                     std::size_t n_rows, int threads) {
  const auto columns = columns_of(arrays, n_rows);
  Array<std::uint32_t> out(static_cast<py::ssize_t>(n_rows));
  const auto span = as_mutable_span(out);
  {
    const py::gil_scoped_release release;
    predictor.predict_classes_columns(columns, n_rows, span, threads);
  }
  return out;
}

Network make_network(const Parents& parents, std::vector<std::uint32_t> cardinalities,
                     const Array<double>& class_probabilities, const std::vector<Array<double>>& tables) {
  std::vector<std::vector<double>> cells;
  for (const auto& table : tables) cells.emplace_back(as_span(table).begin(), as_span(table).end());
  const auto prior = as_span(class_probabilities);
  return Network(to_structure(parents), std::move(cardinalities), {prior.begin(), prior.end()}, std::move(cells));
}

Array<double> table_of(const Network& network, std::size_t feature) {
  if (feature >= network.n_features() || network.structure().is_absent(feature))
    throw py::index_error("no such feature");
  std::vector<py::ssize_t> shape;
  for (const std::size_t p : network.structure().parents(feature)) shape.push_back(network.cardinalities()[p]);
  shape.push_back(network.cardinalities()[feature]);
  shape.push_back(network.n_classes());
  return copy_array(network.table(feature), std::move(shape));
}

}  // namespace

void bind_network(py::module_& m) {
  py::class_<Network>(m, "Network")
      .def(py::init(&make_network), py::arg("parents"), py::arg("cardinalities"),
           py::arg("class_probabilities").noconvert(), py::arg("tables").noconvert())
      .def_property_readonly("parents", [](const Network& n) { return parents_of(n.structure()); })
      .def_property_readonly("order", [](const Network& n) { return n.structure().order(); })
      .def_property_readonly("cardinalities",
                             [](const Network& n) {
                               return std::vector<std::uint32_t>(n.cardinalities().begin(), n.cardinalities().end());
                             })
      .def_property_readonly("n_features", &Network::n_features)
      .def_property_readonly("n_classes", &Network::n_classes)
      .def_property_readonly("class_probabilities",
                             [](const Network& n) { return copy_array(n.class_probabilities()); })
      .def_property_readonly("n_parameters", &Network::n_parameters)
      .def_property_readonly("is_naive", [](const Network& n) { return n.structure().is_naive(); })
      .def_property_readonly("is_tan", [](const Network& n) { return n.structure().is_tan(); })
      .def_property_readonly("is_one_dependence", [](const Network& n) { return n.structure().is_one_dependence(); })
      .def_property_readonly("is_semi_naive", [](const Network& n) { return n.structure().is_semi_naive(); })
      .def("table", &table_of, py::arg("feature"));

  py::class_<AnyPredictor>(m, "AnyPredictor")
      .def_property_readonly("n_features", &AnyPredictor::n_features)
      .def_property_readonly("n_classes", &AnyPredictor::n_classes)
      .def("predict", &predict, py::arg("columns"), py::arg("n_rows"), py::arg("output"), py::arg("threads") = 1)
      .def("predict_classes", &predict_classes, py::arg("columns"), py::arg("n_rows"), py::arg("threads") = 1);
  py::class_<Predictor, AnyPredictor>(m, "Predictor").def(py::init<const Network&>(), py::arg("network"));
}

}  // namespace tanager::python

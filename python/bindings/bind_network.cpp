// Structures, networks and prediction.
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "predictors.hpp"
#include "structures.hpp"
#include "tanager/network.hpp"
#include "tanager/predictor.hpp"

namespace tanager::python {
namespace {

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

  bind_predictor<Predictor>(m, "Predictor").def(py::init<const Network&>(), py::arg("network"));
}

}  // namespace tanager::python

// Structures, networks and prediction.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "choices.hpp"
#include "structures.hpp"
#include "tanager/errors.hpp"
#include "tanager/network.hpp"
#include "tanager/network_predictor.hpp"

namespace tanager::python {
namespace {

Output output_of(const std::string& name) {
  return chosen<Output>(
      "the output", name,
      {{"log_joint", Output::kLogJoint}, {"log_posterior", Output::kLogPosterior}, {"posterior", Output::kPosterior}});
}

/// Columns of a batch for the core; the arrays must outlive them.
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

Array<double> predict(const Predictor& predictor, const std::vector<py::array>& arrays, std::size_t n_rows,
                      const std::string& output, int threads) {
  const auto columns = columns_of(arrays, n_rows);
  const Output kind = output_of(output);
  Array<double> out({static_cast<py::ssize_t>(n_rows), static_cast<py::ssize_t>(predictor.n_classes())});
  const auto span = as_mutable_span(out);
  {
    const ReleaseGil nogil;
    predictor.predict_columns(columns, n_rows, kind, span, threads);
  }
  return out;
}

Array<std::uint32_t> predict_classes(const Predictor& predictor, const std::vector<py::array>& arrays,
                                     std::size_t n_rows, int threads) {
  const auto columns = columns_of(arrays, n_rows);
  Array<std::uint32_t> out(static_cast<py::ssize_t>(n_rows));
  const auto span = as_mutable_span(out);
  {
    const ReleaseGil nogil;
    predictor.predict_classes_columns(columns, n_rows, span, threads);
  }
  return out;
}

Network make_network(const Parents& parents, std::vector<std::uint32_t> cardinalities, const Array<double>& class_table,
                     const std::vector<Array<double>>& tables) {
  std::vector<std::vector<double>> cells;
  for (const auto& table : tables) cells.emplace_back(as_span(table).begin(), as_span(table).end());
  const auto of_class = as_span(class_table);
  // The last axis is that of the classes.
  const py::ssize_t n_classes = class_table.ndim() == 0 ? 0 : class_table.shape(class_table.ndim() - 1);
  return Network(to_structure(parents), std::move(cardinalities), static_cast<std::uint32_t>(n_classes),
                 {of_class.begin(), of_class.end()}, std::move(cells));
}

Array<double> class_table_of(const Network& network) {
  std::vector<py::ssize_t> shape;
  for (const std::size_t p : network.structure().class_parents()) shape.push_back(network.cardinalities()[p]);
  shape.push_back(network.n_classes());
  return copy_array(network.class_table(), std::move(shape));
}

/// The counts that a structure needs besides single features: families with feature parents, and the class's own.
std::vector<std::pair<std::size_t, std::vector<std::size_t>>> counted_families(const Structure& structure) {
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> families;
  for (std::size_t f = 0; f < structure.n_features(); ++f)
    if (!structure.parents(f).empty()) families.emplace_back(f, structure.parents(f));
  if (structure.class_parents().size() > 1) {
    const Family family = *structure.class_family();
    families.emplace_back(family.child, family.parents);
  }
  return families;
}

std::vector<bool> class_children_of(const Structure& structure) {
  std::vector<bool> children;
  for (std::size_t f = 0; f < structure.n_features(); ++f) children.push_back(structure.is_class_child(f));
  return children;
}

Array<double> table_of(const Network& network, std::size_t feature) {
  if (feature >= network.n_features() || network.structure().is_absent(feature))
    throw py::index_error("no such feature");
  std::vector<py::ssize_t> shape;
  for (const std::size_t p : network.structure().parents(feature)) shape.push_back(network.cardinalities()[p]);
  shape.push_back(network.cardinalities()[feature]);
  if (network.structure().is_class_child(feature)) shape.push_back(network.n_classes());
  return copy_array(network.table(feature), std::move(shape));
}

}  // namespace

void bind_network(py::module_& m) {
  py::class_<Structure>(m, "Structure")
      .def(py::init([](const ParentLists& parents, std::optional<std::vector<bool>> class_children,
                       std::vector<std::size_t> class_parents) {
             return to_structure(parents, std::move(class_children), std::move(class_parents));
           }),
           py::arg("parents"), py::arg("class_children") = py::none(),
           py::arg("class_parents") = std::vector<std::size_t>())
      .def_property_readonly("n_features", &Structure::n_features)
      .def_property_readonly("parents", &parents_of)
      .def_property_readonly("class_parents", &Structure::class_parents)
      .def_property_readonly("class_children", &class_children_of)
      .def_property_readonly("is_augmented_naive", &Structure::is_augmented_naive)
      .def_property_readonly("counted_families", &counted_families)
      .def(
          "__eq__", [](const Structure& a, const Structure& b) { return a == b; }, py::is_operator())
      .def(py::pickle(
          [](const Structure& s) { return py::make_tuple(parents_of(s), class_children_of(s), s.class_parents()); },
          [](const py::tuple& state) {
            return to_structure(state[0].cast<ParentLists>(), state[1].cast<std::vector<bool>>(),
                                state[2].cast<std::vector<std::size_t>>());
          }));

  py::class_<Network>(m, "Network")
      .def(py::init(&make_network), py::arg("parents"), py::arg("cardinalities"), py::arg("class_table").noconvert(),
           py::arg("tables").noconvert())
      .def_property_readonly("structure", &Network::structure)
      .def_property_readonly("parents", [](const Network& n) { return parents_of(n.structure()); })
      .def_property_readonly("order", [](const Network& n) { return n.structure().order(); })
      .def_property_readonly("cardinalities",
                             [](const Network& n) {
                               return std::vector<std::uint32_t>(n.cardinalities().begin(), n.cardinalities().end());
                             })
      .def_property_readonly("n_features", &Network::n_features)
      .def_property_readonly("n_classes", &Network::n_classes)
      .def_property_readonly("class_table", &class_table_of)
      .def_property_readonly("n_parameters", &Network::n_parameters)
      .def_property_readonly("is_naive", [](const Network& n) { return n.structure().is_naive(); })
      .def_property_readonly("is_tan", [](const Network& n) { return n.structure().is_tan(); })
      .def_property_readonly("is_one_dependence", [](const Network& n) { return n.structure().is_one_dependence(); })
      .def_property_readonly("is_semi_naive", [](const Network& n) { return n.structure().is_semi_naive(); })
      .def("table", &table_of, py::arg("feature"));

  py::class_<Predictor>(m, "Predictor")
      .def_property_readonly("n_features", &Predictor::n_features)
      .def_property_readonly("n_classes", &Predictor::n_classes)
      .def("predict", &predict, py::arg("columns"), py::arg("n_rows"), py::arg("output"), py::arg("threads") = 1)
      .def("predict_classes", &predict_classes, py::arg("columns"), py::arg("n_rows"), py::arg("threads") = 1);
  py::class_<NetworkPredictor, Predictor>(m, "NetworkPredictor")
      .def(py::init<const Network&, std::uint64_t>(), py::arg("network"), py::arg("max_cells") = kMaxCliqueCells);
}

}  // namespace tanager::python

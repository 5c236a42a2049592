// Classifiers that average over many structures.
#include <pybind11/stl.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/aode.hpp"

namespace tanager::python {
namespace {

Aode learn_from_counts(const CountSet& counts, double alpha, double min_count, std::vector<double> class_prior) {
  const ReleaseGil nogil;
  return learn_aode(counts, {alpha, min_count, std::move(class_prior)});
}

void check_feature(const Aode& aode, std::size_t feature) {
  if (feature >= aode.n_features()) throw py::index_error("no such feature");
}

Array<double> single_table(const Aode& aode, std::size_t feature) {
  check_feature(aode, feature);
  return copy_array(aode.single(feature), {aode.cardinalities()[feature], aode.n_classes()});
}

/// P(child | parent, class): [value of the parent][value of the child][class]
Array<double> pair_table(const Aode& aode, std::size_t parent, std::size_t child) {
  check_feature(aode, parent);
  check_feature(aode, child);
  if (parent == child) throw py::index_error("a feature is not its own parent");
  std::vector<double> cells;
  for (std::size_t value = 0; value < aode.cardinalities()[parent]; ++value) {
    const auto table = aode.pair(parent, value, child);
    cells.insert(cells.end(), table.begin(), table.end());
  }
  return copy_array(std::span<const double>(cells),
                    {aode.cardinalities()[parent], aode.cardinalities()[child], aode.n_classes()});
}

}  // namespace

void bind_aode(py::module_& m) {
  py::class_<Aode>(m, "Aode")
      .def_property_readonly("n_features", &Aode::n_features)
      .def_property_readonly("n_classes", &Aode::n_classes)
      .def_property_readonly(
          "cardinalities",
          [](const Aode& a) { return std::vector<std::uint32_t>(a.cardinalities().begin(), a.cardinalities().end()); })
      .def_property_readonly("class_probabilities", [](const Aode& a) { return copy_array(a.class_probabilities()); })
      .def_property_readonly("min_count", &Aode::min_count)
      .def_property_readonly("n_parameters", &Aode::n_parameters)
      .def("single", &single_table, py::arg("feature"))
      .def("pair", &pair_table, py::arg("parent"), py::arg("child"))
      .def(
          "value_counts",
          [](const Aode& a, std::size_t feature) {
            check_feature(a, feature);
            return copy_array(a.value_counts(feature));
          },
          py::arg("feature"));
  py::class_<AodePredictor, Predictor>(m, "AodePredictor").def(py::init<const Aode&>(), py::arg("aode"));
  m.def("learn_aode", &learn_from_counts, py::arg("counts"), py::arg("alpha") = 1.0, py::arg("min_count") = 0.0,
        py::arg("class_prior") = std::vector<double>{});
}

}  // namespace tanager::python

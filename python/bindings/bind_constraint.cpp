// Structures by tests of independence.
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_constraint.hpp"

namespace tanager::python {
namespace {

DependenceKind kind_of(const std::string& name) {
  if (name == "mutual-information") return DependenceKind::kMutualInformation;
  if (name == "g2") return DependenceKind::kG2;
  throw InvalidInput("test: expected mutual-information or g2, got " + name);
}

using Learn = LearnedConstraint (*)(const Dataset&, const ConstraintOptions&, int);

template <Learn learn>
py::tuple learn_structure(const Dataset& data, const std::string& test, std::optional<double> threshold,
                          std::optional<std::size_t> max_parents, std::optional<std::size_t> max_conditioning,
                          double min_rows, std::vector<std::size_t> tie_order, int threads) {
  ConstraintOptions options;
  options.kind = kind_of(test);
  options.threshold = threshold;
  options.max_parents = max_parents;
  options.max_conditioning = max_conditioning;
  options.min_rows = min_rows;
  options.tie_order = std::move(tie_order);
  std::optional<LearnedConstraint> found;
  {
    const ReleaseGil nogil;
    found = learn(data, options, threads);
  }
  return py::make_tuple(std::move(found->structure), found->threshold, found->n_tests);
}

template <Learn learn>
void define(py::module_& m, const char* name) {
  m.def(name, &learn_structure<learn>, py::arg("dataset"), py::kw_only(), py::arg("test"), py::arg("threshold"),
        py::arg("max_parents"), py::arg("max_conditioning"), py::arg("min_rows"), py::arg("tie_order"),
        py::arg("threads") = 1);
}

/// Information, rows, configurations and degrees of freedom of a test, and its strength.
std::tuple<double, double, double, double, double> dependence_of(const Dataset& data, std::size_t x, std::size_t y,
                                                                 const std::vector<std::size_t>& given,
                                                                 const std::string& test, bool given_class,
                                                                 double min_rows) {
  const DependenceOptions options{kind_of(test), given_class, min_rows};
  const ReleaseGil nogil;
  const RowDependence dependence(data, options);
  const DependenceFinding found = dependence.find(x, y, given);
  return {found.information, found.rows, found.configurations, found.degrees, dependence(x, y, given)};
}

}  // namespace

void bind_constraint(py::module_& m) {
  define<&learn_constraint_augmented>(m, "learn_constraint_augmented");
  define<&learn_three_phase>(m, "learn_three_phase");
  m.def("log_p_value", &log_p_value, py::arg("g2"), py::arg("degrees"));
  m.def("dependence", &dependence_of, py::arg("dataset"), py::arg("x"), py::arg("y"), py::arg("given"), py::arg("test"),
        py::arg("given_class"), py::arg("min_rows"));
}

}  // namespace tanager::python

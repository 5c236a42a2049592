// Weights of features: depths in trees, powers of tables, WANBIA's objective.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "choices.hpp"
#include "structures.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_weights.hpp"

namespace tanager::python {
namespace {

WanbiaLoss loss_of(const std::string& name) {
  return chosen<WanbiaLoss>("objective", name,
                            {{"cll", WanbiaLoss::kConditionalLikelihood}, {"mse", WanbiaLoss::kSquaredError}});
}

Array<std::uint32_t> depths(const Parents& parents, const Dataset& data, std::size_t n_trees, double bootstrap,
                            std::optional<std::size_t> max_depth, std::uint64_t seed, int threads) {
  const TreeDepthOptions options{n_trees, bootstrap, max_depth, seed};
  std::vector<std::uint32_t> found;
  {
    const ReleaseGil nogil;
    found = tree_depths(to_structure(parents), data, options, threads);
  }
  return to_array(std::move(found), {static_cast<py::ssize_t>(n_trees), static_cast<py::ssize_t>(data.n_features())});
}

Array<double> weights(const Array<std::uint32_t>& depths) {
  if (depths.ndim() != 2)
    throw InvalidInput("expected a table of depths, [tree][feature], got " + std::to_string(depths.ndim()) +
                       " dimensions");
  return to_array(weights_from_depths(as_span(depths), static_cast<std::size_t>(depths.shape(1))));
}

Network weighted(const Parents& parents, const CountSet& counts, const Array<double>& weights, double alpha,
                 std::vector<double> class_prior) {
  const auto given = as_span(weights);
  const ReleaseGil nogil;
  return estimate_weighted(to_structure(parents), counts, given, {alpha, std::move(class_prior)});
}

WanbiaObjective make_objective(const Parents& parents, const Dataset& data, const CountSet& counts, double alpha,
                               std::vector<double> class_prior, const std::string& loss, bool renormalize) {
  const WanbiaOptions options{alpha, std::move(class_prior), loss_of(loss), renormalize};
  const ReleaseGil nogil;
  return WanbiaObjective(to_structure(parents), data, counts, options);
}

std::pair<double, Array<double>> evaluate_objective(const WanbiaObjective& objective, const Array<double>& weights,
                                                    int threads) {
  const auto given = as_span(weights);
  std::vector<double> gradient(objective.n_features());
  double value = 0;
  {
    const ReleaseGil nogil;
    value = objective.evaluate(given, gradient, threads);
  }
  return {value, to_array(std::move(gradient))};
}

Network network(const WanbiaObjective& objective, const Array<double>& weights) {
  const auto given = as_span(weights);
  const ReleaseGil nogil;
  return objective.network(given);
}

}  // namespace

void bind_weights(py::module_& m) {
  m.def("tree_depths", &depths, py::arg("parents"), py::arg("dataset"), py::kw_only(), py::arg("n_trees"),
        py::arg("bootstrap"), py::arg("max_depth"), py::arg("seed"), py::arg("threads") = 1);
  m.def("weights_from_depths", &weights, py::arg("depths").noconvert());
  m.def("estimate_weighted", &weighted, py::arg("parents"), py::arg("counts"), py::arg("weights").noconvert(),
        py::arg("alpha") = 1.0, py::arg("class_prior") = std::vector<double>());
  py::class_<WanbiaObjective>(m, "WanbiaObjective")
      .def(py::init(&make_objective), py::arg("parents"), py::arg("dataset"), py::arg("counts"), py::kw_only(),
           py::arg("alpha") = 1.0, py::arg("class_prior") = std::vector<double>(), py::arg("objective") = "cll",
           py::arg("renormalize") = false)
      .def_property_readonly("total_weight", &WanbiaObjective::total_weight)
      .def("evaluate", &evaluate_objective, py::arg("weights").noconvert(), py::arg("threads") = 1)
      .def("network", &network, py::arg("weights").noconvert());
}

}  // namespace tanager::python

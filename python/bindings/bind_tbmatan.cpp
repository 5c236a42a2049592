// The average over all tree-augmented naive Bayes models.
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "choices.hpp"
#include "tanager/errors.hpp"
#include "tanager/tbmatan.hpp"

namespace tanager::python {
namespace {

using Method = TbmatanPredictor::Method;

Tbmatan learn_tbmatan(const CountSet& counts, double equivalent_sample_size, std::optional<double> stubbornness,
                      const std::optional<Array<double>>& edge_beliefs, std::vector<double> class_prior,
                      std::uint64_t max_assignments, std::uint32_t n_trees, int threads) {
  TbmatanOptions options{equivalent_sample_size, stubbornness, {}, std::move(class_prior), max_assignments, n_trees};
  if (edge_beliefs) {
    const auto n = static_cast<py::ssize_t>(counts.n_features());
    if (edge_beliefs->ndim() != 2 || edge_beliefs->shape(0) != n || edge_beliefs->shape(1) != n)
      throw InvalidInput("the prior edge weights must be a matrix with a row and a column for each of the " +
                         std::to_string(n) + " features");
    const auto given = as_span(*edge_beliefs);
    options.edge_beliefs.assign(given.begin(), given.end());
  }
  const ReleaseGil nogil;
  return Tbmatan(counts, std::move(options), threads);
}

/// Mantissas and exponents, [u][v], zero on the diagonal.
std::pair<Array<double>, Array<std::int64_t>> edge_weights_of(const Tbmatan& model) {
  const std::size_t n = model.n_features();
  std::vector<double> mantissas(n * n, 0.0);
  std::vector<std::int64_t> exponents(n * n, 0);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v) {
      const Scaled weight = u == v ? Scaled{} : model.edge_weights()(u, v);
      if (!(weight.mantissa > 0)) continue;
      mantissas[u * n + v] = weight.mantissa;
      exponents[u * n + v] = weight.exponent;
    }
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(n), static_cast<py::ssize_t>(n)};
  return {to_array(std::move(mantissas), shape), to_array(std::move(exponents), shape)};
}

Network tree_network(const Tbmatan& model, const std::vector<Edge>& edges) {
  const ReleaseGil nogil;
  return model.network_of(edges);
}

std::optional<Array<double>> beliefs_of(const Tbmatan& model) {
  if (model.options().edge_beliefs.empty()) return std::nullopt;
  const auto n = static_cast<py::ssize_t>(model.n_features());
  return copy_array(std::span<const double>(model.options().edge_beliefs), {n, n});
}

const Choices<Method>& methods() {
  static const Choices<Method> names{
      {"auto", Method::kAuto}, {"schedule", Method::kSchedule}, {"dense", Method::kDense}, {"exact", Method::kExact}};
  return names;
}

TbmatanPredictor make_predictor(const Tbmatan& model, const std::string& method) {
  const Method wanted = chosen("method", method, methods());
  const ReleaseGil nogil;
  return TbmatanPredictor(model, wanted);
}

}  // namespace

void bind_tbmatan(py::module_& m) {
  py::class_<Tbmatan>(m, "Tbmatan")
      .def(py::init(&learn_tbmatan), py::arg("counts"), py::arg("equivalent_sample_size") = 10.0,
           py::arg("stubbornness") = py::none(), py::arg("edge_beliefs").noconvert() = py::none(),
           py::arg("class_prior") = std::vector<double>{}, py::arg("max_assignments") = 4096, py::arg("n_trees") = 200,
           py::arg("threads") = 1)
      .def_property_readonly("n_features", &Tbmatan::n_features)
      .def_property_readonly("n_classes", &Tbmatan::n_classes)
      .def_property_readonly("cardinalities",
                             [](const Tbmatan& t) {
                               return std::vector<std::uint32_t>(t.cardinalities().begin(), t.cardinalities().end());
                             })
      // A copy, since Python can add to a CountSet in place.
      .def_property_readonly("counts", &Tbmatan::counts, py::return_value_policy::copy)
      .def_property_readonly("class_probabilities",
                             [](const Tbmatan& t) { return copy_array(t.class_probabilities()); })
      .def_property_readonly("edge_weights", &edge_weights_of)
      .def_property_readonly("edge_beliefs", &beliefs_of)
      .def_property_readonly("equivalent_sample_size",
                             [](const Tbmatan& t) { return t.options().equivalent_sample_size; })
      .def_property_readonly("stubbornness", [](const Tbmatan& t) { return t.options().stubbornness; })
      .def_property_readonly("max_assignments", [](const Tbmatan& t) { return t.options().max_assignments; })
      .def_property_readonly("n_trees", [](const Tbmatan& t) { return t.options().n_trees; })
      .def("network_of", &tree_network, py::arg("edges"));
  m.attr("TREE_SEED") = TbmatanPredictor::kTreeSeed;
  py::class_<TbmatanPredictor, Predictor>(m, "TbmatanPredictor")
      .def(py::init(&make_predictor), py::arg("model"), py::arg("method") = "auto")
      .def_property_readonly("method", [](const TbmatanPredictor& p) { return name_among(p.method(), methods()); })
      .def_property_readonly("n_edges", &TbmatanPredictor::n_edges)
      .def_property_readonly("n_steps", &TbmatanPredictor::n_steps)
      .def(
          "is_estimate",
          [](const TbmatanPredictor& p, const std::vector<std::size_t>& missing) { return p.is_estimate(missing); },
          py::arg("missing_features"));
}

}  // namespace tanager::python

// Sums over the spanning trees of a graph, and the distribution of a random one.
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/errors.hpp"
#include "tanager/tree_sums.hpp"

namespace tanager::python {
namespace {

using Extent = py::ssize_t;

template <class T>
std::size_t nodes_of(const Array<T>& matrix) {
  if (matrix.ndim() != 2 || matrix.shape(0) != matrix.shape(1))
    throw InvalidInput("the weights of edges must be a square matrix, one row per node");
  return static_cast<std::size_t>(matrix.shape(0));
}

EdgeWeights from_logs(const Array<double>& logs) {
  const std::size_t n = nodes_of(logs);
  const auto given = as_span(logs);
  const ReleaseGil nogil;
  return EdgeWeights::from_logs(n, given);
}

EdgeWeights from_parts(const Array<double>& mantissas, const Array<std::int64_t>& exponents) {
  const std::size_t n = nodes_of(mantissas);
  if (nodes_of(exponents) != n) throw InvalidInput("expected as many exponents as mantissas");
  const auto mantissa = as_span(mantissas);
  const auto exponent = as_span(exponents);
  const ReleaseGil nogil;
  EdgeWeights weights(n);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) weights.set(u, v, {mantissa[u * n + v], exponent[u * n + v]});
  return weights;
}

std::pair<double, std::int64_t> weight_of(const EdgeWeights& weights, std::size_t u, std::size_t v) {
  if (u >= weights.n_nodes() || v >= weights.n_nodes())
    throw InvalidInput("expected two nodes below " + std::to_string(weights.n_nodes()) + ", got " + std::to_string(u) +
                       " and " + std::to_string(v));
  const Scaled weight = weights(u, v);
  return {weight.mantissa, weight.mantissa > 0 ? weight.exponent : 0};
}

/// As mantissa and exponent, without loss of digits, and as a logarithm.
std::tuple<double, std::int64_t, double> sum_of(const EdgeWeights& weights) {
  const ReleaseGil nogil;
  const Scaled sum = tree_sum(weights);
  return {sum.mantissa, sum.mantissa > 0 ? sum.exponent : 0, sum.log()};
}

void copy_edges(const std::vector<Edge>& edges, std::int64_t* to) {
  for (const auto& [u, v] : edges) {
    *to++ = static_cast<std::int64_t>(u);
    *to++ = static_cast<std::int64_t>(v);
  }
}

std::pair<Array<std::int64_t>, double> best_tree(const EdgeWeights& weights) {
  TreeDistribution found;
  {
    const ReleaseGil nogil;
    found = tree_distribution(weights);
  }
  Array<std::int64_t> edges({static_cast<Extent>(found.best_tree.size()), Extent{2}});
  copy_edges(found.best_tree, edges.mutable_data());
  return {std::move(edges), found.log_best_probability};
}

Array<double> probabilities(const EdgeWeights& weights, int threads) {
  std::vector<double> found;
  {
    const ReleaseGil nogil;
    found = edge_probabilities(weights, threads);
  }
  const auto n = static_cast<Extent>(weights.n_nodes());
  return to_array(std::move(found), {n, n});
}

double entropy_of(const EdgeWeights& weights, int threads) {
  double found = 0;
  {
    const ReleaseGil nogil;
    found = tree_entropy(weights, threads);
  }
  return found;
}

Array<std::int64_t> samples(const EdgeWeights& weights, std::size_t n_trees, std::uint64_t seed, int threads) {
  const std::size_t n = weights.n_nodes(), per_tree = 2 * (n - 1);
  Array<std::int64_t> edges({static_cast<Extent>(n_trees), static_cast<Extent>(n - 1), Extent{2}});
  std::int64_t* to = edges.mutable_data();
  {
    const ReleaseGil nogil;
    const TreeSampler sampler(weights);
    // Some at a time, for the sake of memory and signals; about a tenth of a second, or a task for every thread.
    const std::size_t team = 16 * static_cast<std::size_t>(std::max(threads, 1));
    const std::size_t block = std::max(team, (std::size_t{1} << 23) / (n * n));
    for (std::size_t first = 0; first < n_trees; first += block) {
      const auto trees = sampler.draw(first, std::min(block, n_trees - first), seed, threads);
      for (std::size_t i = 0; i < trees.size(); ++i) copy_edges(trees[i], to + (first + i) * per_tree);
    }
  }
  return edges;
}

}  // namespace

void bind_graph(py::module_& m) {
  py::class_<EdgeWeights>(m, "EdgeWeights")
      .def_static("from_logs", &from_logs, py::arg("logs").noconvert())
      .def_static("from_parts", &from_parts, py::arg("mantissas").noconvert(), py::arg("exponents").noconvert())
      .def_property_readonly("n_nodes", &EdgeWeights::n_nodes)
      .def("weight", &weight_of, py::arg("u"), py::arg("v"));
  m.def("tree_sum", &sum_of, py::arg("weights"));
  m.def("best_tree", &best_tree, py::arg("weights"));
  m.def("edge_probabilities", &probabilities, py::arg("weights"), py::arg("threads") = 1);
  m.def("tree_entropy", &entropy_of, py::arg("weights"), py::arg("threads") = 1);
  m.def("sample_trees", &samples, py::arg("weights"), py::arg("n_trees"), py::arg("seed"), py::arg("threads") = 1);
}

}  // namespace tanager::python

// The approximate conditional log-likelihood: constants, scores, trees and parameters, and optimal branchings.
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "choices.hpp"
#include "structures.hpp"
#include "tanager/branching.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/learn_trees.hpp"

namespace tanager::python {
namespace {

AcllOptions options_of(const std::string& assumption, double a, std::optional<double> b, double pseudo_counts) {
  return {chosen<AcllAssumption>("assumption", assumption,
                                 {{"uniform", AcllAssumption::kUniform}, {"dirichlet", AcllAssumption::kDirichlet}}),
          a, b, pseudo_counts};
}

std::pair<double, double> uniform_constants(std::size_t n_classes, double p) {
  const AcllConstants found = uniform_acll_constants(n_classes, p);
  return {found.beta, found.gamma};
}

std::pair<double, double> dirichlet_constants(std::size_t n_classes, double a, double b) {
  const AcllConstants found = dirichlet_acll_constants(n_classes, a, b);
  return {found.beta, found.gamma};
}

double family_score_of(const CountSet& counts, std::size_t child, const std::vector<std::size_t>& parents,
                       const std::string& assumption, double a, std::optional<double> b, double pseudo_counts) {
  const AcllOptions options = options_of(assumption, a, b, pseudo_counts);
  const ReleaseGil nogil;
  return acll_family_score(counts.table({child, parents}), acll_beta(counts, options), pseudo_counts);
}

double score_of(const CountSet& counts, const Parents& parents, const std::string& assumption, double a,
                std::optional<double> b, double pseudo_counts) {
  const AcllOptions options = options_of(assumption, a, b, pseudo_counts);
  const ReleaseGil nogil;
  return acll_score(to_structure(parents), counts, options);
}

ParentLists tree_of(const CountSet& counts, const std::string& assumption, double a, std::optional<double> b,
                    double pseudo_counts, std::optional<std::size_t> root, int threads) {
  const AcllTreeOptions options{options_of(assumption, a, b, pseudo_counts), root};
  const ReleaseGil nogil;
  return parents_of(learn_acll_tree(counts, options, threads));
}

Network optimal(const Parents& parents, const CountSet& counts, const std::string& assumption, double a,
                std::optional<double> b, double pseudo_counts, std::vector<double> class_prior) {
  const AcllOptimalOptions options{options_of(assumption, a, b, pseudo_counts), std::move(class_prior)};
  const ReleaseGil nogil;
  return estimate_acll_optimal(to_structure(parents), counts, options);
}

std::vector<std::optional<std::size_t>> branching(const Array<double>& weights, std::optional<std::size_t> root) {
  if (weights.ndim() != 2 || weights.shape(0) != weights.shape(1))
    throw InvalidInput("the weights of a branching must be a square matrix, one row per node that arcs go from");
  const auto n = static_cast<std::size_t>(weights.shape(0));
  const auto values = as_span(weights);
  const ReleaseGil nogil;
  return maximum_branching(n, values, root);
}

}  // namespace

void bind_acll(py::module_& m) {
  m.def("uniform_acll_constants", &uniform_constants, py::arg("n_classes"), py::arg("p"));
  m.def("dirichlet_acll_constants", &dirichlet_constants, py::arg("n_classes"), py::arg("a"), py::arg("b"));
  m.def("acll_family_score", &family_score_of, py::arg("counts"), py::arg("child"), py::arg("parents"),
        py::arg("assumption"), py::arg("a"), py::arg("b"), py::arg("pseudo_counts"));
  m.def("acll_score", &score_of, py::arg("counts"), py::arg("parents"), py::arg("assumption"), py::arg("a"),
        py::arg("b"), py::arg("pseudo_counts"));
  m.def("learn_acll_tree", &tree_of, py::arg("counts"), py::arg("assumption"), py::arg("a"), py::arg("b"),
        py::arg("pseudo_counts"), py::arg("root") = py::none(), py::arg("threads") = 1);
  m.def("estimate_acll_optimal", &optimal, py::arg("parents"), py::arg("counts"), py::arg("assumption"), py::arg("a"),
        py::arg("b"), py::arg("pseudo_counts"), py::arg("class_prior") = std::vector<double>());
  m.def("maximum_branching", &branching, py::arg("weights").noconvert(), py::arg("root") = py::none());
}

}  // namespace tanager::python

// Scores and structure learners.
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "choices.hpp"
#include "structures.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_trees.hpp"
#include "tanager/scores.hpp"

namespace tanager::python {
namespace {

Score score_of(const std::string& name) {
  return chosen<Score>("score", name,
                       {{"loglik", Score::kLogLikelihood},
                        {"aic", Score::kAic},
                        {"bic", Score::kBic},
                        {"bdeu", Score::kBdeu},
                        {"k2", Score::kK2}});
}

std::size_t extent(const Array<double>& table, py::ssize_t axis, py::ssize_t dimensions) {
  if (table.ndim() != dimensions)
    throw InvalidInput("expected a table of " + std::to_string(dimensions) + " dimensions, got " +
                       std::to_string(table.ndim()));
  return static_cast<std::size_t>(table.shape(axis));
}

double score_family(const CountSet& counts, std::size_t child, const std::vector<std::size_t>& parents,
                    const std::string& score, double equivalent_sample_size) {
  return family_score(counts.table({child, parents}), score_of(score), equivalent_sample_size);
}

ParentLists chow_liu(const CountSet& counts, const std::string& score, std::optional<std::size_t> root, int threads) {
  const ChowLiuOptions options{score_of(score), root};
  const ReleaseGil nogil;
  return parents_of(learn_chow_liu(counts, options, threads));
}

ParentLists kdb(const CountSet& counts, std::size_t k, int threads) {
  const ReleaseGil nogil;
  return parents_of(learn_kdb(counts, {k}, threads));
}

Array<double> chow_liu_weights_of(const CountSet& counts, const std::string& score, int threads) {
  const Score kind = score_of(score);
  std::vector<double> values;
  {
    const ReleaseGil nogil;
    values = chow_liu_weights(counts, kind, threads);
  }
  return to_array(std::move(values));
}

}  // namespace

void bind_learning(py::module_& m) {
  m.def("entropy", [](const Array<double>& counts) { return entropy(as_span(counts)); }, py::arg("counts").noconvert());
  m.def(
      "mutual_information",
      [](const Array<double>& table) {
        return mutual_information(as_span(table), extent(table, 0, 2), extent(table, 1, 2));
      },
      py::arg("table").noconvert());
  m.def(
      "conditional_mutual_information",
      [](const Array<double>& table) {
        return conditional_mutual_information(as_span(table), extent(table, 0, 3), extent(table, 1, 3),
                                              extent(table, 2, 3));
      },
      py::arg("table").noconvert());
  m.def("family_score", &score_family, py::arg("counts"), py::arg("child"), py::arg("parents"), py::arg("score"),
        py::arg("equivalent_sample_size") = 1.0);
  m.def("chow_liu_weights", &chow_liu_weights_of, py::arg("counts"), py::arg("score"), py::arg("threads") = 1);
  m.def("learn_chow_liu", &chow_liu, py::arg("counts"), py::arg("score"), py::arg("root") = py::none(),
        py::arg("threads") = 1);
  m.def("learn_kdb", &kdb, py::arg("counts"), py::arg("k"), py::arg("threads") = 1);
}

}  // namespace tanager::python

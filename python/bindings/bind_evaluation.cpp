// Folds of cross-validation, and scores of predictions.
#include <pybind11/stl.h>

#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"

namespace tanager::python {
namespace {

/// The array outlives the column: it is not kept any longer than the call.
template <class T>
Array<std::uint32_t> folds(const Array<T>& classes, std::uint32_t n_classes, std::uint32_t n_folds,
                           std::uint64_t seed) {
  const auto codes = as_span(classes);
  std::vector<std::uint32_t> found;
  {
    const py::gil_scoped_release nogil;
    found = stratified_folds(Column(codes, n_classes, nullptr), n_folds, seed);
  }
  return to_array(std::move(found));
}

template <double (*kScore)(const Predictions&)>
double score(const Array<double>& probabilities, const Array<Code>& truth) {
  if (probabilities.ndim() != 2 || truth.ndim() != 1)
    throw InvalidInput("probabilities must have 2 dimensions and the true classes 1, but they have " +
                       std::to_string(probabilities.ndim()) + " and " + std::to_string(truth.ndim()));
  const Predictions predictions{as_span(probabilities), static_cast<std::uint32_t>(probabilities.shape(1)),
                                as_span(truth)};
  const py::gil_scoped_release nogil;
  return kScore(predictions);
}

template <double (*kScore)(const Predictions&)>
void bind_score(py::module_& m, const char* name) {
  m.def(name, &score<kScore>, py::arg("probabilities").noconvert(), py::arg("truth").noconvert());
}

}  // namespace

void bind_evaluation(py::module_& m) {
  m.def("stratified_folds", &folds<std::uint8_t>, py::arg("classes").noconvert(), py::arg("n_classes"),
        py::arg("n_folds"), py::arg("seed"));
  m.def("stratified_folds", &folds<std::uint16_t>, py::arg("classes").noconvert(), py::arg("n_classes"),
        py::arg("n_folds"), py::arg("seed"));
  bind_score<&accuracy>(m, "accuracy");
  bind_score<&conditional_log_likelihood>(m, "conditional_log_likelihood");
  bind_score<&log_score>(m, "log_score");
  bind_score<&auc>(m, "auc");
}

}  // namespace tanager::python

// Cross-validation: folds, their training counts and rows, and scores of predictions.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "code_arrays.hpp"
#include "families.hpp"
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
    const ReleaseGil nogil;
    found = stratified_folds(Column(codes, n_classes, nullptr), n_folds, seed);
  }
  return to_array(std::move(found));
}

using Given = std::optional<std::pair<Array<Code>, std::uint32_t>>;

GivenCoding to_coding(const Given& given) {
  if (!given) return {};
  const auto codes = as_span(given->first);
  return {{codes.begin(), codes.end()}, given->second};
}

std::vector<std::size_t> to_rows(const Array<std::int64_t>& rows) {
  const auto view = as_span(rows);
  std::vector<std::size_t> chosen(view.size());
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view[i] < 0) throw InvalidInput("rows must be non-negative, got " + std::to_string(view[i]));
    chosen[i] = static_cast<std::size_t>(view[i]);
  }
  return chosen;
}

std::unique_ptr<FoldCounter> make_counter(const Dataset& data, const std::string& scope, const FamilyPairs& families,
                                          std::vector<bool> keep_all, int threads,
                                          const std::optional<Array<std::uint32_t>>& folds) {
  const CountScope tables = to_scope(scope);
  std::vector<Family> chosen = to_families(families);
  const auto fold_of_row = folds ? as_span(*folds) : std::span<const std::uint32_t>{};
  const ReleaseGil nogil;
  return std::make_unique<FoldCounter>(data, tables, std::move(chosen), std::move(keep_all), threads, fold_of_row);
}

std::vector<GivenCoding> to_codings(const std::vector<Given>& features) {
  std::vector<GivenCoding> given;
  given.reserve(features.size());
  for (const Given& one : features) given.push_back(to_coding(one));
  return given;
}

TrainingFold train(const FoldCounter& counter, const Array<std::int64_t>& rows, const std::vector<Given>& features,
                   const Given& classes, int threads) {
  const auto chosen = to_rows(rows);
  const auto given = to_codings(features);
  const GivenCoding given_classes = to_coding(classes);
  const ReleaseGil nogil;
  return counter.train(chosen, given, given_classes, threads);
}

TrainingFold train_without(const FoldCounter& counter, std::size_t fold, const std::vector<Given>& features,
                           const Given& classes) {
  const auto given = to_codings(features);
  const GivenCoding given_classes = to_coding(classes);
  const ReleaseGil nogil;
  return counter.train_without(fold, given, given_classes);
}

Dataset fold_dataset(const FoldCounter& counter, const TrainingFold& fold, const Array<std::int64_t>& rows) {
  const auto chosen = to_rows(rows);
  const ReleaseGil nogil;
  return recoded_subset(counter.data(), chosen, fold.coding);
}

py::list fold_codes(const FoldCounter& counter, const TrainingFold& fold, const Array<std::int64_t>& rows) {
  const auto chosen = to_rows(rows);
  CodeArrays out(chosen.size(), fold.coding.cardinalities);
  {
    const ReleaseGil nogil;
    for (std::size_t f = 0; f < counter.data().n_features(); ++f) {
      const auto& column = counter.data().feature(f);
      const auto& recoding = fold.coding.features[f];
      if (out.buffers[f].wide)
        gather_codes(column, chosen, recoding, {static_cast<std::uint16_t*>(out.buffers[f].data), chosen.size()});
      else
        gather_codes(column, chosen, recoding, {static_cast<std::uint8_t*>(out.buffers[f].data), chosen.size()});
    }
  }
  return std::move(out.arrays);
}

Array<Code> fold_classes(const FoldCounter& counter, const TrainingFold& fold, const Array<std::int64_t>& rows) {
  const auto chosen = to_rows(rows);
  std::vector<Code> codes(chosen.size());
  {
    const ReleaseGil nogil;
    gather_codes(counter.data().target(), chosen, fold.coding.classes, codes);
  }
  return to_array(std::move(codes));
}

Predictions to_predictions(const Array<double>& probabilities, const Array<Code>& truth) {
  if (probabilities.ndim() != 2 || truth.ndim() != 1)
    throw InvalidInput("probabilities must have 2 dimensions and the true classes 1, but they have " +
                       std::to_string(probabilities.ndim()) + " and " + std::to_string(truth.ndim()));
  return {as_span(probabilities), static_cast<std::uint32_t>(probabilities.shape(1)), as_span(truth)};
}

py::tuple count_right(const Array<double>& probabilities, const Array<Code>& truth) {
  const Predictions predictions = to_predictions(probabilities, truth);
  RightRows found;
  {
    const ReleaseGil nogil;
    found = right_rows(predictions);
  }
  return py::make_tuple(found.n_right, std::move(found.close));
}

template <double (*kScore)(const Predictions&)>
double score(const Array<double>& probabilities, const Array<Code>& truth) {
  const Predictions predictions = to_predictions(probabilities, truth);
  const ReleaseGil nogil;
  return kScore(predictions);
}

template <double (*kScore)(const Predictions&)>
double log_based_score(const Array<double>& probabilities, const Array<Code>& truth,
                       const std::optional<Array<double>>& log_probabilities) {
  Predictions predictions = to_predictions(probabilities, truth);
  if (log_probabilities) predictions.log_probabilities = as_span(*log_probabilities);
  const ReleaseGil nogil;
  return kScore(predictions);
}

template <double (*kScore)(const Predictions&)>
void bind_score(py::module_& m, const char* name) {
  m.def(name, &score<kScore>, py::arg("probabilities").noconvert(), py::arg("truth").noconvert());
}

template <double (*kScore)(const Predictions&)>
void bind_log_based(py::module_& m, const char* name) {
  m.def(name, &log_based_score<kScore>, py::arg("probabilities").noconvert(), py::arg("truth").noconvert(),
        py::arg("log_probabilities").noconvert() = py::none());
}

}  // namespace

void bind_evaluation(py::module_& m) {
  py::class_<TrainingFold>(m, "TrainingFold")
      .def_property_readonly("counts", [](const TrainingFold& fold) -> const CountSet& { return fold.counts; })
      .def_property_readonly("cardinalities", [](const TrainingFold& fold) { return fold.coding.cardinalities; })
      .def_property_readonly("n_classes", [](const TrainingFold& fold) { return fold.coding.n_classes; })
      .def_property_readonly("drops_values", [](const TrainingFold& fold) { return fold.coding.drops_values(); })
      .def_property_readonly(
          "classes", [](const TrainingFold& fold) { return copy_array(std::span<const Code>(fold.coding.classes)); });
  py::class_<FoldCounter>(m, "FoldCounter")
      .def(py::init(&make_counter), py::arg("dataset"), py::arg("scope"), py::arg("families"), py::arg("keep_all"),
           py::arg("threads") = 1, py::arg("folds").noconvert() = py::none())
      .def_property_readonly("knows_folds", &FoldCounter::knows_folds)
      .def("train_without", &train_without, py::arg("fold"), py::arg("features") = std::vector<Given>{},
           py::arg("classes") = py::none())
      .def("train", &train, py::arg("rows").noconvert(), py::arg("features") = std::vector<Given>{},
           py::arg("classes") = py::none(), py::arg("threads") = 1)
      .def("dataset", &fold_dataset, py::arg("fold"), py::arg("rows").noconvert())
      .def("codes", &fold_codes, py::arg("fold"), py::arg("rows").noconvert())
      .def("classes", &fold_classes, py::arg("fold"), py::arg("rows").noconvert());
  m.def("stratified_folds", &folds<std::uint8_t>, py::arg("classes").noconvert(), py::arg("n_classes"),
        py::arg("n_folds"), py::arg("seed"));
  m.def("stratified_folds", &folds<std::uint16_t>, py::arg("classes").noconvert(), py::arg("n_classes"),
        py::arg("n_folds"), py::arg("seed"));
  m.def("right_rows", &count_right, py::arg("probabilities").noconvert(), py::arg("truth").noconvert());
  bind_score<&accuracy>(m, "accuracy");
  bind_score<&auc>(m, "auc");
  bind_log_based<&conditional_log_likelihood>(m, "conditional_log_likelihood");
  bind_log_based<&log_loss>(m, "log_loss");
}

}  // namespace tanager::python

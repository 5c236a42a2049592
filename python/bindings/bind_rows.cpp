// Parameters from rows: EM, APN and ELR.
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
#include "tanager/learn_rows.hpp"
#include "watch.hpp"

namespace tanager::python {
namespace {

RowGoal goal_of(const std::string& name) {
  return chosen<RowGoal>("goal", name,
                         {{"likelihood", RowGoal::kLikelihood}, {"conditional", RowGoal::kConditionalLikelihood}});
}

OptimizerMethod optimizer_method(const std::string& name) {
  return chosen<OptimizerMethod>("optimizer", name,
                                 {{"cg", OptimizerMethod::kConjugateGradient}, {"lbfgs", OptimizerMethod::kLbfgs}});
}

TuneBy tune_of(const std::string& name) {
  return chosen<TuneBy>("tune_by", name, {{"error", TuneBy::kError}, {"cll", TuneBy::kCll}});
}

TuneRule rule_of(const std::string& name) {
  return chosen<TuneRule>("tune_rule", name, {{"mean", TuneRule::kMean}, {"median", TuneRule::kMedian}});
}

std::string name_of(FitStop stop) {
  return name_among<FitStop>(stop, {{"converged", FitStop::kConverged},
                                    {"iteration limit", FitStop::kIterationLimit},
                                    {"tuned", FitStop::kTuned},
                                    {"interrupted", FitStop::kInterrupted}});
}

/// Calls `fit(keep_going)` without the lock of the interpreter, and returns its result as a dict.
template <class Call>
py::dict fitted(py::object report, const Call& fit) {
  Watch watch(std::move(report));
  const auto keep_going = [&](const FitProgress& progress) {
    return watch(progress.held_out, progress.iterations, progress.value);
  };
  std::optional<FitResult> result;
  {
    const ReleaseGil nogil;
    result = fit(keep_going);
  }
  watch.rethrow();
  py::dict out;
  out["network"] = std::move(result->network);
  out["training"] = to_array(std::move(result->training));
  out["held_out"] = to_array(std::move(result->held_out));
  out["held_out_error"] = to_array(std::move(result->held_out_error));
  out["fold_held_out"] = result->fold_held_out;
  out["fold_error"] = result->fold_error;
  out["stopped"] = name_of(result->stop);
  return out;
}

py::dict em(const Parents& parents, const Dataset& data, double alpha, std::vector<double> class_prior, double tol,
            std::size_t max_iter, std::uint64_t max_cells, py::object report, int threads) {
  const Structure structure = to_structure(parents);
  return fitted(std::move(report), [&](const auto& keep_going) {
    return estimate_em(structure, data, {alpha, std::move(class_prior), tol, max_iter, keep_going, max_cells}, threads);
  });
}

py::dict apn(const Parents& parents, const Dataset& data, double alpha, std::vector<double> class_prior,
             const std::string& optimizer, double tol, std::size_t max_iter, std::uint64_t max_cells, py::object report,
             int threads) {
  const Structure structure = to_structure(parents);
  const OptimizerMethod method = optimizer_method(optimizer);
  return fitted(std::move(report), [&](const auto& keep_going) {
    return estimate_apn(structure, data, {alpha, std::move(class_prior), method, tol, max_iter, keep_going, max_cells},
                        threads);
  });
}

py::dict elr(const Parents& parents, const Dataset& data, double alpha, std::vector<double> class_prior,
             const std::string& optimizer, double l2, double tol, std::size_t max_iter,
             const std::optional<Array<std::uint32_t>>& folds, const std::string& tune_by, const std::string& tune_rule,
             std::size_t patience, std::uint64_t max_cells, py::object report, int threads) {
  const Structure structure = to_structure(parents);
  ElrOptions options;
  options.alpha = alpha;
  options.class_prior = std::move(class_prior);
  options.method = optimizer_method(optimizer);
  options.l2 = l2;
  options.tol = tol;
  options.max_iter = max_iter;
  if (folds) options.fold_of_row.assign(as_span(*folds).begin(), as_span(*folds).end());
  options.tune_by = tune_of(tune_by);
  options.tune_rule = rule_of(tune_rule);
  options.patience = patience;
  options.max_cells = max_cells;
  return fitted(std::move(report), [&](const auto& keep_going) {
    options.keep_going = keep_going;
    return estimate_elr(structure, data, options, threads);
  });
}

RowLikelihood make_rows(const Parents& parents, const Dataset& data, const std::string& goal,
                        std::vector<double> class_prior) {
  const Structure structure = to_structure(parents);
  const RowGoal chosen = goal_of(goal);
  const ReleaseGil nogil;
  return RowLikelihood(structure, data, chosen, std::move(class_prior));
}

py::tuple evaluate(const RowLikelihood& rows, const Array<double>& parameters, int threads) {
  const auto given = as_span(parameters);
  std::vector<double> gradient(rows.n_parameters());
  RowEvaluation evaluation;
  {
    const ReleaseGil nogil;
    evaluation = rows.evaluate(given, gradient, threads);
  }
  return py::make_tuple(evaluation.value, evaluation.wrong, to_array(std::move(gradient)));
}

Array<double> parameters_of(const RowLikelihood& rows, const Network& network) {
  return to_array(rows.parameters(network));
}

Network network_of(const RowLikelihood& rows, const Array<double>& parameters) {
  return rows.network(as_span(parameters));
}

}  // namespace

void bind_rows(py::module_& m) {
  m.def("estimate_em", &em, py::arg("structure"), py::arg("dataset"), py::kw_only(), py::arg("alpha") = 1.0,
        py::arg("class_prior") = std::vector<double>(), py::arg("tol") = 1e-6, py::arg("max_iter") = 200,
        py::arg("max_cells") = kMaxCliqueCells, py::arg("report") = py::none(), py::arg("threads") = 1);
  m.def("estimate_apn", &apn, py::arg("structure"), py::arg("dataset"), py::kw_only(), py::arg("alpha") = 1.0,
        py::arg("class_prior") = std::vector<double>(), py::arg("optimizer") = "cg", py::arg("tol") = 1e-6,
        py::arg("max_iter") = 200, py::arg("max_cells") = kMaxCliqueCells, py::arg("report") = py::none(),
        py::arg("threads") = 1);
  m.def("estimate_elr", &elr, py::arg("structure"), py::arg("dataset"), py::kw_only(), py::arg("alpha") = 1.0,
        py::arg("class_prior") = std::vector<double>(), py::arg("optimizer") = "cg", py::arg("l2") = 0.0,
        py::arg("tol") = 1e-6, py::arg("max_iter") = 100, py::arg("fold_of_row").noconvert() = py::none(),
        py::arg("tune_by") = "cll", py::arg("tune_rule") = "mean", py::arg("patience") = 20,
        py::arg("max_cells") = kMaxCliqueCells, py::arg("report") = py::none(), py::arg("threads") = 1);
  py::class_<RowLikelihood>(m, "RowLikelihood")
      .def(py::init(&make_rows), py::arg("structure"), py::arg("dataset"), py::kw_only(), py::arg("goal"),
           py::arg("class_prior") = std::vector<double>())
      .def_property_readonly("n_parameters", &RowLikelihood::n_parameters)
      .def_property_readonly("total_weight", &RowLikelihood::total_weight)
      .def("evaluate", &evaluate, py::arg("parameters").noconvert(), py::arg("threads") = 1)
      .def("parameters", &parameters_of, py::arg("network"))
      .def("network", &network_of, py::arg("parameters").noconvert());
}

}  // namespace tanager::python

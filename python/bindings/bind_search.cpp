// Wrapper search for structures.
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
#include "tanager/learn_search.hpp"
#include "watch.hpp"

namespace tanager::python {
namespace {

using Arcs = std::vector<std::pair<std::size_t, std::size_t>>;

SearchMethod method_of(const std::string& name) {
  return chosen<SearchMethod>("method", name,
                              {{"hill-climb", SearchMethod::kHillClimb},
                               {"super-parent", SearchMethod::kSuperParent},
                               {"forward-join", SearchMethod::kForwardJoin},
                               {"backward-join", SearchMethod::kBackwardJoin}});
}

SearchObjective objective_of(const std::string& name) {
  return chosen<SearchObjective>("objective", name,
                                 {{"accuracy", SearchObjective::kAccuracy}, {"cll", SearchObjective::kCll}});
}

std::string name_of(SearchStop stop) {
  return name_among<SearchStop>(stop, {{"no improvement", SearchStop::kNoImprovement},
                                       {"nothing left", SearchStop::kNothingLeft},
                                       {"perfect", SearchStop::kPerfect},
                                       {"step limit", SearchStop::kStepLimit},
                                       {"time limit", SearchStop::kTimeLimit},
                                       {"interrupted", SearchStop::kInterrupted}});
}

std::vector<Arc> to_arcs(const Arcs& given) {
  std::vector<Arc> arcs;
  for (const auto& [parent, child] : given) arcs.push_back({parent, child});
  return arcs;
}

py::tuple to_tuple(const SearchStep& step) {
  py::list changes;
  for (const StructureChange& change : step.changes)
    changes.append(py::make_tuple(change.feature, change.absent ? py::object(py::none()) : py::cast(change.parents)));
  return py::make_tuple(changes, step.fold_scores, step.score, step.n_candidates, step.seconds);
}

py::dict search(const Dataset& data, const Array<std::uint32_t>& folds, const std::string& method,
                const std::string& objective, std::size_t max_parents, bool symmetric, double alpha,
                std::vector<double> class_prior, double epsilon, const std::optional<Parents>& start,
                const Arcs& required, const Arcs& forbidden, std::optional<std::size_t> max_steps,
                std::optional<double> time_limit, std::size_t memory_limit, py::object report, int threads) {
  SearchOptions options;
  options.method = method_of(method);
  options.objective = objective_of(objective);
  options.max_parents = max_parents;
  options.symmetric = symmetric;
  options.alpha = alpha;
  options.class_prior = std::move(class_prior);
  options.epsilon = epsilon;
  if (start) options.start = to_structure(*start);
  options.required = to_arcs(required);
  options.forbidden = to_arcs(forbidden);
  options.max_steps = max_steps;
  options.time_limit = time_limit;
  options.memory_limit = memory_limit;
  Watch watch(std::move(report), true);
  options.keep_going = [&](const SearchProgress& progress) {
    return watch(progress.steps, progress.score, progress.candidates, progress.batch);
  };
  const auto fold_of_row = as_span(folds);
  std::optional<SearchResult> result;
  {
    const ReleaseGil nogil;
    result = search_structure(data, fold_of_row, options, threads);
  }
  watch.rethrow();
  py::list steps;
  for (const SearchStep& step : result->steps) steps.append(to_tuple(step));
  py::dict out;
  out["structure"] = std::move(result->structure);
  out["steps"] = steps;
  out["stopped"] = name_of(result->stop);
  out["n_candidates"] = result->n_candidates;
  out["seconds"] = result->seconds;
  return out;
}

}  // namespace

void bind_search(py::module_& m) {
  m.def("search_structure", &search, py::arg("dataset"), py::arg("fold_of_row").noconvert(), py::kw_only(),
        py::arg("method"), py::arg("objective"), py::arg("max_parents"), py::arg("symmetric"), py::arg("alpha"),
        py::arg("class_prior"), py::arg("epsilon"), py::arg("start"), py::arg("required"), py::arg("forbidden"),
        py::arg("max_steps"), py::arg("time_limit"), py::arg("memory_limit"), py::arg("report"),
        py::arg("threads") = 1);
}

}  // namespace tanager::python

// Wrapper searches against a slow one that learns and predicts anew for every candidate and fold.
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "search_reference.hpp"

const int fuzz::kShortRuns = 2500;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace slow;

constexpr std::size_t kMostCells = 1500;

Problem read_problem(fuzz::Input& input) {
  SearchOptions options;
  options.method = input.choose({SearchMethod::kHillClimb, SearchMethod::kHillClimb, SearchMethod::kSuperParent,
                                 SearchMethod::kForwardJoin, SearchMethod::kBackwardJoin});
  options.objective = input.choose({SearchObjective::kAccuracy, SearchObjective::kCll});
  const bool climbs = options.method == SearchMethod::kHillClimb;
  const bool joins = options.method == SearchMethod::kForwardJoin || options.method == SearchMethod::kBackwardJoin;
  const auto classes =
      static_cast<std::uint32_t>(input.choose<int>({0, 0, 0, 1}) == 0 ? input.size(1, 4) : input.edge_size(40));
  const std::size_t n = input.size(1, 5);
  std::size_t cells = classes;
  std::vector<reference::ColumnSpec> features(n);
  for (reference::ColumnSpec& spec : features) {
    const std::size_t most = std::max<std::size_t>(1, kMostCells / cells);
    spec.n_values = static_cast<std::uint32_t>(input.choose<int>({0, 0, 0, 1}) == 0
                                                   ? input.size(1, std::min<std::size_t>(most, 3))
                                                   : input.edge_size(std::min<std::size_t>(most, 300)));
    spec.missing = spec.n_values < 5 ? input.choose({0.0, 0.0, 0.0, 0.2}) : 0.0;
    spec.skew = input.choose({0.0, 0.5});
    spec.wide = input.flag();
    cells *= spec.n_values;
  }
  options.alpha = input.choose({1.0, 0.0, 0.01, 1e-100});
  options.max_parents = climbs ? input.size(1, 3) : 1;
  options.symmetric = climbs && input.flag();
  options.epsilon = input.choose({0.01, 0.0, 0.1});
  if (input.choose({false, false, true})) options.max_steps = input.size(0, 2);
  if (input.choose({false, false, true})) {  // just enough for the largest table, in all folds
    options.memory_limit = 9 * sizeof(double) * classes;
    for (const reference::ColumnSpec& spec : features) options.memory_limit *= spec.n_values + std::size_t{1};
  }
  const std::size_t n_rows = input.size(2, 40);
  const bool weighted = input.choose({false, false, true});
  std::mt19937_64 random = input.random();
  if (input.choose({false, false, true}))
    options.class_prior = fuzz::random_table(random, fuzz::Tables::kZeros, 1, classes, 1);
  // Arcs lead from earlier to later features of some order, so that they form no cycle.
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::vector<std::size_t>> start(n);
  const bool starts = !joins && input.choose({false, false, true});
  for (std::size_t i = 1; i < n; ++i) {
    if (starts && random() % 3 == 0) start[order[i]].push_back(order[random() % i]);
    const bool room = start[order[i]].size() < options.max_parents;
    if (random() % 12 == 0 && room && !(joins && !options.required.empty()))
      options.required.push_back({order[random() % i], order[i]});
    if (random() % 6 == 0) options.forbidden.push_back({order[i], order[random() % i]});
  }
  if (starts) options.start = Structure(start);
  Problem problem{reference::random_dataset(features, {classes, 0.0, 0.3, input.flag()}, n_rows, weighted, random()),
                  {},
                  static_cast<std::uint32_t>(input.size(2, std::min<std::size_t>(n_rows, 4))),
                  options};
  for (std::size_t row = 0; row < n_rows; ++row)
    problem.folds.push_back(static_cast<std::uint32_t>(row < problem.n_folds ? row : random() % problem.n_folds));
  return problem;
}

Graph graph_of(const Structure& structure) {
  Graph graph(structure.n_features());
  for (std::size_t f = 0; f < graph.size(); ++f) {
    if (structure.is_absent(f)) continue;
    graph[f] = structure.parents(f);
    std::sort(graph[f]->begin(), graph[f]->end());
  }
  return graph;
}

void require_scores(const SearchStep& step, const std::vector<Interval>& expected) {
  fuzz::require_same(step.fold_scores.size(), expected.size(), "number of fold scores");
  double sum = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double got = step.fold_scores[k];
    sum += got;
    if (expected[k].sure() || !std::isfinite(expected[k].low))
      fuzz::require_near(got, expected[k].low, kClose, "score of fold " + std::to_string(k));
    else
      fuzz::require(got >= expected[k].low - kClose && got <= expected[k].high + kClose, "score of a fold in range");
  }
  fuzz::require_near(step.score, sum / static_cast<double>(expected.size()), 1e-13, "mean score");
}

bool improves(double candidate, double present, double epsilon) {
  return std::isinf(present) ? candidate > present : candidate - epsilon >= present;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const Problem problem = read_problem(input);
  const SearchOptions& options = problem.options;
  const SearchResult result = search_structure(problem.data, problem.folds, options, 1);
  Judge judge(problem);
  Candidates candidates(problem, judge);
  Graph graph = candidates.start();
  require_scores(result.steps.at(0), judge.fold_scores(graph));

  std::size_t n_candidates = 0;
  for (std::size_t k = 0;; ++k) {
    const SearchStep& present = result.steps[k];
    const bool last = k + 1 == result.steps.size();
    if (options.objective == SearchObjective::kAccuracy && present.score >= 1) {
      fuzz::require(last && result.stop == SearchStop::kPerfect, "a perfect score ends the search");
      break;
    }
    if (options.max_steps && k >= *options.max_steps) {
      fuzz::require(last && result.stop == SearchStop::kStepLimit, "the limit of steps ends the search");
      break;
    }
    const Candidates::List list = candidates.of(graph);
    if (!list.decided) return 0;
    if (list.graphs.empty()) {
      fuzz::require(last && result.stop == SearchStop::kNothingLeft, "no candidate is left");
      break;
    }
    n_candidates += list.n_before + list.graphs.size();
    std::vector<Interval> scores;
    double low = -kInfinity, high = -kInfinity;
    bool sure = true;
    for (const Graph& candidate : list.graphs) {
      scores.push_back(judge.score(candidate));
      low = std::max(low, scores.back().low);
      high = std::max(high, scores.back().high);
      sure &= scores.back().sure();
    }
    if (last) {
      fuzz::require(result.stop == SearchStop::kNoImprovement, "why the search ended");
      fuzz::require(!improves(low - kClose, present.score, options.epsilon), "a candidate that improves was not taken");
      break;
    }
    const SearchStep& next = result.steps[k + 1];
    for (const StructureChange& change : next.changes)
      graph[change.feature] = change.absent ? std::nullopt : std::optional(change.parents);
    const auto taken = std::find(list.graphs.begin(), list.graphs.end(), graph);
    fuzz::require(taken != list.graphs.end(), "an accepted step that is no candidate");
    const auto at = static_cast<std::size_t>(taken - list.graphs.begin());
    require_scores(next, judge.fold_scores(graph));
    fuzz::require_same(next.n_candidates, list.n_before + list.graphs.size(), "candidates of a step");
    fuzz::require(next.score >= low - kClose, "a better candidate was not taken");
    fuzz::require(improves(next.score, present.score, options.epsilon), "a step that does not improve");
    if (sure) {  // equally good candidates: the first
      bool decided = true;
      std::size_t first = scores.size();
      for (std::size_t i = scores.size(); i-- > 0;) {
        if (scores[i].low == low || scores[i].low >= low - 1e-13)
          first = i;
        else if (scores[i].low > low - kClose)
          decided = false;
      }
      if (decided) fuzz::require_same(at, first, "the candidate taken");
    }
    candidates.accept(list.groups[at]);
  }
  fuzz::require_same(result.n_candidates, n_candidates, "candidates in all");
  fuzz::require(graph_of(result.structure) == graph, "the structure found");

  const int threads = input.choose<int>({1, 1, 2, 3});
  if (threads == 1) return 0;
  const SearchResult again = search_structure(problem.data, problem.folds, options, threads);
  fuzz::require(again.structure == result.structure, "structures depend on the number of threads");
  for (std::size_t k = 0; k < result.steps.size(); ++k)
    fuzz::require(again.steps.at(k).fold_scores == result.steps[k].fold_scores,
                  "scores depend on the number of threads");
  return 0;
}

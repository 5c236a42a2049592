// Searches against a search that learns and predicts anew for every candidate; threads, limits and errors.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "check.hpp"
#include "reference.hpp"
#include "search/candidates.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/learn_search.hpp"
#include "tanager/network_predictor.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

constexpr SearchMethod kMethods[] = {SearchMethod::kHillClimb, SearchMethod::kSuperParent, SearchMethod::kForwardJoin,
                                     SearchMethod::kBackwardJoin};
constexpr SearchObjective kObjectives[] = {SearchObjective::kAccuracy, SearchObjective::kCll};

/// A class that depends on the first two features together, and features that say little.
Dataset parity(std::size_t n_rows, std::size_t n_features, std::uint32_t n_values, std::uint32_t n_classes,
               double missing, bool weighted, std::uint64_t seed) {
  const std::vector<reference::ColumnSpec> specs(n_features, reference::ColumnSpec{n_values, missing});
  const Dataset data = reference::random_dataset(specs, {n_classes}, n_rows, weighted, seed);
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> classes(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::size_t sum = data.feature(0)[row] + data.feature(1)[row] + (random() % 5 == 0 ? random() : 0);
    classes[row] = static_cast<std::uint8_t>(sum % n_classes);
  }
  std::vector<double> weights(data.weights().begin(), data.weights().end());
  for (double& w : weights) w += 0.01;
  return Dataset(data.features(), Column(std::move(classes), n_classes), std::move(weights));
}

std::vector<std::uint32_t> folds_of(std::size_t n_rows, std::uint32_t n_folds) {
  std::vector<std::uint32_t> folds(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) folds[row] = static_cast<std::uint32_t>(row % n_folds);
  return folds;
}

/// Learns from all other rows and predicts those of every fold.
std::vector<double> plain_scores(const Dataset& data, const std::vector<std::uint32_t>& folds,
                                 const Structure& structure, const SearchOptions& options) {
  const std::size_t n_folds = *std::max_element(folds.begin(), folds.end()) + 1, s = data.n_classes();
  std::vector<double> scores;
  for (std::size_t k = 0; k < n_folds; ++k) {
    std::vector<std::size_t> train;
    for (std::size_t row = 0; row < folds.size(); ++row)
      if (folds[row] != k) train.push_back(row);
    std::vector<Family> families;
    for (const std::size_t f : structure.order()) families.push_back(structure.family(f));
    const CountSet counts = count(data.subset(train), CountScope::kSingles, families, 1);
    const NetworkPredictor predictor(
        estimate_dirichlet(structure, counts, {options.alpha, std::nullopt, options.class_prior}));
    double total = 0, weight = 0;
    std::vector<Code> row_codes(data.n_features());
    std::vector<double> out(s);
    for (std::size_t row = 0; row < folds.size(); ++row) {
      if (folds[row] != k) continue;
      for (std::size_t f = 0; f < row_codes.size(); ++f) row_codes[f] = data.feature(f)[row];
      const double w = data.is_weighted() ? data.weights()[row] : 1.0;
      predictor.predict(row_codes, Output::kLogPosterior, out);
      const Code label = data.target()[row];
      total += w * (options.objective == SearchObjective::kCll    ? out[label]
                    : predictor.predict_class(row_codes) == label ? 1.0
                                                                  : 0.0);
      weight += w;
    }
    scores.push_back(total / weight);
  }
  return scores;
}

double mean(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

/// The best structure with one arc more; its score in `best`.
std::optional<Structure> plain_step(const Dataset& data, const std::vector<std::uint32_t>& folds,
                                    const Structure& present, const SearchOptions& options, double& best) {
  std::optional<Structure> found;
  for (std::size_t parent = 0; parent < data.n_features(); ++parent)
    for (std::size_t child = 0; child < data.n_features(); ++child) {
      std::vector<std::vector<std::size_t>> parents;
      for (std::size_t f = 0; f < data.n_features(); ++f) parents.push_back(present.parents(f));
      auto& of_child = parents[child];
      if (parent == child || of_child.size() >= options.max_parents) continue;
      if (std::find(of_child.begin(), of_child.end(), parent) != of_child.end()) continue;
      of_child.insert(std::upper_bound(of_child.begin(), of_child.end(), parent), parent);
      try {
        const Structure structure(parents);
        const double score = mean(plain_scores(data, folds, structure, options));
        if (!found || score > best) {
          best = score;
          found = structure;
        }
      } catch (const InvalidInput&) {  // a cycle
      }
    }
  return found;
}

bool same(const SearchResult& a, const SearchResult& b) {
  if (!(a.structure == b.structure) || a.steps.size() != b.steps.size() || a.stop != b.stop) return false;
  for (std::size_t i = 0; i < a.steps.size(); ++i)
    if (a.steps[i].fold_scores != b.steps[i].fold_scores || a.steps[i].n_candidates != b.steps[i].n_candidates)
      return false;
  return a.n_candidates == b.n_candidates;
}

SearchOptions options_for(SearchMethod method, SearchObjective objective) {
  SearchOptions options;
  options.method = method;
  options.objective = objective;
  options.alpha = 0.37;  // no two different products of counts are equal by chance
  options.epsilon = 0.001;
  return options;
}

}  // namespace

TEST(every_step_has_the_scores_of_its_structure) {
  std::size_t steps = 0;
  for (const SearchMethod method : kMethods)
    for (const SearchObjective objective : kObjectives)
      for (const std::uint32_t classes : {2u, 3u, 6u})
        for (const bool weighted : {false, true})
          for (const double missing : {0.0, 0.1})
            for (const std::uint32_t values : {2u, 9u}) {  // nine values give sparse tables
              const Dataset data = parity(150, 5, values, classes, missing, weighted, 100 + classes);
              const auto folds = folds_of(150, 3);
              SearchOptions options = options_for(method, objective);
              options.max_parents = 2;
              options.max_steps = 4;
              const SearchResult result = search_structure(data, folds, options);
              SearchState state{std::vector<std::vector<std::size_t>>(5), std::vector<bool>(5, false)};
              if (method == SearchMethod::kForwardJoin) state.absent.assign(5, true);
              for (const SearchStep& step : result.steps) {
                state.apply(step.changes);
                const auto expected = plain_scores(data, folds, state.structure(), options);
                CHECK_EQ(step.fold_scores.size(), expected.size());
                for (std::size_t k = 0; k < expected.size(); ++k)
                  CHECK_NEAR(step.fold_scores[k], expected[k], objective == SearchObjective::kCll ? 1e-9 : 1e-12);
                CHECK_NEAR(step.score, mean(step.fold_scores), 1e-15);
              }
              CHECK(result.structure == state.structure());
              steps += result.steps.size() - 1;
            }
  CHECK(steps > 100);
}

TEST(hill_climbing_takes_the_best_arc_of_all) {
  for (const std::size_t max_parents : {1, 2})
    for (const std::uint32_t classes : {2u, 3u})
      for (const double missing : {0.0, 0.15}) {
        const Dataset data = parity(120, 4, 3, classes, missing, false, 7);
        const auto folds = folds_of(120, 4);
        SearchOptions options = options_for(SearchMethod::kHillClimb, SearchObjective::kCll);
        options.max_parents = max_parents;
        const SearchResult result = search_structure(data, folds, options);
        Structure present = Structure::naive(4);
        double score = mean(plain_scores(data, folds, present, options));
        for (std::size_t step = 0;; ++step) {
          CHECK(step < result.steps.size());
          CHECK_NEAR(result.steps[step].score, score, 1e-9);
          double best = 0;
          const auto next = plain_step(data, folds, present, options, best);
          if (!next || best - options.epsilon < score) {
            CHECK_EQ(result.steps.size(), step + 1);
            break;
          }
          present = *next;
          score = best;
        }
        CHECK(result.structure == present);
      }
}

TEST(arcs_between_features_of_any_size_are_compared_side_by_side) {
  // Few and many values of parent and child, in an order that is not theirs; more features than are looked at together.
  const std::uint32_t sizes[] = {9, 2, 3, 1, 4, 2, 5, 2, 3, 2, 6};
  std::vector<reference::ColumnSpec> specs;
  for (const std::uint32_t values : sizes) specs.push_back({values});
  std::size_t steps = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Dataset data = reference::random_dataset(specs, {2}, 160, false, seed);
    const auto folds = folds_of(160, 4);
    SearchOptions options = options_for(SearchMethod::kHillClimb, SearchObjective::kAccuracy);
    options.max_steps = 3;
    const SearchResult result = search_structure(data, folds, options);
    SearchState state{std::vector<std::vector<std::size_t>>(specs.size()), std::vector<bool>(specs.size(), false)};
    for (std::size_t step = 1; step < result.steps.size(); ++step, ++steps) {
      double best = 0;
      plain_step(data, folds, state.structure(), options, best);
      CHECK_NEAR(result.steps[step].score, best, 1e-12);
      state.apply(result.steps[step].changes);
      CHECK_NEAR(mean(plain_scores(data, folds, state.structure(), options)), best, 1e-12);
    }
    CHECK(same(search_structure(data, folds, options, 3), result));
    // Tables are rebuilt in every step where they cannot be kept: some of them, or all, and the counts of pairs.
    for (const int bits : {16, 14}) {
      options.memory_limit = std::size_t{1} << bits;
      CHECK(same(search_structure(data, folds, options), result));
    }
  }
  CHECK(steps > 5);
}

TEST(rows_without_weight_and_probability_count_for_nothing) {
  const Dataset drawn = parity(60, 5, 2, 2, 0.0, true, 5);
  std::vector<double> weights(drawn.weights().begin(), drawn.weights().end());
  for (std::size_t row = 0; row < weights.size(); ++row)
    if (drawn.target()[row] == 0) weights[row] = 0;  // all that the class prior makes impossible
  const Dataset data(drawn.features(), drawn.target(), std::move(weights));
  for (const SearchMethod method : kMethods) {
    SearchOptions options = options_for(method, SearchObjective::kCll);
    options.class_prior = {0.0, 1.0};
    for (const SearchStep& step : search_structure(data, folds_of(60, 3), options).steps) CHECK_EQ(step.score, 0.0);
  }
}

TEST(threads_and_memory_change_nothing) {
  std::size_t steps = 0;
  for (const SearchMethod method : kMethods)
    for (const SearchObjective objective : kObjectives)
      for (const double missing : {0.0, 0.1}) {
        const Dataset data = parity(400, 8, 3, 3, missing, false, 11);
        const auto folds = folds_of(400, 5);
        SearchOptions options = options_for(method, objective);
        options.max_steps = 4;
        const SearchResult plain = search_structure(data, folds, options);
        steps += plain.steps.size() - 1;
        for (const int threads : {2, 7}) CHECK(same(search_structure(data, folds, options, threads), plain));
        options.memory_limit = std::size_t{1} << 20;  // no more than the largest table needs
        CHECK(same(search_structure(data, folds, options, 2), plain));
      }
  CHECK(steps > 20);
}

TEST(every_reason_to_stop) {
  const Dataset data = parity(200, 4, 2, 2, 0.0, false, 3);
  const auto folds = folds_of(200, 4);
  SearchOptions options = options_for(SearchMethod::kHillClimb, SearchObjective::kAccuracy);
  options.epsilon = 0.5;
  CHECK(search_structure(data, folds, options).stop == SearchStop::kNoImprovement);
  options.epsilon = 0;
  options.max_steps = 1;
  const SearchResult limited = search_structure(data, folds, options);
  CHECK(limited.stop == SearchStop::kStepLimit);
  CHECK_EQ(limited.steps.size(), 2u);
  options.max_steps.reset();
  options.time_limit = 0.0;
  const SearchResult timed = search_structure(data, folds, options);
  CHECK(timed.stop == SearchStop::kTimeLimit);
  CHECK_EQ(timed.steps.size(), 1u);
  options.time_limit.reset();
  std::size_t calls = 0;
  options.keep_going = [&](const SearchProgress& progress) {
    CHECK(progress.candidates <= progress.batch && progress.batch > 0);
    CHECK_EQ(progress.steps, calls);
    return ++calls < 2;  // the second batch is given up, what the first found remains
  };
  const SearchResult interrupted = search_structure(data, folds, options);
  CHECK(interrupted.stop == SearchStop::kInterrupted);
  CHECK_EQ(interrupted.steps.size(), 2u);
  CHECK(interrupted.structure == limited.structure);
  options.keep_going = nullptr;
  const SearchResult single = search_structure(parity(50, 2, 2, 2, 0.0, false, 5), folds_of(50, 2), [&] {
    SearchOptions all = options;
    all.forbidden = {{0, 1}, {1, 0}};
    return all;
  }());
  CHECK(single.stop == SearchStop::kNothingLeft);
  const Column column(std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1, 0, 1}, 2);
  CHECK(search_structure(Dataset({column, column}, column), folds_of(8, 2), options).stop == SearchStop::kPerfect);
}

TEST(an_exception_from_the_caller_comes_through) {
  SearchOptions options = options_for(SearchMethod::kBackwardJoin, SearchObjective::kAccuracy);
  options.keep_going = [](const SearchProgress&) -> bool { throw std::runtime_error("enough"); };
  CHECK_THROWS(std::runtime_error, search_structure(parity(60, 3, 2, 2, 0.0, false, 1), folds_of(60, 3), options, 2),
               "enough");
}

TEST(the_check_of_the_caller_ends_a_search) {
  const Dataset data = parity(400, 12, 2, 2, 0.0, false, 1);
  const SearchOptions options = options_for(SearchMethod::kBackwardJoin, SearchObjective::kCll);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const StopCheck check([] { throw Stopped("enough"); });
  bool interrupted = false;
  while (!interrupted && std::chrono::steady_clock::now() < end) try {
      const SearchResult found = search_structure(data, folds_of(400, 4), options, 2);
      interrupted = found.stop == SearchStop::kInterrupted && !found.steps.empty();
    } catch (const Stopped&) {  // before there was a result
    }
  CHECK(interrupted);
}

TEST(ties_go_to_the_first_candidate) {
  const std::vector<std::uint64_t> order{0, 1, 2, 3};
  const std::vector<std::uint64_t> reversed{3, 2, 1, 0};
  /// The place of the best of some scores, the first two in one group and all others in another.
  const auto best = [](std::vector<double> scores, const std::vector<std::uint64_t>& ranks) {
    CandidateGroup groups[2];
    for (std::size_t i = 0; i < scores.size(); ++i) {
      groups[i / 2].add(ranks[i], {});
      groups[i / 2].scores.push_back(scores[i]);
    }
    const Choice choice = first_best(groups);
    return choice.candidate + (choice.group == groups ? 0 : 2);
  };
  CHECK_EQ(best({0.1, 0.5, 0.5, 0.4}, order), 1u);
  CHECK_EQ(best({0.1, 0.5, 0.5, 0.4}, reversed), 2u);
  CHECK_EQ(best({0.1, 0.5, 0.5 + 1e-14, 0.4}, order), 1u);
  CHECK_EQ(best({0.1, 0.5, 0.5 + 1e-9, 0.4}, order), 2u);
  const double nothing = -std::numeric_limits<double>::infinity();
  CHECK_EQ(best({nothing, nothing}, order), 0u);
  CHECK_EQ(best({nothing, -3.0}, order), 1u);
  CHECK_EQ(best(std::vector<double>(2, std::numeric_limits<double>::quiet_NaN()), order), 0u);
  // Copies of one column: every arc is as good as any other.
  const Column copy(std::vector<std::uint8_t>{0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0}, 2);
  const Column target(std::vector<std::uint8_t>{0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0}, 2);
  SearchOptions options = options_for(SearchMethod::kHillClimb, SearchObjective::kAccuracy);
  options.epsilon = 0;
  options.max_steps = 1;
  const SearchResult result = search_structure(Dataset({copy, copy, copy}, target), folds_of(12, 3), options);
  CHECK_EQ(result.steps.size(), 2u);
  CHECK((result.structure.parents(1) == std::vector<std::size_t>{0}));
}

TEST(what_cannot_be_is_said) {
  const Dataset data = parity(40, 3, 2, 2, 0.0, false, 1);
  const auto folds = folds_of(40, 2);
  const auto fails = [&](auto change, const char* part) {
    SearchOptions options;
    change(options);
    CHECK_THROWS(InvalidInput, search_structure(data, folds, options), part);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, nan, infinity}) {
    fails([&](SearchOptions& o) { o.alpha = bad; }, "alpha: expected a number >= 0");
    fails([&](SearchOptions& o) { o.epsilon = bad; }, "epsilon: expected a finite number >= 0");
  }
  fails([](SearchOptions& o) { o.max_parents = 0; }, "max_parents: expected an integer from 1 to 64, got 0");
  fails([](SearchOptions& o) { o.max_parents = 65; }, "got 65");
  fails([&](SearchOptions& o) { o.time_limit = nan; }, "time_limit: expected a number >= 0");
  fails([](SearchOptions& o) { o.class_prior = {1.0}; }, "expected 2 probabilities, one per class, got 1");
  fails([](SearchOptions& o) { o.class_prior = {0.9, 0.9}; }, "class_prior: expected probabilities that sum to 1");
  fails([](SearchOptions& o) { o.start = Structure::naive(2); },
        "the initial structure has 2 features, but the data have 3");
  fails([](SearchOptions& o) { o.required = {{0, 3}}; },
        "required: expected arcs between two different features below 3, got (0, 3)");
  fails([](SearchOptions& o) { o.forbidden = {{1, 1}}; },
        "forbidden: expected arcs between two different features below 3, got (1, 1)");
  fails([](SearchOptions& o) { o.required = o.forbidden = {{1, 2}}; }, "1 to 2 is both required and forbidden");
  fails([](SearchOptions& o) { o.required = {{1, 2}, {2, 1}}; }, "cycle");
  fails([](SearchOptions& o) { o.required = {{0, 2}, {1, 2}}; }, "2 feature parents, but at most 1 are allowed");
  fails(
      [](SearchOptions& o) {
        o.start = Structure({{}, {0}, {}});
        o.forbidden = {{0, 1}};
      },
      "the initial structure has the arc from 0 to 1, which is forbidden");
  fails(
      [](SearchOptions& o) {
        o.method = SearchMethod::kBackwardJoin;
        o.required = {{0, 1}, {1, 2}};
      },
      "fully connected groups");
  const SearchOptions plain;
  CHECK_THROWS(InvalidInput, search_structure(data, folds_of(39, 2), plain), "expected the fold of 40 rows, got 39");
  CHECK_THROWS(InvalidInput, search_structure(data, std::vector<std::uint32_t>(40, 0), plain), "at least 2 folds");
  CHECK_THROWS(InvalidInput, search_structure(data, std::vector<std::uint32_t>(40, 3), plain), "at least 2 folds");
  std::vector<std::uint32_t> gap = folds;
  for (std::uint32_t& k : gap) k *= 2;
  CHECK_THROWS(InvalidInput, search_structure(data, gap, plain), "no row is in fold 1");
  CHECK_THROWS(InvalidInput, search_structure(Dataset({}, data.target()), folds, plain), "at least one feature");
}

TEST_MAIN

// Structures by tests of independence: graphs from any test, and classifiers from rows.
#include "tanager/learn_constraint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "constraint/independence_counts.hpp"
#include "constraint/orientation.hpp"
#include "constraint/skeleton.hpp"
#include "scores/without_noise.hpp"
#include "support/text.hpp"
#include "tanager/counts.hpp"
#include "tanager/scores.hpp"

namespace tanager {

using namespace internal;

namespace {

using FindSkeleton = Skeleton (*)(const SeparatorSearch&);

void check_options(std::size_t n, const GraphOptions& options) {
  if (!(options.threshold >= 0))
    throw InvalidInput(join_text("threshold: expected a number >= 0, got ", options.threshold));
  if (!options.cardinalities.empty() && options.cardinalities.size() != n)
    throw InvalidInput(
        join_text("expected the number of values of ", n, " variables, got ", options.cardinalities.size()));
  std::vector<std::size_t> sorted = options.preference;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> all(sorted.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (!sorted.empty() && (sorted.size() != n || sorted != all))
    throw InvalidInput(join_text("an order of ", n, " variables must name each of them once"));
}

LearnedGraph learn_graph(FindSkeleton find_skeleton, TestCache& test, const GraphOptions& options, int threads,
                         double max_sets = std::numeric_limits<double>::infinity()) {
  const std::size_t n = test.n_variables();
  const SeparatorSearch search{test, options.threshold, options.max_conditioning.value_or(n), threads, max_sets};
  PartialDag pattern = directed_pattern(find_skeleton(search));
  auto parents = directed_extension(pattern, options.preference, options.cardinalities);
  return {std::move(pattern), std::move(parents), test.n_tests()};
}

LearnedGraph learn_graph(FindSkeleton find_skeleton, std::size_t n, const Dependence& dependence,
                         const GraphOptions& options, int threads) {
  check_options(n, options);
  TestCache test(n, dependence);
  return learn_graph(find_skeleton, test, options, threads);
}

/// Features in the order in which they shall rather be parents; see ConstraintOptions::tie_order.
std::vector<std::size_t> preferred_order(const Dataset& data, const std::vector<std::size_t>& tie_order) {
  const CountSet counts = count(data, CountScope::kSingles);
  const std::size_t n = data.n_features();
  struct Key {
    double information, entropy;
    std::uint32_t n_values;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  DependenceCounter counter;
  for (std::size_t f = 0; f < n; ++f) {
    const std::uint32_t r = data.feature(f).n_values();
    std::vector<double> values(r, 0.0);
    for (std::size_t cell = 0; cell < counts.single(f).size(); ++cell)
      values[cell / counts.n_classes()] += counts.single(f)[cell];
    const double about_class = counter.of_table(counts.single(f), r, counts.n_classes(), 1).information;
    keys.push_back({-without_noise(about_class), -without_noise(entropy(values)), r});
  }
  const auto codes_differ = [&](std::size_t a, std::size_t b) {
    std::size_t row = 0;
    while (row < data.n_rows() && data.feature(a)[row] == data.feature(b)[row]) ++row;
    return row;
  };
  std::vector<std::size_t> order = tie_order;
  if (order.empty()) {
    order.resize(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (keys[a] != keys[b]) return keys[a] < keys[b];
    const std::size_t row = codes_differ(a, b);
    return row < data.n_rows() && data.feature(a)[row] < data.feature(b)[row];
  });
  return order;
}

/// Thresholds that are tried, the largest first: ten per factor of ten of informations, and of significances from
/// 10^-1,000,000 to 0.05 by their logarithms.
std::vector<double> grid_of(DependenceKind kind) {
  constexpr double kSteps[] = {1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0};
  const bool by_p = kind == DependenceKind::kG2;
  std::vector<double> grid;
  for (int decade = by_p ? 0 : -4; decade < (by_p ? 6 : 1); ++decade)
    for (const double step : kSteps) {
      const double value = step * std::pow(10.0, decade);
      if (!by_p)
        grid.push_back(value);
      else if (value > 1.3)
        grid.push_back(value * std::log(10.0));
    }
  if (by_p) grid.insert(grid.begin(), -std::log(0.05));
  std::reverse(grid.begin(), grid.end());
  return grid;
}

/// So many thresholds in a row may break the limits before lower ones, whose graphs take ever longer, are given up.
constexpr std::size_t kPatience = 2;
/// Graphs that need more tests than this for sets of one size are too dense to meet any limit that is worth it.
constexpr double kMostAutomaticSets = 262'144;

using Parents = std::vector<std::vector<std::size_t>>;

/// What is done for any of the two algorithms once its variables are known.
class ConstraintLearner {
 public:
  ConstraintLearner(FindSkeleton find_skeleton, std::size_t n_variables, Dependence dependence,
                    const ConstraintOptions& options, GraphOptions graph, std::uint64_t class_factor, int threads)
      : find_skeleton_(find_skeleton),
        options_(options),
        graph_(std::move(graph)),
        class_factor_(static_cast<double>(class_factor)),
        threads_(threads),
        test_(n_variables, std::move(dependence)) {}

  struct Found {
    Parents parents;
    double threshold = 0;
    std::size_t n_tests = 0;
  };

  Found run() {
    Found found{Parents(test_.n_variables()), std::numeric_limits<double>::infinity(), 0};
    if (options_.threshold) {
      found = {learn(*options_.threshold), *options_.threshold, 0};
      check_parents(found.parents);
    } else {
      // Fewer parents may come with a lower threshold, since colliders come and go; but not for long.
      std::size_t in_vain = 0;
      for (const double threshold : grid_of(options_.kind)) {
        std::optional<Parents> parents;
        try {
          parents = learn(threshold, kMostAutomaticSets);
        } catch (const TooDense&) {
          break;
        }
        if (is_small(*parents)) {
          found = {std::move(*parents), threshold, 0};
          in_vain = 0;
        } else if (++in_vain == kPatience) {
          break;
        }
      }
    }
    found.n_tests = test_.n_tests();
    return found;
  }

 private:
  Parents learn(double threshold, double max_sets = std::numeric_limits<double>::infinity()) {
    graph_.threshold = threshold;
    check_options(test_.n_variables(), graph_);
    return learn_graph(find_skeleton_, test_, graph_, threads_, max_sets).parents;
  }

  bool is_small(const Parents& parents) const {
    double cells = 0;
    for (std::size_t v = 0; v < parents.size(); ++v) {
      if (options_.max_parents && parents[v].size() > *options_.max_parents) return false;
      double own = class_factor_ * graph_.cardinalities[v];
      for (const std::size_t p : parents[v]) own *= graph_.cardinalities[p];
      cells += own;
    }
    return cells <= kMaxAutomaticCells;
  }

  void check_parents(const Parents& parents) const {
    for (std::size_t v = 0; v < parents.size(); ++v)
      if (options_.max_parents && parents[v].size() > *options_.max_parents)
        throw InvalidInput(join_text("variable ", v, " would have ", parents[v].size(), " parents, but at most ",
                                     *options_.max_parents, " are allowed: raise the threshold of dependence"));
  }

  FindSkeleton find_skeleton_;
  const ConstraintOptions& options_;
  GraphOptions graph_;
  double class_factor_;
  int threads_;
  TestCache test_;
};

/// Throws InvalidInput unless the order is one of all features.
void check_tie_order(const Dataset& data, const std::vector<std::size_t>& tie_order) {
  GraphOptions order;
  order.preference = tie_order;
  check_options(data.n_features(), order);
}

}  // namespace

LearnedGraph learn_pc_graph(std::size_t n_variables, const Dependence& dependence, const GraphOptions& options,
                            int threads) {
  return learn_graph(pc_skeleton, n_variables, dependence, options, threads);
}

LearnedGraph learn_three_phase_graph(std::size_t n_variables, const Dependence& dependence, const GraphOptions& options,
                                     int threads) {
  return learn_graph(three_phase_skeleton, n_variables, dependence, options, threads);
}

LearnedConstraint learn_constraint_augmented(const Dataset& data, const ConstraintOptions& options, int threads) {
  check_tie_order(data, options.tie_order);
  const RowDependence dependence(data, {options.kind, true, options.min_rows}, threads);
  GraphOptions graph;
  graph.max_conditioning = options.max_conditioning;
  graph.preference = preferred_order(data, options.tie_order);
  graph.cardinalities = data.cardinalities();
  ConstraintLearner learner(pc_skeleton, data.n_features(), dependence, options, std::move(graph), data.n_classes(),
                            threads);
  auto found = learner.run();
  return {Structure(std::move(found.parents)), found.threshold, found.n_tests};
}

LearnedConstraint learn_three_phase(const Dataset& data, const ConstraintOptions& options, int threads) {
  check_tie_order(data, options.tie_order);
  const RowDependence dependence(data, {options.kind, false, options.min_rows}, threads);
  const std::size_t n = data.n_features();
  GraphOptions graph;
  graph.max_conditioning = options.max_conditioning;
  graph.preference = preferred_order(data, options.tie_order);
  graph.preference.insert(graph.preference.begin(), n);
  graph.cardinalities = data.cardinalities();
  graph.cardinalities.push_back(data.n_classes());
  ConstraintLearner learner(three_phase_skeleton, n + 1, dependence, options, std::move(graph), 1, threads);
  auto found = learner.run();
  std::vector<std::size_t> class_parents = std::move(found.parents[n]);
  found.parents.pop_back();
  std::vector<bool> class_children(n, false);
  for (std::size_t f = 0; f < n; ++f) class_children[f] = std::erase(found.parents[f], n) > 0;
  return {Structure::general(std::move(found.parents), std::move(class_children), std::move(class_parents)),
          found.threshold, found.n_tests};
}

}  // namespace tanager

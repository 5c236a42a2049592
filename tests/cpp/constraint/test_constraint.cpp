// Graphs by tests of independence: known graphs are found by asking for d-separation; strengths of dependence are those
// of plain sums.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

#include "check.hpp"
#include "reference.hpp"
#include "stopping.hpp"
#include "support/special.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_constraint.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

using Parents = std::vector<std::vector<std::size_t>>;

Parents random_dag(std::mt19937_64& random, std::size_t n, double density) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  Parents parents(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (unit(random) < density) parents[order[i]].push_back(order[j]);
  return parents;
}

bool is_parent(const Parents& parents, std::size_t u, std::size_t v) {
  return std::find(parents[v].begin(), parents[v].end(), u) != parents[v].end();
}

/// Whether x and y are d-separated: not connected in the moral graph of the ancestors of all of them, once what is
/// given is taken out.
bool d_separated(const Parents& parents, std::size_t x, std::size_t y, std::span<const std::size_t> given) {
  const std::size_t n = parents.size();
  std::vector<bool> ancestor(n, false);
  std::vector<std::size_t> open(given.begin(), given.end());
  open.insert(open.end(), {x, y});
  while (!open.empty()) {
    const std::size_t v = open.back();
    open.pop_back();
    if (ancestor[v]) continue;
    ancestor[v] = true;
    open.insert(open.end(), parents[v].begin(), parents[v].end());
  }
  std::vector<bool> joined(n * n, false);
  for (std::size_t v = 0; v < n; ++v) {
    if (!ancestor[v]) continue;
    std::vector<std::size_t> family = parents[v];
    family.push_back(v);
    for (const std::size_t a : family)
      for (const std::size_t b : family) joined[a * n + b] = true;
  }
  std::vector<bool> seen(n, false);
  for (const std::size_t g : given) seen[g] = true;
  open = {x};
  while (!open.empty()) {
    const std::size_t u = open.back();
    open.pop_back();
    if (u == y) return false;
    if (seen[u]) continue;
    seen[u] = true;
    for (std::size_t v = 0; v < n; ++v)
      if (joined[u * n + v]) open.push_back(v);
  }
  return true;
}

Dependence oracle(const Parents& parents) {
  return [&parents](std::size_t x, std::size_t y, std::span<const std::size_t> given) {
    CHECK(std::is_sorted(given.begin(), given.end()));
    return d_separated(parents, x, y, given) ? 0.0 : 1.0;
  };
}

bool has_edge(const Parents& parents, std::size_t u, std::size_t v) {
  return is_parent(parents, u, v) || is_parent(parents, v, u);
}

/// Parents of z that share no edge.
bool is_collider(const Parents& parents, std::size_t x, std::size_t z, std::size_t y) {
  return is_parent(parents, x, z) && is_parent(parents, y, z) && !has_edge(parents, x, y);
}

bool is_acyclic(const Parents& parents) {
  std::vector<bool> done(parents.size(), false);
  for (std::size_t round = 0; round < parents.size(); ++round)
    for (std::size_t v = 0; v < parents.size(); ++v)
      done[v] = done[v] || std::all_of(parents[v].begin(), parents[v].end(), [&](std::size_t p) { return done[p]; });
  return std::all_of(done.begin(), done.end(), [](bool known) { return known; });
}

/// All graphs of the same edges and colliders: those that independence tests cannot distinguish.
std::vector<Parents> equivalent_graphs(const Parents& truth) {
  const std::size_t n = truth.size();
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t v = 0; v < n; ++v)
    for (const std::size_t p : truth[v]) edges.emplace_back(p, v);
  std::vector<Parents> found;
  for (std::size_t directions = 0; directions < std::size_t{1} << edges.size(); ++directions) {
    Parents parents(n);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto [u, v] = edges[e];
      (directions >> e & 1) != 0 ? parents[u].push_back(v) : parents[v].push_back(u);
    }
    bool same = is_acyclic(parents);
    for (std::size_t z = 0; z < n && same; ++z)
      for (std::size_t x = 0; x < n && same; ++x)
        for (std::size_t y = 0; y < n && same; ++y)
          same = x == y || is_collider(parents, x, z, y) == is_collider(truth, x, z, y);
    if (same) found.push_back(parents);
  }
  return found;
}

using Learn = LearnedGraph (*)(std::size_t, const Dependence&, const GraphOptions&, int);

void check_found(Learn learn, const Parents& truth) {
  const std::size_t n = truth.size();
  const LearnedGraph found = learn(n, oracle(truth), {}, 1);
  CHECK(is_acyclic(found.parents));
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v) {
      if (u == v) continue;
      CHECK_EQ(found.pattern.adjacent(u, v), has_edge(truth, u, v));
      CHECK_EQ(has_edge(found.parents, u, v), has_edge(truth, u, v));
      for (std::size_t w = 0; w < n; ++w)
        if (w != u && w != v) CHECK_EQ(is_collider(found.parents, u, w, v), is_collider(truth, u, w, v));
    }
}

/// Directions are those that all graphs agree on that have the same edges and colliders.
void check_pattern(Learn learn, const Parents& truth) {
  const std::size_t n = truth.size();
  const PartialDag pattern = learn(n, oracle(truth), {}, 1).pattern;
  const auto graphs = equivalent_graphs(truth);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v) {
      if (u == v || !has_edge(truth, u, v)) continue;
      const bool in_all =
          std::all_of(graphs.begin(), graphs.end(), [&](const Parents& graph) { return is_parent(graph, u, v); });
      CHECK_EQ(pattern.is_arc(u, v), in_all);
    }
}

double plain_information(const Dataset& data, std::size_t x, std::size_t y, const std::vector<std::size_t>& given,
                         bool given_class) {
  const std::size_t n = data.n_features();
  const auto code = [&](std::size_t v, std::size_t row) { return v == n ? data.target()[row] : data.feature(v)[row]; };
  const auto weight = [&](std::size_t row) { return data.is_weighted() ? data.weights()[row] : 1.0; };
  std::vector<std::size_t> all = given;
  if (given_class) all.push_back(n);
  double sum = 0, rows = 0;
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    const auto observed = [&](std::size_t r) {
      if (code(x, r) == kMissing || code(y, r) == kMissing) return false;
      return std::all_of(all.begin(), all.end(), [&](std::size_t v) { return code(v, r) != kMissing; });
    };
    if (!observed(row)) continue;
    double same = 0, of_x = 0, of_y = 0, of_xy = 0;
    for (std::size_t other = 0; other < data.n_rows(); ++other) {
      if (!observed(other)) continue;
      if (!std::all_of(all.begin(), all.end(), [&](std::size_t v) { return code(v, row) == code(v, other); })) continue;
      same += weight(other);
      if (code(x, row) == code(x, other)) of_x += weight(other);
      if (code(y, row) == code(y, other)) of_y += weight(other);
      if (code(x, row) == code(x, other) && code(y, row) == code(y, other)) of_xy += weight(other);
    }
    rows += weight(row);
    if (weight(row) > 0) sum += weight(row) * std::log(of_xy * same / (of_x * of_y));
  }
  return rows > 0 ? sum / rows : 0;
}

Dataset some_data(std::uint64_t seed, std::size_t n_rows, bool weighted, double missing, std::uint32_t large = 3) {
  std::vector<reference::ColumnSpec> specs;
  for (const std::uint32_t r : {2u, 3u, 2u, large, 2u}) specs.push_back({r, missing, 0.3, r == 3});
  return reference::random_dataset(specs, {2, 0, 0.2, false}, n_rows, weighted, seed);
}

}  // namespace

TEST(tails_of_chi_square_are_right) {
  // By arbitrary-precision arithmetic.
  CHECK_NEAR(log_chi_square_tail(3.841458820694124, 1), std::log(0.05), 1e-13);
  CHECK_NEAR(log_chi_square_tail(2, 2), -1.0, 1e-14);
  CHECK_NEAR(log_chi_square_tail(2000, 2), -1000.0, 1e-10);
  CHECK_NEAR(log_chi_square_tail(1e-8, 2), -5e-9, 1e-22);
  CHECK_NEAR(log_chi_square_tail(6, 4), -3 + std::log(4.0), 1e-13);
  CHECK_NEAR(log_chi_square_tail(20, 6), -10 + std::log(1 + 10 + 50.0), 1e-12);
  CHECK_EQ(log_chi_square_tail(0, 5), 0.0);
  CHECK_EQ(log_chi_square_tail(5, 0), 0.0);
}

TEST(strengths_are_those_of_plain_sums) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const bool given_class = seed % 2 != 0, weighted = seed % 3 == 1;
    // Values enough that tables are larger than the rows fill.
    const Dataset data = some_data(seed, 60, weighted, seed % 4 == 2 ? 0.15 : 0.0, seed % 5 == 0 ? 200 : 3);
    const RowDependence dependence(data, {DependenceKind::kMutualInformation, given_class, 0});
    const std::vector<std::vector<std::size_t>> sets{{}, {3}, {2, 4}, {2, 3, 4}};
    for (const auto& set : sets) {
      const double expected = plain_information(data, 0, 1, set, given_class);
      CHECK_NEAR(dependence.find(0, 1, set).information, expected, 1e-12);
      CHECK_EQ(dependence(0, 1, set), dependence(1, 0, set));
    }
    if (!given_class)
      CHECK_NEAR(dependence.find(1, 5, {}).information, plain_information(data, 1, 5, {}, false), 1e-12);
  }
}

TEST(rows_alike_may_be_joined) {
  const Dataset once = some_data(3, 80, true, 0.1);
  std::vector<std::size_t> rows;
  std::vector<double> weights;
  for (std::size_t row = 0; row < once.n_rows(); ++row)
    for (int copy = 0; copy < 1 + static_cast<int>(row % 3); ++copy) rows.push_back(row);
  const Dataset plain(once.features(), once.target());
  for (std::size_t row = 0; row < once.n_rows(); ++row) weights.push_back(1.0 + static_cast<double>(row % 3));
  const RowDependence a(plain.subset(rows)), b(Dataset(once.features(), once.target(), weights));
  const std::size_t given[] = {2, 3, 5};
  for (std::size_t size = 0; size <= 3; ++size) {
    CHECK_EQ(a.find(0, 1, {given, size}).information, b.find(0, 1, {given, size}).information);
    CHECK_EQ(a.find(0, 1, {given, size}).degrees, b.find(0, 1, {given, size}).degrees);
    CHECK_EQ(a.find(0, 1, {given, size}).rows, b.find(0, 1, {given, size}).rows);
  }
}

TEST(degrees_and_p_values) {
  // x and y are alike where z = 0, and x has one value where z = 1.
  const Dataset data(
      {Column(std::vector<std::uint8_t>{0, 1, 0, 1, 0, 0}, 2), Column(std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1}, 3),
       Column(std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1}, 2)},
      Column(std::vector<std::uint8_t>{0, 0, 1, 1, 0, 1}, 2));
  const std::size_t z[] = {2};
  const RowDependence dependence(data, {DependenceKind::kG2, false, 0});
  const DependenceFinding found = dependence.find(0, 1, z);
  CHECK_EQ(found.degrees, 1.0);
  CHECK_EQ(found.configurations, 2.0);
  CHECK_NEAR(found.information, 4.0 / 6 * std::log(2.0), 1e-15);
  CHECK_NEAR(dependence(0, 1, z), -log_chi_square_tail(8 * std::log(2.0), 1), 1e-12);
  // Three rows for each of the two values that z has.
  const auto with = [&](double min_rows) {
    return RowDependence(data, {DependenceKind::kMutualInformation, false, min_rows})(0, 1, z);
  };
  CHECK(std::isfinite(with(3)));
  CHECK(std::isinf(with(3.1)));
}

TEST(tests_of_independence_are_checked) {
  const Dataset data = some_data(1, 20, false, 0);
  const std::size_t given[] = {0};
  const RowDependence plain(data), given_class(data, {DependenceKind::kG2, true, 5});
  CHECK_THROWS(InvalidInput, plain(0, 1, given), "occurs twice");
  CHECK_THROWS(InvalidInput, plain(0, 6, {}), "expected a variable below 6 in a test of independence, got 6");
  CHECK_THROWS(InvalidInput, given_class(0, 5, {}), "below 5 in a test of independence");
  const DependenceOptions wrong{DependenceKind::kG2, true, -1};
  CHECK_THROWS(InvalidInput, RowDependence(data, wrong), "min_rows");
  GraphOptions options;
  options.threshold = std::nan("");
  CHECK_THROWS(InvalidInput, learn_pc_graph(2, oracle(Parents(2)), options), "threshold: expected a number >= 0");
  options.threshold = 0;
  options.preference = {0, 0};
  CHECK_THROWS(InvalidInput, learn_pc_graph(2, oracle(Parents(2)), options), "each of them once");
  options.preference = {};
  options.cardinalities = {2};
  CHECK_THROWS(InvalidInput, learn_pc_graph(2, oracle(Parents(2)), options), "of 2 variables, got 1");
}

TEST(the_counting_of_pairs_can_be_cancelled) {
  // With weights that are not integers every pair takes a pass over the rows.
  const std::vector<std::uint8_t> codes{0, 1, 0, 1};
  const Dataset data(std::vector<Column>(10, Column(codes, 2)), Column(codes, 2), {0.5, 0.25, 1.5, 0.75});
  for (const int threads : {1, 2}) {
    CHECK_STOPS(RowDependence(data, {}, threads));
    CHECK_STOPS(learn_three_phase(data, {}, threads));
    CHECK_STOPS(learn_constraint_augmented(data, {}, threads));
  }
}

TEST(pc_finds_known_graphs) {
  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 150; ++repeat)
    check_found(learn_pc_graph, random_dag(random, 2 + repeat % 8, 0.1 + 0.05 * (repeat % 8)));
  for (int repeat = 0; repeat < 60; ++repeat)
    check_pattern(learn_pc_graph, random_dag(random, 5, 0.2 + 0.1 * (repeat % 6)));
}

TEST(three_phases_find_known_graphs) {
  std::mt19937_64 random(8);
  for (int repeat = 0; repeat < 150; ++repeat)
    check_found(learn_three_phase_graph, random_dag(random, 2 + repeat % 8, 0.1 + 0.05 * (repeat % 8)));
  for (int repeat = 0; repeat < 60; ++repeat)
    check_pattern(learn_three_phase_graph, random_dag(random, 5, 0.2 + 0.1 * (repeat % 6)));
}

TEST(small_graphs_and_limits) {
  for (const Learn learn : {Learn{learn_pc_graph}, Learn{learn_three_phase_graph}}) {
    CHECK(learn(0, oracle({}), {}, 1).parents.empty());
    CHECK(learn(1, oracle(Parents(1)), {}, 1).parents == Parents(1));
    // A chain whose ends no test may separate.
    const Parents chain{{}, {0}, {1}};
    GraphOptions options;
    options.max_conditioning = 0;
    CHECK(learn(3, oracle(chain), options, 1).pattern.adjacent(0, 2));
    options.max_conditioning = 1;
    CHECK(!learn(3, oracle(chain), options, 1).pattern.adjacent(0, 2));
    CHECK(learn(3, oracle(chain), options, 1).parents == (Parents{{}, {0}, {1}}));
    options.preference = {2, 0, 1};
    CHECK(learn(3, oracle(chain), options, 1).parents == (Parents{{1}, {2}, {}}));
    const Dependence slow = [&](std::size_t x, std::size_t y, std::span<const std::size_t> given) {
      for (const auto start = std::chrono::steady_clock::now();
           std::chrono::steady_clock::now() - start < std::chrono::milliseconds(6);) {
      }
      return oracle(chain)(x, y, given);
    };
    CHECK_STOPS(learn(3, slow, options, 2));
  }
}

TEST(contradictions_end_in_acyclic_graphs) {
  // Tests that answer at random, but always the same.
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Dependence moody = [seed](std::size_t x, std::size_t y, std::span<const std::size_t> given) {
      std::uint64_t hash = seed * 1000 + std::min(x, y) * 50 + std::max(x, y);
      for (const std::size_t g : given) hash = hash * 31 + g + 1;
      return static_cast<double>(std::mt19937_64(hash)() % 100) < 35 ? 0.0 : 1.0;
    };
    for (const Learn learn : {Learn{learn_pc_graph}, Learn{learn_three_phase_graph}}) {
      GraphOptions options;
      options.max_conditioning = 1;
      const LearnedGraph found = learn(8, moody, options, 1);
      CHECK(is_acyclic(found.parents));
      CHECK(found.pattern == learn(8, moody, options, 3).pattern);
      for (std::size_t u = 0; u < 8; ++u)
        for (std::size_t v = 0; v < 8; ++v) {
          if (u == v) continue;
          CHECK_EQ(found.pattern.adjacent(u, v), has_edge(found.parents, u, v));
          if (found.pattern.is_arc(u, v)) CHECK(is_parent(found.parents, u, v));
        }
    }
  }
}

TEST_MAIN

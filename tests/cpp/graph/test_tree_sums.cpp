// Sums over spanning trees against the enumeration of all trees.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "check.hpp"
#include "stopping.hpp"
#include "tanager/errors.hpp"
#include "tanager/tree_sums.hpp"
#include "trees.hpp"

using namespace tanager;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Reference {
  double log_sum = -kInfinity, entropy = 0, log_best = -kInfinity;
  std::vector<double> edges;  // [u][v]
  std::map<std::vector<Edge>, double> probability;
};

/// Everything from the products of all trees, relative to the largest.
Reference enumerate(std::size_t n, const std::vector<double>& logs) {
  Reference found;
  std::vector<std::pair<std::vector<Edge>, double>> trees;
  for (auto& tree : reference::all_trees(n)) {
    double log = 0;
    for (const auto& [u, v] : tree) log += logs[u * n + v];
    found.log_best = std::max(found.log_best, log);
    trees.emplace_back(std::move(tree), log);
  }
  double sum = 0;
  for (const auto& [tree, log] : trees) sum += std::exp(log - found.log_best);
  found.log_sum = found.log_best + std::log(sum);
  found.edges.assign(n * n, 0.0);
  for (const auto& [tree, log] : trees) {
    const double p = std::exp(log - found.log_best) / sum;
    if (p > 0) found.entropy -= p * (log - found.log_best - std::log(sum));
    for (const auto& [u, v] : tree) {
      found.edges[u * n + v] += p;
      found.edges[v * n + u] += p;
    }
    found.probability[tree] = p;
  }
  found.log_best -= found.log_sum;
  return found;
}

std::vector<double> random_logs(std::size_t n, double spread, double absent, std::mt19937_64& random) {
  std::uniform_real_distribution<double> log(-spread, spread), unit(0, 1);
  std::vector<double> logs(n * n, -kInfinity);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v)
      if (v == u + 1 || unit(random) >= absent)                               // the chain keeps the graph connected
        logs[u * n + v] = logs[v * n + u] = std::round(log(random) * 4) / 4;  // some are equal
  return logs;
}

}  // namespace

TEST(sums_probabilities_and_entropy_are_those_of_all_trees) {
  std::mt19937_64 random(1);
  for (std::size_t n = 1; n <= 6; ++n)
    for (const double spread : {0.0, 1.0, 5.0, 40.0, 700.0})
      for (const double absent : {0.0, 0.5})
        for (int repeat = 0; repeat < (n < 6 ? 10 : 3); ++repeat) {
          const auto logs = random_logs(n, spread, absent, random);
          const Reference expected = enumerate(n, logs);
          const auto weights = EdgeWeights::from_logs(n, logs);
          const double tolerance = 1e-13 * std::max(1.0, static_cast<double>(n) * spread);
          CHECK_NEAR(tree_sum(weights).log(), expected.log_sum, tolerance);
          const TreeDistribution trees = tree_distribution(weights);
          CHECK_NEAR(trees.log_sum, expected.log_sum, tolerance);
          CHECK_NEAR(trees.log_best_probability, expected.log_best, tolerance);
          CHECK_NEAR(std::log(expected.probability.at(trees.best_tree)), expected.log_best, tolerance);
          CHECK_NEAR(tree_entropy(weights), expected.entropy, 10 * tolerance);
          const auto edges = edge_probabilities(weights), threaded = edge_probabilities(weights, 3);
          CHECK(edges == threaded);
          for (std::size_t e = 0; e < n * n; ++e) CHECK_NEAR(edges[e], expected.edges[e], tolerance);
        }
}

TEST(equal_weights_count_trees_as_cayley_did) {
  for (std::size_t n = 1; n <= 60; ++n) {
    const std::vector<double> logs(n * n, 0.0);
    const auto weights = EdgeWeights::from_logs(n, logs);
    const double count = n == 1 ? 0 : static_cast<double>(n - 2) * std::log(static_cast<double>(n));
    CHECK_NEAR(tree_sum(weights).log(), count, 1e-13 * std::max(1.0, count));
    CHECK_NEAR(tree_entropy(weights), count, 1e-12 * std::max(1.0, count));
    for (const auto& [u, v] : tree_distribution(weights).best_tree) CHECK(u == 0 && v > 0);  // ties: the lowest pair
  }
}

TEST(edge_probabilities_sum_to_the_size_of_a_tree) {
  std::mt19937_64 random(2);
  for (const std::size_t n : {std::size_t{2}, std::size_t{7}, std::size_t{23}, std::size_t{24}, std::size_t{64}})
    for (const double spread : {1.0, 100.0, 14000.0}) {
      const auto weights = EdgeWeights::from_logs(n, random_logs(n, spread, 0.2, random));
      const auto edges = edge_probabilities(weights, 2);
      double sum = 0;
      for (std::size_t u = 0; u < n; ++u)
        for (std::size_t v = 0; v < u; ++v) {
          CHECK(edges[u * n + v] >= 0 && edges[u * n + v] <= 1 && edges[u * n + v] == edges[v * n + u]);
          sum += edges[u * n + v];
        }
      CHECK_NEAR(sum, static_cast<double>(n - 1), 1e-12);
      CHECK(tree_entropy(weights) >= 0);
    }
}

TEST(a_sure_tree_leaves_no_doubt_and_no_entropy) {
  // The best tree's rival is 2^-200 as probable: nothing of that may be lost in a subtraction.
  EdgeWeights weights(3);
  weights.set(0, 1, {1, 5000});
  weights.set(1, 2, {1, -3000});
  weights.set(0, 2, {1, -3200});
  const TreeDistribution trees = tree_distribution(weights);
  CHECK(trees.best_tree == (std::vector<Edge>{{0, 1}, {1, 2}}));
  CHECK_NEAR(trees.log_best_probability / -std::exp2(-200), 1.0, 1e-14);
  CHECK_NEAR(tree_entropy(weights) / (std::exp2(-200) * (1 + 200 * std::log(2.0))), 1.0, 1e-12);
}

TEST(samples_follow_the_distribution) {
  std::mt19937_64 random(3);
  const std::size_t n_trees = 20000;
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{5}})
    for (const double spread : {0.0, 1.0, 3.0})
      for (const double absent : {0.0, 0.4}) {
        const auto logs = random_logs(n, spread, absent, random);
        const auto weights = EdgeWeights::from_logs(n, logs);
        const auto trees = sample_trees(weights, n_trees, 7), threaded = sample_trees(weights, n_trees, 7, 3);
        CHECK(trees == threaded);
        std::map<std::vector<Edge>, std::size_t> seen;
        for (const auto& tree : trees) ++seen[tree];
        // Chi-square over the trees that are expected often enough, the others taken together.
        double chi = 0, rest = 0;
        std::size_t cells = 0, rest_seen = n_trees;
        const Reference expected = enumerate(n, logs);
        for (const auto& [tree, p] : expected.probability) {
          const double mean = p * static_cast<double>(n_trees);
          if (mean < 5) {
            rest += mean;
            continue;
          }
          const auto found = static_cast<double>(seen[tree]);
          rest_seen -= seen[tree];
          chi += (found - mean) * (found - mean) / mean;
          ++cells;
        }
        if (rest >= 5) {
          chi += (static_cast<double>(rest_seen) - rest) * (static_cast<double>(rest_seen) - rest) / rest;
          ++cells;
        } else {
          CHECK(static_cast<double>(rest_seen) < 40);
        }
        const double freedom = static_cast<double>(cells) - 1;
        CHECK(chi <= freedom + 5 * std::sqrt(2 * freedom) + 10);
      }
}

TEST(samples_of_clusters_far_apart_end) {
  // Two clusters, 2^-5000 apart: a random walk would never leave the first. Between them all four edges are alike.
  EdgeWeights weights(4);
  weights.set(0, 1, {1, 0});
  weights.set(2, 3, {1, 0});
  for (std::size_t u : {0u, 1u})
    for (std::size_t v : {2u, 3u}) weights.set(u, v, {1, -5000});
  std::map<std::vector<Edge>, int> seen;
  for (const auto& tree : sample_trees(weights, 4000, 1)) ++seen[tree];
  CHECK_EQ(seen.size(), 4u);
  for (const auto& [tree, count] : seen) CHECK(std::abs(count - 1000) < 150);
}

TEST(a_sampler_draws_the_same_trees_in_any_parts) {
  std::mt19937_64 random(4);
  const auto weights = EdgeWeights::from_logs(9, random_logs(9, 3, 0.2, random));
  const auto trees = sample_trees(weights, 100, 5);
  const TreeSampler sampler(weights);
  CHECK_EQ(sampler.n_nodes(), 9u);
  CHECK(sampler.draw(0, 30, 5) == std::vector(trees.begin(), trees.begin() + 30));
  CHECK(sampler.draw(30, 70, 5, 3) == std::vector(trees.begin() + 30, trees.end()));
  CHECK(sampler.draw(0, 100, 6) != trees);
}

TEST(logarithms_become_weights_to_the_last_place) {
  // ln of 2^k is rounded: what it stands for is 2^k e^error, and the error is known from ln 2 in two parts.
  for (const double k : {3.0, -700.0, 20001.0, -1234567.0, 0x1p39 + 1}) {
    constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;
    const double log = k * kLn2, error = std::fma(-k, kLn2, log) - k * kLn2Rest;
    const Scaled weight = EdgeWeights::from_logs(2, std::vector<double>{0, log, log, 0})(0, 1);
    CHECK_NEAR(weight.mantissa * std::exp2(static_cast<double>(weight.exponent) - k) / std::exp(error), 1.0, 4e-16);
    CHECK_NEAR(weight.log(), log, 1e-15 * std::abs(log));
  }
  // Just below one, where the logarithms of mantissa and exponent cancel.
  CHECK_NEAR((Scaled{2 - 0x1p-30, -1}).log() / std::log1p(-0x1p-31), 1.0, 1e-15);
}

TEST(bad_weights_are_rejected) {
  EdgeWeights weights(3);
  CHECK_THROWS(InvalidInput, EdgeWeights(0), "at least one node");
  CHECK_THROWS(InvalidInput, weights.set(0, 3, {1, 0}), "two different nodes below 3");
  CHECK_THROWS(InvalidInput, weights.set(1, 1, {1, 0}), "two different nodes");
  CHECK_THROWS(InvalidInput, weights.set(0, 1, {-1, 0}), "expected a finite weight >= 0");
  CHECK_THROWS(InvalidInput, weights.set(0, 1, {kInfinity, 0}), "inf");
  CHECK_THROWS(InvalidInput, weights.set(0, 1, {std::nan(""), 0}), "nan");
  CHECK_THROWS(InvalidInput, weights.set(0, 1, {1, kMaxWeightExponent + 1}), "from -2^40 to 2^40");
  weights.set(0, 1, {1, 0});
  CHECK_EQ(tree_sum(weights).log(), -kInfinity);
  CHECK_THROWS(InvalidInput, edge_probabilities(weights), "connect the first node with 1 of the 2 others");
  CHECK_THROWS(InvalidInput, tree_entropy(weights), "no spanning tree");
  CHECK_THROWS(InvalidInput, sample_trees(weights, 1, 0), "no spanning tree");
  CHECK_THROWS(InvalidInput, EdgeWeights::from_logs(2, std::vector<double>{0, kInfinity, 0, 0}), "minus infinity");
  CHECK_THROWS(InvalidInput, EdgeWeights::from_logs(2, std::vector<double>{0, std::nan(""), 0, 0}),
               "got nan for edge (0, 1)");
  CHECK_THROWS(InvalidInput, EdgeWeights::from_logs(2, std::vector<double>{0, 1}), "2 x 2");
}

TEST(edge_probabilities_and_entropy_can_be_stopped) {
  const EdgeWeights weights = EdgeWeights::from_logs(60, std::vector<double>(60 * 60, 0.0));
  for (const int threads : {1, 2}) {
    CHECK_STOPS(edge_probabilities(weights, threads));
    CHECK_STOPS(tree_entropy(weights, threads));
  }
}

TEST_MAIN

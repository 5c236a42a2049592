// The approximate conditional log-likelihood: special functions and constants against numbers of arbitrary-precision
// arithmetic, scores against their definition, branchings and trees against all rooted trees.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "check.hpp"
#include "reference.hpp"
#include "simd/vector_log.hpp"
#include "structure/acll_pairs.hpp"
#include "support/special.hpp"
#include "tanager/branching.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/learn_trees.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

using Tree = std::vector<std::optional<std::size_t>>;

double weight_of(const Tree& parent, const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t v = 0; v < parent.size(); ++v)
    if (parent[v]) sum += weights[*parent[v] * parent.size() + v];
  return sum;
}

bool is_tree_of(const Tree& parent, std::size_t root) {
  for (std::size_t v = 0; v < parent.size(); ++v) {
    std::size_t steps = 0;
    for (std::size_t at = v; parent[at]; at = *parent[at])
      if (++steps > parent.size()) return false;
    if (!parent[v] != (v == root)) return false;
  }
  return true;
}

/// The greatest weight of all trees with each root, by trying every choice of parents.
std::vector<double> best_by_root(std::size_t n, const std::vector<double>& weights) {
  std::vector<double> best(n, -INFINITY);
  for (std::size_t root = 0; root < n; ++root) {
    Tree parent(n);
    const auto fill = [&](const auto& self, std::size_t v) -> void {
      if (v == n) {
        if (is_tree_of(parent, root)) best[root] = std::max(best[root], weight_of(parent, weights));
        return;
      }
      if (v == root) return self(self, v + 1);
      for (std::size_t u = 0; u < n; ++u) {
        if (u == v) continue;
        parent[v] = u;
        self(self, v + 1);
      }
    };
    fill(fill, 0);
  }
  return best;
}

/// eq 28 of one family, from weights alpha N + beta (sum over the other classes) as the paper writes them.
double score_by_definition(const CountTable& table, double beta, double least) {
  const std::size_t r = table.dims.back(), s = table.n_classes;
  double score = 0;
  for (std::size_t start = 0; start < table.cells.size(); start += r * s)
    for (std::size_t c = 0; c < s; ++c) {
      std::vector<double> weight(r, 0.0), raised(r, 0.0);
      for (std::size_t k = 0; k < r; ++k) {
        for (std::size_t other = 0; other < s; ++other)
          weight[k] += (other == c ? 1 + beta : beta) * table.cells[start + k * s + other];
        raised[k] = std::max(weight[k], least);
      }
      const double sum = std::accumulate(raised.begin(), raised.end(), 0.0);
      for (std::size_t k = 0; k < r; ++k) score += weight[k] * std::log(raised[k] / sum);
    }
  return score;
}

Dataset paper_example() {
  return Dataset({Column(std::vector<std::uint8_t>{0, 0, 1, 1}, 2), Column(std::vector<std::uint8_t>{0, 1, 1, 1}, 2)},
                 Column(std::vector<std::uint8_t>{1, 1, 0, 1}, 2), {});
}

}  // namespace

TEST(digamma_and_trigamma) {
  CHECK_NEAR(digamma(1), -0.57721566490153286061, 1e-15);
  CHECK_NEAR(digamma(0.3), -3.5025242222001331249, 4e-15);
  CHECK_NEAR(digamma(1.4616), -0.000031106251230341649658, 1e-15);
  CHECK_NEAR(digamma(3.7), 1.1671535393615114409, 1e-15);
  CHECK_NEAR(digamma(1e5), 11.512920464961895087, 1e-14);
  CHECK_NEAR(digamma(1e-8), -100000000.57721564636, 1e-7);
  CHECK_NEAR(trigamma(1), 1.6449340668482264365, 1e-15);
  CHECK_NEAR(trigamma(0.01), 10001.621213528312804, 1e-11);
  CHECK_NEAR(trigamma(3.7), 0.31003785767003830216, 1e-15);
  CHECK_NEAR(trigamma(17), 0.060587533403239361782, 1e-16);
  CHECK_NEAR(trigamma(1e5), 1.0000050000166666667e-5, 1e-20);
}

TEST(vector_logarithms_are_within_an_ulp) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-460.0, 460.0), near_one(0.5, 2.0);
  for (int i = 0; i < 100000; ++i) {
    const double x = i % 2 ? std::exp(exponent(random)) : near_one(random), expected = std::log(x);
    CHECK_NEAR(vector_log(x), expected, 2 * (std::nextafter(std::abs(expected), INFINITY) - std::abs(expected)));
  }
  CHECK_EQ(vector_log(1.0), 0.0);
}

TEST(constants_of_the_table) {
  const std::vector<std::size_t> classes{2, 3, 4, 5, 10, 26};
  const std::vector<double> uniform{-0.338766483288, -0.200173155727, -0.142314291220,
                                    -0.110547703813, -0.052407246633, -0.019569357093};
  const std::vector<double> beta{-0.391941711812, -0.239921184211, -0.172355516719,
                                 -0.134349563641, -0.063714954911, -0.023608290727};
  const std::vector<double> gamma{0.617950235613, 0.598261394403,  0.492418609651,
                                  0.375098544413, -0.109612348604, -0.915654602355};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const AcllConstants dirichlet = dirichlet_acll_constants(classes[i], 1, 1000);
    CHECK_NEAR(uniform_acll_constants(classes[i]).beta, uniform[i], 1e-12);
    CHECK_NEAR(dirichlet.beta, beta[i], 1e-12);
    CHECK_NEAR(dirichlet.gamma, gamma[i], 1e-12);
  }
  // Equation 13, in natural logarithms.
  const double square = std::acos(-1.0) * std::acos(-1.0);
  const AcllConstants two = uniform_acll_constants(2, 0.1);
  CHECK_NEAR(two.beta, (square - 18) / 24, 2e-16);
  CHECK_NEAR(two.gamma, square / 12 - 2 * std::log(2.0) - (square - 6) / 12 * std::log(0.1), 5e-15);
  // E ln S of many classes, from the moments of the sum; 65,534 is the most a class column holds.
  const double s = 65534;
  const double log_sum = std::log(s / 2) - 1 / (6 * s) - 1 / (12 * s * s);
  const AcllConstants many = uniform_acll_constants(65534);
  CHECK_NEAR(many.gamma, s * many.beta - log_sum, 1e-13);
  CHECK_NEAR(many.beta * s, -0.5, 1e-4);
}

TEST(constants_of_one_class_and_of_limits) {
  CHECK_EQ(uniform_acll_constants(1, 0.3).beta, -1.0);
  CHECK_EQ(uniform_acll_constants(1, 0.3).gamma, 0.0);
  CHECK_EQ(dirichlet_acll_constants(1, 2, 7).beta, -1.0);
  CHECK_EQ(dirichlet_acll_constants(1, 2, INFINITY).gamma, 0.0);
  CHECK_NEAR(dirichlet_acll_constants(3, 0.7, 1e13).beta, dirichlet_acll_constants(3, 0.7, INFINITY).beta, 1e-12);
  CHECK_EQ(dirichlet_acll_constants(3, 0.7, INFINITY).gamma, INFINITY);
  CHECK_THROWS(InvalidInput, uniform_acll_constants(0), "at least one");
  CHECK_THROWS(InvalidInput, uniform_acll_constants(2, 0), "p: expected a number > 0");
  CHECK_THROWS(InvalidInput, dirichlet_acll_constants(2, 0, 1), "a: expected a number > 0");
  CHECK_THROWS(InvalidInput, dirichlet_acll_constants(2, 1, NAN), "b: expected a number > 0");
  CHECK_THROWS(InvalidInput, dirichlet_acll_constants(2, 1e-300, 1), "fit a double");
}

TEST(the_example_of_theorem_3_9) {
  const CountSet counts = count(paper_example(), CountScope::kPairs);
  const Structure forth({{}, {0}}), back({{1}, {}});
  AcllOptions options{AcllAssumption::kUniform, 1.0, {}, 1.0};
  const double gamma = 4 * acll_constants(counts, options).gamma;
  CHECK_NEAR(acll_score(forth, counts, options) - gamma, -2.100299, 5e-7);
  CHECK_NEAR(acll_score(back, counts, options) - gamma, -2.224038, 5e-7);
  options.pseudo_counts = 5;  // every weight is below: only the number of values is left
  CHECK_NEAR(acll_score(forth, counts, options), acll_score(back, counts, options), 1e-14);
}

TEST(scores_and_gains_are_those_of_the_definition) {
  std::mt19937_64 random(4);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const bool weighted = repeat % 3 == 2;
    const double missing = repeat % 2 ? 0.2 : 0.0;
    const std::uint32_t classes = 1 + static_cast<std::uint32_t>(repeat % 6);
    const Dataset data = reference::random_dataset({{2, missing, 0.3}, {3}, {1}, {5, missing, 0.8}, {4, 0, 0.5}},
                                                   {classes}, 200, weighted, static_cast<std::uint64_t>(repeat));
    const CountSet counts = count(data, CountScope::kPairs);
    const double beta = classes == 1 ? -1.0 : -0.5 / classes, least = repeat % 4 ? 5.0 : 0.5;
    for (Isa isa = Isa::kBaseline; isa <= supported_isa(); isa = static_cast<Isa>(static_cast<int>(isa) + 1)) {
      const AcllPairs pairs(counts, beta, least, isa), baseline(counts, beta, least, Isa::kBaseline);
      std::vector<double> gains(25, 0.0), plain(25, 0.0);
      for (std::size_t u = 0; u < 5; ++u) {
        pairs.weigh_row(u, gains);
        baseline.weigh_row(u, plain);
      }
      CHECK(gains == plain);
      for (std::size_t u = 0; u < 5; ++u)
        for (std::size_t v = 0; v < 5; ++v) {
          if (u == v) continue;
          // What v has alone, too, is that of the rows where both are observed.
          const CountTable joint = counts.table({v, {u}});
          CountTable alone{{v, {}}, {joint.dims[1]}, classes, std::vector<double>(joint.dims[1] * classes, 0.0)};
          for (std::size_t i = 0; i < joint.cells.size(); ++i) alone.cells[i % alone.cells.size()] += joint.cells[i];
          const double observed = std::accumulate(joint.cells.begin(), joint.cells.end(), 0.0);
          CHECK_NEAR(acll_family_score(joint, beta, least), score_by_definition(joint, beta, least), 1e-10);
          const double gain = score_by_definition(joint, beta, least) - score_by_definition(alone, beta, least);
          CHECK_NEAR(gains[u * 5 + v], gain * counts.n_rows() / observed, 1e-9);
        }
    }
  }
}

TEST(branchings_are_the_best_of_all_rooted_trees) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> real(-2.0, 1.0);
  for (int repeat = 0; repeat < 120; ++repeat) {
    const std::size_t n = 1 + static_cast<std::size_t>(repeat % 5);
    std::vector<double> weights(n * n);
    // Integers have ties, and sums of them no rounding.
    for (double& w : weights) w = repeat % 2 ? real(random) : static_cast<double>(random() % 4) - 2;
    const std::vector<double> best = best_by_root(n, weights);
    const Tree free = maximum_branching(n, weights);
    const auto root = static_cast<std::size_t>(std::find(free.begin(), free.end(), std::nullopt) - free.begin());
    CHECK(is_tree_of(free, root));
    CHECK_NEAR(weight_of(free, weights), *std::max_element(best.begin(), best.end()), 1e-12);
    if (repeat % 2 == 0)
      CHECK_EQ(root, static_cast<std::size_t>(std::max_element(best.begin(), best.end()) - best.begin()));
    for (std::size_t r = 0; r < n; ++r) {
      const Tree fixed = maximum_branching(n, weights, r);
      CHECK(is_tree_of(fixed, r));
      CHECK_NEAR(weight_of(fixed, weights), best[r], 1e-12);
    }
  }
}

TEST(branchings_prefer_the_lowest_and_reject_invalid_weights) {
  CHECK(maximum_branching(0, {}).empty());
  CHECK((maximum_branching(4, std::vector<double>(16, 0.25)) == Tree{std::nullopt, 0, 0, 0}));
  std::vector<double> weights(9, 0.0);
  weights[0] = NAN;  // no arc
  CHECK_EQ(maximum_branching(3, weights).size(), std::size_t{3});
  weights[1] = INFINITY;
  CHECK_THROWS(InvalidInput, maximum_branching(3, weights), "got inf for the arc (0, 1)");
  weights[1] = NAN;
  CHECK_THROWS(InvalidInput, maximum_branching(3, weights), "expected weights from -");
  CHECK_THROWS(InvalidInput, maximum_branching(3, std::vector<double>(8)), "needs 9 weights");
  CHECK_THROWS(InvalidInput, maximum_branching(2, std::vector<double>(4), 2), "root: expected a node below 2");
}

TEST(trees_have_the_best_score_of_all_and_do_not_depend_on_threads) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Dataset data =
        reference::random_dataset({{2}, {3, 0, 0.4}, {2}, {4, 0, 0.6}}, {3}, 60, false, seed);  // complete
    const CountSet counts = count(data, CountScope::kPairs);
    const AcllTreeOptions options{{seed % 2 ? AcllAssumption::kUniform : AcllAssumption::kDirichlet, 1.0, {}, 1.0}, {}};
    const Structure tree = learn_acll_tree(counts, options);
    CHECK(tree.is_tan());
    CHECK(tree == learn_acll_tree(counts, options, 3));
    double best = -INFINITY;
    for (std::size_t code = 0; code < 256; ++code) {  // parent of each feature; its own number means none
      std::vector<std::vector<std::size_t>> parents(4);
      std::size_t roots = 0;
      for (std::size_t f = 0; f < 4; ++f) {
        const std::size_t parent = code >> (2 * f) & 3;
        if (parent == f)
          ++roots;
        else
          parents[f] = {parent};
      }
      if (roots != 1) continue;
      try {
        best = std::max(best, acll_score(Structure(parents), counts, options.score));
      } catch (const InvalidInput&) {  // a cycle
      }
    }
    CHECK_NEAR(acll_score(tree, counts, options.score), best, 1e-10);
    AcllTreeOptions rooted = options;
    rooted.root = 2;
    CHECK(learn_acll_tree(counts, rooted).parents(2).empty());
    rooted.root = 4;
    CHECK_THROWS(InvalidInput, learn_acll_tree(counts, rooted), "root: expected a feature below 4");
  }
  const CountSet singles = count(paper_example(), CountScope::kSingles);
  CHECK_THROWS(InvalidInput, learn_acll_tree(singles), "counts of all pairs");
}

TEST(optimal_parameters_of_the_class_and_of_empty_counts) {
  const Dataset data = paper_example();
  const CountSet counts = count(data, CountScope::kPairs);
  const Structure naive = Structure::naive(2);
  AcllOptimalOptions options{{AcllAssumption::kUniform, 1.0, {}, 0.25}, {}};
  const double beta = acll_beta(counts, options.score);
  const Network network = estimate_acll_optimal(naive, counts, options);
  const double of_one = 3 + 4 * beta;  // class 0 has weight 1 + 4 beta < 0
  CHECK_NEAR(network.class_probabilities()[1], of_one / (of_one + 0.25), 1e-15);
  options.class_prior = {0.4, 0.6};
  CHECK_EQ(estimate_acll_optimal(naive, counts, options).class_probabilities()[0], 0.4);
  options.class_prior = {1.0};
  CHECK_THROWS(InvalidInput, estimate_acll_optimal(naive, counts, options), "class_prior: expected 2 probabilities");
  const Network empty = estimate_acll_optimal(Structure::naive(1), CountSet({3}, 2, CountScope::kSingles));
  CHECK_EQ(empty.class_probabilities()[0], 0.5);
  CHECK_EQ(empty.table(0)[0], 1.0 / 3);
  const Network single = estimate_acll_optimal(Structure::naive(1), CountSet({1}, 1, CountScope::kSingles));
  CHECK_EQ(single.table(0)[0], 1.0);
  options = {{}, {}};
  options.score.pseudo_counts = 0;
  CHECK_THROWS(InvalidInput, estimate_acll_optimal(naive, counts, options), "pseudo_counts: expected a number from");
}

TEST_MAIN

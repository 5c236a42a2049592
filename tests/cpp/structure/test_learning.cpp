// Scores, spanning trees, Chow-Liu structures and Dirichlet parameters against enumeration and hand-made numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "check.hpp"
#include "graph/spanning_tree.hpp"
#include "random_networks.hpp"
#include "support/pairs.hpp"
#include "support/special.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/learn_trees.hpp"
#include "tanager/scores.hpp"

using namespace tanager;
using namespace tanager::internal;
using namespace testing;

namespace {

Dataset draw_data(std::mt19937_64& random, std::size_t rows, const std::vector<std::uint32_t>& cards,
                  std::uint32_t classes, int percent_missing) {
  std::vector<std::vector<std::uint8_t>> columns(cards.size());
  std::vector<std::uint8_t> target;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = random_row(random, cards, percent_missing);
    const auto c = static_cast<std::uint8_t>(draw(random, classes));
    for (std::size_t f = 0; f < cards.size(); ++f) {
      Code code = row[f];
      if (f > 0 && code != kMissing && draw(random, 2) == 0)
        code = static_cast<Code>((columns[f - 1].back() + c) % cards[f]);
      columns[f].push_back(code == kMissing ? kMissing8 : static_cast<std::uint8_t>(code));
    }
    target.push_back(c);
  }
  std::vector<Column> features;
  for (std::size_t f = 0; f < cards.size(); ++f) features.emplace_back(std::move(columns[f]), cards[f]);
  return Dataset(std::move(features), Column(std::move(target), classes));
}

/// All spanning forests of n nodes as sets of pair indices, with their weight.
double best_forest_weight(std::size_t n, const std::vector<double>& weights, bool must_span) {
  const std::size_t pairs = n * (n - 1) / 2;
  double best = must_span ? -INFINITY : 0;
  for (std::size_t set = 0; set < (std::size_t{1} << pairs); ++set) {
    std::vector<std::size_t> part(n);
    std::iota(part.begin(), part.end(), std::size_t{0});
    const std::function<std::size_t(std::size_t)> find = [&](std::size_t v) {
      return part[v] == v ? v : find(part[v]);
    };
    double weight = 0;
    std::size_t edges = 0;
    bool forest = true;
    for (std::size_t u = 0, index = 0; u < n && forest; ++u)
      for (std::size_t v = u + 1; v < n; ++v, ++index) {
        if (!(set >> index & 1)) continue;
        const std::size_t a = find(u), b = find(v);
        if (a == b) {
          forest = false;
          break;
        }
        part[a] = b;
        weight += weights[index];
        ++edges;
      }
    if (forest && (!must_span || edges == n - 1)) best = std::max(best, weight);
  }
  return best;
}

}  // namespace

TEST(entropy_and_information_of_small_tables) {
  CHECK_NEAR(entropy(std::vector<double>{1, 1}), std::log(2.0), 1e-15);
  CHECK_EQ(entropy(std::vector<double>{5, 0}), 0.0);
  CHECK_EQ(entropy(std::vector<double>{}), 0.0);
  CHECK_NEAR(mutual_information(std::vector<double>{2, 0, 0, 2}, 2, 2), std::log(2.0), 1e-15);
  CHECK_EQ(mutual_information(std::vector<double>{1, 1, 1, 1}, 2, 2), 0.0);
  // X = Y xor Z, all fair: independent on the whole, determined given Z. Cells are [x][y][z].
  CHECK_NEAR(conditional_mutual_information(std::vector<double>{1, 0, 0, 1, 0, 1, 1, 0}, 2, 2, 2), std::log(2.0),
             1e-15);
  CHECK_THROWS(InvalidInput, conditional_mutual_information(std::vector<double>{1, 2}, 2, 2, 2), "must have 8 cells");
}

TEST(conditional_information_is_a_difference_of_entropies) {
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const std::size_t x = 1 + draw(random, 4), y = 1 + draw(random, 4), z = 1 + draw(random, 3);
    std::vector<double> table(x * y * z);
    for (double& cell : table) cell = static_cast<double>(draw(random, 9));
    std::vector<double> xz(x * z), yz(y * z), only_z(z);
    for (std::size_t a = 0; a < x; ++a)
      for (std::size_t b = 0; b < y; ++b)
        for (std::size_t c = 0; c < z; ++c) {
          const double n = table[(a * y + b) * z + c];
          xz[a * z + c] += n;
          yz[b * z + c] += n;
          only_z[c] += n;
        }
    const double expected = entropy(xz) + entropy(yz) - entropy(table) - entropy(only_z);
    CHECK_NEAR(conditional_mutual_information(table, x, y, z), expected, 1e-13);
  }
}

TEST(log_gamma_and_rising_factorials) {
  // Reference values to 20 digits from arbitrary-precision arithmetic.
  CHECK_NEAR(log_gamma(1.0), 0.0, 1e-14);
  CHECK_NEAR(log_gamma(0.5), 0.57236494292470008707, 1e-14);
  CHECK_NEAR(log_gamma(1e-3), 6.9071788853838536825, 1e-14);
  CHECK_NEAR(log_gamma(10.5), 13.940625219403763633, 1e-14);
  CHECK_NEAR(log_gamma(12345.678), 103959.91990554606092, 2e-10);
  CHECK_EQ(log_rising(0.25, 0), 0.0);
  CHECK_NEAR(log_rising(0.5, 3), std::log(0.5 * 1.5 * 2.5), 1e-15);
  CHECK_NEAR(log_rising(0.5, 40), log_gamma(40.5) - log_gamma(0.5), 1e-12);
  CHECK_NEAR(log_rising(2.0, 1.5), log_gamma(3.5) - log_gamma(2.0), 1e-14);
}

TEST(logarithms_of_counts_are_those_of_the_library) {
  const CountLogs log_of;
  CHECK_EQ(log_of(0.0), 0.0);
  for (const double n : {1.0, 2.0, 7.0, 4095.0, 4095.5, 4096.0, 1e9, 1e300, 0.25, 3.5, 1e-320})
    CHECK_EQ(log_of(n), std::log(n));
}

TEST(information_of_very_large_and_very_small_weights) {
  for (const double scale : {1e-300, 1e-5, 1.0, 1e5, 1e300}) {
    const std::vector<double> table{3 * scale, scale, 2 * scale, 2 * scale};
    const double expected =
        3.0 / 8 * std::log(6.0 / 5) + std::log(2.0 / 3) / 8 + std::log(4.0 / 5) / 4 + std::log(4.0 / 3) / 4;
    CHECK_NEAR(mutual_information(table, 2, 2), expected, 2e-13);
  }
}

TEST(family_scores_by_hand) {
  // One feature of two values, one parent of one value, one class: counts 3 and 1.
  CountTable table;
  table.family = {0, {1}};
  table.dims = {1, 2};
  table.n_classes = 1;
  table.cells = {3, 1};
  const double loglik = 3 * std::log(0.75) + std::log(0.25);
  CHECK_NEAR(family_score(table, Score::kLogLikelihood), loglik, 1e-14);
  CHECK_NEAR(family_score(table, Score::kAic), loglik - 1, 1e-14);
  CHECK_NEAR(family_score(table, Score::kBic), loglik - std::log(4.0) / 2, 1e-14);
  CHECK_NEAR(family_score(table, Score::kK2), std::log(6.0 / 120.0), 1e-14);  // 3! 1! / (5!/1!)
  // BDeu with size 1: Gamma(3.5) Gamma(1.5) / Gamma(.5)^2 * Gamma(1) / Gamma(5) = (1.875 * 0.5) / 24
  CHECK_NEAR(family_score(table, Score::kBdeu, 1.0), std::log(1.875 * 0.5 / 24), 1e-13);
  CHECK_THROWS(InvalidInput, family_score(table, Score::kBdeu, 0.0), "expected a finite number > 0");
}

TEST(tables_that_are_not_what_they_say_have_no_scores) {
  const std::vector<CountTable> wrong{{{0, {}}, {}, 2, {1, 2}},
                                      {{0, {}}, {2}, 2, {1, 2, 3}},
                                      {{0, {1}}, {2, 2}, 2, std::vector<double>(7)},
                                      {{0, {}}, {0}, 2, {1, 2}},
                                      {{0, {}}, {2}, 0, {1, 2}},
                                      {{0, {1}}, {65536, 65536}, 65536, {1, 2}},
                                      {{0, {1, 2, 3}}, {65536, 65536, 65536, 65536}, 1, {}}};
  for (const CountTable& table : wrong) {
    for (const Score score : {Score::kLogLikelihood, Score::kAic, Score::kBic, Score::kBdeu, Score::kK2})
      CHECK_THROWS(InvalidInput, family_score(table, score), "a count table");
    CHECK_THROWS(InvalidInput, log_likelihood(table), "a count table");
    CHECK_THROWS(InvalidInput, acll_family_score(table, -0.5, 1), "a count table");
  }
  // A feature without values, or no classes, has an empty table, which says nothing.
  for (const CountTable& empty : {CountTable{{0, {}}, {0}, 2, {}}, CountTable{{0, {}}, {3}, 0, {}}})
    for (const Score score : {Score::kLogLikelihood, Score::kAic, Score::kBic, Score::kBdeu, Score::kK2})
      CHECK_EQ(family_score(empty, score), 0.0);
  const std::vector<double> none;
  CHECK_THROWS(InvalidInput, mutual_information(none, std::size_t{1} << 32, std::size_t{1} << 32), "must have");
  CHECK_EQ(mutual_information(none, std::size_t{1} << 62, 0), 0.0);
}

TEST(spanning_forests_are_best_of_all) {
  std::mt19937_64 random(2);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::size_t n = 2 + draw(random, 4);
    std::vector<double> weights(n * (n - 1) / 2);
    const bool negative = repeat % 2 == 0;
    for (double& w : weights) w = static_cast<double>(draw(random, 6)) - (negative ? 3.0 : 0.0);
    const auto edges = maximum_spanning_forest(n, weights);
    double weight = 0;
    for (const auto& [u, v] : edges) weight += weights[pair_index(u, v, n)];
    CHECK_EQ(weight, best_forest_weight(n, weights, !negative));
    if (!negative) CHECK_EQ(edges.size(), n - 1);
  }
}

TEST(equal_weights_go_to_the_lowest_pairs) {
  using Edges = std::vector<std::pair<std::size_t, std::size_t>>;
  CHECK(maximum_spanning_forest(4, std::vector<double>(6, 1.0)) == (Edges{{0, 1}, {0, 2}, {0, 3}}));
  // Pairs in order 01 02 03 12 13 23.
  CHECK(maximum_spanning_forest(4, std::vector<double>{0, 0, 0, 5, 5, 5}) == (Edges{{0, 1}, {1, 2}, {1, 3}}));
  CHECK(maximum_spanning_forest(3, std::vector<double>{-1, -1, 2}) == (Edges{{1, 2}}));
  CHECK(maximum_spanning_forest(1, {}).empty());
}

TEST(chow_liu_tree_has_the_greatest_likelihood) {
  std::mt19937_64 random(3);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const std::vector<std::uint32_t> cards{2, 3, 2, 4, 1};
    const Dataset data = draw_data(random, 80, cards, 2, repeat % 2 ? 10 : 0);
    const CountSet counts = count(data, CountScope::kPairs);
    for (const Score score : {Score::kLogLikelihood, Score::kAic, Score::kBic}) {
      const auto weights = chow_liu_weights(counts, score);
      const Structure tree = learn_chow_liu(counts, {score, {}});
      double weight = 0;
      for (std::size_t f = 0; f < cards.size(); ++f)
        for (const std::size_t p : tree.parents(f)) weight += weights[pair_index(std::min(f, p), std::max(f, p), 5)];
      CHECK_NEAR(weight, best_forest_weight(5, weights, score == Score::kLogLikelihood), 1e-10);
      CHECK(tree.is_one_dependence());
      if (score == Score::kLogLikelihood) CHECK(tree.is_tan());
      if (score != Score::kLogLikelihood)  // an arc to or from the feature of one value does not pay
        for (std::size_t f = 0; f < cards.size(); ++f)
          CHECK(tree.parents(f).empty() || (f != 4 && tree.parents(f)[0] != 4));
      CHECK(tree == learn_chow_liu(counts, {score, {}}, 3));
    }
  }
}

TEST(pair_weights_are_gains_in_family_scores) {
  std::mt19937_64 random(4);
  const std::vector<std::uint32_t> cards{3, 2, 4};
  const CountSet counts = count(draw_data(random, 200, cards, 3, 0), CountScope::kPairs);
  for (const Score score : {Score::kLogLikelihood, Score::kAic, Score::kBic}) {
    const auto weights = chow_liu_weights(counts, score);
    for (std::size_t u = 0; u < 3; ++u)
      for (std::size_t v = u + 1; v < 3; ++v) {
        const double gain = family_score(counts.table({v, {u}}), score) - family_score(counts.table({v, {}}), score);
        CHECK_NEAR(weights[pair_index(u, v, 3)], gain, 1e-9);
      }
  }
}

TEST(the_root_can_be_chosen) {
  std::mt19937_64 random(5);
  const CountSet counts = count(draw_data(random, 100, {2, 2, 2, 2}, 2, 0), CountScope::kPairs);
  const Structure tree = learn_chow_liu(counts, {Score::kLogLikelihood, 2});
  CHECK(tree.parents(2).empty());
  CHECK(learn_chow_liu(counts).parents(0).empty());
  CHECK_THROWS(InvalidInput, learn_chow_liu(counts, {Score::kLogLikelihood, 4}), "root: expected a feature below 4");
  CHECK_THROWS(InvalidInput, learn_chow_liu(counts, {Score::kK2, {}}), "log-likelihood, AIC or BIC");
}

TEST(structures_say_what_they_are) {
  CHECK(Structure::naive(3).is_naive());
  CHECK(Structure::naive(3).is_semi_naive());
  CHECK(!Structure::naive(3).is_tan());
  CHECK(Structure::naive(1).is_tan());
  CHECK(Structure({{}, {0}, {1}}).is_tan());
  CHECK(!Structure({{}, {0}, {1}}).is_semi_naive());
  CHECK(Structure({{}, {0}, {0, 1}}).is_semi_naive());
  CHECK(Structure({{}, {0}, {}, {2}}).is_semi_naive());
  CHECK(!Structure({{}, {0}, {0}}).is_semi_naive());
  CHECK(!Structure({{}, {}, {0, 1}}).is_semi_naive());
  CHECK_THROWS(InvalidInput, Structure({{1}, {0}}), "cycle");
  CHECK_THROWS(InvalidInput, Structure({{}, {2}}), "only 2 features");
  CHECK_THROWS(InvalidInput, Structure({{}, {1}}), "own parent");
  CHECK_THROWS(InvalidInput, Structure({{}, {0, 0}}), "twice");
  std::vector<std::vector<std::size_t>> many(70);
  for (std::size_t i = 1; i < many.size(); ++i) many[0].push_back(i);
  CHECK_THROWS(InvalidInput, Structure{many}, "69 parents, but at most 64");
  std::vector<std::vector<std::size_t>> chain(60000);
  for (std::size_t i = 1; i < chain.size(); ++i) chain[i] = {i - 1};
  CHECK_EQ(Structure(chain).order().back(), 59999u);
}

TEST(dirichlet_parameters_by_hand) {
  // Rows (x, class): (0,0) (0,0) (1,0) (1,1), and one with x missing in class 1.
  const Dataset data({Column(std::vector<std::uint8_t>{0, 0, 1, 1, kMissing8}, 3)},
                     Column(std::vector<std::uint8_t>{0, 0, 0, 1, 1}, 2));
  const CountSet counts = count(data, CountScope::kSingles);
  const Network laplace = estimate_dirichlet(Structure::naive(1), counts, {1.0, {}, {}});
  CHECK_NEAR(laplace.class_probabilities()[0], 4.0 / 7, 1e-15);
  const std::vector<double> expected{3.0 / 6, 1.0 / 4, 2.0 / 6, 2.0 / 4, 1.0 / 6, 1.0 / 4};
  for (std::size_t i = 0; i < 6; ++i) CHECK_NEAR(laplace.table(0)[i], expected[i], 1e-15);
  const Network bdeu = estimate_dirichlet(Structure::naive(1), counts, {1.0, 6.0, {}});
  CHECK_NEAR(bdeu.table(0)[0], 3.0 / 6, 1e-15);  // 6 / 6 cells = 1 each
  CHECK_NEAR(bdeu.class_probabilities()[1], 5.0 / 11, 1e-15);
  CHECK_EQ(laplace.n_parameters(), 5u);
  const Network given = estimate_dirichlet(Structure::naive(1), counts, {0.0, {}, {0.9, 0.1}});
  CHECK_EQ(given.class_probabilities()[0], 0.9);
  CHECK_NEAR(given.table(0)[0], 2.0 / 3, 1e-15);
  CHECK_THROWS(InvalidInput, estimate_dirichlet(Structure::naive(1), counts, {-1.0, {}, {}}), "expected a number >= 0");
  CHECK_THROWS(InvalidInput, estimate_dirichlet(Structure::naive(1), counts, {1.0, {}, {1.0}}), "one per class");
  CHECK_THROWS(InvalidInput, estimate_dirichlet(Structure::naive(2), counts), "2 features");
}

TEST(parents_never_seen_give_a_uniform_row_without_smoothing) {
  const Dataset data({Column(std::vector<std::uint8_t>{0, 0}, 2), Column(std::vector<std::uint8_t>{0, 1}, 3)},
                     Column(std::vector<std::uint8_t>{0, 0}, 1));
  const Network network = estimate_dirichlet(Structure({{}, {0}}), count(data, CountScope::kPairs), {0.0, {}, {}});
  for (std::size_t k = 0; k < 3; ++k) CHECK_NEAR(network.table(1)[3 + k], 1.0 / 3, 1e-15);
}

TEST(networks_are_checked) {
  const Structure naive = Structure::naive(1);
  CHECK_THROWS(InvalidInput, Network(naive, {2}, {1.0}, {{0.5}}), "must have 2 cells");
  CHECK_THROWS(InvalidInput, Network(naive, {2}, {1.0}, {{0.5, 0.6}}), "expected probabilities that sum to 1");
  CHECK_THROWS(InvalidInput, Network(naive, {2}, {1.0}, {{-0.5, 1.5}}), "expected probabilities, got");
  CHECK_THROWS(InvalidInput, Network(naive, {2}, {std::nan("")}, {{0.5, 0.5}}), "expected probabilities, got");
  CHECK_THROWS(InvalidInput, Network(naive, {2}, {}, {{}}), "classes");
  CHECK_THROWS(InvalidInput, Network(naive, {0}, {1.0}, {{}}), "must have 1 to");
}

TEST_MAIN

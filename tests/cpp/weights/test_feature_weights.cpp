// Trees against brute force, powers of tables, and WANBIA's objective against the network that it stands for.
#include "stopping.hpp"
#include "tanager/learn_weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "check.hpp"
#include "reference.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/network_predictor.hpp"
#include "weights/categorical_tree.hpp"

using namespace tanager;
using namespace tanager::internal;
using reference::ColumnSpec;
using reference::random_dataset;

namespace {

using Rows = std::vector<std::uint32_t>;

double entropy_of(const Dataset& data, const Rows& rows) {
  std::map<Code, double> counts;
  for (const std::uint32_t row : rows) counts[data.target()[row]] += 1;
  double sum = 0;
  for (const auto& [c, n] : counts) sum -= n * std::log(n / static_cast<double>(rows.size()));
  return sum;
}

/// Information gain of a test in nats, times the rows where the feature is observed.
double gain_of(const Dataset& data, const Rows& rows, std::size_t feature, Code value) {
  Rows with, without, observed;
  for (const std::uint32_t row : rows) {
    const Code code = data.feature(feature)[row];
    if (code == kMissing) continue;
    observed.push_back(row);
    (code == value ? with : without).push_back(row);
  }
  return entropy_of(data, observed) - entropy_of(data, with) - entropy_of(data, without);
}

std::optional<TreeSplit> brute_split(const Dataset& data, const Rows& rows) {
  TreeSplit best;
  for (std::size_t f = 0; f < data.n_features(); ++f)
    for (std::uint32_t k = 0; k < data.feature(f).n_values(); ++k) {
      const double gain = gain_of(data, rows, f, static_cast<Code>(k));
      if (gain > best.gain + 1e-9) best = {f, static_cast<Code>(k), gain};
    }
  if (best.gain == 0) return std::nullopt;
  return best;
}

/// Grows the whole tree and notes every test.
void grow(const Dataset& data, const Rows& rows, std::uint32_t depth, std::uint32_t deepest,
          std::vector<std::uint32_t>& least) {
  const std::optional<TreeSplit> split = brute_split(data, rows);
  if (!split || depth > deepest) return;
  std::uint32_t& known = least[split->feature];
  known = known == 0 ? depth : std::min(known, depth);
  Rows with, without, missing;
  for (const std::uint32_t row : rows) {
    const Code code = data.feature(split->feature)[row];
    (code == kMissing ? missing : code == split->value ? with : without).push_back(row);
  }
  Rows& larger = with.size() > without.size() ? with : without;
  larger.insert(larger.end(), missing.begin(), missing.end());
  grow(data, with, depth + 1, deepest, least);
  grow(data, without, depth + 1, deepest, least);
}

Rows draw_rows(std::size_t n_rows, std::size_t n, std::mt19937_64& random) {
  Rows rows(n);
  for (std::uint32_t& row : rows) row = static_cast<std::uint32_t>(random() % n_rows);
  std::ranges::sort(rows);
  return rows;
}

std::vector<std::size_t> all_features(const Dataset& data) {
  std::vector<std::size_t> features(data.n_features());
  for (std::size_t f = 0; f < features.size(); ++f) features[f] = f;
  return features;
}

/// Features that say something about the class, one another, or nothing.
Dataset dependent_data(std::size_t n_rows, std::uint32_t classes, double missing, bool weighted, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const std::vector<std::uint32_t> cards{2, 3, 5, 300, 4, 2};
  std::vector<std::vector<std::uint16_t>> codes(cards.size());
  std::vector<std::uint8_t> target;
  std::vector<double> weights;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const auto c = static_cast<std::uint32_t>(random() % classes);
    target.push_back(static_cast<std::uint8_t>(c));
    for (std::size_t f = 0; f < cards.size(); ++f) {
      std::uint32_t code = static_cast<std::uint32_t>(random() % cards[f]);
      if (unit(random) < 0.15 * static_cast<double>(f)) code = c % cards[f];
      if (f == 4 && unit(random) < 0.7) code = codes[2].back() % 4;
      codes[f].push_back(unit(random) < missing ? kMissing : static_cast<Code>(code));
    }
    if (weighted) weights.push_back(0.25 + 2 * unit(random));
  }
  std::vector<Column> columns;
  for (std::size_t f = 0; f < cards.size(); ++f) {
    if (cards[f] > kMaxNarrowValues)
      columns.emplace_back(std::move(codes[f]), cards[f]);
    else
      columns.emplace_back(std::vector<std::uint8_t>(codes[f].begin(), codes[f].end()), cards[f]);
  }
  return Dataset(std::move(columns), Column(std::move(target), classes), std::move(weights));
}

double predicted_loss(const Dataset& data, const Network& network, WanbiaLoss loss) {
  const NetworkPredictor predictor(network);
  const std::size_t s = data.n_classes();
  double value = 0;
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    std::vector<double> joint(network.class_probabilities().begin(), network.class_probabilities().end());
    double total = 0;
    for (std::size_t c = 0; c < s; ++c) {
      for (std::size_t f = 0; f < data.n_features(); ++f)
        if (const Code code = data.feature(f)[row]; code != kMissing && !network.structure().is_absent(f))
          joint[c] *= network.table(f)[code * s + c];
      total += joint[c];
    }
    const double weight = data.is_weighted() ? data.weights()[row] : 1.0;
    const Code truth = data.target()[row];
    if (loss == WanbiaLoss::kConditionalLikelihood) value -= weight * std::log(joint[truth] / total);
    if (loss == WanbiaLoss::kSquaredError)
      for (std::size_t c = 0; c < s; ++c) value += 0.5 * weight * std::pow(joint[c] / total - (c == truth), 2);
  }
  return value;
}

constexpr WanbiaLoss kLosses[] = {WanbiaLoss::kConditionalLikelihood, WanbiaLoss::kSquaredError};

}  // namespace

TEST(best_tests_are_those_of_brute_force) {
  std::mt19937_64 random(3);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::uint32_t classes = 1 + seed % 4;
    const Dataset data =
        random_dataset({{2}, {3, 0.3}, {40, 0.1}, {7, 0.0, 0.5}, {400, 0.2}}, {classes}, 60, false, seed);
    const Rows rows = draw_rows(60, 1 + random() % 80, random);
    const std::vector<double> terms = entropy_terms(rows.size());
    CategoricalTree tree(data, all_features(data), terms);
    const auto found = tree.best_split(rows), expected = brute_split(data, rows);
    CHECK_EQ(found.has_value(), expected.has_value());
    if (!found || !expected) continue;
    CHECK_NEAR(found->gain, expected->gain, 1e-9);
    CHECK_EQ(found->feature, expected->feature);
    CHECK_NEAR(gain_of(data, rows, found->feature, found->value), expected->gain, 1e-9);
  }
}

TEST(least_depths_are_those_of_the_whole_tree) {
  std::mt19937_64 random(4);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Dataset data = dependent_data(80, 1 + seed % 4, seed % 2 == 0 ? 0.0 : 0.2, false, seed);
    Rows rows = draw_rows(80, 60, random);
    const std::vector<double> terms = entropy_terms(rows.size());
    const std::uint32_t deepest = seed % 3 == 0 ? 3 : 1000;
    std::vector<std::uint32_t> expected(data.n_features(), 0);
    grow(data, rows, 1, deepest, expected);
    CategoricalTree tree(data, all_features(data), terms);
    CHECK(tree.least_depths(rows, deepest) == expected);
  }
}

TEST(a_tree_by_hand) {
  // The class is x0 and x1, x2 is a copy of x1, x3 is constant, x4 is always missing.
  const Dataset data(
      {Column(std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1}, 2), Column(std::vector<std::uint8_t>{0, 1, 2, 0, 1, 2}, 3),
       Column(std::vector<std::uint8_t>{0, 1, 2, 0, 1, 2}, 3), Column(std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0}, 1),
       Column(std::vector<std::uint8_t>(6, kMissing8), 1)},
      Column(std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0}, 2));
  const std::vector<double> terms = entropy_terms(6);
  CategoricalTree tree(data, {0, 1, 2, 3, 4}, terms);
  Rows rows{0, 1, 2, 3, 4, 5};
  const auto split = tree.best_split(rows);
  CHECK(split.has_value());
  CHECK_EQ(split->feature, std::size_t{1});  // x1 = 0 leaves two rows to separate, x0 leaves three
  CHECK_EQ(split->value, Code{0});
  CHECK_NEAR(split->gain, 6 * std::log(6) - 5 * std::log(5) - 2 * std::log(2), 1e-12);
  CHECK(tree.least_depths(rows, std::nullopt) == (std::vector<std::uint32_t>{2, 1, 0, 0, 0}));
  CHECK(tree.least_depths(rows, 1) == (std::vector<std::uint32_t>{0, 1, 0, 0, 0}));
}

TEST(depths_do_not_depend_on_threads_and_do_on_the_seed) {
  const Dataset data = dependent_data(500, 3, 0.1, true, 1);
  const Structure naive = Structure::naive(data.n_features());
  const auto one = tree_depths(naive, data, {.n_trees = 12, .seed = 7}, 1);
  CHECK_EQ(one.size(), 12 * data.n_features());
  for (const int threads : {2, 5, 0}) CHECK(tree_depths(naive, data, {.n_trees = 12, .seed = 7}, threads) == one);
  CHECK(tree_depths(naive, data, {.n_trees = 12, .seed = 8}) != one);
  // One stream per tree: more trees do not change the first ones.
  const auto more = tree_depths(naive, data, {.n_trees = 20, .seed = 7});
  CHECK(std::equal(one.begin(), one.end(), more.begin()));
}

TEST(features_left_out_are_in_no_tree) {
  const Dataset data = dependent_data(300, 2, 0.0, false, 2);
  const Structure some = Structure::leaving_out({false, false, false, true, false, true}, {{}, {}, {}, {}, {}, {}});
  const auto depths = tree_depths(some, data, {.n_trees = 5});
  for (std::size_t i = 0; i < depths.size(); ++i)
    if (i % 6 == 3 || i % 6 == 5) CHECK_EQ(depths[i], 0U);
  CHECK(std::ranges::any_of(depths, [](std::uint32_t depth) { return depth == 1; }));
}

TEST(rows_are_drawn_by_weight) {
  // All weight is on rows where x0 is the class and x1 says nothing; in all others it is the other way round.
  std::vector<std::uint8_t> x0, x1, y;
  std::vector<double> weights;
  for (std::uint8_t i = 0; i < 200; ++i) {
    const bool first = i < 100;
    y.push_back(i % 2);
    x0.push_back(first ? i % 2 : i / 2 % 2);
    x1.push_back(first ? i / 2 % 2 : i % 2);
    weights.push_back(first ? 0.5 : 0.0);
  }
  const Dataset data({Column(x0, 2), Column(x1, 2)}, Column(y, 2), weights);
  const auto depths = tree_depths(Structure::naive(2), data, {.n_trees = 6});
  for (std::size_t tree = 0; tree < 6; ++tree) {
    CHECK_EQ(depths[tree * 2], 1U);
    CHECK_EQ(depths[tree * 2 + 1], 0U);
  }
}

TEST(trees_stand_extreme_tables) {
  std::vector<std::uint16_t> ids(4000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint16_t>(i * 16);
  std::mt19937_64 random(1);
  std::vector<Column> columns{Column(ids, kMaxValues), Column(std::vector<std::uint8_t>(4000, kMissing8), 5)};
  for (int i = 0; i < 40; ++i) columns.push_back(reference::random_column({3}, 4000, random));
  const Column many = reference::random_column({60000, 0, 0, true}, 4000, random);
  for (const Column& target : {reference::random_column({2}, 4000, random), many}) {
    const Dataset data(columns, target);
    const auto depths = tree_depths(Structure::naive(data.n_features()), data, {.n_trees = 2, .max_depth = 12}, 2);
    CHECK_EQ(depths[1], 0U);
  }
  // One row, and one class: nothing to test.
  const Dataset row = Dataset(columns, many).subset(std::vector<std::size_t>{5});
  for (const std::uint32_t depth : tree_depths(Structure::naive(42), row, {.n_trees = 3})) CHECK_EQ(depth, 0U);
  const Dataset pure(columns, Column(std::vector<std::uint8_t>(4000, 0), 1));
  for (const std::uint32_t depth : tree_depths(Structure::naive(42), pure, {.n_trees = 3})) CHECK_EQ(depth, 0U);
}

TEST(trees_can_be_stopped) {
  std::mt19937_64 random(1);
  std::vector<Column> columns;
  for (int i = 0; i < 300; ++i) columns.push_back(reference::random_column({4}, 20000, random));
  const Dataset data(std::move(columns), reference::random_column({2}, 20000, random));
  const TreeDepthOptions options{.n_trees = 50, .bootstrap = 1.0};
  CHECK_STOPS(tree_depths(Structure::naive(300), data, options, 2));
}

TEST(options_without_meaning_are_rejected) {
  const Dataset data = random_dataset({{2}, {3}}, {2}, 10, false, 1);
  const Structure naive = Structure::naive(2);
  CHECK_THROWS(InvalidInput, tree_depths(naive, data, {.n_trees = 0}), "n_trees: expected an integer >= 1");
  CHECK_THROWS(InvalidInput, tree_depths(naive, data, {.bootstrap = 0}),
               "bootstrap: expected a number > 0 and <= 1, got 0");
  CHECK_THROWS(InvalidInput, tree_depths(naive, data, {.bootstrap = NAN}), "bootstrap: expected a number > 0 and <= 1");
  CHECK_THROWS(InvalidInput, tree_depths(naive, data, {.max_depth = 0}), "max_depth: expected an integer >= 1");
  CHECK_THROWS(InvalidInput, tree_depths(Structure::naive(3), data, {}), "has 3 features, but the data have 2");
  CHECK_THROWS(InvalidInput, weights_from_depths(std::vector<std::uint32_t>{1, 2, 3}, 2), "2 features");
  const CountSet counts = count(data, CountScope::kSingles);
  CHECK_THROWS(InvalidInput, estimate_weighted(naive, counts, std::vector<double>{1.0}), "expected 2 weights");
  CHECK_THROWS(InvalidInput, estimate_weighted(naive, counts, std::vector<double>{1.0, 1.5}), "got 1.5 for feature 1");
  CHECK_THROWS(InvalidInput, WanbiaObjective(naive, data, counts, {.alpha = 0}), "alpha: expected a number > 0");
  CHECK_THROWS(InvalidInput, WanbiaObjective(Structure({{}, {0}}), data, counts), "arcs between features");
  CHECK_THROWS(InvalidInput, WanbiaObjective(Structure::naive(3), data, counts), "same variables");
  const WanbiaObjective objective(naive, data, counts);
  CHECK_THROWS(InvalidInput, objective.evaluate(std::vector<double>{1.0}), "expected 2 weights");
  CHECK_THROWS(InvalidInput, objective.network(std::vector<double>{1.0, -0.5}), "got -0.5 for feature 1");
}

TEST(weights_are_means_of_inverse_roots) {
  const std::vector<std::uint32_t> depths{1, 4, 0, 1, 9, 0};
  const std::vector<double> weights = weights_from_depths(depths, 3);
  CHECK_EQ(weights[0], 1.0);
  CHECK_NEAR(weights[1], (0.5 + 1.0 / 3) / 2, 1e-15);
  CHECK_EQ(weights[2], 0.0);
}

TEST(powers_of_tables) {
  const Dataset data = dependent_data(200, 3, 0.1, true, 5);
  const Structure structure({{}, {0}, {}, {}, {2}, {}});
  const CountSet counts = count(data, CountScope::kSingles, {{1, {0}}, {4, {2}}});
  const std::vector<double> weights{0.3, 0.7, 1.0, 0.0, 0.25, 0.9};
  for (const double alpha : {0.0, 0.5}) {
    const Network plain = estimate_dirichlet(structure, counts, {alpha, {}, {}});
    const Network powered = estimate_weighted(structure, counts, weights, {.alpha = alpha});
    CHECK(std::ranges::equal(plain.class_probabilities(), powered.class_probabilities()));
    CHECK(std::ranges::equal(plain.table(2), powered.table(2)));  // the power of one changes nothing
    for (const double p : powered.table(3)) CHECK_NEAR(p, 1.0 / 300, 1e-15);
    const std::size_t block = 3 * 3;
    for (std::size_t i = 0; i < plain.table(1).size(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += std::pow(plain.table(1)[i / block * block + k * 3 + i % 3], 0.7);
      CHECK_NEAR(powered.table(1)[i], std::pow(plain.table(1)[i], 0.7) / sum, 1e-14);
    }
  }
}

TEST(the_objective_evaluates_what_the_network_predicts) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (const std::uint32_t classes : {1U, 2U, 3U, 7U})
    for (const bool missing : {false, true})
      for (const bool renormalize : {false, true})
        for (const WanbiaLoss loss : kLosses) {
          const Dataset data = dependent_data(150, classes, missing ? 0.3 : 0.0, missing, classes);
          const CountSet counts = count(data, CountScope::kSingles);
          const Structure some =
              Structure::leaving_out({false, true, false, false, false, false}, {{}, {}, {}, {}, {}, {}});
          std::vector<double> weights(6), prior;
          for (double& weight : weights) weight = unit(random);
          weights[5] = 0;
          weights[2] = 1;
          if (missing && classes == 3) prior = {0.2, 0.7, 0.1};
          const WanbiaObjective objective(some, data, counts, {0.5, prior, loss, renormalize});
          const double value = objective.evaluate(weights);
          CHECK_NEAR(value, predicted_loss(data, objective.network(weights), loss), 1e-10);
          if (!renormalize) continue;
          const Network same = estimate_weighted(some, counts, weights, {0.5, prior});
          for (const std::size_t f : some.order())
            for (std::size_t i = 0; i < same.table(f).size(); ++i)
              CHECK_EQ(objective.network(weights).table(f)[i], same.table(f)[i]);
        }
}

TEST(the_gradient_is_that_of_the_objective) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0.05, 0.95);
  for (const std::uint32_t classes : {2U, 3U, 6U})
    for (const double missing : {0.0, 0.25})
      for (const bool renormalize : {false, true})
        for (const WanbiaLoss loss : kLosses) {
          const Dataset data = dependent_data(301, classes, missing, missing > 0, 100 + classes);
          const WanbiaObjective objective(Structure::naive(6), data, count(data, CountScope::kSingles),
                                          {1.0, {}, loss, renormalize});
          std::vector<double> weights(6), gradient(6);
          for (double& weight : weights) weight = unit(random);
          objective.evaluate(weights, gradient);
          for (std::size_t f = 0; f < 6; ++f) {
            const double step = 1e-5;
            std::vector<double> above = weights, below = weights;
            above[f] += step;
            below[f] -= step;
            const double slope = (objective.evaluate(above) - objective.evaluate(below)) / (2 * step);
            CHECK_NEAR(gradient[f], slope, 1e-6 * (1 + std::abs(slope)));
          }
        }
}

TEST(the_objective_does_not_depend_on_threads) {
  const Dataset data = dependent_data(20000, 3, 0.1, true, 8);
  const WanbiaObjective objective(Structure::naive(6), data, count(data, CountScope::kSingles));
  const std::vector<double> weights{0.1, 0.9, 0.5, 0.3, 1.0, 0.0};
  std::vector<double> one(6), many(6);
  const double value = objective.evaluate(weights, one, 1);
  for (const int threads : {2, 3, 8}) {
    CHECK_EQ(objective.evaluate(weights, many, threads), value);
    CHECK(one == many);
  }
}

TEST(rows_that_the_prior_makes_impossible_add_nothing) {
  const Dataset data = dependent_data(90, 3, 0.0, false, 9);
  const CountSet counts = count(data, CountScope::kSingles);
  const WanbiaObjective objective(Structure::naive(6), data, counts, {1.0, {0.5, 0.0, 0.5}});
  std::vector<double> weights(6, 0.5), gradient(6);
  CHECK(std::isfinite(objective.evaluate(weights, gradient)));
  for (const double slope : gradient) CHECK(std::isfinite(slope));
  CHECK_EQ(objective.network(weights).class_probabilities()[1], 0.0);
}

TEST(thousands_of_features_do_not_underflow) {
  std::mt19937_64 random(10);
  std::vector<Column> columns;
  const Column target = reference::random_column({2}, 60, random);
  for (int f = 0; f < 3000; ++f) {
    std::vector<std::uint8_t> codes(60);
    for (std::size_t i = 0; i < 60; ++i)
      codes[i] = random() % 4 == 0 ? random() % 4 : static_cast<std::uint8_t>(target[i]);
    columns.emplace_back(std::move(codes), 4);
  }
  const Dataset data(std::move(columns), target);
  const CountSet counts = count(data, CountScope::kSingles);
  const std::vector<double> weights(3000, 0.4);
  for (const bool renormalize : {false, true}) {
    const WanbiaObjective objective(Structure::naive(3000), data, counts, {.renormalize = renormalize});
    std::vector<double> gradient(3000);
    CHECK(std::isfinite(objective.evaluate(weights, gradient)));
    CHECK(std::ranges::all_of(gradient, [](double slope) { return std::isfinite(slope); }));
    const Network network = objective.network(weights);
    CHECK(network.class_probabilities()[0] > 0 && network.class_probabilities()[1] > 0);
  }
}

TEST_MAIN

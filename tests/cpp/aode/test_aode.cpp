// Averaged one-dependence estimators against an average of ordinary networks, and sums over all completions; the same
// bits on every road.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "aode/block.hpp"
#include "aode/finish.hpp"
#include "aode/plan.hpp"
#include "batches.hpp"
#include "check.hpp"
#include "random_networks.hpp"
#include "simd/cpu.hpp"
#include "tanager/aode.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"

using namespace tanager;
using namespace tanager::internal;
using namespace testing;

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Shape {
  std::size_t rows, features;
  std::uint32_t values, classes;
  int percent_missing = 0;
};

std::vector<std::uint32_t> draw_cards(std::mt19937_64& random, const Shape& shape) {
  std::vector<std::uint32_t> cards;
  for (std::size_t f = 0; f < shape.features; ++f)
    cards.push_back(1 + static_cast<std::uint32_t>(draw(random, shape.values)));
  return cards;
}

CountSet draw_counts(std::mt19937_64& random, const Shape& shape, const std::vector<std::uint32_t>& cards) {
  std::vector<std::vector<Code>> codes(cards.size());
  std::vector<Code> classes;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    const auto row = random_row(random, cards, shape.percent_missing);
    classes.push_back(static_cast<Code>(draw(random, shape.classes)));
    for (std::size_t f = 0; f < cards.size(); ++f) {
      // Features depend on the class, so posteriors are not all alike.
      const bool leans = row[f] != kMissing && draw(random, 2) == 0;
      codes[f].push_back(leans ? static_cast<Code>((classes.back() + f) % cards[f]) : row[f]);
    }
  }
  std::vector<Column> columns;
  for (std::size_t f = 0; f < cards.size(); ++f) columns.emplace_back(codes[f], cards[f]);
  return count(Dataset(columns, Column(classes, shape.classes), {}), CountScope::kPairs);
}

/// One super-parent's model as an ordinary network, with tables made by the ordinary estimator.
Network spode(const CountSet& counts, std::size_t parent, double alpha) {
  std::vector<std::vector<std::size_t>> parents(counts.n_features(), std::vector<std::size_t>{parent});
  parents[parent].clear();
  DirichletOptions options;
  options.alpha = alpha;
  return estimate_dirichlet(Structure(parents), counts, options);
}

/// P(class, row) as the definition has it.
std::vector<double> averaged(const CountSet& counts, const std::vector<Code>& row, double alpha, double min_count) {
  const std::size_t n = counts.n_features(), s = counts.n_classes();
  std::vector<double> sums(s, 0.0);
  std::size_t models = 0;
  for (std::size_t p = 0; p < n; ++p) {
    if (min_count > 0) {
      if (row[p] == kMissing) continue;
      double seen = 0;
      for (std::size_t c = 0; c < s; ++c) seen += counts.single(p)[row[p] * s + c];
      if (seen < min_count) continue;
    }
    ++models;
    const Network network = spode(counts, p, alpha);
    for (std::size_t c = 0; c < s; ++c) sums[c] += summed_probability(network, row, c);
  }
  DirichletOptions options;
  options.alpha = alpha;
  const Network naive = estimate_dirichlet(Structure::naive(n), counts, options);
  for (std::size_t c = 0; c < s; ++c)
    sums[c] = models == 0 ? summed_probability(naive, row, c) : sums[c] / static_cast<double>(models);
  return sums;
}

void check_row(const AodePredictor& predictor, const std::vector<Code>& row, const std::vector<double>& expected) {
  const auto joint = predict_one(predictor, row, Output::kLogJoint);
  const auto posterior = predict_one(predictor, row, Output::kPosterior);
  const auto log_posterior = predict_one(predictor, row, Output::kLogPosterior);
  double total = 0;
  for (const double p : expected) total += p;
  for (std::size_t c = 0; c < expected.size(); ++c) {
    CHECK_NEAR(joint[c], std::log(expected[c]), 1e-12);
    const double p = total > 0 ? expected[c] / total : 1.0 / static_cast<double>(expected.size());
    CHECK_NEAR(posterior[c], p, 1e-14);
    CHECK_NEAR(log_posterior[c], std::log(p), 1e-12);
  }
}

/// Tables of so few or so unlike numbers that products need powers of two: alpha of 1e-100 does that to a few features.
Aode strained_aode(std::mt19937_64& random, const Shape& shape) {
  AodeOptions options;
  options.alpha = 1e-100;
  return learn_aode(draw_counts(random, shape, draw_cards(random, shape)), options);
}

}  // namespace

TEST(tables_are_those_of_ordinary_networks) {
  std::mt19937_64 random(1);
  for (const double alpha : {0.0, 0.5, 1.0})
    for (const Shape shape : {Shape{40, 4, 3, 3, 10}, Shape{7, 3, 4, 2}, Shape{1, 2, 2, 2}, Shape{0, 3, 3, 2}}) {
      const auto cards = draw_cards(random, shape);
      const CountSet counts = draw_counts(random, shape, cards);
      AodeOptions options;
      options.alpha = alpha;
      const Aode aode = learn_aode(counts, options);
      const std::size_t s = shape.classes;
      for (std::size_t p = 0; p < cards.size(); ++p) {
        const Network network = spode(counts, p, alpha);
        CHECK(std::ranges::equal(aode.class_probabilities(), network.class_probabilities()));
        CHECK(std::ranges::equal(aode.single(p), network.table(p)));
        for (std::size_t i = 0; i < cards.size(); ++i)
          for (std::size_t v = 0; i != p && v < cards[p]; ++v)
            CHECK(std::ranges::equal(aode.pair(p, v, i), network.table(i).subspan(v * cards[i] * s, cards[i] * s)));
        for (std::size_t v = 0; v < cards[p]; ++v) {
          double weight = 0;
          for (std::size_t c = 0; c < s; ++c) weight += counts.single(p)[v * s + c];
          CHECK_EQ(aode.value_counts(p)[v], weight);
        }
      }
    }
}

TEST(number_of_free_parameters) {
  std::mt19937_64 random(2);
  const Shape shape{20, 3, 4, 3};
  const std::vector<std::uint32_t> cards{2, 3, 1};
  const CountSet counts = draw_counts(random, shape, cards);
  // Each model: (r_p - 1) and, for each value of p, (r_i - 1) of the others, times the classes; the class prior once.
  const std::uint64_t expected = 2 + 3 * ((1 + 2 * (2 + 0)) + (2 + 3 * (1 + 0)) + (0 + 1 * (1 + 2)));
  CHECK_EQ(learn_aode(counts).n_parameters(), expected);
}

TEST(rows_match_the_average_of_the_models) {
  std::mt19937_64 random(3);
  for (const Shape shape : {Shape{30, 1, 3, 2}, Shape{50, 5, 3, 3}, Shape{60, 7, 2, 2, 20}, Shape{25, 4, 4, 5, 10},
                            Shape{200, 6, 5, 26}, Shape{9, 5, 1, 1}, Shape{0, 3, 3, 2}, Shape{1, 4, 2, 3}})
    for (const double alpha : {0.0, 0.01, 1.0})
      for (const double min_count : {0.0, 1.0, 8.0, 1000.0}) {
        const auto cards = draw_cards(random, shape);
        const CountSet counts = draw_counts(random, shape, cards);
        AodeOptions options;
        options.alpha = alpha;
        options.min_count = min_count;
        const AodePredictor predictor(learn_aode(counts, options));
        for (int i = 0; i < 12; ++i) {
          const auto row = random_row(random, cards, 25 * (i % 4));
          check_row(predictor, row, averaged(counts, row, alpha, min_count));
        }
      }
}

TEST(without_features_the_class_probabilities_remain) {
  const AodePredictor predictor(Aode({}, {0.25, 0.75}, {}, {}, {}));
  check_row(predictor, {}, {0.25, 0.75});
  // Many rows at once are read in another way.
  std::vector<double> out(200);
  predictor.predict_columns({}, 100, Output::kPosterior, out);
  for (std::size_t i = 0; i < out.size(); i += 2) {
    CHECK_EQ(out[i], 0.25);
    CHECK_EQ(out[i + 1], 0.75);
  }
}

TEST(one_feature_is_naive_bayes) {
  std::mt19937_64 random(4);
  const CountSet counts = draw_counts(random, {30, 1, 4, 3}, {4});
  const Network naive = estimate_dirichlet(Structure::naive(1), counts);
  const AodePredictor predictor(learn_aode(counts));
  for (const Code code : {Code{0}, Code{3}, kMissing}) {
    std::vector<double> expected;
    for (std::size_t c = 0; c < 3; ++c) expected.push_back(summed_probability(naive, {code}, c));
    check_row(predictor, {code}, expected);
  }
}

TEST(log_posteriors_too_small_for_a_probability) {
  // P(class 1 | row) = 1e-330 has a logarithm, although no double holds it.
  const AodePredictor predictor(Aode({2}, {1.0, 1e-300}, {1.0, 1e-30, 0.0, 1.0}, {}, {1.0, 1.0}));
  const auto logs = predict_one(predictor, {0}, Output::kLogPosterior);
  CHECK_EQ(logs[0], 0.0);
  CHECK_NEAR(logs[1], std::log(1e-300) + std::log(1e-30), 1e-12);
}

TEST(class_prior_replaces_the_estimate) {
  std::mt19937_64 random(5);
  const CountSet counts = draw_counts(random, {30, 3, 3, 2}, {2, 3, 2});
  AodeOptions options;
  options.class_prior = {0.9, 0.1};
  const Aode aode = learn_aode(counts, options);
  CHECK_EQ(aode.class_probabilities()[0], 0.9);
  options.class_prior = {1.0};
  CHECK_THROWS(InvalidInput, learn_aode(counts, options), "class_prior: expected 2 probabilities");
}

TEST(one_row_and_batches_of_every_kind_agree_to_the_bit) {
  std::mt19937_64 random(6);
  const auto check = [&](const Aode& aode, bool expect_scaled) {
    CHECK_EQ(AodePlan(aode).scaled, expect_scaled);
    const AodePredictor predictor(aode);
    const std::vector<std::uint32_t> cards(aode.cardinalities().begin(), aode.cardinalities().end());
    std::vector<std::vector<Code>> all;
    for (int i = 0; i < 5000; ++i) all.push_back(random_row(random, cards, i > 1000 && i % 5 == 0 ? 15 : 0));
    check_batches(predictor, all, [](Output output) { return std::vector{output == Output::kLogPosterior ? 1 : 3}; });
  };
  for (const Shape shape : {Shape{200, 3, 4, 2}, Shape{300, 12, 4, 3, 5}, Shape{300, 9, 12, 4}, Shape{400, 6, 5, 26},
                            Shape{100, 5, 3, 1}, Shape{300, 4, 40, 6}, Shape{90, 8, 1, 2}}) {
    for (const double min_count : {0.0, 30.0}) {
      AodeOptions options;
      options.min_count = min_count;
      check(learn_aode(draw_counts(random, shape, draw_cards(random, shape)), options), false);
    }
    if (shape.features > 8) check(strained_aode(random, shape), true);
  }
}

TEST(every_instruction_set_and_size_of_blocks_gives_the_same_bits) {
  std::mt19937_64 random(7);
  const auto check = [&](const Aode& aode) {
    const AodePlan plan(aode);
    const std::vector<std::uint32_t> cards(aode.cardinalities().begin(), aode.cardinalities().end());
    std::vector<std::vector<Code>> rows;
    for (std::size_t row = 0; row < 300; ++row) rows.push_back(random_row(random, cards, row % 3 == 0 ? 20 : 0));
    std::vector<double> sums, powers;
    for (int level = 0; level <= static_cast<int>(supported_isa()); ++level)
      // So many rows read the tables of features one by one without and with being sorted, and joined tables.
      for (const std::size_t block_rows : {5U, 20U, 300U}) {
        std::vector<double> found_sums, found_powers;
        for (std::size_t first = 0; first < rows.size(); first += block_rows) {
          AodeBlock block(plan, block_rows);
          for (std::size_t i = 0; i < block_rows; ++i)
            for (std::size_t f = 0; f < cards.size(); ++f) {
              const Code code = rows[first + i][f];
              block.slots_of(f)[i] = code == kMissing ? static_cast<std::uint16_t>(cards[f]) : code;
              if (code == kMissing) block.has_missing[f] = 1;
            }
          average_block(aode, plan, block, static_cast<Isa>(level));
          for (std::size_t i = 0; i < block_rows; ++i)
            for (std::size_t c = 0; c < plan.n_classes; ++c) {  // padding is no result
              found_sums.push_back(block.sums[i * plan.width + c]);
              if (plan.scaled) found_powers.push_back(block.powers[i * plan.width + c]);
            }
        }
        if (sums.empty()) {
          sums = found_sums;
          powers = found_powers;
        }
        CHECK(found_sums == sums);
        CHECK(found_powers == powers);
      }
  };
  for (const std::uint32_t classes : {1U, 2U, 3U, 4U, 5U, 8U, 13U, 17U, 26U, 33U}) {
    const Shape shape{200, 10, 4, classes, 3};
    check(learn_aode(draw_counts(random, shape, draw_cards(random, shape))));
    check(strained_aode(random, shape));
  }
}

TEST(scaled_products_match_logarithms) {
  std::mt19937_64 random(8);
  for (const Shape shape : {Shape{60, 30, 4, 3, 5}, Shape{40, 400, 2, 2, 0}, Shape{80, 12, 5, 7, 10}}) {
    const Aode aode = strained_aode(random, shape);
    CHECK(AodePlan(aode).scaled);
    const AodePredictor predictor(aode);
    const std::vector<std::uint32_t> cards(aode.cardinalities().begin(), aode.cardinalities().end());
    const std::size_t n = cards.size(), s = aode.n_classes();
    for (int i = 0; i < 10; ++i) {
      const auto row = random_row(random, cards, i % 2 == 0 ? 0 : 10);
      std::vector<long double> joint(s, -std::numeric_limits<long double>::infinity());
      for (std::size_t c = 0; c < s; ++c) {
        std::vector<long double> logs;  // of every model, and of every value of a missing super-parent
        for (std::size_t p = 0; p < n; ++p)
          for (std::size_t v = 0; v < cards[p]; ++v) {
            if (row[p] != kMissing && row[p] != v) continue;
            long double log = std::log(static_cast<long double>(aode.class_probabilities()[c])) +
                              std::log(static_cast<long double>(aode.single(p)[v * s + c]));
            for (std::size_t k = 0; k < n; ++k)
              if (k != p && row[k] != kMissing)
                log += std::log(static_cast<long double>(aode.pair(p, v, k)[row[k] * s + c]));
            logs.push_back(log);
          }
        const long double largest = *std::max_element(logs.begin(), logs.end());
        long double sum = 0;
        for (const long double log : logs) sum += std::exp(log - largest);
        joint[c] = largest + std::log(sum / static_cast<long double>(n));
      }
      const auto found = predict_one(predictor, row, Output::kLogJoint);
      const auto log_posterior = predict_one(predictor, row, Output::kLogPosterior);
      const auto posterior = predict_one(predictor, row, Output::kPosterior);
      const long double largest = *std::max_element(joint.begin(), joint.end());
      long double total = 0;
      for (const long double value : joint) total += std::exp(value - largest);
      for (std::size_t c = 0; c < s; ++c) {
        const auto log_p = static_cast<double>(joint[c] - largest - std::log(total));
        CHECK_NEAR(found[c], static_cast<double>(joint[c]), 1e-13 * std::abs(static_cast<double>(joint[c])) + 1e-12);
        CHECK_NEAR(log_posterior[c], log_p, 1e-13 * std::abs(log_p) + 1e-12);
        CHECK_NEAR(posterior[c], std::exp(log_p), 1e-12);
      }
    }
  }
}

TEST(twelve_hundred_features_do_not_underflow) {
  std::mt19937_64 random(9);
  const Shape shape{50, 1200, 2, 2};
  const CountSet counts = draw_counts(random, shape, std::vector<std::uint32_t>(1200, 2));
  const Aode aode = learn_aode(counts);
  const AodePredictor predictor(aode);
  std::vector<Code> all;
  std::vector<double> expected;
  for (int i = 0; i < 12; ++i) {
    const auto row = random_row(random, std::vector<std::uint32_t>(1200, 2), i % 3);
    all.insert(all.end(), row.begin(), row.end());
    const auto one = predict_one(predictor, row, Output::kPosterior);
    CHECK_NEAR(one[0] + one[1], 1.0, 1e-15);
    expected.insert(expected.end(), one.begin(), one.end());
    const auto joint = predict_one(predictor, row, Output::kLogJoint);
    CHECK(joint[0] < -700 && joint[1] < -700 && std::isfinite(joint[0]) && std::isfinite(joint[1]));
    CHECK_NEAR(std::log(one[0] / one[1]), joint[0] - joint[1], 1e-9);
  }
  std::vector<double> out(expected.size());
  predictor.predict_rows(std::span<const Code>(all), Output::kPosterior, out, 2);
  CHECK(out == expected);
}

TEST(extreme_class_priors_stay_in_range) {
  std::mt19937_64 random(10);
  const CountSet counts = draw_counts(random, {60, 6, 3, 3}, {3, 2, 3, 2, 3, 2});
  AodeOptions options;
  options.alpha = 1e-150;
  options.class_prior = {1.0, 1e-320, 0.0};
  const AodePredictor predictor(learn_aode(counts, options));
  for (int i = 0; i < 20; ++i) {
    const auto row = random_row(random, {3, 2, 3, 2, 3, 2}, 10);
    const auto joint = predict_one(predictor, row, Output::kLogJoint);
    CHECK(std::isfinite(joint[0]) && std::isfinite(joint[1]) && joint[1] < -700);
    CHECK_EQ(joint[2], kMinusInfinity);
    const auto posterior = predict_one(predictor, row, Output::kPosterior);
    CHECK_NEAR(posterior[0] + posterior[1], 1.0, 1e-15);
    CHECK_EQ(posterior[2], 0.0);
    CHECK_EQ(predictor.predict_class(row), 0u);
  }
}

TEST(a_row_impossible_in_all_models_gets_the_uniform_posterior) {
  // Feature 0 is always 0, feature 1 always 1 in learning, without pseudo-counts.
  const std::vector<Code> zeros(6, 0), ones(6, 1), classes{0, 1, 2, 0, 1, 2};
  const Dataset data({Column(zeros, 2), Column(ones, 2)}, Column(classes, 3), {});
  AodeOptions options;
  options.alpha = 0;
  const AodePredictor predictor(learn_aode(count(data, CountScope::kPairs), options));
  const std::vector<Code> row{1, 0};
  for (const double p : predict_one(predictor, row, Output::kPosterior)) CHECK_EQ(p, 1.0 / 3);
  for (const double p : predict_one(predictor, row, Output::kLogPosterior)) CHECK_NEAR(p, -std::log(3.0), 1e-15);
  for (const double p : predict_one(predictor, row, Output::kLogJoint)) CHECK_EQ(p, kMinusInfinity);
  CHECK_EQ(predictor.predict_class(row), 0u);
}

TEST(invalid_input_is_rejected) {
  std::mt19937_64 random(11);
  const CountSet counts = draw_counts(random, {30, 2, 3, 2}, {2, 3});
  const Aode aode = learn_aode(counts);
  const auto copy = [](std::span<const double> cells) { return std::vector<double>(cells.begin(), cells.end()); };
  const auto remade =
      [&](const std::function<void(std::vector<double>&, std::vector<double>&, std::vector<double>&)>& spoil,
          double min_count = 0) {
        std::vector<double> singles = copy(aode.singles()), pairs = copy(aode.pairs()),
                            seen = copy(aode.value_counts());
        spoil(singles, pairs, seen);
        Aode({2, 3}, {0.5, 0.5}, singles, pairs, seen, min_count);
      };
  remade([](auto&, auto&, auto&) {}, 3);
  CHECK_THROWS(InvalidInput, remade([](auto& s, auto&, auto&) { s.pop_back(); }), "single features must have 10 cells");
  CHECK_THROWS(InvalidInput, remade([](auto&, auto& p, auto&) { p.push_back(0); }), "pairs must have 24 cells, got 25");
  CHECK_THROWS(InvalidInput, remade([](auto&, auto&, auto& w) { w.pop_back(); }), "counts of values must have 5");
  CHECK_THROWS(InvalidInput, remade([](auto& s, auto&, auto&) { s[0] += 0.1; }),
               "the table of feature 0: expected probabilities that sum");
  CHECK_THROWS(InvalidInput, remade([](auto&, auto& p, auto&) { p[0] = -0.1; }),
               "the table of feature 1 given feature 0: expected probabilities, got");
  CHECK_THROWS(InvalidInput, remade([](auto&, auto&, auto& w) { w[0] = -1; }), "non-negative, got -1");
  CHECK_THROWS(InvalidInput, remade([](auto&, auto&, auto&) {}, -1), "min_count: expected a finite number >= 0");
  AodeOptions options;
  options.alpha = -1;
  CHECK_THROWS(InvalidInput, learn_aode(counts, options), "alpha: expected a number >= 0");
  CHECK_THROWS(InvalidInput, learn_aode(CountSet({2, 3}, 2, CountScope::kSingles)), "need the counts of all pairs");
  CHECK_THROWS(InvalidInput, Aode(std::vector<std::uint32_t>(3, 60000), {1.0}, std::vector<double>(180000), {}, {}),
               "tables of all pairs of 3 features");

  const AodePredictor predictor(aode);
  std::vector<double> out(2);
  CHECK_THROWS(InvalidInput, predictor.predict(std::vector<Code>{0, 3}, Output::kPosterior, out),
               "feature 1 has code 3, but 3 values are known");
  CHECK_THROWS(InvalidInput, predictor.predict(std::vector<Code>{0}, Output::kPosterior, out), "must have 2 numbers");
  CHECK_THROWS(InvalidInput,
               predictor.predict_rows(std::span<const Code>(std::vector<Code>{0, 0, 1}), Output::kPosterior, out),
               "not complete rows");
  CHECK_THROWS(InvalidInput,
               predictor.predict_rows(std::span<const std::uint8_t>(std::vector<std::uint8_t>{5, 0}),
                                      Output::kPosterior, out, 2),
               "feature 0 has code 5");
  CHECK_THROWS(InvalidInput,
               predictor.predict_rows(std::span<const Code>(std::vector<Code>{0, 0, 1, 1}), Output::kPosterior, out),
               "the output must have 4 numbers");
}

TEST_MAIN

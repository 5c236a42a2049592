// Prediction against products of table entries and sums over all completions; the same bits on every road.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "batches.hpp"
#include "check.hpp"
#include "predict/lookup_kernels.hpp"
#include "predict/lookup_tables.hpp"
#include "random_networks.hpp"
#include "simd/cpu.hpp"
#include "simd/vector_exp.hpp"
#include "tanager/errors.hpp"
#include "tanager/inference.hpp"
#include "tanager/network_predictor.hpp"

using namespace tanager;
using namespace tanager::internal;
using namespace testing;

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Shape {
  std::size_t features, max_parents;
  std::uint32_t values, classes;
};

Network draw_network(std::mt19937_64& random, const Shape& shape, bool with_zeros = false) {
  std::vector<std::uint32_t> cards;
  for (std::size_t f = 0; f < shape.features; ++f)
    cards.push_back(1 + static_cast<std::uint32_t>(draw(random, shape.values)));
  return random_network(random, random_structure(random, shape.features, shape.max_parents), cards, shape.classes,
                        with_zeros);
}

std::vector<std::uint32_t> cards_of(const Network& network) {
  return {network.cardinalities().begin(), network.cardinalities().end()};
}

}  // namespace

TEST(complete_rows_match_products_of_table_entries) {
  std::mt19937_64 random(1);
  for (const Shape shape :
       {Shape{1, 0, 3, 2}, Shape{5, 1, 4, 3}, Shape{9, 3, 3, 5}, Shape{40, 1, 4, 26}, Shape{12, 1, 9, 1}})
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Network network = draw_network(random, shape);
      const NetworkPredictor predictor(network);
      const auto row = random_row(random, cards_of(network), 0);
      const auto joint = predict_one(predictor, row, Output::kLogJoint);
      const auto posterior = predict_one(predictor, row, Output::kPosterior);
      const auto log_posterior = predict_one(predictor, row, Output::kLogPosterior);
      double total = 0, sum = 0;
      for (std::size_t c = 0; c < joint.size(); ++c) total += joint_probability(network, row, c);
      for (std::size_t c = 0; c < joint.size(); ++c) {
        const double p = joint_probability(network, row, c);
        CHECK_NEAR(joint[c], std::log(p), 1e-12 * shape.features);
        CHECK_NEAR(posterior[c], p / total, 1e-13);
        CHECK_NEAR(log_posterior[c], std::log(p / total), 1e-12 * shape.features);
        sum += posterior[c];
      }
      CHECK_NEAR(sum, 1.0, 1e-15 * joint.size() + 1e-15);
    }
}

TEST(missing_features_are_summed_out) {
  std::mt19937_64 random(2);
  for (const Shape shape :
       {Shape{1, 0, 3, 2}, Shape{6, 0, 3, 2}, Shape{7, 1, 3, 3}, Shape{8, 1, 2, 2}, Shape{7, 3, 3, 2}})
    for (int repeat = 0; repeat < 150; ++repeat) {
      const bool zeros = repeat % 3 == 0;
      const Network network = draw_network(random, shape, zeros);
      const NetworkPredictor predictor(network);
      const auto row = random_row(random, cards_of(network), 10 + 30 * (repeat % 4));
      const auto joint = predict_one(predictor, row, Output::kLogJoint);
      for (std::size_t c = 0; c < joint.size(); ++c)
        CHECK_NEAR(joint[c], std::log(summed_probability(network, row, c)), 1e-12);
    }
}

TEST(joint_probabilities_of_a_domain_sum_to_one) {
  std::mt19937_64 random(3);
  const Network network = draw_network(random, {6, 1, 3, 3});
  const NetworkPredictor predictor(network);
  const auto joint = predict_one(predictor, std::vector<Code>(6, kMissing), Output::kLogJoint);
  double sum = 0;
  for (const double value : joint) sum += std::exp(value);
  CHECK_NEAR(sum, 1.0, 1e-14);
}

TEST(one_row_and_batches_of_every_kind_agree_to_the_bit) {
  std::mt19937_64 random(4);
  for (const Shape shape : {Shape{3, 1, 4, 2}, Shape{30, 1, 4, 3}, Shape{20, 0, 5, 4}, Shape{17, 1, 12, 7},
                            Shape{25, 2, 3, 26}, Shape{6, 1, 4, 1}}) {
    const Network network = draw_network(random, shape);
    const NetworkPredictor predictor(network);
    std::vector<std::vector<Code>> all;
    for (int i = 0; i < 5000; ++i) all.push_back(random_row(random, cards_of(network), i % 9 == 0 ? 15 : 0));
    check_batches(predictor, all, [](Output) { return std::vector{1, 2, 7}; });
  }
}

TEST(every_instruction_set_gives_the_same_bits) {
  std::mt19937_64 random(5);
  for (const Shape shape : {Shape{30, 1, 4, 2}, Shape{30, 1, 4, 3}, Shape{9, 0, 30, 26}}) {
    const Network network = draw_network(random, shape);
    const auto cards = cards_of(network);
    const auto logs = InferenceTables(family_tables(network)).logs;
    const LookupTables tables = build_lookup_tables(network, logs);
    std::vector<std::vector<Code>> all;
    for (int i = 0; i < 200; ++i) all.push_back(random_row(random, cards, 1));
    const Batch batch(all);
    const auto columns = batch.columns(false);
    std::vector<std::vector<double>> results;
    for (int level = 0; level <= static_cast<int>(supported_isa()); ++level) {
      std::vector<double> joint(all.size() * shape.classes);
      std::vector<std::uint8_t> incomplete(all.size());
      log_joint_block(tables, cards, columns, 0, all.size(), joint.data(), incomplete.data(), static_cast<Isa>(level));
      for (std::size_t i = 0; i < all.size(); ++i)
        CHECK_EQ(incomplete[i] != 0, std::count(all[i].begin(), all[i].end(), kMissing) > 0);
      finish_block(joint.data(), all.size(), shape.classes, Output::kPosterior, static_cast<Isa>(level));
      results.push_back(joint);
    }
    for (const auto& result : results) CHECK(result == results[0]);
  }
}

TEST(look_ups_larger_than_16_bits) {
  std::mt19937_64 random(6);
  const std::vector<std::uint32_t> cards{300, 400, 3, 300};
  const Network network = random_network(random, Structure({{}, {0}, {1}, {}}), cards, 2);
  const NetworkPredictor predictor(network);
  std::vector<Code> rows;
  std::vector<double> expected;
  for (int i = 0; i < 700; ++i) {
    const auto row = random_row(random, cards, 5);
    rows.insert(rows.end(), row.begin(), row.end());
    const auto one = predict_one(predictor, row, Output::kLogJoint);
    expected.insert(expected.end(), one.begin(), one.end());
    for (std::size_t c = 0; c < 2; ++c)
      if (std::count(row.begin(), row.end(), kMissing) == 0)
        CHECK_NEAR(one[c], std::log(joint_probability(network, row, c)), 1e-12);
  }
  std::vector<double> out(expected.size());
  predictor.predict_rows(std::span<const Code>(rows), Output::kLogJoint, out, 2);
  CHECK(out == expected);
}

TEST(thousands_of_features_of_one_value) {
  const std::size_t n = 60000;
  std::vector<std::vector<double>> tables(n, std::vector<double>{1, 1});
  tables[7] = {0.75, 0.5, 0.25, 0.5};
  std::vector<std::uint32_t> cards(n, 1);
  cards[7] = 2;
  const NetworkPredictor predictor(Network(Structure::naive(n), cards, {0.5, 0.5}, tables));
  CHECK_NEAR(predict_one(predictor, std::vector<Code>(n, 0), Output::kPosterior)[0], 0.6, 1e-15);
}

TEST(many_classes) {
  std::mt19937_64 random(7);
  const std::vector<std::uint32_t> cards{3, 4};
  const Network network = random_network(random, Structure({{}, {0}}), cards, 20000);
  const NetworkPredictor predictor(network);
  const std::vector<Code> row{1, 2};
  std::vector<double> out(3 * 20000);
  predictor.predict_rows(std::span<const Code>(std::vector<Code>{1, 2, 0, 0, 1, 2}), Output::kPosterior, out, 1);
  const auto one = predict_one(predictor, row, Output::kPosterior);
  CHECK(std::equal(one.begin(), one.end(), out.begin()));
  CHECK(std::equal(one.begin(), one.end(), out.begin() + 2 * 20000));
}

TEST(a_row_impossible_under_every_class_gets_the_uniform_posterior) {
  const Network network(Structure::naive(2), {2, 2}, {0.5, 0.25, 0.25}, {{1, 1, 1, 0, 0, 0}, {1, 0, 1, 0, 1, 0}});
  const NetworkPredictor predictor(network);
  for (const double p : predict_one(predictor, {1, 0}, Output::kPosterior)) CHECK_EQ(p, 1.0 / 3);
  for (const double p : predict_one(predictor, {1, 0}, Output::kLogPosterior)) CHECK_NEAR(p, -std::log(3.0), 1e-15);
  for (const double p : predict_one(predictor, {1, 0}, Output::kLogJoint)) CHECK_EQ(p, kMinusInfinity);
  CHECK_EQ(predictor.predict_class(std::vector<Code>{1, 0}), 0u);
  const auto possible = predict_one(predictor, {0, 1}, Output::kPosterior);
  CHECK_EQ(possible[0], 0.0);
  CHECK_EQ(possible[1], 1.0);
  CHECK_EQ(possible[2], 0.0);
  const auto logs = predict_one(predictor, {0, 1}, Output::kLogPosterior);
  CHECK_EQ(logs[0], kMinusInfinity);
  CHECK_EQ(logs[1], 0.0);
}

TEST(codes_and_sizes_are_checked) {
  std::mt19937_64 random(8);
  const Network network = random_network(random, Structure({{}, {0}}), {2, 3}, 2);
  const NetworkPredictor predictor(network);
  std::vector<double> out(2);
  CHECK_THROWS(InvalidInput, predictor.predict(std::vector<Code>{0, 3}, Output::kPosterior, out),
               "feature 1 has code 3, but 3 values are known");
  CHECK_THROWS(InvalidInput, predictor.predict(std::vector<Code>{0}, Output::kPosterior, out), "must have 2 numbers");
  CHECK_THROWS(InvalidInput,
               predictor.predict_rows(std::span<const Code>(std::vector<Code>{0, 0, 1}), Output::kPosterior, out),
               "not complete rows");
  CHECK_THROWS(InvalidInput,
               predictor.predict_rows(std::span<const Code>(std::vector<Code>{5, 0}), Output::kPosterior, out, 2),
               "feature 0 has code 5");
  CHECK_THROWS(InvalidInput,
               predictor.predict_rows(std::span<const Code>(std::vector<Code>{0, 0, 1, 1}), Output::kPosterior, out),
               "the output must have 4 numbers");
  // 2^63 rows of two classes: a product that is zero in 64 bits.
  const std::vector<CodeColumn> columns(2);
  CHECK_THROWS(InvalidInput,
               predictor.predict_columns(columns, std::size_t{1} << 63, Output::kPosterior, std::span<double>{}),
               "no output can have 2 numbers for each of 9223372036854775808 rows");
}

TEST(missing_features_of_many_values_in_any_structure) {
  std::mt19937_64 random(9);
  const std::vector<std::uint32_t> cards{300, 300, 300, 2, 2};
  const Network network = random_network(random, Structure({{}, {}, {}, {0, 1}, {0, 2}}), cards, 1);
  const NetworkPredictor predictor(network);
  double expected = 0;
  for (std::size_t a = 0; a < 300; ++a) {
    double three = 0, four = 0;
    for (std::size_t b = 0; b < 300; ++b) {
      three += network.table(1)[b] * network.table(3)[(a * 300 + b) * 2];
      four += network.table(2)[b] * network.table(4)[(a * 300 + b) * 2 + 1];
    }
    expected += network.table(0)[a] * three * four;
  }
  const std::vector<Code> row{kMissing, kMissing, kMissing, 0, 1};
  CHECK_NEAR(predict_one(predictor, row, Output::kLogJoint)[0], std::log(expected), 1e-12);
}

TEST(one_predictor_serves_many_threads) {
  std::mt19937_64 random(10);
  const Network network = draw_network(random, {10, 1, 4, 3});
  const NetworkPredictor predictor(network);
  std::vector<Code> rows;
  for (int i = 0; i < 3000; ++i) {
    const auto row = random_row(random, cards_of(network), 10);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  std::vector<double> expected(9000);
  predictor.predict_rows(std::span<const Code>(rows), Output::kPosterior, expected);
  std::vector<std::vector<double>> results(4, std::vector<double>(9000));
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&] { predictor.predict_rows(std::span<const Code>(rows), Output::kPosterior, result); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == expected);
}

TEST(vector_exp_is_within_one_ulp) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200000; ++i) {
    const double x = -static_cast<double>(random() % 7000000) / 10000;
    const long double exact = std::exp(static_cast<long double>(x));
    const double near = static_cast<double>(exact);
    CHECK_NEAR(vector_exp(x), near, 1.01 * (std::nextafter(near, 2.0) - near));
  }
  CHECK_EQ(vector_exp(0.0), 1.0);
  CHECK_EQ(vector_exp(kMinusInfinity), 0.0);
  CHECK_EQ(vector_exp(-746.0), 0.0);
  for (const double x : {-709.5, -720.25, -740.0, -744.0}) CHECK_NEAR(vector_exp(x), std::exp(x), 5e-324);
}

TEST_MAIN

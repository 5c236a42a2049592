// The average over all TANs against sums over all trees, all rows and all kernels.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "check.hpp"
#include "reference.hpp"
#include "simd/cpu.hpp"
#include "tanager/errors.hpp"
#include "tanager/network_predictor.hpp"
#include "tanager/tbmatan.hpp"
#include "tbmatan/rising_factorial.hpp"
#include "trees.hpp"

using namespace tanager;
using namespace tanager::internal;
using Method = TbmatanPredictor::Method;

namespace {

Dataset table_of(std::size_t n_features, std::size_t n_rows, double missing, bool weighted, std::uint64_t seed,
                 std::uint32_t classes = 2) {
  std::vector<reference::ColumnSpec> columns;
  for (std::size_t f = 0; f < n_features; ++f)
    columns.push_back({static_cast<std::uint32_t>(2 + (f + seed) % 2), missing, 0.3});
  return reference::random_dataset(columns, {classes, 0.0, 0.2}, n_rows, weighted, seed);
}

/// A chain of copies with a little noise: with many rows, trees other than the chain are out of the question.
Dataset noisy_chain(std::size_t n_features, std::size_t n_rows, std::uint32_t classes) {
  std::mt19937_64 random(1);
  std::vector<std::vector<std::uint8_t>> codes(n_features, std::vector<std::uint8_t>(n_rows));
  std::vector<std::uint8_t> labels(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    labels[row] = static_cast<std::uint8_t>(random() % classes);
    for (std::size_t f = 0; f < n_features; ++f)
      codes[f][row] = static_cast<std::uint8_t>(f == 0 || random() % 8 == 0 ? random() % 3 : codes[f - 1][row]);
  }
  std::vector<Column> columns;
  for (auto& column : codes) columns.emplace_back(std::move(column), 3);
  return {std::move(columns), Column(std::move(labels), classes)};
}

/// All rows of a domain.
std::vector<std::vector<Code>> all_rows(std::span<const std::uint32_t> cardinalities) {
  std::vector<std::vector<Code>> rows{{}};
  for (const std::uint32_t values : cardinalities) {
    std::vector<std::vector<Code>> longer;
    for (const auto& row : rows)
      for (std::uint32_t value = 0; value < values; ++value) {
        longer.push_back(row);
        longer.back().push_back(static_cast<Code>(value));
      }
    rows = std::move(longer);
  }
  return rows;
}

std::vector<double> log_joint(const Predictor& predictor, const std::vector<Code>& row) {
  std::vector<double> out(predictor.n_classes());
  predictor.predict(row, Output::kLogJoint, out);
  return out;
}

/// ln of the probability of all rows under one tree, row after row: every row is predicted from those before it.
double log_evidence(const Dataset& data, const TbmatanOptions& options, const std::vector<Edge>& tree) {
  double log = 0;
  std::vector<std::size_t> before;
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    const Tbmatan model(count(data.subset(before), CountScope::kPairs), options);
    std::vector<Code> codes;
    for (std::size_t f = 0; f < data.n_features(); ++f) codes.push_back(data.feature(f)[row]);
    log += log_joint(NetworkPredictor(model.network_of(tree)), codes)[data.target()[row]];
    before.push_back(row);
  }
  return log;
}

}  // namespace

TEST(rising_factorials_of_whole_and_other_numbers) {
  for (const double a : {0.01, 0.4, 1.0, 2.5, 10.0})
    for (const double x : {0.0, 1.0, 2.0, 0.5, 7.25, 31.0, 100.0, 100.75}) {
      const RisingFactorials rising(a * 3, 3, 120);
      const double expected = std::lgamma(a + x) - std::lgamma(a);
      CHECK_NEAR(rising(x).log(), expected, 1e-12);
    }
  // Beyond the table of all of them, the quotient of neighbors is still exact.
  const RisingFactorials large(10, 3, 200000);
  for (const double x : {70000.0, 131071.0, 199999.0}) {
    const Scaled quotient = large(x + 1) / large(x);
    CHECK_NEAR(std::ldexp(quotient.mantissa, static_cast<int>(quotient.exponent)) / (x + 10.0 / 3), 1.0, 1e-15);
    const Scaled half = large(x + 0.5) / large(x);
    CHECK_NEAR(half.log(), std::lgamma(x + 0.5 + 10.0 / 3) - std::lgamma(x + 10.0 / 3), 1e-9);
  }
}

TEST(rising_factorials_of_huge_numbers_are_exact_and_quick) {
  struct Known {
    double numerator, denominator, x;
    double mantissa;
    std::int64_t exponent;
  };
  // By gamma functions of 600 digits.
  for (const Known& known :
       {Known{10, 4, 10000000.0, 0x1.932c67795aa12p+0, 218108063},
        Known{10, 4, 4200000000.0, 0x1.008a6843ecb95p+0, 128205198057},
        Known{1e119, 3, 3000000000.0, 0x1.8ac694b907e28p+0, 1181173442372},
        Known{1e-100, 7, 1234567.25, 0x1.11fe26e36070cp+0, 23200729},
        Known{10, 3, 65537.0, 0x1.a687f427d47cfp+0, 954088}, Known{10, 3, 65536.5, 0x1.a684ff26d58bep+0, 954080},
        Known{1, 6, 4294967295.75, 0x1.60d7852f7c8b5p+0, 131242625433}}) {
    const Scaled found = RisingFactorials(known.numerator, known.denominator, known.x)(known.x);
    CHECK_EQ(found.exponent, known.exponent);
    CHECK_NEAR(found.mantissa / known.mantissa, 1.0, 3e-15);
  }
}

TEST(weights_of_millions_of_rows) {
  // As often as it takes to bring exponents beyond 32 bits: copies of one feature, so all trees are alike, and
  // one apart, so no edge to it matters next to theirs.
  std::vector<Column> columns;
  for (std::size_t f = 0; f < 4; ++f) columns.emplace_back(std::vector<std::uint8_t>{0, 1, 2, 3, 0, 1, 2, 3}, 4);
  columns.emplace_back(std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1, 1, 1}, 2);
  const Dataset data(std::move(columns), Column(std::vector<std::uint8_t>(8, 0), 1), std::vector<double>(8, 4e8));
  const Tbmatan model(count(data, CountScope::kPairs));
  CHECK(model.edge_weights()(0, 1).exponent - model.edge_weights()(0, 4).exponent > std::int64_t{1} << 32);
  const std::vector<Code> row{0, 0, 0, 0, 0};
  const double expected = log_joint(TbmatanPredictor(model, Method::kExact), row)[0];
  CHECK_NEAR(log_joint(TbmatanPredictor(model), row)[0], expected, 1e-12);
  CHECK_NEAR(expected, std::log(0.125), 1e-8);
}

TEST(beliefs_of_any_size) {
  const Dataset data = table_of(5, 60, 0.0, false, 3);
  const CountSet counts = count(data, CountScope::kPairs);
  const TbmatanPredictor plain{Tbmatan(counts)};
  for (const double belief : {5e-324, 1e-310, 1e300, std::numeric_limits<double>::max()}) {
    TbmatanOptions options;
    options.edge_beliefs.assign(25, belief);  // what all share cancels
    const TbmatanPredictor believing{Tbmatan(counts, options)};
    for (const auto& row : all_rows(counts.cardinalities()))
      for (std::size_t c = 0; c < 2; ++c) CHECK_NEAR(log_joint(believing, row)[c], log_joint(plain, row)[c], 1e-13);
  }
}

TEST(a_check_ends_long_predictions) {
  struct Enough {};
  const Dataset data = table_of(12, 60, 0.0, false, 3);
  const std::vector<Code> all_missing(12, kMissing);
  std::vector<Code> rows;
  for (std::size_t i = 0; i < 1000; ++i) rows.insert(rows.end(), all_missing.begin(), all_missing.end());
  std::vector<double> out(2 * 1000);
  TbmatanOptions assignments, trees;
  assignments.max_assignments = 1 << 22;
  trees.max_assignments = 1;
  trees.n_trees = 20000;
  for (const TbmatanOptions& options : {assignments, trees})
    for (const int threads : {1, 2, 8}) {
      const TbmatanPredictor predictor{Tbmatan(count(data, CountScope::kPairs), options)};
      const auto caller = std::this_thread::get_id();
      std::size_t looks = 0;
      bool ended = false;
      const auto started = std::chrono::steady_clock::now();
      try {
        const StopCheck check([&] {
          CHECK(std::this_thread::get_id() == caller);
          if (++looks == 3) throw Enough{};
        });
        predictor.predict_rows(rows, Output::kPosterior, out, threads);
      } catch (const Enough&) {
        ended = true;
      }
      CHECK(ended);
      CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(10));  // all rows take minutes
    }
}

TEST(probabilities_of_a_whole_domain_sum_to_one) {
  for (std::size_t n = 1; n <= 5; ++n)
    for (const std::uint32_t classes : {1U, 2U, 3U})
      for (const double size : {0.1, 10.0})
        for (const std::optional<double> stubbornness : {std::optional<double>{}, std::optional<double>{5.0}}) {
          TbmatanOptions options;
          options.equivalent_sample_size = size;
          options.stubbornness = stubbornness;
          const Dataset data = table_of(n, 60, 0.0, false, n + 10 * classes, classes);
          const Tbmatan model(count(data, CountScope::kPairs), options);
          const TbmatanPredictor predictor(model);
          double sum = 0;
          for (const auto& row : all_rows(model.cardinalities()))
            for (const double log : log_joint(predictor, row)) sum += std::exp(log);
          CHECK_NEAR(sum, 1.0, 1e-13);
        }
}

TEST(the_average_is_that_of_all_trees_one_by_one) {
  for (std::size_t n = 2; n <= 5; ++n) {
    TbmatanOptions options;
    options.equivalent_sample_size = 3;
    const Dataset data = table_of(n, 25, 0.0, false, 3 * n);
    const Tbmatan model(count(data, CountScope::kPairs), options);
    const TbmatanPredictor predictor(model);
    // The evidence of every tree, from a prediction of each row by the rows before it: nothing here knows of weights.
    const auto trees = reference::all_trees(n);
    std::vector<double> evidence;
    for (const auto& tree : trees) evidence.push_back(log_evidence(data, options, tree));
    const double most = *std::max_element(evidence.begin(), evidence.end());
    double total = 0;
    for (const double log : evidence) total += std::exp(log - most);
    for (const auto& row : all_rows(model.cardinalities())) {
      std::vector<double> expected(model.n_classes(), 0.0);
      for (std::size_t t = 0; t < trees.size(); ++t) {
        const auto joint = log_joint(NetworkPredictor(model.network_of(trees[t])), row);
        for (std::size_t c = 0; c < expected.size(); ++c)
          expected[c] += std::exp(evidence[t] - most) / total * std::exp(joint[c]);
      }
      const auto found = log_joint(predictor, row);
      for (std::size_t c = 0; c < expected.size(); ++c) CHECK_NEAR(found[c], std::log(expected[c]), 1e-12);
    }
  }
}

TEST(all_methods_agree) {
  std::size_t n_schedules = 0;  // where no edge can be left out, the schedule is the dense elimination
  const auto compare = [&](const Dataset& data) {
    const Tbmatan model(count(data, CountScope::kPairs));
    const TbmatanPredictor schedule(model, Method::kSchedule), dense(model, Method::kDense),
        exact(model, Method::kExact);
    CHECK(schedule.n_steps() <= dense.n_steps());
    n_schedules += schedule.method() == Method::kSchedule;
    std::mt19937_64 random(data.n_features());
    for (int repeat = 0; repeat < 10; ++repeat) {
      std::vector<Code> row;
      for (const std::uint32_t values : model.cardinalities()) row.push_back(static_cast<Code>(random() % values));
      const auto a = log_joint(schedule, row), b = log_joint(dense, row), c = log_joint(exact, row);
      for (std::size_t k = 0; k < model.n_classes(); ++k) {
        CHECK_NEAR(a[k] - c[k], 0.0, 1e-13 * std::max(1.0, std::abs(c[k])));
        CHECK_NEAR(b[k] - c[k], 0.0, 1e-13 * std::max(1.0, std::abs(c[k])));
      }
    }
  };
  for (const std::size_t n : {std::size_t{2}, std::size_t{3}, std::size_t{8}, std::size_t{20}})
    for (const std::uint32_t classes : {2U, 3U, 9U}) {
      for (const std::size_t n_rows : {std::size_t{0}, std::size_t{30}, std::size_t{3000}})
        compare(table_of(n, n_rows, 0.1, n == 8, n + n_rows, classes));
      compare(noisy_chain(n, 4000, classes));
    }
  CHECK(n_schedules >= 6);
}

TEST(much_data_leaves_few_edges) {
  const std::size_t n = 12;
  const Tbmatan model(count(noisy_chain(n, 4000, 2), CountScope::kPairs));
  const TbmatanPredictor predictor(model);
  CHECK(predictor.method() == Method::kSchedule);
  CHECK(predictor.n_edges() < 30);
  const auto best = tree_distribution(model.edge_weights());
  for (std::size_t f = 0; f + 1 < n; ++f) CHECK(best.best_tree[f] == (Edge{f, f + 1}));
}

TEST(missing_values_are_marginalized) {
  for (const double missing : {0.0, 0.2}) {
    const Dataset data = table_of(5, 80, missing, false, 5, 3);
    const Tbmatan model(count(data, CountScope::kPairs));
    const TbmatanPredictor predictor(model);
    const auto rows = all_rows(model.cardinalities());
    for (const std::vector<std::size_t>& gaps :
         {std::vector<std::size_t>{1}, std::vector<std::size_t>{0, 3}, std::vector<std::size_t>{0, 1, 2, 3, 4}}) {
      std::vector<Code> row = rows[17];
      for (const std::size_t f : gaps) row[f] = kMissing;
      std::vector<double> expected(3, 0.0);
      for (const auto& full : rows) {
        bool fits = true;
        for (std::size_t f = 0; f < 5; ++f) fits &= row[f] == kMissing || row[f] == full[f];
        if (!fits) continue;
        const auto joint = log_joint(predictor, full);
        for (std::size_t c = 0; c < 3; ++c) expected[c] += std::exp(joint[c]);
      }
      const auto found = log_joint(predictor, row);
      for (std::size_t c = 0; c < 3; ++c) CHECK_NEAR(found[c], std::log(expected[c]), 1e-13);
      CHECK(!predictor.is_estimate(gaps));
    }
  }
}

TEST(many_missing_values_are_averaged_over_sampled_trees) {
  const Dataset data = table_of(6, 50, 0.0, false, 8);
  const CountSet counts = count(data, CountScope::kPairs);
  TbmatanOptions few;
  few.max_assignments = 4;
  few.n_trees = 4000;
  const TbmatanPredictor exact{Tbmatan(counts)}, sampled{Tbmatan(counts, few)};
  const std::vector<std::size_t> gaps{0, 2, 4};
  CHECK(sampled.is_estimate(gaps) && !exact.is_estimate(gaps));
  std::vector<Code> row(6, 1);
  for (const std::size_t f : gaps) row[f] = kMissing;
  const auto expected = log_joint(exact, row), found = log_joint(sampled, row), again = log_joint(sampled, row);
  for (std::size_t c = 0; c < 2; ++c) CHECK_NEAR(found[c], expected[c], 0.02);
  CHECK(found == again);
}

TEST(batches_threads_and_layouts_give_the_same_bits) {
  for (const std::uint32_t classes : {2U, 3U, 5U}) {
    const Dataset data = table_of(7, 700, 0.05, false, 4, classes);
    const TbmatanPredictor predictor{Tbmatan(count(data, CountScope::kPairs))};
    const std::size_t n = data.n_features(), n_rows = data.n_rows();
    std::vector<Code> rows;
    std::vector<CodeColumn> columns;
    for (std::size_t row = 0; row < n_rows; ++row)
      for (std::size_t f = 0; f < n; ++f) rows.push_back(data.feature(f)[row]);
    for (std::size_t f = 0; f < n; ++f) columns.emplace_back(data.feature(f).narrow().data());
    std::vector<double> a(n_rows * classes), b(a.size()), one(classes);
    predictor.predict_rows(rows, Output::kPosterior, a, 3);
    predictor.predict_columns(columns, n_rows, Output::kPosterior, b);
    CHECK(a == b);
    std::vector<std::uint32_t> best(n_rows);
    predictor.predict_classes_columns(columns, n_rows, best, 2);
    for (std::size_t row = 0; row < n_rows; ++row) {
      predictor.predict(std::span(rows).subspan(row * n, n), Output::kPosterior, one);
      CHECK(std::equal(one.begin(), one.end(), a.begin() + static_cast<std::ptrdiff_t>(row * classes)));
      CHECK_EQ(best[row], predictor.predict_class(std::span(rows).subspan(row * n, n)));
    }
  }
}

TEST(beliefs_and_stubbornness_change_the_weights_as_said) {
  const Dataset data = table_of(4, 300, 0.0, false, 9);
  const CountSet counts = count(data, CountScope::kPairs);
  const Tbmatan plain(counts);
  TbmatanOptions options;
  options.edge_beliefs.assign(16, 1.0);
  options.edge_beliefs[0 * 4 + 1] = options.edge_beliefs[1 * 4 + 0] = 8;
  options.edge_beliefs[2 * 4 + 3] = options.edge_beliefs[3 * 4 + 2] = 0;
  const Tbmatan believing(counts, options);
  CHECK_EQ(believing.edge_weights()(0, 1).mantissa, plain.edge_weights()(0, 1).mantissa);
  CHECK_EQ(believing.edge_weights()(0, 1).exponent, plain.edge_weights()(0, 1).exponent + 3);
  CHECK_EQ(believing.edge_weights()(2, 3).mantissa, 0.0);
  CHECK(TbmatanPredictor(believing).n_edges() <= 5);

  options.edge_beliefs.clear();
  options.stubbornness = 0.25;
  const Tbmatan stubborn(counts, options);
  double least = 1e9, most = -1e9, confined_least = 1e9, confined_most = -1e9;
  for (std::size_t u = 0; u < 4; ++u)
    for (std::size_t v = 0; v < u; ++v) {
      const double log = plain.edge_weights()(u, v).log(), confined = stubborn.edge_weights()(u, v).log();
      least = std::min(least, log), most = std::max(most, log);
      confined_least = std::min(confined_least, confined), confined_most = std::max(confined_most, confined);
    }
  CHECK(most - least > 0.25 * std::log(10.0));  // else nothing would be confined
  CHECK_NEAR(confined_least, -0.25 * std::log(10.0), 1e-14);
  CHECK_NEAR(confined_most, 0.0, 1e-14);
}

TEST(extreme_priors_are_left_to_exact_arithmetic) {
  const Dataset data = table_of(5, 200, 0.0, false, 2);
  const CountSet counts = count(data, CountScope::kPairs);
  TbmatanOptions options;
  options.equivalent_sample_size = 1e-115;
  const TbmatanPredictor predictor{Tbmatan(counts, options)};
  const auto joint = log_joint(predictor, {0, 0, 0, 0, 0});
  for (const double log : joint) CHECK(std::isfinite(log) && log < 0);
  options.equivalent_sample_size = 0;
  CHECK_THROWS(InvalidInput, Tbmatan(counts, options),
               "equivalent_sample_size: expected a number from 1e-120 to 1e+120");
}

TEST(only_trees_have_networks) {
  const Tbmatan model(count(table_of(4, 30, 0.0, false, 1), CountScope::kPairs));
  CHECK(model.network_of(std::vector<Edge>{{0, 1}, {2, 3}, {1, 3}}).structure().is_tan());
  const auto rejected = [&](const std::vector<Edge>& edges, const char* part) {
    CHECK_THROWS(InvalidInput, model.network_of(edges), part);
  };
  rejected({{0, 999}, {0, 1}, {2, 3}}, "expected edges between features below 4, got (0, 999)");
  rejected({{0, 1}, {4, 1}, {2, 3}}, "expected edges between features below 4, got (4, 1)");
  rejected({{0, 1}, {1, 2}}, "a tree over 4 features has 3 edges, got 2");
  rejected({{0, 1}, {1, 2}, {2, 0}}, "that of features 2 and 0 closes a cycle");
  rejected({{0, 1}, {1, 0}, {2, 3}}, "that of features 1 and 0 closes a cycle");
  rejected({{0, 1}, {2, 2}, {2, 3}}, "that of features 2 and 2 closes a cycle");
}

TEST(bad_options_are_rejected) {
  const Dataset data = table_of(3, 10, 0.0, false, 1);
  const CountSet counts = count(data, CountScope::kPairs);
  const auto with = [](auto change) {
    TbmatanOptions options;
    change(options);
    return options;
  };
  CHECK_THROWS(InvalidInput, Tbmatan(count(data, CountScope::kSingles)), "counts of all pairs");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) { o.stubbornness = 0; })), "stubbornness");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) { o.edge_beliefs = {1, 2}; })), "3 x 3");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) {
                                       o.edge_beliefs.assign(9, 1.0);
                                       o.edge_beliefs[1] = 2;
                                     })),
               "symmetric");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) { o.edge_beliefs.assign(9, -1.0); })),
               "edge_beliefs: expected finite numbers >= 0, got -1");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) { o.edge_beliefs.assign(9, 0.0); })), "no tree");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) { o.class_prior = {1.0}; })),
               "class_prior: expected 2 probabilities");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) { o.class_prior = {0.9, 0.9}; })),
               "class_prior: expected probabilities that sum to 1, got a sum of 1.8");
  CHECK_THROWS(InvalidInput, Tbmatan(counts, with([](auto& o) { o.class_prior = {1.5, -0.5}; })),
               "class_prior: expected probabilities, got 1.5");
  CHECK_THROWS(InvalidInput, Tbmatan(CountSet({2, 0, 3}, 2, CountScope::kPairs)),
               "feature 1 must have 1 to 65534 values, got 0");
  CHECK_THROWS(InvalidInput, Tbmatan(CountSet({2}, 0, CountScope::kSingles)), "1 to 65534 classes, got 0");
  const TbmatanPredictor predictor{Tbmatan(counts)};
  std::vector<double> out(2);
  CHECK_THROWS(InvalidInput, predictor.predict(std::vector<Code>{0, 9, 0}, Output::kPosterior, out),
               "values are known");
}

TEST_MAIN

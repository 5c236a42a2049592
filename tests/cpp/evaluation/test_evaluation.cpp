// Random numbers, folds, their training counts against counting from scratch, and scores against hand-made numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "check.hpp"
#include "reference.hpp"
#include "support/random.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

Column narrow(std::vector<std::uint8_t> codes, std::uint32_t n_values) {
  return Column(std::move(codes), n_values);
}

/// The values of a column that occur in some rows, in order.
std::vector<Code> used(const Column& column, const std::vector<std::size_t>& rows) {
  std::set<Code> found;
  for (const std::size_t row : rows)
    if (column[row] != kMissing) found.insert(column[row]);
  return {found.begin(), found.end()};
}

Column encoded_alone(const Column& column, const std::vector<std::size_t>& rows, const std::vector<Code>& values) {
  std::vector<std::uint16_t> codes;
  for (const std::size_t row : rows) {
    const auto at = std::find(values.begin(), values.end(), column[row]);
    codes.push_back(at == values.end() ? kMissing : static_cast<std::uint16_t>(at - values.begin()));
  }
  return Column(std::move(codes), static_cast<std::uint32_t>(std::max<std::size_t>(values.size(), 1)));
}

/// Training rows encoded and counted on their own, one row after the other.
void check_fold(const Dataset& data, const std::vector<std::size_t>& rows, const std::vector<bool>& keep_all,
                const TrainingFold& fold) {
  std::vector<Column> features;
  for (std::size_t f = 0; f < data.n_features(); ++f) {
    std::vector<Code> values = used(data.feature(f), rows);
    if (keep_all[f]) {
      values.resize(data.feature(f).n_values());
      std::iota(values.begin(), values.end(), Code{0});
    }
    features.push_back(encoded_alone(data.feature(f), rows, values));
    CHECK_EQ(fold.coding.cardinalities[f], features[f].n_values());
  }
  std::vector<double> weights;
  for (const std::size_t row : rows)
    if (data.is_weighted()) weights.push_back(data.weights()[row]);
  const Dataset alone(features, encoded_alone(data.target(), rows, used(data.target(), rows)), weights);
  CHECK_EQ(fold.coding.n_classes, alone.n_classes());
  const Dataset recoded = recoded_subset(data, rows, fold.coding);
  const auto near = [&](std::span<const double> a, const std::vector<double>& b) {
    CHECK_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      CHECK_NEAR(a[i], b[i], data.is_weighted() ? 1e-12 * (1 + b[i]) : 0.0);
  };
  for (std::size_t f = 0; f < data.n_features(); ++f) {
    near(fold.counts.single(f), reference::count_table(alone, {f, {}}));
    for (std::size_t row = 0; row < rows.size(); ++row) CHECK_EQ(recoded.feature(f)[row], alone.feature(f)[row]);
    if (fold.counts.scope() == CountScope::kPairs)
      for (std::size_t v = f + 1; v < data.n_features(); ++v)
        near(fold.counts.pair(f, v), reference::count_table(alone, {v, {f}}));
  }
  for (std::size_t i = 0; i < fold.counts.families().size(); ++i)
    near(fold.counts.family(i), reference::count_table(alone, fold.counts.families()[i]));
  if (!data.is_weighted()) {
    const CountSet counted = count(recoded, fold.counts.scope(), fold.counts.families());
    CHECK(std::ranges::equal(counted.class_counts(), fold.counts.class_counts()));
  }
}

std::vector<std::size_t> all_but(std::size_t n_rows, std::size_t fold, std::size_t n_folds) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < n_rows; ++row)
    if (row % n_folds != fold) rows.push_back(row);
  return rows;
}

}  // namespace

TEST(random_numbers_are_the_same_on_every_platform) {
  Random random(1, 2);
  CHECK_EQ(random.next(), std::uint64_t{6816149963944815849U});
  CHECK_EQ(random.below(1000), std::uint64_t{532});
  CHECK_EQ(random.below(std::uint64_t{1} << 40), std::uint64_t{184174036050});
  CHECK_EQ(random.uniform(), 0.55635789388698986);
  std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7};
  random.shuffle(std::span(order));
  CHECK(order == (std::vector<int>{5, 4, 6, 0, 1, 7, 2, 3}));
}

TEST(streams_differ) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (std::uint64_t task = 0; task < 30; ++task) first.insert(Random(seed, task).next());
  CHECK_EQ(first.size(), std::size_t{900});
}

TEST(bounded_numbers_are_even) {
  Random random(7);
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{7}, std::uint64_t{1} << 32,
                                    (std::uint64_t{1} << 32) + 1, ~std::uint64_t{0}}) {
    double sum = 0;
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t drawn = random.below(bound);
      CHECK(drawn < bound);
      sum += static_cast<double>(drawn);
    }
    const double expected = (static_cast<double>(bound) - 1) / 2;
    CHECK_NEAR(sum / 20000, expected, 6 * static_cast<double>(bound) / std::sqrt(12.0 * 20000));
  }
  std::map<std::vector<int>, int> orders;
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> order{0, 1, 2};
    random.shuffle(std::span(order));
    ++orders[order];
  }
  CHECK_EQ(orders.size(), std::size_t{6});
  for (const auto& [order, times] : orders) CHECK_NEAR(times, 1000, 150);
}

TEST(folds_are_even_and_fixed) {
  const std::vector<std::uint8_t> classes{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
  const auto folds = stratified_folds(narrow(classes, 3), 3, 1);
  CHECK(folds == (std::vector<std::uint32_t>{1, 2, 0, 0, 1, 0, 2, 1, 2, 0, 1, 2}));
  const Column wide(std::vector<std::uint16_t>(classes.begin(), classes.end()), 300);
  CHECK(stratified_folds(wide, 3, 1) == folds);
  CHECK_THROWS(InvalidInput, stratified_folds(narrow(classes, 3), 1, 1), "expected from 2 folds");
  CHECK_THROWS(InvalidInput, stratified_folds(narrow(classes, 3), 13, 1), "which is 12, got 13");
  CHECK_THROWS(InvalidInput, stratified_folds(narrow({0, kMissing8}, 1), 2, 1), "every row needs a class");
}

TEST(training_counts_are_those_of_the_training_rows_alone) {
  const std::vector<reference::ColumnSpec> specs{
      {3, 0.1, 0.9, false}, {2, 0.0, 0.0, false}, {5, 0.3, 0.8, true}, {7, 0.0, 0.97, false}, {1, 1.0, 0.0, false}};
  const std::vector<bool> keep_all{false, false, true, false, false};
  for (const bool weighted : {false, true})
    for (const std::size_t n_rows : {40, 2500})
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Dataset data = reference::random_dataset(specs, {4, 0.0, 0.95, false}, n_rows, weighted, seed);
        const FoldCounter pairs(data, CountScope::kPairs, {}, keep_all);
        std::vector<std::uint32_t> folds(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) folds[row] = static_cast<std::uint32_t>(row % 5);
        const FoldCounter together(data, CountScope::kPairs, {{0, {3, 1}}}, keep_all, 1, folds);
        CHECK_EQ(together.knows_folds(), !weighted && n_rows > 1000);
        const FoldCounter families(data, CountScope::kSingles, {{0, {3, 1}}, {2, {4}}}, keep_all, 2);
        for (std::size_t k = 0; k < 5; ++k) {
          const auto rows = all_but(n_rows, k, 5);
          check_fold(data, rows, keep_all, pairs.train(rows));
          check_fold(data, rows, keep_all, families.train(rows, {}, {}, 2));
          if (together.knows_folds()) check_fold(data, rows, keep_all, together.train_without(k));
        }
        // Few rows, rows in any order, and rows that come several times.
        const std::vector<std::size_t> some{5, 3, 30, 30, 1};
        check_fold(data, some, keep_all, pairs.train(some));
        std::vector<std::size_t> backwards(n_rows);
        std::iota(backwards.rbegin(), backwards.rend(), std::size_t{0});
        check_fold(data, backwards, keep_all, pairs.train(backwards));
        backwards[0] = backwards[1];
        check_fold(data, backwards, keep_all, pairs.train(backwards));
      }
}

TEST(given_codings_join_values) {
  const Dataset data({narrow({0, 1, 2, 3, kMissing8, 1}, 4), narrow({0, 1, 0, 1, 0, 1}, 2)},
                     narrow({0, 0, 0, 1, 1, 1}, 2));
  const std::vector<GivenCoding> given{{{0, 0, 1, 1}, 2}, {}};
  for (const std::size_t copies : {1, 40}) {  // enough copies that counts are subtracted
    std::vector<std::size_t> all, train;
    for (std::size_t i = 0; i < copies; ++i)
      for (std::size_t row = 0; row < 6; ++row) all.push_back(row);
    const Dataset many = data.subset(all);
    for (std::size_t row = 0; row < all.size(); ++row)
      if (row != 5) train.push_back(row);
    const TrainingFold fold = FoldCounter(many, CountScope::kPairs, {}, {true, false}).train(train, given);
    const double n = static_cast<double>(copies);
    CHECK(std::ranges::equal(fold.counts.single(0), std::vector<double>{2 * n, n - 1, n, n}));
    CHECK(std::ranges::equal(fold.counts.pair(0, 1), std::vector<double>{n, 0, n, n - 1, n, 0, 0, n}));
    std::vector<std::uint16_t> codes(6);
    gather_codes(data.feature(0), std::vector<std::size_t>{0, 1, 2, 3, 4, 5}, fold.coding.features[0], codes);
    CHECK(codes == (std::vector<std::uint16_t>{0, 0, 1, 1, kMissing, 0}));
    CHECK(!fold.coding.drops_values());
  }
}

TEST(merged_counts_add_and_drop) {
  CountSet counts({3}, 2, CountScope::kSingles);
  const std::vector<double> cells{1, 2, 3, 4, 5, 6};
  std::copy(cells.begin(), cells.end(), counts.single(0).begin());
  counts.class_counts()[0] = 9;
  counts.class_counts()[1] = 12;
  const CountSet joined = counts.merged({2}, 2, {{1, 0, 1}}, {});
  CHECK(std::ranges::equal(joined.single(0), std::vector<double>{3, 4, 6, 8}));
  CHECK(std::ranges::equal(joined.class_counts(), std::vector<double>{9, 12}));
  const CountSet dropped = counts.merged({2}, 1, {{0, kMissing, 1}}, {kMissing, 0});
  CHECK(std::ranges::equal(dropped.single(0), std::vector<double>{2, 6}));
  CHECK(std::ranges::equal(dropped.class_counts(), std::vector<double>{12}));
  CHECK_THROWS(InvalidInput, counts.merged({2}, 2, {{0, 1}}, {}), "has 2 entries, but 3 values are known");
  CHECK_THROWS(InvalidInput, counts.merged({2}, 2, {{}}, {}), "has 0 entries, but 3 values are known and 2 declared");
  CHECK_THROWS(InvalidInput, counts.merged({2}, 2, {{0, 1, 2}}, {}), "leads to code 2, but only 2");
  CHECK_THROWS(InvalidInput, counts.merged({2, 2}, 2, {{0, 1, 2}}, {}), "expected 1 cardinalities");
}

TEST(folds_reject_inconsistent_input) {
  const Dataset data({narrow({0, 1, 0}, 2)}, narrow({0, 1, 1}, 2));
  const FoldCounter counter(data, CountScope::kSingles, {}, {false});
  CHECK_THROWS(InvalidInput, counter.train({}), "a fold needs training rows");
  CHECK_THROWS(InvalidInput, counter.train(std::vector<std::size_t>{0, 3}), "expected a row below 3, got 3");
  CHECK_THROWS(InvalidInput, counter.train(std::vector<std::size_t>{0}, {{}, {}}), "none or all of 1 features");
  CHECK_THROWS(InvalidInput, FoldCounter(data, CountScope::kSingles, {}, {}), "a mark for each of 1 features");
  CHECK_THROWS(InvalidInput, counter.train_without(0), "expected a fold below 0, got 0");
  const std::vector<std::uint32_t> two{0, 1};
  CHECK_THROWS(InvalidInput, FoldCounter(data, CountScope::kSingles, {}, {false}, 1, two), "each of 3 rows, got 2");
  std::vector<std::size_t> copies;
  for (std::size_t i = 0; i < 60; ++i) copies.push_back(i % 3);
  const std::vector<std::uint32_t> one(60, 0);
  const FoldCounter all(data.subset(copies), CountScope::kSingles, {}, {false}, 1, one);
  CHECK_THROWS(InvalidInput, all.train_without(0), "a fold needs training rows");
  CHECK_THROWS(InvalidInput, all.train_without(1), "expected a fold below 1, got 1");
  std::vector<std::uint32_t> halves(60, 0);
  std::fill_n(halves.begin(), 30, 1U);
  const FoldCounter known(data.subset(copies), CountScope::kSingles, {}, {false}, 1, halves);
  CHECK_THROWS(InvalidInput, known.train_without(0, {{}, {}}), "none or all of 1 features, got 2");
  const TrainingFold fold = counter.train(std::vector<std::size_t>{1, 2});
  CHECK(fold.coding.drops_values());
  CHECK_THROWS(InvalidInput, recoded_subset(data, std::vector<std::size_t>{0}, fold.coding), "every row needs a class");
}

TEST(scores_of_hand_made_predictions) {
  const double kNaN = std::numeric_limits<double>::quiet_NaN();
  const double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> p{0.9, 0.1, 0.4, 0.6, 0.5, 0.5, 0.2, 0.8};
  const std::vector<Code> truth{0, 1, 1, 0};
  CHECK_EQ(accuracy({p, 2, truth}), 0.5);  // the tie goes to the first class
  CHECK_NEAR(conditional_log_likelihood({p, 2, truth}), std::log(0.9 * 0.6 * 0.5 * 0.2), 1e-15);
  CHECK_NEAR(log_loss({p, 2, truth}), -std::log(0.9 * 0.6 * 0.5 * 0.2) / 4, 1e-15);
  CHECK_EQ(auc({p, 2, truth}), 0.5);  // of the four pairs, 0.6 and 0.5 beat 0.1, and 0.8 beats both
  const std::vector<double> tied(8, 0.5);
  CHECK_EQ(auc({tied, 2, truth}), 0.5);
  const std::vector<Code> unknown{0, kMissing, 1, 0};
  CHECK_EQ(log_loss({p, 2, unknown}), kInfinity);
  CHECK_EQ(accuracy({p, 2, unknown}), 0.25);
  const std::vector<Code> same{1, 1, 1, 1};
  CHECK(std::isnan(auc({p, 2, same})));
  const std::vector<double> zeros{0.0, 1.0};
  const std::vector<double> logs{-800.0, 0.0};
  const std::vector<Code> first{0};
  CHECK_EQ(conditional_log_likelihood({zeros, 2, first}), -kInfinity);
  CHECK_EQ(conditional_log_likelihood({zeros, 2, first, logs}), -800.0);
  CHECK(!std::signbit(log_loss({std::vector<double>{1.0, 0.0}, 2, first})));
  CHECK_THROWS(InvalidInput, accuracy({p, 3, truth}), "expected 3 probabilities for each of 4 rows, got 8");
  CHECK_THROWS(InvalidInput, accuracy({p, 2, {}}), "at least one row");
  CHECK_THROWS(InvalidInput, accuracy({std::vector<double>(4, 0.25), 1, std::vector<Code>{0, 1, 0, 0}}), "code 1");
  CHECK_THROWS(InvalidInput, auc({std::vector<double>{kNaN, kNaN, 1, 0}, 2, std::vector<Code>{0, 1}}), "but NaN");
}

TEST(right_rows_and_those_that_rounding_decides) {
  const std::vector<double> p{0.9, 0.1, 0.5, 0.5, 0.5 + 1e-12, 0.5 - 1e-12, 0.5 + 1e-6, 0.5 - 1e-6, 0.2, 0.8};
  const RightRows found = right_rows({p, 2, std::vector<Code>{0, 0, 0, 0, kMissing}});
  CHECK_EQ(found.n_right, std::size_t{2});
  CHECK(found.close == (std::vector<std::size_t>{1, 2}));
}

TEST(auc_equals_counting_pairs) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    const std::uint32_t s = 2 + static_cast<std::uint32_t>(random() % 3);
    const std::size_t n = 1 + random() % 40;
    std::vector<double> p(n * s);
    std::vector<Code> truth(n);
    for (double& value : p) value = static_cast<double>(random() % 8) / 8;
    for (Code& c : truth) c = random() % 10 == 0 ? kMissing : static_cast<Code>(random() % s);
    double sum = 0;
    int n_evaluated = 0;
    for (std::uint32_t c = s == 2 ? 1 : 0; c < s; ++c) {
      double wins = 0, pairs = 0;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (truth[i] == c && truth[j] != c) {
            pairs += 1;
            wins += p[i * s + c] > p[j * s + c] ? 1.0 : p[i * s + c] == p[j * s + c] ? 0.5 : 0.0;
          }
      if (pairs == 0) continue;
      sum += wins / pairs;
      ++n_evaluated;
    }
    if (n_evaluated == 0)
      CHECK(std::isnan(auc({p, s, truth})));
    else
      CHECK_NEAR(auc({p, s, truth}), sum / n_evaluated, 1e-14);
  }
}

TEST(codes_are_not_cut_to_eight_bits) {
  const std::vector<std::size_t> rows{0, 1, 2};
  std::vector<std::uint8_t> out(3);
  const Column wide(std::vector<std::uint16_t>{7, 300, kMissing}, 301);
  CHECK_THROWS(InvalidInput, gather_codes(wide, rows, {}, out), "301 values do not fit 8-bit codes");
  Recoding recoding(301, 0);
  recoding[300] = kMissing;
  gather_codes(wide, rows, recoding, out);
  CHECK((out == std::vector<std::uint8_t>{0, kMissing8, kMissing8}));
  recoding[300] = 255;
  CHECK_THROWS(InvalidInput, gather_codes(wide, rows, recoding, out), "256 values do not fit 8-bit codes");
  recoding[300] = 253;
  gather_codes(wide, rows, recoding, out);
  CHECK((out == std::vector<std::uint8_t>{0, 253, kMissing8}));
}

TEST_MAIN

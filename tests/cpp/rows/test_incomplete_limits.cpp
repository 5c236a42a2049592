// EM, APN and ELR at their limits: products of thousands of probabilities, weights of all sizes, and ends before the
// end.
#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"
#include "incomplete_rows.hpp"
#include "stopping.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_rows.hpp"

using namespace tanager;
using namespace testing;

TEST(long_products_do_not_underflow) {
  // A missing feature with so many children that the product of their probabilities is no double.
  const std::size_t n = 3000;
  std::vector<std::vector<std::size_t>> parents(n + 1, std::vector<std::size_t>{0});
  parents[0].clear();
  const Structure star(parents);
  std::mt19937_64 random(2);
  std::vector<Column> columns{Column(std::vector<std::uint8_t>{kMissing8, 0, 1}, 2)};
  for (std::size_t f = 0; f < n; ++f) {
    std::vector<std::uint8_t> codes;
    for (int row = 0; row < 3; ++row) codes.push_back(static_cast<std::uint8_t>(draw(random, 2)));
    columns.emplace_back(std::move(codes), 2);
  }
  const Dataset data(columns, Column(std::vector<std::uint8_t>{0, 1, 1}, 2));
  const Network network = estimate_elr(star, data, {.max_iter = 0}).network;
  double sums[2] = {-INFINITY, -INFINITY};
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < 2; ++k) {
      double log = std::log(network.class_table()[c]) + std::log(network.table(0)[k * 2 + c]);
      for (std::size_t f = 1; f <= n; ++f) log += std::log(network.table(f)[(k * 2 + data.feature(f)[0]) * 2 + c]);
      const double largest = std::max(sums[c], log);
      sums[c] = largest + std::log(std::exp(sums[c] - largest) + std::exp(log - largest));
    }
  const std::size_t first[] = {0};
  const RowLikelihood rows(star, data.subset(first), RowGoal::kLikelihood);
  const RowLikelihood classes(star, data.subset(first), RowGoal::kConditionalLikelihood);
  const std::vector<double> point = rows.parameters(network);
  std::vector<double> gradient(point.size());
  CHECK(sums[0] < -800);
  CHECK_NEAR(rows.evaluate(point, gradient).value, sums[0], 1e-9 * std::abs(sums[0]));
  for (const double slope : gradient) CHECK(std::isfinite(slope));
  const double expected = -std::log1p(std::exp(sums[1] - sums[0]));
  CHECK_NEAR(classes.evaluate(point, gradient).value, expected, 1e-8 * (1 + std::abs(expected)));
  for (const double slope : gradient) CHECK(std::isfinite(slope));
}

TEST(long_products_of_long_products_do_not_underflow) {
  // A missing root whose missing children each have so many children that all messages are about as small
  // as numbers are let get before they are scaled.
  constexpr std::size_t kChildren = 150, kEach = 23;
  std::vector<std::vector<std::size_t>> parents{{}};
  std::vector<Column> columns{Column(std::vector<std::uint8_t>{kMissing8}, 2)};
  std::vector<std::vector<double>> tables{{0.5, 0.5}};
  for (std::size_t i = 0; i < kChildren; ++i) {
    const std::size_t child = parents.size();
    parents.push_back({0});
    columns.emplace_back(std::vector<std::uint8_t>{kMissing8}, 2);
    tables.push_back({0x1p-10, 1 - 0x1p-10, 0x1p-10, 1 - 0x1p-10});
    for (std::size_t k = 0; k < kEach; ++k) {
      parents.push_back({child});
      columns.emplace_back(std::vector<std::uint8_t>{0}, 2);
      tables.push_back({0x1p-13, 1 - 0x1p-13, 0x1p-26, 1 - 0x1p-26});
    }
  }
  const Structure tree(parents);
  const Network network(tree, std::vector<std::uint32_t>(parents.size(), 2), {1.0}, tables);
  const Dataset data(columns, Column(std::vector<std::uint8_t>{0}, 1));
  const RowLikelihood rows(tree, data, RowGoal::kLikelihood);
  const std::vector<double> point = rows.parameters(network);
  std::vector<double> gradient(point.size());
  const double each = -(10.0 + 13.0 * kEach) * std::log(2.0);  // that of the other value weighs nothing beside it
  CHECK_NEAR(rows.evaluate(point, gradient).value, kChildren * each, 1e-9 * kChildren * std::abs(each));
  CHECK_NEAR(gradient[2] + gradient[4], 1 - 0x1p-10, 1e-9);  // of the first child: one row less what was expected
}

TEST(weights_may_be_of_any_size) {
  const Dataset plain = chain_data(60, 0.3, 6);
  const auto weighted = [&](double weight) {
    const Dataset data(plain.features(), plain.target(), std::vector<double>(plain.n_rows(), weight));
    return estimate_em(kChain, data, {.alpha = 0, .max_iter = 3}).network;
  };
  const Network large = weighted(1e12), huge = weighted(1e300);  // beside both, the start's pseudo-counts vanish
  for (std::size_t f = 0; f < 4; ++f)
    for (std::size_t i = 0; i < large.table(f).size(); ++i) CHECK_NEAR(huge.table(f)[i], large.table(f)[i], 1e-9);
}

TEST(rows_without_weight_have_no_say) {
  // The third row has a value that no other has, which maximum likelihood then finds impossible.
  const std::vector<std::uint8_t> first{0, 0, kMissing8, kMissing8, 1}, second{0, 0, 2, 1, 0}, classes{0, 1, 0, 1, 0};
  const Dataset all({Column(first, 2), Column(second, 3)}, Column(classes, 2), {1, 1, 0, 1, 1});
  const std::size_t kept[] = {0, 1, 3, 4};
  const Dataset weighty = all.subset(kept);
  const Structure chain({{}, {0}});
  for (const double alpha : {0.0, 1.0}) {
    CHECK(estimate_em(chain, all, {.alpha = alpha}).training == estimate_em(chain, weighty, {.alpha = alpha}).training);
    CHECK(estimate_apn(chain, all, {.alpha = alpha}).training ==
          estimate_apn(chain, weighty, {.alpha = alpha}).training);
  }
  CHECK(estimate_elr(chain, all).training == estimate_elr(chain, weighty).training);
}

TEST(work_can_be_cancelled) {
  const Dataset data = chain_data(200, 0.2, 4);
  int calls = 0;
  const auto thrice = [&](const FitProgress&) { return ++calls < 4; };
  CHECK(estimate_em(kChain, data, {.tol = 0, .keep_going = thrice}).stop == FitStop::kInterrupted);
  calls = 0;
  CHECK(estimate_elr(kChain, data, {.keep_going = thrice}).stop == FitStop::kInterrupted);
  CHECK_EQ(calls, 4);
}

TEST(only_the_calling_thread_is_asked_whether_to_go_on) {
  const Dataset data = chain_data(4000, 0.2, 4);
  const auto caller = std::this_thread::get_id();
  std::vector<FitProgress> seen;
  ElrOptions options;
  for (std::size_t row = 0; row < data.n_rows(); ++row) options.fold_of_row.push_back(row % 5);
  options.max_iter = 5;
  options.keep_going = [&](const FitProgress& progress) {
    CHECK(std::this_thread::get_id() == caller);
    seen.push_back(progress);
    return true;
  };
  const std::vector<std::uint32_t> folds = options.fold_of_row;
  for (const bool tuned : {true, false}) {
    options.fold_of_row = tuned ? folds : std::vector<std::uint32_t>{};
    seen.clear();
    const FitResult result = estimate_elr(kChain, data, options, 4);
    CHECK(seen.front().held_out == tuned);
    for (const FitProgress& progress : seen)
      if (progress.value != 0)  // it is, until the initial estimate is evaluated
        CHECK_EQ(progress.value, (progress.held_out ? result.held_out : result.training)[progress.iterations]);
    CHECK(seen.size() >= options.max_iter);
  }
  options.fold_of_row = folds;
  // While it tunes, nothing is there to return but the initial estimate.
  options.keep_going = [](const FitProgress& progress) { return progress.iterations < 2; };
  const FitResult interrupted = estimate_elr(kChain, data, options, 4);
  CHECK(interrupted.stop == FitStop::kInterrupted && interrupted.training.empty());
  options.keep_going = [](const FitProgress&) -> bool { throw std::runtime_error("enough"); };
  CHECK_THROWS(std::runtime_error, estimate_elr(kChain, data, options, 4), "enough");
  options.keep_going = [](const FitProgress&) { return true; };
  const auto repeat = [&] {  // the check outside is looked at as well, and interrupts as keep_going does
    while (estimate_elr(kChain, data, options, 2).stop != FitStop::kInterrupted) {
    }
    throw Stopped("enough");
  };
  CHECK_STOPS(repeat());
}

TEST(a_pass_over_many_rows_can_be_cancelled) {
  const Dataset data = chain_data(20'000, 0.2, 4);
  for (const Structure& structure : {kChain, Structure({{}, {0}, {0, 1}, {2}})})
    for (const RowGoal goal : {RowGoal::kLikelihood, RowGoal::kConditionalLikelihood}) {
      const RowLikelihood rows(structure, data, goal);
      const std::vector<double> point(rows.n_parameters(), 0.0);
      std::vector<double> gradient(point.size());
      for (const int threads : {1, 2}) {
        CHECK_STOPS(rows.evaluate(point, gradient, threads));
        CHECK_STOPS(rows.expect(std::vector<double>(point.size(), 0.5), gradient, threads));
      }
    }
}

TEST_MAIN

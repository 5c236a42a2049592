// Goals and gradients over rows against sums over whole domains and finite differences; EM, APN and ELR at their ends.
#include "tanager/learn_rows.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"
#include "incomplete_rows.hpp"
#include "rows/complete_rows.hpp"
#include "rows/line_search.hpp"
#include "rows/optimizer.hpp"
#include "rows/softmax_families.hpp"
#include "simd/cpu.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"
#include "tanager/learn_parameters.hpp"

using namespace tanager;
using namespace tanager::internal;
using namespace testing;

namespace {

/// Features in a shuffled order take earlier ones as parents, and so does the class where it may stand anywhere.
Structure draw_structure(std::mt19937_64& random, std::size_t n, std::size_t max_parents, bool class_anywhere) {
  std::vector<std::size_t> order(n + 1);  // n is the class
  for (std::size_t i = 0; i <= n; ++i) order[i] = i;
  for (std::size_t i = n + 1; i > 1; --i) std::swap(order[i - 1], order[draw(random, i)]);
  if (!class_anywhere) std::swap(order[0], *std::ranges::find(order, n));
  std::vector<std::vector<std::size_t>> parents(n + 1);
  std::vector<bool> class_children(n, !class_anywhere);
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t k = draw(random, max_parents + 1); k > 0; --k) {
      const std::size_t parent = order[draw(random, i)], child = order[i];
      if (parent == n)
        class_children[child] = true;
      else if (std::ranges::find(parents[child], parent) == parents[child].end())
        parents[child].push_back(parent);
    }
  std::vector<std::size_t> class_parents = parents.back();
  parents.pop_back();
  if (!class_anywhere) return Structure(parents);
  std::ranges::sort(class_parents);
  return Structure::general(parents, class_children, class_parents);
}

Dataset draw_data(std::mt19937_64& random, const std::vector<std::uint32_t>& cards, std::uint32_t classes,
                  std::size_t rows, double missing, bool weighted) {
  std::vector<std::uint8_t> target;
  for (std::size_t row = 0; row < rows; ++row) target.push_back(static_cast<std::uint8_t>(draw(random, classes)));
  std::vector<Column> columns;
  for (const std::uint32_t r : cards) {
    std::vector<std::uint8_t> codes;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t code = unit(random) < 0.4 ? target[row] % r : draw(random, r);
      codes.push_back(unit(random) < missing ? kMissing8 : static_cast<std::uint8_t>(code));
    }
    columns.emplace_back(std::move(codes), r);
  }
  std::vector<double> weights;
  for (std::size_t row = 0; weighted && row < rows; ++row) weights.push_back(0.25 + unit(random));
  return Dataset(std::move(columns), Column(std::move(target), classes), std::move(weights));
}

/// P(class c, observed features), summed over all values of the missing ones.
double joint(const Network& network, std::vector<Code> row, std::size_t c) {
  for (std::size_t f = 0; f < row.size(); ++f) {
    if (row[f] != kMissing || network.structure().is_absent(f)) continue;
    double sum = 0;
    for (Code value = 0; value < network.cardinalities()[f]; ++value) {
      row[f] = value;
      sum += joint(network, row, c);
    }
    return sum;
  }
  const auto cell = [&](const std::vector<std::size_t>& members) {
    std::size_t index = 0;
    for (const std::size_t f : members) index = index * network.cardinalities()[f] + row[f];
    return index;
  };
  const std::size_t s = network.n_classes();
  double p = network.class_table()[cell(network.structure().class_parents()) * s + c];
  for (const std::size_t f : network.structure().order()) {
    std::vector<std::size_t> members = network.structure().parents(f);
    members.push_back(f);
    p *= network.expanded_table(f)[cell(members) * s + c];
  }
  return p;
}

RowEvaluation brute_force(const Network& network, const Dataset& data, RowGoal goal) {
  RowEvaluation evaluation;
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    std::vector<Code> codes;
    for (std::size_t f = 0; f < data.n_features(); ++f) codes.push_back(data.feature(f)[row]);
    std::vector<double> p;
    double total = 0;
    for (std::size_t c = 0; c < data.n_classes(); ++c) total += p.emplace_back(joint(network, codes, c));
    const double weight = data.is_weighted() ? data.weights()[row] : 1.0;
    const Code truth = data.target()[row];
    evaluation.value += weight * std::log(goal == RowGoal::kLikelihood ? p[truth] : p[truth] / total);
    if (std::ranges::max_element(p) - p.begin() != truth) evaluation.wrong += weight;
  }
  return evaluation;
}

struct Case {
  Structure structure;
  Dataset data;
};

/// Structures of all kinds: naive, trees, denser, with the class anywhere, with a feature left out; rows with and
/// without missing values.
std::vector<Case> draw_cases() {
  std::vector<Case> cases;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<std::uint32_t> cards{2, 3, 2, 4, 1, 3};
    const auto classes = static_cast<std::uint32_t>(1 + seed % 5);
    Dataset data =
        draw_data(random, cards, classes, 60, seed % 4 == 0 ? 0.0 : 0.1 * static_cast<double>(seed % 4), seed % 3 == 0);
    Structure structure = draw_structure(random, cards.size(), seed % 4, seed % 2 == 1);
    if (seed % 7 == 6)
      structure = Structure::leaving_out({false, true, false, false, false, true}, {{}, {}, {0}, {2}, {2}, {}});
    cases.push_back({structure, data});
  }
  return cases;
}

Network start_of(const Case& it) {
  return estimate_elr(it.structure, it.data, {.max_iter = 0}).network;
}

}  // namespace

TEST(goals_are_those_of_whole_domains) {
  for (const Case& it : draw_cases())
    for (const RowGoal goal : {RowGoal::kLikelihood, RowGoal::kConditionalLikelihood}) {
      const RowLikelihood rows(it.structure, it.data, goal);
      const Network network = start_of(it);
      const RowEvaluation expected = brute_force(network, it.data, goal);
      const RowEvaluation found = rows.evaluate(rows.parameters(network));
      CHECK_NEAR(found.value, expected.value, 1e-9 * std::abs(expected.value) + 1e-9);
      if (goal == RowGoal::kConditionalLikelihood) CHECK_NEAR(found.wrong, expected.wrong, 1e-9);
    }
}

TEST(gradients_are_finite_differences) {
  for (const Case& it : draw_cases())
    for (const RowGoal goal : {RowGoal::kLikelihood, RowGoal::kConditionalLikelihood}) {
      const RowLikelihood rows(it.structure, it.data, goal);
      std::vector<double> point = rows.parameters(start_of(it)), gradient(point.size());
      std::mt19937_64 random(point.size());
      for (double& x : point) x += 2 * unit(random) - 1;
      rows.evaluate(point, gradient);
      for (std::size_t i = 0; i < point.size(); ++i) {
        constexpr double kStep = 1e-5;
        const double at = point[i];
        point[i] = at + kStep;
        const double above = rows.evaluate(point).value;
        point[i] = at - kStep;
        const double below = rows.evaluate(point).value;
        point[i] = at;
        CHECK_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-5);
      }
    }
}

TEST(every_instruction_set_gives_the_same_bits) {
  for (const std::uint32_t classes : {2u, 3u, 7u, 26u}) {
    std::mt19937_64 random(classes);
    const std::vector<std::uint32_t> cards{4, 3, 5, 2, 7};
    const Dataset data = draw_data(random, cards, classes, 1000, 0.0, true);
    const Structure structure({{}, {0}, {1}, {1}, {0, 3}});
    const SoftmaxFamilies families(structure, cards, classes);
    std::vector<std::size_t> every(data.n_rows());
    for (std::size_t row = 0; row < every.size(); ++row) every[row] = row;
    const CompleteRows rows(families, data, every);
    std::vector<double> logs(families.n_expanded());
    families.expand(families.parameters(start_of({structure, data})), logs);
    const std::vector<double> cells = rows.joined(logs);
    std::vector<double> first(rows.n_cells()), slopes(rows.n_cells());
    const RowEvaluation expected = rows.evaluate(cells, 0, rows.n_rows(), first, Isa::kBaseline);
    for (int isa = 1; isa <= static_cast<int>(supported_isa()); ++isa) {
      std::ranges::fill(slopes, 0.0);
      const RowEvaluation found = rows.evaluate(cells, 0, rows.n_rows(), slopes, static_cast<Isa>(isa));
      CHECK_EQ(found.value, expected.value);
      CHECK_EQ(found.wrong, expected.wrong);
      CHECK(slopes == first);
    }
  }
}

TEST(results_do_not_depend_on_threads) {
  std::mt19937_64 random(5);
  const std::vector<std::uint32_t> cards{4, 3, 5, 2, 7};
  const Dataset data = draw_data(random, cards, 3, 30'000, 0.02, true);
  const Structure structure({{}, {0}, {1}, {1}, {3}});
  const RowLikelihood rows(structure, data, RowGoal::kConditionalLikelihood);
  const std::vector<double> point = rows.parameters(start_of({structure, data}));
  std::vector<double> one(point.size()), three(point.size());
  const RowEvaluation a = rows.evaluate(point, one, 1), b = rows.evaluate(point, three, 3);
  CHECK_EQ(a.value, b.value);
  CHECK_EQ(a.wrong, b.wrong);
  CHECK(one == three);
}

TEST(em_of_naive_structures_is_that_of_available_cases) {
  std::mt19937_64 random(1);
  const Dataset data = draw_data(random, {2, 3, 4}, 3, 200, 0.3, true);
  const Structure naive = Structure::naive(3);
  for (const double alpha : {0.0, 0.5, 1.0}) {
    DirichletOptions dirichlet;
    dirichlet.alpha = alpha;
    const Network expected = estimate_dirichlet(naive, count(data, CountScope::kSingles), dirichlet);
    const Network em = estimate_em(naive, data, {.alpha = alpha}).network;
    const Network apn = estimate_apn(naive, data, {.alpha = alpha, .tol = 1e-12}).network;
    for (std::size_t f = 0; f < 3; ++f)
      for (std::size_t i = 0; i < expected.table(f).size(); ++i) {
        CHECK_NEAR(em.table(f)[i], expected.table(f)[i], 1e-14);
        CHECK_NEAR(apn.table(f)[i], expected.table(f)[i], 1e-6);
      }
  }
}

TEST(em_never_falls_and_ends_where_apn_does) {
  for (const Structure& structure : {kChain, Structure({{}, {0}, {0, 1}, {1, 2}})})
    for (const double alpha : {0.0, 1.0}) {
      if (alpha == 0 && !structure.is_one_dependence()) continue;  // which has several tops on so few rows
      const Dataset data = chain_data(300, 0.25, 3);
      const FitResult em = estimate_em(structure, data, {.alpha = alpha, .tol = 1e-11, .max_iter = 5000});
      for (std::size_t i = 1; i < em.training.size(); ++i) CHECK(em.training[i] >= em.training[i - 1] - 1e-9);
      CHECK(em.stop == FitStop::kConverged);
      for (const OptimizerMethod method : {OptimizerMethod::kConjugateGradient, OptimizerMethod::kLbfgs}) {
        const FitResult apn =
            estimate_apn(structure, data, {.alpha = alpha, .method = method, .tol = 1e-9, .max_iter = 5000});
        CHECK_NEAR(apn.training.back(), em.training.back(), 1e-4);
        for (std::size_t i = 1; i < apn.training.size(); ++i) CHECK(apn.training[i] >= apn.training[i - 1]);
      }
    }
}

TEST(both_optimizers_reach_the_same_conditional_likelihood) {
  const Dataset data = chain_data(400, 0.0, 7);
  std::vector<double> ends;
  for (const OptimizerMethod method : {OptimizerMethod::kConjugateGradient, OptimizerMethod::kLbfgs}) {
    const FitResult found = estimate_elr(kChain, data, {.method = method, .tol = 1e-9, .max_iter = 5000});
    CHECK(found.training.back() > found.training.front());
    ends.push_back(found.training.back());
    const RowLikelihood rows(kChain, data, RowGoal::kConditionalLikelihood);
    CHECK_NEAR(brute_force(found.network, data, RowGoal::kConditionalLikelihood).value, ends.back(), 1e-6);
  }
  CHECK_NEAR(ends[0], ends[1], 1e-6 * std::abs(ends[0]));
}

TEST(separable_rows_end_the_optimization_cleanly) {
  std::vector<std::uint8_t> x{0, 0, 1, 1}, y{0, 0, 1, 1};
  const Dataset data({Column(x, 2)}, Column(y, 2));
  for (const OptimizerMethod method : {OptimizerMethod::kConjugateGradient, OptimizerMethod::kLbfgs}) {
    const FitResult found = estimate_elr(Structure::naive(1), data, {.method = method, .tol = 0, .max_iter = 100'000});
    CHECK(found.stop == FitStop::kConverged);
    CHECK(found.training.back() > -1e-10);
    for (const double p : found.network.table(0)) CHECK(p > 0);
  }
}

TEST(a_penalty_keeps_parameters_near_the_start) {
  const Dataset data = chain_data(300, 0.1, 2);
  const RowLikelihood rows(kChain, data, RowGoal::kConditionalLikelihood);
  const auto start = rows.parameters(start_of({kChain, data}));
  double before = INFINITY;
  for (const double l2 : {0.1, 10.0, 1000.0}) {
    const auto found = rows.parameters(estimate_elr(kChain, data, {.l2 = l2}).network);
    double distance = 0;
    for (std::size_t i = 0; i < start.size(); ++i) distance += std::pow(found[i] - start[i], 2);
    CHECK(distance < before);
    before = distance;
  }
  CHECK(before < 1e-3);
}

TEST(tuning_stops_where_rows_held_out_say) {
  const Dataset data = chain_data(200, 0.05, 9);
  const auto folds = stratified_folds(data.target(), 5, 0);
  for (const TuneBy by : {TuneBy::kError, TuneBy::kCll})
    for (const TuneRule rule : {TuneRule::kMean, TuneRule::kMedian}) {
      ElrOptions options;
      options.fold_of_row = folds;
      options.tune_by = by;
      options.tune_rule = rule;
      const FitResult found = estimate_elr(kChain, data, options, 1);
      CHECK(found.stop == FitStop::kTuned || found.stop == FitStop::kConverged);
      CHECK_EQ(found.held_out.size(), found.held_out_error.size());
      CHECK_EQ(found.fold_error.size(), std::size_t{5});
      const auto& curve = by == TuneBy::kError ? found.held_out_error : found.held_out;
      const std::size_t chosen = found.training.size() - 1;
      if (rule == TuneRule::kMean)
        for (const double other : curve) CHECK(by == TuneBy::kError ? curve[chosen] <= other : curve[chosen] >= other);
      if (rule == TuneRule::kMean && by == TuneBy::kError)  // the start, or the last of equals
        for (std::size_t i = 0; i < curve.size(); ++i)
          CHECK(curve[i] != curve[chosen] || (chosen == 0 || (i > 0 && i <= chosen)));
      const FitResult again = estimate_elr(kChain, data, options, 3);
      CHECK(again.training == found.training);
      CHECK(again.fold_held_out == found.fold_held_out);
    }
}

TEST(a_class_prior_does_not_change) {
  const Dataset data = chain_data(200, 0.1, 4);
  const std::vector<double> prior{0.3, 0.7};
  CHECK(std::ranges::equal(estimate_elr(kChain, data, {.class_prior = prior}).network.class_table(), prior));
  CHECK(std::ranges::equal(estimate_em(kChain, data, {.class_prior = prior}).network.class_table(), prior));
  CHECK(std::ranges::equal(estimate_apn(kChain, data, {.class_prior = prior}).network.class_table(), prior));
  // One that makes a class impossible leaves its rows without a say, and nothing is infinite.
  const FitResult certain = estimate_elr(kChain, data, {.class_prior = {0.0, 1.0}});
  CHECK_NEAR(certain.training.back(), 0.0, 1e-12);
  CHECK(std::isfinite(estimate_em(kChain, data, {.class_prior = {0.0, 1.0}}).training.back()));
}

/// A line of which value and slope are known by formulas.
Line line_of(const std::function<double(double)>& value, const std::function<double(double)>& slope) {
  return {value, [=](double x) { return SlopedPoint{{x, value(x)}, slope(x)}; }};
}

TEST(lines_are_searched_for_their_maximum) {
  int calls = 0;
  const Line hump = line_of(
      [&](double x) {
        ++calls;
        return -(x - 3) * (x - 3);
      },
      [](double x) { return -2 * (x - 3); });
  for (const double guess : {1e-6, 0.1, 3.0, 50.0}) CHECK_NEAR(maximize_along(hump, -9.0, 6.0, guess).length, 3.0, 0.3);
  CHECK(calls < 60);
  calls = 0;
  maximize_along(hump, -9.0, 6.0, 2.0);
  CHECK_EQ(calls, 2);  // a parabola's top is found at once
  // One that is anything but a parabola: steep at first, then long and flat, with its top at 10.
  const Line skew = line_of([](double x) { return std::log1p(100 * x) - 100 * x / 1001; },
                            [](double x) { return 100 / (1 + 100 * x) - 100.0 / 1001; });
  for (const double guess : {1e-4, 0.1, 3.0, 500.0}) {
    const LinePoint top = maximize_along(skew, 0.0, skew.point_at(0).slope, guess);
    CHECK(top.value > 0);
    CHECK_EQ(top.value, skew.value_at(top.length));
    CHECK(std::abs(skew.point_at(top.length).slope) <= 0.1 * skew.point_at(0).slope);
  }
  const Line flat = line_of([](double) { return 1.0; }, [](double) { return 0.0; });
  CHECK_EQ(maximize_along(flat, 1.0, 1e-20, 1.0).length, 0.0);
  const Line cliff = line_of([](double x) { return x > 0.5 ? std::nan("") : x; }, [](double) { return 1.0; });
  CHECK(maximize_along(cliff, 0.0, 1.0, 1.0).length > 0.0);
}

TEST(optimizers_stay_within_reach) {
  for (const OptimizerMethod method : {OptimizerMethod::kConjugateGradient, OptimizerMethod::kLbfgs}) {
    const Objective slope = [](std::span<const double> x, std::span<double> gradient) {
      if (!gradient.empty()) gradient[0] = 1, gradient[1] = -2 * x[1];
      return x[0] - x[1] * x[1];
    };
    const auto optimizer = make_optimizer(method, slope, {0.0, 3.0}, 5.0);
    for (int i = 0; i < 50 && optimizer->step(); ++i) {
    }
    CHECK_NEAR(optimizer->point()[0], 5.0, 1e-9);
    CHECK_NEAR(optimizer->point()[1], 0.0, 1e-3);
  }
}

TEST(settings_without_meaning_are_rejected) {
  const Dataset data = chain_data(20, 0.1, 4);
  CHECK_THROWS(InvalidInput, estimate_elr(kChain, data, {.alpha = 0}), "alpha: expected a number > 0");
  CHECK_THROWS(InvalidInput, estimate_elr(kChain, data, {.l2 = -1}), "l2: expected a finite number >= 0");
  CHECK_THROWS(InvalidInput, estimate_em(kChain, data, {.tol = NAN}), "tol: expected a number >= 0");
  CHECK_THROWS(InvalidInput, estimate_elr(kChain, data, {.class_prior = {1.0}}),
               "class_prior: expected 2 probabilities");
  CHECK_THROWS(InvalidInput, estimate_elr(Structure::naive(2), data), "structure has 2 features");
  CHECK_THROWS(InvalidInput, estimate_elr(kChain, data, {.fold_of_row = {0, 1}}), "the fold of each of 20 rows");
  CHECK_THROWS(InvalidInput,
               estimate_em(Structure::general({{}, {}, {}, {}}, {false, true, true, true}, {0}), data,
                           {.class_prior = {0.5, 0.5}}),
               "class probabilities cannot be given where the class depends on features");
  const RowLikelihood rows(kChain, data, RowGoal::kLikelihood);
  CHECK_THROWS(InvalidInput, rows.evaluate(std::vector<double>(3)), "parameters, got 3");
}

TEST_MAIN

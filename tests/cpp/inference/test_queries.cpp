// Posteriors, most probable cases and samples against the full joint distribution.
#include "stopping.hpp"
#include "tanager/queries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "full_joint.hpp"
#include "tanager/errors.hpp"

using namespace tanager;
using namespace testing;

namespace {

/// Not unpacked by structured bindings: clang 14 cannot capture those in lambdas.
struct Problem {
  Network network;
  Evidence evidence;
};

/// Every other table uniform, so many cases are equally probable.
Network flattened(std::mt19937_64& random, const Network& network) {
  std::vector<std::vector<double>> tables;
  for (std::size_t f = 0; f < network.n_features(); ++f) {
    tables.emplace_back(network.table(f).begin(), network.table(f).end());
    if (draw(random, 2) == 0) std::fill(tables[f].begin(), tables[f].end(), 1.0 / network.cardinalities()[f]);
  }
  std::vector<double> classes(network.class_table().size(), 1.0 / network.n_classes());
  return Network(network.structure(), {network.cardinalities().begin(), network.cardinalities().end()},
                 network.n_classes(), classes, tables);
}

Problem random_problem(std::mt19937_64& random, bool zeros, bool coarse) {
  const std::size_t n = 1 + draw(random, 6);
  std::vector<std::uint32_t> cards;
  for (std::size_t f = 0; f < n; ++f) cards.push_back(1 + static_cast<std::uint32_t>(draw(random, 3)));
  const std::size_t max_parents = draw(random, 4);
  const Structure structure = draw(random, 2) == 0 ? random_structure(random, n, max_parents)
                                                   : random_general_structure(random, n, max_parents);
  const auto classes = static_cast<std::uint32_t>(1 + draw(random, 3));
  Evidence evidence{random_row(random, cards, static_cast<int>(draw(random, 120))), {}};
  if (draw(random, 3) == 0) evidence.target = static_cast<std::uint32_t>(draw(random, classes));
  const Network network = random_network(random, structure, cards, classes, zeros);
  return {coarse ? flattened(random, network) : network, evidence};
}

/// Some variables in a random order, at least one.
std::vector<std::size_t> random_variables(std::mt19937_64& random, std::size_t n) {
  std::vector<std::size_t> variables(n + 1);
  for (std::size_t i = 0; i <= n; ++i) variables[i] = i;
  for (std::size_t i = n + 1; i > 1; --i) std::swap(variables[i - 1], variables[draw(random, i)]);
  variables.resize(1 + draw(random, std::min<std::size_t>(n + 1, 3)));
  return variables;
}

}  // namespace

TEST(posteriors_match_the_full_joint) {
  std::mt19937_64 random(1);
  int impossible = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const auto problem = random_problem(random, repeat % 3 == 0, false);
    const auto& network = problem.network;
    const auto& evidence = problem.evidence;
    const FullJoint joint(network);
    const Queries queries(network);
    const double total = joint.probability(evidence);
    CHECK_NEAR(queries.log_probability(evidence), std::log(total), 1e-12);
    const auto variables = random_variables(random, network.n_features());
    if (total == 0) {
      ++impossible;
      CHECK_THROWS(InvalidInput, queries.posterior(evidence, variables), "the evidence has probability zero");
      CHECK_THROWS(InvalidInput, queries.most_probable(evidence), "the evidence has probability zero");
      continue;
    }
    const JointTable table = queries.posterior(evidence, variables);
    std::vector<double> expected(table.probabilities.size(), 0.0);
    for (const auto& one : joint.cases()) {
      if (!FullJoint::agrees(one, evidence)) continue;
      std::size_t index = 0;
      for (std::size_t i = 0; i < variables.size(); ++i)
        index = index * table.dims[i] + (variables[i] == network.n_features() ? one.target : one.row[variables[i]]);
      expected[index] += one.probability / total;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK_NEAR(table.probabilities[i], expected[i], 1e-13);
  }
  CHECK(impossible > 20);
}

TEST(most_probable_cases_match_the_full_joint) {
  std::mt19937_64 random(2);
  int tied = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const auto problem = random_problem(random, repeat % 3 == 0, repeat % 2 == 0);
    const auto& network = problem.network;
    const auto& evidence = problem.evidence;
    const FullJoint joint(network);
    if (joint.probability(evidence) == 0) continue;
    double best = 0;
    for (const auto& one : joint.cases())
      if (FullJoint::agrees(one, evidence)) best = std::max(best, one.probability);
    std::vector<FullJoint::Case> equal;  // cases come in the order that ties are decided in
    for (const auto& one : joint.cases())
      if (FullJoint::agrees(one, evidence) && one.probability >= best * (1 - 1e-13)) equal.push_back(one);
    tied += equal.size() > 1;
    const Explanation found = Queries(network).most_probable(evidence);
    CHECK_EQ(found.target, equal[0].target);
    CHECK(found.features == equal[0].row);
    CHECK_NEAR(found.log_probability, std::log(best), 1e-12);
  }
  CHECK(tied > 300);
}

TEST(most_probable_case_of_many_features_all_tied) {
  const std::size_t n = 500;
  std::vector<std::vector<std::size_t>> parents(n);
  for (std::size_t f = 1; f < n; ++f) parents[f] = {(f - 1) / 2};
  std::vector<std::vector<double>> tables;
  for (std::size_t f = 0; f < n; ++f) tables.emplace_back(f == 0 ? 4 : 8, 0.5);
  const Queries queries(Network(Structure(parents), std::vector<std::uint32_t>(n, 2), {0.5, 0.5}, tables));
  const Explanation found = queries.most_probable({std::vector<Code>(n, kMissing), {}});
  CHECK_EQ(found.target, 0u);
  CHECK(found.features == std::vector<Code>(n, 0));
  CHECK_NEAR(found.log_probability, -501 * std::log(2.0), 1e-9);
}

TEST(samples_follow_the_posterior) {
  std::mt19937_64 random(3);
  const std::size_t cases = 4000;
  for (int repeat = 0; repeat < 40; ++repeat) {
    auto problem = random_problem(random, repeat % 3 == 0, false);
    const auto& network = problem.network;
    auto& evidence = problem.evidence;
    if (repeat % 4 == 0) evidence = {std::vector<Code>(network.n_features(), kMissing), {}};
    const FullJoint joint(network);
    const Queries queries(network);
    const double total = joint.probability(evidence);
    const std::size_t n = network.n_features();
    std::vector<Code> out((n + 1) * cases), again(out.size());
    if (total == 0) {
      CHECK_THROWS(InvalidInput, queries.sample(evidence, 1, out), "the evidence has probability zero");
      continue;
    }
    queries.sample(evidence, static_cast<std::uint64_t>(repeat), out);
    queries.sample(evidence, static_cast<std::uint64_t>(repeat), again, 3);
    CHECK(out == again);
    double chi_square = 0;
    std::size_t drawn = 0, cells = 0;
    for (const auto& one : joint.cases()) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < cases; ++i) {
        bool same = out[n * cases + i] == one.target;
        for (std::size_t f = 0; f < n && same; ++f) same = out[f * cases + i] == one.row[f];
        count += same;
      }
      drawn += count;
      const double expected = FullJoint::agrees(one, evidence) ? one.probability / total * cases : 0.0;
      if (expected == 0) CHECK_EQ(count, 0u);
      if (expected == 0) continue;
      ++cells;
      chi_square += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
    }
    CHECK_EQ(drawn, cases);
    // Far out in the tail for the number of cells; rare cells make the statistic's spread larger than usual.
    const auto degrees = static_cast<double>(cells);
    CHECK(chi_square < degrees + 6 * std::sqrt(2 * degrees) + 30);
  }
}

TEST(sampling_can_be_cancelled) {
  const Queries queries(Network(Structure::naive(1), {2}, {0.5, 0.5}, {{0.5, 0.5, 0.5, 0.5}}));
  std::vector<Code> out(2 * 10'000);
  for (const int threads : {1, 2}) CHECK_STOPS(queries.sample({{kMissing}, {}}, 0, out, threads));
}

TEST(samples_of_features_with_many_values) {
  std::mt19937_64 random(4);
  const std::vector<std::uint32_t> cards{65000, 2};
  const Network network = random_network(random, Structure({{}, {0}}), cards, 1);
  const Queries queries(network);
  std::vector<Code> out(3 * 20000);
  queries.sample({{kMissing, 1}, {}}, 5, out, 2);
  std::vector<double> mean(2, 0.0);
  for (std::size_t i = 0; i < 20000; ++i) {
    mean[0] += out[i] / 20000.0;
    CHECK_EQ(out[20000 + i], 1);
  }
  double total = 0;
  for (std::size_t v = 0; v < 65000; ++v) {
    const double p = network.table(0)[v] * network.table(1)[v * 2 + 1];
    total += p;
    mean[1] += p * static_cast<double>(v);
  }
  CHECK_NEAR(mean[0], mean[1] / total, 65000 / std::sqrt(12.0 * 20000) * 5);
}

TEST(features_left_out_are_no_part_of_answers) {
  const Structure structure = Structure::leaving_out({false, true}, {{}, {}});
  const Network network(structure, {2, 5}, {0.25, 0.75}, {{0.5, 0.25, 0.5, 0.75}, {}});
  const Queries queries(network);
  CHECK_NEAR(queries.log_probability({{0, 3}, {}}), std::log(0.25 * 0.5 + 0.75 * 0.25), 1e-15);
  CHECK(queries.most_probable({{kMissing, 4}, {}}).features == (std::vector<Code>{1, kMissing}));
  std::vector<Code> out(3 * 10);
  queries.sample({{kMissing, 4}, {}}, 1, out);
  for (std::size_t i = 10; i < 20; ++i) CHECK_EQ(out[i], kMissing);
  CHECK_THROWS(InvalidInput, queries.posterior({{0, 0}, {}}, std::vector<std::size_t>{1}),
               "is not part of the network");
}

TEST(questions_are_checked) {
  std::mt19937_64 random(5);
  const Network network = random_network(random, Structure({{}, {0}}), {2, 3}, 2);
  const Queries queries(network, 11);
  const Evidence nothing{{kMissing, kMissing}, {}};
  CHECK_THROWS(InvalidInput, queries.log_probability({{0}, {}}), "a code for each of 2 features, got 1");
  CHECK_THROWS(InvalidInput, queries.log_probability({{0, 3}, {}}), "feature 1 has code 3, but 3 values are known");
  CHECK_THROWS(InvalidInput, queries.log_probability({{0, 0}, 2}), "the class has code 2, but there are 2 classes");
  CHECK_THROWS(InvalidInput, queries.posterior(nothing, {}), "at least one variable");
  CHECK_THROWS(InvalidInput, queries.posterior(nothing, std::vector<std::size_t>{3}),
               "expected a variable from 0 to 2, the class, got 3");
  CHECK_THROWS(InvalidInput, queries.posterior(nothing, std::vector<std::size_t>{1, 1}), "got 1 twice");
  CHECK_THROWS(InvalidInput, queries.posterior(nothing, std::vector<std::size_t>{0, 1}), "but max_cells allows 11; ");
  CHECK_THROWS(InvalidInput, queries.posterior({{1, 1}, {}}, std::vector<std::size_t>{0, 1, 2}),
               "the joint distribution has 12 cells, but max_cells allows 11");
  std::vector<Code> out(4);
  CHECK_THROWS(InvalidInput, queries.sample(nothing, 1, out), "do not fill 4 codes");
}

TEST_MAIN

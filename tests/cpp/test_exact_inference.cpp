// Exact inference against sums over the whole domain.
#include "tanager/inference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "random_networks.hpp"
#include "tanager/errors.hpp"

using namespace tanager;
using namespace testing;

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

std::vector<std::uint32_t> random_cards(std::mt19937_64& random, std::size_t n, std::uint32_t most) {
  std::vector<std::uint32_t> cards;
  for (std::size_t f = 0; f < n; ++f) cards.push_back(1 + static_cast<std::uint32_t>(draw(random, most)));
  return cards;
}

/// Where a complete row is in the table of a family.
std::size_t cell_of(const Network& network, std::size_t family, const std::vector<Code>& row, std::size_t c) {
  std::size_t index = 0;
  if (family < network.n_features()) {
    for (const std::size_t p : network.structure().parents(family)) index = index * network.cardinalities()[p] + row[p];
    index = index * network.cardinalities()[family] + row[family];
  }
  return index * network.n_classes() + c;
}

/// Calls take(complete row) for every completion of a row.
template <class Take>
void for_each_completion(const Network& network, std::vector<Code> row, Take take, std::size_t from = 0) {
  while (from < row.size() && row[from] != kMissing) ++from;
  if (from == row.size()) return take(row);
  for (Code value = 0; value < network.cardinalities()[from]; ++value) {
    row[from] = value;
    for_each_completion(network, row, take, from + 1);
  }
}

struct Answer {
  std::vector<double> log_evidence;
  FamilyTables sums;
};

/// By the definition: every completion of the row, one after the other.
Answer brute_force(const Network& network, const std::vector<Code>& row, const std::vector<double>& weights) {
  const std::size_t s = network.n_classes(), n = network.n_features();
  Answer answer{std::vector<double>(s), family_tables(network)};
  for (auto& table : answer.sums) std::fill(table.begin(), table.end(), 0.0);
  for (std::size_t c = 0; c < s; ++c) {
    const double total = summed_probability(network, row, c);
    answer.log_evidence[c] = std::log(total);
    if (total == 0) continue;
    for_each_completion(network, row, [&](const std::vector<Code>& whole) {
      const double p = joint_probability(network, whole, c) / total;
      for (std::size_t family = 0; family <= n; ++family)
        answer.sums[family][cell_of(network, family, whole, c)] += weights[c] * p;
    });
  }
  return answer;
}

void check_row(const Network& network, const Inference& inference, const std::vector<Code>& row,
               std::mt19937_64& random) {
  const InferenceTables tables(family_tables(network));
  Inference::Workspace work;
  std::vector<double> weights, evidence(network.n_classes()), collected(network.n_classes());
  for (std::size_t c = 0; c < network.n_classes(); ++c) weights.push_back(static_cast<double>(draw(random, 9)) / 4 - 1);
  const Answer expected = brute_force(network, row, weights);
  inference.log_evidence(tables, row, work, evidence);
  inference.collect(tables, row, work, collected);
  FamilyTables sums = inference.zero_tables();
  inference.add_family_posteriors(tables, weights, work, sums);
  for (std::size_t c = 0; c < weights.size(); ++c) {
    CHECK_NEAR(evidence[c], expected.log_evidence[c], 1e-12);
    CHECK_NEAR(collected[c], expected.log_evidence[c], 1e-12);
  }
  for (std::size_t family = 0; family < sums.size(); ++family) {
    CHECK_EQ(sums[family].size(), expected.sums[family].size());
    for (std::size_t i = 0; i < sums[family].size(); ++i) CHECK_NEAR(sums[family][i], expected.sums[family][i], 1e-12);
  }
}

}  // namespace

TEST(evidence_and_families_match_the_full_joint) {
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    const std::size_t n = 1 + draw(random, 7);
    const auto cards = random_cards(random, n, 3);
    const Structure structure = random_structure(random, n, draw(random, 4));
    const auto classes = static_cast<std::uint32_t>(1 + draw(random, 5));
    const Network network = random_network(random, structure, cards, classes, repeat % 3 == 0);
    const Inference inference(structure, cards, classes);
    for (int rows = 0; rows < 2; ++rows)
      check_row(network, inference, random_row(random, cards, static_cast<int>(draw(random, 110))), random);
  }
}

TEST_MAIN

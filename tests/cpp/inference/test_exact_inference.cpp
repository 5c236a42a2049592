// Evidence and expected counts against the full joint distribution, and where that is too large, against closed forms.
#include "tanager/inference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "full_joint.hpp"
#include "graph/min_fill.hpp"
#include "inference/forest.hpp"
#include "inference/junction_plan_cache.hpp"
#include "tanager/errors.hpp"

using namespace tanager;
using namespace tanager::internal;
using namespace testing;

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

std::vector<std::uint32_t> random_cards(std::mt19937_64& random, std::size_t n, std::uint32_t most) {
  std::vector<std::uint32_t> cards;
  for (std::size_t f = 0; f < n; ++f) cards.push_back(1 + static_cast<std::uint32_t>(draw(random, most)));
  return cards;
}

void check_row(const Network& network, const FullJoint& joint, const Inference& inference, const std::vector<Code>& row,
               std::mt19937_64& random) {
  const std::size_t s = network.n_classes();
  const InferenceTables tables(family_tables(network));
  std::vector<double> weights, evidence(s), collected(s), expected(s);
  for (std::size_t c = 0; c < s; ++c) weights.push_back(static_cast<double>(draw(random, 9)) / 4 - 1);
  for (std::uint32_t c = 0; c < s; ++c) expected[c] = joint.probability(Evidence{row, c});
  FamilyTables expected_sums = inference.zero_tables();
  for (const auto& one : joint.cases())
    if (expected[one.target] > 0 && FullJoint::agrees(one, {row, {}}))
      for (std::size_t family = 0; family <= row.size(); ++family)
        expected_sums[family][joint.cell(family, one.row, one.target)] +=
            weights[one.target] * one.probability / expected[one.target];

  Inference::Workspace work;
  inference.log_evidence(tables, row, work, evidence);
  inference.collect(tables, row, work, collected);
  FamilyTables sums = inference.zero_tables();
  inference.add_family_posteriors(tables, weights, work, sums);
  for (std::size_t c = 0; c < s; ++c) {
    CHECK_NEAR(evidence[c], std::log(expected[c]), 1e-12);
    CHECK_NEAR(collected[c], std::log(expected[c]), 1e-12);
  }
  for (std::size_t family = 0; family < sums.size(); ++family) {
    CHECK_EQ(sums[family].size(), expected_sums[family].size());
    for (std::size_t i = 0; i < sums[family].size(); ++i) CHECK_NEAR(sums[family][i], expected_sums[family][i], 1e-12);
  }
}

std::vector<double> evidence_of(const Inference& inference, const InferenceTables& tables,
                                const std::vector<Code>& row) {
  Inference::Workspace work;
  std::vector<double> out(inference.n_classes());
  inference.log_evidence(tables, row, work, out);
  return out;
}

double log_sum_exp(const std::vector<double>& terms) {
  const double largest = *std::max_element(terms.begin(), terms.end());
  if (largest == kMinusInfinity) return largest;
  double sum = 0;
  for (const double t : terms) sum += std::exp(t - largest);
  return largest + std::log(sum);
}

}  // namespace

TEST(evidence_and_families_match_the_full_joint) {
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const std::size_t n = 1 + draw(random, repeat % 20 == 0 ? 7 : 5);
    const auto cards = random_cards(random, n, 3);
    const std::size_t max_parents = draw(random, 4);
    const Structure structure =
        repeat % 2 == 0 ? random_structure(random, n, max_parents) : random_general_structure(random, n, max_parents);
    const auto classes = static_cast<std::uint32_t>(1 + draw(random, repeat % 20 == 0 ? 2 : 5));
    const Network network = random_network(random, structure, cards, classes, repeat % 3 == 0);
    const FullJoint joint(network);
    const Inference inference(structure, cards, classes);
    for (int rows = 0; rows < 2; ++rows)
      check_row(network, joint, inference, random_row(random, cards, static_cast<int>(draw(random, 110))), random);
  }
}

TEST(features_left_out_say_nothing) {
  std::mt19937_64 random(2);
  const std::vector<std::uint32_t> cards{2, 7, 3};
  const Structure structure = Structure::leaving_out({false, true, false}, {{}, {}, {0}});
  const Network full = random_network(random, Structure({{}, {0}}), {2, 3}, 2);
  const Network network(
      structure, cards, {full.class_probabilities().begin(), full.class_probabilities().end()},
      {{full.table(0).begin(), full.table(0).end()}, {}, {full.table(1).begin(), full.table(1).end()}});
  const Inference inference(structure, cards, 2);
  const InferenceTables tables(family_tables(network)), full_tables(family_tables(full));
  for (const Code other : {Code{6}, kMissing})
    CHECK(evidence_of(inference, tables, {kMissing, other, 1}) ==
          evidence_of(Inference(full.structure(), {2, 3}, 2), full_tables, {kMissing, 1}));
  CHECK(inference.zero_tables()[1].empty());
}

TEST(tables_may_change_between_rows) {
  std::mt19937_64 random(3);
  const std::vector<std::uint32_t> cards{2, 3, 2, 2};
  for (const Structure& structure : {Structure({{}, {0}, {1}, {1}}), Structure({{}, {0}, {0, 1}, {1, 2}})}) {
    const Inference inference(structure, cards, 2);
    const std::vector<Code> row{kMissing, 1, kMissing, 1};
    InferenceTables tables(family_tables(random_network(random, structure, cards, 2)));
    Inference::Workspace work;
    std::vector<double> out(2);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Network network = random_network(random, structure, cards, 2);
      tables.probabilities = family_tables(network);
      tables.refresh_logs();
      inference.log_evidence(tables, row, work, out);
      for (std::size_t c = 0; c < 2; ++c) CHECK_NEAR(out[c], std::log(summed_probability(network, row, c)), 1e-13);
    }
  }
}

// One or two missing features with 2000 observed children: the likelihoods of their values are thousands of orders of
// magnitude apart, and where the likeliest value is impossible, all of the others count.
TEST(nothing_underflows) {
  std::mt19937_64 random(4);
  const std::size_t n = 2000;
  for (const std::size_t hubs : {std::size_t{1}, std::size_t{2}})
    for (const bool zeros : {false, true}) {
      std::vector<std::vector<std::size_t>> parents(n);
      for (std::size_t f = hubs; f < n; ++f)
        for (std::size_t h = 0; h < hubs; ++h) parents[f].push_back(h);
      const std::vector<std::uint32_t> cards(n, 2);
      std::vector<std::vector<double>> tables(n);
      const std::size_t configurations = hubs * 2;  // of two values each
      for (std::size_t f = 0; f < n; ++f) {
        const std::size_t rows = f < hubs ? 1 : configurations;
        for (std::size_t j = 0; j < rows; ++j) {
          // Configuration 0 of the hubs explains the row far better than the others do.
          const double p = f < hubs ? (zeros ? 0.0 : 0.5) : j == 0 ? 0.9 : 0.1 + 0.01 * static_cast<double>(j);
          tables[f].push_back(p);
          tables[f].push_back(p / 2);
          tables[f].push_back(1 - p);
          tables[f].push_back(1 - p / 2);
        }
      }
      const Structure structure(parents);
      const Network network(structure, cards, {0.5, 0.5}, tables);
      std::vector<Code> row(n, 0);
      for (std::size_t h = 0; h < hubs; ++h) row[h] = kMissing;
      const auto out = evidence_of(Inference(structure, cards, 2), InferenceTables(family_tables(network)), row);
      for (std::size_t c = 0; c < 2; ++c) {
        std::vector<double> terms;
        for (std::size_t j = 0; j < configurations; ++j) {
          double log = std::log(0.5);
          for (std::size_t h = 0; h < hubs; ++h) log += std::log(tables[h][((j >> (hubs - 1 - h)) & 1) * 2 + c]);
          for (std::size_t f = hubs; f < n; ++f) log += std::log(tables[f][j * 4 + c]);
          terms.push_back(log);
        }
        CHECK_NEAR(out[c], log_sum_exp(terms), 1e-8);
        CHECK(std::isfinite(out[c]));
      }
    }
}

TEST(two_thousand_features_of_which_all_or_half_are_missing) {
  std::mt19937_64 random(5);
  const std::size_t n = 2000;
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
    std::vector<std::vector<std::size_t>> parents(n);
    for (std::size_t f = 1; f < n; ++f)
      for (std::size_t j = 1; j <= std::min(k, f); ++j) parents[f].push_back(f - j);
    const std::vector<std::uint32_t> cards(n, 2);
    const Structure structure(parents);
    const Network network = random_network(random, structure, cards, 2);
    const Inference inference(structure, cards, 2);
    const InferenceTables tables(family_tables(network));
    Inference::Workspace work;
    std::vector<double> out(2), weights{0.25, 0.75};
    inference.collect(tables, std::vector<Code>(n, kMissing), work, out);
    for (std::size_t c = 0; c < 2; ++c) CHECK_NEAR(out[c], std::log(network.class_probabilities()[c]), 1e-9);
    FamilyTables sums = inference.zero_tables();
    inference.add_family_posteriors(tables, weights, work, sums);
    for (const auto& table : sums) {
      double total = 0;
      for (const double cell : table) total += cell;
      CHECK_NEAR(total, 1.0, 1e-9);
    }
    // Chains: forward, one feature at a time, with a distribution over the last k values.
    std::vector<Code> row(n, kMissing);
    for (std::size_t f = 0; f < n; f += 2) row[f] = static_cast<Code>(draw(random, 2));
    inference.log_evidence(tables, row, work, out);
    for (std::size_t c = 0; c < 2; ++c) {
      std::vector<double> last(1, 1.0);  // over the values of the parents, the nearest outermost
      double log = std::log(network.class_probabilities()[c]);
      for (std::size_t f = 0; f < n; ++f) {
        const std::size_t known = parents[f].size(), kept = std::min(k, f + 1);
        std::vector<double> next(std::size_t{1} << kept, 0.0);
        for (std::size_t j = 0; j < last.size(); ++j)
          for (Code v = 0; v < 2; ++v)
            if (row[f] == kMissing || row[f] == v)
              next[((std::size_t{v} << known) + j) >> (known + 1 - kept)] +=
                  last[j] * network.table(f)[(j * 2 + v) * 2 + c];
        double sum = 0;
        for (const double p : next) sum += p;
        for (double& p : next) p /= sum;
        log += std::log(sum);
        last = next;
      }
      CHECK_NEAR(out[c], log, 1e-9);
    }
  }
}

TEST(features_of_65000_values) {
  std::mt19937_64 random(6);
  const std::vector<std::uint32_t> cards{65000, 2, 2};
  for (const Structure& structure : {Structure({{}, {0}, {0}}), Structure({{}, {0}, {0, 1}})}) {
    const Network network = random_network(random, structure, cards, 2);
    const auto out =
        evidence_of(Inference(structure, cards, 2), InferenceTables(family_tables(network)), {kMissing, kMissing, 1});
    for (std::size_t c = 0; c < 2; ++c)
      CHECK_NEAR(out[c], std::log(summed_probability(network, {kMissing, kMissing, 1}, c)), 1e-10);
  }
}

TEST(junction_trees_that_are_too_large_are_rejected) {
  std::mt19937_64 random(7);
  const std::vector<std::uint32_t> cards{30, 40, 2, 50, 2};
  const Structure structure({{}, {}, {0, 1}, {}, {1, 3}});
  const Network network = random_network(random, structure, cards, 2);
  const InferenceTables tables(family_tables(network));
  const Inference inference(structure, cards, 2, 5000);
  CHECK_THROWS(InvalidInput, evidence_of(inference, tables, {kMissing, kMissing, 0, kMissing, 0}),
               "takes 6500 cells, but max_cells allows 5000; the features 1, 3 have to be held together in a clique of "
               "4000 cells; set max_cells to 6500 or more");
  evidence_of(Inference(structure, cards, 2, 6500), tables, {kMissing, kMissing, 0, kMissing, 0});
  CHECK_THROWS(CliqueTooLarge,
               evidence_of(Inference(structure, cards, 2, 6499), tables, {kMissing, kMissing, 0, kMissing, 0}),
               "takes 6500 cells");
  evidence_of(inference, tables, {kMissing, kMissing, 0, kMissing, kMissing});  // the last two features are barren
  CHECK_THROWS(InvalidInput,
               evidence_of(Inference(structure, cards, 2, 2399), tables, {kMissing, kMissing, 0, kMissing, kMissing}),
               "the features 0, 1 have to be held together in a clique of 2400 cells");
  // Sizes beyond every integer type.
  const std::size_t n = 70;
  std::vector<std::vector<std::size_t>> parents(n);
  for (std::size_t f = 40; f < n; ++f) parents[f] = {f - 40, f - 39, f - 38, f - 37};
  for (std::size_t f = 0; f < 30; ++f) parents[f + 40].push_back((f * 7 + 11) % 40);
  for (auto& list : parents) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  const std::vector<std::uint32_t> many(n, 9);
  FamilyTables none(n + 1);
  std::vector<Code> row(n, kMissing);
  std::fill(row.begin() + 40, row.end(), Code{0});
  CHECK_THROWS(InvalidInput, evidence_of(Inference(Structure(parents), many, 2), InferenceTables(none), row),
               "have to be held together");
  CHECK_THROWS(InvalidInput, evidence_of(Inference(Structure(parents), many, 2), InferenceTables(none), row),
               "no max_cells above 4294967295 is possible");
}

TEST(limits_that_cannot_be_kept_are_rejected) {
  std::mt19937_64 random(8);
  const Structure structure({{}, {0}});
  const Network network = random_network(random, structure, {2, 3}, 2);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    CHECK_THROWS(InvalidInput, Inference(structure, {2, 3}, 2, limit), "expected max_cells from 1 to 4294967295, got ");
    CHECK_THROWS(InvalidInput, Queries(network, limit), "expected max_cells from 1 to 4294967295, got ");
  }
  CHECK(std::isfinite(Queries(network, kMostCliqueCells).log_probability({{kMissing, 1}, {}})));
  CHECK_THROWS(InvalidInput, Inference(structure, {2}, 2), "the number of values of 2 features, got 1");
  CHECK_THROWS(InvalidInput, Inference(structure, {2, 0}, 2), "feature 1 must have 1 to 65534 values, got 0");
  CHECK_THROWS(InvalidInput, Inference(structure, {2, 3}, 0), "expected 1 to 65534 classes, got 0");
  // The strides of tables have 32 bits, classes included.
  CHECK_THROWS(InvalidInput, Inference(structure, {60000, 60000}, 2), "7200000000 cells, but at most 268435456");
}

TEST(a_workspace_serves_one_inference_after_another) {
  std::mt19937_64 random(9);
  const Structure small({{}, {0}, {0, 1}, {1, 2}}), large({{}, {0}, {0, 1}, {0, 1, 2}});
  const std::vector<std::uint32_t> few{2, 2, 2, 2}, many{2, 7, 5, 6};
  const Network a = random_network(random, small, few, 2), b = random_network(random, large, many, 3);
  const InferenceTables of_a(family_tables(a)), of_b(family_tables(b));
  const Inference first(small, few, 2), second(large, many, 3);
  const std::vector<Code> row{0, kMissing, kMissing, 1};
  Inference::Workspace work;
  std::vector<double> out(3), weights{0.5, 0.25, 0.25};
  for (int i = 0; i < 2; ++i) {
    first.log_evidence(of_a, row, work, std::span(out).first(2));
    CHECK(std::ranges::equal(std::span(out).first(2), evidence_of(first, of_a, row)));
    second.log_evidence(of_b, row, work, out);
    CHECK(out == evidence_of(second, of_b, row));
  }
  FamilyTables sums = second.zero_tables();
  CHECK_THROWS(InvalidInput, second.add_family_posteriors(of_b, weights, work, sums), "expected collect()");
  second.collect(of_b, row, work, out);
  second.add_family_posteriors(of_b, weights, work, sums);
  second.add_family_posteriors(of_b, weights, work, sums);
  first.collect(of_a, row, work, std::span(out).first(2));
  CHECK_THROWS(InvalidInput, second.add_family_posteriors(of_b, weights, work, sums), "expected collect()");
  // Also after the first one is gone and another lies at its place.
  for (int i = 0; i < 4; ++i) {
    const Inference next(i % 2 == 0 ? small : large, i % 2 == 0 ? few : many, i % 2 == 0 ? 2 : 3);
    const InferenceTables& tables = i % 2 == 0 ? of_a : of_b;
    const std::span<double> result = std::span(out).first(next.n_classes());
    next.log_evidence(tables, row, work, result);
    CHECK(std::ranges::equal(result, evidence_of(next, tables, row)));
  }
}

TEST(tables_repeated_for_every_class_have_a_limit) {
  const auto network_of = [](std::uint32_t values, std::uint32_t n_classes) {
    return Network(Structure::general({{}}, {false}, {}), {values}, n_classes,
                   std::vector<double>(n_classes, 1.0 / n_classes), {std::vector<double>(values, 1.0 / values)});
  };
  CHECK_EQ(family_tables(network_of(60000, 64))[0].size(), std::size_t{60000} * 64);
  CHECK_THROWS(InvalidInput, family_tables(network_of(60000, 300)),
               "for each of 300 classes: they would have 18000300 cells, but at most 16777216 are possible");
}

TEST(elimination_adds_few_edges) {
  // A hub with 20,000 leaves: leaves first, no edge is ever added.
  std::vector<std::vector<std::uint32_t>> star(20001);
  for (std::uint32_t leaf = 1; leaf <= 20000; ++leaf) {
    star[0].push_back(leaf);
    star[leaf].push_back(0);
  }
  std::size_t widest = 0, taken = 0;
  eliminate_by_min_fill(star, [&](std::uint32_t, std::span<const std::uint32_t> around) {
    widest = std::max(widest, around.size());
    ++taken;
  });
  CHECK_EQ(widest, 1u);
  CHECK_EQ(taken, star.size());

  // Against a plain version that counts everything anew.
  std::mt19937_64 random(8);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::size_t n = 1 + draw(random, 12);
    std::vector<std::vector<bool>> edge(n, std::vector<bool>(n, false));
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < a; ++b) edge[a][b] = edge[b][a] = draw(random, 3) == 0;
    std::vector<std::vector<std::uint32_t>> lists(n);
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = 0; b < n; ++b)
        if (edge[a][b]) lists[a].push_back(b);
    std::vector<bool> gone(n, false);
    eliminate_by_min_fill(lists, [&](std::uint32_t node, std::span<const std::uint32_t> around) {
      std::size_t best = n, fewest = n * n * n;
      std::vector<std::uint32_t> expected;
      for (std::size_t v = 0; v < n; ++v) {
        if (gone[v]) continue;
        std::vector<std::uint32_t> near;
        for (std::uint32_t u = 0; u < n; ++u)
          if (!gone[u] && edge[v][u]) near.push_back(u);
        std::size_t lacking = 0;
        for (const std::uint32_t a : near)
          for (const std::uint32_t b : near) lacking += a < b && !edge[a][b];
        const std::size_t key = lacking * n + near.size();
        if (best == n || key < fewest) {
          best = v;
          fewest = key;
          expected = near;
        }
      }
      CHECK_EQ(node, best);
      CHECK(std::equal(around.begin(), around.end(), expected.begin(), expected.end()));
      for (const std::uint32_t a : expected)
        for (const std::uint32_t b : expected)
          if (a != b) edge[a][b] = true;
      gone[best] = true;
    });
  }
}

TEST(plans_are_kept_up_to_a_limit) {
  JunctionPlanCache cache(200000);  // about half of the plans below
  int made = 0;
  const auto make = [&](std::size_t offsets) {
    return [&made, offsets] {
      ++made;
      JunctionPlan plan;
      plan.offsets.resize(offsets);
      return plan;
    };
  };
  const auto first = cache.get({1}, make(10));
  CHECK(cache.get({1}, make(10)) == first);
  CHECK_EQ(made, 1);
  for (std::uint64_t i = 0; i < 500; ++i) CHECK_EQ(cache.get({i}, make(100))->offsets.size(), i == 1 ? 10u : 100u);
  made = 0;
  for (std::uint64_t i = 0; i < 500; ++i) cache.get({i}, make(100));
  CHECK(made > 100 && made < 480);  // keeping the last ones used would make all 500 again
  made = 0;
  cache.get({1000}, make(100000));
  cache.get({1000}, make(100000));
  CHECK_EQ(made, 2);  // larger than the whole cache
}

TEST(buffers_of_a_forest_have_room_for_features_with_children_and_one_more) {
  const std::vector<std::uint32_t> cardinalities{200, 3, 300, 4};
  const auto n_messages = [&](std::vector<std::vector<std::size_t>> parents) {
    internal::ForestState state;
    internal::Forest(Structure(std::move(parents)), cardinalities, 2).resize(state, false);
    CHECK(state.beliefs.empty());
    return state.messages.size();
  };
  CHECK_EQ(n_messages({{}, {}, {}, {}}), 2u * 300);
  CHECK_EQ(n_messages({{}, {0}, {1}, {1}}), 2u * (200 + 3 + 300));
}

TEST_MAIN

// Sahami's k-dependence structures against a slow version that works from the rows alone.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "reference.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_trees.hpp"

using namespace tanager;

namespace {

using Parents = std::vector<std::vector<std::size_t>>;

Parents parents_of(const Structure& structure) {
  Parents parents;
  for (std::size_t f = 0; f < structure.n_features(); ++f) parents.push_back(structure.parents(f));
  return parents;
}

/// I(X;Y|Z) of a table [x][y][z] from its definition, every probability on its own; rounded, so noise is no tie
/// break.
double information(const std::vector<double>& table, std::size_t n_x, std::size_t n_y, std::size_t n_z) {
  const auto sum = [&](int x, int y, int z) {  // a negative index runs over all values
    double total = 0;
    for (std::size_t i = 0; i < n_x; ++i)
      for (std::size_t j = 0; j < n_y; ++j)
        for (std::size_t k = 0; k < n_z; ++k)
          if ((x < 0 || std::size_t(x) == i) && (y < 0 || std::size_t(y) == j) && (z < 0 || std::size_t(z) == k))
            total += table[(i * n_y + j) * n_z + k];
    return total;
  };
  const double all = sum(-1, -1, -1);
  double result = 0;
  for (int x = 0; x < int(n_x); ++x)
    for (int y = 0; y < int(n_y); ++y)
      for (int z = 0; z < int(n_z); ++z)
        if (sum(x, y, z) > 0)
          result +=
              sum(x, y, z) / all *
              (std::log(sum(x, y, z)) + std::log(sum(-1, -1, z)) - std::log(sum(x, -1, z)) - std::log(sum(-1, y, z)));
  return std::round(result * 1e10) / 1e10;
}

/// The structure, feature after feature, each parent picked by going through all that are left.
Parents slow_kdb(const Dataset& data, std::size_t k) {
  const std::size_t n = data.n_features();
  const auto values = [&](std::size_t f) { return std::size_t{data.feature(f).n_values()}; };
  Parents parents(n);
  std::vector<std::size_t> placed;
  std::vector<bool> done(n, false);
  while (placed.size() < n) {
    std::size_t best = n;
    double most = -1;
    for (std::size_t f = 0; f < n; ++f) {
      const double about_class =
          done[f] ? -1 : information(reference::count_table(data, {f, {}}), values(f), data.n_classes(), 1);
      if (about_class > most) best = f, most = about_class;
    }
    std::vector<std::size_t> left = placed;
    while (parents[best].size() < k && !left.empty()) {
      std::size_t chosen = 0;
      double highest = -1;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const double shared = information(reference::count_table(data, {best, {left[i]}}), values(left[i]),
                                          values(best), data.n_classes());
        if (shared > highest) chosen = i, highest = shared;
      }
      parents[best].push_back(left[chosen]);
      left.erase(left.begin() + std::ptrdiff_t(chosen));
    }
    std::sort(parents[best].begin(), parents[best].end());
    placed.push_back(best);
    done[best] = true;
  }
  return parents;
}

Column narrow(std::vector<std::uint8_t> codes, std::uint32_t n_values) {
  return Column(std::move(codes), n_values);
}

}  // namespace

TEST(equals_the_slow_version) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const double missing = seed % 3 == 1 ? 0.2 : 0.0;
    std::vector<reference::ColumnSpec> specs;
    for (const std::uint32_t r : {3u, 2u, 4u, 2u, 3u, 5u}) specs.push_back({r, missing, seed % 2 ? 0.3 : 0.0, r == 4});
    const Dataset data = reference::random_dataset(specs, {3, 0, 0.2, false}, 120, seed % 4 == 2, seed);
    const CountSet counts = count(data, CountScope::kPairs);
    for (std::size_t k = 0; k < 7; ++k) {
      const Structure structure = learn_kdb(counts, {k});
      CHECK(parents_of(structure) == slow_kdb(data, k));
      CHECK(structure == learn_kdb(counts, {k}, 3));
      CHECK_EQ(structure.max_parents(), std::min<std::size_t>(k, 5));
      CHECK_EQ(structure.is_naive(), k == 0);
      if (k >= 5) CHECK(structure.is_semi_naive());  // one complete graph
    }
  }
}

TEST(a_chain_is_found) {
  // The class is known best from feature 2; feature 0 copies 2, and feature 1 copies 0 with one exception.
  const std::vector<std::uint8_t> two{0, 0, 0, 0, 1, 1, 1, 1, 0, 1};
  const std::vector<std::uint8_t> zero{0, 0, 0, 1, 1, 1, 1, 1, 0, 1};
  const std::vector<std::uint8_t> one{0, 0, 1, 1, 1, 1, 1, 1, 0, 1};
  const std::vector<std::uint8_t> target{0, 0, 0, 0, 1, 1, 1, 1, 0, 1};
  const Dataset data({narrow(zero, 2), narrow(one, 2), narrow(two, 2)}, narrow(target, 2));
  const CountSet counts = count(data, CountScope::kPairs);
  CHECK(parents_of(learn_kdb(counts, {1})) == (Parents{{2}, {0}, {}}));
  CHECK(parents_of(learn_kdb(counts)) == (Parents{{2}, {0, 2}, {}}));
}

TEST(ties_go_to_the_lowest_feature_and_the_first_rank) {
  // A full factorial of four binary features whose class is their sum: every feature is as informative as any other,
  // and so is every pair, though the tables of the pairs differ in the order of their cells.
  std::vector<std::vector<std::uint8_t>> columns(4);
  std::vector<std::uint8_t> target;
  for (unsigned cell = 0; cell < 16; ++cell) {
    std::uint8_t sum = 0;
    for (unsigned f = 0; f < 4; ++f) {
      // Feature 2 names its values the other way around.
      const unsigned bit = cell >> f & 1;
      columns[f].push_back(static_cast<std::uint8_t>(f == 2 ? 1 - bit : bit));
      sum = static_cast<std::uint8_t>(sum + bit);
    }
    target.push_back(sum);
  }
  std::vector<Column> features;
  for (auto& column : columns) features.push_back(narrow(column, 2));
  const CountSet counts = count(Dataset(std::move(features), narrow(target, 5)), CountScope::kPairs);
  CHECK(parents_of(learn_kdb(counts, {1})) == (Parents{{}, {0}, {0}, {0}}));
  CHECK(parents_of(learn_kdb(counts, {2})) == (Parents{{}, {0}, {0, 1}, {0, 1}}));
}

TEST(equal_columns_on_both_sides_of_a_feature_tie) {
  // Columns 0 and 2 are one column twice, and more informative about the class than column 1 between them.
  std::mt19937_64 random(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<std::uint8_t> twice, target, other;
    for (int row = 0; row < 97; ++row) {
      target.push_back(static_cast<std::uint8_t>(random() % 3));
      twice.push_back(random() % 4 ? target.back() : static_cast<std::uint8_t>(random() % 3));
      other.push_back(random() % 3 ? twice.back() : static_cast<std::uint8_t>(random() % 3));
    }
    const Dataset data({narrow(twice, 3), narrow(other, 3), narrow(twice, 3)}, narrow(target, 3));
    const Structure structure = learn_kdb(count(data, CountScope::kPairs), {1});
    CHECK(structure.parents(1) == std::vector<std::size_t>{0});
    CHECK(structure.parents(2) == std::vector<std::size_t>{0});
  }
}

TEST(small_and_degenerate_tables) {
  const Dataset none({}, narrow({0, 1}, 2));
  CHECK_EQ(learn_kdb(count(none, CountScope::kPairs)).n_features(), 0u);
  const Dataset single({narrow({0, 1}, 2)}, narrow({0, 1}, 2));
  CHECK(learn_kdb(count(single, CountScope::kPairs), {3}).is_naive());
  // Without any rows every information is zero, and ties decide.
  const CountSet empty({2, 2, 2}, 2, CountScope::kPairs);
  CHECK(parents_of(learn_kdb(empty, {1})) == (Parents{{}, {0}, {0}}));
}

TEST(errors_say_what_is_wrong) {
  const CountSet singles({2, 2}, 2, CountScope::kSingles);
  CHECK(learn_kdb(singles, {0}).is_naive());
  CHECK_THROWS(InvalidInput, learn_kdb(singles, {1}), "a k-dependence structure needs the counts of all pairs");
  const CountSet many(std::vector<std::uint32_t>(70, 1), 1, CountScope::kPairs);
  CHECK_THROWS(InvalidInput, learn_kdb(many, {69}), "65 parents, but at most 64");
}

TEST_MAIN

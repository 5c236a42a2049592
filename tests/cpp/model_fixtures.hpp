// Models for the tests of models and model files, and their comparison bit by bit.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "check.hpp"
#include "tanager/model.hpp"

namespace fixtures {

using namespace tanager;
using Bytes = std::vector<std::byte>;

inline constexpr std::int64_t kTwoTo53 = 9007199254740992;
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Tables of random distributions for a structure; a few cells are zero or denormal.
inline Network network_of(const Structure& structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                          unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.1, 1.0);
  const auto distributions = [&](std::size_t configurations, std::size_t values, std::size_t classes) {
    std::vector<double> table(configurations * values * classes);
    for (std::size_t j = 0; j < configurations; ++j)
      for (std::size_t c = 0; c < classes; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < values; ++k) sum += table[(j * values + k) * classes + c] = uniform(random);
        for (std::size_t k = 0; k < values; ++k) table[(j * values + k) * classes + c] /= sum;
      }
    return table;
  };
  const auto configurations = [&](const std::vector<std::size_t>& parents) {
    std::size_t product = 1;
    for (const std::size_t p : parents) product *= cardinalities[p];
    return product;
  };
  std::vector<std::vector<double>> tables;
  for (std::size_t f = 0; f < cardinalities.size(); ++f)
    tables.push_back(distributions(structure.is_absent(f) ? 0 : configurations(structure.parents(f)), cardinalities[f],
                                   structure.is_class_child(f) ? n_classes : 1));
  std::vector<double> of_class = distributions(configurations(structure.class_parents()), n_classes, 1);
  return Network(structure, std::move(cardinalities), n_classes, std::move(of_class), std::move(tables));
}

inline Network random_network(std::vector<std::vector<std::size_t>> parents, std::vector<std::uint32_t> cardinalities,
                              std::uint32_t n_classes, unsigned seed, std::vector<bool> absent = {}) {
  absent.resize(parents.size(), false);
  return network_of(Structure::leaving_out(std::move(absent), std::move(parents)), std::move(cardinalities), n_classes,
                    seed);
}

inline CountSet random_counts(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes, CountScope scope,
                              std::vector<Family> families) {
  CountSet counts(std::move(cardinalities), n_classes, scope, std::move(families));
  double next = 0.125;
  const auto fill = [&](std::span<double> cells) {
    for (double& cell : cells) cell = next += 1.0 / 3.0;
  };
  fill(counts.class_counts());
  for (std::size_t u = 0; u < counts.n_features(); ++u) {
    fill(counts.single(u));
    if (scope == CountScope::kPairs)
      for (std::size_t v = u + 1; v < counts.n_features(); ++v) fill(counts.pair(u, v));
  }
  for (std::size_t i = 0; i < counts.families().size(); ++i) fill(counts.family(i));
  counts.single(0)[0] = -0.0;
  counts.single(0)[1] = 5e-324;
  return counts;
}

inline FeatureInfo categories(std::string name, std::vector<Label> labels) {
  return {std::move(name), std::move(labels), {}, false};
}
inline FeatureInfo intervals(std::string name, std::vector<double> cuts) {
  return {std::move(name), {}, std::move(cuts), true};
}

/// Every kind of label, intervals, a feature never observed.
inline const std::vector<std::uint32_t> kRichCardinalities = {4, 3, 2, 3, 5, 1};

inline Model describe_richly(Classifier classifier, bool with_counts) {
  const std::vector<FeatureInfo> features = {
      categories("größe", {std::string("klein"), std::string(""), std::string("日本語\0x", 11), std::string("🦜")}),
      categories("",
                 {std::numeric_limits<std::int64_t>::min(), kTwoTo53 + 1, std::numeric_limits<std::int64_t>::max()}),
      categories("flag", {true, false}),
      categories("real", {-0.0, 5e-324, 0.1 + 0.2}),
      intervals("cut", {-1e308, -0.0, 5e-324, 2.5}),
      categories("never seen", {}),
  };
  std::optional<CountSet> counts;
  if (with_counts) counts = random_counts(kRichCardinalities, 3, CountScope::kPairs, {{2, {0, 1}}, {4, {5, 3}}});
  return Model(std::move(classifier), features, {std::string("ja"), false, std::int64_t{-7}},
               "{\"alpha\": 1.0, \"α\": \"β\"}", std::move(counts));
}

/// Two parents, counts of every kind.
inline Model rich_model(bool with_counts = true) {
  return describe_richly(random_network({{}, {0}, {1, 0}, {}, {2}, {4}}, kRichCardinalities, 3, 7), with_counts);
}

/// A network that leaves features out.
inline Model model_leaving_out() {
  const std::vector<bool> absent = {false, true, false, false, true, false};
  return describe_richly(random_network({{}, {}, {0}, {2, 0}, {}, {3}}, kRichCardinalities, 3, 8, absent), true);
}

/// The class has parents, and is no parent of some features; one feature is left out.
inline Model rich_general_model(bool with_counts = true) {
  const Structure structure =
      Structure::general({{}, {0}, {1, 0}, {}, {2}, {}}, {false, false, true, false, true, true}, {0, 1},
                         {false, false, false, true, false, false});
  return describe_richly(network_of(structure, kRichCardinalities, 3, 9), with_counts);
}

inline Model rich_aode_model(bool with_counts = true) {
  AodeOptions options;
  options.min_count = 2.5;
  return describe_richly(learn_aode(random_counts(kRichCardinalities, 3, CountScope::kPairs, {}), options),
                         with_counts);
}

inline Model rich_tbmatan_model(bool with_counts = true) {
  TbmatanOptions options;
  options.equivalent_sample_size = 3.5;
  options.stubbornness = 4;
  const std::size_t n = kRichCardinalities.size();
  options.edge_beliefs.assign(n * n, 1.0);
  options.edge_beliefs[1] = options.edge_beliefs[n] = 2.5;
  options.class_prior = {0.2, 0.3, 0.5};
  options.n_trees = 7;
  return describe_richly(Tbmatan(random_counts(kRichCardinalities, 3, CountScope::kPairs, {}), options), with_counts);
}

inline Model describe_briefly(Classifier classifier, CountScope scope) {
  return Model(std::move(classifier), {categories("a", {std::string("x"), std::string("y")}), intervals("b", {0.5})},
               {std::int64_t{0}, std::int64_t{1}}, "{}", random_counts({2, 2}, 2, scope, {}));
}

/// Small enough that every byte of its file can be tried.
inline Model small_model() {
  return describe_briefly(random_network({{}, {0}}, {2, 2}, 2, 3), CountScope::kSingles);
}

inline Model small_general_model() {
  return describe_briefly(network_of(Structure::general({{}, {0}}, {false, true}, {0}), {2, 2}, 2, 4),
                          CountScope::kSingles);
}

inline Model small_aode_model() {
  return describe_briefly(learn_aode(random_counts({2, 2}, 2, CountScope::kPairs, {})), CountScope::kPairs);
}

inline Model small_tbmatan_model() {
  return describe_briefly(Tbmatan(random_counts({2, 2}, 2, CountScope::kPairs, {})), CountScope::kPairs);
}

inline bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

inline bool same_label(const Label& a, const Label& b) {
  if (a.index() != b.index()) return false;
  if (const double* x = std::get_if<double>(&a)) return same_bits({x, 1}, {std::get_if<double>(&b), 1});
  return a == b;
}

inline bool same_labels(const std::vector<Label>& a, const std::vector<Label>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_label);
}

inline void check_same_counts(const CountSet& a, const CountSet& b) {
  CHECK(std::ranges::equal(a.cardinalities(), b.cardinalities()));
  CHECK(a.scope() == b.scope() && a.families() == b.families());
  CHECK(same_bits(a.class_counts(), b.class_counts()));
  for (std::size_t u = 0; u < a.n_features(); ++u) {
    CHECK(same_bits(a.single(u), b.single(u)));
    if (a.scope() == CountScope::kPairs)
      for (std::size_t v = u + 1; v < a.n_features(); ++v) CHECK(same_bits(a.pair(u, v), b.pair(u, v)));
  }
  for (std::size_t i = 0; i < a.families().size(); ++i) CHECK(same_bits(a.family(i), b.family(i)));
}

struct CheckSameAs {
  const Classifier& other;

  void operator()(const Network& a) const {
    const auto& b = std::get<Network>(other);
    CHECK(a.structure() == b.structure());
    CHECK(same_bits(a.class_table(), b.class_table()));
    for (std::size_t f = 0; f < a.n_features(); ++f) CHECK(same_bits(a.table(f), b.table(f)));
  }
  void operator()(const Aode& a) const {
    const auto& b = std::get<Aode>(other);
    CHECK(same_bits(a.class_probabilities(), b.class_probabilities()));
    CHECK(same_bits(a.singles(), b.singles()));
    CHECK(same_bits(a.pairs(), b.pairs()));
    CHECK(same_bits(a.value_counts(), b.value_counts()));
    CHECK_EQ(a.min_count(), b.min_count());
  }
  void operator()(const Tbmatan& a) const {
    const auto& b = std::get<Tbmatan>(other);
    check_same_counts(a.counts(), b.counts());
    CHECK(same_bits(a.class_probabilities(), b.class_probabilities()));
    CHECK_EQ(a.options().equivalent_sample_size, b.options().equivalent_sample_size);
    CHECK(a.options().stubbornness == b.options().stubbornness);
    CHECK(same_bits(a.options().edge_beliefs, b.options().edge_beliefs));
    CHECK(same_bits(a.options().class_prior, b.options().class_prior));
    CHECK_EQ(a.options().max_assignments, b.options().max_assignments);
    CHECK_EQ(a.options().n_trees, b.options().n_trees);
  }
};

inline void check_same(const Model& a, const Model& b) {
  CHECK_EQ(a.classifier().index(), b.classifier().index());
  if (a.classifier().index() != b.classifier().index()) return;
  CHECK(std::ranges::equal(a.cardinalities(), b.cardinalities()));
  std::visit(CheckSameAs{b.classifier()}, a.classifier());
  CHECK_EQ(a.features().size(), b.features().size());
  for (std::size_t f = 0; f < a.n_features(); ++f) {
    CHECK_EQ(a.features()[f].name, b.features()[f].name);
    CHECK_EQ(a.features()[f].is_interval, b.features()[f].is_interval);
    CHECK(same_labels(a.features()[f].labels, b.features()[f].labels));
    CHECK(same_bits(a.features()[f].cuts, b.features()[f].cuts));
  }
  CHECK(same_labels(a.classes(), b.classes()));
  CHECK_EQ(a.settings(), b.settings());
  CHECK_EQ(a.counts().has_value(), b.counts().has_value());
  if (a.counts() && b.counts()) check_same_counts(*a.counts(), *b.counts());
}

inline Bytes as_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace fixtures

// Networks in which the class stands anywhere: their structure, learning from counts, and prediction of whole rows.
#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"
#include "random_networks.hpp"
#include "reference.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/learn_search.hpp"
#include "tanager/learn_trees.hpp"
#include "tanager/learn_weights.hpp"
#include "tanager/network_predictor.hpp"

using namespace tanager;

namespace {

Dataset draw_data(std::uint64_t seed, std::size_t n_rows, double missing, bool weighted) {
  return reference::random_dataset(
      {{2, missing, 0.3}, {3, missing, 0.2}, {2, 0.0, 0.3}, {4, missing, 0.1}, {3, 0.0, 0.4}}, {3, 0.0, 0.2}, n_rows,
      weighted, seed);
}

/// Weight of the rows where variables have given values; index n_features is the class. -1 if one is not observed.
double weight_of(const Dataset& data, const std::vector<std::pair<std::size_t, Code>>& values,
                 const std::vector<std::size_t>& observed) {
  double sum = 0;
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    bool fits = true;
    for (const std::size_t f : observed) fits &= data.feature(f)[row] != kMissing;
    for (const auto& [variable, value] : values)
      fits &= (variable == data.n_features() ? data.target()[row] : data.feature(variable)[row]) == value;
    if (fits) sum += data.is_weighted() ? data.weights()[row] : 1.0;
  }
  return sum;
}

CountSet counts_for(const Dataset& data, const Structure& structure) {
  std::vector<Family> families;
  for (const std::size_t f : structure.order()) families.push_back(structure.family(f));
  if (const auto family = structure.class_family()) families.push_back(*family);
  return count(data, CountScope::kSingles, families);
}

/// Calls visit(values) for all joint values of variables with so many values each.
template <class Visit>
void for_all_values(const std::vector<std::uint32_t>& sizes, Visit visit) {
  std::vector<Code> values(sizes.size(), 0);
  for (;;) {
    visit(values);
    std::size_t i = sizes.size();
    while (i > 0 && ++values[i - 1] == sizes[i - 1]) values[--i] = 0;
    if (i == 0) return;
  }
}

/// (N + alpha) / (N of the parents + r alpha), counted row by row, for the variable `child` with these parents.
double smoothed(const Dataset& data, std::size_t child, std::size_t n_values, Code value,
                std::vector<std::pair<std::size_t, Code>> given, double alpha) {
  std::vector<std::size_t> observed;
  for (const auto& [variable, ignored] : given)
    if (variable < data.n_features()) observed.push_back(variable);
  if (child < data.n_features()) observed.push_back(child);
  const double parents = weight_of(data, given, observed);
  given.emplace_back(child, value);
  return (weight_of(data, given, observed) + alpha) / (parents + static_cast<double>(n_values) * alpha);
}

}  // namespace

TEST(a_structure_knows_where_the_class_stands) {
  const Structure chain = Structure::general({{}, {0}, {}}, {false, false, true}, {1});
  CHECK(chain.class_parents() == std::vector<std::size_t>{1});
  CHECK(!chain.is_class_child(0) && !chain.is_class_child(1) && chain.is_class_child(2));
  CHECK(chain.order() == (std::vector<std::size_t>{0, 1, 2}));
  CHECK_EQ(chain.class_position(), 2u);
  CHECK(chain.class_family() == (Family{1, {}}));
  CHECK(!chain.is_augmented_naive() && !chain.is_naive() && !chain.is_one_dependence() && !chain.is_tan());
  CHECK(!Structure::general({{}, {}}, {true, false}, {}).is_semi_naive());

  const Structure collider = Structure::general({{}, {}, {}}, {false, false, false}, {2, 0});
  CHECK(collider.class_parents() == (std::vector<std::size_t>{0, 2}));
  CHECK(collider.class_family() == (Family{2, {0}}));

  CHECK(Structure::general({{}, {0}}, {true, true}, {}) == Structure({{}, {0}}));
  CHECK(Structure::general({{}, {}}, {true, false}, {}, {false, true}) ==
        Structure::leaving_out({false, true}, {{}, {}}));
  CHECK(!Structure::naive(2).class_family());
}

TEST(impossible_structures_are_rejected) {
  CHECK_THROWS(InvalidInput, Structure::general({{}}, {true}, {0}), "cycle");
  CHECK_THROWS(InvalidInput, Structure::general({{}, {0}}, {true, false}, {1}), "cycle");
  CHECK_THROWS(InvalidInput, Structure::general({{}}, {false}, {1}), "the class has parent 1, but there are only 1");
  CHECK_THROWS(InvalidInput, Structure::general({{}}, {false}, {0, 0}), "the class has parent 0 twice");
  CHECK_THROWS(InvalidInput, Structure::general({{}, {}}, {true}, {}), "for each of 2 features, got 1");
  CHECK_THROWS(InvalidInput, Structure::general({{}}, {false}, {0}, {true}), "which is absent");
}

TEST(orders_put_everything_behind_its_parents) {
  std::mt19937_64 random(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Structure structure = testing::random_general_structure(random, 7, 3);
    std::vector<std::size_t> position(7);
    for (std::size_t i = 0; i < 7; ++i) position[structure.order()[i]] = i;
    for (std::size_t f = 0; f < 7; ++f) {
      for (const std::size_t parent : structure.parents(f)) CHECK(position[parent] < position[f]);
      if (structure.is_class_child(f)) CHECK(position[f] >= structure.class_position());
    }
    for (const std::size_t parent : structure.class_parents()) CHECK(position[parent] < structure.class_position());
  }
}

TEST(a_network_checks_the_tables_of_a_class_with_parents) {
  const Structure structure = Structure::general({{}, {}}, {false, true}, {0});
  const std::vector<double> feature = {0.25, 0.75}, child = {0.1, 0.2, 0.9, 0.8};
  const Network network(structure, {2, 2}, 2, {0.3, 0.7, 0.6, 0.4}, {feature, child});
  CHECK_EQ(network.n_parameters(), 2u + 1u + 2u);
  CHECK(network.expanded_table(0) == (std::vector<double>{0.25, 0.25, 0.75, 0.75}));
  CHECK(network.expanded_table(1) == child);
  CHECK_THROWS(InvalidInput, Network(structure, {2, 2}, {0.5, 0.5}, {feature, child}), "must have 4 cells, got 2");
  CHECK_THROWS(InvalidInput, Network(structure, {2, 2}, 2, {0.3, 0.6, 0.6, 0.4}, {feature, child}), "sum to 1");
  CHECK_THROWS(InvalidInput, Network(structure, {2, 2}, 2, {0.3, 0.7, 0.6, 0.4}, {child, child}),
               "feature 0 must have 2 cells, got 4");
}

TEST(tables_are_learned_from_the_rows_that_show_them) {
  std::mt19937_64 random(5);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const Dataset data = draw_data(random(), repeat % 10 == 0 ? 0 : 60, repeat % 2 ? 0.2 : 0, repeat % 3 == 0);
    const Structure structure = testing::random_general_structure(random, 5, 2);
    const auto cards = data.cardinalities();
    const Network network = estimate_dirichlet(structure, counts_for(data, structure), {0.7, {}, {}});
    std::vector<std::uint32_t> sizes;
    for (const std::size_t p : structure.class_parents()) sizes.push_back(cards[p]);
    sizes.push_back(3);
    std::size_t cell = 0;
    for_all_values(sizes, [&](const std::vector<Code>& values) {
      std::vector<std::pair<std::size_t, Code>> given;
      for (std::size_t i = 0; i + 1 < values.size(); ++i) given.emplace_back(structure.class_parents()[i], values[i]);
      CHECK_NEAR(network.class_table()[cell++], smoothed(data, 5, 3, values.back(), given, 0.7), 1e-13);
    });
    for (std::size_t f = 0; f < 5; ++f) {
      const bool of_class = structure.is_class_child(f);
      sizes.clear();
      for (const std::size_t p : structure.parents(f)) sizes.push_back(cards[p]);
      sizes.push_back(cards[f]);
      if (of_class) sizes.push_back(3);
      cell = 0;
      for_all_values(sizes, [&](const std::vector<Code>& values) {
        const std::size_t n_parents = structure.parents(f).size();
        std::vector<std::pair<std::size_t, Code>> given;
        for (std::size_t i = 0; i < n_parents; ++i) given.emplace_back(structure.parents(f)[i], values[i]);
        if (of_class) given.emplace_back(5, values.back());
        CHECK_NEAR(network.table(f)[cell++], smoothed(data, f, cards[f], values[n_parents], given, 0.7), 1e-13);
      });
    }
  }
}

TEST(every_parameter_learner_takes_such_a_structure_or_says_why_not) {
  const Dataset data = draw_data(9, 80, 0.0, false);
  const Structure possible = Structure::general({{}, {0}, {}, {2}, {}}, {false, true, true, false, true}, {0});
  const CountSet counts = counts_for(data, possible);
  for (const Network& network : {estimate_dirichlet(possible, counts), estimate_softened(possible, counts),
                                 estimate_data_temperature(possible, counts),
                                 estimate_weighted(possible, counts, std::vector<double>(5, 0.5))}) {
    CHECK_EQ(network.class_table().size(), 6u);
    CHECK_EQ(network.table(0).size(), 2u);
  }
  CHECK_THROWS(InvalidInput, estimate_dirichlet(possible, counts, {1.0, {}, {0.2, 0.3, 0.5}}),
               "class probabilities cannot be given where the class depends on features, but feature 0 is its parent");
  CHECK_THROWS(InvalidInput, estimate_acll_optimal(possible, counts), "needs a class without parents");
  CHECK_THROWS(InvalidInput, acll_score(possible, counts), "needs a class without parents");
  const Structure loose =
      Structure::general(std::vector<std::vector<std::size_t>>(5), {true, true, false, true, true}, {});
  CHECK_THROWS(InvalidInput, estimate_model_averaged(loose, counts),
               "parent of every feature, but it is not a parent of feature 2");
  CHECK_THROWS(InvalidInput, WanbiaObjective(loose, data, counts),
               "parent of every feature, but it is not a parent of feature 2");
  SearchOptions search;
  search.start = loose;
  std::vector<std::uint32_t> folds(data.n_rows());
  for (std::size_t row = 0; row < folds.size(); ++row) folds[row] = row % 2;
  CHECK_THROWS(InvalidInput, search_structure(data, folds, search, 1), "a search needs the class as a parent");
}

TEST(softened_tables_of_a_class_with_parents_lean_to_its_marginal) {
  const Dataset data = draw_data(10, 50, 0.0, false);
  const Structure structure =
      Structure::general(std::vector<std::vector<std::size_t>>(5), {false, true, true, true, true}, {0});
  const Network network = estimate_softened(structure, counts_for(data, structure), {2.0, {}});
  for (Code value = 0; value < 2; ++value)
    for (Code c = 0; c < 3; ++c) {
      const double n = weight_of(data, {{0, value}, {5, c}}, {0}), of_value = weight_of(data, {{0, value}}, {0});
      const double marginal = weight_of(data, {{5, c}}, {}) / 50;
      CHECK_NEAR(network.class_table()[value * 3u + c], (n + 2.0 * marginal) / (of_value + 2.0), 1e-14);
    }
}

TEST(whole_rows_are_predicted_by_the_joint_distribution) {
  std::mt19937_64 random(6);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const std::size_t n = 1 + testing::draw(random, 7);
    const auto classes = static_cast<std::uint32_t>(1 + testing::draw(random, 5));
    std::vector<std::uint32_t> cards;
    for (std::size_t f = 0; f < n; ++f) cards.push_back(static_cast<std::uint32_t>(1 + testing::draw(random, 4)));
    const Structure structure = testing::random_general_structure(random, n, 3);
    const Network network = testing::random_network(random, structure, cards, classes, repeat % 3 == 0);
    const NetworkPredictor predictor(network);
    std::vector<Code> rows;
    for (int i = 0; i < 20; ++i)
      for (const Code code : testing::random_row(random, cards, 0)) rows.push_back(code);
    std::vector<double> batch(20 * classes), alone(classes);
    predictor.predict_rows(std::span<const Code>(rows), Output::kLogJoint, batch, 2);
    for (std::size_t i = 0; i < 20; ++i) {
      const std::vector<Code> row(rows.begin() + static_cast<std::ptrdiff_t>(i * n),
                                  rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
      predictor.predict(row, Output::kLogJoint, alone);
      for (std::size_t c = 0; c < classes; ++c) {
        CHECK_EQ(alone[c], batch[i * classes + c]);
        CHECK_NEAR(std::exp(alone[c]), testing::joint_probability(network, row, c), 1e-13);
      }
    }
  }
}

TEST_MAIN

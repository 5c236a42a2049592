// Models that leave features out: what they are, and that prediction does not look at what they leave out.
#include <numeric>

#include "check.hpp"
#include "random_networks.hpp"
#include "reference.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/network_predictor.hpp"

using namespace tanager;

namespace {

using Parents = std::vector<std::vector<std::size_t>>;

/// A random structure over some of the features, and the same without the others.
struct Pair {
  std::vector<bool> absent;
  std::vector<std::size_t> kept;  // features that are present
  Parents small;                  // their parents, numbered among themselves
  Parents whole;
};

Pair draw_pair(std::mt19937_64& random, std::size_t n, std::size_t n_kept, std::size_t max_parents) {
  Pair pair{std::vector<bool>(n, true), {}, {}, Parents(n)};
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::shuffle(all.begin(), all.end(), random);
  pair.kept.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n_kept));
  std::sort(pair.kept.begin(), pair.kept.end());
  const Structure structure = testing::random_structure(random, n_kept, max_parents);
  for (std::size_t i = 0; i < n_kept; ++i) {
    pair.absent[pair.kept[i]] = false;
    pair.small.push_back(structure.parents(i));
    for (const std::size_t p : structure.parents(i)) pair.whole[pair.kept[i]].push_back(pair.kept[p]);
  }
  return pair;
}

}  // namespace

TEST(a_structure_knows_what_it_leaves_out) {
  const Structure structure = Structure::leaving_out({false, true, false, false}, {{}, {}, {0}, {2}});
  CHECK_EQ(structure.n_features(), 4u);
  CHECK(structure.is_absent(1) && !structure.is_absent(0) && !structure.is_absent(3));
  CHECK((structure.order() == std::vector<std::size_t>{0, 2, 3}));
  CHECK(structure.is_tan() && structure.is_one_dependence() && !structure.is_naive() && !structure.is_semi_naive());
  CHECK(!(structure == Structure({{}, {}, {0}, {2}})));
  CHECK(Structure::leaving_out({false, false}, {{}, {0}}) == Structure({{}, {0}}));
  CHECK(Structure::leaving_out({true, false, false}, {{}, {}, {1}}).is_semi_naive());
  const Structure nothing = Structure::leaving_out({true, true}, {{}, {}});
  CHECK(nothing.order().empty() && nothing.is_naive() && nothing.is_semi_naive());
}

TEST(what_is_left_out_has_neither_parents_nor_children) {
  CHECK_THROWS(InvalidInput, Structure::leaving_out({true, false}, {{1}, {}}), "feature 0 is absent, but has parents");
  CHECK_THROWS(InvalidInput, Structure::leaving_out({true, false}, {{}, {0}}),
               "feature 1 has parent 0, which is absent");
  CHECK_THROWS(InvalidInput, Structure::leaving_out({true}, {{}, {}}), "for each of 2 features, got 1");
  CHECK_THROWS(InvalidInput, Structure::leaving_out({false, false, true}, {{1}, {0}, {}}), "cycle");
  const Structure structure = Structure::leaving_out({true, false}, {{}, {}});
  CHECK_THROWS(InvalidInput, Network(structure, {2, 2}, {0.5, 0.5}, {{0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}}),
               "the table of feature 0 must have 0 cells, got 4");
}

TEST(absent_features_have_no_tables_and_no_parameters) {
  const Dataset data = reference::random_dataset({{3}, {2}, {4}}, {2}, 200, false, 1);
  const CountSet counts = count(data, CountScope::kPairs, {}, 1);
  const Network network = estimate_dirichlet(Structure::leaving_out({false, true, false}, {{}, {}, {0}}), counts);
  CHECK(network.table(1).empty());
  CHECK_EQ(network.n_parameters(), 1u + 2 * 2 + 3 * 2 * 3);
}

TEST(prediction_does_not_look_at_what_is_left_out) {
  std::mt19937_64 random(2);
  for (const std::size_t n_kept : {0, 1, 3, 6})
    for (const std::size_t max_parents : {0, 1, 3})
      for (const std::uint32_t classes : {2u, 3u, 5u}) {
        const std::size_t n = 9, n_rows = 300;
        const Pair pair = draw_pair(random, n, n_kept, max_parents);
        std::vector<reference::ColumnSpec> specs;
        for (std::size_t f = 0; f < n; ++f) specs.push_back({static_cast<std::uint32_t>(1 + random() % 4), 0.1});
        specs[random() % n].wide = true;
        const Dataset data = reference::random_dataset(specs, {classes}, n_rows, false, random());
        std::vector<Column> columns;
        for (const std::size_t f : pair.kept) columns.push_back(data.feature(f));
        const Dataset small(columns, data.target());
        const auto learned = [](const Dataset& rows, const Structure& structure) {
          std::vector<Family> families;
          for (const std::size_t f : structure.order()) families.push_back(structure.family(f));
          return NetworkPredictor(estimate_dirichlet(structure, count(rows, CountScope::kSingles, families, 1)));
        };
        const NetworkPredictor with = learned(data, Structure::leaving_out(pair.absent, pair.whole));
        const NetworkPredictor without = learned(small, Structure(pair.small));

        std::vector<Code> rows, hidden, small_rows;
        for (std::size_t row = 0; row < n_rows; ++row)
          for (std::size_t f = 0; f < n; ++f) {
            rows.push_back(data.feature(f)[row]);
            hidden.push_back(pair.absent[f] ? kMissing : rows.back());
            if (!pair.absent[f]) small_rows.push_back(rows.back());
          }
        std::vector<double> found(n_rows * classes), expected(n_rows * classes);
        std::vector<CodeColumn> all;
        for (std::size_t f = 0; f < n; ++f)
          all.push_back(data.feature(f).is_wide() ? CodeColumn(data.feature(f).wide().data())
                                                  : CodeColumn(data.feature(f).narrow().data()));
        for (const Output output : {Output::kLogJoint, Output::kPosterior}) {
          for (std::size_t row = 0; row < n_rows; ++row)
            without.predict(std::span(small_rows).subspan(row * n_kept, n_kept), output,
                            std::span(expected).subspan(row * classes, classes));
          with.predict_rows(std::span<const Code>(rows), output, found, 2);
          CHECK(found == expected);
          with.predict_rows(std::span<const Code>(hidden), output, found, 1);
          CHECK(found == expected);
          with.predict_columns(all, n_rows, output, found, 2);
          CHECK(found == expected);
          for (std::size_t row = 0; row < n_rows; ++row)
            with.predict(std::span(rows).subspan(row * n, n), output, std::span(found).subspan(row * classes, classes));
          CHECK(found == expected);
        }
        std::vector<std::uint32_t> predicted(n_rows);
        with.predict_classes_columns(all, n_rows, predicted, 2);
        for (std::size_t row = 0; row < n_rows; ++row)
          CHECK_EQ(predicted[row], without.predict_class(std::span(small_rows).subspan(row * n_kept, n_kept)));
      }
}

TEST_MAIN

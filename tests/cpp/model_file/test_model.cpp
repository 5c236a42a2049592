// The model: what it checks, and how values find their codes.
#include <cmath>
#include <random>

#include "check.hpp"
#include "model_file/labels.hpp"
#include "model_fixtures.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"
#include "tanager/network_predictor.hpp"
#include "tanager/version.hpp"

using namespace fixtures;

TEST(the_model_checks_that_descriptions_fit) {
  const Network network = random_network({{}, {}}, {2, 3}, 2, 1);
  const std::vector<Label> ab = {std::string("a"), std::string("b")};
  const FeatureInfo first = categories("f", ab), second = intervals("g", {1.0, 2.0});
  const auto rejected = [&](std::vector<FeatureInfo> features, std::vector<Label> classes, const std::string& part) {
    CHECK_THROWS(InvalidInput, Model(network, features, classes), part);
  };
  rejected({first}, ab, "the model has 2 features, but 1 were described");
  rejected({first, second}, {true}, "the model has 2 classes, but 1 class labels");
  rejected({categories("f", {true}), second}, ab, "feature 'f' has 2 values, but 1 labels");
  rejected({categories("f", {}), second}, ab, "feature 'f' has 2 values, but 0 labels");
  rejected({first, intervals("g", {1.0})}, ab, "feature 'g' has 3 values and so needs 2 cut points, got 1");
  rejected({first, intervals("g", {2.0, 2.0})}, ab, "finite and increasing cut points");
  rejected({first, intervals("g", {2.0, 1.0})}, ab, "finite and increasing cut points");
  rejected({first, intervals("g", {1.0, kInfinity})}, ab, "finite and increasing cut points");
  rejected({first, intervals("g", {kNan, 1.0})}, ab, "finite and increasing cut points");
  rejected({first, {"g", ab, {1.0, 2.0}, true}}, ab, "cannot have labels");
  rejected({{"f", ab, {1.0}, false}, second}, ab, "cannot have cut points");
  rejected({first, intervals("f", {1.0, 2.0})}, ab, "two are named 'f'");
  rejected({categories("f", {std::string("a"), std::string("a")}), second}, ab, "equal labels at 0 and 1: a and a");
  rejected({categories("f", {1.0, true}), second}, ab, "equal labels");
  rejected({categories("f", {0.0, -0.0}), second}, ab, "equal labels");
  rejected({categories("f", {std::int64_t{3}, 3.0}), second}, ab, "equal labels");
  rejected({categories("f", {kNan, 1.0}), second}, ab, "the label NaN");
  rejected({categories("f", {std::string("\xFF"), true}), second}, ab, "feature 'f' has a label that is not UTF-8");
  rejected({categories("\xC3(", ab), second}, ab, "the name of feature 0 is not UTF-8");
  rejected({first, second}, {std::int64_t{1}, true}, "the class has equal labels");
  CHECK_THROWS(InvalidInput, Model(network, {first, second}, ab, "\xFE"), "settings are not UTF-8");
  CHECK_THROWS(InvalidInput, Model(network, {first, second}, ab, "", CountSet({2, 2}, 2, CountScope::kSingles)),
               "the model's own features");
  CHECK_THROWS(InvalidInput, Model(network, {first, second}, ab, "", CountSet({2, 3}, 3, CountScope::kSingles)),
               "the model's own features");
  for (const double bad : {-1.0, kNan, kInfinity}) {
    CountSet counts({2, 3}, 2, CountScope::kPairs, {{0, {1}}});
    counts.family(0)[3] = bad;
    CHECK_THROWS(InvalidInput, Model(network, {first, second}, ab, "", counts), "counts must be finite");
  }
}

TEST(a_model_knows_what_kind_of_classifier_it_has) {
  const Model network = rich_model(), averages = rich_aode_model();
  CHECK(network.network().n_features() == 6 && averages.aode().n_features() == 6);
  CHECK_THROWS(InvalidInput, averages.network(), "the model is not a network");
  CHECK_THROWS(InvalidInput, network.aode(), "does not average one-dependence estimators");
  CHECK_THROWS(InvalidInput, Model(averages.classifier(), {}, averages.classes()), "the model has 6 features, but 0");
}

TEST(a_model_predicts_as_its_classifier_does) {
  std::mt19937 random(5);
  const auto check = [&](const Model& model, const auto& predictor) {
    std::vector<Code> rows;
    std::vector<std::uint8_t> narrow;
    for (int i = 0; i < 100; ++i)
      for (const std::uint32_t r : model.cardinalities()) {
        rows.push_back(random() % 8 == 0 ? kMissing : static_cast<Code>(random() % r));
        narrow.push_back(rows.back() == kMissing ? kMissing8 : static_cast<std::uint8_t>(rows.back()));
      }
    const std::span<const Code> all(rows);
    std::vector<double> expected(300), out(300);
    predictor.predict_rows(all, Output::kPosterior, expected);
    model.predict_proba(rows, out, 2);
    CHECK(same_bits(out, expected));
    model.predictor().predict_rows(std::span<const std::uint8_t>(narrow), Output::kPosterior, out);
    CHECK(same_bits(out, expected));
    std::vector<std::uint32_t> classes(100), expected_classes(100), narrow_classes(100);
    predictor.predict_classes_rows(all, expected_classes);
    model.predictor().predict_classes_rows(all, classes);
    model.predictor().predict_classes_rows(std::span<const std::uint8_t>(narrow), narrow_classes);
    CHECK(classes == expected_classes && narrow_classes == expected_classes);
    CHECK_EQ(model.predictor().predict_class(all.first(6)), expected_classes[0]);
    std::vector<double> one(3);
    model.predictor().predict(all.first(6), Output::kPosterior, one);
    CHECK(same_bits(one, std::span(expected).first(3)));
    std::vector<std::vector<Code>> columns(6);
    for (std::size_t i = 0; i < rows.size(); ++i) columns[i % 6].push_back(rows[i]);
    std::vector<CodeColumn> views;
    for (const auto& column : columns) views.emplace_back(column.data());
    model.predictor().predict_columns(views, 100, Output::kPosterior, out);
    CHECK(same_bits(out, expected));
    model.predictor().predict_classes_columns(views, 100, classes);
    CHECK(classes == expected_classes);
  };
  check(rich_model(), NetworkPredictor(rich_model().network()));
  check(model_leaving_out(), NetworkPredictor(model_leaving_out().network()));
  check(rich_aode_model(), AodePredictor(rich_aode_model().aode()));
  check(rich_tbmatan_model(), TbmatanPredictor(rich_tbmatan_model().tbmatan()));
}

TEST(values_are_encoded_by_label) {
  const Model model = rich_model();
  CHECK_EQ(model.encode("größe", "klein"), 0);
  CHECK_EQ(model.encode("größe", ""), 1);
  CHECK_EQ(model.encode("größe", std::string_view("日本語\0x", 11)), 2);
  CHECK_EQ(model.encode("größe", "🦜"), 3);
  CHECK_EQ(model.encode("größe", "groß"), kMissing);
  CHECK_EQ(model.encode("größe", 1.0), kMissing);

  CHECK_EQ(model.encode("", "-9223372036854775808"), 0);
  CHECK_EQ(model.encode("", -9223372036854775808.0), 0);
  CHECK_EQ(model.encode("", "9007199254740993"), 1);
  CHECK_EQ(model.encode("", "9007199254740992"), kMissing);
  CHECK_EQ(model.encode("", static_cast<double>(kTwoTo53)), kMissing);
  CHECK_EQ(model.encode("", "9223372036854775807"), 2);
  CHECK_EQ(model.encode("", 9223372036854775808.0), kMissing);
  CHECK_EQ(model.encode("", "9223372036854775808"), kMissing);
  CHECK_EQ(model.encode("", " +9007199254740993\t"), 1);
  for (const char* text : {"", " 1", "1 ", "0x1", "one", "1e999", "nan", "inf", "true"})
    CHECK_EQ(model.encode("", text), kMissing);

  for (const char* text : {"true", "True", "TRUE", "1", "1.0", "+1", " true "}) CHECK_EQ(model.encode("flag", text), 0);
  for (const char* text : {"false", "False", "FALSE", "0", "-0.0"}) CHECK_EQ(model.encode("flag", text), 1);
  CHECK_EQ(model.encode("flag", 1.0), 0);
  for (const char* text : {"tRUE", "t", "+true", "yes"}) CHECK_EQ(model.encode("flag", text), kMissing);
  CHECK_EQ(model.encode("flag", 2.0), kMissing);

  CHECK_EQ(model.encode("real", 0.0), 0);
  CHECK_EQ(model.encode("real", "0"), 0);
  CHECK_EQ(model.encode("real", "5e-324"), 1);
  CHECK_EQ(model.encode("real", 0.3), kMissing);
  CHECK_EQ(model.encode("real", "0.30000000000000004"), 2);
  CHECK_EQ(model.encode("real", kNan), kMissing);
  CHECK_EQ(model.encode("real", "false"), kMissing);

  CHECK_EQ(model.encode("cut", -kInfinity), 0);
  CHECK_EQ(model.encode("cut", -1e308), 0);
  CHECK_EQ(model.encode("cut", -1.0), 1);
  CHECK_EQ(model.encode("cut", 0.0), 1);
  CHECK_EQ(model.encode("cut", 5e-324), 2);
  CHECK_EQ(model.encode("cut", "2.5"), 3);
  CHECK_EQ(model.encode("cut", "2.5000000000000004"), 4);
  CHECK_EQ(model.encode("cut", kInfinity), 4);
  for (const char* text : {"", "nan", "two"}) CHECK_EQ(model.encode("cut", text), kMissing);
  CHECK_EQ(model.encode("cut", kNan), kMissing);

  CHECK_EQ(model.encode("never seen", "x"), kMissing);
  CHECK_EQ(model.encode("never seen", 0.0), kMissing);
  CHECK_EQ(model.feature_index("cut"), 4u);
  CHECK_THROWS(InvalidInput, model.encode("no such", "x"), "no feature named 'no such'");
  CHECK_THROWS(InvalidInput, model.encode(6, "x"), "expected a feature below 6, got 6");
  CHECK_THROWS(InvalidInput, model.encode(6, 1.0), "expected a feature below 6, got 6");
}

TEST(mixed_labels_are_found_by_their_own_kind_first) {
  const Model model(random_network({{}}, {5}, 2, 1),
                    {categories("f", {std::string("3"), std::int64_t{3}, 3.5, std::string("true"), -kInfinity})},
                    {std::string("a"), std::string("b")});
  CHECK_EQ(model.encode(0, "3"), 0);
  CHECK_EQ(model.encode(0, "3.0"), 1);
  CHECK_EQ(model.encode(0, 3.0), 1);
  CHECK_EQ(model.encode(0, 3.5), 2);
  CHECK_EQ(model.encode(0, "true"), 3);
  CHECK_EQ(model.encode(0, "-inf"), 4);
  CHECK_EQ(model.encode(0, 4.0), kMissing);
  CHECK_EQ(model.encode(0, kInfinity), kMissing);
}

TEST(every_label_of_a_large_feature_finds_its_own_code) {
  std::vector<Label> labels;
  std::mt19937_64 random(5);
  for (std::uint32_t i = 0; i < 40000; ++i) {
    const double x = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 40) - 20);
    if (i % 3 == 0) labels.emplace_back(static_cast<std::int64_t>(random()) | 1);
    if (i % 3 == 1) labels.emplace_back(-x);
    if (i % 3 == 2) labels.emplace_back(std::to_string(random()) + "v");
  }
  const auto n = static_cast<std::uint32_t>(labels.size());
  const Model model(random_network({{}}, {n}, 2, 1), {categories("f", labels)}, {true, false});
  for (std::uint32_t i = 0; i < n; ++i) {
    CHECK_EQ(model.encode(0, internal::label_text(labels[i])), i);
    if (const double* x = std::get_if<double>(&labels[i])) CHECK_EQ(model.encode(0, *x), i);
  }
  const Model copy = model;
  CHECK_EQ(copy.encode(0, internal::label_text(labels[39998])), 39998);
}

TEST(class_names_are_the_shortest_text) {
  const Model model(Network(Structure::naive(0), {}, std::vector<double>(7, 1.0 / 7), {}), {},
                    {true, false, std::int64_t{-12}, 0.1, 1e22, 3.5, std::string("größe")});
  const char* expected[] = {"true", "false", "-12", "0.1", "1e+22", "3.5", "größe"};
  for (std::uint32_t c = 0; c < 7; ++c) CHECK_EQ(model.class_name(c), expected[c]);
  CHECK_THROWS(InvalidInput, model.class_name(7), "expected a class below 7, got 7");
}

TEST(the_library_has_the_version_of_its_headers) {
  CHECK_EQ(std::string(version()), std::string(TANAGER_VERSION));
  CHECK_EQ(std::string(TANAGER_VERSION), std::to_string(TANAGER_VERSION_MAJOR) + "." +
                                             std::to_string(TANAGER_VERSION_MINOR) + "." +
                                             std::to_string(TANAGER_VERSION_PATCH));
  CHECK_EQ(TANAGER_VERSION_NUMBER, TANAGER_VERSION_MAJOR * 10000 + TANAGER_VERSION_MINOR * 100 + TANAGER_VERSION_PATCH);
}

TEST_MAIN

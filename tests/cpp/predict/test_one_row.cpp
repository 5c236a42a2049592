// One row on its own: the class and the probabilities of one call, to the bit those of a batch, without allocating.
#include <random>

#include "allocations.hpp"
#include "check.hpp"
#include "model_fixtures.hpp"
#include "random_networks.hpp"
#include "tanager/errors.hpp"
#include "tanager/network_predictor.hpp"

namespace {

using namespace tanager;
using Rows = std::vector<std::vector<Code>>;

constexpr Output kOutputs[] = {Output::kLogJoint, Output::kLogPosterior, Output::kPosterior};

Rows random_rows(std::span<const std::uint32_t> cardinalities, int percent_missing, unsigned seed) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (int i = 0; i < 40; ++i)
    rows.push_back(testing::random_row(random, {cardinalities.begin(), cardinalities.end()}, percent_missing));
  return rows;
}

/// Allocations of a call.
template <class Call>
long count_allocations(Call call) {
  const long before = allocations;
  call();
  return allocations - before;
}

struct Batch {
  std::vector<double> out;
  std::vector<std::uint32_t> classes;
};

/// The result of a batch: the rows twice, so no batch is a single row.
Batch predict_batch(const Predictor& predictor, const Rows& rows, Output output) {
  std::vector<Code> codes;
  for (int twice = 0; twice < 2; ++twice)
    for (const auto& row : rows) codes.insert(codes.end(), row.begin(), row.end());
  Batch batch{std::vector<double>(2 * rows.size() * predictor.n_classes()),
              std::vector<std::uint32_t>(2 * rows.size())};
  predictor.predict_rows(std::span<const Code>(codes), output, batch.out);
  predictor.predict_classes_rows(std::span<const Code>(codes), batch.classes);
  return batch;
}

/// Every way to predict one row gives what the batch gives.
void check_one_by_one(const Predictor& predictor, const Rows& rows, Predictor::Scratch& scratch) {
  const std::size_t n_classes = predictor.n_classes();
  std::vector<double> out(n_classes);
  for (const Output output : kOutputs) {
    const Batch batch = predict_batch(predictor, rows, output);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span expected(batch.out.data() + i * n_classes, n_classes);
      CHECK_EQ(predictor.predict(rows[i], output, out), batch.classes[i]);
      CHECK(fixtures::same_bits(out, expected));
      std::fill(out.begin(), out.end(), -7.0);
      CHECK_EQ(predictor.predict(rows[i], output, out, scratch), batch.classes[i]);
      CHECK(fixtures::same_bits(out, expected));
      std::fill(out.begin(), out.end(), -7.0);
      predictor.predict_rows(std::span<const Code>(rows[i]), output, out);
      CHECK(fixtures::same_bits(out, expected));
      std::uint32_t best = 99;
      predictor.predict_classes_rows(std::span<const Code>(rows[i]), {&best, 1});
      CHECK_EQ(best, batch.classes[i]);
      CHECK_EQ(predictor.predict_class(rows[i]), best);
      CHECK_EQ(predictor.predict_class(rows[i], scratch), best);
    }
  }
}

/// Allocations of predicting all rows with a scratch, once it has seen all of them.
long allocations_with_scratch(const Predictor& predictor, const Rows& rows, Predictor::Scratch& scratch) {
  std::vector<double> out(predictor.n_classes());
  const auto predict_all = [&] {
    for (const auto& row : rows)
      for (const Output output : kOutputs) {
        predictor.predict(row, output, out, scratch);
        static_cast<void>(predictor.predict_class(row, scratch));
      }
  };
  predict_all();
  return count_allocations(predict_all);
}

/// A tree over the features, so a row with any of them missing needs only messages.
Model tree_model() {
  return fixtures::describe_richly(
      fixtures::random_network({{}, {0}, {0}, {1}, {2}, {4}}, fixtures::kRichCardinalities, 3, 11), false);
}

/// Rows with missing values must be averaged over sampled trees.
Model sampling_model() {
  TbmatanOptions options;
  options.max_assignments = 2;
  options.n_trees = 20;
  return fixtures::describe_richly(
      Tbmatan(fixtures::random_counts(fixtures::kRichCardinalities, 3, CountScope::kPairs, {}), options), false);
}

std::vector<Model> models() {
  std::vector<Model> all;
  all.push_back(tree_model());
  all.push_back(fixtures::rich_model(false));
  all.push_back(fixtures::model_leaving_out());
  all.push_back(fixtures::rich_general_model(false));
  all.push_back(fixtures::rich_aode_model(false));
  all.push_back(fixtures::rich_tbmatan_model(false));
  all.push_back(sampling_model());
  return all;
}

}  // namespace

TEST(one_row_has_the_bits_of_a_batch_whatever_used_the_scratch_before) {
  Predictor::Scratch scratch;
  for (const Model& model : models())
    for (const int percent_missing : {0, 40}) {
      check_one_by_one(model.predictor(), random_rows(model.cardinalities(), percent_missing, 5), scratch);
      const Model other = fixtures::small_general_model();
      check_one_by_one(other.predictor(), random_rows(other.cardinalities(), percent_missing, 6), scratch);
    }
}

TEST(a_complete_row_of_a_network_allocates_nothing) {
  for (const Model& model : models()) {
    if (!std::holds_alternative<Network>(model.classifier())) continue;
    const Rows rows = random_rows(model.cardinalities(), 0, 7);
    std::vector<double> out(model.n_classes());
    const long made = count_allocations([&] {
      for (const auto& row : rows) {
        model.predict_proba(row, out);
        const std::uint32_t best = model.predict(row, out);
        std::uint32_t same = 99;
        model.predictor().predict_classes_rows(std::span<const Code>(row), {&same, 1});
        if (best != same || best != model.predictor().predict_class(row)) std::abort();
      }
    });
    CHECK_EQ(made, 0);
  }
}

TEST(with_a_scratch_no_row_allocates_after_the_first) {
  for (const Model& model : models()) {
    Predictor::Scratch scratch;
    for (const int percent_missing : {0, 40, 100}) {
      const Rows rows = random_rows(model.cardinalities(), percent_missing, 8);
      CHECK_EQ(allocations_with_scratch(model.predictor(), rows, scratch), 0);
    }
  }
  const Model aode = fixtures::rich_aode_model(false);
  std::vector<double> posterior(aode.n_classes());
  const Rows complete = random_rows(aode.cardinalities(), 0, 8);
  CHECK(count_allocations([&] { aode.predict(complete[0], posterior); }) > 0);  // they are counted
  // A tree needs no plan for a pattern of missing values: the very first row makes all buffers.
  const Model tree = tree_model();
  Predictor::Scratch scratch;
  std::vector<double> out(tree.n_classes());
  tree.predict(std::vector<Code>(tree.n_features(), kMissing), out, scratch);
  const Rows rows = random_rows(tree.cardinalities(), 50, 9);
  CHECK_EQ(count_allocations([&] {
             for (const auto& row : rows) tree.predict(row, out, scratch);
           }),
           0);
}

TEST(a_scratch_outlives_the_predictor_that_used_it) {
  Predictor::Scratch scratch;
  for (int round = 0; round < 3; ++round) {
    const Model model = fixtures::rich_tbmatan_model(false);  // perhaps where the one before was
    check_one_by_one(model.predictor(), random_rows(model.cardinalities(), 40, 10), scratch);
  }
  Predictor::Scratch moved = std::move(scratch);
  const Model model = fixtures::rich_aode_model(false);
  check_one_by_one(model.predictor(), random_rows(model.cardinalities(), 40, 10), moved);
}

TEST(a_scratch_stays_usable_when_memory_runs_out) {
  const Model first = fixtures::rich_tbmatan_model(false), second = sampling_model();
  const Rows rows = random_rows(first.cardinalities(), 40, 13);
  std::vector<double> out(first.n_classes());
  for (long k = 1, thrown = k; k == thrown; ++k) {
    Predictor::Scratch scratch;
    first.predict(rows[0], out, scratch);
    allocations = 0;
    failing = k;
    try {
      second.predict(rows[1], out, scratch);
    } catch (const std::bad_alloc&) {
      thrown = k + 1;
    }
    failing = 0;
    check_one_by_one(first.predictor(), rows, scratch);
    CHECK(k > 1 || thrown > 1);
  }
}

TEST(more_classes_than_fit_on_the_stack) {
  std::mt19937_64 random(3);
  const std::vector<std::uint32_t> cardinalities = {2, 3};
  const NetworkPredictor predictor(testing::random_network(random, Structure({{}, {0}}), cardinalities, 100));
  Predictor::Scratch scratch;
  const Rows rows = random_rows(cardinalities, 30, 11);
  check_one_by_one(predictor, rows, scratch);
  CHECK_EQ(allocations_with_scratch(predictor, rows, scratch), 0);
}

TEST(a_row_that_is_rejected_leaves_the_scratch_usable) {
  for (const Model& model : models()) {
    Predictor::Scratch scratch;
    std::vector<Code> unknown(model.n_features(), kMissing);
    unknown[2] = 9;
    std::vector<double> out(model.n_classes());
    CHECK_THROWS(InvalidInput, model.predict(unknown, out, scratch), "9");
    CHECK_THROWS(InvalidInput, model.predict_proba(unknown, out), "feature 2 has code 9");
    CHECK_THROWS(InvalidInput, model.predict(std::vector<Code>{0}, out, scratch), "a row must have 6 numbers");
    out.resize(1);
    CHECK_THROWS(InvalidInput, model.predict(unknown, out, scratch), "the output must have 3 numbers");
    check_one_by_one(model.predictor(), random_rows(model.cardinalities(), 40, 12), scratch);
  }
}

TEST_MAIN

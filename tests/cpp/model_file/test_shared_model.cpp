// One model, many threads: what each of them gets must be what one alone gets, and the thread sanitizer must find
// nothing. Models are fresh for every trial, so threads meet at their lazy parts.
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"
#include "model_fixtures.hpp"

using namespace fixtures;

namespace {

constexpr std::size_t kThreads = 4;

/// Rows with missing values: most patterns of missing features need separate plans.
std::vector<Code> random_rows(const Model& model, std::size_t n_rows, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Code> rows;
  for (std::size_t i = 0; i < n_rows; ++i)
    for (const std::uint32_t n_values : model.cardinalities())
      rows.push_back(random() % 4 == 0 ? kMissing : static_cast<Code>(random() % n_values));
  return rows;
}

/// All that a program asks of a model, in one list of numbers.
std::vector<double> ask(const Model& model, std::span<const Code> rows, int threads) {
  const std::size_t n = model.n_features();
  const std::size_t n_rows = rows.size() / n;
  std::vector<double> answers(n_rows * model.n_classes());
  model.predict_proba(rows, answers, threads);
  std::vector<std::uint32_t> classes(n_rows);
  model.predictor().predict_classes_rows(rows, classes, threads);
  std::vector<double> row(model.n_classes());
  for (std::size_t i = 0; i < n_rows; ++i) {
    answers.push_back(classes[i]);
    answers.push_back(model.predictor().predict_class(rows.subspan(i * n, n)));
    model.predictor().predict(rows.subspan(i * n, n), Output::kLogJoint, row);
    answers.insert(answers.end(), row.begin(), row.end());
  }
  for (const char* value : {"klein", "🦜", "never seen"}) answers.push_back(model.encode("größe", value));
  answers.push_back(model.encode("cut", 1.5));
  answers.push_back(static_cast<double>(model.class_name(1).size()));
  return answers;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Threads start together and ask one fresh model; a second model, asked by this thread alone, has the right answers.
template <class MakeModel>
void check_shared(MakeModel make) {
  for (unsigned trial = 0; trial < 3; ++trial) {
    const Model alone = make();
    const auto rows = random_rows(alone, 60, trial);
    const auto expected = ask(alone, rows, 1);
    const Model shared = make();
    std::atomic<std::size_t> n_ready{0};
    std::vector<std::vector<double>> answers(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        ++n_ready;
        while (n_ready < kThreads) std::this_thread::yield();
        answers[t] = ask(shared, rows, t % 2 == 0 ? 1 : 2);
      });
    for (auto& thread : threads) thread.join();
    for (const auto& got : answers) CHECK(same_bits(got, expected));
  }
}

}  // namespace

TEST(threads_share_a_network) {
  check_shared([] { return rich_model(); });
}

TEST(threads_share_a_network_that_leaves_features_out) {
  check_shared(model_leaving_out);
}

TEST(threads_share_a_general_network) {
  check_shared([] { return rich_general_model(); });
}

TEST(threads_share_averaged_one_dependence_estimators) {
  check_shared([] { return rich_aode_model(); });
}

TEST(threads_share_an_average_over_all_trees) {
  check_shared([] { return rich_tbmatan_model(); });
}

TEST(threads_share_a_model_whose_copies_come_and_go) {
  const Model model = rich_general_model();
  const auto rows = random_rows(model, 20, 9);
  const auto expected = ask(rich_general_model(), rows, 1);
  std::vector<std::thread> threads;
  std::atomic<int> n_wrong{0};
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const Model copy = model;
        if (!same_bits(ask(copy, rows, 1), expected)) ++n_wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK_EQ(n_wrong.load(), 0);
}

TEST_MAIN

// Scores of predicted probabilities. Sums run over the rows in their order, so that the same predictions give the same
// bits however they were made.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"

namespace tanager {

using namespace internal;

namespace {

void check(const Predictions& predictions) {
  const auto& [probabilities, n_classes, truth, logs] = predictions;
  if (truth.empty()) throw InvalidInput("predictions are scored on at least one row, but there is none");
  if (n_classes == 0 || probabilities.size() % n_classes != 0 || probabilities.size() / n_classes != truth.size())
    throw InvalidInput(join_text("expected ", n_classes, " probabilities for each of ", truth.size(), " rows, got ",
                                 probabilities.size(), " in all"));
  if (!logs.empty() && logs.size() != probabilities.size())
    throw InvalidInput(
        join_text("expected as many logarithms as probabilities, ", probabilities.size(), ", got ", logs.size()));
  for (const Code c : truth)
    if (c >= n_classes && c != kMissing)
      throw InvalidInput(join_text("a true class has code ", c, ", but there are only ", n_classes, " classes"));
}

/// A row's score for one class, and whether that is its class.
struct Scored {
  double score;
  bool positive;
};

/// Twice the sum of the positives' ranks counts ties half without leaving the whole numbers.
double area(std::vector<Scored>& rows, std::uint64_t n_positive) {
  std::sort(rows.begin(), rows.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  std::uint64_t twice_wins = 0;  // pairs (positive, negative) in the right order, and once those that tie
  std::uint64_t negatives_below = 0;
  for (auto first = rows.begin(); first != rows.end();) {
    std::uint64_t positives = 0, ties = 0;
    auto last = first;
    for (; last != rows.end() && last->score == first->score; ++last) {
      positives += last->positive ? 1 : 0;
      ties += last->positive ? 0 : 1;
    }
    twice_wins += positives * (2 * negatives_below + ties);
    negatives_below += ties;
    first = last;
  }
  const auto pairs = static_cast<double>(n_positive) * static_cast<double>(rows.size() - n_positive);
  return static_cast<double>(twice_wins) / 2 / pairs;
}

/// The area of one class against the rest; NaN if all or none of the rows have it.
double area_of_class(const Predictions& predictions, std::uint32_t c, std::vector<Scored>& rows) {
  const auto probabilities = predictions.probabilities;
  const std::size_t n_classes = predictions.n_classes;
  const auto truth = predictions.truth;
  std::uint64_t n_positive = 0;
  for (const Code t : truth) n_positive += t == c ? 1 : 0;
  if (n_positive == 0 || n_positive == truth.size()) return std::numeric_limits<double>::quiet_NaN();
  rows.resize(truth.size());
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const double p = probabilities[row * n_classes + c];
    if (std::isnan(p)) throw InvalidInput(join_text("row ", row, " has no probability of class ", c, " but NaN"));
    rows[row] = {p, truth[row] == c};
  }
  return area(rows, n_positive);
}

}  // namespace

RightRows right_rows(const Predictions& predictions) {
  check(predictions);
  // Far above the rounding of a posterior, far below any difference that means something.
  constexpr double kClose = 1e-9;
  const auto truth = predictions.truth;
  const std::size_t n_classes = predictions.n_classes;
  RightRows found;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const double* p = predictions.probabilities.data() + row * n_classes;
    const double largest = *std::max_element(p, p + n_classes);
    const double limit = largest * (1 - kClose);
    std::size_t n_below = 0;
    for (std::size_t c = 0; c < n_classes; ++c) n_below += p[c] < limit ? 1 : 0;
    if (n_below + 1 < n_classes)
      found.close.push_back(row);
    else
      found.n_right += truth[row] != kMissing && p[truth[row]] == largest ? 1 : 0;
  }
  return found;
}

double accuracy(const Predictions& predictions) {
  check(predictions);
  const auto truth = predictions.truth;
  const std::size_t n_classes = predictions.n_classes;
  std::size_t right = 0;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const double* p = predictions.probabilities.data() + row * n_classes;
    right += std::max_element(p, p + n_classes) - p == truth[row] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(truth.size());
}

double conditional_log_likelihood(const Predictions& predictions) {
  check(predictions);
  const auto& [probabilities, n_classes, truth, logs] = predictions;
  double sum = 0;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    if (truth[row] == kMissing) return -std::numeric_limits<double>::infinity();
    const std::size_t cell = row * n_classes + truth[row];
    sum += probabilities[cell] == 0 && !logs.empty() ? logs[cell] : std::log(probabilities[cell]);
  }
  return sum;
}

double log_loss(const Predictions& predictions) {
  // 0 - x rather than -x: a perfect score is zero, not minus zero.
  return (0.0 - conditional_log_likelihood(predictions)) / static_cast<double>(predictions.truth.size());
}

double auc(const Predictions& predictions) {
  check(predictions);
  const std::uint32_t n_classes = predictions.n_classes;
  std::vector<Scored> rows;
  if (n_classes == 2) return area_of_class(predictions, 1, rows);
  double sum = 0;
  std::size_t n_evaluated = 0;
  for (std::uint32_t c = 0; c < n_classes && n_classes > 1; ++c) {
    const double one = area_of_class(predictions, c, rows);
    if (std::isnan(one)) continue;
    sum += one;
    ++n_evaluated;
  }
  return n_evaluated > 0 ? sum / static_cast<double>(n_evaluated) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tanager

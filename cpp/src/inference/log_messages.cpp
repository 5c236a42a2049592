// A message is exponentiated once, and then only multiplied with the table. Where that product is so small that
// something may have vanished in it, the sum is done anew with logarithms, term by term.
#include "inference/log_messages.hpp"

#include <algorithm>
#include <cmath>

#include "simd/vector_exp.hpp"
#include "simd/vector_log.hpp"
#include "simd/with_constant.hpp"
#include "support/infinity.hpp"

namespace tanager::internal {
namespace {

// What has vanished from a sum is less than 1e-300 of the largest message; a sum above this does not miss it.
constexpr double kSmallSum = 1e-270;

/// ln sum_v exp(logs[v][c] + message[v][c]) for one class.
double log_sum(const double* logs, const double* message, std::size_t values, std::size_t n_classes, std::size_t c) {
  const std::size_t end = values * n_classes;
  double largest = kMinusInfinity;
  for (std::size_t i = c; i < end; i += n_classes) largest = std::max(largest, logs[i] + message[i]);
  if (largest == kMinusInfinity) return kMinusInfinity;
  double sum = 0;
  for (std::size_t i = c; i < end; i += n_classes) sum += vector_exp(logs[i] + message[i] - largest);
  return largest + std::log(sum);
}

class LogMessages {
 public:
  static constexpr bool kAllClasses = true;

  LogMessages(const InferenceTables& tables, bool conditionals, LogForestState& state, FamilyTables* counts = nullptr)
      : tables_(tables), conditionals_(conditionals), state_(state), counts_(counts) {}

  ForestState& state() { return state_.forest; }
  double* evidence() { return state_.log_evidence.data(); }
  std::size_t n_classes() const { return state_.log_evidence.size(); }
  std::size_t stride() const { return n_classes(); }
  const double* logs(std::size_t family) const { return tables_.logs[family].data(); }
  const double* probabilities(std::size_t family) const { return tables_.probabilities[family].data(); }
  const double* terms(std::size_t family) const { return logs(family); }
  double* counts(std::size_t family) const { return (*counts_)[family].data(); }
  static double log_of(double message) { return message; }

  template <std::size_t kClasses>
  void hear(double* message, std::size_t values, const double* terms, std::size_t step, bool first) const {
    const std::size_t n = kClasses > 0 ? kClasses : n_classes();
    if (first) std::fill_n(message, values * n, 0.0);
    for (std::size_t v = 0; v < values; ++v, terms += step)
      for (std::size_t c = 0; c < n; ++c) message[v * n + c] += terms[c];
  }

  /// [x][class]: ln sum_v P(v | x, class) exp(message[v][class]), for `count` values x of the parent.
  template <std::size_t kClasses>
  const double* sum_out(const ForestNode& node, std::size_t first, std::size_t count) {
    const std::size_t n = kClasses > 0 ? kClasses : n_classes();
    const std::size_t block = node.values * n;
    const double* message = state_.forest.messages.data() + node.message;
    // Without conditionals all features share the first buffers, which stay in the cache.
    double* scaled = state_.scaled.data() + (conditionals_ ? node.message : 0);
    double* sums = state_.forest.sums.data() + (conditionals_ ? node.sum : 0);
    scale<kClasses>(message, node.values, scaled);
    const double* table = probabilities(node.feature) + first * block;
    const double* logs = this->logs(node.feature) + first * block;
    double* result = state_.result.data();
    for (std::size_t x = 0; x < count; ++x, table += block, logs += block, sums += n, result += n) {
      for (std::size_t c = 0; c < n; ++c) sums[c] = table[c] * scaled[c];
      for (std::size_t v = 1; v < node.values; ++v)
        for (std::size_t c = 0; c < n; ++c) sums[c] += table[v * n + c] * scaled[v * n + c];
      bool small = false;
      for (std::size_t c = 0; c < n; ++c) small |= sums[c] < kSmallSum;
      for (std::size_t c = 0; c < n; ++c) result[c] = state_.largest[c] + vector_log(sums[c]);
      if (!small) [[likely]]
        continue;
      for (std::size_t c = 0; c < n; ++c)
        if (sums[c] < kSmallSum) result[c] = log_sum(logs, message, node.values, n, c);
    }
    return state_.result.data();
  }

  /// Nothing is known from below: P(v | parent's value) as it stands.
  bool hear_nothing(const ForestNode& node, std::size_t count) {
    std::fill_n(state_.scaled.data() + node.message, node.values * n_classes(), 1.0);
    std::fill_n(state_.forest.sums.data() + node.sum, count * n_classes(), 1.0);
    return true;
  }
  const double* numbers(const ForestNode& node) const { return state_.scaled.data() + node.message; }
  const double* sums(const ForestNode& node) const { return state_.forest.sums.data() + node.sum; }
  static double share(double above, double sum) { return sum < kSmallSum ? 0.0 : above / sum; }
  static double belief(double, double share, double product) { return share * product; }

  /// Classes whose sum was small: above[c] * P(v | parent's value, row, c), by logarithms.
  void add_small(const ForestNode& node, std::size_t first, const double* above, const double* sum, double* to,
                 double* belief) const {
    const std::size_t n = n_classes();
    if (std::none_of(sum, sum + n, [](double s) { return s < kSmallSum; })) [[likely]]
      return;
    const double* logs = this->logs(node.feature) + first;
    const double* message = state_.forest.messages.data() + node.message;
    for (std::size_t c = 0; c < n; ++c) {
      if (sum[c] >= kSmallSum || above[c] == 0) continue;
      const double total = log_sum(logs, message, node.values, n, c);
      if (total == kMinusInfinity) continue;
      for (std::size_t i = c; i < node.values * n; i += n) {
        const double cell = above[c] * vector_exp(logs[i] + message[i] - total);
        to[i] += cell;
        belief[i] += cell;
      }
    }
  }

 private:
  /// scaled[v][c] = exp(message[v][c] - largest[c])
  template <std::size_t kClasses>
  void scale(const double* message, std::size_t values, double* scaled) {
    const std::size_t n = kClasses > 0 ? kClasses : n_classes();
    double* largest = state_.largest.data();
    for (std::size_t c = 0; c < n; ++c) largest[c] = message[c];
    for (std::size_t v = 1; v < values; ++v)
      for (std::size_t c = 0; c < n; ++c)
        largest[c] = message[v * n + c] > largest[c] ? message[v * n + c] : largest[c];
    for (std::size_t c = 0; c < n; ++c) largest[c] = largest[c] == kMinusInfinity ? 0.0 : largest[c];
    for (std::size_t v = 0; v < values; ++v)
      for (std::size_t c = 0; c < n; ++c) scaled[v * n + c] = message[v * n + c] - largest[c];
    for (std::size_t i = 0; i < values * n; ++i) scaled[i] = vector_exp(scaled[i]);
  }

  const InferenceTables& tables_;
  bool conditionals_;
  LogForestState& state_;
  FamilyTables* counts_;
};

}  // namespace

void collect_logs(const Forest& forest, const InferenceTables& tables, std::span<const Code> row, bool conditionals,
                  LogForestState& state) {
  const std::size_t n_classes = forest.n_classes();
  forest.resize(state.forest, conditionals);
  state.scaled.resize(state.forest.messages.size());
  state.result.resize(state.forest.sums.size());
  state.largest.resize(n_classes);
  state.log_evidence.assign(n_classes, 0.0);
  LogMessages messages(tables, conditionals, state);
  with_constant<1, 2, 3, 4>(n_classes, [&](auto n) { forest.collect<decltype(n)::value>(row.data(), true, messages); });
}

void add_beliefs(const Forest& forest, const InferenceTables& tables, std::span<const Code> row,
                 std::span<const double> class_weights, LogForestState& state, FamilyTables& sums) {
  LogMessages messages(tables, true, state, &sums);
  with_constant<1, 2, 3, 4>(forest.n_classes(), [&](auto n) {
    forest.spread<decltype(n)::value>(row.data(), true, class_weights.data(), messages);
  });
}

}  // namespace tanager::internal

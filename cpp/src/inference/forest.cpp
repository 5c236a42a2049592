// Children before parents: an observed feature's term goes to the sums, or, if its parent is missing, to that parent's
// message. A missing feature that heard nothing from below sums to one; any other is summed out as soon as its turn
// comes: its message is exponentiated once, and then only multiplied with the table. Where that product is so small
// that something may have vanished in it, the sum is done anew with logarithms, term by term. On the way back every
// missing feature's distribution given its parent follows from the same numbers.
#include "inference/forest.hpp"

#include <algorithm>
#include <cmath>

#include "inference/class_lanes.hpp"
#include "simd/vector_exp.hpp"
#include "simd/vector_log.hpp"
#include "support/infinity.hpp"

namespace tanager::internal {
namespace {

// What has vanished from a sum is less than 1e-300 of the largest message; a sum above this does not miss it.
constexpr double kSmallSum = 1e-270;

/// ln sum_v exp(logs[v][c] + message[v][c]) for one class.
double log_sum(const double* logs, const double* message, std::size_t values, std::size_t s, std::size_t c) {
  double largest = kMinusInfinity;
  for (std::size_t i = c; i < values * s; i += s) largest = std::max(largest, logs[i] + message[i]);
  if (largest == kMinusInfinity) return kMinusInfinity;
  double sum = 0;
  for (std::size_t i = c; i < values * s; i += s) sum += vector_exp(logs[i] + message[i] - largest);
  return largest + std::log(sum);
}

/// scaled[v][c] = exp(message[v][c] - largest[c])
template <std::size_t kClasses>
void scale(const double* message, std::size_t values, std::size_t n_classes, double* largest, double* scaled) {
  const std::size_t s = kClasses > 0 ? kClasses : n_classes;
  for (std::size_t c = 0; c < s; ++c) largest[c] = message[c];
  for (std::size_t v = 1; v < values; ++v)
    for (std::size_t c = 0; c < s; ++c) largest[c] = message[v * s + c] > largest[c] ? message[v * s + c] : largest[c];
  for (std::size_t c = 0; c < s; ++c) largest[c] = largest[c] == kMinusInfinity ? 0.0 : largest[c];
  for (std::size_t v = 0; v < values; ++v)
    for (std::size_t c = 0; c < s; ++c) scaled[v * s + c] = message[v * s + c] - largest[c];
  for (std::size_t i = 0; i < values * s; ++i) scaled[i] = vector_exp(scaled[i]);
}

/// One value of the parent: to[c] += ln sum_v P(v | that value, c) exp(message[v][c]); sum[c] is the sum as scaled.
template <std::size_t kClasses>
void sum_out(const double* table, const double* logs, const double* message, const double* scaled,
             const double* largest, std::size_t values, std::size_t n_classes, double* sum, double* to) {
  const std::size_t s = kClasses > 0 ? kClasses : n_classes;
  for (std::size_t c = 0; c < s; ++c) sum[c] = table[c] * scaled[c];
  for (std::size_t v = 1; v < values; ++v)
    for (std::size_t c = 0; c < s; ++c) sum[c] += table[v * s + c] * scaled[v * s + c];
  bool small = false;
  for (std::size_t c = 0; c < s; ++c) small |= sum[c] < kSmallSum;
  if (!small) [[likely]] {
    for (std::size_t c = 0; c < s; ++c) to[c] += largest[c] + vector_log(sum[c]);
  } else {
    for (std::size_t c = 0; c < s; ++c)
      to[c] += sum[c] < kSmallSum ? log_sum(logs, message, values, s, c) : largest[c] + vector_log(sum[c]);
  }
}

/// Classes whose sum was small: above[c] * P(v | parent's value, row, c), by logarithms.
void add_small(const double* logs, const double* message, const double* above, const double* sum, std::size_t values,
               std::size_t s, double* to, double* belief) {
  for (std::size_t c = 0; c < s; ++c) {
    if (sum[c] >= kSmallSum || above[c] == 0) continue;
    const double total = log_sum(logs, message, values, s, c);
    if (total == kMinusInfinity) continue;
    for (std::size_t i = c; i < values * s; i += s) {
      const double cell = above[c] * vector_exp(logs[i] + message[i] - total);
      to[i] += cell;
      belief[i] += cell;
    }
  }
}

}  // namespace

bool Forest::fits(const FamilyScopes& scopes) {
  for (std::size_t f = 0; f < scopes.n_features(); ++f)
    if (scopes.members(f).size() > 2) return false;
  return scopes.members(scopes.n_features()).size() <= 1;
}

Forest::Forest(const FamilyScopes& scopes) : n_features_(scopes.n_features()), n_classes_(scopes.n_classes()) {
  const auto cards = scopes.cardinalities();
  std::vector<std::size_t> message(n_features_, 0);
  for (const std::size_t f : scopes.order()) {
    message[f] = message_size_;
    message_size_ += cards[f] * n_classes_;
  }
  for (const std::size_t f : scopes.order()) {
    const auto members = scopes.members(f);
    Node node{};
    node.feature = static_cast<std::uint32_t>(f);
    node.values = cards[f];
    node.message = message[f];
    node.parent = kNone;
    node.parent_values = 1;
    if (members.size() == 2) {
      node.parent = static_cast<std::uint32_t>(members[0].feature);
      node.parent_values = cards[node.parent];
      node.parent_message = message[node.parent];
    }
    node.sum = sum_size_;
    sum_size_ += node.parent_values * n_classes_;
    nodes_.push_back(node);
  }
  if (const auto members = scopes.members(n_features_); !members.empty()) {
    class_parent_ = static_cast<std::uint32_t>(members[0].feature);
    class_parent_values_ = cards[class_parent_];
    class_parent_message_ = message[class_parent_];
  }
}

template <std::size_t kClasses>
void Forest::gather_lanes(const InferenceTables& tables, std::span<const Code> row, bool conditionals,
                          ForestState& state) const {
  const std::size_t s = kClasses > 0 ? kClasses : n_classes_;
  double* evidence = state.log_evidence.data();
  double* largest = state.scratch.data();
  double* messages = state.messages.data();
  std::fill(state.heard.begin(), state.heard.end(), std::uint8_t{0});

  const double* of_class = tables.logs[n_features_].data();
  if (class_parent_ != kNone && row[class_parent_] == kMissing) {
    std::copy_n(of_class, class_parent_values_ * s, messages + class_parent_message_);
    state.heard[class_parent_] = 1;
    std::fill_n(evidence, s, 0.0);
  } else {
    if (class_parent_ != kNone) of_class += row[class_parent_] * s;
    std::copy_n(of_class, s, evidence);
  }

  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    const Code code = row[node->feature];
    const bool missing = code == kMissing;
    if (missing && !state.heard[node->feature]) continue;
    const std::size_t block = node->values * s;
    const bool to_parent = node->parent != kNone && row[node->parent] == kMissing;
    const std::size_t first = node->parent == kNone || to_parent ? 0 : row[node->parent];
    const std::size_t count = to_parent ? node->parent_values : 1;
    const double* logs = tables.logs[node->feature].data() + first * block;
    double* target = to_parent ? messages + node->parent_message : evidence;
    if (to_parent && !state.heard[node->parent]) {
      std::fill_n(target, count * s, 0.0);
      state.heard[node->parent] = 1;
    }
    if (!missing) {
      logs += code * s;
      for (std::size_t x = 0; x < count; ++x, logs += block)
        for (std::size_t c = 0; c < s; ++c) target[x * s + c] += logs[c];
      continue;
    }
    const double* message = messages + node->message;
    double* scaled = state.scaled.data() + (conditionals ? node->message : 0);
    double* sums = state.sums.data() + (conditionals ? node->sum : 0);
    scale<kClasses>(message, node->values, s, largest, scaled);
    const double* table = tables.probabilities[node->feature].data() + first * block;
    for (std::size_t x = 0; x < count; ++x, table += block, logs += block)
      sum_out<kClasses>(table, logs, message, scaled, largest, node->values, s, sums + x * s, target + x * s);
  }
}

template <std::size_t kClasses>
void Forest::add_lanes(const InferenceTables& tables, std::span<const Code> row, const double* weights,
                       ForestState& state, FamilyTables& sums) const {
  const std::size_t s = kClasses > 0 ? kClasses : n_classes_;
  double* factor = state.scratch.data();
  for (const Node& node : nodes_) {
    const Code code = row[node.feature];
    const std::size_t block = node.values * s;
    const bool given = node.parent == kNone || row[node.parent] != kMissing;
    const std::size_t first = node.parent == kNone || !given ? 0 : row[node.parent];
    const std::size_t count = given ? 1 : node.parent_values;
    // P(parent's value | row, class), times the weight: the weight itself where the parent is observed.
    const double* above = given ? weights : state.beliefs.data() + node.parent_message;
    double* to = sums[node.feature].data() + first * block;
    if (code != kMissing) {
      to += code * s;
      for (std::size_t x = 0; x < count; ++x, to += block)
        for (std::size_t c = 0; c < s; ++c) to[c] += above[x * s + c];
      continue;
    }
    double* belief = state.beliefs.data() + node.message;
    std::fill_n(belief, block, 0.0);
    const double* table = tables.probabilities[node.feature].data() + first * block;
    const double* logs = tables.logs[node.feature].data() + first * block;
    double* scaled = state.scaled.data() + node.message;
    double* below = state.sums.data() + node.sum;
    if (!state.heard[node.feature]) {  // nothing is known from below: P(v | parent's value) as it stands
      std::fill_n(scaled, block, 1.0);
      std::fill_n(below, count * s, 1.0);
    }
    for (std::size_t x = 0; x < count; ++x, to += block, table += block, logs += block, above += s, below += s) {
      bool small = false;
      for (std::size_t c = 0; c < s; ++c) {
        small |= below[c] < kSmallSum;
        factor[c] = below[c] < kSmallSum ? 0.0 : above[c] / below[c];
      }
      for (std::size_t v = 0; v < node.values; ++v)
        for (std::size_t c = 0; c < s; ++c) {
          const double cell = factor[c] * (table[v * s + c] * scaled[v * s + c]);
          to[v * s + c] += cell;
          belief[v * s + c] += cell;
        }
      if (small) add_small(logs, state.messages.data() + node.message, above, below, node.values, s, to, belief);
    }
  }
  double* of_class = sums[n_features_].data();
  if (class_parent_ == kNone || row[class_parent_] != kMissing) {
    if (class_parent_ != kNone) of_class += row[class_parent_] * s;
    for (std::size_t c = 0; c < s; ++c) of_class[c] += weights[c];
  } else {
    const double* belief = state.beliefs.data() + class_parent_message_;
    for (std::size_t i = 0; i < class_parent_values_ * s; ++i) of_class[i] += belief[i];
  }
}

void Forest::gather(const InferenceTables& tables, std::span<const Code> row, bool conditionals,
                    ForestState& state) const {
  state.heard.resize(n_features_);
  state.messages.resize(message_size_);
  state.scaled.resize(message_size_);
  state.sums.resize(sum_size_);
  state.scratch.resize(n_classes_);
  state.log_evidence.resize(n_classes_);
  with_classes(n_classes_, [&](auto s) { gather_lanes<decltype(s)::value>(tables, row, conditionals, state); });
}

void Forest::add_beliefs(const InferenceTables& tables, std::span<const Code> row,
                         std::span<const double> class_weights, ForestState& state, FamilyTables& sums) const {
  state.beliefs.resize(message_size_);
  with_classes(n_classes_,
               [&](auto s) { add_lanes<decltype(s)::value>(tables, row, class_weights.data(), state, sums); });
}

}  // namespace tanager::internal

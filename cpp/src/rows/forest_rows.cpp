// Given the class, what lies below a feature's value and what does not are independent. Upwards, every missing feature
// gets the likelihood of all that is observed below it, value by value, and hands its sum to its parent; downwards, the
// posterior of a parent's value gives that of the child's. Likelihoods are scaled by powers of two where they get
// small, for every class on its own.
#include "rows/forest_rows.hpp"

#include <algorithm>
#include <cmath>

namespace tanager::internal {
namespace {

constexpr double kSmall = 0x1p-300, kScale = 0x1p300;
// Smaller sums are taken for impossible: dividing by them would overflow.
constexpr double kLeast = 0x1p-1000;
constexpr double kLogScale = 300 * 0.69314718055994530942;

}  // namespace

bool ForestRows::suits(const Structure& structure) {
  return structure.max_parents() <= 1 && structure.class_parents().size() <= 1;
}

ForestRows::ForestRows(const SoftmaxFamilies& families)
    : n_features_(families.cardinalities().size()), n_classes_(families.n_classes()), node_of_(n_features_) {
  const auto& cards = families.cardinalities();
  const auto& structure = families.structure();
  for (const FamilyBlock& block : families.blocks()) {
    Node node;
    node.feature = block.feature;
    node.expanded = block.expanded;
    const bool is_class = block.feature == n_features_;
    const auto& parents = is_class ? structure.class_parents() : structure.parents(block.feature);
    node.parent = parents.empty() ? n_features_ : parents.front();
    node.parent_values = parents.empty() ? 1 : cards[parents.front()];
    if (is_class) {
      class_node_ = node;
      continue;
    }
    node.values = cards[block.feature];
    node.state = n_states_;
    node.message = n_messages_;
    n_states_ += node.values * n_classes_;
    n_messages_ += node.parent_values * n_classes_;
    node_of_[block.feature] = nodes_.size();
    nodes_.push_back(node);
  }
}

ForestRows::Workspace ForestRows::workspace() const {
  Workspace work;
  work.likelihoods.resize(n_states_);
  work.messages.resize(n_messages_);
  work.posteriors.resize(n_states_);
  work.totals.resize(nodes_.size() * n_classes_);
  work.active.resize(n_features_ + 1);
  work.shares.resize(n_classes_);
  return work;
}

void ForestRows::collect(const Code* row, std::span<const double> probabilities, std::span<const double> logs,
                         std::size_t first, std::size_t count, bool whole, double* out, Workspace& work) const {
  if (count == 1) return collect_with<1>(row, probabilities.data(), logs.data(), first, count, whole, out, work);
  if (count == 2) return collect_with<2>(row, probabilities.data(), logs.data(), first, count, whole, out, work);
  collect_with<0>(row, probabilities.data(), logs.data(), first, count, whole, out, work);
}

void ForestRows::add_posteriors(const Code* row, std::span<const double> probabilities, std::size_t first,
                                std::size_t count, bool whole, const double* weights, std::span<double> sums,
                                Workspace& work) const {
  if (count == 1) return add_with<1>(row, probabilities.data(), first, count, whole, weights, sums.data(), work);
  if (count == 2) return add_with<2>(row, probabilities.data(), first, count, whole, weights, sums.data(), work);
  add_with<0>(row, probabilities.data(), first, count, whole, weights, sums.data(), work);
}

template <int kClasses>
void ForestRows::collect_with(const Code* row, const double* probabilities, const double* logs, std::size_t first,
                              std::size_t count, bool whole, double* out, Workspace& work) const {
  const std::size_t n = kClasses > 0 ? kClasses : count, s = n_classes_;
  std::fill(work.active.begin(), work.active.end(), std::uint8_t{0});
  // Multiplies the likelihoods of a missing feature's values by factors, [value][class] with the given stride.
  const auto multiply = [&](std::size_t feature, const double* factors, std::size_t stride) {
    const Node& node = nodes_[node_of_[feature]];
    double* own = work.likelihoods.data() + node.state;
    if (!work.active[feature]) {
      work.active[feature] = 1;
      for (std::size_t k = 0; k < node.values; ++k)
        for (std::size_t c = 0; c < n; ++c) own[k * n + c] = factors[k * stride + c];
    } else {
      for (std::size_t k = 0; k < node.values; ++k)
        for (std::size_t c = 0; c < n; ++c) own[k * n + c] *= factors[k * stride + c];
    }
    for (std::size_t c = 0; c < n; ++c) {
      double largest = own[c];
      for (std::size_t k = 1; k < node.values; ++k) largest = std::max(largest, own[k * n + c]);
      if (largest >= kSmall || largest == 0) continue;
      // Factors are messages, which may be nearly as small: one power of two need not be enough.
      for (; largest < kSmall; largest *= kScale) {
        for (std::size_t k = 0; k < node.values; ++k) own[k * n + c] *= kScale;
        out[c] -= kLogScale;
      }
    }
  };
  const auto is_missing = [&](std::size_t feature) { return feature < n_features_ && row[feature] == kMissing; };

  if (is_missing(class_node_.parent)) {
    multiply(class_node_.parent, probabilities + class_node_.expanded + first, s);
  } else if (whole) {
    const std::size_t j = class_node_.parent < n_features_ ? row[class_node_.parent] : 0;
    const double* log = logs + class_node_.expanded + j * s + first;
    for (std::size_t c = 0; c < n; ++c) out[c] += log[c];
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const Node& node = nodes_[i];
    const Code value = row[node.feature];
    const bool parent_missing = is_missing(node.parent);
    const std::size_t j = node.parent < n_features_ && !parent_missing ? row[node.parent] : 0;
    if (value != kMissing) {
      if (parent_missing) {
        multiply(node.parent, probabilities + node.expanded + value * s + first, node.values * s);
      } else if (whole) {
        const double* log = logs + node.expanded + (j * node.values + value) * s + first;
        for (std::size_t c = 0; c < n; ++c) out[c] += log[c];
      }
      continue;
    }
    if (!work.active[node.feature]) continue;
    const double* own = work.likelihoods.data() + node.state;
    double* message = parent_missing ? work.messages.data() + node.message : work.totals.data() + i * s;
    const std::size_t configurations = parent_missing ? node.parent_values : 1;
    for (std::size_t at = 0; at < configurations; ++at) {
      const double* table = probabilities + node.expanded + (j + at) * node.values * s + first;
      for (std::size_t c = 0; c < n; ++c) message[at * n + c] = 0;
      for (std::size_t k = 0; k < node.values; ++k)
        for (std::size_t c = 0; c < n; ++c) message[at * n + c] += table[k * s + c] * own[k * n + c];
    }
    if (parent_missing)
      multiply(node.parent, message, n);
    else
      for (std::size_t c = 0; c < n; ++c) out[c] += std::log(message[c]);
  }
}

template <int kClasses>
void ForestRows::add_with(const Code* row, const double* probabilities, std::size_t first, std::size_t count,
                          bool whole, const double* weights, double* sums, Workspace& work) const {
  const std::size_t n = kClasses > 0 ? kClasses : count, s = n_classes_;
  const auto is_missing = [&](std::size_t feature) { return feature < n_features_ && row[feature] == kMissing; };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const Code value = row[node.feature];
    const bool parent_missing = is_missing(node.parent);
    const double* above = parent_missing ? work.posteriors.data() + nodes_[node_of_[node.parent]].state : nullptr;
    const std::size_t j = node.parent < n_features_ && !parent_missing ? row[node.parent] : 0;
    if (value != kMissing) {
      double* sum = sums + node.expanded + (j * node.values + value) * s + first;
      if (parent_missing) {
        for (std::size_t at = 0; at < node.parent_values; ++at)
          for (std::size_t c = 0; c < n; ++c) sum[at * node.values * s + c] += above[at * n + c];
      } else if (whole) {
        for (std::size_t c = 0; c < n; ++c) sum[c] += weights[c];
      }
      continue;
    }
    if (!work.active[node.feature]) continue;
    const double* own = work.likelihoods.data() + node.state;
    double* posterior = work.posteriors.data() + node.state;
    std::fill_n(posterior, node.values * n, 0.0);
    const double* message = parent_missing ? work.messages.data() + node.message : work.totals.data() + i * s;
    const std::size_t configurations = parent_missing ? node.parent_values : 1;
    for (std::size_t at = 0; at < configurations; ++at) {
      const std::size_t offset = node.expanded + (j + at) * node.values * s + first;
      double* share = work.shares.data();
      const double* weight = parent_missing ? above + at * n : weights;
      for (std::size_t c = 0; c < n; ++c) share[c] = message[at * n + c] >= kLeast ? 1 / message[at * n + c] : 0.0;
      for (std::size_t k = 0; k < node.values; ++k)
        for (std::size_t c = 0; c < n; ++c) {
          const double p = weight[c] * (share[c] * (probabilities[offset + k * s + c] * own[k * n + c]));
          sums[offset + k * s + c] += p;
          posterior[k * n + c] += p;
        }
    }
  }
  if (is_missing(class_node_.parent)) {
    const double* above = work.posteriors.data() + nodes_[node_of_[class_node_.parent]].state;
    for (std::size_t at = 0; at < class_node_.parent_values; ++at)
      for (std::size_t c = 0; c < n; ++c) sums[class_node_.expanded + at * s + first + c] += above[at * n + c];
  } else if (whole) {
    const std::size_t j = class_node_.parent < n_features_ ? row[class_node_.parent] : 0;
    for (std::size_t c = 0; c < n; ++c) sums[class_node_.expanded + j * s + first + c] += weights[c];
  }
}

}  // namespace tanager::internal

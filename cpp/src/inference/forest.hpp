// Messages through the trees of a structure whose features have at most one feature parent each. One walk over the
// trees serves two kinds of numbers: logarithms for prediction (LogMessages), which underflow nowhere, and scaled
// probabilities for learners (ScaledMessages), which need no exponential.
//
// Children before parents: the term of an observed feature goes to the evidence, or, if its parent is missing, to that
// parent's message. A missing feature that has heard nothing sums to one; any other is summed out when its turn comes.
// On the way back every missing feature's distribution given its parent follows from the same numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/structure.hpp"

namespace tanager::internal {

struct ForestNode {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t feature = 0;     ///< n_features stands for the class
  std::size_t parent = kNone;  ///< a feature
  std::size_t values = 1;
  std::size_t parent_values = 1;
  std::size_t message = 0;  ///< where [value][class] begins, for itself and for its parent
  std::size_t parent_message = 0;
  std::size_t sum = 0;  ///< where [parent's value][class] begins
};

/// What one row makes of a forest; kept from row to row, so that nothing is allocated. Numbers of a block are [value]
/// [class], the classes being those of the row.
struct ForestState {
  std::vector<double> messages;     ///< [feature][value]: the probability of what is observed below, given the value
  std::vector<double> sums;         ///< [feature][parent's value]: of P(value | parent's value) times the message
  std::vector<double> beliefs;      ///< as messages: weight * P(value | row, class)
  std::vector<double> shares;       ///< one number for every class
  std::vector<std::uint8_t> heard;  ///< whether a feature has heard from below
};

/// Every feature has at most one feature parent, and so has the class. Nothing is compiled: a row costs O(n r^2 s) at
/// worst, and one addition per class for a feature that is observed with its parent.
///
/// `Messages` does the arithmetic, for kClasses classes (zero: for messages.n_classes()). Tables are [parent's value]
/// [value][class], with messages.stride() classes.
class Forest {
 public:
  static bool fits(const Structure& structure) {
    return structure.max_parents() <= 1 && structure.class_parents().size() <= 1;
  }
  Forest(const Structure& structure, std::span<const std::uint32_t> cardinalities, std::size_t n_classes);

  std::size_t n_classes() const { return n_classes_; }
  /// Beliefs are for spread() alone.
  void resize(ForestState& state, bool beliefs) const;

  /// Adds the row to messages.evidence(). Families that are observed as a whole are left out unless `whole`.
  template <std::size_t kClasses, class Messages>
  void collect(const Code* row, bool whole, Messages& messages) const;
  /// After collect() of the same row and messages: adds weight * P(family | row, class) to messages.counts().
  template <std::size_t kClasses, class Messages>
  void spread(const Code* row, bool whole, const double* weights, Messages& messages) const;

 private:
  static bool is_missing(const Code* row, std::size_t feature) {
    return feature != ForestNode::kNone && row[feature] == kMissing;
  }
  /// The row of a node's table that its parent's value selects; the first where that is missing.
  static std::size_t first_of(const Code* row, const ForestNode& node) {
    return node.parent == ForestNode::kNone || row[node.parent] == kMissing ? 0 : row[node.parent];
  }

  std::vector<ForestNode> nodes_;  // parents before children
  ForestNode class_node_;
  std::size_t n_features_;
  std::size_t n_classes_;
  std::size_t message_size_ = 0;  // of all features
  std::size_t sum_size_ = 0;
};

template <std::size_t kClasses, class Messages>
void Forest::collect(const Code* row, bool whole, Messages& messages) const {
  const std::size_t n = kClasses > 0 ? kClasses : messages.n_classes();
  const std::size_t stride = Messages::kAllClasses ? n : messages.stride();
  ForestState& state = messages.state();
  double* evidence = messages.evidence();
  std::fill(state.heard.begin(), state.heard.end(), std::uint8_t{0});
  const auto hear = [&](const ForestNode& child, const double* terms, std::size_t step) {
    messages.template hear<kClasses>(state.messages.data() + child.parent_message, child.parent_values, terms, step,
                                     state.heard[child.parent] == 0);
    state.heard[child.parent] = 1;
  };
  // What is observed of a node: to the parent's message, or to the evidence.
  const auto observe = [&](const ForestNode& node, std::size_t value) {
    const std::size_t cell = (first_of(row, node) * node.values + value) * stride;
    if (is_missing(row, node.parent)) {
      hear(node, messages.terms(node.feature) + cell, node.values * stride);
    } else if (whole) {
      const double* logs = messages.logs(node.feature) + cell;
      for (std::size_t c = 0; c < n; ++c) evidence[c] += logs[c];
    }
  };

  observe(class_node_, 0);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (row[node->feature] != kMissing) {
      observe(*node, row[node->feature]);
    } else if (state.heard[node->feature] != 0) {
      const bool to_parent = is_missing(row, node->parent);
      const std::size_t count = to_parent ? node->parent_values : 1;
      const double* message = messages.template sum_out<kClasses>(*node, first_of(row, *node), count);
      if (to_parent)
        hear(*node, message, n);
      else
        for (std::size_t c = 0; c < n; ++c) evidence[c] += messages.log_of(message[c]);
    }
  }
}

template <std::size_t kClasses, class Messages>
void Forest::spread(const Code* row, bool whole, const double* weights, Messages& messages) const {
  const std::size_t n = kClasses > 0 ? kClasses : messages.n_classes();
  const std::size_t stride = Messages::kAllClasses ? n : messages.stride();
  ForestState& state = messages.state();
  // P(parent's value | row, class), times the weight: the weight itself where the parent is observed.
  const auto above_of = [&](const ForestNode& node) {
    return is_missing(row, node.parent) ? state.beliefs.data() + node.parent_message : weights;
  };
  const auto observe = [&](const ForestNode& node, std::size_t value) {
    const bool from_parent = is_missing(row, node.parent);
    if (!from_parent && !whole) return;
    double* to = messages.counts(node.feature) + (first_of(row, node) * node.values + value) * stride;
    const double* above = above_of(node);
    for (std::size_t x = 0; x < (from_parent ? node.parent_values : 1); ++x, to += node.values * stride)
      for (std::size_t c = 0; c < n; ++c) to[c] += above[x * n + c];
  };

  for (const ForestNode& node : nodes_) {
    if (row[node.feature] != kMissing) {
      observe(node, row[node.feature]);
      continue;
    }
    const std::size_t count = is_missing(row, node.parent) ? node.parent_values : 1;
    if (state.heard[node.feature] == 0 && !messages.hear_nothing(node, count)) continue;
    const std::size_t first = first_of(row, node) * node.values * stride;
    const double* table = messages.probabilities(node.feature) + first;
    const double* message = messages.numbers(node);
    const double* below = messages.sums(node);
    const double* above = above_of(node);
    double* to = messages.counts(node.feature) + first;
    double* belief = state.beliefs.data() + node.message;
    double* share = state.shares.data();
    std::fill_n(belief, node.values * n, 0.0);
    for (std::size_t x = 0; x < count; ++x, above += n, below += n) {
      for (std::size_t c = 0; c < n; ++c) share[c] = Messages::share(above[c], below[c]);
      for (std::size_t v = 0; v < node.values; ++v)
        for (std::size_t c = 0; c < n; ++c) {
          const double cell = Messages::belief(above[c], share[c], table[v * stride + c] * message[v * n + c]);
          to[v * stride + c] += cell;
          belief[v * n + c] += cell;
        }
      messages.add_small(node, first + x * node.values * stride, above, below, to, belief);
      table += node.values * stride;
      to += node.values * stride;
    }
  }
  observe(class_node_, 0);
}

}  // namespace tanager::internal

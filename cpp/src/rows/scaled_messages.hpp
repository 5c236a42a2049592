// The messages of a forest as probabilities, for all classes or for one: what learners need, who go over the same rows
// many times. Probabilities are scaled by powers of two where they get small, for every class on its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "inference/forest.hpp"
#include "rows/softmax_families.hpp"

namespace tanager::internal {

/// Tables are expanded: see SoftmaxFamilies. A missing feature with nothing observed below it adds nothing to counts.
class ScaledMessages {
 public:
  static constexpr bool kAllClasses = false;

  ScaledMessages(const Forest& forest, const SoftmaxFamilies& families, std::span<const double> probabilities,
                 std::span<const double> logs, std::span<double> counts)
      : probabilities_(probabilities.data()),
        logs_(logs.data()),
        counts_(counts.data()),
        offsets_(families.cardinalities().size() + 1),
        stride_(families.n_classes()) {
    for (const FamilyBlock& block : families.blocks()) offsets_[block.feature] = block.expanded;
    forest.resize(state_, !counts.empty());
  }

  /// Which classes the next row is about, [first, first + count), and where ln P(observed features, class) is added to.
  void set_classes(std::size_t first, std::size_t count, double* evidence) {
    first_ = first;
    count_ = count;
    evidence_ = evidence;
  }

  ForestState& state() { return state_; }
  double* evidence() { return evidence_; }
  std::size_t n_classes() const { return count_; }
  std::size_t stride() const { return stride_; }
  const double* logs(std::size_t family) const { return logs_ + offsets_[family] + first_; }
  const double* probabilities(std::size_t family) const { return probabilities_ + offsets_[family] + first_; }
  const double* terms(std::size_t family) const { return probabilities(family); }
  double* counts(std::size_t family) const { return counts_ + offsets_[family] + first_; }
  static double log_of(double message) { return std::log(message); }

  template <std::size_t kClasses>
  void hear(double* message, std::size_t values, const double* terms, std::size_t step, bool first) {
    const std::size_t n = kClasses > 0 ? kClasses : count_;
    if (first) {
      for (std::size_t v = 0; v < values; ++v)
        for (std::size_t c = 0; c < n; ++c) message[v * n + c] = terms[v * step + c];
    } else {
      for (std::size_t v = 0; v < values; ++v)
        for (std::size_t c = 0; c < n; ++c) message[v * n + c] *= terms[v * step + c];
    }
    for (std::size_t c = 0; c < n; ++c) {
      double largest = message[c];
      for (std::size_t v = 1; v < values; ++v) largest = std::max(largest, message[v * n + c]);
      if (largest >= kSmall || largest == 0) continue;
      // Terms are messages, which may be nearly as small: one power of two need not be enough.
      for (; largest < kSmall; largest *= kScale) {
        for (std::size_t v = 0; v < values; ++v) message[v * n + c] *= kScale;
        evidence_[c] -= kLogScale;
      }
    }
  }

  /// [x][class]: sum_v P(v | x, class) message[v][class], for `count` values x of the parent.
  template <std::size_t kClasses>
  const double* sum_out(const ForestNode& node, std::size_t first, std::size_t count) {
    const std::size_t n = kClasses > 0 ? kClasses : count_;
    const double* message = numbers(node);
    const double* table = probabilities(node.feature) + first * node.values * stride_;
    double* sums = state_.sums.data() + node.sum;
    for (std::size_t x = 0; x < count; ++x, sums += n) {
      std::fill_n(sums, n, 0.0);
      for (std::size_t v = 0; v < node.values; ++v, table += stride_)
        for (std::size_t c = 0; c < n; ++c) sums[c] += table[c] * message[v * n + c];
    }
    return this->sums(node);
  }

  bool hear_nothing(const ForestNode&, std::size_t) const { return false; }
  const double* numbers(const ForestNode& node) const { return state_.messages.data() + node.message; }
  const double* sums(const ForestNode& node) const { return state_.sums.data() + node.sum; }
  static double share(double, double sum) { return sum >= kLeast ? 1 / sum : 0.0; }
  static double belief(double above, double share, double product) { return above * (share * product); }
  void add_small(const ForestNode&, std::size_t, const double*, const double*, double*, double*) const {}

 private:
  static constexpr double kSmall = 0x1p-300;
  static constexpr double kScale = 0x1p300;
  static constexpr double kLogScale = 300 * 0.69314718055994530942;
  // Smaller sums are taken for impossible: dividing by them would overflow.
  static constexpr double kLeast = 0x1p-1000;

  const double* probabilities_;
  const double* logs_;
  double* counts_;
  std::vector<std::size_t> offsets_;  // of the families' tables
  std::size_t stride_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  double* evidence_ = nullptr;
  ForestState state_;
};

}  // namespace tanager::internal

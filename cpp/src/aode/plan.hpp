// How a row's probability is computed, fixed once per model, so that every way of computing it gives the same bits.
//
// The probability under one super-parent is a product of one factor per feature. Features fall into *groups*: the
// factors of a group are multiplied with each other first, so that a batch can look their product up in one table.
// Products of probabilities, not sums of logarithms: no exponential is needed to add the models up. A bound on all
// factors shows after how many groups a product could leave the range of a double; such a *chunk* of groups ends with
// taking the power of two out of the product. Where one chunk holds all groups (up to some seventy features), no power
// ever has to be taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tanager/aode.hpp"

namespace tanager::internal {

/// Products start this far up (times 2^512), so that they have twice the room to fall.
inline constexpr int kStartPower = 512;

struct AodePlan {
  explicit AodePlan(const Aode& aode);

  std::size_t n_features() const { return cardinalities.size(); }
  std::size_t n_groups() const { return groups.size() - 1; }

  std::vector<std::uint32_t> cardinalities;
  std::uint32_t n_classes = 0;
  /// n_classes rounded up to what vector registers like: 1, 2, then multiples of 4.
  std::uint32_t width = 0;
  std::vector<std::size_t> first_values;  ///< n_features + 1: number of values of all features before
  std::vector<std::uint32_t> groups;      ///< group g has the features from groups[g] to groups[g + 1] - 1
  std::vector<std::uint32_t> chunks;      ///< chunk k has the groups from chunks[k] to chunks[k + 1] - 1
  /// Whether powers of two are taken out of products.
  bool scaled = false;
  /// P(class) P(value of super-parent | class) times 2^kStartPower: [value of any feature][width]. If `scaled`, without
  /// its power of two, which is in start_powers.
  std::vector<double> start, start_powers;
  /// The same of P(class) alone, where naive Bayes starts.
  std::vector<double> prior, prior_powers;
  /// Whether a value of a feature was seen often enough; empty if no minimum is asked for.
  std::vector<std::uint8_t> eligible;
};

}  // namespace tanager::internal

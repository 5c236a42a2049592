// What a predictor is made of, shared by the block kernel, the single row and the rows with missing features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/lookup_groups.hpp"
#include "tanager/network.hpp"

namespace tanager::internal {

/// All look-ups. The log-joint of a row is *defined* as prior + group 0 + group 1 + ..., each group being the sum of
/// its features' terms in order: one definition, so that every way of computing it gives the same bits.
struct LookupTables {
  std::uint32_t n_classes = 0;
  /// n_classes rounded up to what vector registers like: 1, 2, 4, then multiples of 8. Rows of `cells` are this long.
  std::uint32_t padded_classes = 0;
  std::vector<std::size_t> features;  ///< that the model has, in increasing order
  std::vector<double> prior;          ///< ln P(class), padded; zeros if the class has parents and is a term itself
  std::vector<LookupGroup> groups;    ///< a term is a feature; n_features is the class
  std::vector<double> cells;          ///< [group][joint value][padded class]
};

/// From logarithms of the tables of all features, [parents][values][classes] also where the class is no parent, and of
/// the class's own table behind them.
LookupTables build_lookup_tables(const Network& network, std::span<const std::vector<double>> log_tables);

}  // namespace tanager::internal

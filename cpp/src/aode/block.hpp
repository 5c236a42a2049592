// A block of rows on its way from codes to the sum over all models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aode/plan.hpp"
#include "simd/cpu.hpp"
#include "tanager/aode.hpp"

namespace tanager::internal {

/// How many rows make a block: what belongs to them should stay in the second-level cache.
std::size_t aode_block_rows(const AodePlan& plan);

struct AodeBlock {
  AodeBlock() = default;
  AodeBlock(const AodePlan& plan, std::size_t n_rows) { resize(plan, n_rows); }

  void resize(const AodePlan& plan, std::size_t n_rows) {
    rows = n_rows;
    slots.resize(n_rows * plan.n_features());
    has_missing.resize(plan.n_features());
  }

  std::uint16_t* slots_of(std::size_t feature) { return slots.data() + feature * rows; }
  const std::uint16_t* slots_of(std::size_t feature) const { return slots.data() + feature * rows; }

  std::size_t rows = 0;
  /// [feature][row]: the code, or the number of values where it is missing. To be filled first, with has_missing: of
  /// every feature whether any of these rows lacks it.
  std::vector<std::uint16_t> slots;
  std::vector<std::uint8_t> has_missing;

  /// Results, [row][width]: P(class, row) * 2^(kStartPower - power) summed over the models that took part, and these
  /// powers (empty unless the plan is scaled); and how many models took part: none means that naive Bayes answered.
  std::vector<double> sums, powers;
  std::vector<std::uint32_t> n_models;

  /// Where every row reads the joined tables of a super-parent's value: [row][group]; and the tables themselves.
  std::vector<std::uint32_t> offsets, group_offsets, strides;
  std::size_t joined_cells = 0;
  std::vector<double> joined;
};

/// Fills sums, powers and n_models of a block whose slots are set.
void average_block(const Aode& aode, const AodePlan& plan, AodeBlock& block, Isa isa);

}  // namespace tanager::internal

// The hot loops: one value of one super-parent, and the rows that have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aode/block.hpp"
#include "aode/plan.hpp"
#include "simd/cpu.hpp"

namespace tanager::internal {

/// P(class, row) under one super-parent that has one value.
struct AodeModel {
  const AodePlan& plan;
  AodeBlock& block;
  std::size_t parent;
  std::size_t value;     // of the parent, counted from the first value of the first feature
  const double* tables;  // P(child | value, class): [child][value of the child][class]
};

/// Makes block.joined: the product of every group's factors, over all slots of its members.
void join_tables(const AodeModel& model, Isa isa);

/// Adds the model to the sums of some rows of the block.
void add_model(const AodeModel& model, std::span<const std::uint32_t> rows, bool joined, Isa isa);

}  // namespace tanager::internal

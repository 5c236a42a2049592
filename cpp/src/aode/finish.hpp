// From sums over models to what the caller asked for.
#pragma once

#include <cstdint>
#include <span>

#include "aode/block.hpp"
#include "aode/plan.hpp"
#include "tanager/network_predictor.hpp"

namespace tanager::internal {

/// Writes the output of all rows of a block, [row][n_classes]. A row that is impossible under every class gets the
/// uniform posterior.
void finish_rows(const AodePlan& plan, const AodeBlock& block, Output output, double* out);

/// Writes the most probable class of every row; ties go to the lowest index.
void finish_classes(const AodePlan& plan, const AodeBlock& block, std::uint32_t* out);

/// Both for a block of one row.
std::uint32_t finish_row(const AodePlan& plan, const AodeBlock& block, Output output, double* out);

}  // namespace tanager::internal

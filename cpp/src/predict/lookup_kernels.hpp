// The hot loop of prediction: a block of rows, given feature by feature, to log-joints and posteriors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "predict/lookup_tables.hpp"
#include "simd/cpu.hpp"
#include "tanager/network_predictor.hpp"

namespace tanager::internal {

/// At most this many rows make a block; fewer when there are very many classes, so that a block's sums stay in cache.
inline constexpr std::size_t kMaxBlockRows = 256;
std::size_t block_rows(std::uint32_t padded_classes);

/// Writes ln P(class, row) of a block to `joint`, [rows][n_classes]. Sets incomplete[i] to a value other than zero
/// where row i has a code that is missing or unknown: its numbers are then meaningless. Uses the CPU up to `isa`.
void log_joint_block(const LookupTables& tables, std::span<const std::uint32_t> cardinalities,
                     std::span<const CodeColumn> columns, std::size_t first_row, std::size_t rows, double* joint,
                     std::uint8_t* incomplete, Isa isa);

/// Turns log-joints [rows][n_classes] into the output asked for, in place. A row that is impossible under every class
/// gets the uniform posterior.
void finish_block(double* joint, std::size_t rows, std::uint32_t n_classes, Output output, Isa isa);

}  // namespace tanager::internal

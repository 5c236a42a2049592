// How large the tables of averaged one-dependence estimators are, known before anything is allocated for them.
#pragma once

#include <cstdint>
#include <span>

namespace tanager::internal {

/// Cells of the tables of all ordered pairs; the largest number if there are too many to count.
std::uint64_t aode_pair_cells(std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes);

/// The same; throws InvalidInput, saying what they would need, if they are too large.
std::uint64_t checked_aode_pair_cells(std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes);

}  // namespace tanager::internal

// Directions for the edges of a skeleton. Nothing here depends on the order of variables but by `preference`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "constraint/skeleton.hpp"
#include "tanager/learn_constraint.hpp"

namespace tanager::internal {

/// Directs edges at colliders, then those that follow from them (Meek 1995). An edge that is told both directions, or
/// that would be part of a directed circle, gets none.
PartialDag directed_pattern(const Skeleton& skeleton);

/// Directs all that is left: again and again a node without children becomes the child of all its neighbors and is set
/// aside (Dor and Tarsi 1992), one that makes no new collider if there is such a node, the least preferred of these;
/// otherwise the one whose table has the fewest parameters. The parents of every node, in increasing order.
std::vector<std::vector<std::size_t>> directed_extension(PartialDag pattern, const std::vector<std::size_t>& preference,
                                                         const std::vector<std::uint32_t>& cardinalities);

}  // namespace tanager::internal

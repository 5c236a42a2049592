// The order in which nodes are taken out of a graph, so that few edges have to be added.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tanager::internal {

/// Takes all nodes out of a graph, given by the neighbors of every node in increasing order. Before a node goes, its
/// neighbors are all connected with each other; the next one is always a node that needs fewest such edges, then one
/// with fewest neighbors, then the lowest. `take(node, neighbors)` hears of every node and the neighbors it has left,
/// before edges are added.
void eliminate_by_min_fill(std::vector<std::vector<std::uint32_t>> neighbors,
                           const std::function<void(std::uint32_t, std::span<const std::uint32_t>)>& take);

}  // namespace tanager::internal

// Maximum spanning trees and forests of complete graphs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tanager::internal {

/// Edges of the maximum spanning forest, leaving out edges of negative weight; equal weights go to the lowest pair
/// index. `weights` has one entry per pair. O(n^2) time (Prim), O(n) memory.
std::vector<std::pair<std::size_t, std::size_t>> maximum_spanning_forest(std::size_t n,
                                                                         std::span<const double> weights);

/// Parent of every node once each tree is rooted at its first node, or at `root` where it has that one.
std::vector<std::optional<std::size_t>> root_forest(std::size_t n,
                                                    const std::vector<std::pair<std::size_t, std::size_t>>& edges,
                                                    std::optional<std::size_t> root);

}  // namespace tanager::internal

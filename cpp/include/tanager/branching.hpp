#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tanager {

/// Parent of every node in the spanning arborescence of greatest weight; the root has none. `weights[u * n + v]` is
/// that of the arc from u to v; those of u = v are ignored. Without a given root the best is taken, the lowest of
/// equally good ones; among arcs of equal weight into a node, the one from the lowest node is preferred. O(n^2) time
/// and memory. Throws InvalidInput if the root does not exist, or if a weight is not finite or above 1e300.
[[nodiscard]] std::vector<std::optional<std::size_t>> maximum_branching(std::size_t n, std::span<const double> weights,
                                                                        std::optional<std::size_t> root = {});

}  // namespace tanager

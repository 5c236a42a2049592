// Terms of features joined into few look-ups: four binary features of a tree's branch have 16 joint values, so that one
// look-up serves in place of four. Rows of tables are as long as vector registers like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tanager::internal {

/// A number of classes rounded up to what vector registers like: 1, 2, 4, then multiples of `lanes`.
constexpr std::uint32_t padded_classes(std::uint32_t n_classes, std::uint32_t lanes) {
  if (n_classes <= 2) return n_classes;
  if (n_classes <= 4) return 4;
  return (n_classes + lanes - 1) / lanes * lanes;
}

/// One look-up that serves several terms: their sums over all joint values of the features that they look at.
struct LookupGroup {
  struct Member {
    std::size_t feature;
    std::uint32_t stride;  ///< of the feature's code in the joint index
  };
  std::vector<std::size_t> terms;  ///< in their order
  std::vector<Member> members;     ///< the features that they look at
  std::uint32_t size = 1;          ///< number of joint values
  std::size_t offset = 0;          ///< of the group's first cell among those of all groups
};

/// Joins terms in their order while the joint values of a group number at most `max_size` and its members were fewer
/// than `max_members`. Term t looks at features_of(t).
template <class FeaturesOf>
std::vector<LookupGroup> join_lookups(std::span<const std::size_t> terms, std::span<const std::uint32_t> cardinalities,
                                      FeaturesOf features_of, std::uint64_t max_size,
                                      std::size_t max_members = std::numeric_limits<std::size_t>::max()) {
  std::vector<LookupGroup> groups;
  std::vector<std::size_t> last_group(cardinalities.size(), std::numeric_limits<std::size_t>::max());
  for (const std::size_t term : terms) {
    const auto& features = features_of(term);
    std::uint64_t growth = 1;  // by the features that the current group lacks
    for (const std::size_t f : features)
      if (groups.empty() || last_group[f] != groups.size() - 1) growth *= cardinalities[f];
    if (groups.empty() || groups.back().size * growth > max_size || groups.back().members.size() >= max_members)
      groups.emplace_back();
    LookupGroup& group = groups.back();
    group.terms.push_back(term);
    for (const std::size_t f : features) {
      if (last_group[f] == groups.size() - 1) continue;
      last_group[f] = groups.size() - 1;
      group.members.push_back({f, group.size});
      group.size *= cardinalities[f];
    }
  }
  return groups;
}

/// Places groups of tables one after the other; returns the number of cells of all.
inline std::size_t place_groups(std::span<LookupGroup> groups, std::size_t width) {
  std::size_t n_cells = 0;
  for (LookupGroup& group : groups) {
    group.offset = n_cells;
    n_cells += group.size * width;
  }
  return n_cells;
}

}  // namespace tanager::internal

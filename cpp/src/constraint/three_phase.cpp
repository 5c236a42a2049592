// The three-phase algorithm: drafting, thickening and thinning.
#include <algorithm>
#include <numeric>

#include "constraint/skeleton.hpp"
#include "support/parallel.hpp"

namespace tanager::internal {
namespace {

/// Pairs with their dependence given nothing.
struct Weighted {
  double strength = 0;
  Pair ends;
};

/// Calls use(group) for runs of pairs of equal strength.
template <class Use>
void for_each_group(std::vector<Weighted>& pairs, Use use) {
  for (auto first = pairs.begin(); first != pairs.end();) {
    const auto last =
        std::find_if(first, pairs.end(), [&](const Weighted& pair) { return pair.strength != first->strength; });
    use(std::span<const Weighted>(first, last));
    first = last;
  }
}

class ThreePhase {
 public:
  explicit ThreePhase(const SeparatorSearch& search)
      : search_(search), skeleton_(search.test.n_variables()), component_(search.test.n_variables()) {
    std::iota(component_.begin(), component_.end(), std::size_t{0});
  }

  Skeleton run() {
    std::vector<Weighted> pairs = dependent_pairs();
    std::vector<Weighted> left;
    for_each_group(pairs, [&](std::span<const Weighted> group) { draft(group, left); });
    for_each_group(left, [&](std::span<const Weighted> group) { thicken(group); });
    std::reverse(pairs.begin(), pairs.end());
    for_each_group(pairs, [&](std::span<const Weighted> group) { thin(group); });
    thin_by_neighbors(skeleton_, search_, 1, true);
    find_separators();
    return std::move(skeleton_);
  }

 private:
  /// Strongest first.
  std::vector<Weighted> dependent_pairs() {
    std::vector<Weighted> pairs;
    const std::size_t n = skeleton_.graph.n_nodes();
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = x + 1; y < n; ++y) {
        const double strength = search_.test(x, y, {});
        if (strength > search_.threshold)
          pairs.push_back({strength, {x, y}});
        else
          skeleton_.of(x, y).add({});
      }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Weighted& a, const Weighted& b) { return a.strength > b.strength; });
    return pairs;
  }

  /// Edges between parts of the graph that were not connected so far; equal ones may close circles.
  void draft(std::span<const Weighted> group, std::vector<Weighted>& left) {
    std::vector<Pair> chosen;
    for (const Weighted& pair : group) {
      if (component_[pair.ends.first] == component_[pair.ends.second])
        left.push_back(pair);
      else
        chosen.push_back(pair.ends);
    }
    for (const auto& [x, y] : chosen) {
      skeleton_.graph.connect(x, y);
      const std::size_t from = component_[y], to = component_[x];
      std::replace(component_.begin(), component_.end(), from, to);
    }
  }

  void thicken(std::span<const Weighted> group) {
    const std::vector<Separators> found = separate_group(group);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto& [x, y] = group[i].ends;
      if (found[i].empty())
        skeleton_.graph.connect(x, y);
      else
        skeleton_.of(x, y) = found[i];
    }
  }

  void thin(std::span<const Weighted> group) {
    std::vector<Weighted> edges;
    for (const Weighted& pair : group)
      if (skeleton_.graph.adjacent(pair.ends.first, pair.ends.second)) edges.push_back(pair);
    const std::vector<Separators> found = separate_group(edges);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (found[i].empty()) continue;
      const auto& [x, y] = edges[i].ends;
      skeleton_.graph.disconnect(x, y);
      skeleton_.of(x, y) = found[i];
    }
  }

  /// Sets that separate each pair, as far as shrinking finds some, by the graph as it is.
  std::vector<Separators> separate_group(std::span<const Weighted> group) {
    std::vector<Separators> found(group.size());
    parallel_for(group.size(), 1, search_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto& [x, y] = group[i].ends;
        shrink(group[i].ends, neighbors_towards(skeleton_.graph, x, y), found[i]);
        if (found[i].empty()) shrink(group[i].ends, neighbors_towards(skeleton_.graph, y, x), found[i]);
      }
    });
    return found;
  }

  /// Begins with all neighbors on paths to the other end and leaves out, again and again, the one that holds the two
  /// together most, as long as the dependence does not grow by it. Equal ones go at once.
  void shrink(const Pair& pair, std::vector<std::size_t> set, Separators& found) {
    if (set.empty() || set.size() > search_.max_conditioning) return;
    double strength = search_.test(pair.first, pair.second, set);
    if (strength <= search_.threshold) return found.add(set);
    while (set.size() > 1) {
      std::vector<double> without;
      for (std::size_t i = 0; i < set.size(); ++i) {
        std::vector<std::size_t> rest = set;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        without.push_back(search_.test(pair.first, pair.second, rest));
        if (without.back() <= search_.threshold) found.add(rest);
      }
      const double least = *std::min_element(without.begin(), without.end());
      if (!found.empty() || least > strength) return;
      std::vector<std::size_t> rest;
      for (std::size_t i = 0; i < set.size(); ++i)
        if (without[i] > least) rest.push_back(set[i]);
      if (rest.empty()) return;
      set = std::move(rest);
      strength = search_.test(pair.first, pair.second, set);
      if (strength <= search_.threshold) return found.add(set);
    }
  }

  /// The smallest sets of neighbors that separate pairs with a common neighbor: what directions are found by. Pairs
  /// that the final graph has no such sets for keep those they were taken apart by.
  void find_separators() {
    const PartialDag& graph = skeleton_.graph;
    const std::size_t n = graph.n_nodes();
    std::vector<Pair> pairs;
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = x + 1; y < n; ++y)
        if (!graph.adjacent(x, y) && have_common_neighbor(x, y)) pairs.emplace_back(x, y);
    parallel_for(pairs.size(), 1, search_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto& [x, y] = pairs[i];
        const auto first = neighbors_towards(graph, x, y), second = neighbors_towards(graph, y, x);
        const std::size_t most = std::min(search_.max_conditioning, std::max(first.size(), second.size()));
        Separators found;
        for (std::size_t size = 0; size <= most && found.empty(); ++size)
          found = search_.find(pairs[i], size, first, second);
        if (!found.empty()) skeleton_.of(x, y) = std::move(found);
      }
    });
  }

  bool have_common_neighbor(std::size_t x, std::size_t y) const {
    for (std::size_t z = 0; z < skeleton_.graph.n_nodes(); ++z)
      if (skeleton_.graph.adjacent(x, z) && skeleton_.graph.adjacent(y, z)) return true;
    return false;
  }

  const SeparatorSearch& search_;
  Skeleton skeleton_;
  std::vector<std::size_t> component_;
};

}  // namespace

Skeleton three_phase_skeleton(const SeparatorSearch& search) {
  return ThreePhase(search).run();
}

}  // namespace tanager::internal

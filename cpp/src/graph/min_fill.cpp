// Minimum fill-in (Rose 1972; Kjaerulff 1990). How many edges each node lacks is kept up to date with every edge that
// comes and every node that goes, so that a hub with thousands of neighbors costs no more than their number.
#include "graph/min_fill.hpp"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <tuple>
#include <utility>

namespace tanager::internal {
namespace {

using Nodes = std::vector<std::uint32_t>;

class Elimination {
 public:
  explicit Elimination(std::vector<Nodes> neighbors)
      : neighbors_(std::move(neighbors)), lacking_(neighbors_.size()), gone_(neighbors_.size(), false) {
    std::vector<bool> near(neighbors_.size(), false);
    for (std::uint32_t node = 0; node < neighbors_.size(); ++node) {
      for (const std::uint32_t u : neighbors_[node]) near[u] = true;
      std::int64_t twice = 0;  // the edges between neighbors, each seen from both ends
      for (const std::uint32_t u : neighbors_[node])
        for (const std::uint32_t w : neighbors_[u]) twice += near[w];
      for (const std::uint32_t u : neighbors_[node]) near[u] = false;
      const auto degree = static_cast<std::int64_t>(neighbors_[node].size());
      lacking_[node] = (degree * (degree - 1) - twice) / 2;
      push(node);
    }
  }

  bool next(std::uint32_t& node) {
    while (!queue_.empty()) {
      const auto [lacking, degree, top] = queue_.top();
      queue_.pop();
      if (gone_[top] || lacking != lacking_[top] || degree != neighbors_[top].size()) continue;  // out of date
      node = top;
      return true;
    }
    return false;
  }

  const Nodes& neighbors(std::uint32_t node) const { return neighbors_[node]; }

  void remove(std::uint32_t node) {
    const Nodes around = neighbors_[node];
    Nodes changed = around;
    if (lacking_[node] > 0)
      for (std::size_t i = 0; i < around.size(); ++i)
        for (std::size_t j = i + 1; j < around.size(); ++j) connect(around[i], around[j], changed);
    // All neighbors of the node know each other now: a neighbor u misses only edges from the node to its other ones.
    gone_[node] = true;
    for (const std::uint32_t u : around) {
      Nodes& list = neighbors_[u];
      lacking_[u] -= static_cast<std::int64_t>(list.size()) - static_cast<std::int64_t>(around.size());
      list.erase(std::lower_bound(list.begin(), list.end(), node));
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (const std::uint32_t u : changed)
      if (!gone_[u]) push(u);
  }

 private:
  void push(std::uint32_t node) { queue_.emplace(lacking_[node], neighbors_[node].size(), node); }

  void connect(std::uint32_t a, std::uint32_t b, Nodes& changed) {
    Nodes& of_a = neighbors_[a];
    Nodes& of_b = neighbors_[b];
    const auto at_b = std::lower_bound(of_a.begin(), of_a.end(), b);
    if (at_b != of_a.end() && *at_b == b) return;
    const std::size_t before = changed.size();
    std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(changed));
    for (std::size_t i = before; i < changed.size(); ++i) --lacking_[changed[i]];
    const auto common = static_cast<std::int64_t>(changed.size() - before);
    lacking_[a] += static_cast<std::int64_t>(of_a.size()) - common;
    lacking_[b] += static_cast<std::int64_t>(of_b.size()) - common;
    of_a.insert(at_b, b);
    of_b.insert(std::lower_bound(of_b.begin(), of_b.end(), a), a);
  }

  using Entry = std::tuple<std::int64_t, std::size_t, std::uint32_t>;  // edges lacking, neighbors, node

  std::vector<Nodes> neighbors_;
  std::vector<std::int64_t> lacking_;
  std::vector<bool> gone_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace

void eliminate_by_min_fill(std::vector<Nodes> neighbors,
                           const std::function<void(std::uint32_t, std::span<const std::uint32_t>)>& take) {
  Elimination elimination(std::move(neighbors));
  for (std::uint32_t node = 0; elimination.next(node);) {
    take(node, elimination.neighbors(node));
    elimination.remove(node);
  }
}

}  // namespace tanager::internal

#include "constraint/skeleton.hpp"

#include <algorithm>
#include <numeric>

#include "support/check_stop.hpp"
#include "support/parallel.hpp"

namespace tanager {

std::vector<std::size_t> PartialDag::neighbors(std::size_t u) const {
  std::vector<std::size_t> found;
  for (std::size_t v = 0; v < n_; ++v)
    if (adjacent(u, v)) found.push_back(v);
  return found;
}

}  // namespace tanager

namespace tanager::internal {
namespace {

/// Some hundred megabytes; what comes after is computed again when it is needed again.
constexpr std::size_t kMostRemembered = std::size_t{1} << 21;

/// Calls use(subset) for every subset of a size, in lexicographic order.
template <class Use>
void for_each_subset(const std::vector<std::size_t>& items, std::size_t size, Use use) {
  if (size > items.size()) return;
  std::vector<std::size_t> places(size), subset(size);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (;;) {
    for (std::size_t i = 0; i < size; ++i) subset[i] = items[places[i]];
    use(std::span<const std::size_t>(subset));
    std::size_t i = size;
    while (i > 0 && places[i - 1] == items.size() - size + i - 1) --i;
    if (i == 0) return;
    ++places[i - 1];
    for (; i < size; ++i) places[i] = places[i - 1] + 1;
  }
}

double n_subsets(std::size_t n_items, std::size_t size) {
  if (size > n_items) return 0;
  double product = 1;
  for (std::size_t i = 0; i < size; ++i)
    product = product * static_cast<double>(n_items - i) / static_cast<double>(i + 1);
  return product;
}

}  // namespace

TestCache::TestCache(std::size_t n_variables, Dependence dependence)
    : n_(n_variables), dependence_(std::move(dependence)), known_(n_ < 2 ? 0 : n_ * (n_ - 1) / 2) {}

double TestCache::operator()(std::size_t x, std::size_t y, std::span<const std::size_t> given) {
  if (given.empty()) return dependence_(x, y, given);
  auto& known = known_[pair_index(std::min(x, y), std::max(x, y), n_)];
  const auto key = SetKey::of(given);
  if (key)
    if (const double* found = known.find(*key)) return *found;
  check_stop();
  const double strength = dependence_(x, y, given);
  if (n_tests_++ < kMostRemembered && key) known.add(*key, strength);
  return strength;
}

void Separators::add(std::span<const std::size_t> set) {
  ++n_sets_;
  for (const std::size_t variable : set) {
    const auto known =
        std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member.first == variable; });
    if (known == members_.end())
      members_.emplace_back(variable, 1);
    else
      ++known->second;
  }
}

bool Separators::mostly_without(std::size_t variable) const {
  for (const auto& [member, times] : members_)
    if (member == variable) return 2 * times < n_sets_;
  return n_sets_ > 0;
}

Separators SeparatorSearch::find(const Pair& pair, std::size_t size, const std::vector<std::size_t>& first,
                                 const std::vector<std::size_t>& second) const {
  Separators found;
  for_each_subset(first, size, [&](std::span<const std::size_t> set) {
    if (separates(pair, set)) found.add(set);
  });
  for_each_subset(second, size, [&](std::span<const std::size_t> set) {
    if (!std::includes(first.begin(), first.end(), set.begin(), set.end()) && separates(pair, set)) found.add(set);
  });
  return found;
}

std::vector<std::size_t> neighbors_towards(const PartialDag& graph, std::size_t x, std::size_t y) {
  std::vector<bool> reached(graph.n_nodes(), false);
  std::vector<std::size_t> open{y};
  reached[y] = true;
  while (!open.empty()) {
    const std::size_t u = open.back();
    open.pop_back();
    for (const std::size_t v : graph.neighbors(u))
      if (v != x && !reached[v]) {
        reached[v] = true;
        open.push_back(v);
      }
  }
  std::vector<std::size_t> found;
  for (const std::size_t v : graph.neighbors(x))
    if (v != y && reached[v]) found.push_back(v);
  return found;
}

void thin_by_neighbors(Skeleton& skeleton, const SeparatorSearch& search, std::size_t first_size, bool towards) {
  PartialDag& graph = skeleton.graph;
  const std::size_t n = graph.n_nodes();
  const auto candidates = [&](std::size_t x, std::size_t y) {
    if (towards) return neighbors_towards(graph, x, y);
    std::vector<std::size_t> others = graph.neighbors(x);
    std::erase(others, y);
    return others;
  };
  for (std::size_t size = first_size; size <= search.max_conditioning; ++size) {
    struct Edge {
      Pair ends;
      std::vector<std::size_t> first, second;
      Separators found;
    };
    std::vector<Edge> edges;
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = x + 1; y < n; ++y) {
        if (!graph.adjacent(x, y)) continue;
        if (size == 0) {
          edges.push_back({{x, y}, {}, {}, {}});
          continue;
        }
        Edge edge{{x, y}, candidates(x, y), candidates(y, x), {}};
        if (std::max(edge.first.size(), edge.second.size()) >= size) edges.push_back(std::move(edge));
      }
    if (edges.empty()) return;
    double n_sets = 0;
    for (const Edge& edge : edges) n_sets += n_subsets(edge.first.size(), size) + n_subsets(edge.second.size(), size);
    if (n_sets > search.max_sets) throw TooDense("the graph has too many edges to test them by sets of neighbors");
    parallel_for(edges.size(), size == 0 ? 1024 : 1, search.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        edges[i].found = search.find(edges[i].ends, size, edges[i].first, edges[i].second);
    });
    for (Edge& edge : edges) {
      if (edge.found.empty()) continue;
      graph.disconnect(edge.ends.first, edge.ends.second);
      skeleton.of(edge.ends.first, edge.ends.second) = std::move(edge.found);
    }
  }
}

Skeleton pc_skeleton(const SeparatorSearch& search) {
  const std::size_t n = search.test.n_variables();
  Skeleton skeleton(n);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = x + 1; y < n; ++y) skeleton.graph.connect(x, y);
  thin_by_neighbors(skeleton, search, 0, false);
  return skeleton;
}

}  // namespace tanager::internal

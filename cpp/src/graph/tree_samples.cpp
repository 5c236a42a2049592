// Exact samples of spanning trees, by undoing an elimination. An edge of the graph without node k is an edge of the
// graph with it, or stands for two edges by way of k. Given a tree of the smaller graph, decide for every edge which it
// is; the edges by way of k fall away and leave groups of nodes, and k is tied to one node of every group, each with
// the probability of its weight to k in the group. Summing over what leads to the same tree gives the product of its
// weights (the trees on the groups sum to a power of the sum of k's weights, by Cayley's formula).
#include <algorithm>
#include <memory>
#include <numeric>

#include "graph/elimination.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace tanager {

using namespace internal;

namespace {

constexpr std::size_t kNoStep = static_cast<std::size_t>(-1);
constexpr std::size_t kTreesPerTask = 16;

}  // namespace

/// Nodes are numbered in the joining order here, so that node k is eliminated when only those below it are left.
class TreeSampler::Undoing {
 public:
  explicit Undoing(const EdgeWeights& weights) : weights_(weights), order_(connected_order(weights).nodes) {
    const std::size_t n = order_.size();
    rows_.resize(n);
    sums_.resize(n, kScaledZero);
    ReducedGraph graph(weights, order_);
    for (std::size_t k = n; k-- > 1;) rows_[k] = graph.eliminate_last(sums_[k]);
  }

  std::size_t n_nodes() const { return order_.size(); }

  std::vector<Edge> draw(Random& random) const {
    const std::size_t n = order_.size();
    std::vector<TiedEdge> tree;
    std::vector<std::size_t> group(n);
    for (std::size_t k = 1; k < n; ++k) {
      const auto by_way = std::partition(tree.begin(), tree.end(), [&](const TiedEdge& e) { return e.step != k; });
      tree.erase(by_way, tree.end());
      const std::size_t n_groups = find_groups(tree, k, group);
      for (std::size_t g = 0; g < n_groups; ++g) {
        const std::size_t to = choose_member(k, g, group, random);
        tree.push_back({to, k, choose_step(to, k, random)});
      }
    }
    std::vector<Edge> edges;
    for (const TiedEdge& edge : tree) {
      const std::size_t u = order_[edge.low], v = order_[edge.high];
      edges.emplace_back(std::min(u, v), std::max(u, v));
    }
    std::sort(edges.begin(), edges.end());
    return edges;
  }

 private:
  /// An edge of the graph of the first nodes, and the node above them by way of which it goes, if any.
  struct TiedEdge {
    std::size_t low, high, step;
  };

  /// Numbers the groups that edges make of the first k nodes; returns how many there are.
  static std::size_t find_groups(const std::vector<TiedEdge>& edges, std::size_t k, std::vector<std::size_t>& group) {
    std::iota(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(k), std::size_t{0});
    const auto find = [&](std::size_t v) {
      while (group[v] != v) v = group[v] = group[group[v]];
      return v;
    };
    for (const TiedEdge& edge : edges) {
      const std::size_t a = find(edge.low), b = find(edge.high);
      group[std::max(a, b)] = std::min(a, b);
    }
    // Every group's lowest node is its root, so that going upwards each is numbered before its members.
    std::size_t n_groups = 0;
    std::vector<std::size_t> number(k);
    for (std::size_t v = 0; v < k; ++v) {
      const std::size_t root = find(v);
      number[v] = root == v ? n_groups++ : number[root];
    }
    std::copy(number.begin(), number.end(), group.begin());
    return n_groups;
  }

  std::size_t choose_member(std::size_t k, std::size_t g, const std::vector<std::size_t>& group, Random& random) const {
    std::size_t heaviest = k;
    for (std::size_t i = 0; i < k; ++i)
      if (group[i] == g && (heaviest == k || rows_[k][heaviest] < rows_[k][i])) heaviest = i;
    // The group may be so far away that its weights would vanish beside those of others.
    const auto share = [&](std::size_t i) { return ratio(rows_[k][i], rows_[k][heaviest]); };
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i)
      if (group[i] == g) sum += share(i);
    double left = random.uniform() * sum;
    std::size_t chosen = heaviest;
    for (std::size_t i = 0; i < k; ++i) {
      if (group[i] != g || !(share(i) > 0)) continue;
      chosen = i;
      left -= share(i);
      if (left < 0) break;
    }
    return chosen;
  }

  /// By way of which node above k an edge to it goes, with the probability of that part of its weight.
  std::size_t choose_step(std::size_t i, std::size_t k, Random& random) const {
    const Scaled total = rows_[k][i];
    double left = random.uniform() - ratio(weights_(order_[i], order_[k]), total);
    if (left < 0) return kNoStep;
    std::size_t chosen = kNoStep;
    for (std::size_t m = k + 1; m < order_.size(); ++m) {
      const Scaled a = rows_[m][i], b = rows_[m][k];
      if (a.mantissa == 0 || b.mantissa == 0) continue;
      const double share = ratio(a * b, sums_[m] * total);
      if (!(share > 0)) continue;
      chosen = m;
      left -= share;
      if (left < 0) break;
    }
    return chosen;
  }

  EdgeWeights weights_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<Scaled>> rows_;  // by node: its weights to all below, when it was eliminated
  std::vector<Scaled> sums_;
};

TreeSampler::TreeSampler(const EdgeWeights& weights) : undoing_(std::make_unique<const Undoing>(weights)) {}
TreeSampler::~TreeSampler() = default;
TreeSampler::TreeSampler(TreeSampler&&) noexcept = default;
TreeSampler& TreeSampler::operator=(TreeSampler&&) noexcept = default;

std::size_t TreeSampler::n_nodes() const {
  return undoing_->n_nodes();
}

std::vector<std::vector<Edge>> TreeSampler::draw(std::size_t first, std::size_t n_trees, std::uint64_t seed,
                                                 int threads) const {
  std::vector<std::vector<Edge>> trees(n_trees);
  parallel_for(n_trees, kTreesPerTask, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Random random(seed, first + i);
      trees[i] = undoing_->draw(random);
    }
  });
  return trees;
}

std::vector<std::vector<Edge>> sample_trees(const EdgeWeights& weights, std::size_t n_trees, std::uint64_t seed,
                                            int threads) {
  return TreeSampler(weights).draw(0, n_trees, seed, threads);
}

}  // namespace tanager

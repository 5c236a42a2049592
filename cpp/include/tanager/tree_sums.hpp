#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tanager {

/// mantissa * 2^exponent: a number of any magnitude, zero included.
struct Scaled {
  double mantissa = 0;
  std::int64_t exponent = 0;

  /// The natural logarithm; minus infinity for zero.
  [[nodiscard]] double log() const;
};

/// Maximum exponent of a weight: small enough for products over all edges of any tree.
inline constexpr std::int64_t kMaxWeightExponent = std::int64_t{1} << 40;

/// Weights of the edges of a graph of n nodes; zero means no edge. Several threads may read them at once while none
/// changes them.
class EdgeWeights {
 public:
  /// No edges yet. Throws InvalidInput if there is no node.
  explicit EdgeWeights(std::size_t n_nodes);
  /// `logs[u * n + v]` is the natural logarithm of a weight, minus infinity for no edge; only u < v is read.
  /// Throws InvalidInput if one is NaN, plus infinity or beyond kMaxWeightExponent.
  [[nodiscard]] static EdgeWeights from_logs(std::size_t n_nodes, std::span<const double> logs);

  [[nodiscard]] std::size_t n_nodes() const { return n_nodes_; }
  /// Throws InvalidInput if the nodes are not two different ones of the graph, or the weight is negative, not finite,
  /// or beyond kMaxWeightExponent.
  void set(std::size_t u, std::size_t v, Scaled weight);
  /// Normalized: the mantissa is zero or in [1, 2).
  [[nodiscard]] Scaled operator()(std::size_t u, std::size_t v) const { return weights_[u * n_nodes_ + v]; }

 private:
  std::size_t n_nodes_;
  std::vector<Scaled> weights_;  // [u][v], symmetric
};

using Edge = std::pair<std::size_t, std::size_t>;

/// Sum over all spanning trees of the product of their edges' weights (Kirchhoff), by elimination without subtraction
/// (Grassmann, Taksar and Heyman): accurate to a few units in the last place for any weights. Zero if the edges do
/// not connect all nodes; one for a single node. O(n^3).
[[nodiscard]] Scaled tree_sum(const EdgeWeights& weights);

/// The distribution of a tree whose probability is proportional to the product of its weights.
struct TreeDistribution {
  /// ln of the sum over all trees.
  double log_sum = 0;
  /// The most probable tree, edges (u, v) with u < v in increasing order; equal weights go to the lowest pair.
  std::vector<Edge> best_tree;
  /// ln of its probability, exact even where that is close to one.
  double log_best_probability = 0;
};

/// Throws InvalidInput if the edges do not connect all nodes; so do the following.
[[nodiscard]] TreeDistribution tree_distribution(const EdgeWeights& weights);

/// Probability that each edge is in the tree, [u][v], symmetric; they sum to n - 1 over u < v. O(n^3).
[[nodiscard]] std::vector<double> edge_probabilities(const EdgeWeights& weights, int threads = 1);

/// Entropy of the tree, in nats, with an absolute error of a few units in the last place of its terms.
[[nodiscard]] double tree_entropy(const EdgeWeights& weights, int threads = 1);

/// Draws trees independently and exactly, each as n - 1 edges (u, v) with u < v in increasing order. Making one takes
/// O(n^3), and a tree about O(n^2), for any weights (a random walk may take arbitrarily long). Immutable and safe to
/// share between threads.
class TreeSampler {
 public:
  explicit TreeSampler(const EdgeWeights& weights);
  ~TreeSampler();
  TreeSampler(TreeSampler&&) noexcept;
  TreeSampler& operator=(TreeSampler&&) noexcept;

  [[nodiscard]] std::size_t n_nodes() const;
  /// Trees first, first + 1, ...: tree i depends on the seed and on i alone.
  [[nodiscard]] std::vector<std::vector<Edge>> draw(std::size_t first, std::size_t n_trees, std::uint64_t seed,
                                                    int threads = 1) const;

 private:
  class Undoing;
  std::unique_ptr<const Undoing> undoing_;
};

/// The first trees of a TreeSampler.
[[nodiscard]] std::vector<std::vector<Edge>> sample_trees(const EdgeWeights& weights, std::size_t n_trees,
                                                          std::uint64_t seed, int threads = 1);

}  // namespace tanager

// Sums over spanning trees, edge probabilities, entropy, best trees and samples: against determinants in whole numbers
// of any length, and against all trees one by one, for weights as far apart as exponents go.
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "fuzz.hpp"
#include "tanager/errors.hpp"
#include "tanager/tree_sums.hpp"
#include "trees.hpp"

const int fuzz::kShortRuns = 6000;
const std::size_t fuzz::kMaxLength = 256;

namespace {

using namespace tanager;

/// Whole numbers modulo 2^(32 * limbs), lowest limb first: exact wherever the true result is not negative and below
/// that.
class Whole {
 public:
  explicit Whole(std::size_t limbs, std::uint32_t value = 0, std::size_t shift = 0) : limbs_(limbs, 0) {
    const std::uint64_t moved = std::uint64_t{value} << shift % 32;
    limbs_[shift / 32] = static_cast<std::uint32_t>(moved);
    if (shift / 32 + 1 < limbs) limbs_[shift / 32 + 1] = static_cast<std::uint32_t>(moved >> 32);
  }

  Whole& operator+=(const Whole& other) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      carry += std::uint64_t{limbs_[i]} + other.limbs_[i];
      limbs_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return *this;
  }
  Whole negative() const {
    Whole result(*this);
    for (std::uint32_t& limb : result.limbs_) limb = ~limb;
    return result += Whole(limbs_.size(), 1);
  }
  Whole operator*(const Whole& other) const {
    Whole result(limbs_.size());
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      if (limbs_[i] == 0) continue;
      std::uint64_t carry = 0;
      for (std::size_t j = 0; i + j < limbs_.size(); ++j) {
        carry += std::uint64_t{limbs_[i]} * other.limbs_[j] + result.limbs_[i + j];
        result.limbs_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    return result;
  }

  /// As mantissa * 2^exponent, cut off after at least 64 bits.
  Scaled scaled() const {
    std::size_t top = limbs_.size();
    while (top > 0 && limbs_[top - 1] == 0) --top;
    long double mantissa = 0;
    for (std::size_t i = 0; i < 3; ++i) mantissa = mantissa * 0x1p32L + (top > i ? limbs_[top - 1 - i] : 0U);
    const Scaled result{static_cast<double>(mantissa), 32 * (static_cast<std::int64_t>(top) - 3)};
    return result;
  }

 private:
  std::vector<std::uint32_t> limbs_;
};

using Matrix = std::vector<std::vector<Whole>>;

/// The determinant without any division (Bird 2011).
Whole determinant(const Matrix& matrix, std::size_t limbs) {
  const std::size_t n = matrix.size();
  if (n == 0) return Whole(limbs, 1);
  Matrix power = matrix;
  for (std::size_t step = 1; step < n; ++step) {
    Whole below(limbs);
    for (std::size_t i = n; i-- > 0;) {
      const Whole diagonal = power[i][i];
      power[i][i] = below.negative();
      for (std::size_t j = 0; j < i; ++j) power[i][j] = Whole(limbs);
      below += diagonal;
    }
    Matrix next(n, std::vector<Whole>(n, Whole(limbs)));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = i; k < n; ++k) next[i][j] += power[i][k] * matrix[k][j];
    power = std::move(next);
  }
  return n % 2 == 1 ? power[0][0] : power[0][0].negative();
}

/// A graph whose weights are whole numbers times powers of two.
struct Graph {
  std::size_t n;
  std::vector<std::uint32_t> mantissas;  // [u][v], symmetric; zero where there is no edge
  std::vector<std::int64_t> exponents;

  EdgeWeights weights() const {
    EdgeWeights result(n);
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v)
        result.set(u, v, {static_cast<double>(mantissas[u * n + v]), exponents[u * n + v]});
    return result;
  }

  bool connected() const {
    std::vector<bool> reached(n, false);
    std::vector<std::size_t> open{0};
    reached[0] = true;
    std::size_t count = 1;
    while (!open.empty()) {
      const std::size_t u = open.back();
      open.pop_back();
      for (std::size_t v = 0; v < n; ++v) {
        if (reached[v] || mantissas[u * n + v] == 0) continue;
        reached[v] = true;
        ++count;
        open.push_back(v);
      }
    }
    return count == n;
  }
};

/// Exponents lie at most `spread` above `base`.
Graph read_graph(fuzz::Input& input, std::size_t n, std::uint64_t spread, std::int64_t base) {
  Graph graph{n, std::vector<std::uint32_t>(n * n, 0), std::vector<std::int64_t>(n * n, 0)};
  const bool sparse = input.flag(), small = input.flag();
  std::mt19937_64 random = input.random();
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      auto mantissa = static_cast<std::uint32_t>(small ? 1 + random() % 3 : random() | 1);
      if (sparse && random() % 3 == 0) mantissa = 0;
      graph.mantissas[u * n + v] = graph.mantissas[v * n + u] = mantissa;
      graph.exponents[u * n + v] = graph.exponents[v * n + u] =
          base + static_cast<std::int64_t>(random() % (spread + 1));
    }
  for (std::size_t changes = input.size(0, 6); n > 1 && changes > 0; --changes) {  // single edges, byte by byte
    const std::size_t u = input.size(1, n - 1), v = input.size(0, u - 1);
    graph.mantissas[u * n + v] = graph.mantissas[v * n + u] = static_cast<std::uint32_t>(input.number(0, 255));
    graph.exponents[u * n + v] = graph.exponents[v * n + u] = base + static_cast<std::int64_t>(input.number(0, spread));
  }
  return graph;
}

/// Relative error of two numbers of any magnitude.
void require_close(Scaled got, Scaled expected, double tolerance, const std::string& what) {
  if (got.mantissa == 0 || expected.mantissa == 0) {
    fuzz::require(got.mantissa == 0 && expected.mantissa == 0, what + ": one is zero, the other is not");
    return;
  }
  const double ratio =
      std::ldexp(got.mantissa / expected.mantissa,
                 static_cast<int>(std::clamp<std::int64_t>(got.exponent - expected.exponent, -2000, 2000)));
  fuzz::require_near(ratio, 1.0, tolerance, what + " as a ratio");
}

Whole exact_sum(const Graph& graph, std::int64_t base, std::size_t limbs) {
  const std::size_t n = graph.n;
  Matrix laplacian(n - 1, std::vector<Whole>(n - 1, Whole(limbs)));
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      const Whole weight(limbs, graph.mantissas[u * n + v],
                         static_cast<std::size_t>(graph.exponents[u * n + v] - base));
      if (u > 0) {
        laplacian[u - 1][u - 1] += weight;
        laplacian[u - 1][v - 1] += weight.negative();
        laplacian[v - 1][u - 1] += weight.negative();
      }
      laplacian[v - 1][v - 1] += weight;
    }
  return determinant(laplacian, limbs);
}

/// Against determinants.
void check_exactly(fuzz::Input& input) {
  const std::size_t n = input.choose<std::size_t>({1, 2, 3, 4, 4, 5, 5, 5, 6, 7, 8});
  const std::uint64_t spread = n > 5 ? input.choose<std::uint64_t>({0, 20}) : input.choose<std::uint64_t>({0, 20, 100});
  const std::int64_t base = input.choose<std::int64_t>({0, -1074, 1000, 1'000'000'000, -(std::int64_t{1} << 39)});
  Graph graph = read_graph(input, n, spread, base);
  // Weights below 2^(spread + 32), at most n of them in an entry, n - 1 entries in a product, and a bit to spare.
  const std::size_t limbs = (n - 1) * (spread + 32 + 4) / 32 + 2;
  const Whole total = exact_sum(graph, base, limbs);
  Scaled expected = total.scaled();
  expected.exponent += static_cast<std::int64_t>(n - 1) * base;
  const EdgeWeights weights = graph.weights();
  require_close(tree_sum(weights), expected, 1e-14 * static_cast<double>(n), "tree sum");
  if (!graph.connected() || n < 2) return;
  const auto probabilities = edge_probabilities(weights, input.choose<int>({1, 1, 2}));
  const std::size_t u = input.size(1, n - 1), v = input.size(0, u - 1);
  graph.mantissas[u * n + v] = graph.mantissas[v * n + u] = 0;
  Whole with_edge = exact_sum(graph, base, limbs).negative();
  with_edge += total;
  const Scaled numerator = with_edge.scaled(), denominator = total.scaled();
  const double ratio = std::ldexp(numerator.mantissa / denominator.mantissa,
                                  static_cast<int>(numerator.exponent - denominator.exponent));
  fuzz::require_near(probabilities[u * n + v], ratio, 1e-13, "edge probability");
}

/// Everything that can be said of few nodes, from all trees.
struct AllTrees {
  Scaled sum;
  long double log_sum = 0, entropy = 0, rest = 0;  ///< rest: of the probability, without the best tree
  std::vector<long double> edges;                  // [u][v]
  std::vector<Edge> best;

  explicit AllTrees(const Graph& graph) : edges(graph.n * graph.n, 0.0L) {
    static std::map<std::size_t, std::vector<std::vector<Edge>>> known;
    const std::size_t n = graph.n;
    auto& trees = known[n];
    if (trees.empty()) trees = reference::all_trees(n);
    struct Product {
      long double mantissa;
      std::int64_t exponent;
    };
    std::vector<Product> products;
    std::int64_t highest = std::numeric_limits<std::int64_t>::min();
    for (const auto& tree : trees) {
      Product product{1, 0};
      for (const auto& [u, v] : tree) {
        int own = 0;
        product.mantissa = std::frexp(product.mantissa * graph.mantissas[u * n + v], &own);
        product.exponent += own + graph.exponents[u * n + v];
      }
      products.push_back(product);
      if (product.mantissa > 0) highest = std::max(highest, product.exponent);
    }
    long double total = 0;
    for (Product& product : products) {
      const std::int64_t below = product.exponent - highest;
      product.mantissa =
          product.mantissa == 0 || below < -16'000 ? 0 : std::ldexp(product.mantissa, static_cast<int>(below));
      total += product.mantissa;
    }
    sum = {static_cast<double>(total), total > 0 ? highest : 0};
    log_sum = std::log(total) + static_cast<long double>(highest) * std::log(2.0L);
    std::size_t first = 0;
    for (std::size_t t = 0; t < trees.size(); ++t) {
      if (products[t].mantissa > products[first].mantissa) first = t;
      for (const auto& [u, v] : trees[t]) edges[u * n + v] += products[t].mantissa / total;
    }
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const long double p = products[t].mantissa / total;
      if (t != first) rest += p;
      if (t != first && p > 0) entropy -= p * std::log(p);
    }
    entropy -= (1 - rest) * std::log1p(-rest);
    best = trees[first];
  }
};

/// The tree that Kruskal's algorithm finds: greatest weights first, the lowest pair of equal ones.
std::vector<Edge> greatest_tree(const Graph& graph) {
  const std::size_t n = graph.n;
  const auto key = [&](const Edge& edge) {
    int own = 0;
    const double mantissa = std::frexp(static_cast<double>(graph.mantissas[edge.first * n + edge.second]), &own);
    return std::pair(graph.exponents[edge.first * n + edge.second] + own, mantissa);
  };
  std::vector<Edge> edges;
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v)
      if (graph.mantissas[u * n + v] > 0) edges.emplace_back(u, v);
  std::stable_sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) { return key(a) > key(b); });
  std::vector<std::size_t> part(n);
  std::iota(part.begin(), part.end(), std::size_t{0});
  std::vector<Edge> tree;
  for (const auto& [u, v] : edges) {
    if (part[u] == part[v]) continue;
    tree.emplace_back(u, v);
    const std::size_t from = part[v], to = part[u];
    std::replace(part.begin(), part.end(), from, to);
  }
  std::sort(tree.begin(), tree.end());
  return tree;
}

void require_spanning_tree(const Graph& graph, const std::vector<Edge>& tree) {
  fuzz::require_same(tree.size(), graph.n - 1, "edges of a tree");
  fuzz::require(std::is_sorted(tree.begin(), tree.end()), "edges of a tree are in order");
  Graph own{graph.n, std::vector<std::uint32_t>(graph.n * graph.n, 0), graph.exponents};
  for (const auto& [u, v] : tree) {
    fuzz::require(u < v && v < graph.n && graph.mantissas[u * graph.n + v] > 0, "a tree of edges of the graph");
    own.mantissas[u * graph.n + v] = own.mantissas[v * graph.n + u] = 1;
  }
  fuzz::require(own.connected(), "a tree spans all nodes");
}

void check_samples(fuzz::Input& input, const Graph& graph, const EdgeWeights& weights, const AllTrees* all) {
  const std::size_t n_trees = input.size(0, 6);
  const std::uint64_t seed = input.number(0, 255);
  const TreeSampler sampler(weights);
  const auto trees = sampler.draw(0, n_trees, seed);
  fuzz::require_same(trees.size(), n_trees, "number of trees");
  for (const auto& tree : trees) {
    require_spanning_tree(graph, tree);
    if (all != nullptr && all->rest < 1e-12L) fuzz::require(tree == all->best, "a tree of no probability was drawn");
  }
  fuzz::require(sample_trees(weights, n_trees, seed, 2) == trees, "samples depend on the number of threads");
  if (n_trees > 1)
    fuzz::require(sampler.draw(1, 1, seed) == std::vector<std::vector<Edge>>{trees[1]}, "a tree depends on its number");
}

/// All of it, by all trees if there are few nodes, and what must hold of any graph otherwise.
void check_distribution(fuzz::Input& input) {
  const std::size_t n = input.choose<std::size_t>(
      {1, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 6, 6, input.size(7, 10), input.size(7, 32)});
  const std::uint64_t spread = input.choose<std::uint64_t>({0, 2, 60, 1100, 5000, std::uint64_t{1} << 35});
  const std::int64_t base = input.choose<std::int64_t>({0, -60, 1'000'000, -(std::int64_t{1} << 39)});
  const Graph graph = read_graph(input, n, spread, base);
  const EdgeWeights weights = graph.weights();
  const Scaled sum = tree_sum(weights);
  if (!graph.connected()) {
    fuzz::require_same(sum.mantissa, 0.0, "sum over no tree");
    const auto rejects = [&](auto act) {
      try {
        act();
      } catch (const InvalidInput&) {
        return;
      }
      fuzz::fail("a graph without trees is accepted");
    };
    rejects([&] { static_cast<void>(tree_distribution(weights)); });
    rejects([&] { static_cast<void>(edge_probabilities(weights)); });
    rejects([&] { static_cast<void>(tree_entropy(weights)); });
    rejects([&] { static_cast<void>(sample_trees(weights, 1, 1)); });
    return;
  }
  const int threads = input.choose<int>({1, 1, 2});
  const TreeDistribution trees = tree_distribution(weights);
  const auto edges = edge_probabilities(weights, threads);
  const double entropy = tree_entropy(weights, threads);
  require_spanning_tree(graph, trees.best_tree);
  fuzz::require(trees.best_tree == greatest_tree(graph), "the best tree");
  double edges_sum = 0;
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      fuzz::require_same(edges[u * n + v], edges[v * n + u], "symmetric edge probability");
      fuzz::require(edges[u * n + v] >= 0 && edges[u * n + v] <= 1, "edge probability in range");
      fuzz::require(graph.mantissas[u * n + v] > 0 || edges[u * n + v] == 0, "an edge that is not there");
      edges_sum += edges[u * n + v];
    }
  fuzz::require_near(edges_sum, static_cast<double>(n - 1), 1e-12, "sum of edge probabilities");
  fuzz::require(entropy >= 0 && trees.log_best_probability <= 0, "entropy and best probability in range");
  if (n > 6) return check_samples(input, graph, weights, nullptr);

  const AllTrees all(graph);
  require_close(sum, all.sum, 1e-13, "tree sum");
  fuzz::require_near(trees.log_sum, static_cast<double>(all.log_sum), 1e-13, "log of the tree sum");
  fuzz::require_near(trees.log_best_probability, static_cast<double>(std::log1p(-all.rest)), 1e-12, "best tree's log");
  fuzz::require_near(entropy, static_cast<double>(all.entropy), 1e-12, "entropy");
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v)
      fuzz::require_near(edges[u * n + v], static_cast<double>(all.edges[u * n + v]), 1e-13, "edge probability");
  check_samples(input, graph, weights, &all);
}

/// Weights from logarithms, and weights that are rejected.
void check_weights(fuzz::Input& input) {
  const std::size_t n = input.size(2, 4);
  std::vector<double> logs(n * n, 0.0);
  for (double& log : logs)
    log = (2 * input.unit() - 1) * input.choose({1.0, 700.0, 1e5, 1e9}) -
          (input.flag() && input.flag() ? 1e300 * 1e300 : 0);
  const EdgeWeights weights = EdgeWeights::from_logs(n, logs);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      fuzz::require_near(weights(u, v).log(), logs[u * n + v], 1e-15, "logarithm of a weight");
      fuzz::require(weights(u, v).mantissa == 0 || (weights(u, v).mantissa >= 1 && weights(u, v).mantissa < 2),
                    "a weight is normalized");
    }
  EdgeWeights other(n);
  const double mantissa = input.choose({5e-324, 1e-310, 1.0, 1.7e308, 0.0, -1.0, std::nan("")});
  const std::int64_t exponent = input.choose<std::int64_t>(
      {0, 60, -60, kMaxWeightExponent, -kMaxWeightExponent, kMaxWeightExponent + 2000, -kMaxWeightExponent - 2000,
       std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
  const std::size_t u = input.size(0, n), v = input.size(0, n);
  try {
    other.set(u, v, {mantissa, exponent});
  } catch (const InvalidInput&) {
    fuzz::require(u == v || u >= n || v >= n || !(mantissa >= 0) || exponent > kMaxWeightExponent - 1100 ||
                      exponent < 1100 - kMaxWeightExponent,
                  "a weight in range is rejected");
    return;
  }
  fuzz::require(u != v && u < n && v < n && mantissa >= 0, "a weight that is none is accepted");
  if (mantissa > 0 && exponent == 0) fuzz::require_near(other(u, v).log(), std::log(mantissa), 1e-15, "weight");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const std::size_t part = input.size(0, 7);
  if (part < 3) check_exactly(input);
  if (part >= 3 && part < 7) check_distribution(input);
  if (part == 7) check_weights(input);
  return 0;
}

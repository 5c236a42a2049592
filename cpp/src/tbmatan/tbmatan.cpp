// Learning the average over all TANs: the weight of every edge, from the counts of pairs (equations 20 to 29).
#include "tanager/tbmatan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "graph/elimination.hpp"
#include "graph/spanning_tree.hpp"
#include "model/distributions.hpp"
#include "parameters/class_prior.hpp"
#include "support/pairs.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tbmatan/pairs.hpp"
#include "tbmatan/rising_factorial.hpp"

namespace tanager {

using namespace internal;

namespace {

// Beyond these, quotients of counts and shares of the prior leave the range of doubles.
constexpr double kLeastSampleSize = 1e-120, kMostSampleSize = 1e120;

constexpr std::uint64_t kMostAssignments = std::uint64_t{1} << 22;
constexpr std::uint32_t kMostTrees = 100000;

void check(const CountSet& counts, const TbmatanOptions& options) {
  const std::size_t n = counts.n_features();
  if (n == 0) throw InvalidInput("an average over trees needs at least one feature, but there is none");
  check_cardinalities(counts.cardinalities(), counts.n_classes());
  if (n > 1 && counts.scope() != CountScope::kPairs)
    throw InvalidInput("an average over trees needs counts of all pairs of features, but these are of single ones");
  const double size = options.equivalent_sample_size;
  if (!(size >= kLeastSampleSize && size <= kMostSampleSize))
    throw InvalidInput(join_text("equivalent_sample_size: expected a number from ", kLeastSampleSize, " to ",
                                 kMostSampleSize, ", got ", size));
  if (options.stubbornness && !(*options.stubbornness > 0 && *options.stubbornness <= 300))
    throw InvalidInput(join_text("stubbornness: expected a number > 0 and <= 300, got ", *options.stubbornness));
  if (options.max_assignments == 0 || options.max_assignments > kMostAssignments)
    throw InvalidInput(join_text("max_assignments: expected an integer from 1 to ", kMostAssignments, ", got ",
                                 options.max_assignments));
  if (options.n_trees == 0 || options.n_trees > kMostTrees)
    throw InvalidInput(join_text("n_trees: expected an integer from 1 to ", kMostTrees, ", got ", options.n_trees));
  if (options.edge_beliefs.empty()) return;
  if (options.edge_beliefs.size() != n * n)
    throw InvalidInput(
        join_text("edge_beliefs: expected a matrix of ", n, " x ", n, " numbers, got ", options.edge_beliefs.size()));
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < u; ++v) {
      const double belief = options.edge_beliefs[u * n + v];
      if (!(belief >= 0) || std::isinf(belief))
        throw InvalidInput(
            join_text("edge_beliefs: expected finite numbers >= 0, got ", belief, " for edge (", u, ", ", v, ")"));
      if (belief != options.edge_beliefs[v * n + u])
        throw InvalidInput(join_text("edge_beliefs: expected a symmetric matrix, got ", belief, " for edge (", u, ", ",
                                     v, ") and ", options.edge_beliefs[v * n + u], " for (", v, ", ", u, ")"));
    }
}

/// One table of rising factorials for every number of cells that the prior is spread over.
class RisingTables {
 public:
  RisingTables(const CountSet& counts, double size) {
    std::map<double, double> largest;  // count, by number of cells
    const auto note = [&](double n_cells, std::span<const double> cells) {
      double& known = largest[n_cells];
      for (const double count : cells) known = std::max(known, count);
    };
    const double n_classes = counts.n_classes();
    for (std::size_t u = 0; u < counts.n_features(); ++u)
      for (std::size_t v = u + 1; v < counts.n_features(); ++v) {
        const double n_u = counts.cardinalities()[u], n_v = counts.cardinalities()[v];
        const PairMargins margins(counts.pair(u, v), counts.cardinalities()[u], counts.cardinalities()[v],
                                  counts.n_classes());
        note(n_classes, margins.classes);
        note(n_classes * n_u, margins.u);
        note(n_classes * n_v, margins.v);
        note(n_classes * n_u * n_v, counts.pair(u, v));
      }
    for (const auto& [n_cells, most] : largest) {
      if (!(most < kMaxRisingCount))
        throw InvalidInput(
            join_text("an average over trees can learn from counts below ", kMaxRisingCount, ", but one is ", most));
      tables_.try_emplace(n_cells, size, n_cells, most);
    }
  }

  /// Product over all counts of Gamma(a + N) / Gamma(a), a being the prior's share of one of `n_cells` cells.
  Scaled product(std::span<const double> counts, double n_cells) const {
    const RisingFactorials& rising = tables_.at(n_cells);
    ScaledProduct product;
    for (const double count : counts)
      if (count > 0) product.multiply(rising(count));
    return product.value();
  }

 private:
  std::map<double, RisingFactorials> tables_;
};

/// The Bayes factor for an arc between two features given the class: L_uv L_c / (L_u L_v). Equation 22 lacks L_c, which
/// is the same for all pairs where no cell is missing; where some are, every pair has its own rows.
Scaled bayes_factor(const CountSet& counts, const RisingTables& rising, std::size_t u, std::size_t v) {
  const double n_classes = counts.n_classes(), n_u = counts.cardinalities()[u], n_v = counts.cardinalities()[v];
  const auto cells = counts.pair(u, v);
  const PairMargins margins(cells, counts.cardinalities()[u], counts.cardinalities()[v], counts.n_classes());
  return rising.product(cells, n_classes * n_u * n_v) * rising.product(margins.classes, n_classes) /
         (rising.product(margins.u, n_classes * n_u) * rising.product(margins.v, n_classes * n_v));
}

/// Equations 25 to 29.
std::vector<Scaled> confined(std::vector<Scaled> factors, double stubbornness) {
  constexpr double kLn10 = 2.302585092994045684;
  std::vector<double> logs;
  for (const Scaled factor : factors) logs.push_back(factor.log() / kLn10);
  const auto [least, most] = std::minmax_element(logs.begin(), logs.end());
  const double span = *most - *least, a = span > stubbornness ? stubbornness / span : 1.0;
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = normalized({std::exp((a * (logs[i] - *least) - stubbornness) * kLn10), 0});
  return factors;
}

/// A belief with its mantissa near one: beside a mantissa of the weight, it may be too large for a double, or
/// subnormal.
Scaled believed(double belief) {
  int exponent = 0;
  const double mantissa = std::frexp(belief, &exponent);
  return normalized({mantissa, exponent});
}

EdgeWeights learn_weights(const CountSet& counts, const TbmatanOptions& options, int threads) {
  const std::size_t n = counts.n_features();
  std::vector<Scaled> factors(n * (n - 1) / 2);
  if (n > 1) {
    const RisingTables rising(counts, options.equivalent_sample_size);
    parallel_for(n - 1, 1, threads, [&](std::size_t u, std::size_t) {
      for (std::size_t v = u + 1; v < n; ++v) factors[pair_index(u, v, n)] = bayes_factor(counts, rising, u, v);
    });
    if (options.stubbornness) factors = confined(std::move(factors), *options.stubbornness);
  }
  EdgeWeights weights(n);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      Scaled factor = factors[pair_index(u, v, n)];
      if (!options.edge_beliefs.empty()) factor = factor * believed(options.edge_beliefs[u * n + v]);
      weights.set(u, v, factor);
    }
  return weights;
}

std::vector<double> class_distribution_of(const CountSet& counts, const TbmatanOptions& options) {
  const std::size_t n_classes = counts.n_classes();
  if (!options.class_prior.empty()) {
    check_class_prior(options.class_prior, n_classes);
    return options.class_prior;
  }
  std::vector<double> classes;
  const double size = options.equivalent_sample_size;
  for (const double count : counts.class_counts())
    classes.push_back((count + size / static_cast<double>(n_classes)) / (counts.n_rows() + size));
  return classes;
}

/// Throws InvalidInput unless the edges are a tree over all features.
void check_tree(std::span<const Edge> edges, std::size_t n) {
  if (edges.size() + 1 != n)
    throw InvalidInput(join_text("a tree over ", n, " features has ", n - 1, " edges, got ", edges.size()));
  std::vector<std::size_t> joined(n);  // to a feature of the same part of the tree; the last of them to itself
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  const auto part_of = [&](std::size_t f) {
    while (joined[f] != f) {
      joined[f] = joined[joined[f]];
      f = joined[f];
    }
    return f;
  };
  for (const auto& [u, v] : edges) {
    if (u >= n || v >= n)
      throw InvalidInput(join_text("expected edges between features below ", n, ", got (", u, ", ", v, ")"));
    const std::size_t a = part_of(u), b = part_of(v);
    if (a == b)
      throw InvalidInput(join_text("the edges are not a tree: that of features ", u, " and ", v, " closes a cycle"));
    joined[a] = b;
  }
}

}  // namespace

Tbmatan::Tbmatan(CountSet counts, TbmatanOptions options, int threads) {
  check(counts, options);
  auto classes = class_distribution_of(counts, options);
  EdgeWeights weights = learn_weights(counts, options, threads);
  if (joining_order(weights).nodes.size() < counts.n_features())
    throw InvalidInput("the prior edge weights allow no tree over all features: too many of them are zero");
  state_ = std::make_shared<const State>(
      State{std::move(counts), std::move(options), std::move(classes), std::move(weights)});
}

Network Tbmatan::network_of(std::span<const Edge> tree) const {
  const std::size_t n = n_features();
  check_tree(tree, n);
  std::vector<std::vector<std::size_t>> parents(n);
  const auto rooted = root_forest(n, {tree.begin(), tree.end()}, std::nullopt);
  for (std::size_t f = 0; f < n; ++f)
    if (rooted[f]) parents[f].push_back(*rooted[f]);
  DirichletOptions dirichlet;
  dirichlet.equivalent_sample_size = options().equivalent_sample_size;
  dirichlet.class_prior = state_->class_probabilities;
  return estimate_dirichlet(Structure(std::move(parents)), counts(), dirichlet);
}

}  // namespace tanager

// Scores of families and pairs by their formulas; Chow-Liu, k-DB and aCLL structures against all trees and graphs.
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "reference.hpp"
#include "tanager/branching.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_trees.hpp"
#include "trees.hpp"

const int fuzz::kShortRuns = 6000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;

constexpr double kNear = 1e-11;

Dataset read_dataset(fuzz::Input& input) {
  const auto classes =
      static_cast<std::uint32_t>(input.choose<int>({0, 0, 0, 1}) == 0 ? input.size(1, 4) : input.edge_size(60));
  std::vector<reference::ColumnSpec> features(input.choose<std::size_t>({3, 4, 2, 5, 3, 4, 1, 0}));
  const std::size_t most = input.choose<std::size_t>({60, 60, 60, 600});  // cells of a pair
  std::size_t widest = std::max<std::size_t>(1, most / classes);
  for (reference::ColumnSpec& spec : features) {
    spec.n_values = static_cast<std::uint32_t>(input.flag() ? input.size(1, 3) : input.edge_size(widest));
    spec.missing = input.choose({0.0, 0.0, 0.0, 0.3, 1.0});
    spec.skew = input.choose({0.0, 0.6});
    widest = std::max<std::size_t>(1, std::min<std::size_t>(widest, most / classes / spec.n_values));
  }
  const bool weighted = input.choose({false, false, true});
  const std::size_t n_rows = input.size(0, 80);
  const Dataset data =
      reference::random_dataset(features, {classes, 0.0, 0.3}, n_rows, weighted, input.number(0, UINT32_MAX));
  std::vector<Column> columns = data.features();
  for (std::size_t f = 1; f < columns.size(); ++f)  // some are copies, so that not everything is noise
    if (input.choose({false, false, false, true})) columns[f] = columns[f - 1];
  return Dataset(std::move(columns), data.target(), {data.weights().begin(), data.weights().end()});
}

double sum_of(std::span<const double> cells) {
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

/// I(X;Y|Z) of a table [x][y][z], term by term.
long double information(std::span<const double> table, std::size_t n_x, std::size_t n_y, std::size_t n_z) {
  long double total = 0, sum = 0;
  for (const double n : table) total += n;
  for (std::size_t z = 0; z < n_z; ++z) {
    std::vector<long double> of_x(n_x, 0.0L), of_y(n_y, 0.0L);
    long double of_z = 0;
    for (std::size_t x = 0; x < n_x; ++x)
      for (std::size_t y = 0; y < n_y; ++y) {
        const double n = table[(x * n_y + y) * n_z + z];
        of_x[x] += n;
        of_y[y] += n;
        of_z += n;
      }
    for (std::size_t x = 0; x < n_x; ++x)
      for (std::size_t y = 0; y < n_y; ++y) {
        const long double n = table[(x * n_y + y) * n_z + z];
        if (n > 0) sum += n / total * std::log(n * of_z / (of_x[x] * of_y[y]));
      }
  }
  return std::max(sum, 0.0L);
}

long double pair_information(const CountSet& counts, std::size_t u, std::size_t v) {
  return information(counts.pair(u, v), counts.cardinalities()[u], counts.cardinalities()[v], counts.n_classes());
}

/// ln Gamma(a + n) / Gamma(a).
long double log_rising(long double a, long double n) {
  return std::lgamma(a + n) - std::lgamma(a);
}

long double score_of(const CountTable& table, Score score, long double size) {
  const std::size_t r = table.dims.back(), s = table.n_classes;
  long double sum = 0, all = 0;
  const auto cells = static_cast<long double>(table.cells.size());
  const long double alpha = score == Score::kK2 ? 1 : size / cells;
  for (std::size_t j = 0; j < table.cells.size(); j += r * s)
    for (std::size_t c = 0; c < s; ++c) {
      long double total = 0;
      for (std::size_t k = 0; k < r; ++k) total += table.cells[j + k * s + c];
      all += total;
      for (std::size_t k = 0; k < r; ++k) {
        const long double n = table.cells[j + k * s + c];
        if (score == Score::kBdeu || score == Score::kK2)
          sum += log_rising(alpha, n);
        else if (n > 0)
          sum += n * std::log(n / total);
      }
      if (score == Score::kBdeu || score == Score::kK2) sum -= log_rising(alpha * static_cast<long double>(r), total);
    }
  const long double free = cells / static_cast<long double>(r) * static_cast<long double>(r - 1);
  if (score == Score::kAic) sum -= free;
  if (score == Score::kBic && all > 1) sum -= free * std::log(all) / 2;
  return sum;
}

/// The best total of any acyclic set of edges; of spanning trees only, if `spans`.
double best_forest(std::size_t n, const std::vector<double>& weights, bool spans) {
  std::vector<Edge> edges;
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) edges.emplace_back(u, v);
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t set = 0; set < std::size_t{1} << edges.size(); ++set) {
    std::vector<std::size_t> part(n);
    std::iota(part.begin(), part.end(), std::size_t{0});
    double total = 0;
    std::size_t n_edges = 0;
    bool acyclic = true;
    for (std::size_t e = 0; e < edges.size() && acyclic; ++e) {
      if ((set >> e & 1) == 0) continue;
      const std::size_t from = part[edges[e].second], to = part[edges[e].first];
      acyclic = from != to;
      std::replace(part.begin(), part.end(), from, to);
      total += weights[e];
      ++n_edges;
    }
    if (acyclic && (!spans || n_edges + 1 == n)) best = std::max(best, total);
  }
  return best;
}

std::size_t pair_at(std::size_t u, std::size_t v, std::size_t n) {
  if (u > v) std::swap(u, v);
  return u * (2 * n - u - 1) / 2 + (v - u - 1);
}

void check_chow_liu(fuzz::Input& input, const CountSet& counts) {
  const std::size_t n = counts.n_features();
  const Score score = input.choose({Score::kLogLikelihood, Score::kAic, Score::kBic});
  const int threads = input.choose<int>({1, 1, 1, 2});
  const std::vector<double> weights = chow_liu_weights(counts, score, threads);
  std::vector<double> expected;
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v) {
      const double observed = sum_of(counts.pair(u, v));
      const double degrees = (counts.cardinalities()[u] - 1.0) * (counts.cardinalities()[v] - 1.0) * counts.n_classes();
      const auto told = static_cast<double>(observed > 0 ? pair_information(counts, u, v) : 0.0L);
      double weight = (score == Score::kLogLikelihood ? counts.n_rows() : observed) * told;
      if (score == Score::kAic) weight -= degrees;
      if (score == Score::kBic && observed > 1) weight -= degrees * std::log(observed) / 2;
      expected.push_back(weight);
      fuzz::require_near(weights[pair_at(u, v, n)], weight, kNear, "Chow-Liu weight");
    }
  ChowLiuOptions options;
  options.score = score;
  if (n > 0 && input.flag()) options.root = input.size(0, n - 1);
  const Structure structure = learn_chow_liu(counts, options, threads);
  fuzz::require(structure.is_one_dependence(), "a Chow-Liu structure is a forest");
  if (options.root) fuzz::require(structure.parents(*options.root).empty(), "the root has no parent");
  double total = 0;
  std::size_t arcs = 0;
  for (std::size_t f = 0; f < n; ++f)
    for (const std::size_t p : structure.parents(f)) {
      total += expected[pair_at(p, f, n)];
      ++arcs;
    }
  if (n == 0) return;
  const bool spans = score == Score::kLogLikelihood;
  fuzz::require(!spans || arcs + 1 == n, "without a penalty there is one tree");
  fuzz::require_near(total, best_forest(n, expected, spans), 1e-9, "total of a Chow-Liu structure");
}

void check_kdb(fuzz::Input& input, const CountSet& counts) {
  constexpr double kTied = 1e-10;
  const std::size_t n = counts.n_features(), s = counts.n_classes();
  KdbOptions options;
  options.k = input.size(0, 4);
  const Structure structure = learn_kdb(counts, options, input.choose<int>({1, 1, 2}));
  std::vector<double> about_class;
  for (std::size_t f = 0; f < n; ++f) {
    const double told = sum_of(counts.single(f)) > 0
                            ? static_cast<double>(information(counts.single(f), counts.cardinalities()[f], s, 1))
                            : 0.0;
    about_class.push_back(told);
    fuzz::require_near(mutual_information(counts.single(f), counts.cardinalities()[f], s), told, kNear,
                       "mutual information");
  }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b)
      if (std::abs(about_class[a] - about_class[b]) < kTied && about_class[a] != about_class[b]) return;
  std::vector<std::size_t> ranking(n);
  std::iota(ranking.begin(), ranking.end(), std::size_t{0});
  std::stable_sort(ranking.begin(), ranking.end(),
                   [&](std::size_t a, std::size_t b) { return about_class[a] > about_class[b]; });
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t child = ranking[i];
    const auto told = [&](std::size_t f) {
      const std::size_t u = std::min(f, child), v = std::max(f, child);
      return sum_of(counts.pair(u, v)) > 0 ? static_cast<double>(pair_information(counts, u, v)) : 0.0;
    };
    const auto& parents = structure.parents(child);
    fuzz::require_same(parents.size(), std::min(i, options.k), "number of parents");
    fuzz::require(std::is_sorted(parents.begin(), parents.end()), "parents in the order of columns");
    for (std::size_t j = 0; j < n; ++j) {
      const bool chosen = std::find(parents.begin(), parents.end(), ranking[j]) != parents.end();
      fuzz::require(!chosen || j < i, "a parent that is ranked later");
      for (const std::size_t p : parents)
        fuzz::require(chosen || j >= i || told(ranking[j]) <= told(p) + kTied, "a parent that tells less than another");
    }
  }
}

/// psi(x) and its derivative for x > 0, by their recurrences and asymptotic series.
long double digamma(long double x) {
  long double sum = 0;
  for (; x < 30; ++x) sum -= 1 / x;
  const long double y = 1 / (x * x);
  return sum + std::log(x) - 1 / (2 * x) -
         y * (1.0L / 12 - y * (1.0L / 120 - y * (1.0L / 252 - y * (1.0L / 240 - y * (1.0L / 132)))));
}
long double trigamma(long double x) {
  long double sum = 0;
  for (; x < 30; ++x) sum += 1 / (x * x);
  const long double y = 1 / (x * x);
  return sum + 1 / x + y / 2 +
         y / x * (1.0L / 6 - y * (1.0L / 30 - y * (1.0L / 42 - y * (1.0L / 30 - y * (5.0L / 66)))));
}

/// Weights raised and normalized over the values of one configuration and class: sum of w ln theta, and theta itself.
double acll_family(const CountTable& table, double beta, double least, std::vector<double>& parameters) {
  const std::size_t r = table.dims.back(), s = table.n_classes;
  parameters.assign(table.cells.size(), 0.0);
  double score = 0;
  for (std::size_t j = 0; j < table.cells.size(); j += r * s)
    for (std::size_t c = 0; c < s; ++c) {
      std::vector<double> weights;
      double raised = 0;
      for (std::size_t k = 0; k < r; ++k) {
        double all = 0;
        for (std::size_t d = 0; d < s; ++d) all += table.cells[j + k * s + d];
        weights.push_back(table.cells[j + k * s + c] + beta * all);
        raised += std::max(weights.back(), least);
      }
      for (std::size_t k = 0; k < r; ++k) {
        const double theta = std::max(weights[k], least) / raised;
        parameters[j + k * s + c] = theta;
        score += weights[k] * std::log(theta);
      }
    }
  return score;
}

/// The rows of a pair's table as that of a family of one parent, or of the child alone.
CountTable part_of(const CountSet& counts, std::size_t parent, std::size_t child, bool with_parent) {
  CountTable table = counts.table({child, {parent}});
  if (with_parent) return table;
  const std::size_t block = counts.cardinalities()[child] * counts.n_classes();
  std::vector<double> cells(block, 0.0);
  for (std::size_t i = 0; i < table.cells.size(); ++i) cells[i % block] += table.cells[i];
  return {{child, {}}, {counts.cardinalities()[child]}, counts.n_classes(), cells};
}

void check_acll(fuzz::Input& input, const CountSet& counts) {
  const std::size_t n = counts.n_features(), s = counts.n_classes();
  AcllOptions options;
  options.assumption = input.choose({AcllAssumption::kDirichlet, AcllAssumption::kUniform});
  options.a = input.choose({1.0, 0.3, 7.0});
  options.pseudo_counts = input.choose({5.0, 1.0, 0.01, 1e-100});
  if (input.flag()) options.b = input.choose({1.0, 1000.0, 0.2});
  const AcllConstants constants = acll_constants(counts, options);
  if (s == 1) {
    fuzz::require(constants.beta == -1 && constants.gamma == 0, "constants of one class");
  } else if (options.assumption == AcllAssumption::kDirichlet) {
    const long double a = options.a, b = options.b.value_or(std::max(1.0, counts.n_rows()));
    const auto classes = static_cast<long double>(s);
    const long double beta =
        -(trigamma(classes * a) - trigamma(classes * a + b)) / (trigamma(a) - classes * trigamma(classes * a + b));
    const long double gamma =
        (1 + classes * beta) * digamma(classes * a + b) - digamma(classes * a) - classes * beta * digamma(a);
    fuzz::require_near(constants.beta, static_cast<double>(beta), kNear, "beta");
    fuzz::require_near(constants.gamma, static_cast<double>(gamma), 1e-10, "gamma");
  }
  const double beta = constants.beta;
  std::vector<double> parameters;
  for (std::size_t f = 0; f < n; ++f) {
    const CountTable table = counts.table({f, {}});
    const double score = acll_family(table, beta, options.pseudo_counts, parameters);
    fuzz::require_near(acll_family_score(table, beta, options.pseudo_counts), score, kNear, "aCLL score of a family");
    std::vector<double> found = table.cells;
    acll_parameters(found, counts.cardinalities()[f], s, beta, options.pseudo_counts);
    for (std::size_t i = 0; i < found.size(); ++i) fuzz::require_near(found[i], parameters[i], kNear, "aCLL parameter");
  }
  const std::vector<double> weights = acll_tree_weights(counts, options, input.choose<int>({1, 1, 2}));
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v) {
      if (u == v) continue;
      const CountTable with = part_of(counts, u, v, true);
      const double observed = sum_of(with.cells);
      double gain = acll_family(with, beta, options.pseudo_counts, parameters) -
                    acll_family(part_of(counts, u, v, false), beta, options.pseudo_counts, parameters);
      gain = observed > 0 ? gain * counts.n_rows() / observed : counts.n_rows() == 0 ? gain : 0;
      fuzz::require_near(weights[u * n + v], gain, 1e-9, "aCLL gain of an arc");
    }
  AcllTreeOptions tree;
  tree.score = options;
  if (n > 0 && input.flag()) tree.root = input.size(0, n - 1);
  if (n == 0) return;
  const Structure structure = learn_acll_tree(counts, tree);
  double total = 0;
  std::size_t arcs = 0;
  for (std::size_t f = 0; f < n; ++f)
    for (const std::size_t p : structure.parents(f)) {
      total += weights[p * n + f];
      ++arcs;
    }
  fuzz::require_same(arcs, n - 1, "arcs of a tree");
  if (tree.root) fuzz::require(structure.parents(*tree.root).empty(), "the root has no parent");
  double best = -std::numeric_limits<double>::infinity();
  for (const auto& edges : reference::all_trees(n))
    for (std::size_t root = 0; root < n; ++root) {
      if (tree.root && *tree.root != root) continue;
      std::vector<bool> reached(n, false);
      reached[root] = true;
      double sum = 0;
      for (std::size_t round = 0; round < n; ++round)
        for (const auto& [u, v] : edges)
          if (reached[u] != reached[v]) {
            sum += reached[u] ? weights[u * n + v] : weights[v * n + u];
            reached[u] = reached[v] = true;
          }
      best = std::max(best, sum);
    }
  fuzz::require_near(total, best, 1e-9, "total of an aCLL tree");
}

void check_scores(fuzz::Input& input, const CountSet& counts) {
  const double size = input.choose({1.0, 10.0, 0.01});
  const std::size_t n = counts.n_features();
  for (std::size_t f = 0; f < n; ++f) {
    const CountTable table = n > 1 && input.flag() ? counts.table({f, {(f + 1) % n}}) : counts.table({f, {}});
    for (const Score score : {Score::kLogLikelihood, Score::kAic, Score::kBic, Score::kBdeu, Score::kK2})
      fuzz::require_near(family_score(table, score, size), static_cast<double>(score_of(table, score, size)), kNear,
                         "score " + std::to_string(static_cast<int>(score)) + " of a family");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const CountSet counts = count(read_dataset(input), CountScope::kPairs);
  const std::size_t part = input.size(0, 3);
  if (part == 0) check_chow_liu(input, counts);
  if (part == 1) check_kdb(input, counts);
  if (part == 2) check_acll(input, counts);
  if (part == 3) check_scores(input, counts);
  return 0;
}

// The average over all trees, edge weights and predictions, against the sum over every tree, one by one.
#include <limits>
#include <optional>
#include <vector>

#include "predictions.hpp"
#include "reference.hpp"
#include "simd/flush_subnormals.hpp"
#include "tanager/tbmatan.hpp"
#include "tbmatan/tree_kernel.hpp"
#include "tbmatan/tree_plan.hpp"
#include "trees.hpp"

const int fuzz::kShortRuns = 3000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;
using namespace tanager::internal;

/// Cells of a pair's table summed over one of its features, or both: [value][class], and [class].
std::vector<long double> margin(const CountSet& counts, std::size_t u, std::size_t v, bool keep_u, bool keep_v) {
  const std::size_t s = counts.n_classes(), n_u = counts.cardinalities()[u], n_v = counts.cardinalities()[v];
  std::vector<long double> sums((keep_u ? n_u : 1) * (keep_v ? n_v : 1) * s, 0.0L);
  const auto cells = counts.pair(u, v);
  for (std::size_t i = 0; i < n_u; ++i)
    for (std::size_t j = 0; j < n_v; ++j)
      for (std::size_t c = 0; c < s; ++c) {
        const std::size_t at = (keep_u ? i : 0) * (keep_v ? n_v : 1) + (keep_v ? j : 0);
        sums[at * s + c] += cells[(i * n_v + j) * s + c];
      }
  return sums;
}

/// ln of the product of Gamma(a + N) / Gamma(a) over all cells, which share the prior evenly.
long double log_rising(const std::vector<long double>& cells, long double size) {
  const long double a = size / static_cast<long double>(cells.size());
  long double log = 0;
  for (const long double count : cells) {
    if (count != std::floor(count)) {
      log += std::lgamma(a + count) - std::lgamma(a);
      continue;
    }
    for (long double i = 0; i < count; ++i) log += std::log(a + i);
  }
  return log;
}

class AllTrees {
 public:
  AllTrees(const CountSet& counts, const TbmatanOptions& options)
      : counts_(counts), size_(options.equivalent_sample_size), trees_(reference::all_trees(counts.n_features())) {
    const std::size_t n = counts.n_features();
    logs_.assign(n * n, 0.0L);
    of_u_.resize(n * n);
    of_v_.resize(n * n);
    of_class_.resize(n * n);
    long double least = std::numeric_limits<long double>::infinity(), most = -least;
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        const std::size_t pair = u * n + v;
        of_u_[pair] = margin(counts, u, v, true, false);
        of_v_[pair] = margin(counts, u, v, false, true);
        of_class_[pair] = margin(counts, u, v, false, false);
        const long double log = log_rising(margin(counts, u, v, true, true), size_) +
                                log_rising(of_class_[pair], size_) - log_rising(of_u_[pair], size_) -
                                log_rising(of_v_[pair], size_);
        logs_[pair] = log;
        least = std::min(least, log);
        most = std::max(most, log);
      }
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        long double& log = logs_[u * n + v];
        if (options.stubbornness) {  // factors between 10^-stubbornness and 1
          const long double confined = *options.stubbornness * std::log(10.0L);
          log = (log - least) * std::min(1.0L, most > least ? confined / (most - least) : 1.0L) - confined;
        }
        if (!options.edge_beliefs.empty()) log += std::log(static_cast<long double>(options.edge_beliefs[u * n + v]));
      }
    log_all_ = log_sum({});
  }

  long double log_weight(std::size_t u, std::size_t v) const { return logs_[u * counts_.n_features() + v]; }

  /// ln of the sum over all trees, each edge's weight times e^extra[u][v]; minus infinity if there is no tree.
  long double log_sum(const std::vector<long double>& extra) const {
    const std::size_t n = counts_.n_features();
    std::vector<long double> terms;
    for (const auto& tree : trees_) {
      long double log = 0;
      for (const auto& [u, v] : tree) log += logs_[u * n + v] + (extra.empty() ? 0 : extra[u * n + v]);
      terms.push_back(log);
    }
    const long double largest = *std::max_element(terms.begin(), terms.end());
    if (largest == -std::numeric_limits<long double>::infinity()) return largest;
    long double sum = 0;
    for (const long double term : terms) sum += std::exp(term - largest);
    return largest + std::log(sum);
  }

  /// ln P(complete row, class) without that of the class.
  long double log_row(const fuzz::Row& row, std::size_t c) const {
    const std::size_t n = counts_.n_features(), s = counts_.n_classes();
    const long double of_class = size_ / static_cast<long double>(s);
    long double log = 0;
    for (std::size_t f = 0; f < n; ++f) {
      long double total = of_class;
      for (std::size_t k = 0; k < counts_.cardinalities()[f]; ++k) total += counts_.single(f)[k * s + c];
      log += std::log((counts_.single(f)[row[f] * s + c] + of_class / counts_.cardinalities()[f]) / total);
    }
    std::vector<long double> lifts(n * n, 0.0L);
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        const std::size_t n_u = counts_.cardinalities()[u], n_v = counts_.cardinalities()[v];
        const long double both = counts_.pair(u, v)[(row[u] * n_v + row[v]) * s + c];
        lifts[u * n + v] = std::log(both + of_class / static_cast<long double>(n_u * n_v)) +
                           std::log(of_class_[u * n + v][c] + of_class) -
                           std::log(of_u_[u * n + v][row[u] * s + c] + of_class / static_cast<long double>(n_u)) -
                           std::log(of_v_[u * n + v][row[v] * s + c] + of_class / static_cast<long double>(n_v));
      }
    return log + log_sum(lifts) - log_all_;
  }

 private:
  const CountSet& counts_;
  long double size_, log_all_ = 0;
  std::vector<std::vector<Edge>> trees_;
  std::vector<long double> logs_;                                 // of weights, [u][v] for u < v
  std::vector<std::vector<long double>> of_u_, of_v_, of_class_;  // margins of pairs, [u][v]
};

TbmatanOptions read_options(fuzz::Input& input, std::size_t n, std::uint32_t classes, bool whole) {
  TbmatanOptions options;
  options.equivalent_sample_size =
      whole ? input.choose({10.0, 1.0, 0.01, 1e-30, 1e30}) : input.choose({10.0, 1.0, 0.01});
  options.max_assignments = input.choose<std::uint64_t>({4096, 4096, 1, 6});
  options.n_trees = input.choose<std::uint32_t>({1, 9});
  if (input.choose({false, false, true})) options.stubbornness = input.choose({5.0, 0.5, 100.0, 300.0});
  std::mt19937_64 random = input.random();
  if (input.choose({false, false, true})) {
    options.edge_beliefs.assign(n * n, 1.0);
    const bool zeros = input.flag(), extreme = input.flag();
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = 0; v < u; ++v) {
        const double choices[] = {1.0, 1e-3, 1e-308, 1e308, 5e-324};
        double belief = extreme ? choices[random() % 5] : 1 + static_cast<double>(random() % 100);
        if (zeros && random() % 3 == 0) belief = 0;
        options.edge_beliefs[u * n + v] = options.edge_beliefs[v * n + u] = belief;
      }
  }
  if (input.choose({false, false, true}))
    options.class_prior = fuzz::random_table(random, fuzz::read_tables(input), 1, classes, 1);
  return options;
}

Dataset read_dataset(fuzz::Input& input, const std::vector<std::uint32_t>& cards, std::uint32_t classes) {
  std::vector<reference::ColumnSpec> features;
  for (const std::uint32_t r : cards)
    features.push_back({r, input.choose({0.0, 0.0, 0.0, 0.3, 1.0}), input.choose({0.0, 0.5}), false});
  const bool weighted = input.choose({false, false, true});
  return reference::random_dataset(features, {classes, 0.0, 0.3}, input.edge_size(100) - 1, weighted,
                                   input.number(0, UINT32_MAX));
}

/// Every instruction set gives the same bits.
void check_kernels(fuzz::Input& input, const Tbmatan& model) {
  const auto plan = make_tree_plan(model, input.flag());
  if (!plan) return;
  TreeLanes lanes(*plan);
  std::mt19937_64 random = input.random();
  std::vector<Code> columns;
  for (const std::uint32_t r : model.cardinalities())
    for (std::size_t i = 0; i < lanes.rows(); ++i) columns.push_back(static_cast<Code>(random() % r));
  const std::size_t rows = input.size(1, lanes.rows());
  std::vector<double> first;
  const FlushSubnormals flush;
  for (int level = 0; level <= static_cast<int>(supported_isa()); ++level) {
    std::vector<double> out(rows * model.n_classes(), 0.0);
    lanes.add_log_sums(columns.data(), lanes.rows(), rows, model.cardinalities(), 0.5, out.data(),
                       static_cast<Isa>(level));
    if (level == 0) first = out;
    for (std::size_t i = 0; i < out.size(); ++i)
      fuzz::require_same(out[i], first[i], "tree sum on instruction set " + std::to_string(level));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const std::size_t most = input.choose<std::size_t>({20, 20, 60, 60, 300, 1000});
  const auto classes = static_cast<std::uint32_t>(input.edge_size(std::min<std::size_t>(most, 300)));
  const auto cards = fuzz::read_cardinalities(input, input.size(1, most > 60 ? 4 : 5), classes, most);
  const Dataset data = read_dataset(input, cards, classes);
  const CountSet counts = count(data, CountScope::kPairs);
  const TbmatanOptions options = read_options(input, cards.size(), classes, !data.is_weighted());
  const AllTrees trees(counts, options);
  std::optional<Tbmatan> model;
  try {
    model.emplace(counts, options, input.choose<int>({1, 1, 2}));
  } catch (const InvalidInput&) {
    fuzz::require(!(trees.log_sum({}) > -std::numeric_limits<long double>::infinity()), "beliefs that allow a tree");
    return 0;
  }
  fuzz::require(trees.log_sum({}) > -std::numeric_limits<long double>::infinity(), "beliefs that allow no tree");
  for (std::size_t u = 0; u < cards.size(); ++u)
    for (std::size_t v = u + 1; v < cards.size(); ++v)
      fuzz::require_near(model->edge_weights()(u, v).log(), static_cast<double>(trees.log_weight(u, v)), 1e-12,
                         "weight of edge " + std::to_string(u) + ", " + std::to_string(v));

  using Method = TbmatanPredictor::Method;
  const Method method = input.choose({Method::kAuto, Method::kAuto, Method::kSchedule, Method::kDense, Method::kExact});
  std::optional<TbmatanPredictor> predictor;
  try {
    predictor.emplace(*model, method);
  } catch (const InvalidInput&) {
    fuzz::require(method == Method::kSchedule || method == Method::kDense, "a method that is always possible");
    return 0;
  }
  const auto reference = [&](const fuzz::Row& row) {
    std::vector<long double> sums(classes, 0.0L);
    fuzz::for_each_completion(row, cards, std::vector<bool>(cards.size(), false), [&](const fuzz::Row& complete) {
      for (std::size_t c = 0; c < classes; ++c)
        if (model->class_probabilities()[c] > 0)
          sums[c] += model->class_probabilities()[c] * std::exp(trees.log_row(complete, c));
    });
    return sums;
  };
  // Rows with more ways to fill them in would be estimated from a few trees.
  const std::size_t completions =
      std::min<std::size_t>(options.max_assignments, std::max<std::size_t>(1, 20 / classes));
  fuzz::check_predictor(input, *predictor, cards, std::vector<bool>(cards.size(), false), completions, 1e-11,
                        reference);
  if (cards.size() > 1 && input.choose({false, false, true})) check_kernels(input, *model);
  return 0;
}

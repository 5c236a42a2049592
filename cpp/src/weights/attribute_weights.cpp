// How high up in bootstrapped trees a feature is tested, and the weights that follow (Hall 2007, A decision tree-based
// attribute weighting filter for naive Bayes).
#include <algorithm>
#include <cmath>
#include <limits>

#include "support/parallel.hpp"
#include "support/random.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_weights.hpp"
#include "weights/categorical_tree.hpp"

namespace tanager {

using namespace internal;

namespace {

void check(const Structure& structure, const Dataset& data, const TreeDepthOptions& options) {
  if (structure.n_features() != data.n_features())
    throw InvalidInput(
        join_text("the structure has ", structure.n_features(), " features, but the data have ", data.n_features()));
  if (options.n_trees == 0) throw InvalidInput("n_trees: expected an integer >= 1, got 0");
  if (!(options.bootstrap > 0 && options.bootstrap <= 1))
    throw InvalidInput(join_text("bootstrap: expected a number > 0 and <= 1, got ", options.bootstrap));
  if (options.max_depth && *options.max_depth == 0) throw InvalidInput("max_depth: expected an integer >= 1, got 0");
  if (data.n_rows() == 0) throw InvalidInput("trees need at least one row, but there is none");
  if (data.n_rows() >= std::numeric_limits<std::uint32_t>::max())
    throw InvalidInput(join_text("trees can have fewer than 2^32 rows, but there are ", data.n_rows()));
}

/// Draws rows with replacement; a row of weight two is drawn as often as two rows of weight one.
class RowSampler {
 public:
  explicit RowSampler(const Dataset& data) : n_rows_(data.n_rows()) {
    // Rows that all weigh the same are drawn as if they had no weights, and not only equally often.
    const auto differs = [&](double weight) { return weight != data.weights()[0]; };
    if (!data.is_weighted() || (data.weights()[0] > 0 && std::ranges::none_of(data.weights(), differs))) return;
    sums_.reserve(n_rows_);
    double sum = 0;
    for (const double weight : data.weights()) sums_.push_back(sum += weight);
    if (!(sum > 0) || std::isinf(sum))
      throw InvalidInput(join_text("sample_weight: expected a finite sum > 0, got ", sum));
    last_ = static_cast<std::size_t>(std::ranges::lower_bound(sums_, sum) - sums_.begin());
  }

  /// In increasing order, so that trees read columns from front to back.
  std::vector<std::uint32_t> draw(std::size_t n, Random random) const {
    std::vector<std::uint32_t> times(n_rows_, 0);
    for (std::size_t i = 0; i < n; ++i) ++times[draw_one(random)];
    std::vector<std::uint32_t> rows;
    rows.reserve(n);
    for (std::size_t row = 0; row < n_rows_; ++row)
      rows.insert(rows.end(), times[row], static_cast<std::uint32_t>(row));
    return rows;
  }

 private:
  std::size_t draw_one(Random& random) const {
    if (sums_.empty()) return random.below(n_rows_);
    const auto found = std::ranges::upper_bound(sums_, random.uniform() * sums_.back());
    return std::min(static_cast<std::size_t>(found - sums_.begin()), last_);  // the product may round up to the sum
  }

  std::size_t n_rows_;
  std::vector<double> sums_;  // of the weights so far; empty if there are none
  std::size_t last_ = 0;      // row that has weight
};

}  // namespace

std::vector<std::uint32_t> tree_depths(const Structure& structure, const Dataset& data, const TreeDepthOptions& options,
                                       int threads) {
  check(structure, data, options);
  std::vector<std::size_t> features = structure.order();
  std::ranges::sort(features);
  const std::size_t n = data.n_features();
  const auto draws =
      static_cast<std::size_t>(std::max(1.0, std::round(options.bootstrap * static_cast<double>(data.n_rows()))));
  const std::vector<double> terms = entropy_terms(draws);
  const RowSampler sampler(data);
  std::vector<std::uint32_t> depths(options.n_trees * n);
  parallel_for(options.n_trees, 1, threads, [&](std::size_t tree, std::size_t) {
    CategoricalTree learner(data, features, terms);
    std::vector<std::uint32_t> rows = sampler.draw(draws, Random(options.seed, tree));
    const std::vector<std::uint32_t> found = learner.least_depths(rows, options.max_depth);
    std::ranges::copy(found, depths.begin() + static_cast<std::ptrdiff_t>(tree * n));
  });
  return depths;
}

std::vector<double> weights_from_depths(std::span<const std::uint32_t> depths, std::size_t n_features) {
  std::vector<double> weights(n_features, 0.0);
  if (n_features == 0) return weights;
  if (depths.empty() || depths.size() % n_features != 0)
    throw InvalidInput(
        join_text("expected the depths of ", n_features, " features for every tree, got ", depths.size(), " depths"));
  for (std::size_t i = 0; i < depths.size(); ++i)
    if (depths[i] != 0) weights[i % n_features] += 1.0 / std::sqrt(static_cast<double>(depths[i]));
  const std::size_t n_trees = depths.size() / n_features;
  for (double& weight : weights) weight = std::min(1.0, weight / static_cast<double>(n_trees));
  return weights;
}

}  // namespace tanager

// Cut points that do not look at the class: bins of equal weight, and bins of equal width.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "data/discretize_sort.hpp"
#include "support/check_stop.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

struct Value {
  std::uint64_t key;
  double weight() const { return 1.0; }
};

struct WeightedValue {
  std::uint64_t key;
  double weight_;
  double weight() const { return weight_; }
};

/// A place where a cut may be: between two neighboring distinct values.
struct IntervalEdge {
  double weight_below;
  double cut;
};

void check_bins(std::size_t bins) {
  if (bins < 1 || bins > kMaxValues)
    throw InvalidInput("expected 1 to " + std::to_string(kMaxValues) + " bins" + ", got " + std::to_string(bins));
}

/// All edges in ascending order, and the total weight.
template <class Item>
double find_edges(std::vector<Item>& items, std::vector<IntervalEdge>& edges) {
  sort_by_key(items);
  double weight = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % kStepsPerCheck == 0) check_stop();
    if (i > 0 && items[i].key != items[i - 1].key)
      edges.push_back({weight, cut_between(key_number(items[i - 1].key), key_number(items[i].key))});
    weight += items[i].weight();
  }
  check_total_weight(weight);
  return weight;
}

/// The edge with the weight nearest to the target; of equally near ones the lowest.
const IntervalEdge& nearest(const std::vector<IntervalEdge>& edges, double target) {
  const auto first_from = [&](double weight) {
    return std::lower_bound(edges.begin(), edges.end(), weight,
                            [](const IntervalEdge& edge, double w) { return edge.weight_below < w; });
  };
  const auto above = first_from(target);
  if (above == edges.begin()) return *above;
  // Weights too small to change the sum give several edges of the same weight below.
  const auto below = first_from(std::prev(above)->weight_below);
  if (above == edges.end()) return *below;
  return target - below->weight_below <= above->weight_below - target ? *below : *above;
}

}  // namespace

std::vector<double> equal_frequency_cuts(const NumberColumn& x, std::size_t bins, std::span<const double> weights) {
  check_bins(bins);
  std::vector<IntervalEdge> edges;
  double total = 0;
  if (weights.empty()) {
    std::vector<Value> values;
    values.reserve(x.size());
    for_each_weighted_value(x, weights, [&](std::size_t, double v, double) { values.push_back({number_key(v)}); });
    total = find_edges(values, edges);
  } else {
    std::vector<WeightedValue> values;
    values.reserve(x.size());
    for_each_weighted_value(x, weights, [&](std::size_t, double v, double w) { values.push_back({number_key(v), w}); });
    total = find_edges(values, edges);
  }
  std::vector<double> cuts;
  if (edges.empty()) return cuts;
  for (std::size_t k = 1; k < bins; ++k) {
    // Multiplying first keeps targets of whole weights exact, unless the product is too large for a number.
    const double product = static_cast<double>(k) * total;
    const double target = std::isfinite(product) ? product / static_cast<double>(bins)
                                                 : static_cast<double>(k) * (total / static_cast<double>(bins));
    const double cut = nearest(edges, target).cut;
    if (cuts.empty() || cuts.back() < cut) cuts.push_back(cut);
  }
  return cuts;
}

std::vector<double> equal_width_cuts(const NumberColumn& x, std::size_t bins, std::span<const double> weights) {
  check_bins(bins);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for_each_weighted_value(x, weights, [&](std::size_t, double value, double) {
    low = std::min(low, value);
    high = std::max(high, value);
  });
  std::vector<double> cuts;
  if (!(low < high)) return cuts;
  // Near the largest double the width itself, or its multiple, would overflow: work on a smaller scale there.
  const double scale = std::isfinite((high - low) * static_cast<double>(bins)) ? 1.0 : 0x1p-20;
  const double start = low * scale;
  const double width = high * scale - start;
  for (std::size_t k = 1; k < bins; ++k) {
    const double cut = (start + static_cast<double>(k) * width / static_cast<double>(bins)) / scale + 0.0;
    // More bins than there are doubles in between: equal cuts are one, and no bin may end up beyond the largest number.
    if (cut >= low && cut < high && (cuts.empty() || cuts.back() < cut)) cuts.push_back(cut);
  }
  return cuts;
}

}  // namespace tanager

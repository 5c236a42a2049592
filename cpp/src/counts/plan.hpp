// Which method counts which table: a model of their costs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "counts/options.hpp"

namespace tanager::internal {

/// The features whose pairs are counted by bit sets, if the product of their bit rows is at most max_product.
struct BitPlan {
  std::vector<std::size_t> features;
  std::vector<bool> chosen;  // by feature
  std::size_t max_product = 0;

  bool counts_pair(const Dataset& data, std::size_t u, std::size_t v) const;
};

BitPlan plan_bits(const Dataset& data, CountScope scope, const CountOptions& options);

/// How a single feature, or a pair that bit sets do not count, is counted.
enum class TableMethod { kDirect, kHistogram, kCompare };

TableMethod single_method(const Dataset& data, std::size_t f, const CountOptions& options);
TableMethod pair_method(const Dataset& data, std::size_t u, std::size_t v, const CountOptions& options);

/// The number of threads that the work is worth, at most the number asked for.
int worthwhile_threads(const Dataset& data, CountScope scope, std::size_t n_families, int threads);

}  // namespace tanager::internal

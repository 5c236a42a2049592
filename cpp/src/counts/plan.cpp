// Costs are in nanoseconds, measured on a few machines. They need not be exact: between the methods lie factors.
#include "counts/plan.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "counts/bit_sets.hpp"
#include "counts/byte_compare.hpp"
#include "counts/common_ones.hpp"
#include "counts/histogram.hpp"
#include "support/parallel.hpp"

namespace tanager::internal {
namespace {

constexpr double kHistogramRow = 0.55;   // one increment
constexpr double kHistogramTable = 200;  // clearing and emptying a small work table
constexpr double kGatherRow = 0.45;      // one code into class order
constexpr double kMatchRow = 0.02;       // one code compared with one value
constexpr double kPextRow = 0.02;        // one bit into its class

/// Counting the common ones of two bit rows: per bit, and per class of a block.
struct GramCost {
  double bit;
  double segment;
};

GramCost gram_cost(Isa isa) {
  if (isa == Isa::kAvx512) return {0.0011, 5};
  if (isa == Isa::kAvx2) return {0.0028, 7};
  return {0.0059, 12};
}

/// Up to so many comparisons, comparing bytes is faster than a histogram.
std::size_t max_byte_comparisons(Isa isa) {
  return isa >= Isa::kAvx2 ? 64 : 32;
}

/// Cost of one cell of a pair's table by bit sets.
double cost_of_product(const Dataset& data, Isa isa) {
  const GramCost cost = gram_cost(isa);
  const auto n = static_cast<double>(data.n_rows());
  const std::size_t segments = data.n_classes() * (1 + data.n_rows() / kMaxOrderedRows);
  return n * cost.bit +
         static_cast<double>(segments) * (cost.segment + static_cast<double>(gram_granule(isa) * 32) * cost.bit);
}

double build_cost(const Dataset& data, std::size_t bit_rows, const CountOptions& options) {
  const auto rows = static_cast<double>(bit_rows);
  const bool by_pext = builds_by_pext(bit_rows, data.n_classes(), options.isa, options.fast_pext);
  const double order = by_pext ? kPextRow * rows * data.n_classes() : kGatherRow;
  return static_cast<double>(data.n_rows()) * (order + kMatchRow * rows);
}

bool can_have_bits(const Column& column) {
  return column.n_values() <= kMaxNarrowValues;
}

}  // namespace

bool BitPlan::counts_pair(const Dataset& data, std::size_t u, std::size_t v) const {
  return chosen[u] && chosen[v] && bit_rows_of(data.feature(u)) * bit_rows_of(data.feature(v)) <= max_product;
}

BitPlan plan_bits(const Dataset& data, CountScope scope, const CountOptions& options) {
  BitPlan plan;
  plan.chosen.assign(data.n_features(), false);
  const bool forced = options.method == CountMethod::kBits;
  if (scope != CountScope::kPairs || data.is_weighted() || data.n_rows() == 0 ||
      (options.method != CountMethod::kAuto && !forced))
    return plan;

  const double product_cost = cost_of_product(data, options.isa);
  const double histogram_cost = kHistogramTable + kHistogramRow * static_cast<double>(data.n_rows());
  plan.max_product =
      forced ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(histogram_cost / product_cost);
  std::array<std::size_t, kMaxNarrowValues + 1> with_rows{};
  for (const Column& column : data.features())
    if (can_have_bits(column)) ++with_rows[bit_rows_of(column)];
  // A feature gets bit sets if what its pairs save pays for building them.
  const auto pays = [&](std::size_t rows) {
    double saved = -build_cost(data, rows, options);
    for (std::size_t other = 0; other < with_rows.size(); ++other)
      if (rows * other <= plan.max_product)
        saved +=
            static_cast<double>(with_rows[other]) * (histogram_cost - static_cast<double>(rows * other) * product_cost);
    return saved > 0;
  };
  std::array<bool, kMaxNarrowValues + 1> chosen_rows{};
  for (std::size_t rows = 0; rows < with_rows.size(); ++rows)
    chosen_rows[rows] = with_rows[rows] > 0 && (forced || pays(rows));
  for (std::size_t f = 0; f < data.n_features(); ++f) {
    const Column& column = data.feature(f);
    if (!can_have_bits(column) || !chosen_rows[bit_rows_of(column)]) continue;
    plan.chosen[f] = true;
    plan.features.push_back(f);
  }
  return plan;
}

TableMethod single_method(const Dataset& data, std::size_t f, const CountOptions& options) {
  const bool whole = !data.is_weighted();
  if (options.method == CountMethod::kDirect) return TableMethod::kDirect;
  if (options.method != CountMethod::kHistogram && whole && fits_byte_compare(data.feature(f), data.target()) &&
      (options.method == CountMethod::kBits ||
       byte_comparisons(data.feature(f), data.n_classes()) <= max_byte_comparisons(options.isa)))
    return TableMethod::kCompare;
  return fits_histogram(data, std::nullopt, f) ? TableMethod::kHistogram : TableMethod::kDirect;
}

TableMethod pair_method(const Dataset& data, std::size_t u, std::size_t v, const CountOptions& options) {
  if (options.method == CountMethod::kDirect || !fits_histogram(data, u, v)) return TableMethod::kDirect;
  if (options.method == CountMethod::kHistogram) return TableMethod::kHistogram;
  // Clearing and emptying the work tables must not cost more than the rows do.
  const std::size_t cells = std::size_t{data.feature(u).n_values()} * data.feature(v).n_values() * data.n_classes();
  return cells <= data.n_rows() ? TableMethod::kHistogram : TableMethod::kDirect;
}

int worthwhile_threads(const Dataset& data, CountScope scope, std::size_t n_families, int threads) {
  constexpr double kCode = 0.05;
  constexpr double kPairRow = 0.02;
  constexpr double kFamilyRow = 2;
  constexpr double kPerThread = 50'000;  // starting a thread and waiting for it costs about as much
  const auto n = static_cast<double>(data.n_features());
  double row = n * kCode + static_cast<double>(n_families) * kFamilyRow;
  if (scope == CountScope::kPairs) row += n * n / 2 * (data.is_weighted() ? kHistogramRow : kPairRow);
  const double worth = 1 + row * static_cast<double>(data.n_rows()) / kPerThread;
  const int wanted = resolve_threads(threads);
  return worth < wanted ? static_cast<int>(worth) : wanted;
}

}  // namespace tanager::internal

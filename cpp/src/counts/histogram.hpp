// Counting with packed 16-bit indices into small tables that stay in the first-level cache.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tanager/counts.hpp"

namespace tanager::internal {

/// Tables of one feature u with several others: tables[i] receives the counts of (u, features[i], class) as
/// [value of u][value of features[i]][class], so u must be less than features[i]. Without u, tables[i] receives those
/// of (features[i], class) as [value][class].
struct HistogramTask {
  std::optional<std::size_t> u;
  std::span<const std::size_t> features;
};

/// Whether the table of u (if any) and v with the class is small enough for packed indices.
bool fits_histogram(const Dataset& data, std::optional<std::size_t> u, std::size_t v);

/// Adds the counts of all rows to the tables of the task. Every table must fit. Weighted rows are added in their order.
void count_by_histogram(const Dataset& data, const HistogramTask& task, std::span<const std::span<double>> tables);

}  // namespace tanager::internal

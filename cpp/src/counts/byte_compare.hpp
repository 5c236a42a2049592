// Counts of single 8-bit features with the class by comparing whole vectors of codes with every (value, class).
#pragma once

#include <cstddef>
#include <span>

#include "simd/cpu.hpp"
#include "tanager/counts.hpp"

namespace tanager::internal {

/// Whether comparing is possible: value and class fit one byte together.
bool fits_byte_compare(const Column& feature, const Column& target);
/// Number of comparisons per vector of codes: what the choice of the method depends on.
std::size_t byte_comparisons(const Column& feature, std::uint32_t n_classes);

/// Adds the counts of the features (all must fit) to tables[i], laid out [value][class]; rows count one each.
/// class_counts are those of the whole data set: they give the counts of every feature's last value.
void count_by_comparing(const Dataset& data, std::span<const std::size_t> features,
                        std::span<const std::span<double>> tables, std::span<const double> class_counts, Isa isa);

/// Adds the number of rows of each class; possible for 8-bit columns.
void count_classes_by_comparing(const Column& target, std::span<double> class_counts, Isa isa);

}  // namespace tanager::internal

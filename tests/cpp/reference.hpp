// Slow, obviously right versions of what the library does fast, and random data to compare them on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/dataset.hpp"

namespace reference {

/// What a random column looks like.
struct ColumnSpec {
  std::uint32_t n_values = 2;
  double missing = 0.0;  ///< probability of a missing value
  double skew = 0.0;     ///< probability that the code is zero, whatever else
  bool wide = false;     ///< 16-bit codes even where eight would do
};

inline tanager::Column random_column(const ColumnSpec& spec, std::size_t n_rows, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::vector<std::uint16_t> codes(n_rows, tanager::kMissing);
  for (std::uint16_t& code : codes) {
    if (spec.n_values == 0 || unit(random) < spec.missing) continue;
    code = unit(random) < spec.skew ? std::uint16_t{0} : static_cast<std::uint16_t>(random() % spec.n_values);
  }
  if (spec.wide || spec.n_values > tanager::kMaxNarrowValues) return tanager::Column(std::move(codes), spec.n_values);
  return tanager::Column(std::vector<std::uint8_t>(codes.begin(), codes.end()), spec.n_values);
}

/// Columns as specified, the last one being the class; weights between 0 and 2 if wanted.
inline tanager::Dataset random_dataset(const std::vector<ColumnSpec>& features, const ColumnSpec& target,
                                       std::size_t n_rows, bool weighted, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<tanager::Column> columns;
  for (const ColumnSpec& spec : features) columns.push_back(random_column(spec, n_rows, random));
  tanager::Column classes = random_column(target, n_rows, random);
  std::vector<double> weights;
  std::uniform_real_distribution<double> weight(0.0, 2.0);
  if (weighted)
    for (std::size_t row = 0; row < n_rows; ++row) weights.push_back(weight(random));
  return tanager::Dataset(std::move(columns), std::move(classes), std::move(weights));
}

/// Counts of a family, one row after the other.
inline std::vector<double> count_table(const tanager::Dataset& data, const tanager::Family& family) {
  std::vector<std::size_t> members = family.parents;
  members.push_back(family.child);
  std::size_t size = data.n_classes();
  for (const std::size_t f : members) size *= data.feature(f).n_values();
  std::vector<double> cells(size, 0.0);
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    bool observed = true;
    std::size_t index = 0;
    for (const std::size_t f : members) {
      const tanager::Code code = data.feature(f)[row];
      if (code == tanager::kMissing) observed = false;
      index = index * data.feature(f).n_values() + code;
    }
    if (!observed) continue;
    cells[index * data.n_classes() + data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
  }
  return cells;
}

}  // namespace reference

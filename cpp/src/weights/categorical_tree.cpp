// Trees whose nodes ask whether a feature has a value. One value against all others favors no feature for having many
// values, as one branch per value does, and the best such test is found exactly, whatever the number of classes.
//
// With f(n) = n ln n, splitting N rows with N_c of class c into n with n_c and the rest gains
//     sum_c [f(n_c) + f(N_c - n_c) - f(N_c)] - [f(n) + f(N - n) - f(N)]
// (times 1/N), where classes with n_c = 0 add nothing: the gains of all values cost no more than their counts.
#include "weights/categorical_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "support/check_stop.hpp"

namespace tanager::internal {
namespace {

template <class T>
constexpr T kMissingCode = std::is_same_v<T, std::uint8_t> ? kMissing8 : kMissing;

/// A table is counted if it is not much larger than the number of rows, which are sorted otherwise.
constexpr std::size_t kCellsPerRow = 8, kSmallTable = 64;

/// What splitting off `part` of `all` adds to the gain.
double difference(std::span<const double> terms, std::uint32_t part, std::uint32_t all) {
  return terms[part] + terms[all - part] - terms[all];
}

}  // namespace

std::vector<double> entropy_terms(std::size_t largest) {
  std::vector<double> terms(largest + 1, 0.0);
  for (std::size_t n = 2; n <= largest; ++n) terms[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
  return terms;
}

CategoricalTree::CategoricalTree(const Dataset& data, std::vector<std::size_t> features, std::span<const double> terms)
    : data_(data), features_(std::move(features)), terms_(terms), class_counts_(data.n_classes()) {}

bool CategoricalTree::is_pure(std::span<const std::uint32_t> rows) const {
  return data_.target().visit([&](auto codes) {
    return std::ranges::all_of(rows, [&](std::uint32_t row) { return codes[row] == codes[rows[0]]; });
  });
}

bool CategoricalTree::varies(std::size_t feature, std::span<const std::uint32_t> rows) const {
  return data_.feature(feature).visit([&]<class T>(std::span<const T> codes) {
    T first = kMissingCode<T>;
    for (const std::uint32_t row : rows) {
      if (codes[row] == first || codes[row] == kMissingCode<T>) continue;
      if (first != kMissingCode<T>) return true;
      first = codes[row];
    }
    return false;
  });
}

bool CategoricalTree::any_varies(std::span<const std::size_t> features, std::span<const std::uint32_t> rows) const {
  return std::ranges::any_of(features, [&](std::size_t f) { return varies(f, rows); });
}

std::optional<TreeSplit> CategoricalTree::best_split(std::span<const std::uint32_t> rows) {
  classes_.resize(rows.size());
  data_.target().visit([&](auto codes) {
    for (std::size_t i = 0; i < rows.size(); ++i) classes_[i] = codes[rows[i]];
  });
  TreeSplit best;
  for (const std::size_t f : features_)
    data_.feature(f).visit([&](auto codes) { try_feature(f, codes.data(), rows, best); });
  if (best.gain == 0) return std::nullopt;
  return best;
}

template <class T>
void CategoricalTree::try_feature(std::size_t feature, const T* codes, std::span<const std::uint32_t> rows,
                                  TreeSplit& best) {
  const std::size_t cells = std::size_t{data_.feature(feature).n_values()} * data_.n_classes();
  if (cells <= kSmallTable || cells <= kCellsPerRow * rows.size())
    try_table(feature, codes, rows, best);
  else
    try_sorted(feature, codes, rows, best);
}

template <class T>
void CategoricalTree::try_table(std::size_t feature, const T* codes, std::span<const std::uint32_t> rows,
                                TreeSplit& best) {
  const std::size_t n_classes = data_.n_classes(), n_values = data_.feature(feature).n_values();
  counts_.assign(n_values * n_classes, 0);
  if (data_.feature(feature).has_missing()) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const T code = codes[rows[i]]; code != kMissingCode<T>) ++counts_[code * n_classes + classes_[i]];
  } else {
    for (std::size_t i = 0; i < rows.size(); ++i) ++counts_[codes[rows[i]] * n_classes + classes_[i]];
  }
  std::ranges::fill(class_counts_, 0);
  for (std::size_t k = 0; k < n_values; ++k)
    for (std::size_t c = 0; c < n_classes; ++c) class_counts_[c] += counts_[k * n_classes + c];
  std::uint32_t observed = 0;
  for (const std::uint32_t n : class_counts_) observed += n;
  const double margin = gain_margin(terms_[rows.size()]);
  const std::size_t different = n_values == 2 ? 1 : n_values;  // of two values either gives the same test
  for (std::size_t k = 0; k < different; ++k) {
    std::uint32_t n = 0;
    double gain = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      const std::uint32_t part = counts_[k * n_classes + c];
      n += part;
      gain += difference(terms_, part, class_counts_[c]);
    }
    gain -= difference(terms_, n, observed);
    if (gain > best.gain + margin) best = {feature, static_cast<Code>(k), gain};
  }
}

template <class T>
void CategoricalTree::try_sorted(std::size_t feature, const T* codes, std::span<const std::uint32_t> rows,
                                 TreeSplit& best) {
  keys_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const T code = codes[rows[i]]; code != kMissingCode<T>)
      keys_.push_back(std::uint32_t{code} << 16 | classes_[i]);
  std::ranges::sort(keys_);
  const auto observed = static_cast<std::uint32_t>(keys_.size());
  for (const std::uint32_t key : keys_) class_counts_[key & 0xFFFF] = 0;  // there may be far more classes than rows
  for (const std::uint32_t key : keys_) ++class_counts_[key & 0xFFFF];
  const double margin = gain_margin(terms_[rows.size()]);
  for (std::size_t at = 0; at < keys_.size();) {
    const std::uint32_t value = keys_[at] >> 16;
    std::uint32_t n = 0;
    double gain = 0;
    while (at < keys_.size() && keys_[at] >> 16 == value) {
      const std::uint32_t key = keys_[at];
      std::uint32_t part = 0;
      for (; at < keys_.size() && keys_[at] == key; ++at) ++part;
      n += part;
      gain += difference(terms_, part, class_counts_[key & 0xFFFF]);
    }
    gain -= difference(terms_, n, observed);
    if (gain > best.gain + margin) best = {feature, static_cast<Code>(value), gain};
  }
}

/// Puts the rows with the value first, both sides in the order they had, and returns how many those are.
std::size_t CategoricalTree::divide(const TreeSplit& split, std::span<std::uint32_t> rows) {
  return data_.feature(split.feature).visit([&]<class T>(std::span<const T> codes) {
    std::size_t with = 0, without = 0;
    for (const std::uint32_t row : rows) {
      with += codes[row] == split.value ? 1U : 0U;
      without += codes[row] != split.value && codes[row] != kMissingCode<T> ? 1U : 0U;
    }
    const bool missing_with = with > without;
    others_.clear();
    std::size_t kept = 0;
    for (const std::uint32_t row : rows) {
      if (codes[row] == split.value || (missing_with && codes[row] == kMissingCode<T>))
        rows[kept++] = row;
      else
        others_.push_back(row);
    }
    std::ranges::copy(others_, rows.begin() + static_cast<std::ptrdiff_t>(kept));
    return kept;
  });
}

std::vector<std::uint32_t> CategoricalTree::least_depths(std::vector<std::uint32_t>& rows,
                                                         std::optional<std::size_t> max_depth) {
  // Level by level, so that a feature once tested is never tested further up: only those not tested yet matter.
  std::vector<std::uint32_t> depths(data_.n_features(), 0);
  std::vector<std::size_t> untested = features_;
  std::vector<Node> level{{0, rows.size()}}, next;
  const std::size_t deepest = max_depth.value_or(std::numeric_limits<std::uint32_t>::max());
  for (std::size_t depth = 1; depth <= deepest && !level.empty() && !untested.empty(); ++depth) {
    next.clear();
    for (const Node& node : level) {
      const std::span<std::uint32_t> here = std::span(rows).subspan(node.begin, node.end - node.begin);
      if (is_pure(here) || !any_varies(untested, here)) continue;
      check_stop();
      const std::optional<TreeSplit> split = best_split(here);
      if (!split) continue;
      if (depths[split->feature] == 0) {
        depths[split->feature] = static_cast<std::uint32_t>(depth);
        std::erase(untested, split->feature);
      }
      const std::size_t middle = node.begin + divide(*split, here);
      next.push_back({node.begin, middle});
      next.push_back({middle, node.end});
    }
    std::swap(level, next);
  }
  return depths;
}

}  // namespace tanager::internal

// Count sets after the lists of values have changed: grown, when more rows bring new values, or merged, when a part of
// the rows lacks some values or cuts numbers at fewer points.
#include <algorithm>
#include <string>
#include <utility>

#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

namespace tanager {
namespace {

void check_recoding(const Recoding& recoding, std::size_t n_old, std::uint32_t n_new, const std::string& what) {
  if (recoding.size() != n_old)
    throw InvalidInput("the recoding of " + what + " has " + std::to_string(recoding.size()) + " entries, but " +
                       std::to_string(n_old) + " values are known");
  std::vector<bool> taken(n_new, false);
  for (const Code code : recoding) {
    if (code >= n_new)
      throw InvalidInput("the recoding of " + what + " leads to code " + std::to_string(code) + ", but only " +
                         std::to_string(n_new) + " values are declared");
    if (taken[code])
      throw InvalidInput("the recoding of " + what + " leads to code " + std::to_string(code) + " twice");
    taken[code] = true;
  }
}

/// Counts positions up, the last one fastest; n_values(axis) says where each begins anew.
template <class Values>
void count_up(std::vector<std::size_t>& position, Values n_values) {
  for (std::size_t a = position.size(); a-- > 0;) {
    ++position[a];
    if (position[a] < n_values(a)) return;
    position[a] = 0;
  }
}

/// Copies a table cell by cell to where the recodings of its axes (outermost first) put it.
void move_cells(std::span<const double> from, std::span<double> to, std::span<const Recoding* const> axes,
                std::span<const std::uint32_t> new_dims) {
  if (from.empty()) return;
  const std::size_t n_axes = axes.size();
  std::vector<std::size_t> strides(n_axes, 1);
  for (std::size_t a = n_axes - 1; a > 0; --a) strides[a - 1] = strides[a] * new_dims[a];
  std::vector<std::size_t> position(n_axes, 0);
  for (const double cell : from) {
    std::size_t target = 0;
    for (std::size_t a = 0; a < n_axes; ++a) target += strides[a] * (*axes[a])[position[a]];
    to[target] = cell;
    count_up(position, [&](std::size_t a) { return axes[a]->size(); });
  }
}

/// Like move_cells, but cells may meet, which adds them up, or be dropped. A null axis stays as it is.
void merge_cells(std::span<const double> from, std::span<double> to, std::span<const Recoding* const> axes,
                 std::span<const std::uint32_t> old_dims, std::span<const std::uint32_t> new_dims) {
  if (std::all_of(axes.begin(), axes.end(), [](const Recoding* axis) { return axis == nullptr; })) {
    std::copy(from.begin(), from.end(), to.begin());
    return;
  }
  const std::size_t outer = axes.size() - 1, s = old_dims[outer], new_s = new_dims[outer];
  const Recoding* classes = axes[outer];
  std::vector<std::size_t> position(outer, 0);
  for (const double* cells = from.data(); cells != from.data() + from.size(); cells += s) {
    std::size_t target = 0;
    bool kept = true;
    for (std::size_t a = 0; a < outer; ++a) {
      const std::size_t code = axes[a] == nullptr ? position[a] : (*axes[a])[position[a]];
      kept &= axes[a] == nullptr || code != kMissing;
      target = target * new_dims[a] + code;
    }
    for (std::size_t c = 0; kept && c < s; ++c) {
      const std::size_t code = classes == nullptr ? c : (*classes)[c];
      if (classes == nullptr || code != kMissing) to[target * new_s + code] += cells[c];
    }
    count_up(position, [&](std::size_t a) { return old_dims[a]; });
  }
}

void check_merging(const Recoding& recoding, std::size_t n_old, std::uint32_t n_new, const std::string& what) {
  if (recoding.empty() ? n_new != n_old : recoding.size() != n_old)
    throw InvalidInput("the recoding of " + what + " has " + std::to_string(recoding.size()) + " entries, but " +
                       std::to_string(n_old) + " values are known and " + std::to_string(n_new) + " declared");
  for (const Code code : recoding)
    if (code >= n_new && code != kMissing)
      throw InvalidInput("the recoding of " + what + " leads to code " + std::to_string(code) + ", but only " +
                         std::to_string(n_new) + " values are declared");
}

void check_sizes(std::size_t n_features, std::size_t n_cardinalities, std::size_t n_recodings) {
  if (n_cardinalities != n_features || n_recodings != n_features)
    throw InvalidInput("expected " + std::to_string(n_features) + " cardinalities and recodings, got " +
                       std::to_string(n_cardinalities) + " and " + std::to_string(n_recodings));
}

std::vector<std::uint32_t> dims_with_class(const Family& family, const CountSet& counts) {
  std::vector<std::uint32_t> dims;
  for (const std::size_t parent : family.parents) dims.push_back(counts.cardinalities()[parent]);
  dims.push_back(counts.cardinalities()[family.child]);
  dims.push_back(counts.n_classes());
  return dims;
}

/// Calls move(family, cells of one set, cells of the other) for every table of two sets over the same features.
template <class Move>
void for_each_table(const CountSet& from, CountSet& to, Move move) {
  const std::size_t n = from.n_features();
  for (std::size_t f = 0; f < n; ++f) move(Family{f, {}}, from.single(f), to.single(f));
  if (from.scope() == CountScope::kPairs)
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) move(Family{v, {u}}, from.pair(u, v), to.pair(u, v));
  for (std::size_t i = 0; i < from.families().size(); ++i) move(from.families()[i], from.family(i), to.family(i));
}

}  // namespace

CountSet CountSet::recoded(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                           const std::vector<Recoding>& features, const Recoding& classes) const {
  check_sizes(n_features(), cardinalities.size(), features.size());
  for (std::size_t f = 0; f < n_features(); ++f)
    check_recoding(features[f], cardinalities_[f], cardinalities[f], "feature " + std::to_string(f));
  check_recoding(classes, n_classes_, n_classes, "the class");

  CountSet grown(std::move(cardinalities), n_classes, scope_, families_);
  for (std::size_t c = 0; c < n_classes_; ++c) grown.class_counts_[classes[c]] = class_counts_[c];
  for_each_table(*this, grown, [&](const Family& family, std::span<const double> from, std::span<double> to) {
    std::vector<const Recoding*> axes;
    for (const std::size_t parent : family.parents) axes.push_back(&features[parent]);
    axes.push_back(&features[family.child]);
    axes.push_back(&classes);
    move_cells(from, to, axes, dims_with_class(family, grown));
  });
  return grown;
}

CountSet CountSet::merged(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                          const std::vector<Recoding>& features, const Recoding& classes) const {
  check_sizes(n_features(), cardinalities.size(), features.size());
  for (std::size_t f = 0; f < n_features(); ++f)
    check_merging(features[f], cardinalities_[f], cardinalities[f], "feature " + std::to_string(f));
  check_merging(classes, n_classes_, n_classes, "the class");

  CountSet joined(std::move(cardinalities), n_classes, scope_, families_);
  const auto axis = [](const Recoding& recoding) { return recoding.empty() ? nullptr : &recoding; };
  const Recoding* const class_axis = axis(classes);
  merge_cells(class_counts_, joined.class_counts_, {&class_axis, 1}, {&n_classes_, 1}, {&n_classes, 1});
  std::vector<const Recoding*> axes;
  for_each_table(*this, joined, [&](const Family& family, std::span<const double> from, std::span<double> to) {
    axes.clear();
    for (const std::size_t parent : family.parents) axes.push_back(axis(features[parent]));
    axes.push_back(axis(features[family.child]));
    axes.push_back(class_axis);
    merge_cells(from, to, axes, dims_with_class(family, *this), dims_with_class(family, joined));
  });
  return joined;
}

}  // namespace tanager

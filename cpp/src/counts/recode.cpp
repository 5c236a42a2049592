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

/// Counts positions up, the last one fastest.
void count_up(std::vector<std::size_t>& position, std::span<const std::uint32_t> dims) {
  for (std::size_t a = position.size(); a-- > 0;) {
    ++position[a];
    if (position[a] < dims[a]) return;
    position[a] = 0;
  }
}

/// Adds every cell of a table to the one where the recodings of its axes (outermost first) put it, or drops it. A null
/// axis stays as it is.
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
    count_up(position, old_dims);
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

/// Adds all counts of a set to those of another one, where the recodings put them. An empty recoding moves nothing.
void merge_counts(const CountSet& from, CountSet& to, const std::vector<Recoding>& features, const Recoding& classes) {
  const auto axis = [](const Recoding& recoding) { return recoding.empty() ? nullptr : &recoding; };
  const Recoding* const class_axis = axis(classes);
  const std::uint32_t n_classes = from.n_classes(), new_classes = to.n_classes();
  merge_cells(from.class_counts(), to.class_counts(), {&class_axis, 1}, {&n_classes, 1}, {&new_classes, 1});
  std::vector<const Recoding*> axes;
  const auto merge = [&](const Family& family, std::span<const double> cells, std::span<double> merged) {
    axes.clear();
    for (const std::size_t parent : family.parents) axes.push_back(axis(features[parent]));
    axes.push_back(axis(features[family.child]));
    axes.push_back(class_axis);
    merge_cells(cells, merged, axes, dims_with_class(family, from), dims_with_class(family, to));
  };
  const std::size_t n = from.n_features();
  for (std::size_t f = 0; f < n; ++f) merge(Family{f, {}}, from.single(f), to.single(f));
  if (from.scope() == CountScope::kPairs)
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) merge(Family{v, {u}}, from.pair(u, v), to.pair(u, v));
  for (std::size_t i = 0; i < from.families().size(); ++i) merge(from.families()[i], from.family(i), to.family(i));
}

}  // namespace

CountSet CountSet::recoded(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                           const std::vector<Recoding>& features, const Recoding& classes) const {
  check_sizes(n_features(), cardinalities.size(), features.size());
  for (std::size_t f = 0; f < n_features(); ++f)
    check_recoding(features[f], cardinalities_[f], cardinalities[f], "feature " + std::to_string(f));
  check_recoding(classes, n_classes_, n_classes, "the class");

  CountSet grown(std::move(cardinalities), n_classes, scope_, families_);
  merge_counts(*this, grown, features, classes);
  return grown;
}

CountSet CountSet::merged(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                          const std::vector<Recoding>& features, const Recoding& classes) const {
  check_sizes(n_features(), cardinalities.size(), features.size());
  for (std::size_t f = 0; f < n_features(); ++f)
    check_merging(features[f], cardinalities_[f], cardinalities[f], "feature " + std::to_string(f));
  check_merging(classes, n_classes_, n_classes, "the class");

  CountSet joined(std::move(cardinalities), n_classes, scope_, families_);
  merge_counts(*this, joined, features, classes);
  return joined;
}

}  // namespace tanager

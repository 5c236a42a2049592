#include "search/super_parent_sums.hpp"

#include <algorithm>

#include "search/kernels.hpp"
#include "search/lookups.hpp"

namespace tanager::internal {
namespace {

/// Maximum number of joint values of a group's features; a single feature may have more. Fewer where a fold has few
/// rows: larger groups save look-ups in the rows, but have larger tables to fill for every fold.
constexpr std::size_t kGroupCells = 256;
constexpr std::size_t kRowsPerCell = 8;
/// Groups are added together until their children have this many terms: these are in memory at once.
constexpr std::size_t kTermsAtOnce = std::size_t{1} << 17;

/// to[j] = from[j] + added - taken, for cells of `width` numbers; `to` may be `from`, and `added` null for nothing.
void repeat(const double* from, std::size_t size, std::size_t width, const double* added, const double* taken,
            double* to) {
  if (added == nullptr) {
    if (to != from) std::copy_n(from, size * width, to);
  } else if (width == 1) {
    const double change = added[0] - taken[0];
    for (std::size_t j = 0; j < size; ++j) to[j] = from[j] + change;
  } else {
    for (std::size_t j = 0; j < size * width; j += width)
      for (std::size_t c = 0; c < width; ++c) to[j + c] = from[j + c] + (added[c] - taken[c]);
  }
}

}  // namespace

SuperParentSums::SuperParentSums(const TermTables& tables, std::size_t memory_limit)
    : rows_(tables.rows()), tables_(tables), kept_(rows_.n_features()) {
  const double n_sums = static_cast<double>(rows_.n_features() * tables.width()) * static_cast<double>(rows_.n_rows());
  keeps_ = n_sums * sizeof(double) <= static_cast<double>(memory_limit) / 4;
  const std::size_t max_cells = std::min(kGroupCells, rows_.n_rows() / (rows_.n_folds() * kRowsPerCell));
  for (std::size_t f = 0; f < rows_.n_features(); ++f) {
    if (groups_.empty() || groups_.back().n_cells * rows_.n_slots(f) > max_cells) groups_.emplace_back();
    Group& group = groups_.back();
    group.digits.push_back({.feature = f, .stride = static_cast<std::uint32_t>(group.n_cells)});
    group.n_cells *= rows_.n_slots(f);
  }
  for (Group& group : groups_) {
    const std::vector<std::uint32_t> values = joint_values(rows_, group.digits);
    group.index.assign(values.begin(), values.end());  // a group has few cells, or one feature: 16 bits suffice
  }
}

std::span<const double> SuperParentSums::of(std::size_t parent, std::span<const StructureChange> children) {
  Kept& kept = kept_[parent];
  std::vector<bool> is_child(rows_.n_features(), false);
  for (const StructureChange& child : children) is_child[child.feature] = true;
  if (kept.sums.empty()) {
    kept.sums.assign(rows_.n_rows() * tables_.width(), 0.0);
    build(parent, is_child, kept.sums);
  } else {
    for (std::size_t f = 0; f < rows_.n_features(); ++f)
      if (is_child[f] != kept.is_child[f]) add_child(parent, f, is_child[f] ? 1.0 : -1.0, kept.sums);
  }
  kept.is_child = std::move(is_child);
  return kept.sums;
}

void SuperParentSums::done_with(std::size_t parent) {
  if (!keeps_) kept_[parent] = {};
}

/// Adds what one child adds with the parent, less what it adds without.
void SuperParentSums::add_child(std::size_t parent, std::size_t child, double sign, std::vector<double>& sums) const {
  Lookups lookups;
  lookups.push_back({.terms = tables_.terms(child, {parent}), .sign = sign});
  lookups.push_back({.terms = tables_.terms(child, {}), .sign = -sign});
  lookups = joined(std::move(lookups), tables_);
  for_each_block(rows_.segments(), [&](const RowSegment& segment, std::size_t first, std::size_t n_rows) {
    add_lookups(lookups, tables_, segment.fold, first, n_rows, sums.data() + first * tables_.width());
  });
}

/// Nothing for a sparse table.
std::optional<SuperParentSums::Child> SuperParentSums::child_of(std::size_t parent, std::size_t feature) const {
  Child child{.without = tables_.terms(feature, {}), .shared = {}, .own = {}};
  if (child.without->is_sparse()) return std::nullopt;
  if (tables_.has_plain_pairs()) {
    child.own.resize(rows_.n_folds() * rows_.n_values(parent) * rows_.n_values(feature));
    tables_.pair_terms(parent, feature, child.own.data());
    return child;
  }
  child.shared = tables_.terms(feature, {parent});
  if ((*child.shared)->is_sparse()) return std::nullopt;
  return child;
}

/// What the children in a group add in one fold, [value of the parent][joint value of the group][width]: grown feature
/// by feature. The next value of the parent begins `stride` numbers later.
void SuperParentSums::grow(const Active& active, std::size_t fold, std::size_t n_parent_values, std::size_t stride,
                           double* cells) const {
  const std::size_t width = tables_.width();
  for (std::size_t value = 0; value < n_parent_values; ++value, cells += stride) {
    std::fill_n(cells, width, 0.0);
    std::size_t size = 1;
    for (std::size_t i = 0; i < active.children.size(); ++i) {
      const std::size_t n_slots = rows_.n_slots(active.group->digits[i].feature);
      const std::optional<Child>& child = active.children[i];
      const double* added = child ? child->with() + (fold * n_parent_values + value) * n_slots * width : nullptr;
      const double* taken = child ? child->without->fold(fold, width) : nullptr;
      // From the last value down: the numbers that all values begin with are overwritten last.
      for (std::size_t v = n_slots; v-- > 0;)
        repeat(cells, size, width, child ? added + v * width : nullptr, child ? taken + v * width : nullptr,
               cells + v * size * width);
      size *= n_slots;
    }
  }
}

/// Adds what the children in some groups add, looked up in one table per fold and group.
void SuperParentSums::add_groups(std::size_t parent, std::span<const Active> active, std::vector<double>& sums) const {
  const std::size_t width = tables_.width();
  const std::size_t n_parent_values = rows_.n_slots(parent);
  std::size_t stride = 0;
  for (const Active& each : active) stride += each.group->n_cells * width;
  std::vector<double> grown(n_parent_values * stride);
  std::vector<std::uint32_t> index(width == 1 ? 0 : rows_.n_rows());
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const std::size_t first = rows_.fold_begin(k);
    const std::size_t n_rows = rows_.fold_begin(k + 1) - first;
    SharedTables tables{.count = active.size(), .terms = {}, .index = {}, .stride = stride};
    double* cells = grown.data();
    for (std::size_t i = 0; i < active.size(); ++i) {
      grow(active[i], k, n_parent_values, stride, cells);
      tables.terms[i] = cells;
      tables.index[i] = active[i].group->index.data() + first;
      cells += active[i].group->n_cells * width;
    }
    if (width == 1) {
      add_shared_terms(tables, rows_.codes(parent) + first, n_rows, sums.data() + first);
      continue;
    }
    pair_codes(tables.index[0], 1, rows_.codes(parent) + first, static_cast<std::uint32_t>(active[0].group->n_cells),
               n_rows, index.data(), best_isa());
    add_terms(grown.data(), index.data(), n_rows, width, 1.0, sums.data() + first * width, best_isa());
  }
}

void SuperParentSums::build(std::size_t parent, const std::vector<bool>& is_child, std::vector<double>& sums) const {
  const std::size_t at_once = tables_.width() == 1 ? SharedTables::kMost : 1;
  std::vector<Active> active;
  std::size_t n_terms = 0;
  for (const Group& group : groups_) {
    Active next{.group = &group, .children = {}};
    bool any = false;
    for (const Digit& digit : group.digits) {
      const std::size_t f = digit.feature;
      std::optional<Child>& child = next.children.emplace_back();
      if (!is_child[f]) continue;
      child = child_of(parent, f);
      if (child) {
        n_terms += rows_.n_folds() * rows_.n_slots(parent) * rows_.n_slots(f);
        any = true;
      } else {
        add_child(parent, f, 1.0, sums);
      }
    }
    if (any) active.push_back(std::move(next));
    if (active.size() < at_once && n_terms < kTermsAtOnce && &group != &groups_.back()) continue;
    if (!active.empty()) add_groups(parent, active, sums);
    active.clear();
    n_terms = 0;
  }
}

}  // namespace tanager::internal

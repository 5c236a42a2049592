#include "search/super_parent_sums.hpp"

#include <algorithm>

#include "search/joint_values.hpp"
#include "search/kernels.hpp"

namespace tanager::internal {
namespace {

/// Joint values of the features of a group, at most; a single feature may have more. Fewer where a fold has few rows:
/// larger groups save look-ups in the rows, but have larger tables to fill for every fold.
constexpr std::size_t kGroupCells = 256, kRowsPerCell = 8;
/// With this many terms of its children or more, a group is added alone.
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

SuperParentSums::SuperParentSums(const SearchRows& rows, const SearchTables& tables, std::size_t memory_limit, Isa isa)
    : rows_(rows), tables_(tables), isa_(isa), kept_(rows.n_features()) {
  const double bytes = static_cast<double>(rows.n_features() * tables.width()) * static_cast<double>(rows.n_rows()) * 8;
  keeps_ = bytes <= static_cast<double>(memory_limit) / 4;
  const std::size_t cells = std::min(kGroupCells, rows.n_rows() / (rows.n_folds() * kRowsPerCell));
  for (std::size_t f = 0; f < rows.n_features(); ++f) {
    if (groups_.empty() || groups_.back().n_cells * rows.n_slots(f) > cells) groups_.emplace_back();
    groups_.back().features.push_back(f);
    groups_.back().n_cells *= rows.n_slots(f);
  }
  for (Group& group : groups_) {
    std::vector<Digit> digits;
    std::uint32_t stride = 1;
    for (const std::size_t f : group.features) {
      digits.push_back({f, stride});
      stride *= rows.n_slots(f);
    }
    const auto cells = cells_of_rows(rows, digits);
    group.index.assign(cells.begin(), cells.end());  // a group has few cells, or one feature
  }
}

std::span<const double> SuperParentSums::of(std::size_t parent, std::span<const std::size_t> children) {
  Kept& kept = kept_[parent];
  std::vector<bool> is_child(rows_.n_features(), false);
  for (const std::size_t child : children) is_child[child] = true;
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

void SuperParentSums::add_child(std::size_t parent, std::size_t child, double sign, std::vector<double>& sums) const {
  const std::size_t width = tables_.width();
  const Child found = child_of(parent, child);
  if (!found.with) {
    add_sparse(*tables_.terms(child, {parent}), sign, sums);
    add_sparse(*found.without, -sign, sums);
    return;
  }
  const std::size_t slots = rows_.n_slots(child), values = rows_.n_slots(parent);
  std::vector<double> change(values * slots * width);
  std::uint32_t index[kSearchBlock];
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const double *with = found.with + k * change.size(), *without = found.without->fold(k, width);
    for (std::size_t i = 0; i < change.size(); ++i) change[i] = with[i] - without[i % (slots * width)];
    for (std::size_t first = rows_.fold_begin(k); first < rows_.fold_begin(k + 1); first += kSearchBlock) {
      const std::size_t rows = std::min(kSearchBlock, rows_.fold_begin(k + 1) - first);
      pair_codes(rows_.codes(child) + first, 1, rows_.codes(parent) + first, static_cast<std::uint32_t>(slots), rows,
                 index, isa_);
      add_terms(change.data(), index, rows, width, sign, sums.data() + first * width, isa_);
    }
  }
}

/// A table whose rows say which of its cells is theirs, or one of a single feature.
void SuperParentSums::add_sparse(const FamilyTerms& family, double sign, std::vector<double>& sums) const {
  const std::size_t width = tables_.width();
  std::vector<std::uint32_t> found;
  if (!family.is_sparse()) found = cells_of_rows(rows_, family.digits);
  const std::uint32_t* cells = family.is_sparse() ? family.index.data() : found.data();
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const std::size_t first = rows_.fold_begin(k);
    add_terms(family.fold(k, width), cells + first, rows_.fold_begin(k + 1) - first, width, sign,
              sums.data() + first * width, isa_);
  }
}

SuperParentSums::Child SuperParentSums::child_of(std::size_t parent, std::size_t feature) const {
  Child child;
  child.without = tables_.terms(feature, {});
  if (child.without->is_sparse()) return child;
  if (tables_.has_plain_pairs()) {
    child.own.resize(rows_.n_folds() * rows_.n_values(parent) * rows_.n_values(feature));
    tables_.pair_terms(parent, feature, child.own.data());
    child.with = child.own.data();
    return child;
  }
  child.shared = tables_.terms(feature, {parent});
  if (!child.shared->is_sparse()) child.with = child.shared->terms.data();
  return child;
}

/// What the children in a group add in one fold, [value of the parent][joint value of the group][width]: grown feature
/// by feature. Those of the parent's next value begin `stride` numbers later.
void SuperParentSums::grow(const Group& group, std::span<const Child> children, std::size_t fold, std::size_t values,
                           std::size_t stride, double* cells) const {
  const std::size_t width = tables_.width();
  for (std::size_t value = 0; value < values; ++value, cells += stride) {
    std::fill_n(cells, width, 0.0);
    std::size_t size = 1;
    for (std::size_t i = 0; i < group.features.size(); ++i) {
      const std::size_t slots = rows_.n_slots(group.features[i]);
      const Child& child = children[i];
      const double* added = child.with ? child.with + (fold * values + value) * slots * width : nullptr;
      const double* taken = child.with ? child.without->fold(fold, width) : nullptr;
      // From the last value down, so that what is there is overwritten last.
      for (std::size_t v = slots; v-- > 0;)
        repeat(cells, size, width, child.with ? added + v * width : nullptr, child.with ? taken + v * width : nullptr,
               cells + v * size * width);
      size *= slots;
    }
  }
}

/// Adds what the children in some groups add, looked up in one table per fold and group.
void SuperParentSums::add_groups(std::size_t parent, std::span<const Active> active, std::vector<double>& sums) const {
  const std::size_t width = tables_.width(), values = rows_.n_slots(parent);
  std::size_t stride = 0;
  for (const Active& each : active) stride += each.group->n_cells * width;
  std::vector<double> grown(values * stride);
  std::vector<std::uint32_t> index(width == 1 ? 0 : rows_.n_rows());
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const std::size_t first = rows_.fold_begin(k), rows = rows_.fold_begin(k + 1) - first;
    SharedTables tables{active.size(), {}, {}, stride};
    double* cells = grown.data();
    for (std::size_t i = 0; i < active.size(); ++i) {
      const Group& group = *active[i].group;
      grow(group, active[i].children, k, values, stride, cells);
      tables.terms[i] = cells;
      tables.index[i] = group.index.data() + first;
      cells += group.n_cells * width;
    }
    if (width == 1) {
      add_shared_terms(tables, rows_.codes(parent) + first, rows, sums.data() + first);
      continue;
    }
    pair_codes(tables.index[0], 1, rows_.codes(parent) + first, static_cast<std::uint32_t>(active[0].group->n_cells),
               rows, index.data(), isa_);
    add_terms(grown.data(), index.data(), rows, width, 1.0, sums.data() + first * width, isa_);
  }
}

/// Groups are added several at once, but only while the terms of their children are few: one child alone may have as
/// many as memory allows.
void SuperParentSums::build(std::size_t parent, const std::vector<bool>& is_child, std::vector<double>& sums) const {
  const std::size_t at_once = tables_.width() == 1 ? SharedTables::kMost : 1;
  std::vector<Active> active;
  std::size_t n_terms = 0;
  for (const Group& group : groups_) {
    Active next{&group, {}};
    bool any = false;
    for (const std::size_t f : group.features) {
      next.children.push_back(is_child[f] ? child_of(parent, f) : Child{});
      const bool found = next.children.back().with != nullptr;
      if (is_child[f] && !found) add_child(parent, f, 1.0, sums);
      if (found) n_terms += rows_.n_folds() * rows_.n_slots(parent) * rows_.n_slots(f);
      any |= found;
    }
    if (any) active.push_back(std::move(next));
    if (active.size() < at_once && n_terms < kTermsAtOnce && &group != &groups_.back()) continue;
    if (!active.empty()) add_groups(parent, active, sums);
    active.clear();
    n_terms = 0;
  }
}

}  // namespace tanager::internal

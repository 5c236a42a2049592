#include "structure/search_super_parent.hpp"

#include <algorithm>

#include "structure/search_cells.hpp"
#include "structure/search_kernels.hpp"

namespace tanager {
namespace {

/// Joint values of the features of a group, at most; a single feature may have more.
constexpr std::size_t kGroupCells = 256;

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
  for (std::size_t f = 0; f < rows.n_features(); ++f) {
    if (groups_.empty() || groups_.back().n_cells * rows.n_slots(f) > kGroupCells) groups_.emplace_back();
    groups_.back().features.push_back(f);
    groups_.back().n_cells *= rows.n_slots(f);
  }
  for (Group& group : groups_) {
    std::vector<std::uint32_t> strides;
    std::uint32_t stride = 1;
    for (const std::size_t f : group.features) {
      strides.push_back(stride);
      stride *= rows.n_slots(f);
    }
    const auto cells = cells_of_rows(rows, group.features, strides);
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
  const auto cells = family.is_sparse() ? family.index : cells_of_rows(rows_, family.features, family.strides);
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const std::size_t first = rows_.fold_begin(k);
    add_terms(family.fold(k, width), cells.data() + first, rows_.fold_begin(k + 1) - first, width, sign,
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

/// For every fold and group, one table over the parent's value and the group's joint value, grown feature by feature.
void SuperParentSums::build(std::size_t parent, const std::vector<bool>& is_child, std::vector<double>& sums) const {
  const std::size_t width = tables_.width(), values = rows_.n_slots(parent);
  std::vector<double> grown;
  std::vector<std::uint32_t> index(rows_.n_rows());
  for (const Group& group : groups_) {
    std::vector<Child> children;
    bool any = false;
    for (const std::size_t f : group.features) {
      children.push_back(is_child[f] ? child_of(parent, f) : Child{});
      if (is_child[f] && !children.back().with) add_child(parent, f, 1.0, sums);
      any |= children.back().with != nullptr;
    }
    if (!any) continue;
    pair_codes(group.index.data(), 1, rows_.codes(parent), static_cast<std::uint32_t>(group.n_cells), index.size(),
               index.data(), isa_);
    for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
      grown.resize(values * group.n_cells * width);
      for (std::size_t value = 0; value < values; ++value) {
        double* cells = grown.data() + value * group.n_cells * width;
        std::fill_n(cells, width, 0.0);
        std::size_t size = 1;
        for (std::size_t i = 0; i < group.features.size(); ++i) {
          const std::size_t slots = rows_.n_slots(group.features[i]);
          const Child& child = children[i];
          const double* added = child.with ? child.with + (k * values + value) * slots * width : nullptr;
          const double* taken = child.with ? child.without->fold(k, width) : nullptr;
          // From the last value down, so that what is there is overwritten last.
          for (std::size_t v = slots; v-- > 0;)
            repeat(cells, size, width, child.with ? added + v * width : nullptr,
                   child.with ? taken + v * width : nullptr, cells + v * size * width);
          size *= slots;
        }
      }
      const std::size_t first = rows_.fold_begin(k);
      add_terms(grown.data(), index.data() + first, rows_.fold_begin(k + 1) - first, width, 1.0,
                sums.data() + first * width, isa_);
    }
  }
}

}  // namespace tanager

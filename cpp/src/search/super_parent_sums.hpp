// What a feature would add to every row as the parent of many others. From one step to the next only a few children
// change, so the sums are kept; on the grid, adding a term and taking it away is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/fold_rows.hpp"
#include "search/term_tables.hpp"
#include "tanager/learn_search.hpp"

namespace tanager::internal {

class SuperParentSums {
 public:
  SuperParentSums(const TermTables& tables, std::size_t memory_limit);

  /// [row][width]: the terms of the children, none of which has other parents, given the parent, less those without it.
  /// Valid until the next call for the same parent. Safe to call for different parents from several threads.
  std::span<const double> of(std::size_t parent, std::span<const StructureChange> children);
  /// To be called when the sums of a parent are no longer read: they are kept only if memory allows.
  void done_with(std::size_t parent);

 private:
  struct Kept {
    std::vector<bool> is_child;
    std::vector<double> sums;
  };
  /// Features whose joint value is looked up at once.
  struct Group {
    std::vector<Digit> digits;
    std::size_t n_cells = 1;
    std::vector<std::uint16_t> index;  // of every row
  };
  /// A child's terms with the parent, [fold][parent][child][width], and without it.
  struct Child {
    Terms without;
    std::optional<Terms> shared;
    std::vector<double> own;  // if not shared

    const double* with() const { return shared ? (*shared)->terms.data() : own.data(); }
  };
  /// A group some of whose features are children.
  struct Active {
    const Group* group;
    std::vector<std::optional<Child>> children;  // by feature of the group
  };
  std::optional<Child> child_of(std::size_t parent, std::size_t feature) const;
  void grow(const Active& active, std::size_t fold, std::size_t n_parent_values, std::size_t stride,
            double* cells) const;
  void add_groups(std::size_t parent, std::span<const Active> active, std::vector<double>& sums) const;
  void build(std::size_t parent, const std::vector<bool>& is_child, std::vector<double>& sums) const;
  void add_child(std::size_t parent, std::size_t child, double sign, std::vector<double>& sums) const;

  const FoldRows& rows_;
  const TermTables& tables_;
  bool keeps_;
  std::vector<Group> groups_;
  std::vector<Kept> kept_;
};

}  // namespace tanager::internal

// What a feature would add to every row as the parent of many others. From one batch of candidates to the next only a
// few children change, so the sums are kept; on the grid adding and taking away leaves no trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/fold_rows.hpp"
#include "search/term_tables.hpp"
#include "simd/cpu.hpp"

namespace tanager::internal {

class SuperParentSums {
 public:
  SuperParentSums(const SearchRows& rows, const SearchTables& tables, std::size_t memory_limit, Isa isa);

  /// [row][width]: the terms of the children given the parent, less those without it. Valid until the same parent is
  /// asked for again. Safe to call for different parents from several threads.
  std::span<const double> of(std::size_t parent, std::span<const std::size_t> children);
  /// Says that the sums of a parent are not looked at any more: they are kept only if memory allows.
  void done_with(std::size_t parent);

 private:
  struct Kept {
    std::vector<bool> is_child;
    std::vector<double> sums;
  };
  /// Features whose joint value is looked up at once.
  struct Group {
    std::vector<std::size_t> features;
    std::size_t n_cells = 1;
    std::vector<std::uint16_t> index;  // of every row
  };
  /// A child's terms, [fold][parent][child][width], made for the occasion or kept elsewhere.
  struct Child {
    const double* with = nullptr;  // null in a sparse table, and for what is no child
    Terms without, shared;
    std::vector<double> own;
  };
  /// A group some of whose features are children.
  struct Active {
    const Group* group;
    std::vector<Child> children;
  };
  Child child_of(std::size_t parent, std::size_t feature) const;
  void grow(const Group& group, std::span<const Child> children, std::size_t fold, std::size_t values,
            std::size_t stride, double* cells) const;
  void add_groups(std::size_t parent, std::span<const Active> active, std::vector<double>& sums) const;
  void build(std::size_t parent, const std::vector<bool>& is_child, std::vector<double>& sums) const;
  void add_sparse(const FamilyTerms& family, double sign, std::vector<double>& sums) const;
  void add_child(std::size_t parent, std::size_t child, double sign, std::vector<double>& sums) const;

  const SearchRows& rows_;
  const SearchTables& tables_;
  Isa isa_;
  bool keeps_;
  std::vector<Group> groups_;
  std::vector<Kept> kept_;
};

}  // namespace tanager::internal

// Single arcs between two features of a two-class problem: the case of which there may be millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/fold_rows.hpp"
#include "search/term_tables.hpp"
#include "simd/cpu.hpp"
#include "support/lazy.hpp"
#include "support/synchronized.hpp"

namespace tanager::internal {

/// Scores all arcs to one child at a time, parents of few values side by side in registers. Its tables are made in one
/// go and, since they stay the same from step to step, kept as long as memory allows.
class PairScorer {
 public:
  PairScorer(const SearchRows& rows, const SearchTables& tables, Isa isa);
  ~PairScorer();

  /// Mean accuracy over the folds after parent -> child, for every parent. `sums` is the difference of the two classes
  /// without the child's term, row by row. Rows that no table can sway are counted once, and only the others are looked
  /// at for every parent. Needs SearchTables::has_plain_pairs(). Safe to call from several threads.
  void score(std::size_t child, std::span<const std::uint32_t> parents, std::span<const double> sums,
             std::span<double> scores) const;

 private:
  struct Bundles;
  struct Tables;
  struct OpenRows;
  const Bundles& bundles() const;
  std::shared_ptr<const Tables> tables_of(std::size_t child, const std::vector<bool>& wanted) const;
  OpenRows open_rows(std::size_t child, const Tables& tables, std::span<const double> sums) const;
  void score_bundle(std::size_t bundle, std::size_t child, const Tables& tables, const OpenRows& open,
                    double* scores) const;

  const SearchRows& rows_;
  const SearchTables& tables_;
  const Isa isa_;
  Lazy<std::shared_ptr<const Bundles>> bundles_;
  mutable Synchronized<std::vector<std::shared_ptr<const Tables>>> kept_;  // by child
};

}  // namespace tanager::internal

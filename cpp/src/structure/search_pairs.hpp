// Single arcs between two features of a two-class problem: the case of which there may be millions.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "structure/search_rows.hpp"
#include "structure/search_tables.hpp"
#include "support/guarded.hpp"

namespace tanager {

/// Scores all arcs to one child at a time. Its tables are made in one go and, since they stay the same from step to
/// step, kept as long as memory allows.
class PairScorer {
 public:
  PairScorer(const SearchRows& rows, const SearchTables& tables);
  ~PairScorer();

  /// Mean accuracy over the folds after parent -> child, for every parent. `sums` is the difference of the two classes
  /// without the child's term, row by row. Rows that no table can sway are counted once, and only the others are looked
  /// at for every parent. Needs SearchTables::has_plain_pairs(). Safe to call from several threads.
  std::vector<double> score(std::size_t child, std::span<const std::size_t> parents,
                            std::span<const double> sums) const;

 private:
  struct Tables;
  struct OpenRows;
  std::shared_ptr<const Tables> tables_of(std::size_t child, std::span<const std::size_t> parents) const;
  OpenRows open_rows(std::size_t child, const Tables& tables, std::span<const double> sums) const;

  const SearchRows& rows_;
  const SearchTables& tables_;
  std::vector<std::vector<double>> shares_;                           // [fold][number of right rows]: the accuracy
  mutable Guarded<std::vector<std::shared_ptr<const Tables>>> kept_;  // by child
};

}  // namespace tanager

// Single arcs between two features of a two-class problem: the case of which there may be millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/fold_rows.hpp"
#include "search/term_tables.hpp"
#include "support/lazy.hpp"

namespace tanager::internal {

/// Scores all arcs to one child at a time, parents of few values side by side in registers. The tables of a child stay
/// the same from step to step, so they are kept as long as memory allows.
class PlainArcs {
 public:
  explicit PlainArcs(const TermTables& tables);

  /// Mean accuracy over the folds after parent -> child, for every parent. `sums` is the difference of the two classes
  /// without the child's term, row by row. Rows that no table can sway are counted once, and only the others are looked
  /// at for every parent. Needs TermTables::has_plain_pairs(). Safe to call for different children from several
  /// threads.
  void score(std::size_t child, std::span<const std::uint32_t> parents, std::span<const double> sums,
             std::span<double> scores);

 private:
  /// Parents that are scored side by side, one per lane.
  struct Bundle {
    std::size_t begin;     // in Bundles::features
    std::size_t count;     // of features
    std::size_t n_values;  // the largest of its features
    std::size_t n_lanes;
  };
  /// Features of few values in bundles of kParentLanes, all others alone. Sorted by their number of values, so few
  /// cells are for nothing.
  struct Bundles {
    explicit Bundles(const FoldRows& rows);

    std::vector<std::size_t> features;   // of all bundles
    std::vector<std::size_t> bundle_of;  // by feature
    std::vector<std::size_t> lane_of;    // by feature
    std::vector<Bundle> all;             // those of several lanes first
    std::vector<std::uint8_t> codes;     // [bundle][row][lane], of bundles of several lanes
  };
  /// The tables of a child's parents, bundle by bundle, and the smallest and largest term that any of them adds.
  struct Tables {
    // Of every bundle: [fold][value of the child][value of the parent][lane] with several lanes, [fold][value of the
    // parent][value of the child] of a feature alone.
    std::vector<double> terms;
    std::vector<std::size_t> begin;  // of every bundle in `terms`; kNone if it was not wanted
    std::vector<double> low;         // [fold][value of the child]
    std::vector<double> high;        // [fold][value of the child]

    bool have(const std::vector<bool>& wanted) const;
    std::size_t bytes() const;
  };
  struct OpenRows;

  const Bundles& bundles() const;
  Tables make_tables(std::size_t child, const std::vector<bool>& wanted) const;
  OpenRows open_rows(std::size_t child, const Tables& tables, std::span<const double> sums) const;
  void score_bundle(std::size_t i, std::size_t child, const Tables& tables, const OpenRows& open, double* scores) const;

  const FoldRows& rows_;
  const TermTables& tables_;
  Lazy<Bundles> bundles_;
  std::vector<Tables> kept_;  // by child; empty until they are made
};

}  // namespace tanager::internal

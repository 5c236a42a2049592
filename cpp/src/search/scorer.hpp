// Judges candidates. The log-joint of every test row and class is kept, as the tables of its own fold give it; a
// candidate takes a few features' terms away and puts others in their place.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "search/fold_rows.hpp"
#include "search/candidates.hpp"
#include "search/plain_arcs.hpp"
#include "search/super_parent_sums.hpp"
#include "search/term_tables.hpp"
#include "simd/cpu.hpp"
#include "support/parallel.hpp"
#include "tanager/learn_search.hpp"

namespace tanager::internal {

/// One of many moves, by its number.
struct ScoredMove {
  std::size_t move;
  double score;
};

/// A search lets exact inference have so many cells that they fill its memory limit, at this many bytes each; but never
/// less than anybody else has.
inline constexpr std::size_t kBytesPerCliqueCell = 64;

class SearchScorer {
 public:
  SearchScorer(const SearchRows& rows, const SearchTables& tables, SearchState start, const SearchOptions& options,
               ThreadTeam& team);
  ~SearchScorer();

  const SearchState& state() const { return state_; }
  /// The score of every fold after some changes; none gives that of the present structure.
  std::vector<double> fold_scores(std::span<const StructureChange> changes) const;
  /// The first move whose mean score is the best, up to rounding; there must be one move at least. `poll(done)` is
  /// called now and then, and may throw.
  ScoredMove best_of(std::span<const Move> moves, const MoveGenerator& generator,
                     const std::function<void(std::size_t done)>& poll);
  void accept(std::span<const StructureChange> changes);

 private:
  /// A term that is taken out of the log-joint or put into it.
  struct SignedTerms {
    Terms terms;
    double sign;
  };
  using Lookups = std::vector<SignedTerms>;
  /// What all candidates of a group begin with, besides the present sums.
  struct Base {
    Lookups lookups;
    std::span<const double> added;  // [row][width]; may be empty
  };
  struct Candidate {
    std::vector<StructureChange> changes;  // only where cells are missing
    Lookups lookups;
    std::vector<std::uint32_t> inexact_rows;  // where a missing feature has children: not a sum of terms
  };
  /// Moves that change the same features.
  struct Group {
    Move::Kind kind;
    std::uint32_t slot;
    std::size_t begin;                      // the place of the first of them, group by group
    std::span<const std::uint32_t> others;  // of each move
    std::size_t work;                       // compared with other groups

    std::size_t size() const { return others.size(); }
    Move operator[](std::size_t i) const { return {kind, slot, others[i]}; }
  };
  struct Workspace;
  struct Bounds;

  Terms terms_of(const StructureChange& change) const;
  Terms present_terms(std::size_t feature) const;
  std::size_t count_joined(const Lookups& lookups, std::size_t first) const;
  Terms sum_of(std::span<const SignedTerms> lookups) const;
  Lookups joined(Lookups lookups) const;
  Base old_terms(std::span<const StructureChange> changes) const;
  Candidate prepare(std::vector<StructureChange> changes, bool alone) const;
  Candidate prepare_super_parent(const Move& move, const MoveGenerator& generator, Base& base) const;
  Workspace& workspace_of(std::size_t worker);
  Bounds bounds_of(std::span<const Candidate> candidates) const;
  std::vector<std::uint32_t> find_inexact_rows(std::span<const StructureChange> changes) const;
  std::vector<Group> grouped(std::span<const Move> moves);
  bool is_plain(const Group& group) const;
  void score_plain_group(const Group& group, Workspace& work, std::span<double> scores) const;
  void sort_longest_first(std::span<Group> groups, const MoveGenerator& generator) const;
  void score_group(const Group& group, const MoveGenerator& generator, Workspace& work, std::span<double> scores) const;
  /// Score of every candidate and fold; `base` is what all of them take away.
  std::vector<double> evaluate(std::span<const Candidate> candidates, const Base& base, Workspace& work) const;
  void evaluate_counts(std::span<const Candidate> candidates, const Base& base, Workspace& work,
                       std::vector<double>& totals) const;
  void evaluate_values(const Candidate& candidate, const Base& base, Workspace& work, double* totals) const;
  void load_block(const RowSegment& segment, std::size_t first, std::size_t rows, const Base& base,
                  Workspace& work) const;
  void index_block(const FamilyTerms& family, std::size_t first, std::size_t rows, std::uint32_t* index) const;
  void index_rows(const FamilyTerms& family, std::size_t first, std::span<const std::uint32_t> kept,
                  std::uint32_t* index) const;
  void add_block(const Lookups& lookups, std::size_t fold, std::size_t first, std::size_t rows, Workspace& work,
                 double* sums) const;
  /// The sums of one row under a candidate, exactly: missing features summed out.
  void exact_sums(const Candidate& candidate, std::span<const std::uint32_t> rows,
                  const std::function<void(std::uint32_t row, const double* sums)>& take) const;
  void find_components();

  const SearchRows& rows_;
  const SearchTables& tables_;
  SearchState state_;
  SearchObjective objective_;
  std::size_t memory_limit_;
  ThreadTeam& team_;
  Isa isa_ = best_isa();
  PairScorer pairs_;
  std::vector<double> sums_;                            // [row][width]
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // of every thread, made when it first has work
  // Of the last moves, group by group: their scores, their numbers, what is joined by them. Kept, for new memory takes
  // long to come by.
  std::vector<double> scores_;
  std::vector<std::size_t> order_;
  std::vector<std::uint32_t> others_;
  mutable std::unique_ptr<SuperParentSums> super_parents_;
  std::vector<RowSegment> segments_;
  // Where cells are missing: the segment of every row, which features hang together, and which of them, having
  // children, may be missing.
  std::vector<std::uint32_t> segment_of_row_;
  std::vector<std::size_t> component_;
  std::vector<std::vector<std::size_t>> missing_parents_;  // by component
  // Rows whose sums were once summed out. If these are ln 0, nothing tells which terms were, so none can be taken away.
  std::vector<std::uint32_t> summed_rows_;
};

}  // namespace tanager::internal

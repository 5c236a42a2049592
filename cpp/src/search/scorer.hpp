// Scores candidates. The log-joint of every test row and class is kept, as the tables of the row's fold give it; a
// candidate takes a few features' terms away and puts others in their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/candidates.hpp"
#include "search/incomplete_rows.hpp"
#include "search/lookups.hpp"
#include "search/plain_arcs.hpp"
#include "search/super_parent_sums.hpp"
#include "search/term_tables.hpp"
#include "support/parallel.hpp"
#include "tanager/learn_search.hpp"

namespace tanager::internal {

class Scorer {
 public:
  Scorer(const TermTables& tables, const SearchState& start, const SearchOptions& options, ThreadTeam& team);

  const SearchState& state() const { return state_; }
  /// The score of every fold after some changes; no changes give those of the present structure.
  std::vector<double> fold_scores(std::span<const StructureChange> changes) const;
  /// Sets the scores of all candidates: their means over the folds.
  void score(std::span<CandidateGroup> groups);
  void accept(std::span<const StructureChange> changes);

 private:
  struct Candidate {
    Lookups lookups;                    // the terms of the changed features as they become
    std::span<const double> row_terms;  // in place of look-ups, of a super-parent: [row][width], less the old terms
    std::vector<StructureChange> changes;
    std::vector<std::uint32_t> inexact_rows;  // whose log-joint is not a sum of terms
  };
  struct Block;

  void take_away(std::size_t feature, Lookups& lookups) const;
  Lookups old_terms(std::span<const StructureChange> changes) const;
  Candidate prepare(std::vector<StructureChange> changes, bool alone) const;
  bool is_plain(const CandidateGroup& group) const;
  void score_group(CandidateGroup& group);
  void score_plain_arcs(CandidateGroup& group);
  void score_super_parent(CandidateGroup& group);
  void score_candidates(CandidateGroup& group) const;
  /// Scores of every candidate and fold, [candidate][fold]; `taken` is what all of them take away.
  std::vector<double> evaluate(const Lookups& taken, std::span<const Candidate> candidates) const;
  const double* load(const Lookups& taken, const RowSegment& segment, std::size_t first, std::size_t n_rows,
                     Block& block) const;
  void apply(const Lookups& taken, const Candidate& candidate, const RowSegment& segment, std::size_t first,
             std::size_t n_rows, Block& block) const;
  void count_correct_rows(const Lookups& taken, std::span<const Candidate> candidates,
                          std::vector<double>& totals) const;
  void recount_inexact_rows(const Lookups& taken, const Candidate& candidate, double* totals) const;
  void add_row_values(const Lookups& taken, const Candidate& candidate, double* totals) const;
  void sum_out(const Candidate& candidate,
               const std::function<void(std::uint32_t row, const double* sums)>& take) const;
  double mean_of_folds(const double* scores) const;

  const FoldRows& rows_;
  const TermTables& tables_;
  SearchState state_;
  SearchObjective objective_;
  ThreadTeam& team_;
  std::vector<double> sums_;  // [row][width]
  IncompleteRows incomplete_;
  PlainArcs plain_arcs_;
  std::optional<SuperParentSums> super_parents_;  // of kSuperParent only
};

}  // namespace tanager::internal

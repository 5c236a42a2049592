// Judges candidates. The log-joint of every test row and class is kept, as the tables of its own fold give it; a
// candidate takes a few features' terms away and puts others in their place.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "structure/search_moves.hpp"
#include "structure/search_rows.hpp"
#include "structure/search_tables.hpp"
#include "support/cpu.hpp"
#include "tanager/search.hpp"

namespace tanager {

class SearchScorer {
 public:
  SearchScorer(const SearchRows& rows, const SearchTables& tables, SearchState start, SearchObjective objective,
               int threads);

  const SearchState& state() const { return state_; }
  /// The score of every fold after some changes; none gives that of the present structure.
  std::vector<double> fold_scores(std::span<const StructureChange> changes) const;
  /// Mean scores of moves. `poll(done)` is called now and then, and may throw.
  std::vector<double> scores(std::span<const Move> moves, const MoveGenerator& generator,
                             const std::function<void(std::size_t done)>& poll) const;
  void accept(std::span<const StructureChange> changes);

 private:
  /// A table of terms over some features, one for every fold.
  struct Lookup {
    std::vector<std::size_t> features;
    std::vector<std::uint32_t> strides;
    std::size_t n_cells = 1;
    std::shared_ptr<const FamilyTerms> family;  // whose terms these are, or
    std::vector<double> terms;                  // [fold][cell][width], the sum of several families'

    const double* fold(std::size_t k, std::size_t width) const;
  };
  struct Candidate {
    std::vector<StructureChange> changes;
    std::vector<Lookup> lookups;
    std::vector<std::uint32_t> inexact_rows;  // where a missing feature has children: not a sum of terms
  };
  struct Workspace;

  std::shared_ptr<const FamilyTerms> terms_of(const StructureChange& change) const;
  std::shared_ptr<const FamilyTerms> present_terms(std::size_t feature) const;
  void add_lookup(std::vector<Lookup>& lookups, std::shared_ptr<const FamilyTerms> family, double sign) const;
  Candidate prepare(std::vector<StructureChange> changes, bool shares_base) const;
  std::vector<std::uint32_t> find_inexact_rows(std::span<const StructureChange> changes) const;
  void score_group(std::span<const Move> moves, std::span<const std::size_t> members, const MoveGenerator& generator,
                   std::vector<double>& scores) const;
  /// Score of every candidate and fold; `base` is a family whose terms are taken away first, if there is one.
  std::vector<double> evaluate(std::span<const Candidate> candidates, const FamilyTerms* base) const;
  void evaluate_counts(std::span<const Candidate> candidates, const FamilyTerms* base, Workspace& work,
                       std::vector<double>& totals) const;
  void evaluate_values(const Candidate& candidate, const FamilyTerms* base, Workspace& work, double* totals) const;
  void load_block(const RowSegment& segment, std::size_t first, std::size_t rows, const FamilyTerms* base,
                  Workspace& work) const;
  void index_block(const Lookup& lookup, std::size_t first, std::size_t rows, std::uint32_t* index) const;
  /// The sums of one row under a candidate, exactly: missing features summed out.
  void exact_sums(const Candidate& candidate, std::span<const std::uint32_t> rows,
                  const std::function<void(std::uint32_t row, const double* sums)>& take) const;
  void find_components();

  const SearchRows& rows_;
  const SearchTables& tables_;
  SearchState state_;
  SearchObjective objective_;
  int threads_;
  Isa isa_ = best_isa();
  std::vector<double> sums_;  // [row][width]
  std::vector<std::uint32_t> segment_of_row_;
  std::vector<RowSegment> segments_;
  // Where cells are missing: which features hang together, and which of them, having children, may be missing.
  std::vector<std::size_t> component_;
  std::vector<std::vector<std::size_t>> missing_parents_;  // by component
};

}  // namespace tanager

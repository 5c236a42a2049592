// What a search may try next. A generator per method proposes candidates; search.cpp has them scored and takes the
// best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/term_tables.hpp"
#include "tanager/learn_search.hpp"

namespace tanager::internal {

/// The structure that a search has reached; parents in increasing order.
struct SearchState {
  std::vector<std::vector<std::size_t>> parents;
  std::vector<bool> absent;

  void apply(std::span<const StructureChange> changes);
  Structure structure() const { return Structure::leaving_out(absent, parents); }
};

/// The initial state of a search. Throws InvalidInput if the options contradict each other.
SearchState first_state(const SearchOptions& options, std::size_t n_features);

/// Candidates that change the same features, and so share what is left of the log-joint without them. Each makes the
/// common changes and gives all of their features some more parents. Stored flat, since a search may have millions.
struct CandidateGroup {
  std::vector<StructureChange> changes;  ///< common to all candidates
  std::vector<std::uint64_t> ranks;      ///< of every candidate; ties go to the lowest
  std::vector<std::uint32_t> added;      ///< further parents, candidate by candidate
  std::vector<std::uint32_t> added_end;  ///< where those of every candidate end
  std::vector<double> scores;            ///< of every candidate, once scored

  std::size_t size() const { return ranks.size(); }
  void add(std::uint64_t rank, std::span<const std::size_t> parents);
  std::span<const std::uint32_t> added_by(std::size_t i) const;
  /// Whether every candidate adds exactly one parent.
  bool adds_one_each() const;
  /// All that candidate i changes.
  std::vector<StructureChange> expand(std::size_t i) const;
};

class CandidateGenerator {
 public:
  virtual ~CandidateGenerator() = default;
  /// All candidates for the next step; no group is empty.
  virtual std::vector<CandidateGroup> propose(const SearchState& state) = 0;
};

/// The options and limits must outlive the generator. kSuperParent proposes every feature as the parent of all features
/// without one; the second round is up to the caller.
std::unique_ptr<CandidateGenerator> make_generator(const SearchOptions& options, const TableLimits& limits);

/// The second round of kSuperParent: each change of a candidate on its own.
std::vector<CandidateGroup> one_by_one(std::span<const StructureChange> changes);

/// One of many candidates.
struct Choice {
  const CandidateGroup* group;
  std::size_t candidate;

  double score() const { return group->scores[candidate]; }
  std::vector<StructureChange> changes() const { return group->expand(candidate); }
};

/// The candidate with the best score, up to rounding, that has the lowest rank; there must be one.
Choice first_best(std::span<const CandidateGroup> groups);

}  // namespace tanager::internal

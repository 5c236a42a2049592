// Moves that add arcs between features: hill climbing and super-parents (Keogh and Pazzani 2002).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/candidates.hpp"

namespace tanager::internal {

/// One arc more, into features with fewer than `max_parents` feature parents.
class ArcMoves : public MoveGenerator {
 public:
  ArcMoves(const SearchOptions& options, Fits fits);
  std::vector<StructureChange> expand(const Move& move, const SearchState& state) const override;

 protected:
  void find_moves(const SearchState& state, const FindBest& find_best, std::vector<Move>& moves) override;
  /// Whether parent -> child is possible: allowed, not there, without a cycle, its table not too large.
  bool is_possible(std::size_t parent, std::size_t child, const SearchState& state,
                   const std::vector<bool>& ancestors_of_parent) const;

 private:
  std::size_t max_parents_;
  bool symmetric_;
};

/// The feature that would be the best parent of all features without one; then its best single child.
class SuperParentMoves : public ArcMoves {
 public:
  SuperParentMoves(const SearchOptions& options, Fits fits) : ArcMoves(options, std::move(fits)) {}
  std::vector<StructureChange> expand(const Move& move, const SearchState& state) const override;
  std::span<const std::size_t> children_of_all(const Move& move) const override { return children_[move.slot]; }

 protected:
  void find_moves(const SearchState& state, const FindBest& find_best, std::vector<Move>& moves) override;

 private:
  std::vector<std::size_t> children_for(std::size_t parent, const SearchState& state) const;

  std::vector<std::vector<std::size_t>> children_;  // of every feature as a super-parent, in the step being proposed
};

}  // namespace tanager::internal

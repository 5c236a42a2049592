// Moves of semi-naive Bayes: features that are dropped or added, and groups that are joined (Pazzani 1996). A group is
// fully connected; its members are listed parents first.
#pragma once

#include <vector>

#include "search/candidates.hpp"

namespace tanager::internal {

class JoinMoves : public MoveGenerator {
 public:
  JoinMoves(const SearchOptions& options, const SearchState& start, Fits fits);
  std::vector<StructureChange> expand(const Move& move, const SearchState& state) const override;
  std::size_t count_changes(const Move& move) const override;
  void accepted(const Move& move) override;

 protected:
  const std::vector<std::vector<std::size_t>>& groups() const { return groups_; }
  /// Whether the members of `parents` may become parents of all members of `children`.
  bool can_join(const std::vector<std::size_t>& children, const std::vector<std::size_t>& parents,
                const SearchState& state) const;

 private:
  std::vector<std::vector<std::size_t>> groups_;
};

/// FSSJ: add a feature alone, or join it to a group.
class ForwardJoinMoves : public JoinMoves {
 public:
  using JoinMoves::JoinMoves;

 protected:
  void find_moves(const SearchState& state, const FindBest& find_best, std::vector<Move>& moves) override;
};

/// BSEJ: drop a feature, or join two groups.
class BackwardJoinMoves : public JoinMoves {
 public:
  using JoinMoves::JoinMoves;

 protected:
  void find_moves(const SearchState& state, const FindBest& find_best, std::vector<Move>& moves) override;
};

}  // namespace tanager::internal

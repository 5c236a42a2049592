// What a search may try next: one generator of candidates per method, for the one greedy loop of search.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tanager/learn_search.hpp"

namespace tanager::internal {

/// The structure that a search has reached; parents in increasing order.
struct SearchState {
  std::vector<std::vector<std::size_t>> parents;
  std::vector<bool> absent;

  void apply(std::span<const StructureChange> changes);
  Structure structure() const { return Structure::leaving_out(absent, parents); }
};

/// A candidate, kept small since there may be millions. Moves of the same `slot` change the same features, so that they
/// share what is left of the log-joint without them.
struct Move {
  enum class Kind : std::uint8_t { kArc, kParentOfAll, kDrop, kAdd, kJoin, kAddToGroup };
  static constexpr std::size_t kKinds = 6;
  Kind kind;
  std::uint32_t slot;   ///< the child, the parent of all, the feature, the group that gets parents
  std::uint32_t other;  ///< the parent, or the group that is joined
};

class MoveGenerator {
 public:
  /// Returns the first of the moves that is as good as the best.
  using FindBest = std::function<std::size_t(std::span<const Move>)>;
  /// Says whether the table of a child with two sets of parents stays within the limits.
  using Fits = std::function<bool(std::size_t child, std::span<const std::size_t>, std::span<const std::size_t>)>;

  MoveGenerator(const SearchOptions& options, Fits fits);
  virtual ~MoveGenerator() = default;

  /// The candidates to be compared with the present structure, in the order in which ties are decided. Valid until the
  /// next call: there may be millions, and new memory for them would take longer than to write them.
  std::span<const Move> propose(const SearchState& state, const FindBest& find_best) {
    moves_.clear();
    find_moves(state, find_best, moves_);
    return moves_;
  }
  /// What a move means.
  virtual std::vector<StructureChange> expand(const Move& move, const SearchState& state) const = 0;
  /// About how many features a move changes: what takes longest is told without expanding anything.
  virtual std::size_t count_changes(const Move& /*move*/) const { return 1; }
  /// The features that a move of the kind kParentOfAll gives a parent, in methods that have such moves.
  virtual std::span<const std::size_t> children_of_all(const Move& /*move*/) const { return {}; }
  /// Told of the move that was accepted.
  virtual void accepted(const Move& /*move*/) {}

 protected:
  /// Appends the candidates to `moves`, which is empty.
  virtual void find_moves(const SearchState& state, const FindBest& find_best, std::vector<Move>& moves) = 0;
  bool is_forbidden(std::size_t parent, std::size_t child) const { return forbidden_.contains({parent, child}); }
  bool is_required(std::size_t feature) const { return required_.contains(feature); }
  bool fits(std::size_t child, std::span<const std::size_t> parents, std::span<const std::size_t> added) const {
    return fits_(child, parents, added);
  }

 private:
  std::set<std::pair<std::size_t, std::size_t>> forbidden_;
  std::set<std::size_t> required_;  // features with a required arc
  Fits fits_;
  std::vector<Move> moves_;
};

/// The state that a search begins with. Throws InvalidInput if the options contradict each other.
SearchState first_state(const SearchOptions& options, std::size_t n_features);

std::unique_ptr<MoveGenerator> make_generator(const SearchOptions& options, const SearchState& start,
                                              MoveGenerator::Fits fits);

/// The best of `scores`, up to rounding, that comes first in an order: where in `scores` it is. Place i of `order`
/// tells when scores[i] comes.
std::size_t first_best(std::span<const double> scores, std::span<const std::size_t> order);

}  // namespace tanager::internal

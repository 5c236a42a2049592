#include "search/join_moves.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace tanager::internal {
namespace {

/// Both in one, in increasing order.
std::vector<std::size_t> merged(std::span<const std::size_t> a, std::span<const std::size_t> b) {
  std::vector<std::size_t> all(a.size() + b.size());
  std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), all.begin()));
  std::sort(all.begin(), all.end());
  return all;
}

Move move_of(Move::Kind kind, std::size_t slot, std::size_t other) {
  return {kind, static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(other)};
}

}  // namespace

JoinMoves::JoinMoves(const SearchOptions& options, const SearchState& start, Fits fits)
    : MoveGenerator(options, std::move(fits)) {
  // A feature belongs to the group of its first parent; the one with i parents is the group's member i.
  const std::size_t n = start.parents.size();
  std::vector<std::size_t> root(n);
  for (std::size_t f = 0; f < n; ++f) {
    root[f] = f;
    for (const std::size_t p : start.parents[f])
      if (start.parents[p].empty()) root[f] = p;
  }
  std::vector<std::size_t> group_of(n, n);
  for (std::size_t f = 0; f < n; ++f) {
    if (start.absent[f]) continue;
    std::size_t& group = group_of[root[f]];
    if (group == n) {
      group = groups_.size();
      groups_.emplace_back();
    }
    groups_[group].push_back(f);
  }
  for (auto& group : groups_)
    std::sort(group.begin(), group.end(),
              [&](std::size_t a, std::size_t b) { return start.parents[a].size() < start.parents[b].size(); });
}

bool JoinMoves::can_join(const std::vector<std::size_t>& children, const std::vector<std::size_t>& parents,
                         const SearchState& state) const {
  for (const std::size_t child : children)
    for (const std::size_t parent : parents)
      if (is_forbidden(parent, child)) return false;
  // The last member has all others for parents, hence the largest table, up to the number of its values.
  return std::all_of(children.begin(), children.end(),
                     [&](std::size_t child) { return fits(child, state.parents[child], parents); });
}

std::vector<StructureChange> JoinMoves::expand(const Move& move, const SearchState& state) const {
  std::vector<StructureChange> changes;
  switch (move.kind) {
    case Move::Kind::kAdd:
      changes.push_back({move.slot, false, {}});
      break;
    case Move::Kind::kAddToGroup:
      changes.push_back({move.slot, false, merged({}, groups_[move.other])});
      break;
    case Move::Kind::kJoin:
      for (const std::size_t child : groups_[move.slot])
        changes.push_back({child, false, merged(state.parents[child], groups_[move.other])});
      break;
    default:  // kDrop
      changes.push_back({move.slot, true, {}});
      for (std::size_t f = 0; f < state.parents.size(); ++f) {
        const auto& parents = state.parents[f];
        if (!std::binary_search(parents.begin(), parents.end(), std::size_t{move.slot})) continue;
        StructureChange change{f, false, {}};
        std::remove_copy(parents.begin(), parents.end(), std::back_inserter(change.parents), std::size_t{move.slot});
        changes.push_back(std::move(change));
      }
  }
  return changes;
}

std::size_t JoinMoves::count_changes(const Move& move) const {
  return move.kind == Move::Kind::kJoin ? groups_[move.slot].size() : 1;
}

void JoinMoves::accepted(const Move& move) {
  switch (move.kind) {
    case Move::Kind::kAdd:
      groups_.push_back({move.slot});
      break;
    case Move::Kind::kAddToGroup:
      groups_[move.other].push_back(move.slot);
      break;
    case Move::Kind::kJoin: {
      auto& parents = groups_[move.other];
      parents.insert(parents.end(), groups_[move.slot].begin(), groups_[move.slot].end());
      groups_[move.slot] = std::move(parents);
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(move.other));
      break;
    }
    default:  // kDrop
      for (auto& group : groups_) std::erase(group, std::size_t{move.slot});
      std::erase_if(groups_, [](const auto& group) { return group.empty(); });
  }
}

void ForwardJoinMoves::find_moves(const SearchState& state, const FindBest& /*find_best*/, std::vector<Move>& moves) {
  const std::size_t n = state.parents.size();
  for (std::size_t f = 0; f < n; ++f)
    if (state.absent[f] && fits(f, {}, {})) moves.push_back(move_of(Move::Kind::kAdd, f, 0));
  for (std::size_t f = 0; f < n; ++f)
    for (std::size_t group = 0; group < groups().size(); ++group)
      if (state.absent[f] && can_join({f}, groups()[group], state))
        moves.push_back(move_of(Move::Kind::kAddToGroup, f, group));
}

void BackwardJoinMoves::find_moves(const SearchState& state, const FindBest& /*find_best*/, std::vector<Move>& moves) {
  for (std::size_t f = 0; f < state.parents.size(); ++f)
    if (!state.absent[f] && !is_required(f)) moves.push_back(move_of(Move::Kind::kDrop, f, 0));
  for (std::size_t children = 0; children < groups().size(); ++children)
    for (std::size_t parents = children + 1; parents < groups().size(); ++parents)
      if (can_join(groups()[children], groups()[parents], state))
        moves.push_back(move_of(Move::Kind::kJoin, children, parents));
}

}  // namespace tanager::internal

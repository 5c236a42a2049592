#include "search/generators.hpp"

#include <algorithm>

namespace tanager::internal {
namespace {

/// Marks a feature and all features that arcs lead from to it.
std::vector<bool> ancestors_of(std::size_t feature, const SearchState& state) {
  std::vector<bool> found(state.parents.size(), false);
  std::vector<std::size_t> stack{feature};
  found[feature] = true;
  while (!stack.empty()) {
    const std::size_t next = stack.back();
    stack.pop_back();
    for (const std::size_t p : state.parents[next])
      if (!found[p]) {
        found[p] = true;
        stack.push_back(p);
      }
  }
  return found;
}

std::vector<std::size_t> with(std::vector<std::size_t> parents, std::size_t added) {
  parents.insert(std::upper_bound(parents.begin(), parents.end(), added), added);
  return parents;
}

Move arc(std::size_t parent, std::size_t child) {
  return {Move::Kind::kArc, static_cast<std::uint32_t>(child), static_cast<std::uint32_t>(parent)};
}

}  // namespace

ArcMoves::ArcMoves(const SearchOptions& options, Fits fits)
    : MoveGenerator(options, std::move(fits)), max_parents_(options.max_parents), symmetric_(options.symmetric) {}

bool ArcMoves::is_possible(std::size_t parent, std::size_t child, const SearchState& state,
                           const std::vector<bool>& ancestors_of_parent) const {
  if (state.absent[parent] || state.absent[child] || ancestors_of_parent[child] || is_forbidden(parent, child))
    return false;
  const auto& parents = state.parents[child];
  return !std::binary_search(parents.begin(), parents.end(), parent) && fits(child, parents, {&parent, 1});
}

// In bnclassify's order: parents that can take no more parents themselves come first, with their children in column
// order; then the others, each with the children after it and then those before it.
void ArcMoves::find_moves(const SearchState& state, const FindBest& /*find_best*/, std::vector<Move>& moves) {
  const std::size_t n = state.parents.size();
  const auto is_full = [&](std::size_t f) { return state.parents[f].size() >= max_parents_; };
  for (const bool full : {true, false})
    for (std::size_t parent = 0; parent < n; ++parent) {
      if (is_full(parent) != full || state.absent[parent]) continue;
      const std::vector<bool> ancestors = ancestors_of(parent, state);
      const auto try_children = [&](std::size_t begin, std::size_t end) {
        for (std::size_t child = begin; child < end; ++child)
          if (!is_full(child) && is_possible(parent, child, state, ancestors)) moves.push_back(arc(parent, child));
      };
      if (full) {
        try_children(0, n);
        continue;
      }
      if (!symmetric_ || !state.parents[parent].empty()) {
        try_children(parent + 1, n);
      } else {
        // The opposite arc from a later feature stands for both, unless that is not possible.
        for (std::size_t child = parent + 1; child < n; ++child)
          if (!is_full(child) && (!state.parents[child].empty() || is_forbidden(child, parent)) &&
              is_possible(parent, child, state, ancestors))
            moves.push_back(arc(parent, child));
      }
      try_children(0, parent);
    }
}

std::vector<StructureChange> ArcMoves::expand(const Move& move, const SearchState& state) const {
  return {{move.slot, false, with(state.parents[move.slot], move.other)}};
}

std::vector<std::size_t> SuperParentMoves::children_for(std::size_t parent, const SearchState& state) const {
  std::vector<std::size_t> children;
  const std::vector<bool> ancestors = ancestors_of(parent, state);
  for (std::size_t child = 0; child < state.parents.size(); ++child)
    if (state.parents[child].empty() && is_possible(parent, child, state, ancestors)) children.push_back(child);
  return children;
}

void SuperParentMoves::find_moves(const SearchState& state, const FindBest& find_best, std::vector<Move>& moves) {
  children_.assign(state.parents.size(), {});
  for (std::size_t parent = 0; parent < state.parents.size(); ++parent) {
    if (state.absent[parent]) continue;
    children_[parent] = children_for(parent, state);
    if (!children_[parent].empty()) moves.push_back({Move::Kind::kParentOfAll, static_cast<std::uint32_t>(parent), 0});
  }
  if (moves.empty()) return;
  const std::size_t best = moves[find_best(moves)].slot;
  moves.clear();
  for (const std::size_t child : children_[best]) moves.push_back(arc(best, child));
}

std::vector<StructureChange> SuperParentMoves::expand(const Move& move, const SearchState& state) const {
  if (move.kind == Move::Kind::kArc) return ArcMoves::expand(move, state);
  std::vector<StructureChange> changes;
  changes.reserve(children_[move.slot].size());
  for (const std::size_t child : children_[move.slot]) changes.push_back({child, false, {move.slot}});
  return changes;
}

}  // namespace tanager::internal

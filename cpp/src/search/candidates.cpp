#include "search/candidates.hpp"

#include <algorithm>
#include <limits>

#include "parameters/from_counts.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

// Means of fold scores that are equal on paper may differ in their last digits.
constexpr double kTie = 1e-12;

void check_arcs(std::span<const Arc> arcs, std::size_t n_features, const char* what) {
  for (const Arc& arc : arcs)
    if (arc.parent >= n_features || arc.child >= n_features || arc.parent == arc.child)
      throw InvalidInput(join_text(what, ": expected arcs between two different features below ", n_features, ", got (",
                                   arc.parent, ", ", arc.child, ")"));
}

}  // namespace

void SearchState::apply(std::span<const StructureChange> changes) {
  for (const StructureChange& change : changes) {
    parents[change.feature] = change.parents;
    absent[change.feature] = change.absent;
  }
}

SearchState first_state(const SearchOptions& options, std::size_t n_features) {
  check_arcs(options.required, n_features, "required");
  check_arcs(options.forbidden, n_features, "forbidden");
  for (const Arc& arc : options.required)
    for (const Arc& other : options.forbidden)
      if (arc.parent == other.parent && arc.child == other.child)
        throw InvalidInput(
            join_text("the arc from ", arc.parent, " to ", arc.child, " is both required and forbidden"));

  SearchState state{std::vector<std::vector<std::size_t>>(n_features), std::vector<bool>(n_features, false)};
  if (options.start) {
    if (options.start->n_features() != n_features)
      throw InvalidInput(join_text("the initial structure has ", options.start->n_features(),
                                   " features, but the data have ", n_features));
    check_augmented_naive(*options.start, "a search");
    for (std::size_t f = 0; f < n_features; ++f) {
      state.parents[f] = options.start->parents(f);
      state.absent[f] = options.start->is_absent(f);
    }
  } else if (options.method == SearchMethod::kForwardJoin) {
    state.absent.assign(n_features, true);
  }
  for (const Arc& arc : options.required) {
    state.absent[arc.parent] = false;
    state.absent[arc.child] = false;
    state.parents[arc.child].push_back(arc.parent);
  }
  for (std::size_t f = 0; f < n_features; ++f) {
    auto& parents = state.parents[f];
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
    for (const Arc& arc : options.forbidden)
      if (arc.child == f && std::binary_search(parents.begin(), parents.end(), arc.parent))
        throw InvalidInput(join_text("the initial structure has the arc from ", arc.parent, " to ", arc.child,
                                     ", which is forbidden"));
  }
  const Structure structure = state.structure();  // throws if the arcs form a cycle
  const bool joins = options.method == SearchMethod::kForwardJoin || options.method == SearchMethod::kBackwardJoin;
  if (joins && !structure.is_semi_naive())
    throw InvalidInput(
        "the initial structure and the required arcs must form fully connected groups of features without arcs between "
        "groups");
  const std::size_t max_parents = options.method == SearchMethod::kHillClimb ? options.max_parents : 1;
  if (!joins && structure.max_parents() > max_parents)
    throw InvalidInput(join_text("the initial structure and the required arcs give a feature ", structure.max_parents(),
                                 " feature parents, but at most ", max_parents, " are allowed"));
  return state;
}

void CandidateGroup::add(std::uint64_t rank, std::span<const std::size_t> parents) {
  ranks.push_back(rank);
  for (const std::size_t p : parents) added.push_back(static_cast<std::uint32_t>(p));
  added_end.push_back(static_cast<std::uint32_t>(added.size()));
}

std::span<const std::uint32_t> CandidateGroup::added_by(std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : added_end[i - 1];
  return std::span(added).subspan(begin, added_end[i] - begin);
}

bool CandidateGroup::adds_one_each() const {
  for (std::size_t i = 0; i < size(); ++i)
    if (added_end[i] != i + 1) return false;
  return true;
}

std::vector<StructureChange> CandidateGroup::expand(std::size_t i) const {
  std::vector<StructureChange> expanded = changes;
  const std::span<const std::uint32_t> more = added_by(i);
  if (more.empty()) return expanded;
  for (StructureChange& change : expanded) {
    change.parents.insert(change.parents.end(), more.begin(), more.end());
    std::sort(change.parents.begin(), change.parents.end());
  }
  return expanded;
}

std::vector<CandidateGroup> one_by_one(std::span<const StructureChange> changes) {
  std::vector<CandidateGroup> groups(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    groups[i].changes = {changes[i]};
    groups[i].add(i, {});
  }
  return groups;
}

Choice first_best(std::span<const CandidateGroup> groups) {
  double best = -std::numeric_limits<double>::infinity();
  for (const CandidateGroup& group : groups)
    for (const double score : group.scores) best = std::max(best, score);
  Choice found{.group = groups.data(), .candidate = 0};
  bool any = false;
  for (const CandidateGroup& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!(group.scores[i] >= best - kTie)) continue;
      if (any && group.ranks[i] > found.group->ranks[found.candidate]) continue;
      found = {.group = &group, .candidate = i};
      any = true;
    }
  return found;
}

}  // namespace tanager::internal

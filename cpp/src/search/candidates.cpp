#include "search/candidates.hpp"

#include <algorithm>
#include <limits>

#include "parameters/from_counts.hpp"
#include "search/generators.hpp"
#include "search/join_moves.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

// Means of fold scores that are equal on paper may differ in their last digits.
constexpr double kTie = 1e-12;

void check_arcs(std::span<const Arc> arcs, std::size_t n_features, const char* what) {
  for (const Arc& arc : arcs)
    if (arc.parent >= n_features || arc.child >= n_features || arc.parent == arc.child)
      throw InvalidInput(join_text("the ", what, " arc from ", arc.parent, " to ", arc.child,
                                   " does not join two of the ", n_features, " features"));
}

}  // namespace

void SearchState::apply(std::span<const StructureChange> changes) {
  for (const StructureChange& change : changes) {
    parents[change.feature] = change.parents;
    absent[change.feature] = change.absent;
  }
}

MoveGenerator::MoveGenerator(const SearchOptions& options, Fits fits) : fits_(std::move(fits)) {
  for (const Arc& arc : options.forbidden) forbidden_.insert({arc.parent, arc.child});
  for (const Arc& arc : options.required) {
    required_.insert(arc.parent);
    required_.insert(arc.child);
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
      throw InvalidInput(
          join_text("the start has ", options.start->n_features(), " features, but the data have ", n_features));
    check_augmented_naive(*options.start, "a search");
    for (std::size_t f = 0; f < n_features; ++f) {
      state.parents[f] = options.start->parents(f);
      state.absent[f] = options.start->is_absent(f);
    }
  } else if (options.method == SearchMethod::kForwardJoin) {
    state.absent.assign(n_features, true);
  }
  for (const Arc& arc : options.required) {
    state.absent[arc.parent] = state.absent[arc.child] = false;
    state.parents[arc.child].push_back(arc.parent);
  }
  for (std::size_t f = 0; f < n_features; ++f) {
    auto& parents = state.parents[f];
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
    for (const Arc& arc : options.forbidden)
      if (arc.child == f && std::binary_search(parents.begin(), parents.end(), arc.parent))
        throw InvalidInput(
            join_text("the start has the arc from ", arc.parent, " to ", arc.child, ", which is forbidden"));
  }
  const Structure structure = state.structure();  // throws if the arcs form a cycle
  const bool joins = options.method == SearchMethod::kForwardJoin || options.method == SearchMethod::kBackwardJoin;
  if (joins && !structure.is_semi_naive())
    throw InvalidInput(
        "the start and the required arcs must make fully connected groups of features without arcs between groups, but "
        "do not");
  const std::size_t most = options.method == SearchMethod::kHillClimb ? options.max_parents : 1;
  if (!joins && structure.max_parents() > most)
    throw InvalidInput(join_text("the start and the required arcs give a feature ", structure.max_parents(),
                                 " feature parents, but at most ", most, " are allowed"));
  return state;
}

std::unique_ptr<MoveGenerator> make_generator(const SearchOptions& options, const SearchState& start,
                                              MoveGenerator::Fits fits) {
  switch (options.method) {
    case SearchMethod::kHillClimb:
      return std::make_unique<ArcMoves>(options, std::move(fits));
    case SearchMethod::kSuperParent:
      return std::make_unique<SuperParentMoves>(options, std::move(fits));
    case SearchMethod::kForwardJoin:
      return std::make_unique<ForwardJoinMoves>(options, start, std::move(fits));
    case SearchMethod::kBackwardJoin:
      return std::make_unique<BackwardJoinMoves>(options, start, std::move(fits));
  }
  throw InvalidInput("unknown search method");
}

std::size_t first_best(std::span<const double> scores, std::span<const std::size_t> order) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double score : scores) best = std::max(best, score);
  std::size_t found = 0;
  bool any = false;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!(scores[i] >= best - kTie) || (any && order[i] > order[found])) continue;
    found = i;
    any = true;
  }
  return found;
}

}  // namespace tanager::internal

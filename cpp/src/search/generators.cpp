// The candidates of every method.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "search/candidates.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

using Features = std::vector<std::size_t>;

/// What no candidate may violate.
class Constraints {
 public:
  Constraints(const SearchOptions& options, const TableLimits& limits) : limits_(limits) {
    for (const Arc& arc : options.forbidden) forbidden_.insert({arc.parent, arc.child});
    for (const Arc& arc : options.required) {
      required_.insert(arc.parent);
      required_.insert(arc.child);
    }
  }

  bool forbid(std::size_t parent, std::size_t child) const { return forbidden_.contains({parent, child}); }
  /// Whether a feature has a required arc.
  bool require(std::size_t feature) const { return required_.contains(feature); }
  /// Whether a child may have further parents, apart from cycles.
  bool allow(std::size_t child, const Features& parents, std::span<const std::size_t> added) const {
    return std::none_of(added.begin(), added.end(), [&](std::size_t parent) { return forbid(parent, child); }) &&
           limits_.allow(child, parents, added);
  }

 private:
  std::set<std::pair<std::size_t, std::size_t>> forbidden_;
  std::set<std::size_t> required_;
  const TableLimits& limits_;
};

/// Marks a feature and all features that can be reached from it; next[f] are the features that f leads to.
std::vector<bool> reachable(std::size_t feature, const std::vector<Features>& next) {
  std::vector<bool> found(next.size(), false);
  Features stack{feature};
  found[feature] = true;
  while (!stack.empty()) {
    const std::size_t from = stack.back();
    stack.pop_back();
    for (const std::size_t to : next[from])
      if (!found[to]) {
        found[to] = true;
        stack.push_back(to);
      }
  }
  return found;
}

std::vector<Features> children_of(const SearchState& state) {
  std::vector<Features> children(state.parents.size());
  for (std::size_t f = 0; f < children.size(); ++f)
    for (const std::size_t p : state.parents[f]) children[p].push_back(f);
  return children;
}

/// One arc more, into features with fewer than `max_parents` feature parents (Keogh and Pazzani 2002).
class ArcGenerator : public CandidateGenerator {
 public:
  ArcGenerator(const SearchOptions& options, const TableLimits& limits)
      : constraints_(options, limits), max_parents_(options.max_parents), symmetric_(options.symmetric) {}

  std::vector<CandidateGroup> propose(const SearchState& state) override {
    const std::size_t n = state.parents.size();
    const std::vector<Features> children = children_of(state);
    std::vector<CandidateGroup> groups;
    for (std::size_t child = 0; child < n; ++child) {
      const Features& parents = state.parents[child];
      if (state.absent[child] || parents.size() >= max_parents_) continue;
      const std::vector<bool> descendants = reachable(child, children);
      CandidateGroup group;
      group.changes.push_back({.feature = child, .absent = false, .parents = parents});
      for (std::size_t parent = 0; parent < n; ++parent)
        if (!state.absent[parent] && !descendants[parent] && !is_replaced(parent, child, state) &&
            !std::binary_search(parents.begin(), parents.end(), parent) &&
            constraints_.allow(child, parents, {&parent, 1}))
          group.add(rank(parent, child, state), {&parent, 1});
      if (group.size() > 0) groups.push_back(std::move(group));
    }
    return groups;
  }

 private:
  bool is_full(std::size_t feature, const SearchState& state) const {
    return state.parents[feature].size() >= max_parents_;
  }

  /// Whether the opposite arc is tried in place of parent -> child.
  bool is_replaced(std::size_t parent, std::size_t child, const SearchState& state) const {
    return symmetric_ && child > parent && state.parents[parent].empty() && state.parents[child].empty() &&
           !constraints_.forbid(child, parent);
  }

  /// bnclassify's order: parents that can take no more parents come first, with their children in column order; then
  /// the others, each with the children after it and then those before it.
  std::uint64_t rank(std::size_t parent, std::size_t child, const SearchState& state) const {
    const std::uint64_t n = state.parents.size();
    if (is_full(parent, state)) return parent * n + child;
    return n * n + parent * 2 * n + (child > parent ? child : child + n);
  }

  Constraints constraints_;
  std::size_t max_parents_;
  bool symmetric_;
};

/// Every feature as the parent of all features without one (Keogh and Pazzani 2002).
class SuperParentGenerator : public CandidateGenerator {
 public:
  SuperParentGenerator(const SearchOptions& options, const TableLimits& limits) : constraints_(options, limits) {}

  std::vector<CandidateGroup> propose(const SearchState& state) override {
    const std::size_t n = state.parents.size();
    std::vector<CandidateGroup> groups;
    for (std::size_t parent = 0; parent < n; ++parent) {
      if (state.absent[parent]) continue;
      const std::vector<bool> ancestors = reachable(parent, state.parents);
      CandidateGroup group;
      for (std::size_t child = 0; child < n; ++child)
        if (state.parents[child].empty() && !state.absent[child] && !ancestors[child] &&
            constraints_.allow(child, {}, {&parent, 1}))
          group.changes.push_back({.feature = child, .absent = false, .parents = {}});
      group.add(parent, {&parent, 1});
      if (!group.changes.empty()) groups.push_back(std::move(group));
    }
    return groups;
  }

 private:
  Constraints constraints_;
};

/// Semi-naive Bayes: features are dropped or added, and blocks of features are joined (Pazzani 1996). The features of a
/// block are fully connected, and listed parents first.
class JoinGenerator : public CandidateGenerator {
 public:
  JoinGenerator(const SearchOptions& options, const TableLimits& limits)
      : constraints_(options, limits), forward_(options.method == SearchMethod::kForwardJoin) {}

  std::vector<CandidateGroup> propose(const SearchState& state) override {
    find_blocks(state);
    return forward_ ? propose_forward(state) : propose_backward(state);
  }

 private:
  /// Blocks keep their order from step to step: a joined block stands where the one that got parents stood, a new one
  /// at the end.
  void find_blocks(const SearchState& state) {
    const std::size_t n = state.parents.size();
    Features order;
    for (const Features& block : blocks_) order.insert(order.end(), block.begin(), block.end());
    std::vector<bool> is_known(n, false);
    for (const std::size_t f : order) is_known[f] = true;
    for (std::size_t f = 0; f < n; ++f)
      if (!is_known[f]) order.push_back(f);
    blocks_.clear();
    Features block_of(n, n);  // by the feature of the block that has no parents
    for (const std::size_t f : order) {
      if (state.absent[f]) continue;
      std::size_t root = f;
      for (const std::size_t p : state.parents[f])
        if (state.parents[p].empty()) root = p;
      if (block_of[root] == n) {
        block_of[root] = blocks_.size();
        blocks_.emplace_back();
      }
      blocks_[block_of[root]].push_back(f);
    }
    for (Features& block : blocks_)
      std::sort(block.begin(), block.end(),
                [&](std::size_t a, std::size_t b) { return state.parents[a].size() < state.parents[b].size(); });
  }

  /// FSSJ: add a feature alone, or join it to a block.
  std::vector<CandidateGroup> propose_forward(const SearchState& state) const {
    const std::size_t n = state.parents.size();
    std::vector<CandidateGroup> groups;
    for (std::size_t f = 0; f < n; ++f) {
      if (!state.absent[f]) continue;
      CandidateGroup group;
      group.changes.push_back({.feature = f, .absent = false, .parents = {}});
      if (constraints_.allow(f, {}, {})) group.add(f, {});
      for (std::size_t i = 0; i < blocks_.size(); ++i)
        if (constraints_.allow(f, {}, blocks_[i])) group.add(n + f * blocks_.size() + i, blocks_[i]);
      if (group.size() > 0) groups.push_back(std::move(group));
    }
    return groups;
  }

  /// BSEJ: drop a feature, or join two blocks.
  std::vector<CandidateGroup> propose_backward(const SearchState& state) const {
    const std::size_t n = state.parents.size();
    std::vector<CandidateGroup> groups;
    for (std::size_t f = 0; f < n; ++f)
      if (!state.absent[f] && !constraints_.require(f)) groups.push_back(drop(f, state));
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      CandidateGroup group;
      for (const std::size_t child : blocks_[i])
        group.changes.push_back({.feature = child, .absent = false, .parents = state.parents[child]});
      for (std::size_t j = i + 1; j < blocks_.size(); ++j)
        if (std::all_of(blocks_[i].begin(), blocks_[i].end(),
                        [&](std::size_t child) { return constraints_.allow(child, state.parents[child], blocks_[j]); }))
          group.add(n + i * blocks_.size() + j, blocks_[j]);
      if (group.size() > 0) groups.push_back(std::move(group));
    }
    return groups;
  }

  static CandidateGroup drop(std::size_t feature, const SearchState& state) {
    CandidateGroup group;
    group.changes.push_back({.feature = feature, .absent = true, .parents = {}});
    for (std::size_t f = 0; f < state.parents.size(); ++f) {
      const Features& parents = state.parents[f];
      if (!std::binary_search(parents.begin(), parents.end(), feature)) continue;
      StructureChange change{.feature = f, .absent = false, .parents = parents};
      std::erase(change.parents, feature);
      group.changes.push_back(std::move(change));
    }
    group.add(feature, {});
    return group;
  }

  Constraints constraints_;
  bool forward_;
  std::vector<Features> blocks_;
};

}  // namespace

std::unique_ptr<CandidateGenerator> make_generator(const SearchOptions& options, const TableLimits& limits) {
  switch (options.method) {
    case SearchMethod::kHillClimb:
      return std::make_unique<ArcGenerator>(options, limits);
    case SearchMethod::kSuperParent:
      return std::make_unique<SuperParentGenerator>(options, limits);
    case SearchMethod::kForwardJoin:
    case SearchMethod::kBackwardJoin:
      return std::make_unique<JoinGenerator>(options, limits);
  }
  throw InvalidInput("unknown search method");
}

}  // namespace tanager::internal

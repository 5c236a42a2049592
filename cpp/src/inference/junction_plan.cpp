// Missing features are summed out in the order of minimum fill-in; the neighborhoods met on the way are the cliques,
// each with the feature summed out as innermost axis, so that a message is a sum over contiguous cells. Cliques that
// are part of a later one are left as they are: together they have at most as many cells again.
#include "inference/junction_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "graph/min_fill.hpp"
#include "support/check_stop.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/inference.hpp"

namespace tanager::internal {
namespace {

/// What inference takes, about: conditional distributions, beliefs and offsets. Measured 14 to 24 with two classes.
constexpr double kBytesPerCell = 24;
/// Offsets beyond so many for every cell count as further cells.
constexpr double kOffsetsPerCell = 4;

class PlanMaker {
 public:
  PlanMaker(const FamilyScopes& scopes, const std::vector<bool>& observed, const JunctionRequest& request,
            std::uint64_t max_cells)
      : scopes_(scopes),
        observed_(observed),
        request_(request),
        max_cells_(max_cells),
        left_out_(scopes.n_features(), true) {
    for (const std::size_t f : scopes.connected()) left_out_[f] = false;
    if (!request.connected_only)
      for (const std::size_t f : scopes.isolated()) left_out_[f] = false;
  }

  JunctionPlan make() {
    find_kept_features();
    collect_families();
    eliminate();
    check_offsets();
    place_terms();
    link_cliques();
    place_query();
    return std::move(plan_);
  }

 private:
  /// Whether a feature has one value only, which says nothing and is known even where it is missing.
  bool is_constant(std::size_t feature) const { return scopes_.cardinalities()[feature] == 1; }

  /// Missing features that the answer depends on get a node; of any other, everything sums to one.
  void find_kept_features() {
    std::vector<bool> kept(scopes_.n_features(), request_.every_feature);
    const auto keep_members = [&](std::size_t family) {
      for (const auto& member : scopes_.members(family)) kept[member.feature] = true;
    };
    if (!request_.every_feature) {
      keep_members(scopes_.n_features());
      for (const std::size_t f : request_.together) kept[f] = true;
      const auto order = scopes_.order();
      for (auto f = order.rbegin(); f != order.rend(); ++f)
        if (!is_constant(*f) && (observed_[*f] || kept[*f])) keep_members(*f);
    }
    node_.assign(scopes_.n_features(), kNoNode);
    for (std::size_t f = 0; f < scopes_.n_features(); ++f) {
      if (observed_[f] || !kept[f] || left_out_[f] || is_constant(f)) continue;
      node_[f] = static_cast<std::uint32_t>(features_.size());
      features_.push_back(f);
    }
  }

  /// Sorts the families into complete ones and those with missing members, which are connected with each other.
  void collect_families() {
    neighbors_.resize(features_.size());
    std::vector<std::uint32_t> nodes;
    for (std::size_t family = 0; family <= scopes_.n_features(); ++family) {
      if (family < scopes_.n_features() && !takes_part(family)) continue;
      JunctionTerm term{family, plan_.observed.size(), 0, 0};
      nodes.clear();
      for (const auto& member : scopes_.members(family)) {
        if (is_constant(member.feature)) continue;  // its code is 0, which adds nothing to any place
        if (observed_[member.feature])
          plan_.observed.push_back(member);
        else
          nodes.push_back(node_[member.feature]);
      }
      term.end_observed = plan_.observed.size();
      (nodes.empty() ? plan_.complete : waiting_).push_back(term);
      connect(nodes);
    }
    nodes.clear();
    for (const std::size_t f : request_.together) nodes.push_back(node_[f]);
    connect(nodes);
    for (auto& list : neighbors_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  /// Whether the family of a feature matters. That of a constant does only where expected counts of it are asked for.
  bool takes_part(std::size_t feature) const {
    if (left_out_[feature]) return false;
    return is_constant(feature) ? request_.every_feature : observed_[feature] || node_[feature] != kNoNode;
  }

  void connect(std::span<const std::uint32_t> nodes) {
    for (const std::uint32_t a : nodes)
      for (const std::uint32_t b : nodes)
        if (a != b) neighbors_[a].push_back(b);
  }

  void eliminate() {
    clique_of_.resize(features_.size());
    double largest = 0, total = 0;  // in cells; may exceed every whole number
    std::size_t largest_clique = 0;
    eliminate_by_min_fill(std::move(neighbors_), [&](std::uint32_t node, std::span<const std::uint32_t> around) {
      meter_.add(around.size() * around.size());
      JunctionClique clique{};
      clique.feature = features_[node];
      clique.values = scopes_.cardinalities()[clique.feature];
      clique.first_separator = plan_.separators.size();
      double size = scopes_.n_classes() * static_cast<double>(clique.values);
      clique.separator_cells = 1;
      for (const std::uint32_t other : around) {
        plan_.separators.push_back(static_cast<std::uint32_t>(features_[other]));
        size *= scopes_.cardinalities()[features_[other]];
        clique.separator_cells *= scopes_.cardinalities()[features_[other]];
      }
      clique.end_separator = plan_.separators.size();
      clique_of_[node] = plan_.cliques.size();
      plan_.cliques.push_back(clique);
      if (size > largest) {
        largest = size;
        largest_clique = plan_.cliques.size() - 1;
      }
      total += size;
      // What is too much is still added up, so that the message can say how much it is, up to what no limit allows.
      if (total > static_cast<double>(kMostCliqueCells)) reject(largest_clique, largest, total);
    });
    if (total > static_cast<double>(max_cells_)) reject(largest_clique, largest, total);
    for (JunctionClique& clique : plan_.cliques) {
      clique.cells = plan_.n_cells;
      clique.message = plan_.n_message_cells;
      plan_.n_cells += clique.n_cells();
      plan_.n_message_cells += clique.separator_cells;
    }
  }

  [[noreturn]] void reject(std::size_t index, double size, double total) const {
    const JunctionClique& clique = plan_.cliques[index];
    std::vector<std::size_t> features(plan_.separators.begin() + static_cast<std::ptrdiff_t>(clique.first_separator),
                                      plan_.separators.begin() + static_cast<std::ptrdiff_t>(clique.end_separator));
    features.push_back(clique.feature);
    std::sort(features.begin(), features.end());
    std::string names;
    for (const std::size_t f : features) names += (names.empty() ? "" : ", ") + std::to_string(f);
    const bool possible = total <= static_cast<double>(kMostCliqueCells);
    const std::string needed = possible ? number_of_cells(total) : join_text("at least ", number_of_cells(total));
    const std::string advice = possible ? join_text("; set max_cells to ", number_of_cells(total),
                                                    " or more if there is memory for it (about ",
                                                    std::ceil(total * kBytesPerCell / 1e6), " MB)")
                                        : join_text("; no max_cells above ", kMostCliqueCells, " is possible");
    throw CliqueTooLarge(
        join_text("exact inference with these features missing takes ", needed, " cells, but max_cells allows ",
                  max_cells_, "; the features ", names, " have to be held together in a clique of ",
                  number_of_cells(size), " cells", advice),
        features);
  }

  /// A family goes to the clique of the member that is summed out first: all others are still around then.
  std::size_t clique_of(const JunctionTerm& term) const {
    std::size_t first = JunctionClique::kNone;
    for (const auto& member : scopes_.members(term.family))
      if (const std::uint32_t node = node_[member.feature]; node != kNoNode) first = std::min(first, clique_of_[node]);
    return first;
  }

  /// So does the message of a clique; kNone if its separator is empty.
  std::size_t parent_of(const JunctionClique& clique) const {
    std::size_t first = JunctionClique::kNone;
    for (std::size_t i = clique.first_separator; i < clique.end_separator; ++i)
      first = std::min(first, clique_of_[node_[plan_.separators[i]]]);
    return first;
  }

  /// Every family and every message has an offset for each cell of its clique. Where these are far more than the cells,
  /// they are what the limit is for.
  void check_offsets() {
    std::vector<double> offsets(plan_.cliques.size(), 0.0);
    const auto add = [&](std::size_t clique) {
      offsets[clique] += static_cast<double>(plan_.cliques[clique].n_cells());
    };
    for (const JunctionTerm& term : waiting_) add(clique_of(term));
    for (const JunctionClique& clique : plan_.cliques)
      if (const std::size_t parent = parent_of(clique); parent != JunctionClique::kNone) add(parent);
    const double total = std::accumulate(offsets.begin(), offsets.end(), 0.0);
    if (std::ceil(total / kOffsetsPerCell) > static_cast<double>(max_cells_)) {
      const auto most = static_cast<std::size_t>(std::ranges::max_element(offsets) - offsets.begin());
      const auto size = static_cast<double>(plan_.cliques[most].n_cells() * scopes_.n_classes());
      reject(most, size, std::ceil(total / kOffsetsPerCell));
    }
    plan_.offsets.reserve(static_cast<std::size_t>(total));
  }

  void place_terms() {
    std::vector<std::vector<JunctionTerm>> of_clique(plan_.cliques.size());
    for (const JunctionTerm& term : waiting_) of_clique[clique_of(term)].push_back(term);
    for (std::size_t i = 0; i < plan_.cliques.size(); ++i) {
      JunctionClique& clique = plan_.cliques[i];
      clique.first_term = plan_.terms.size();
      for (JunctionTerm term : of_clique[i]) {
        term.offsets = add_offsets(clique, scopes_.members(term.family));
        plan_.terms.push_back(term);
      }
      clique.end_term = plan_.terms.size();
    }
  }

  /// For every cell of the clique, where it is in a table over (some of) the members with the strides given.
  std::size_t add_offsets(const JunctionClique& clique, std::span<const FamilyScopes::Member> members) {
    const auto stride_of = [&](std::size_t feature) {
      const auto found =
          std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.feature == feature; });
      return found == members.end() ? std::uint32_t{0} : found->stride;
    };
    const std::size_t begin = plan_.offsets.size();
    plan_.offsets.resize(begin + clique.n_cells());
    std::uint32_t* offsets = plan_.offsets.data() + begin;
    offsets[0] = 0;
    std::size_t filled = 1;  // the offsets of the axes so far, innermost first; another axis repeats them
    const auto add_axis = [&](std::size_t feature) {
      const std::uint32_t values = scopes_.cardinalities()[feature], stride = stride_of(feature);
      for (std::uint32_t v = 1; v < values; ++v) {
        meter_.add(filled);
        for (std::size_t i = v * filled; i < (v + 1) * filled; ++i) offsets[i] = offsets[i - filled] + stride;
      }
      filled *= values;
    };
    add_axis(clique.feature);
    for (std::size_t i = clique.end_separator; i-- > clique.first_separator;) add_axis(plan_.separators[i]);
    return begin;
  }

  void link_cliques() {
    std::vector<FamilyScopes::Member> members;
    for (JunctionClique& clique : plan_.cliques) {
      clique.parent = parent_of(clique);
      members.clear();
      std::uint32_t stride = scopes_.n_classes();
      for (std::size_t i = clique.end_separator; i-- > clique.first_separator;) {
        const std::size_t feature = plan_.separators[i];
        members.push_back({feature, stride});
        stride *= scopes_.cardinalities()[feature];
      }
      if (clique.parent != JunctionClique::kNone)
        clique.parent_offsets = add_offsets(plan_.cliques[clique.parent], members);
    }
  }

  void place_query() {
    if (request_.together.empty()) return;
    std::vector<FamilyScopes::Member> members;
    std::uint32_t stride = scopes_.n_classes();
    for (std::size_t i = request_.together.size(); i-- > 0;) {
      const std::size_t feature = request_.together[i];
      members.push_back({feature, stride});
      stride *= scopes_.cardinalities()[feature];
      plan_.query_clique = std::min(plan_.query_clique, clique_of_[node_[feature]]);
    }
    plan_.query_offsets = add_offsets(plan_.cliques[plan_.query_clique], members);
  }

  static constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();

  const FamilyScopes& scopes_;
  const std::vector<bool>& observed_;
  const JunctionRequest& request_;
  const std::uint64_t max_cells_;
  std::vector<bool> left_out_;  // absent features, and others that the plan is not about
  JunctionPlan plan_;
  std::vector<std::uint32_t> node_;    // of every feature
  std::vector<std::size_t> features_;  // of every node
  std::vector<std::vector<std::uint32_t>> neighbors_;
  std::vector<JunctionTerm> waiting_;   // families with missing members
  std::vector<std::size_t> clique_of_;  // of every node
  StopMeter meter_;
};

}  // namespace

std::uint64_t checked_max_cells(std::uint64_t max_cells) {
  if (max_cells == 0 || max_cells > kMostCliqueCells)
    throw InvalidInput(join_text("expected max_cells from 1 to ", kMostCliqueCells, ", got ", max_cells));
  return max_cells;
}

JunctionPlan make_junction_plan(const FamilyScopes& scopes, const std::vector<bool>& observed,
                                const JunctionRequest& request, std::uint64_t max_cells) {
  return PlanMaker(scopes, observed, request, max_cells).make();
}

std::size_t JunctionPlan::bytes() const {
  return sizeof(JunctionPlan) + (complete.size() + terms.size()) * sizeof(JunctionTerm) +
         cliques.size() * sizeof(JunctionClique) + observed.size() * sizeof(FamilyScopes::Member) +
         (separators.size() + offsets.size()) * sizeof(std::uint32_t);
}

}  // namespace tanager::internal

// Edmonds' algorithm on a complete graph, in the manner of Tarjan: a path grows backwards along the best arc into its
// last node; where it meets itself, the cycle becomes one node, and an arc into that node costs what it displaces
// there. As every node can be reached from every other, all of them end in one, with no root fixed so far: the nested
// cycles tell the best arborescence of any root, which is all best arcs except those into the cycles around the root.
// Weights of nodes to come are kept in a matrix, so that a step reads one row and a cycle of k nodes merges k rows and
// columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "support/text.hpp"
#include "tanager/branching.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

constexpr double kHeaviest = 1e300;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Arc {
  std::uint32_t tail, head;  // nodes of the graph itself
};

/// A node of the graph or a cycle of such, with the arc that was chosen into it and the cycle that it became part of.
struct Member {
  double weight = 0;
  Arc chosen{0, 0};
  std::size_t cycle = kNone;
  std::vector<std::size_t> parts;
};

class Contraction {
 public:
  Contraction(std::size_t n, std::span<const double> weights)
      : n_(n), weights_(n * n), arcs_(n * n), active_(n), member_of_(n), place_(n, kNone), members_(n) {
    for (std::size_t v = 0; v < n; ++v) {
      active_[v] = member_of_[v] = v;
      for (std::size_t u = 0; u < n; ++u) {
        weights_[v * n + u] = weights[u * n + v];
        arcs_[v * n + u] = {static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v)};
      }
    }
  }

  /// All nodes and cycles, the last one being that of everything.
  std::vector<Member> run() {
    std::vector<std::size_t> path{0};
    place_[0] = 0;
    while (active_.size() > 1) {
      const std::size_t v = path.back(), u = best_source(v);
      members_[member_of_[v]].weight = weights_[v * n_ + u];
      members_[member_of_[v]].chosen = arcs_[v * n_ + u];
      if (place_[u] == kNone) {
        place_[u] = path.size();
        path.push_back(u);
        continue;
      }
      const std::size_t place = place_[u];
      std::vector<std::size_t> cycle(path.begin() + static_cast<std::ptrdiff_t>(place), path.end());
      std::sort(cycle.begin(), cycle.end());
      path.resize(place);
      contract(cycle);
      place_[cycle.front()] = place;
      path.push_back(cycle.front());
    }
    return std::move(members_);
  }

 private:
  std::size_t best_source(std::size_t v) const {
    const double* row = weights_.data() + v * n_;
    std::size_t best = kNone;
    double weight = -std::numeric_limits<double>::infinity();
    for (const std::size_t u : active_)
      if (row[u] > weight && u != v) {
        best = u;
        weight = row[u];
      }
    return best;
  }

  /// The cycle, in ascending order, lives on in the row and column of its first node.
  void contract(const std::vector<std::size_t>& cycle) {
    const std::size_t slot = cycle.front(), number = members_.size();
    Member merged;
    for (const std::size_t x : cycle) {
      merged.parts.push_back(member_of_[x]);
      members_[member_of_[x]].cycle = number;
    }
    std::vector<std::size_t> left;
    std::set_difference(active_.begin(), active_.end(), cycle.begin() + 1, cycle.end(), std::back_inserter(left));
    active_ = std::move(left);
    const double displaced = members_[member_of_[slot]].weight;
    for (const std::size_t u : active_) weights_[slot * n_ + u] -= displaced;
    for (auto x = cycle.begin() + 1; x != cycle.end(); ++x) {
      take_in(slot, *x, members_[member_of_[*x]].weight);
      place_[*x] = kNone;
    }
    member_of_[slot] = number;
    members_.push_back(std::move(merged));
  }

  /// Lets `slot` have the better of its own arcs and those of x, of which the ones into x cost what they displace.
  void take_in(std::size_t slot, std::size_t x, double displaced) {
    const auto better_of = [&](std::size_t own, std::size_t other, double weight) {
      if (!(weight > weights_[own])) return;
      weights_[own] = weight;
      arcs_[own] = arcs_[other];
    };
    for (const std::size_t u : active_) {
      better_of(slot * n_ + u, x * n_ + u, weights_[x * n_ + u] - displaced);
      better_of(u * n_ + slot, u * n_ + x, weights_[u * n_ + x]);
    }
  }

  std::size_t n_;
  std::vector<double> weights_;         // [into][from]
  std::vector<Arc> arcs_;               // what the weight stands for
  std::vector<std::size_t> active_;     // rows in use, in ascending order
  std::vector<std::size_t> member_of_;  // what a row stands for now
  std::vector<std::size_t> place_;      // of a row in the path
  std::vector<Member> members_;
};

/// The root whose arborescence is best: the one that gives up the least of the arcs into the cycles around it. A cycle
/// has a higher number than its parts, so one pass from the top reaches all.
std::size_t best_root(std::size_t n, const std::vector<Member>& members) {
  std::vector<double> given_up(members.size(), 0.0);
  for (std::size_t m = members.size() - 1; m-- > 0;) given_up[m] = given_up[members[m].cycle] + members[m].weight;
  std::size_t best = 0;
  for (std::size_t v = 1; v < n; ++v)
    if (given_up[v] < given_up[best]) best = v;
  return best;
}

std::vector<std::optional<std::size_t>> expand(std::size_t n, const std::vector<Member>& members, std::size_t root) {
  std::vector<std::optional<std::size_t>> parent(n);
  std::vector<std::size_t> entered{root};
  std::vector<std::size_t> stop{members.size() - 1};  // the cycles around each entered node are open up to this one
  while (!entered.empty()) {
    std::size_t inner = entered.back();
    const std::size_t outermost = stop.back();
    entered.pop_back();
    stop.pop_back();
    for (; inner != outermost; inner = members[inner].cycle)
      for (const std::size_t part : members[members[inner].cycle].parts) {
        if (part == inner) continue;
        const Arc arc = members[part].chosen;
        parent[arc.head] = arc.tail;
        entered.push_back(arc.head);
        stop.push_back(part);
      }
  }
  return parent;
}

void check(std::size_t n, std::span<const double> weights, std::optional<std::size_t> root) {
  if (n > std::numeric_limits<std::uint32_t>::max())
    throw InvalidInput(join_text("a branching may have at most 4294967295 nodes, but has ", n));
  if (weights.size() != n * n)
    throw InvalidInput(
        join_text("a branching of ", n, " nodes needs ", n * n, " weights, one per arc, got ", weights.size()));
  if (root && *root >= n) throw InvalidInput(join_text("root: expected a node below ", n, ", got ", *root));
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v)
      if (u != v && !(std::abs(weights[u * n + v]) <= kHeaviest))
        throw InvalidInput(join_text("expected weights from -", kHeaviest, " to ", kHeaviest, ", got ",
                                     weights[u * n + v], " for the arc (", u, ", ", v, ")"));
}

}  // namespace

std::vector<std::optional<std::size_t>> maximum_branching(std::size_t n, std::span<const double> weights,
                                                          std::optional<std::size_t> root) {
  check(n, weights, root);
  if (n == 0) return {};
  const auto members = Contraction(n, weights).run();
  return expand(n, members, root ? *root : best_root(n, members));
}

}  // namespace tanager

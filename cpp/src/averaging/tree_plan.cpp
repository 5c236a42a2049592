#include "averaging/tree_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "averaging/tbmatan_pairs.hpp"
#include "graph/scaled.hpp"
#include "graph/spanning_tree.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();
/// What leaving out may change in all, half of it for edges and half for updates.
constexpr double kBudget = 5e-17;
/// log2 of the factor by which a weight may differ from what scales are made for, at most: with this the proofs leave
/// room for a hundred thousand features.
constexpr double kMaxSlack = 300;
/// A plan may take so many bytes.
constexpr double kMaxPlanBytes = 4.0 * 1024 * 1024 * 1024;
/// Products of sums stay within 2^this between two renormalizations.
constexpr double kSafeExponent = 900;

double log2_of(Scaled x) {
  return x.mantissa > 0 ? std::log2(x.mantissa) + static_cast<double>(x.exponent) : kNothing;
}

/// A symmetric matrix.
class Matrix {
 public:
  Matrix(std::size_t n, double value) : n_(n), cells_(n * n, value) {}
  double operator()(std::size_t i, std::size_t j) const { return cells_[i * n_ + j]; }
  void set(std::size_t i, std::size_t j, double value) { cells_[i * n_ + j] = cells_[j * n_ + i] = value; }
  std::size_t size() const { return n_; }

 private:
  std::size_t n_;
  std::vector<double> cells_;
};

/// log2 of every edge's weight with its least and with its largest lift.
struct WeightBounds {
  explicit WeightBounds(const Tbmatan& model) : low(model.n_features(), kNothing), high(model.n_features(), kNothing) {
    const std::size_t n = model.n_features();
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        const double weight = log2_of(model.edge_weights()(u, v));
        if (weight == kNothing) continue;
        const auto lifts = pair_lifts(model.counts(), u, v, model.options().equivalent_sample_size);
        const auto [least, most] = std::minmax_element(lifts.begin(), lifts.end());
        if (least == lifts.end()) continue;  // a feature without values: no row has a cell
        low.set(u, v, weight + std::log2(*least));
        high.set(u, v, weight + std::log2(*most));
        slack = std::max(slack, (std::log2(*most) - std::log2(*least)) / 2);
      }
  }

  Matrix low, high;
  double slack = 0;
};

/// The maximum spanning tree of weights given by their logarithms, as neighbors of every node.
std::vector<std::vector<std::size_t>> spanning_tree(const Matrix& logs) {
  const std::size_t n = logs.size();
  std::vector<std::vector<std::size_t>> neighbors(n);
  std::vector<double> best(n, kNothing);
  std::vector<std::size_t> parent(n, 0);
  std::vector<bool> joined(n, false);
  for (std::size_t next = 0, count = 0; count < n; ++count) {
    joined[next] = true;
    if (count > 0) {
      neighbors[next].push_back(parent[next]);
      neighbors[parent[next]].push_back(next);
    }
    std::size_t found = n;
    for (std::size_t v = 0; v < n; ++v) {
      if (joined[v]) continue;
      if (logs(next, v) > best[v]) {
        best[v] = logs(next, v);
        parent[v] = next;
      }
      if (found == n || best[v] > best[found]) found = v;
    }
    next = found;
  }
  return neighbors;
}

/// Calls visit(u, v, parent of v) for every node u and every other node v, going along the tree from u.
template <class Visit>
void walk_from_all(const std::vector<std::vector<std::size_t>>& tree, Visit visit) {
  std::vector<std::pair<std::size_t, std::size_t>> stack;
  for (std::size_t u = 0; u < tree.size(); ++u) {
    for (const std::size_t v : tree[u]) stack.emplace_back(v, u);
    while (!stack.empty()) {
      const auto [v, from] = stack.back();
      stack.pop_back();
      visit(u, v, from);
      for (const std::size_t w : tree[v])
        if (w != from) stack.emplace_back(w, v);
    }
  }
}

/// log2 of the weakest edge on the way between two nodes in the maximum spanning tree.
Matrix bottlenecks(const Matrix& logs) {
  Matrix found(logs.size(), std::numeric_limits<double>::infinity());
  walk_from_all(spanning_tree(logs), [&](std::size_t u, std::size_t v, std::size_t from) {
    found.set(u, v, std::min(from == u ? std::numeric_limits<double>::infinity() : found(u, from), logs(from, v)));
  });
  return found;
}

/// log2 of the resistance (sum of 1 / weight) of the way between two nodes in the maximum spanning tree: at least the
/// effective resistance, by Rayleigh's monotonicity.
Matrix resistances(const Matrix& logs) {
  Matrix found(logs.size(), kNothing);
  walk_from_all(spanning_tree(logs), [&](std::size_t u, std::size_t v, std::size_t from) {
    const double before = from == u ? kNothing : found(u, from), last = -logs(from, v);
    const double larger = std::max(before, last), smaller = std::min(before, last);
    found.set(u, v, larger + std::log2(1 + std::exp2(smaller - larger)));
  });
  return found;
}

/// A bound on the sum of log2's as a number, large where it does not matter how large.
double bounded(double log2) {
  return log2 > 60 ? 0x1p60 : std::exp2(log2);
}

/// Which edges are looked at. An edge e between u and v is in a tree with a probability of at most (largest weight of
/// e) * (resistance of the way between u and v); those whose probabilities sum to the budget are left out.
std::vector<Edge> choose_edges(const WeightBounds& bounds, const Matrix& resistance, bool prune) {
  std::vector<std::pair<double, Edge>> candidates;
  const std::size_t n = resistance.size();
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v)
      if (bounds.high(u, v) > kNothing)
        candidates.emplace_back(bounded(bounds.high(u, v) + resistance(u, v) + 1e-9), Edge{u, v});
  std::vector<Edge> kept;
  double left_out = 0;
  std::sort(candidates.begin(), candidates.end());
  for (const auto& [probability, edge] : candidates) {
    left_out += probability;
    if (!prune || left_out > kBudget) kept.push_back(edge);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

/// Eliminates symbolically, the node with the fewest neighbors first.
class Compiler {
 public:
  Compiler(const WeightBounds& bounds, const Matrix& resistance, const std::vector<Edge>& edges, bool prune,
           TreePlan& plan)
      : n_(resistance.size()),
        resistance_(resistance),
        scale_(scales_of(bounds)),
        highest_(bottlenecks(bounds.high)),
        prune_(prune),
        plan_(plan),
        slot_(n_ * n_, kNoSlot),
        neighbors_(n_) {
    for (const auto& [u, v] : edges) connect(u, v);
    plan_.n_slots = edges.size();
    const double nodes = static_cast<double>(n_);
    // d' of any step is at least 1 / (n slack) and at most n (n^2 / 4) slack.
    most_per_step_ = 3 * std::log2(nodes + 1) + bounds.slack + 2;
    const double dense = std::max(1.0, nodes * (nodes - 1) * (nodes - 2) / 6);
    least_update_ = std::log2(kBudget / dense) - 4 * std::log2(std::max(1.0, nodes / 2));
  }

  double scale(std::size_t u, std::size_t v) const { return scale_(u, v); }

  void run() {
    std::vector<bool> done(n_, false);
    double pending = 0;
    for (std::size_t left = n_; left > 1; --left) {
      std::size_t next = n_;
      for (std::size_t v = 0; v < n_; ++v)
        if (!done[v] && (next == n_ || neighbors_[v].size() < neighbors_[next].size())) next = v;
      done[next] = true;
      pending += most_per_step_;
      const bool renormalize = pending + most_per_step_ > kSafeExponent || left == 2;
      if (renormalize) pending = 0;
      eliminate(next, done, renormalize);
      check_size();
    }
  }

 private:
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

  /// Whole powers of two, near the middle of what a weight between two nodes can become.
  static Matrix scales_of(const WeightBounds& bounds) {
    const std::size_t n = bounds.low.size();
    Matrix middle(n, kNothing);
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v)
        if (bounds.low(u, v) > kNothing) middle.set(u, v, std::round((bounds.low(u, v) + bounds.high(u, v)) / 2));
    return bottlenecks(middle);
  }

  void connect(std::size_t u, std::size_t v) {
    slot_[u * n_ + v] = slot_[v * n_ + u] = next_slot_++;
    neighbors_[u].push_back(v);
    neighbors_[v].push_back(u);
  }

  /// Whether an update is at least what a share of the budget allows to leave out: it adds an edge of weight w_ik w_kj
  /// / d_k, w_ik being at most (n^2 / 4) * bottleneck and d_k at least the reciprocal of any resistance from k.
  bool matters(std::size_t i, std::size_t j, std::size_t k, double resistance_of_k) const {
    return !prune_ || highest_(i, k) + highest_(k, j) + resistance_of_k + resistance_(i, j) + 1e-9 > least_update_;
  }

  void eliminate(std::size_t k, const std::vector<bool>& done, bool renormalize) {
    std::vector<std::size_t>& around = neighbors_[k];
    std::sort(around.begin(), around.end());
    double largest = kNothing, resistance_of_k = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l < n_; ++l)
      if (!done[l]) {
        largest = std::max(largest, scale_(k, l));
        resistance_of_k = std::min(resistance_of_k, resistance_(k, l));
      }
    plan_.scale += static_cast<std::int64_t>(largest);
    PlanStep step{static_cast<std::uint32_t>(around.size()), 0, renormalize};
    for (const std::size_t l : around)
      plan_.neighbors.push_back({slot_[k * n_ + l], power_of_two(clipped(scale_(k, l) - largest))});
    for (std::size_t a = 0; a < around.size(); ++a) {
      const std::size_t i = around[a], before = plan_.updates.size();
      for (std::size_t b = a + 1; b < around.size(); ++b) {
        const std::size_t j = around[b];
        if (!matters(i, j, k, resistance_of_k)) continue;
        if (slot_[i * n_ + j] == kNoSlot) {
          connect(i, j);
          plan_.n_slots = next_slot_;
        }
        const double factor = scale_(i, k) + scale_(k, j) - scale_(i, j) - largest;
        plan_.updates.push_back({slot_[i * n_ + j], slot_[k * n_ + j], power_of_two(clipped(factor))});
      }
      if (plan_.updates.size() == before) continue;
      plan_.runs.push_back({slot_[k * n_ + i], static_cast<std::uint32_t>(plan_.updates.size() - before)});
      ++step.n_runs;
    }
    plan_.steps.push_back(step);
    for (const std::size_t l : around) {
      auto& others = neighbors_[l];
      others.erase(std::find(others.begin(), others.end(), k));
    }
    around.clear();
  }

  static std::int64_t clipped(double log2) { return log2 < -1022 ? -1023 : static_cast<std::int64_t>(log2); }

  void check_size() const {
    const double bytes = static_cast<double>(plan_.updates.size()) * sizeof(PlanUpdate);
    if (bytes > kMaxPlanBytes)
      throw InvalidInput(
          join_text("the elimination of ", n_, " features takes more than ", kMaxPlanBytes / 0x1p30, " GB"));
  }

  std::size_t n_;
  const Matrix& resistance_;
  Matrix scale_, highest_;
  bool prune_;
  TreePlan& plan_;
  std::vector<std::uint32_t> slot_;
  std::vector<std::vector<std::size_t>> neighbors_;
  std::uint32_t next_slot_ = 0;
  double most_per_step_ = 0, least_update_ = 0;
};

}  // namespace

std::optional<TreePlan> make_tree_plan(const Tbmatan& model, bool prune) {
  TreePlan plan;
  plan.n_features = model.n_features();
  plan.n_classes = model.n_classes();
  if (plan.n_features < 2) return plan;
  const WeightBounds bounds(model);
  if (bounds.slack > kMaxSlack) return std::nullopt;
  const Matrix resistance = resistances(bounds.low);
  const std::vector<Edge> edges = choose_edges(bounds, resistance, prune);
  Compiler compiler(bounds, resistance, edges, prune, plan);
  compiler.run();
  double cells = 0;
  for (const auto& [u, v] : edges)
    cells += static_cast<double>(model.cardinalities()[u]) * model.cardinalities()[v] * plan.n_classes;
  if (cells * sizeof(double) > kMaxPlanBytes)
    throw InvalidInput(join_text("the tables of ", edges.size(), " pairs of features take ", cells * sizeof(double),
                                 " bytes, but at most ", kMaxPlanBytes, " are possible"));
  plan.tables.reserve(static_cast<std::size_t>(cells));
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [u, v] = edges[e];
    plan.edges.push_back({static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(e),
                          plan.tables.size()});
    Scaled weight = model.edge_weights()(u, v);
    weight.exponent -= static_cast<std::int64_t>(compiler.scale(u, v));
    // On the scale a weight is at most one or so; what is too small for a double is nothing beside it.
    const double scaled = weight.mantissa * power_of_two(weight.exponent);
    for (const double lift : pair_lifts(model.counts(), u, v, model.options().equivalent_sample_size))
      plan.tables.push_back(scaled * lift);
  }
  return plan;
}

}  // namespace tanager

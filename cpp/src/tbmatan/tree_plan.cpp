#include "tbmatan/tree_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "graph/scaled.hpp"
#include "support/pairs.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tbmatan/pairs.hpp"

namespace tanager::internal {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();
/// What leaving out may change in all, half of it for edges and half for updates.
constexpr double kBudget = 5e-17;
/// log2 of the factor by which a weight may differ from what scales are made for, at most: with this the proofs leave
/// room for a hundred thousand features.
constexpr double kMaxSlack = 300;
/// A plan may take so many bytes.
constexpr double kMaxPlanBytes = 4.0 * 1024 * 1024 * 1024;
/// Exponents of dense plans; sums of four of them must fit in 32 bits.
constexpr double kMostDenseExponent = 5e8;
/// Products of sums stay within 2^this between two renormalizations.
constexpr double kSafeExponent = 900;
/// A schedule is tried where at least one of so many edges is left out: where nearly all stay, so do the updates.
constexpr std::size_t kEdgesPerLeftOut = 50;
/// Beyond this share of all updates, a dense plan without lists is faster.
constexpr double kMostUpdates = 0.5;
/// More than the sums of a few logarithms may be off by rounding.
constexpr double kRounding = 1e-9;

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
        low.set(u, v, weight + std::log2(*least));
        high.set(u, v, weight + std::log2(*most));
        slack = std::max(slack, (std::log2(*most) - std::log2(*least)) / 2);
      }
  }

  Matrix low, high;
  double slack = 0;
};

/// The maximum spanning tree of weights given by their logarithms: neighbors of every node, and the nodes in the order
/// in which they joined it.
struct SpanningTree {
  std::vector<std::vector<std::size_t>> neighbors;
  std::vector<std::size_t> order;
};

SpanningTree spanning_tree(const Matrix& logs) {
  const std::size_t n = logs.size();
  std::vector<std::vector<std::size_t>> neighbors(n);
  std::vector<std::size_t> order;
  std::vector<double> best(n, kNothing);
  std::vector<std::size_t> parent(n, 0);
  std::vector<bool> joined(n, false);
  for (std::size_t next = 0, count = 0; count < n; ++count) {
    joined[next] = true;
    order.push_back(next);
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
  return {std::move(neighbors), std::move(order)};
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
  walk_from_all(spanning_tree(logs).neighbors, [&](std::size_t u, std::size_t v, std::size_t from) {
    found.set(u, v, std::min(from == u ? std::numeric_limits<double>::infinity() : found(u, from), logs(from, v)));
  });
  return found;
}

/// log2 of the resistance (sum of 1 / weight) of the way between two nodes in the maximum spanning tree: at least the
/// effective resistance, by Rayleigh's monotonicity.
Matrix resistances(const Matrix& logs) {
  Matrix found(logs.size(), kNothing);
  walk_from_all(spanning_tree(logs).neighbors, [&](std::size_t u, std::size_t v, std::size_t from) {
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
        candidates.emplace_back(bounded(bounds.high(u, v) + resistance(u, v) + kRounding), Edge{u, v});
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

/// Whole powers of two, near the middle of what the weight of a pair can become.
Matrix middle_weights(const WeightBounds& bounds) {
  const std::size_t n = bounds.low.size();
  Matrix middle(n, kNothing);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u + 1; v < n; ++v)
      if (bounds.low(u, v) > kNothing) middle.set(u, v, std::round((bounds.low(u, v) + bounds.high(u, v)) / 2));
  return middle;
}

/// Says when the product of the sums of all steps must be brought back into range. d' of any step is at least 1 / (n
/// slack) and at most n (n^2 / 4) slack.
class RangeKeeper {
 public:
  RangeKeeper(std::size_t n, double slack) : most_per_step_(3 * std::log2(static_cast<double>(n) + 1) + slack + 2) {}
  bool must_renormalize() {
    pending_ += most_per_step_;
    if (pending_ + most_per_step_ <= kSafeExponent) return false;
    pending_ = 0;
    return true;
  }

 private:
  double most_per_step_, pending_ = 0;
};

/// Eliminates symbolically, the node with the fewest neighbors first.
class Compiler {
 public:
  Compiler(const WeightBounds& bounds, const Matrix& resistance, const Matrix& scale, const std::vector<Edge>& edges)
      : n_(resistance.size()),
        resistance_(resistance),
        scale_(scale),
        highest_(bottlenecks(bounds.high)),
        range_(n_, bounds.slack),
        slot_(n_ * n_, kNoSlot),
        neighbors_(n_) {
    for (const auto& [u, v] : edges) connect(u, v);
    const double nodes = static_cast<double>(n_);
    most_updates_ = nodes * (nodes - 1) * (nodes - 2) / 6;
    least_update_ = std::log2(kBudget / std::max(1.0, most_updates_)) - 4 * std::log2(std::max(1.0, nodes / 2));
  }

  /// The schedule, or nothing where most updates are needed.
  std::optional<SparseSchedule> run() {
    std::vector<bool> done(n_, false);
    for (std::size_t left = n_; left > 1; --left) {
      std::size_t next = n_;
      for (std::size_t v = 0; v < n_; ++v)
        if (!done[v] && (next == n_ || neighbors_[v].size() < neighbors_[next].size())) next = v;
      done[next] = true;
      eliminate(next, done, range_.must_renormalize());
      if (static_cast<double>(schedule_.updates.size()) > kMostUpdates * most_updates_ && n_ > 3) return std::nullopt;
    }
    return std::move(schedule_);
  }
  std::size_t n_slots() const { return next_slot_; }
  /// log2 of what was taken out of the sums.
  std::int64_t scale() const { return scale_taken_; }

 private:
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

  void connect(std::size_t u, std::size_t v) {
    slot_[u * n_ + v] = slot_[v * n_ + u] = next_slot_++;
    neighbors_[u].push_back(v);
    neighbors_[v].push_back(u);
  }

  /// Whether an update is at least what a share of the budget allows to leave out: it adds an edge of weight w_ik w_kj
  /// / d_k, w_ik being at most (n^2 / 4) * bottleneck and d_k at least the reciprocal of any resistance from k.
  bool matters(std::size_t i, std::size_t j, std::size_t k, double resistance_of_k) const {
    return highest_(i, k) + highest_(k, j) + resistance_of_k + resistance_(i, j) + kRounding > least_update_;
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
    scale_taken_ += static_cast<std::int64_t>(largest);
    PlanStep step{static_cast<std::uint32_t>(around.size()), 0, renormalize};
    for (const std::size_t l : around)
      schedule_.neighbors.push_back({slot_[k * n_ + l], power_of_two(clipped(scale_(k, l) - largest))});
    for (std::size_t a = 0; a < around.size(); ++a) {
      const std::size_t i = around[a], before = schedule_.updates.size();
      for (std::size_t b = a + 1; b < around.size(); ++b) {
        const std::size_t j = around[b];
        if (!matters(i, j, k, resistance_of_k)) continue;
        if (slot_[i * n_ + j] == kNoSlot) connect(i, j);
        const double factor = scale_(i, k) + scale_(k, j) - scale_(i, j) - largest;
        schedule_.updates.push_back({slot_[i * n_ + j], slot_[k * n_ + j], power_of_two(clipped(factor))});
      }
      if (schedule_.updates.size() == before) continue;
      schedule_.runs.push_back({slot_[k * n_ + i], static_cast<std::uint32_t>(schedule_.updates.size() - before)});
      ++step.n_runs;
    }
    schedule_.steps.push_back(step);
    for (const std::size_t l : around) {
      auto& others = neighbors_[l];
      others.erase(std::find(others.begin(), others.end(), k));
    }
    around.clear();
  }

  static std::int64_t clipped(double log2) { return log2 < -1022 ? -1023 : static_cast<std::int64_t>(log2); }

  std::size_t n_;
  const Matrix &resistance_, &scale_;
  Matrix highest_;
  RangeKeeper range_;
  SparseSchedule schedule_;
  std::int64_t scale_taken_ = 0;
  std::vector<std::uint32_t> slot_;
  std::vector<std::vector<std::size_t>> neighbors_;
  std::uint32_t next_slot_ = 0;
  double most_updates_ = 0, least_update_ = 0;
};

/// All nodes in the given order. Adds what is taken out of the sums to `scale_taken`. Gives nothing where scales are
/// too far from each other for their exponents.
std::optional<DenseSchedule> schedule_densely(const std::vector<std::size_t>& order, const Matrix& scale, double slack,
                                              std::int64_t& scale_taken) {
  const std::size_t n = order.size();
  DenseSchedule schedule;
  schedule.exponents.assign(n * n, 0);
  for (std::int64_t k = 0; k <= 1023; ++k) schedule.negative_powers.push_back(power_of_two(-k));
  RangeKeeper range(n, slack);
  // Only differences matter, so that all are taken from one of them.
  const double base = scale(order[n - 1], order[n - 2]);
  for (std::size_t i = 0; i < n; ++i) {
    double largest = kNothing;
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const double exponent = scale(order[i], order[j]);
      if (std::abs(exponent - base) > kMostDenseExponent) return std::nullopt;
      schedule.exponents[i * n + j] = static_cast<std::int32_t>(exponent - base);
      if (j > i) largest = std::max(largest, exponent);
    }
    if (i + 1 == n) break;
    schedule.largest.push_back(static_cast<std::int32_t>(largest - base));
    schedule.renormalizes.push_back(range.must_renormalize() ? 1 : 0);
    scale_taken += static_cast<std::int64_t>(largest);
  }
  return schedule;
}

/// The tables of all edges that are looked at.
void make_tables(const Tbmatan& model, const Matrix& scale, TreePlan& plan) {
  double cells = 0;
  for (const auto& [u, v, slot, table] : plan.edges)
    cells += static_cast<double>(model.cardinalities()[u]) * model.cardinalities()[v] * plan.n_classes;
  if (cells * sizeof(double) > kMaxPlanBytes)
    throw InvalidInput(join_text("the tables of ", plan.edges.size(), " pairs of features take ",
                                 cells * sizeof(double), " bytes, but at most ", kMaxPlanBytes, " are possible"));
  plan.tables.reserve(static_cast<std::size_t>(cells));
  for (PlanEdge& edge : plan.edges) {
    edge.table = plan.tables.size();
    Scaled weight = model.edge_weights()(edge.u, edge.v);
    weight.exponent -= static_cast<std::int64_t>(scale(edge.u, edge.v));
    // On the scale a weight is at most one or so; what is too small for a double is nothing beside it.
    const double scaled = weight.mantissa * power_of_two(weight.exponent);
    for (const double lift : pair_lifts(model.counts(), edge.u, edge.v, model.options().equivalent_sample_size))
      plan.tables.push_back(scaled * lift);
  }
}

}  // namespace

std::optional<TreePlan> make_tree_plan(const Tbmatan& model, bool prune) {
  TreePlan plan;
  plan.n_features = model.n_features();
  plan.n_classes = model.n_classes();
  if (plan.n_features < 2) return plan;
  const WeightBounds bounds(model);
  if (bounds.slack > kMaxSlack) return std::nullopt;
  const Matrix middle = middle_weights(bounds), scale = bottlenecks(middle), resistance = resistances(bounds.low);
  const auto add_edge = [&](const Edge& edge, std::size_t slot) {
    plan.edges.push_back({static_cast<std::uint32_t>(edge.first), static_cast<std::uint32_t>(edge.second),
                          static_cast<std::uint32_t>(slot), 0});
  };
  std::optional<SparseSchedule> sparse;
  const std::vector<Edge> edges = choose_edges(bounds, resistance, prune);
  const std::size_t all_edges = plan.n_features * (plan.n_features - 1) / 2;
  if (prune && kEdgesPerLeftOut * (all_edges - edges.size()) >= all_edges) {
    Compiler compiler(bounds, resistance, scale, edges);
    sparse = compiler.run();
    plan.n_slots = compiler.n_slots();
    plan.scale = compiler.scale();
  }
  if (sparse) {
    plan.schedule = *std::move(sparse);
    for (std::size_t e = 0; e < edges.size(); ++e) add_edge(edges[e], e);
  } else {
    // The leaves of the maximum spanning tree first.
    std::vector<std::size_t> order = spanning_tree(middle).order, position(plan.n_features);
    std::reverse(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    plan.n_slots = all_edges;
    plan.scale = 0;
    auto dense = schedule_densely(order, scale, bounds.slack, plan.scale);
    if (!dense) return std::nullopt;
    plan.schedule = *std::move(dense);
    for (const Edge& edge : choose_edges(bounds, resistance, false)) {
      const auto [first, second] = std::minmax(position[edge.first], position[edge.second]);
      add_edge(edge, pair_index(first, second, plan.n_features));
    }
  }
  make_tables(model, scale, plan);
  return plan;
}

}  // namespace tanager::internal

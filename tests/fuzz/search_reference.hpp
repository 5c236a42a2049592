// A slow wrapper search: the candidates of all methods, each n_evaluated by learning and predicting anew in every fold.
// Where classes come so close that rounding decides, a score is an interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "networks.hpp"
#include "reference.hpp"
#include "tanager/learn_search.hpp"

namespace slow {

using namespace tanager;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kClose = 1e-9;  // between log-joints, or scores

using Parents = std::vector<std::size_t>;
/// The parents of every feature; nothing for one that is left out.
using Graph = std::vector<std::optional<Parents>>;

struct Problem {
  Dataset data;
  std::vector<std::uint32_t> folds;
  std::uint32_t n_folds;
  SearchOptions options;

  double weight(std::size_t row) const { return data.is_weighted() ? data.weights()[row] : 1.0; }
  bool forbids(std::size_t parent, std::size_t child) const {
    return std::any_of(options.forbidden.begin(), options.forbidden.end(),
                       [&](const Arc& arc) { return arc.parent == parent && arc.child == child; });
  }
};

/// What a score may be.
struct Interval {
  double low = 0, high = 0;
  bool sure() const { return low == high || high - low < 1e-12; }
};

/// Scores structures by cross-validation; tables are kept, for they depend on nothing but their family.
class Judge {
 public:
  explicit Judge(const Problem& problem)
      : p_(problem), s_(problem.data.n_classes()), cards_(problem.data.cardinalities()) {
    for (std::uint32_t fold = 0; fold < p_.n_folds; ++fold) priors_.push_back(class_prior(fold));
    for (std::size_t row = 0; row < p_.data.n_rows(); ++row) {
      rows_.emplace_back();
      for (const Column& column : p_.data.features()) rows_.back().push_back(column[row]);
    }
  }

  std::vector<Interval> fold_scores(const Graph& graph) {
    std::vector<Interval> sums(p_.n_folds);
    std::vector<double> totals(p_.n_folds, 0.0);
    std::vector<bool> absent;
    std::vector<const std::vector<std::vector<double>>*> tables;
    for (std::size_t f = 0; f < graph.size(); ++f) {
      absent.push_back(!graph[f]);
      tables.push_back(graph[f] ? &table(f, *graph[f]) : nullptr);
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const std::uint32_t fold = p_.folds[row];
      std::vector<double> joint(s_);
      std::vector<long double> sum(s_, 0.0L), product(s_);
      fuzz::for_each_completion(rows_[row], cards_, absent, [&](const std::vector<Code>& complete) {
        std::fill(product.begin(), product.end(), 1.0L);
        for (std::size_t f = 0; f < graph.size(); ++f) {
          if (!graph[f]) continue;
          std::size_t index = 0;
          for (const std::size_t parent : *graph[f]) index = index * cards_[parent] + complete[parent];
          index = index * cards_[f] + complete[f];
          for (std::size_t c = 0; c < s_; ++c) product[c] *= (*tables[f])[fold][index * s_ + c];
        }
        for (std::size_t c = 0; c < s_; ++c) sum[c] += product[c];
      });
      for (std::size_t c = 0; c < s_; ++c) joint[c] = static_cast<double>(std::log(sum[c] * priors_[fold][c]));
      const Interval one = score_row(joint, p_.data.target()[row]);
      sums[fold].low += p_.weight(row) * one.low;
      sums[fold].high += p_.weight(row) * one.high;
      totals[fold] += p_.weight(row);
    }
    for (std::uint32_t fold = 0; fold < p_.n_folds; ++fold) {
      sums[fold].low /= totals[fold];
      sums[fold].high /= totals[fold];
    }
    return sums;
  }

  Interval score(const Graph& graph) {
    Interval mean;
    for (const Interval& one : fold_scores(graph)) {
      mean.low += one.low / p_.n_folds;
      mean.high += one.high / p_.n_folds;
    }
    return mean;
  }

 private:
  Interval score_row(const std::vector<double>& joint, std::size_t label) const {
    const double best = *std::max_element(joint.begin(), joint.end());
    if (p_.options.objective == SearchObjective::kCll) {
      double sum = 0;
      for (const double log : joint) sum += best == -kInfinity ? 1 : std::exp(log - best);
      const double score = (best == -kInfinity ? 0 : joint[label] - best) - std::log(sum);
      return {score, score};
    }
    std::size_t first = joint.size(), n_near = 0;
    for (std::size_t c = 0; c < joint.size(); ++c) {
      if (!(joint[c] == best || joint[c] > best - kClose)) continue;
      ++n_near;
      if (first == joint.size()) first = c;
    }
    const bool near = joint[label] == best || joint[label] > best - kClose;
    if (n_near > 1 && near && best > -kInfinity) return {0, 1};
    const double hit = first == label ? 1 : 0;
    return {hit, hit};
  }

  std::vector<double> class_prior(std::uint32_t fold) {
    if (!p_.options.class_prior.empty()) return p_.options.class_prior;
    std::vector<double> prior(s_, p_.options.alpha);
    for (std::size_t row = 0; row < p_.data.n_rows(); ++row)
      if (p_.folds[row] != fold) prior[p_.data.target()[row]] += p_.weight(row);
    const double total = std::accumulate(prior.begin(), prior.end(), 0.0);
    for (double& p : prior) p = total > 0 ? p / total : 1.0 / static_cast<double>(s_);
    return prior;
  }

  /// P(child | parents, class), [configurations][values][classes], for every fold left out.
  const std::vector<std::vector<double>>& table(std::size_t child, const Parents& parents) {
    auto& found = tables_[{child, parents}];
    if (!found.empty()) return found;
    for (std::uint32_t fold = 0; fold < p_.n_folds; ++fold) {
      std::vector<std::size_t> rows;
      for (std::size_t row = 0; row < p_.data.n_rows(); ++row)
        if (p_.folds[row] != fold) rows.push_back(row);
      std::vector<double> cells = reference::count_table(p_.data.subset(rows), {child, parents});
      const std::size_t r = p_.data.feature(child).n_values();
      for (std::size_t j = 0; j < cells.size(); j += r * s_)
        for (std::size_t c = 0; c < s_; ++c) {
          double total = static_cast<double>(r) * p_.options.alpha;
          for (std::size_t k = 0; k < r; ++k) total += cells[j + k * s_ + c];
          for (std::size_t k = 0; k < r; ++k) {
            double& cell = cells[j + k * s_ + c];
            cell = total > 0 ? (cell + p_.options.alpha) / total : 1.0 / static_cast<double>(r);
          }
        }
      found.push_back(std::move(cells));
    }
    return found;
  }

  const Problem& p_;
  std::size_t s_;
  std::vector<std::uint32_t> cards_;
  std::vector<std::vector<double>> priors_;  // of every fold
  std::vector<std::vector<Code>> rows_;
  std::map<std::pair<std::size_t, Parents>, std::vector<std::vector<double>>> tables_;
};

/// The candidates of all methods, in the order in which ties are decided.
class Candidates {
 public:
  Candidates(const Problem& problem, Judge& judge) : p_(problem), judge_(judge) {}

  Graph start() {
    const std::size_t n = p_.data.n_features();
    const bool forward = p_.options.method == SearchMethod::kForwardJoin;
    Graph graph(n);
    for (std::size_t f = 0; f < n; ++f)
      if (!forward) graph[f] = p_.options.start ? p_.options.start->parents(f) : Parents{};
    for (const Arc& arc : p_.options.required) {
      if (!graph[arc.parent]) graph[arc.parent] = Parents{};
      if (!graph[arc.child]) graph[arc.child] = Parents{};
      graph[arc.child]->push_back(arc.parent);
    }
    for (auto& parents : graph) {
      if (!parents) continue;
      std::sort(parents->begin(), parents->end());
      parents->erase(std::unique(parents->begin(), parents->end()), parents->end());
    }
    for (std::size_t f = 0; f < n; ++f) {  // groups, each with the feature of fewest parents first
      if (!graph[f]) continue;
      std::set<std::size_t> linked{f};
      for (std::size_t g = 0; g < n; ++g)
        if (graph[g] && (has_parent(graph, g, f) || has_parent(graph, f, g))) linked.insert(g);
      if (*linked.begin() != f) continue;
      Parents group(linked.begin(), linked.end());
      std::stable_sort(group.begin(), group.end(),
                       [&](std::size_t a, std::size_t b) { return graph[a]->size() < graph[b]->size(); });
      groups_.push_back(group);
    }
    return graph;
  }

  struct List {
    std::vector<Graph> graphs;
    std::vector<std::vector<Parents>> groups;
    std::size_t n_before = 0;  ///< that were scored to choose a super-parent
    bool decided = true;       ///< whether that choice does not hang on rounding
  };

  List of(const Graph& graph) {
    List list;
    switch (p_.options.method) {
      case SearchMethod::kHillClimb:
        add_arcs(graph, list);
        break;
      case SearchMethod::kSuperParent:
        add_super_parent_arcs(graph, list);
        break;
      case SearchMethod::kForwardJoin:
        add_additions(graph, list);
        break;
      case SearchMethod::kBackwardJoin:
        add_removals(graph, list);
        break;
    }
    return list;
  }

  void accept(const std::vector<Parents>& groups) { groups_ = groups; }

 private:
  static bool has_parent(const Graph& graph, std::size_t child, std::size_t parent) {
    return std::find(graph[child]->begin(), graph[child]->end(), parent) != graph[child]->end();
  }
  static bool reaches(const Graph& graph, std::size_t ancestor, std::size_t feature) {
    if (ancestor == feature) return true;
    return std::any_of(graph[feature]->begin(), graph[feature]->end(),
                       [&](std::size_t parent) { return reaches(graph, ancestor, parent); });
  }
  bool is_possible(const Graph& graph, std::size_t parent, std::size_t child, std::size_t most) const {
    return graph[child]->size() < most && !has_parent(graph, child, parent) && !p_.forbids(parent, child) &&
           !reaches(graph, child, parent);
  }
  static Graph with_arc(Graph graph, std::size_t parent, std::size_t child) {
    graph[child]->push_back(parent);
    std::sort(graph[child]->begin(), graph[child]->end());
    return graph;
  }

  void add_arcs(const Graph& graph, List& list) const {
    const std::size_t n = graph.size(), most = p_.options.max_parents;
    for (const bool full : {true, false})
      for (std::size_t parent = 0; parent < n; ++parent) {
        if ((graph[parent]->size() >= most) != full) continue;
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < n; ++i) order.push_back(full ? i : (parent + 1 + i) % n);
        for (const std::size_t child : order) {
          const bool twin = p_.options.symmetric && child > parent && graph[parent]->empty() && graph[child]->empty() &&
                            !full && !p_.forbids(child, parent);
          if (is_possible(graph, parent, child, most) && !twin) list.graphs.push_back(with_arc(graph, parent, child));
        }
      }
    list.groups.resize(list.graphs.size());
  }

  void add_super_parent_arcs(const Graph& graph, List& list) {
    std::vector<Interval> scores;
    std::vector<std::pair<std::size_t, Parents>> parents;
    for (std::size_t parent = 0; parent < graph.size(); ++parent) {
      Parents children;
      Graph changed = graph;
      for (std::size_t child = 0; child < graph.size(); ++child) {
        if (!is_possible(graph, parent, child, 1)) continue;
        children.push_back(child);
        changed[child] = Parents{parent};
      }
      if (children.empty()) continue;
      scores.push_back(judge_.score(changed));
      parents.emplace_back(parent, children);
    }
    list.n_before = parents.size();
    if (parents.empty()) return;
    std::size_t best = 0;
    double highest = -kInfinity;
    for (const Interval& one : scores) {
      highest = std::max(highest, one.low);
      list.decided &= one.sure();
    }
    while (!(scores[best].low >= highest - 1e-13)) ++best;
    for (const Interval& one : scores)
      if (one.low < highest - 1e-13 && one.low > highest - kClose) list.decided = false;
    for (const std::size_t child : parents[best].second)
      list.graphs.push_back(with_arc(graph, parents[best].first, child));
    list.groups.resize(list.graphs.size());
  }

  void add_additions(const Graph& graph, List& list) const {
    for (std::size_t f = 0; f < graph.size(); ++f) {
      if (graph[f]) continue;
      list.graphs.push_back(graph);
      list.graphs.back()[f] = Parents{};
      list.groups.push_back(groups_);
      list.groups.back().push_back({f});
    }
    for (std::size_t f = 0; f < graph.size(); ++f)
      for (std::size_t i = 0; !graph[f] && i < groups_.size(); ++i) {
        if (std::any_of(groups_[i].begin(), groups_[i].end(), [&](std::size_t m) { return p_.forbids(m, f); }))
          continue;
        list.graphs.push_back(graph);
        list.graphs.back()[f] = groups_[i];
        std::sort(list.graphs.back()[f]->begin(), list.graphs.back()[f]->end());
        list.groups.push_back(groups_);
        list.groups.back()[i].push_back(f);
      }
  }

  void add_removals(const Graph& graph, List& list) const {
    for (std::size_t f = 0; f < graph.size(); ++f) {
      const bool kept = std::any_of(p_.options.required.begin(), p_.options.required.end(),
                                    [&](const Arc& arc) { return arc.parent == f || arc.child == f; });
      if (!graph[f] || kept) continue;
      list.graphs.push_back(graph);
      list.graphs.back()[f].reset();
      for (auto& parents : list.graphs.back())
        if (parents) std::erase(*parents, f);
      list.groups.push_back(groups_);
      for (Parents& group : list.groups.back()) std::erase(group, f);
      std::erase_if(list.groups.back(), [](const Parents& group) { return group.empty(); });
    }
    for (std::size_t i = 0; i < groups_.size(); ++i)
      for (std::size_t j = i + 1; j < groups_.size(); ++j) {
        bool forbidden = false;
        for (const std::size_t child : groups_[i])
          for (const std::size_t parent : groups_[j]) forbidden |= p_.forbids(parent, child);
        if (forbidden) continue;
        list.graphs.push_back(graph);
        for (const std::size_t child : groups_[i]) {
          Parents& parents = *list.graphs.back()[child];
          parents.insert(parents.end(), groups_[j].begin(), groups_[j].end());
          std::sort(parents.begin(), parents.end());
        }
        list.groups.push_back(groups_);
        Parents joined = groups_[j];
        joined.insert(joined.end(), groups_[i].begin(), groups_[i].end());
        list.groups.back()[i] = joined;
        list.groups.back().erase(list.groups.back().begin() + static_cast<std::ptrdiff_t>(j));
      }
  }

  const Problem& p_;
  Judge& judge_;
  std::vector<Parents> groups_;
};

}  // namespace slow

// Maximum in place of sum: upwards the best that lies behind each clique, downwards the best whole case that goes
// through each cell. A variable with one best value has it in every best case; the first variable with several gets the
// lowest, and the rest is asked anew with that known.
#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/queries_impl.hpp"
#include "support/check_stop.hpp"
#include "support/infinity.hpp"

namespace tanager {

using namespace internal;

namespace {

/// How much two equal products may differ when their factors are multiplied in another order.
double tolerance(double log_probability) {
  return 1e-12 * std::max(1.0, std::abs(log_probability));
}

class Maximization {
 public:
  Maximization(const AskedNetwork& asked, const Evidence& evidence)
      : asked_(asked), n_classes_(asked.scopes.n_classes()), plan_(asked.plan(evidence, {true, {}})) {
    add_terms(evidence.features);
    climb();
  }

  /// ln of the most probable case of every class.
  const std::vector<double>& best() const { return best_; }

  /// For every clique's feature and the class given: ln of the most probable case with each of its values.
  std::vector<std::vector<double>> best_by_value(std::size_t c) {
    std::vector<std::vector<double>> result(plan_.cliques.size());
    std::vector<double> above(plan_.n_message_cells, kMinusInfinity);
    for (std::size_t i = plan_.cliques.size(); i-- > 0;) {
      const JunctionClique& clique = plan_.cliques[i];
      double* from = above.data() + clique.message;
      if (clique.parent == JunctionClique::kNone) {
        *from = best_[c];
      } else {
        const JunctionClique& parent = plan_.cliques[clique.parent];
        for (std::size_t cell = 0; cell < parent.n_cells(); ++cell) {
          meter_.add(1);
          double& target = from[plan_.offsets[clique.parent_offsets + cell] / n_classes_];
          target = std::max(target, cells_[(parent.cells + cell) * n_classes_ + c]);
        }
      }
      result[i].assign(clique.values, kMinusInfinity);
      for (std::size_t cell = 0; cell < clique.n_cells(); ++cell) {
        meter_.add(1);
        const std::size_t separator = cell / clique.values;
        const double behind = messages_[(clique.message + separator) * n_classes_ + c];
        double& whole = cells_[(clique.cells + cell) * n_classes_ + c];
        whole = behind == kMinusInfinity ? kMinusInfinity : from[separator] + (whole - behind);
        double& best = result[i][cell % clique.values];
        best = std::max(best, whole);
      }
    }
    return result;
  }

  std::size_t feature(std::size_t clique) const { return plan_.cliques[clique].feature; }

  /// For every clique the one that its messages end in: features of different ends do not know of each other.
  std::vector<std::size_t> ends() const {
    std::vector<std::size_t> result(plan_.cliques.size());
    for (std::size_t i = result.size(); i-- > 0;)
      result[i] = plan_.cliques[i].parent == JunctionClique::kNone ? i : result[plan_.cliques[i].parent];
    return result;
  }

 private:
  void add_terms(std::span<const Code> row) {
    best_.assign(n_classes_, 0.0);
    cells_.assign(plan_.n_cells * n_classes_, 0.0);
    messages_.assign(plan_.n_message_cells * n_classes_, kMinusInfinity);
    for (const JunctionTerm& term : plan_.complete)
      for (std::size_t c = 0; c < n_classes_; ++c) best_[c] += asked_.logs[term.family][plan_.base(term, row) + c];
    for (const JunctionClique& clique : plan_.cliques)
      for (std::size_t t = clique.first_term; t < clique.end_term; ++t)
        add_cells(clique, asked_.logs[plan_.terms[t].family].data() + plan_.base(plan_.terms[t], row),
                  plan_.terms[t].offsets);
  }

  void add_cells(const JunctionClique& clique, const double* from, std::size_t offsets) {
    for (std::size_t cell = 0; cell < clique.n_cells(); ++cell) {
      meter_.add(n_classes_);
      for (std::size_t c = 0; c < n_classes_; ++c)
        cells_[(clique.cells + cell) * n_classes_ + c] += from[plan_.offsets[offsets + cell] + c];
    }
  }

  void climb() {
    for (const JunctionClique& clique : plan_.cliques) {
      double* messages = messages_.data() + clique.message * n_classes_;
      for (std::size_t cell = 0; cell < clique.n_cells(); ++cell) {
        meter_.add(n_classes_);
        for (std::size_t c = 0; c < n_classes_; ++c) {
          double& best = messages[cell / clique.values * n_classes_ + c];
          best = std::max(best, cells_[(clique.cells + cell) * n_classes_ + c]);
        }
      }
      if (clique.parent == JunctionClique::kNone)
        for (std::size_t c = 0; c < n_classes_; ++c) best_[c] += messages[c];
      else
        add_cells(plan_.cliques[clique.parent], messages, clique.parent_offsets);
    }
  }

  const AskedNetwork& asked_;
  const std::size_t n_classes_;
  const JunctionPlan plan_;
  std::vector<double> cells_;     // [clique][separator][value][class]
  std::vector<double> messages_;  // [clique][separator][class]
  std::vector<double> best_;
  StopMeter meter_;
};

/// Settles what has one best value, and of every part of the network the first feature that has several. Returns
/// whether features are left.
bool settle(Maximization& search, double best, Evidence& known) {
  const auto by_value = search.best_by_value(*known.target);
  const auto ends = search.ends();
  const auto is_best = [&](double p) { return p >= best - tolerance(best); };
  std::vector<std::size_t> first_tied(by_value.size(), by_value.size());  // of every end, the clique
  bool left = false;
  for (std::size_t i = 0; i < by_value.size(); ++i) {
    if (std::ranges::count_if(by_value[i], is_best) > 1) {
      std::size_t& first = first_tied[ends[i]];
      if (first < by_value.size()) left = true;
      if (first == by_value.size() || search.feature(i) < search.feature(first)) first = i;
      continue;
    }
    known.features[search.feature(i)] =
        static_cast<Code>(std::ranges::find_if(by_value[i], is_best) - by_value[i].begin());
  }
  for (const std::size_t i : first_tied)
    if (i < by_value.size())
      known.features[search.feature(i)] =
          static_cast<Code>(std::ranges::find_if(by_value[i], is_best) - by_value[i].begin());
  return left;
}

}  // namespace

Explanation Queries::most_probable(const Evidence& evidence) const {
  impl_->check(evidence);
  Evidence known = evidence;
  Explanation result;
  for (bool first = true, left = true; left; first = false) {
    Maximization search(*impl_, known);
    if (!known.target) {
      const double best = *std::ranges::max_element(search.best());
      known.target = 0;
      while (search.best()[*known.target] < best - tolerance(best)) ++*known.target;
    }
    const double best = search.best()[*known.target];
    if (best == kMinusInfinity) throw_impossible();
    if (first) result.log_probability = best;
    left = settle(search, best, known);
  }
  for (std::size_t f = 0; f < known.features.size(); ++f) {
    if (impl_->scopes.cardinalities()[f] == 1) known.features[f] = 0;
    if (impl_->structure.is_absent(f)) known.features[f] = kMissing;
  }
  result.features = std::move(known.features);
  result.target = *known.target;
  return result;
}

}  // namespace tanager

// Every clique adds the logarithms of its families' tables and of the messages it hears, and sums its feature out:
// ln sum exp, with the largest term of each separator cell taken out first, so that nothing underflows however many
// features there are, nor where the largest terms meet a zero later. What is left behind is the conditional
// distribution of the feature given its separator, so that the way back only multiplies.
#include "inference/junction_propagate.hpp"

#include <algorithm>

#include "inference/class_lanes.hpp"
#include "simd/vector_exp.hpp"
#include "simd/vector_log.hpp"
#include "support/check_stop.hpp"
#include "support/infinity.hpp"

namespace tanager::internal {
namespace {

/// to[cell][class] += from[offsets[cell] + class]
template <std::size_t kClasses>
void add_cells(double* to, const double* from, const std::uint32_t* offsets, std::size_t n_cells, std::size_t s) {
  if constexpr (kClasses > 0) s = kClasses;
  in_pieces(n_cells, [&](std::size_t begin, std::size_t end) {
    double* sum = to + begin * s;
    for (std::size_t i = begin; i < end; ++i, sum += s) {
      const double* term = from + offsets[i];
      for (std::size_t c = 0; c < s; ++c) sum[c] += term[c];
    }
  });
}

/// to[offsets[cell] + class] += from[cell][class]
template <std::size_t kClasses>
void scatter_cells(double* to, const double* from, const std::uint32_t* offsets, std::size_t n_cells, std::size_t s) {
  if constexpr (kClasses > 0) s = kClasses;
  in_pieces(n_cells, [&](std::size_t begin, std::size_t end) {
    const double* term = from + begin * s;
    for (std::size_t i = begin; i < end; ++i, term += s) {
      double* sum = to + offsets[i];
      for (std::size_t c = 0; c < s; ++c) sum[c] += term[c];
    }
  });
}

/// One separator cell: block is [values][classes]. message[class] = ln sum over the values; the block becomes the
/// distribution over them, or zeros where all of it is impossible.
template <std::size_t kClasses>
void sum_out(double* block, std::size_t values, std::size_t s, double* message, double* sums) {
  if constexpr (kClasses > 0) s = kClasses;
  for (std::size_t c = 0; c < s; ++c) message[c] = block[c];
  for (std::size_t v = 1; v < values; ++v)
    for (std::size_t c = 0; c < s; ++c) message[c] = std::max(message[c], block[v * s + c]);
  std::fill_n(sums, s, 0.0);
  for (std::size_t v = 0; v < values; ++v)
    for (std::size_t c = 0; c < s; ++c) {
      const double largest = message[c] == kMinusInfinity ? 0.0 : message[c];
      const double e = vector_exp(block[v * s + c] - largest);
      block[v * s + c] = e;
      sums[c] += e;
    }
  for (std::size_t c = 0; c < s; ++c) {
    if (message[c] == kMinusInfinity) sums[c] = 1;  // all zeros: nothing to divide, nothing to add
    message[c] += vector_log(sums[c]);
  }
}

template <std::size_t kClasses>
void gather_cliques(const Plan& plan, const FamilyTables& logs, std::size_t s, bool conditionals, Propagation& state) {
  if constexpr (kClasses > 0) s = kClasses;
  state.sums.resize(s);
  double* sums = state.sums.data();
  std::fill_n(state.cells.begin(), plan.n_cells * s, 0.0);
  StopMeter meter;
  for (const PlanClique& clique : plan.cliques) {
    double* cells = state.cells.data() + clique.cells * s;
    double* messages = state.messages.data() + clique.message * s;
    for (std::size_t t = clique.first_term; t < clique.end_term; ++t)
      add_cells<kClasses>(cells, logs[plan.terms[t].family].data() + state.bases[t],
                          plan.offsets.data() + plan.terms[t].offsets, clique.n_cells(), s);
    for (std::size_t x = 0; x < clique.separator_cells; ++x) {
      meter.add(clique.values * s);
      double* block = cells + x * clique.values * s;
      sum_out<kClasses>(block, clique.values, s, messages + x * s, sums);
      if (!conditionals) continue;
      for (std::size_t v = 0; v < clique.values; ++v)
        for (std::size_t c = 0; c < s; ++c) block[v * s + c] /= sums[c];
    }
    if (clique.parent == PlanClique::kNone) {
      for (std::size_t c = 0; c < s; ++c) state.log_evidence[c] += messages[c];
    } else {
      const PlanClique& parent = plan.cliques[clique.parent];
      add_cells<kClasses>(state.cells.data() + parent.cells * s, messages, plan.offsets.data() + clique.parent_offsets,
                          parent.n_cells(), s);
    }
  }
}

template <std::size_t kClasses>
void spread_cliques(const Plan& plan, std::span<const double> weights, Propagation& state) {
  const std::size_t s = kClasses > 0 ? kClasses : weights.size();
  std::fill_n(state.separators.begin(), plan.n_message_cells * s, 0.0);
  StopMeter meter;
  for (std::size_t i = plan.cliques.size(); i-- > 0;) {
    const PlanClique& clique = plan.cliques[i];
    double* above = state.separators.data() + clique.message * s;
    if (clique.parent == PlanClique::kNone) {
      std::copy_n(weights.begin(), s, above);
    } else {
      const PlanClique& parent = plan.cliques[clique.parent];
      scatter_cells<kClasses>(above, state.beliefs.data() + parent.cells * s,
                              plan.offsets.data() + clique.parent_offsets, parent.n_cells(), s);
    }
    const double* cells = state.cells.data() + clique.cells * s;
    double* beliefs = state.beliefs.data() + clique.cells * s;
    for (std::size_t x = 0; x < clique.separator_cells; ++x, above += s) {
      meter.add(clique.values * s);
      for (std::size_t v = 0; v < clique.values; ++v, cells += s, beliefs += s)
        for (std::size_t c = 0; c < s; ++c) beliefs[c] = above[c] * cells[c];
    }
  }
}

}  // namespace

void gather(const Plan& plan, const FamilyTables& logs, std::span<const Code> row, std::uint32_t n_classes,
            bool conditionals, Propagation& state) {
  const std::size_t s = n_classes;
  if (state.cells.size() < plan.n_cells * s) state.cells.resize(plan.n_cells * s);
  if (state.messages.size() < plan.n_message_cells * s) state.messages.resize(plan.n_message_cells * s);
  if (state.bases.size() < plan.terms.size()) state.bases.resize(plan.terms.size());
  for (std::size_t t = 0; t < plan.terms.size(); ++t) state.bases[t] = plan.base(plan.terms[t], row);
  state.log_evidence.assign(s, 0.0);
  with_classes(s, [&](auto classes) {
    constexpr std::size_t kClasses = decltype(classes)::value;
    const std::size_t lanes = kClasses > 0 ? kClasses : s;
    double* sums = state.log_evidence.data();
    for (const PlanTerm& term : plan.complete) {
      const double* cell = logs[term.family].data() + plan.base(term, row);
      for (std::size_t c = 0; c < lanes; ++c) sums[c] += cell[c];
    }
    gather_cliques<kClasses>(plan, logs, s, conditionals, state);
  });
}

void spread(const Plan& plan, std::span<const double> class_weights, Propagation& state) {
  const std::size_t s = class_weights.size();
  if (state.beliefs.size() < plan.n_cells * s) state.beliefs.resize(plan.n_cells * s);
  if (state.separators.size() < plan.n_message_cells * s) state.separators.resize(plan.n_message_cells * s);
  with_classes(s, [&](auto classes) { spread_cliques<decltype(classes)::value>(plan, class_weights, state); });
}

std::vector<double> query_beliefs(const Plan& plan, std::size_t n_cells, std::uint32_t n_classes,
                                  const Propagation& state) {
  std::vector<double> joint(n_cells * n_classes, 0.0);
  const PlanClique& clique = plan.cliques[plan.query_clique];
  scatter_cells<0>(joint.data(), state.beliefs.data() + clique.cells * n_classes,
                   plan.offsets.data() + plan.query_offsets, clique.n_cells(), n_classes);
  return joint;
}

void add_beliefs(const Plan& plan, std::span<const Code> row, std::span<const double> class_weights,
                 const Propagation& state, FamilyTables& sums) {
  const std::size_t s = class_weights.size();
  with_classes(s, [&](auto classes) {
    constexpr std::size_t kClasses = decltype(classes)::value;
    const std::size_t lanes = kClasses > 0 ? kClasses : s;
    for (const PlanTerm& term : plan.complete) {
      double* cell = sums[term.family].data() + plan.base(term, row);
      for (std::size_t c = 0; c < lanes; ++c) cell[c] += class_weights[c];
    }
    for (const PlanClique& clique : plan.cliques)
      for (std::size_t t = clique.first_term; t < clique.end_term; ++t)
        scatter_cells<kClasses>(sums[plan.terms[t].family].data() + state.bases[t],
                                state.beliefs.data() + clique.cells * s, plan.offsets.data() + plan.terms[t].offsets,
                                clique.n_cells(), s);
  });
}

}  // namespace tanager::internal

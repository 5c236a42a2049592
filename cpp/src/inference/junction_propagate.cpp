// Every clique adds the logarithms of its families' tables and of the messages it hears, and sums its feature out:
// ln sum exp, with the largest term of each separator cell taken out first, so that nothing underflows however many
// features there are, nor where the largest terms meet a zero later. What is left behind is the conditional
// distribution of the feature given its separator, so that the way back only multiplies.
#include "inference/junction_propagate.hpp"

#include <algorithm>

#include "simd/vector_exp.hpp"
#include "simd/vector_log.hpp"
#include "simd/with_constant.hpp"
#include "support/check_stop.hpp"
#include "support/infinity.hpp"

namespace tanager::internal {
namespace {

/// to[cell][class] += from[offsets[cell] + class]
template <std::size_t kClasses>
void add_cells(double* to, const double* from, const std::uint32_t* offsets, std::size_t n_cells,
               std::size_t n_classes) {
  if constexpr (kClasses > 0) n_classes = kClasses;
  in_pieces(n_cells, [&](std::size_t begin, std::size_t end) {
    double* sum = to + begin * n_classes;
    for (std::size_t i = begin; i < end; ++i, sum += n_classes) {
      const double* term = from + offsets[i];
      for (std::size_t c = 0; c < n_classes; ++c) sum[c] += term[c];
    }
  });
}

/// to[offsets[cell] + class] += from[cell][class]
template <std::size_t kClasses>
void scatter_cells(double* to, const double* from, const std::uint32_t* offsets, std::size_t n_cells,
                   std::size_t n_classes) {
  if constexpr (kClasses > 0) n_classes = kClasses;
  in_pieces(n_cells, [&](std::size_t begin, std::size_t end) {
    const double* term = from + begin * n_classes;
    for (std::size_t i = begin; i < end; ++i, term += n_classes) {
      double* sum = to + offsets[i];
      for (std::size_t c = 0; c < n_classes; ++c) sum[c] += term[c];
    }
  });
}

/// One separator cell: block is [values][classes]. message[class] = ln sum over the values; the block becomes the
/// distribution over them, or zeros where all of it is impossible.
template <std::size_t kClasses>
void sum_out(double* block, std::size_t values, std::size_t n_classes, double* message, double* sums) {
  if constexpr (kClasses > 0) n_classes = kClasses;
  for (std::size_t c = 0; c < n_classes; ++c) message[c] = block[c];
  for (std::size_t v = 1; v < values; ++v)
    for (std::size_t c = 0; c < n_classes; ++c) message[c] = std::max(message[c], block[v * n_classes + c]);
  std::fill_n(sums, n_classes, 0.0);
  for (std::size_t v = 0; v < values; ++v)
    for (std::size_t c = 0; c < n_classes; ++c) {
      const double largest = message[c] == kMinusInfinity ? 0.0 : message[c];
      const double e = vector_exp(block[v * n_classes + c] - largest);
      block[v * n_classes + c] = e;
      sums[c] += e;
    }
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (message[c] == kMinusInfinity) sums[c] = 1;  // all zeros: nothing to divide, nothing to add
    message[c] += vector_log(sums[c]);
  }
}

template <std::size_t kClasses>
void gather_cliques(const JunctionPlan& plan, const FamilyTables& logs, std::size_t n_classes, bool conditionals,
                    Propagation& state) {
  if constexpr (kClasses > 0) n_classes = kClasses;
  state.sums.resize(n_classes);
  double* sums = state.sums.data();
  std::fill_n(state.cells.begin(), plan.n_cells * n_classes, 0.0);
  StopMeter meter;
  for (const JunctionClique& clique : plan.cliques) {
    double* cells = state.cells.data() + clique.cells * n_classes;
    double* messages = state.messages.data() + clique.message * n_classes;
    for (std::size_t t = clique.first_term; t < clique.end_term; ++t)
      add_cells<kClasses>(cells, logs[plan.terms[t].family].data() + state.bases[t],
                          plan.offsets.data() + plan.terms[t].offsets, clique.n_cells(), n_classes);
    for (std::size_t x = 0; x < clique.separator_cells; ++x) {
      meter.add(clique.values * n_classes);
      double* block = cells + x * clique.values * n_classes;
      sum_out<kClasses>(block, clique.values, n_classes, messages + x * n_classes, sums);
      if (!conditionals) continue;
      for (std::size_t v = 0; v < clique.values; ++v)
        for (std::size_t c = 0; c < n_classes; ++c) block[v * n_classes + c] /= sums[c];
    }
    if (clique.parent == JunctionClique::kNone) {
      for (std::size_t c = 0; c < n_classes; ++c) state.log_evidence[c] += messages[c];
    } else {
      const JunctionClique& parent = plan.cliques[clique.parent];
      add_cells<kClasses>(state.cells.data() + parent.cells * n_classes, messages,
                          plan.offsets.data() + clique.parent_offsets, parent.n_cells(), n_classes);
    }
  }
}

template <std::size_t kClasses>
void spread_cliques(const JunctionPlan& plan, std::span<const double> weights, Propagation& state) {
  const std::size_t n_classes = kClasses > 0 ? kClasses : weights.size();
  std::fill_n(state.separators.begin(), plan.n_message_cells * n_classes, 0.0);
  StopMeter meter;
  for (std::size_t i = plan.cliques.size(); i-- > 0;) {
    const JunctionClique& clique = plan.cliques[i];
    double* above = state.separators.data() + clique.message * n_classes;
    if (clique.parent == JunctionClique::kNone) {
      std::copy_n(weights.begin(), n_classes, above);
    } else {
      const JunctionClique& parent = plan.cliques[clique.parent];
      scatter_cells<kClasses>(above, state.beliefs.data() + parent.cells * n_classes,
                              plan.offsets.data() + clique.parent_offsets, parent.n_cells(), n_classes);
    }
    const double* cells = state.cells.data() + clique.cells * n_classes;
    double* beliefs = state.beliefs.data() + clique.cells * n_classes;
    for (std::size_t x = 0; x < clique.separator_cells; ++x, above += n_classes) {
      meter.add(clique.values * n_classes);
      for (std::size_t v = 0; v < clique.values; ++v, cells += n_classes, beliefs += n_classes)
        for (std::size_t c = 0; c < n_classes; ++c) beliefs[c] = above[c] * cells[c];
    }
  }
}

}  // namespace

void gather(const JunctionPlan& plan, const FamilyTables& logs, std::span<const Code> row, std::uint32_t n_classes,
            bool conditionals, Propagation& state) {
  if (state.cells.size() < plan.n_cells * n_classes) state.cells.resize(plan.n_cells * n_classes);
  if (state.messages.size() < plan.n_message_cells * n_classes) state.messages.resize(plan.n_message_cells * n_classes);
  if (state.bases.size() < plan.terms.size()) state.bases.resize(plan.terms.size());
  for (std::size_t t = 0; t < plan.terms.size(); ++t) state.bases[t] = plan.base(plan.terms[t], row);
  state.log_evidence.assign(n_classes, 0.0);
  with_constant<1, 2, 3, 4>(n_classes, [&](auto classes) {
    constexpr std::size_t kClasses = decltype(classes)::value;
    const std::size_t lanes = kClasses > 0 ? kClasses : n_classes;
    double* sums = state.log_evidence.data();
    for (const JunctionTerm& term : plan.complete) {
      const double* cell = logs[term.family].data() + plan.base(term, row);
      for (std::size_t c = 0; c < lanes; ++c) sums[c] += cell[c];
    }
    gather_cliques<kClasses>(plan, logs, n_classes, conditionals, state);
  });
}

void spread(const JunctionPlan& plan, std::span<const double> class_weights, Propagation& state) {
  const std::size_t n_classes = class_weights.size();
  if (state.beliefs.size() < plan.n_cells * n_classes) state.beliefs.resize(plan.n_cells * n_classes);
  if (state.separators.size() < plan.n_message_cells * n_classes)
    state.separators.resize(plan.n_message_cells * n_classes);
  with_constant<1, 2, 3, 4>(
      n_classes, [&](auto classes) { spread_cliques<decltype(classes)::value>(plan, class_weights, state); });
}

std::vector<double> query_beliefs(const JunctionPlan& plan, std::size_t n_cells, std::uint32_t n_classes,
                                  const Propagation& state) {
  std::vector<double> joint(n_cells * n_classes, 0.0);
  const JunctionClique& clique = plan.cliques[plan.query_clique];
  scatter_cells<0>(joint.data(), state.beliefs.data() + clique.cells * n_classes,
                   plan.offsets.data() + plan.query_offsets, clique.n_cells(), n_classes);
  return joint;
}

void add_beliefs(const JunctionPlan& plan, std::span<const Code> row, std::span<const double> class_weights,
                 const Propagation& state, FamilyTables& sums) {
  const std::size_t n_classes = class_weights.size();
  with_constant<1, 2, 3, 4>(n_classes, [&](auto classes) {
    constexpr std::size_t kClasses = decltype(classes)::value;
    const std::size_t lanes = kClasses > 0 ? kClasses : n_classes;
    for (const JunctionTerm& term : plan.complete) {
      double* cell = sums[term.family].data() + plan.base(term, row);
      for (std::size_t c = 0; c < lanes; ++c) cell[c] += class_weights[c];
    }
    for (const JunctionClique& clique : plan.cliques)
      for (std::size_t t = clique.first_term; t < clique.end_term; ++t)
        scatter_cells<kClasses>(sums[plan.terms[t].family].data() + state.bases[t],
                                state.beliefs.data() + clique.cells * n_classes,
                                plan.offsets.data() + plan.terms[t].offsets, clique.n_cells(), n_classes);
  });
}

}  // namespace tanager::internal

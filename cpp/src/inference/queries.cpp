#include "tanager/queries.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "inference/queries_impl.hpp"
#include "support/check_stop.hpp"
#include "support/infinity.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {

void throw_impossible() {
  throw InvalidInput("the evidence has probability zero under this network; nothing follows from it");
}

AskedNetwork::AskedNetwork(const Network& network, std::uint64_t limit)
    : structure(network.structure()),
      scopes(structure, {network.cardinalities().begin(), network.cardinalities().end()}, network.n_classes()),
      logs(std::move(InferenceTables(family_tables(network)).logs)),
      max_cells(checked_max_cells(limit)) {}

void AskedNetwork::check(const Evidence& evidence) const {
  if (evidence.features.size() != n_features())
    throw InvalidInput(join_text("the evidence must have a code for each of ", n_features(), " features, got ",
                                 evidence.features.size()));
  for (const std::size_t f : scopes.order())
    if (evidence.features[f] != kMissing && evidence.features[f] >= scopes.cardinalities()[f])
      throw InvalidInput(join_text("feature ", f, " has code ", evidence.features[f], ", but ",
                                   scopes.cardinalities()[f], " values are known"));
  if (evidence.target && *evidence.target >= scopes.n_classes())
    throw InvalidInput(
        join_text("the class has code ", *evidence.target, ", but there are ", scopes.n_classes(), " classes"));
}

JunctionPlan AskedNetwork::plan(const Evidence& evidence, const JunctionRequest& request) const {
  std::vector<bool> observed(n_features());
  for (std::size_t f = 0; f < observed.size(); ++f) observed[f] = evidence.features[f] != kMissing;
  return make_junction_plan(scopes, observed, request, max_cells);
}

std::vector<double> AskedNetwork::class_posterior(const Evidence& evidence,
                                                  std::span<const double> log_evidence) const {
  std::vector<double> posterior(log_evidence.begin(), log_evidence.end());
  if (evidence.target)
    for (std::uint32_t c = 0; c < posterior.size(); ++c)
      if (c != *evidence.target) posterior[c] = kMinusInfinity;
  const double largest = *std::ranges::max_element(posterior);
  if (largest == kMinusInfinity) throw_impossible();
  double sum = 0;
  for (double& p : posterior) sum += p = std::exp(p - largest);
  for (double& p : posterior) p /= sum;
  return posterior;
}

}  // namespace tanager::internal

namespace tanager {

using namespace internal;

namespace {

/// Throws InvalidInput unless the variables exist and come once each.
void check_variables(const AskedNetwork& asked, std::span<const std::size_t> variables) {
  if (variables.empty()) throw InvalidInput("expected at least one variable, got none");
  std::vector<bool> seen(asked.n_features() + 1, false);
  for (const std::size_t v : variables) {
    if (v > asked.n_features())
      throw InvalidInput(join_text("expected a variable from 0 to ", asked.n_features(), ", the class, got ", v));
    if (v < asked.n_features() && asked.structure.is_absent(v))
      throw InvalidInput(join_text("feature ", v, " is not part of the network"));
    if (seen[v]) throw InvalidInput(join_text("expected different variables, got ", v, " twice"));
    seen[v] = true;
  }
}

}  // namespace

Queries::Queries(const Network& network, std::uint64_t max_cells)
    : impl_(std::make_unique<const Impl>(network, max_cells)) {}
Queries::~Queries() = default;
Queries::Queries(Queries&&) noexcept = default;
Queries& Queries::operator=(Queries&&) noexcept = default;

double Queries::log_probability(const Evidence& evidence) const {
  impl_->check(evidence);
  Propagation state;
  gather(impl_->plan(evidence, {}), impl_->logs, evidence.features, impl_->scopes.n_classes(), false, state);
  if (evidence.target) return state.log_evidence[*evidence.target];
  const double largest = *std::ranges::max_element(state.log_evidence);
  if (largest == kMinusInfinity) return kMinusInfinity;
  double sum = 0;
  for (const double log : state.log_evidence) sum += std::exp(log - largest);
  return largest + std::log(sum);
}

JointTable Queries::posterior(const Evidence& evidence, std::span<const std::size_t> variables) const {
  impl_->check(evidence);
  check_variables(*impl_, variables);
  const std::size_t n = impl_->n_features(), n_classes = impl_->scopes.n_classes();

  // Strides of the answer, and where its observed variables put it.
  JointTable answer{{variables.begin(), variables.end()}, {}, {}};
  for (const std::size_t v : variables)
    answer.dims.push_back(v == n ? static_cast<std::uint32_t>(n_classes) : impl_->scopes.cardinalities()[v]);
  std::vector<std::size_t> together, strides;
  const double needed = std::accumulate(answer.dims.begin(), answer.dims.end(), 1.0, std::multiplies<>());
  if (needed > static_cast<double>(impl_->max_cells))
    throw InvalidInput(
        join_text("the joint distribution has ", number_of_cells(needed), " cells, but max_cells allows ",
                  impl_->max_cells, "; ask for fewer variables",
                  needed <= static_cast<double>(kMostCliqueCells) ? ", or set max_cells to that number" : ""));
  std::size_t cells = 1, missing_cells = 1, base = 0, class_stride = 0;
  for (std::size_t i = variables.size(); i-- > 0; cells *= answer.dims[i]) {
    if (variables[i] == n) {
      class_stride = cells;
    } else if (evidence.features[variables[i]] != kMissing) {
      base += evidence.features[variables[i]] * cells;
    } else if (answer.dims[i] > 1) {  // a feature of one value has no say, and no clique
      together.insert(together.begin(), variables[i]);
      strides.insert(strides.begin(), cells);
      missing_cells *= answer.dims[i];
    }
  }
  answer.probabilities.assign(cells, 0.0);

  const JunctionPlan plan = impl_->plan(evidence, {false, together});
  Propagation state;
  gather(plan, impl_->logs, evidence.features, impl_->scopes.n_classes(), true, state);
  const std::vector<double> weights = impl_->class_posterior(evidence, state.log_evidence);
  std::vector<double> joint = weights;  // [missing features asked for][class]
  if (!together.empty()) {
    spread(plan, weights, state);
    joint = query_beliefs(plan, missing_cells, impl_->scopes.n_classes(), state);
  }
  std::vector<std::uint32_t> value(together.size(), 0);
  std::size_t place = base;
  StopMeter meter;
  for (std::size_t i = 0; i < joint.size(); i += n_classes) {
    meter.add(n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) answer.probabilities[place + c * class_stride] += joint[i + c];
    for (std::size_t k = together.size(); k-- > 0;) {  // count up, the last feature fastest
      place += strides[k];
      if (++value[k] < impl_->scopes.cardinalities()[together[k]]) break;
      place -= strides[k] * value[k];
      value[k] = 0;
    }
  }
  return answer;
}

}  // namespace tanager

#include "tanager/inference.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "inference/junction_plan.hpp"
#include "inference/junction_plan_cache.hpp"
#include "inference/junction_propagate.hpp"
#include "inference/log_messages.hpp"
#include "simd/vector_exp.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
constexpr std::size_t kBits = 64;
constexpr std::uint64_t kNobody = 0;

/// A number that no other Inference of this process ever has.
std::uint64_t new_id() {
  static std::atomic<std::uint64_t> last{kNobody};
  return ++last;
}

/// Tables that do not depend on the class are repeated for every class. Few numbers could so become very many: a
/// network read from a small file must not ask for more memory than this lets it.
void check_expanded_size(const Network& network) {
  constexpr std::uint64_t kFreeCells = std::uint64_t{1} << 24;
  constexpr std::uint64_t kMostTimes = 64;
  const auto cards = network.cardinalities();
  std::uint64_t stored = network.class_table().size(), expanded = stored;
  for (std::size_t f = 0; f < network.n_features(); ++f) {
    if (network.structure().is_absent(f)) continue;
    stored += network.table(f).size();
    expanded += checked_table_size(network.structure().family(f), cards, network.n_classes());
  }
  if (expanded > std::max(kFreeCells, kMostTimes * stored))
    throw InvalidInput(join_text("inference repeats tables that do not depend on the class for each of ",
                                 network.n_classes(), " classes: they would have ", expanded, " cells, but at most ",
                                 std::max(kFreeCells, kMostTimes * stored), " are possible"));
}

}  // namespace

struct Inference::Impl {
  Impl(const Structure& structure, FamilyScopes families, std::uint64_t limit)
      : scopes(std::move(families)), max_cells(checked_max_cells(limit)) {
    if (Forest::fits(structure)) forest.emplace(structure, scopes.cardinalities(), scopes.n_classes());
  }

  FamilyScopes scopes;
  std::uint64_t max_cells;
  std::optional<Forest> forest;
  JunctionPlanCache plans{kCacheBytes};
  const std::uint64_t id = new_id();

  /// Finds the plan of a row; the last row's is kept if it was ours and the pattern is the same.
  void find_plan(std::span<const Code> row, bool every_feature, Workspace::State& state);

  /// ln P(observed features, class). With `conditionals`, leaves what expected counts need.
  std::span<const double> gather(const InferenceTables& tables, std::span<const Code> row, bool conditionals,
                                 Workspace::State& state);
};

struct Inference::Workspace::State {
  std::uint64_t planned_by = kNobody;    // the Inference that the plan belongs to
  std::uint64_t collected_by = kNobody;  // the one that called collect() last, if nothing came after it
  Pattern pattern;
  Pattern next_pattern;  // kept, so that a row allocates nothing
  std::shared_ptr<const JunctionPlan> plan;
  Propagation propagation;
  LogForestState forest;
  std::vector<Code> row;  // and its evidence: of the last collect()
  std::vector<double> log_evidence;
  std::vector<double> weights;
};

void Inference::Impl::find_plan(std::span<const Code> row, bool every_feature, Workspace::State& state) {
  const std::size_t n = scopes.n_features();
  Pattern& now = state.next_pattern;
  now.assign(n / kBits + 2, 0);
  for (const std::size_t f : scopes.connected()) now[f / kBits] |= std::uint64_t{row[f] == kMissing} << (f % kBits);
  now.back() = every_feature;
  if (state.planned_by == id && now == state.pattern) return;
  state.planned_by = kNobody;
  state.plan = plans.get(now, [&] {
    std::vector<bool> observed(n);
    for (std::size_t f = 0; f < n; ++f) observed[f] = row[f] != kMissing;
    return make_junction_plan(scopes, observed, {every_feature, {}, true}, max_cells);
  });
  std::swap(state.pattern, now);
  state.planned_by = id;
}

std::span<const double> Inference::Impl::gather(const InferenceTables& tables, std::span<const Code> row,
                                                bool conditionals, Workspace::State& state) {
  state.collected_by = kNobody;
  if (forest) {
    collect_logs(*forest, tables, row, conditionals, state.forest);
    return state.forest.log_evidence;
  }
  find_plan(row, conditionals, state);
  tanager::gather(*state.plan, tables.logs, row, scopes.n_classes(), conditionals, state.propagation);
  std::vector<double>& evidence = state.propagation.log_evidence;
  for (const std::size_t f : scopes.isolated()) {
    if (row[f] == kMissing) continue;
    const double* logs = tables.logs[f].data() + row[f] * evidence.size();
    for (std::size_t c = 0; c < evidence.size(); ++c) evidence[c] += logs[c];
  }
  return evidence;
}

Inference::Workspace::Workspace() : state_(std::make_unique<State>()) {}
Inference::Workspace::~Workspace() = default;
Inference::Workspace::Workspace(Workspace&&) noexcept = default;
Inference::Workspace& Inference::Workspace::operator=(Workspace&&) noexcept = default;

Inference::Inference(const Structure& structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                     std::uint64_t max_cells)
    : impl_(
          std::make_unique<Impl>(structure, FamilyScopes(structure, std::move(cardinalities), n_classes), max_cells)) {}
Inference::~Inference() = default;
Inference::Inference(Inference&&) noexcept = default;
Inference& Inference::operator=(Inference&&) noexcept = default;

std::size_t Inference::n_features() const {
  return impl_->scopes.n_features();
}

std::uint32_t Inference::n_classes() const {
  return impl_->scopes.n_classes();
}

void Inference::log_evidence(const InferenceTables& tables, std::span<const Code> row, Workspace& work,
                             std::span<double> out) const {
  std::ranges::copy(impl_->gather(tables, row, false, *work.state_), out.begin());
}

void Inference::collect(const InferenceTables& tables, std::span<const Code> row, Workspace& work,
                        std::span<double> out) const {
  const auto evidence = impl_->gather(tables, row, true, *work.state_);
  std::ranges::copy(evidence, out.begin());
  work.state_->row.assign(row.begin(), row.end());
  work.state_->log_evidence.assign(evidence.begin(), evidence.end());
  work.state_->collected_by = impl_->id;
}

void Inference::add_family_posteriors(const InferenceTables& tables, std::span<const double> class_weights,
                                      Workspace& work, FamilyTables& sums) const {
  auto& state = *work.state_;
  if (state.collected_by != impl_->id)
    throw InvalidInput("expected collect() by the same Inference as the last use of the workspace");
  state.weights.assign(class_weights.begin(), class_weights.end());
  for (std::size_t c = 0; c < state.weights.size(); ++c)
    if (state.log_evidence[c] == -std::numeric_limits<double>::infinity()) state.weights[c] = 0;
  if (impl_->forest) return add_beliefs(*impl_->forest, tables, state.row, state.weights, state.forest, sums);
  spread(*state.plan, state.weights, state.propagation);
  add_beliefs(*state.plan, state.row, state.weights, state.propagation, sums);
  const std::size_t n_classes = state.weights.size();
  for (const std::size_t f : impl_->scopes.isolated()) {
    const std::vector<double>& table = tables.probabilities[f];
    if (state.row[f] != kMissing)
      for (std::size_t c = 0; c < n_classes; ++c) sums[f][state.row[f] * n_classes + c] += state.weights[c];
    else
      for (std::size_t i = 0; i < table.size(); ++i) sums[f][i] += state.weights[i % n_classes] * table[i];
  }
}

FamilyTables Inference::zero_tables() const {
  FamilyTables tables(n_features() + 1);
  for (std::size_t family = 0; family < tables.size(); ++family)
    tables[family].assign(impl_->scopes.table_size(family), 0.0);
  return tables;
}

InferenceTables::InferenceTables(FamilyTables given) : probabilities(std::move(given)) {
  refresh_logs();
}

InferenceTables InferenceTables::from_logs(FamilyTables logs) {
  InferenceTables tables;
  tables.probabilities = logs;
  for (auto& table : tables.probabilities)
    for (double& cell : table) cell = vector_exp(cell);
  tables.logs = std::move(logs);
  return tables;
}

void InferenceTables::refresh_logs() {
  logs.resize(probabilities.size());
  for (std::size_t family = 0; family < logs.size(); ++family) {
    logs[family].resize(probabilities[family].size());
    std::ranges::transform(probabilities[family], logs[family].begin(), [](double p) { return std::log(p); });
  }
}

FamilyTables family_tables(const Network& network) {
  check_expanded_size(network);
  FamilyTables tables;
  tables.reserve(network.n_features() + 1);
  for (std::size_t f = 0; f < network.n_features(); ++f) tables.push_back(network.expanded_table(f));
  tables.emplace_back(network.class_table().begin(), network.class_table().end());
  return tables;
}

}  // namespace tanager

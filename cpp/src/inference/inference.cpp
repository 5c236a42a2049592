#include "tanager/inference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "inference/plan.hpp"
#include "inference/plan_cache.hpp"
#include "inference/propagate.hpp"

namespace tanager {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
constexpr std::size_t kBits = 64;

}  // namespace

struct Inference::Impl {
  FamilyScopes scopes;
  std::uint64_t max_cells;
  PlanCache plans{kCacheBytes};

  /// The plan of a row; `pattern` is that of the last row, whose plan is kept if the pattern is the same.
  void find_plan(std::span<const Code> row, bool every_feature, Pattern& pattern, std::shared_ptr<const Plan>& plan) {
    const std::size_t n = scopes.n_features();
    Pattern now(n / kBits + 1, 0);
    for (std::size_t f = 0; f < n; ++f) now[f / kBits] |= std::uint64_t{row[f] == kMissing} << (f % kBits);
    now.push_back(every_feature);
    if (plan && now == pattern) return;
    plan = plans.get(now, [&] {
      std::vector<bool> observed(n);
      for (std::size_t f = 0; f < n; ++f) observed[f] = row[f] != kMissing;
      return make_plan(scopes, observed, {every_feature, {}}, max_cells);
    });
    pattern = std::move(now);
  }
};

struct Inference::Workspace::State {
  Pattern pattern;
  std::shared_ptr<const Plan> plan;
  Propagation propagation;
  std::vector<Code> row;
  std::vector<double> weights;
};

Inference::Workspace::Workspace() : state_(std::make_unique<State>()) {}
Inference::Workspace::~Workspace() = default;
Inference::Workspace::Workspace(Workspace&&) noexcept = default;
Inference::Workspace& Inference::Workspace::operator=(Workspace&&) noexcept = default;

Inference::Inference(const Structure& structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                     std::uint64_t max_cells)
    : impl_(new Impl{FamilyScopes(structure, std::move(cardinalities), n_classes), max_cells}) {}
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
  auto& state = *work.state_;
  impl_->find_plan(row, false, state.pattern, state.plan);
  gather(*state.plan, tables.logs, row, n_classes(), false, state.propagation);
  std::ranges::copy(state.propagation.log_evidence, out.begin());
}

void Inference::collect(const InferenceTables& tables, std::span<const Code> row, Workspace& work,
                        std::span<double> out) const {
  auto& state = *work.state_;
  impl_->find_plan(row, true, state.pattern, state.plan);
  gather(*state.plan, tables.logs, row, n_classes(), true, state.propagation);
  state.row.assign(row.begin(), row.end());
  std::ranges::copy(state.propagation.log_evidence, out.begin());
}

void Inference::add_family_posteriors(const InferenceTables&, std::span<const double> class_weights, Workspace& work,
                                      FamilyTables& sums) const {
  auto& state = *work.state_;
  state.weights.assign(class_weights.begin(), class_weights.end());
  for (std::size_t c = 0; c < state.weights.size(); ++c)
    if (state.propagation.log_evidence[c] == -std::numeric_limits<double>::infinity()) state.weights[c] = 0;
  spread(*state.plan, state.weights, state.propagation);
  add_beliefs(*state.plan, state.row, state.weights, state.propagation, sums);
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

void InferenceTables::refresh_logs() {
  logs.resize(probabilities.size());
  for (std::size_t family = 0; family < logs.size(); ++family) {
    logs[family].resize(probabilities[family].size());
    std::ranges::transform(probabilities[family], logs[family].begin(), [](double p) { return std::log(p); });
  }
}

FamilyTables family_tables(const Network& network) {
  FamilyTables tables;
  tables.reserve(network.n_features() + 1);
  for (std::size_t f = 0; f < network.n_features(); ++f) {
    const auto table = expanded_table_of(network, f);
    tables.emplace_back(table.begin(), table.end());
  }
  const auto class_table = network.class_probabilities();
  tables.emplace_back(class_table.begin(), class_table.end());
  return tables;
}

}  // namespace tanager

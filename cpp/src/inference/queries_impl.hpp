// What all kinds of questions to a network share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/junction_plan.hpp"
#include "inference/junction_propagate.hpp"
#include "tanager/queries.hpp"

namespace tanager::internal {

/// Throws InvalidInput: the evidence has probability zero.
[[noreturn]] void throw_impossible();

/// A network made ready for questions.
struct AskedNetwork {
  AskedNetwork(const Network& network, std::uint64_t limit);

  std::size_t n_features() const { return scopes.n_features(); }
  /// Throws InvalidInput if the evidence is not about this network.
  void check(const Evidence& evidence) const;
  JunctionPlan plan(const Evidence& evidence, const JunctionRequest& request) const;
  /// P(class | evidence), from the logarithms of P(evidence, class). Throws InvalidInput if all of them are zero.
  std::vector<double> class_posterior(const Evidence& evidence, std::span<const double> log_evidence) const;

  Structure structure;
  FamilyScopes scopes;
  FamilyTables logs;
  std::uint64_t max_cells;
};

}  // namespace tanager::internal

namespace tanager {

struct Queries::Impl : internal::AskedNetwork {
  using AskedNetwork::AskedNetwork;
};

}  // namespace tanager

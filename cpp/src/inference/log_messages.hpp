// The messages of a forest as logarithms, for all classes at once.
#pragma once

#include <span>
#include <vector>

#include "inference/forest.hpp"
#include "tanager/inference.hpp"

namespace tanager::internal {

/// Buffers of one thread.
struct LogForestState {
  ForestState forest;
  std::vector<double> scaled;   ///< as ForestState::messages: their exponentials, the largest of every class being one
  std::vector<double> largest;  ///< one number for every class
  std::vector<double> result;   ///< [parent's value][class]: the logarithms of sums
  std::vector<double> log_evidence;  ///< of every class
};

/// Writes state.log_evidence: ln P(observed features, class). With `conditionals`, leaves what add_beliefs() needs.
void collect_logs(const Forest& forest, const InferenceTables& tables, std::span<const Code> row, bool conditionals,
                  LogForestState& state);

/// After collect_logs() with conditionals: adds weight * P(family | row, class) to the tables of all families.
void add_beliefs(const Forest& forest, const InferenceTables& tables, std::span<const Code> row,
                 std::span<const double> class_weights, LogForestState& state, FamilyTables& sums);

}  // namespace tanager::internal

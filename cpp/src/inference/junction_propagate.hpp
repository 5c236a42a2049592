// Messages through a junction tree, for all classes at once.
#pragma once

#include <span>
#include <vector>

#include "inference/junction_plan.hpp"
#include "tanager/inference.hpp"

namespace tanager::internal {

/// What one row makes of a plan; kept from row to row, so that nothing is allocated.
struct Propagation {
  std::vector<double> cells;       ///< [clique][separator][value][class]: P(value | separator, row, class)
  std::vector<double> messages;    ///< [clique][separator][class]: ln P(what lies behind the clique | separator, class)
  std::vector<std::size_t> bases;  ///< where the row is in the table of every term
  std::vector<double> beliefs;     ///< as cells: weight * P(separator, value | row, class)
  std::vector<double> separators;  ///< as messages: weight * P(separator | row, class)
  std::vector<double> sums;        ///< one number for every class
  std::vector<double> log_evidence;  ///< of every class
};

/// Writes log_evidence: ln P(observed features, class). With `conditionals`, leaves in the cells what spread() needs.
void gather(const JunctionPlan& plan, const FamilyTables& logs, std::span<const Code> row, std::uint32_t n_classes,
            bool conditionals, Propagation& state);

/// After gather() with conditionals: the beliefs of all cliques, the classes weighing what is given.
void spread(const JunctionPlan& plan, std::span<const double> class_weights, Propagation& state);

/// After spread(): weight * P(features asked for | row, class), [their n_cells joint values][classes].
std::vector<double> query_beliefs(const JunctionPlan& plan, std::size_t n_cells, std::uint32_t n_classes,
                                  const Propagation& state);

/// Adds the beliefs to the tables of all families, complete ones included.
void add_beliefs(const JunctionPlan& plan, std::span<const Code> row, std::span<const double> class_weights,
                 const Propagation& state, FamilyTables& sums);

}  // namespace tanager::internal

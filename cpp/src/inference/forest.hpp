// Messages through the trees of a structure whose features have at most one feature parent each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/junction_plan.hpp"
#include "tanager/inference.hpp"

namespace tanager::internal {

/// What one row makes of a forest; kept from row to row, so that nothing is allocated.
struct ForestState {
  std::vector<double> messages;      ///< [feature][value][class]: ln P(what is observed below | value, class)
  std::vector<double> scaled;        ///< as messages: their exponentials, the largest of every class being one
  std::vector<double> beliefs;       ///< as messages: weight * P(value | row, class)
  std::vector<double> sums;          ///< [feature][parent's value][class]: of P(value | parent's value) * scaled
  std::vector<double> scratch;       ///< one number for every class
  std::vector<std::uint8_t> heard;   ///< whether a feature has heard from below
  std::vector<double> log_evidence;  ///< of every class
};

/// Every feature has at most one feature parent, and so has the class. Nothing is compiled: a row costs O(n r^2 s) at
/// worst, and one addition per class for a feature that is observed with its parent.
class Forest {
 public:
  static bool fits(const FamilyScopes& scopes);
  explicit Forest(const FamilyScopes& scopes);

  /// Writes log_evidence: ln P(observed features, class). With `conditionals`, leaves what add_beliefs() needs.
  void gather(const InferenceTables& tables, std::span<const Code> row, bool conditionals, ForestState& state) const;
  /// After gather() with conditionals: adds weight * P(family | row, class) to the tables of all families.
  void add_beliefs(const InferenceTables& tables, std::span<const Code> row, std::span<const double> class_weights,
                   ForestState& state, FamilyTables& sums) const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Node {
    std::uint32_t feature;
    std::uint32_t parent;  ///< a feature, or kNone
    std::uint32_t values;
    std::uint32_t parent_values;
    std::size_t message;  ///< of the feature's own block, and of its parent's
    std::size_t parent_message;
    std::size_t sum;
  };

  template <std::size_t kClasses>
  void gather_lanes(const InferenceTables& tables, std::span<const Code> row, bool conditionals,
                    ForestState& state) const;
  template <std::size_t kClasses>
  void add_lanes(const InferenceTables& tables, std::span<const Code> row, const double* weights, ForestState& state,
                 FamilyTables& sums) const;

  std::size_t n_features_;
  std::size_t n_classes_;
  std::vector<Node> nodes_;  // parents before children
  std::uint32_t class_parent_ = kNone;
  std::uint32_t class_parent_values_ = 1;
  std::size_t class_parent_message_ = 0;
  std::size_t message_size_ = 0;  // of all features
  std::size_t sum_size_ = 0;
};

}  // namespace tanager::internal

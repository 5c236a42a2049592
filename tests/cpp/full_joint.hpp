// Answers from the full joint distribution of a network: slow, and obviously right.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "random_networks.hpp"
#include "tanager/inference.hpp"
#include "tanager/queries.hpp"

namespace testing {

/// All cases with their probabilities.
class FullJoint {
 public:
  struct Case {
    std::vector<Code> row;
    std::uint32_t target;
    double probability;
  };

  explicit FullJoint(const tanager::Network& network) : network_(network), tables_(tanager::family_tables(network)) {
    std::vector<Code> row(network.n_features(), 0);
    for (bool more = true; more;) {  // the class, then the first features, change slowest: lexicographic order
      for (std::uint32_t c = 0; c < network.n_classes(); ++c) cases_.push_back({row, c, probability(row, c)});
      more = false;
      for (std::size_t f = row.size(); f-- > 0 && !more;) {
        if (++row[f] < network.cardinalities()[f])
          more = true;
        else
          row[f] = 0;
      }
    }
    std::stable_sort(cases_.begin(), cases_.end(), [](const Case& a, const Case& b) { return a.target < b.target; });
  }

  const std::vector<Case>& cases() const { return cases_; }

  /// Where a case is in the table of a family.
  std::size_t cell(std::size_t family, const std::vector<Code>& row, std::size_t c) const {
    const auto& structure = network_.structure();
    std::size_t index = 0;
    const bool is_class = family == network_.n_features();
    for (const std::size_t p : is_class ? structure.class_parents() : structure.parents(family))
      index = index * network_.cardinalities()[p] + row[p];
    if (!is_class) index = index * network_.cardinalities()[family] + row[family];
    return index * network_.n_classes() + c;
  }

  static bool agrees(const Case& one, const tanager::Evidence& evidence) {
    if (evidence.target && *evidence.target != one.target) return false;
    for (std::size_t f = 0; f < one.row.size(); ++f)
      if (evidence.features[f] != kMissing && evidence.features[f] != one.row[f]) return false;
    return true;
  }

  double probability(const tanager::Evidence& evidence) const {
    double sum = 0;
    for (const Case& one : cases_)
      if (agrees(one, evidence)) sum += one.probability;
    return sum;
  }

 private:
  double probability(const std::vector<Code>& row, std::size_t c) const {
    double p = 1;
    for (std::size_t family = 0; family <= row.size(); ++family) p *= tables_[family][cell(family, row, c)];
    return p;
  }

  const tanager::Network& network_;
  tanager::FamilyTables tables_;
  std::vector<Case> cases_;
};

}  // namespace testing

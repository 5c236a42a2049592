#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/counts.hpp"

namespace tanager {

/// Which features a model has, and which feature parents each of them has. The class is a parent of every feature of
/// the model and is not listed. A feature that the model leaves out is absent: it has no table, and prediction does not
/// look at it.
class Structure {
 public:
  /// Throws InvalidInput if a parent does not exist, is listed twice or is its own child, or if the arcs form a cycle.
  explicit Structure(std::vector<std::vector<std::size_t>> parents);
  /// Leaves out the features marked in `absent`; throws InvalidInput as well if one of them has parents or children.
  static Structure leaving_out(std::vector<bool> absent, std::vector<std::vector<std::size_t>> parents);
  /// No arcs between features.
  static Structure naive(std::size_t n_features);

  /// Number of features, absent ones included.
  std::size_t n_features() const { return parents_.size(); }
  bool is_absent(std::size_t feature) const { return !absent_.empty() && absent_[feature]; }
  const std::vector<std::size_t>& parents(std::size_t feature) const { return parents_[feature]; }
  Family family(std::size_t feature) const { return {feature, parents_[feature]}; }
  /// Every feature of the model after its parents, each tree walked depth first, lowest index first.
  const std::vector<std::size_t>& order() const { return order_; }
  /// The largest number of feature parents of any feature.
  std::size_t max_parents() const;

  /// No feature has a feature parent.
  bool is_naive() const { return max_parents() == 0; }
  /// Every feature has at most one feature parent (a forest).
  bool is_one_dependence() const { return max_parents() <= 1; }
  /// One tree spans all features of the model.
  bool is_tan() const;
  /// The features fall into groups; each group is fully connected, and there are no arcs between groups.
  bool is_semi_naive() const;

  bool operator==(const Structure&) const = default;

 private:
  Structure() = default;

  std::vector<std::vector<std::size_t>> parents_;
  std::vector<bool> absent_;  // empty if none is
  std::vector<std::size_t> order_;
};

/// A learned classifier: structure and conditional probability tables. Immutable, so any number of threads may use it.
class Network {
 public:
  /// `tables[f]` is P(f | parents, class), laid out as CountTable: parents outermost, then f's value, then the class;
  /// empty for an absent feature.
  /// Throws InvalidInput if a size is wrong, a number is not a probability, or a distribution does not sum to one.
  Network(Structure structure, std::vector<std::uint32_t> cardinalities, std::vector<double> class_probabilities,
          std::vector<std::vector<double>> tables);

  const Structure& structure() const { return structure_; }
  std::size_t n_features() const { return structure_.n_features(); }
  std::uint32_t n_classes() const { return static_cast<std::uint32_t>(class_probabilities_.size()); }
  std::span<const std::uint32_t> cardinalities() const { return cardinalities_; }
  std::span<const double> class_probabilities() const { return class_probabilities_; }
  std::span<const double> table(std::size_t feature) const { return tables_[feature]; }

  /// Number of free parameters: (values - 1) for every parent configuration, class included.
  std::uint64_t n_parameters() const;

 private:
  Structure structure_;
  std::vector<std::uint32_t> cardinalities_;
  std::vector<double> class_probabilities_;
  std::vector<std::vector<double>> tables_;
};

}  // namespace tanager

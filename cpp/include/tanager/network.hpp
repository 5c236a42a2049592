#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/structure.hpp"

namespace tanager {

/// A learned classifier: structure and conditional probability tables. Immutable and safe to share between threads.
class Network {
 public:
  /// `class_table` is P(class | its parents), [parent configurations][classes]: the class probabilities if it has no
  /// parents. `tables[f]` is P(f | parents), laid out as CountTable: feature parents outermost, then f's value, then
  /// the class, whose axis has length one where it is not a parent of f; empty for an absent feature. Throws
  /// InvalidInput if a size is wrong, a number is not a probability, or a distribution does not sum to one.
  Network(Structure structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
          std::vector<double> class_table, std::vector<std::vector<double>> tables);
  /// The same for a class without parents: there are as many classes as probabilities.
  Network(Structure structure, std::vector<std::uint32_t> cardinalities, const std::vector<double>& class_probabilities,
          std::vector<std::vector<double>> tables);

  [[nodiscard]] const Structure& structure() const { return structure_; }
  [[nodiscard]] std::size_t n_features() const { return structure_.n_features(); }
  [[nodiscard]] std::uint32_t n_classes() const { return n_classes_; }
  [[nodiscard]] std::span<const std::uint32_t> cardinalities() const { return cardinalities_; }
  /// P(class | its parents), [parent configurations][classes].
  [[nodiscard]] std::span<const double> class_table() const { return class_table_; }
  /// The same table, named for a class without parents.
  [[nodiscard]] std::span<const double> class_probabilities() const { return class_table_; }
  /// P(feature | parents); see the constructor.
  [[nodiscard]] std::span<const double> table(std::size_t feature) const { return tables_[feature]; }
  /// The same, always with the class as innermost axis.
  [[nodiscard]] std::vector<double> expanded_table(std::size_t feature) const;

  /// Number of free parameters: (values - 1) for every parent configuration, class included.
  [[nodiscard]] std::uint64_t n_parameters() const;

 private:
  Structure structure_;
  std::vector<std::uint32_t> cardinalities_;
  std::uint32_t n_classes_;
  std::vector<double> class_table_;
  std::vector<std::vector<double>> tables_;
};

}  // namespace tanager

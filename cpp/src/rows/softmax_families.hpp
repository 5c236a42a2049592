// The families of a structure as blocks of softmax parameters, and as tables with the class innermost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/network.hpp"

namespace tanager::internal {

/// One family. Its parameters are [configurations][values][inner]; its expanded table is [cells][classes].
struct FamilyBlock {
  std::size_t feature = 0;           ///< the number of features stands for the class
  std::vector<std::size_t> members;  ///< whose codes make up the cell: feature parents, then the feature itself
  std::size_t cells = 1;             ///< joint values of the members
  std::size_t values = 0;            ///< of each distribution
  std::size_t inner = 1;             ///< distributions side by side: one per class where the class is a parent
  std::size_t offset = 0;            ///< of its first parameter
  std::size_t expanded = 0;          ///< of its first cell among the expanded tables
  bool knows_class = true;           ///< whether the table depends on the class
  std::size_t size = 0;              ///< number of parameters
};

class SoftmaxFamilies {
 public:
  /// Throws InvalidInput if a table is too large.
  SoftmaxFamilies(const Structure& structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes);

  const Structure& structure() const { return structure_; }
  const std::vector<std::uint32_t>& cardinalities() const { return cardinalities_; }
  std::size_t n_classes() const { return n_classes_; }
  /// In the order of the structure, the class last.
  const std::vector<FamilyBlock>& blocks() const { return blocks_; }
  std::size_t n_parameters() const { return n_parameters_; }
  std::size_t n_expanded() const { return n_expanded_; }

  std::vector<double> parameters(const Network& network) const;
  Network network(std::span<const double> probabilities) const;
  /// Softmax of every distribution, and its logarithm.
  void normalize(std::span<const double> parameters, std::span<double> probabilities, std::span<double> logs) const;
  /// The same numbers with the class as innermost axis of all tables.
  void expand(std::span<const double> flat, std::span<double> expanded) const;
  /// Sums over the class where a family does not know it; the other way round.
  void contract(std::span<const double> expanded, std::span<double> flat) const;
  /// Expected counts n of the cells to derivatives n - theta sum of n, in place.
  void to_gradient(std::span<const double> probabilities, std::span<double> counts) const;
  /// Expected counts to (n + alpha) / (sum of n + values * alpha), in place; distributions without counts stay
  /// `before`.
  void to_probabilities(std::span<const double> before, double alpha, std::span<double> counts) const;

 private:
  void add_block(FamilyBlock block);

  Structure structure_;
  std::vector<std::uint32_t> cardinalities_;
  std::size_t n_classes_;
  std::vector<FamilyBlock> blocks_;
  std::size_t n_parameters_ = 0, n_expanded_ = 0;
};

}  // namespace tanager::internal

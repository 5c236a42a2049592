// Unpruned classification trees over coded columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tanager/dataset.hpp"

namespace tanager::internal {

/// The test whether a feature has a value.
struct TreeSplit {
  std::size_t feature = 0;
  Code value = 0;
  double gain = 0;  ///< information gain in nats, times the number of rows where the feature is observed
};

/// n ln n for n = 0 .. largest: all that information gains of whole counts are made of.
std::vector<double> entropy_terms(std::size_t largest);

/// Gains that differ by less than this are equal, and less than this is none: `term` is n ln n of the rows of the node.
inline double gain_margin(double term) {
  return 1e-13 * (1.0 + term);
}

/// Learns trees one after the other; keeps its scratch memory between them.
class CategoricalTree {
 public:
  /// `features` are those that may be tested, in increasing order; `terms` as from entropy_terms for as many rows as
  /// any tree will have, kept by the caller.
  CategoricalTree(const Dataset& data, std::vector<std::size_t> features, std::span<const double> terms);

  /// The test with the largest gain among rows, which may repeat; none if no test gains anything.
  std::optional<TreeSplit> best_split(std::span<const std::uint32_t> rows);

  /// The least depth at which every feature of the data is tested, the root being at depth one, and zero for those that
  /// are not. Nodes below which no new feature can be tested are not grown. `rows` are put into another order.
  std::vector<std::uint32_t> least_depths(std::vector<std::uint32_t>& rows, std::optional<std::size_t> max_depth);

 private:
  struct Node {
    std::size_t begin, end;
  };

  bool is_pure(std::span<const std::uint32_t> rows) const;
  bool varies(std::size_t feature, std::span<const std::uint32_t> rows) const;
  bool any_varies(std::span<const std::size_t> features, std::span<const std::uint32_t> rows) const;
  template <class T>
  void try_feature(std::size_t feature, const T* codes, std::span<const std::uint32_t> rows, TreeSplit& best);
  template <class T>
  void try_table(std::size_t feature, const T* codes, std::span<const std::uint32_t> rows, TreeSplit& best);
  template <class T>
  void try_sorted(std::size_t feature, const T* codes, std::span<const std::uint32_t> rows, TreeSplit& best);
  std::size_t divide(const TreeSplit& split, std::span<std::uint32_t> rows);

  const Dataset& data_;
  std::vector<std::size_t> features_;
  std::span<const double> terms_;
  std::vector<std::uint16_t> classes_;       // of the rows of the node
  std::vector<std::uint32_t> counts_;        // [value][class]
  std::vector<std::uint32_t> class_counts_;  // of the rows where the feature is observed
  std::vector<std::uint32_t> keys_;          // value and class of rows, sorted, where tables would be mostly empty
  std::vector<std::uint32_t> others_;        // rows that a test sends to the other side
};

}  // namespace tanager::internal

// Rows with missing cells in structures that are forests given the class: expected counts by messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rows/softmax_families.hpp"
#include "tanager/dataset.hpp"

namespace tanager::internal {

/// An observed feature cuts its tree: only missing features with something observed below them need messages, and those
/// mostly stand alone. Works on one row at a time, for all classes or for a single one.
class ForestRows {
 public:
  /// Whether the structure is a forest given the class: no feature has two feature parents, nor has the class.
  static bool suits(const Structure& structure);
  explicit ForestRows(const SoftmaxFamilies& families);

  /// Buffers of one thread, and what collect() leaves for add_posteriors().
  struct Workspace {
    std::vector<double> likelihoods;   // [feature][value][class]: of what is observed below, given the value
    std::vector<double> messages;      // [feature][value of its parent][class]
    std::vector<double> posteriors;    // as likelihoods
    std::vector<double> totals;        // [feature][class]: of the roots of what is missing
    std::vector<std::uint8_t> active;  // per feature: missing, and something below it is observed
    std::vector<double> shares;        // [class]
  };
  Workspace workspace() const;

  /// Adds ln P(observed features, class) to `out`, for the classes [first, first + count). `logs` and `probabilities`
  /// are expanded. Families that are observed as a whole are left out unless `whole`.
  void collect(const Code* row, std::span<const double> probabilities, std::span<const double> logs, std::size_t first,
               std::size_t count, bool whole, double* out, Workspace& work) const;
  /// After collect() with the same row and classes: adds weights[c] * P(family's values | row, c) to the expanded
  /// cells. A missing feature with nothing observed below it adds nothing.
  void add_posteriors(const Code* row, std::span<const double> probabilities, std::size_t first, std::size_t count,
                      bool whole, const double* weights, std::span<double> sums, Workspace& work) const;

 private:
  struct Node {
    std::size_t feature = 0, parent = 0;  // the number of features stands for none
    std::size_t values = 0, parent_values = 1;
    std::size_t expanded = 0;  // of the table
    std::size_t state = 0;     // of its likelihoods
    std::size_t message = 0;   // of its message
  };

  template <int kClasses>
  void collect_with(const Code* row, const double* probabilities, const double* logs, std::size_t first,
                    std::size_t count, bool whole, double* out, Workspace& work) const;
  template <int kClasses>
  void add_with(const Code* row, const double* probabilities, std::size_t first, std::size_t count, bool whole,
                const double* weights, double* sums, Workspace& work) const;

  std::size_t n_features_, n_classes_;
  std::vector<Node> nodes_;           // in the order of the structure
  std::vector<std::size_t> node_of_;  // by feature
  Node class_node_;                   // its parent is the class's
  std::size_t n_states_ = 0, n_messages_ = 0;
};

}  // namespace tanager::internal

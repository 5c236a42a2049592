#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tanager/counts.hpp"

namespace tanager {

/// Which features a model has, which feature parents each of them has, and where the class stands among them. In most
/// classifiers the class has no parents and is a parent of every feature of the model (an augmented naive Bayes); in a
/// general network it may have parents, and features need not be its children. A feature that the model leaves out is
/// absent: it has no table, and prediction ignores it. Immutable and safe to share between threads.
class Structure {
 public:
  /// The class is a parent of every feature and is not listed.
  /// Throws InvalidInput if a parent does not exist, is listed twice or is its own child, or if the arcs form a cycle.
  explicit Structure(std::vector<std::vector<std::size_t>> parents);
  /// Leaves out the features marked in `absent`; throws InvalidInput as well if one of them has parents or children.
  [[nodiscard]] static Structure leaving_out(std::vector<bool> absent, std::vector<std::vector<std::size_t>> parents);
  /// The class in any place: it is a parent of the features marked in `class_children`, and a child of `class_parents`.
  /// `absent` may be empty: nothing is left out.
  [[nodiscard]] static Structure general(std::vector<std::vector<std::size_t>> parents,
                                         std::vector<bool> class_children, std::vector<std::size_t> class_parents,
                                         std::vector<bool> absent = {});
  /// No arcs between features.
  [[nodiscard]] static Structure naive(std::size_t n_features);

  /// Number of features, absent ones included.
  [[nodiscard]] std::size_t n_features() const { return parents_.size(); }
  [[nodiscard]] bool is_absent(std::size_t feature) const { return !absent_.empty() && absent_[feature]; }
  [[nodiscard]] const std::vector<std::size_t>& parents(std::size_t feature) const { return parents_[feature]; }
  [[nodiscard]] Family family(std::size_t feature) const { return {feature, parents_[feature]}; }
  /// Whether the class is a parent of a feature of the model.
  [[nodiscard]] bool is_class_child(std::size_t feature) const {
    return !is_absent(feature) && (not_class_children_.empty() || !not_class_children_[feature]);
  }
  /// The features that are parents of the class, in increasing order.
  [[nodiscard]] const std::vector<std::size_t>& class_parents() const { return class_parents_; }
  /// The family whose counts are those of the class with its parents, [class parents][class]; empty without parents.
  [[nodiscard]] std::optional<Family> class_family() const;
  /// Every feature of the model after its parents, each tree walked depth first, lowest index first.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
  /// How many features of order() come before the class: the class comes after its parents and before its
  /// children. Zero if it has no parents.
  [[nodiscard]] std::size_t class_position() const { return class_position_; }
  /// The largest number of feature parents of any feature.
  [[nodiscard]] std::size_t max_parents() const;

  /// The class has no parents and is a parent of every feature of the model.
  [[nodiscard]] bool is_augmented_naive() const { return class_parents_.empty() && not_class_children_.empty(); }
  // The following are false for other structures.
  /// No feature has a feature parent.
  [[nodiscard]] bool is_naive() const { return is_augmented_naive() && max_parents() == 0; }
  /// Every feature has at most one feature parent (a forest).
  [[nodiscard]] bool is_one_dependence() const { return is_augmented_naive() && max_parents() <= 1; }
  /// One tree spans all features of the model.
  [[nodiscard]] bool is_tan() const;
  /// The features fall into groups; each group is fully connected, and there are no arcs between groups.
  [[nodiscard]] bool is_semi_naive() const;

  bool operator==(const Structure&) const = default;

 private:
  Structure() = default;

  std::vector<std::vector<std::size_t>> parents_;
  std::vector<bool> absent_;              // empty if none is
  std::vector<bool> not_class_children_;  // empty if all features of the model are children of the class
  std::vector<std::size_t> class_parents_;
  std::vector<std::size_t> order_;
  std::size_t class_position_ = 0;
};

}  // namespace tanager

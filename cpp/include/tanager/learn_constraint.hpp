#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tanager/dataset.hpp"
#include "tanager/errors.hpp"
#include "tanager/structure.hpp"

namespace tanager {

/// How strongly two variables depend on each other given others. They count as independent where this is at most a
/// threshold; infinity means that the data are not sufficient, and they never do. It must not depend on the order of
/// the two, nor on that of the others, which are given in increasing order, and several threads may call it at once.
using Dependence = std::function<double(std::size_t x, std::size_t y, std::span<const std::size_t> given)>;

/// The measure of strength, and of its threshold.
enum class DependenceKind {
  kMutualInformation,  ///< I(X;Y|Z) in nats
  kG2                  ///< -ln p of the likelihood-ratio (G2) test; the threshold is -ln of a significance
};

struct DependenceOptions {
  DependenceKind kind = DependenceKind::kMutualInformation;
  /// Condition every test on the class as well.
  bool given_class = false;
  /// Minimum number of rows of a test that is conditioned on features, on average per combination of their values that
  /// occurs: with fewer, even the strongest dependence would look like independence.
  double min_rows = 5;
};

/// The result of a test of a pair.
struct DependenceFinding {
  double information = 0;     ///< I(X;Y|Z) in nats
  double rows = 0;            ///< in which all variables are observed, or the sum of their weights
  double configurations = 0;  ///< combinations of values of the conditioning variables that occur
  double degrees = 0;         ///< of freedom: (values of x - 1)(values of y - 1), of those that occur, over these
};

/// ln p of a G2 statistic, 2 rows * information, which is chi-square where the two are independent. Never
/// underflows. Zero if there are no degrees of freedom.
[[nodiscard]] double log_p_value(double g2, double degrees);

/// Dependence in the rows of a dataset: variables are the features, in order, and then the class. A test uses
/// the rows in which all its variables are observed. Informations that differ from zero by rounding alone are zero, and
/// every result has the same bits for any order of columns. Safe to share between threads: apart from synchronized
/// caches of counts it is immutable.
class RowDependence {
 public:
  /// Counts all pairs beforehand, on up to `threads` threads. Throws InvalidInput if their tables are too large.
  explicit RowDependence(const Dataset& data, const DependenceOptions& options = {}, int threads = 1);

  /// Number of variables.
  [[nodiscard]] std::size_t n_variables() const;
  /// Throws InvalidInput for a variable that does not exist, occurs twice, or is the class if every test is conditioned
  /// on it.
  [[nodiscard]] double operator()(std::size_t x, std::size_t y, std::span<const std::size_t> given) const;
  [[nodiscard]] DependenceFinding find(std::size_t x, std::size_t y, std::span<const std::size_t> given) const;

 private:
  class Rows;

  DependenceOptions options_;
  std::shared_ptr<const Rows> rows_;
};

/// A graph with directed and undirected edges. Several threads may read it at once while none changes
/// it.
class PartialDag {
 public:
  explicit PartialDag(std::size_t n_nodes) : n_(n_nodes), towards_(n_nodes * n_nodes, 0) {}

  [[nodiscard]] std::size_t n_nodes() const { return n_; }
  [[nodiscard]] bool adjacent(std::size_t u, std::size_t v) const {
    return towards_[u * n_ + v] || towards_[v * n_ + u];
  }
  [[nodiscard]] bool is_undirected(std::size_t u, std::size_t v) const {
    return towards_[u * n_ + v] && towards_[v * n_ + u];
  }
  /// Directed from u to v.
  [[nodiscard]] bool is_arc(std::size_t u, std::size_t v) const {
    return towards_[u * n_ + v] && !towards_[v * n_ + u];
  }
  /// Nodes that share an edge of any kind with a node, in increasing order.
  [[nodiscard]] std::vector<std::size_t> neighbors(std::size_t u) const;

  void connect(std::size_t u, std::size_t v) { towards_[u * n_ + v] = towards_[v * n_ + u] = 1; }
  void direct(std::size_t u, std::size_t v) {
    towards_[u * n_ + v] = 1;
    towards_[v * n_ + u] = 0;
  }
  void disconnect(std::size_t u, std::size_t v) { towards_[u * n_ + v] = towards_[v * n_ + u] = 0; }

  bool operator==(const PartialDag&) const = default;

 private:
  std::size_t n_;
  std::vector<std::uint8_t> towards_;  // [from][to]; both ways where there is no direction
};

struct GraphOptions {
  /// Variables of at most this dependence are independent.
  double threshold = 0;
  /// Maximum number of conditioning variables of a test; empty means no limit.
  std::optional<std::size_t> max_conditioning;
  /// All variables, preferred parents first: used where the direction of an edge is free. Empty means in order of their
  /// indices. Nothing else depends on the order of variables.
  std::vector<std::size_t> preference;
  /// Number of values of every variable; empty means two. Where every direction contradicts others, the one with fewer
  /// parameters is taken.
  std::vector<std::uint32_t> cardinalities;
};

struct LearnedGraph {
  /// The result of the tests: arcs where all agree on a direction, edges without one elsewhere.
  PartialDag pattern;
  /// An acyclic graph of the same edges and arcs, if possible without colliders that the pattern does not have.
  std::vector<std::vector<std::size_t>> parents;
  std::size_t n_tests = 0;  ///< with at least one conditioning variable
};

/// The PC algorithm (Spirtes, Glymour and Scheines 2000) in a form that does not depend on the order of variables
/// (Colombo and Maathuis 2014): an edge goes if its ends are independent given some of the neighbors of one of them, as
/// they were when sets of this size were first tested; a common neighbor of two variables that share no edge is a
/// collider if it is in fewer than half of the smallest sets that separate them.
[[nodiscard]] LearnedGraph learn_pc_graph(std::size_t n_variables, const Dependence& dependence,
                                          const GraphOptions& options, int threads = 1);

/// The three-phase algorithm (Cheng, Greiner, Kelly, Bell and Liu 2002; PowerConstructor): a draft of the strongest
/// dependences, which is a tree unless some are equal; thickening by all pairs that are not found to be separated; and
/// thinning. Its last step goes through all sets of neighbors, where the authors shrink one set step by step by an
/// assumption that graphs need not meet (Chickering and Meek 2006). Edges of equal dependence are decided together, so
/// nothing depends on the order of variables.
[[nodiscard]] LearnedGraph learn_three_phase_graph(std::size_t n_variables, const Dependence& dependence,
                                                   const GraphOptions& options, int threads = 1);

struct ConstraintOptions {
  DependenceKind kind = DependenceKind::kMutualInformation;
  /// See DependenceKind. If empty, it is lowered along a fixed grid, from where nothing depends on anything, as long as
  /// max_parents is met and all tables together have at most kMaxAutomaticCells: until two in a row do not meet these,
  /// or edges would need more than 262,144 conditioning sets of one size. The last that met them is taken. Lower
  /// ones might meet them again, since colliders come and go, but their dense graphs would take nearly all of the time.
  std::optional<double> threshold;
  /// Maximum number of parents of a variable. With a given threshold, more are an error.
  std::optional<std::size_t> max_parents = 5;
  std::optional<std::size_t> max_conditioning = 3;
  double min_rows = 5;
  /// A free direction is from the feature with more information about the class; then from that of greater entropy, of
  /// fewer values, with smaller codes in the first row where they differ; features that are equal in all that go by
  /// this order of all features, or by that of columns.
  std::vector<std::size_t> tie_order;
};

inline constexpr double kMaxAutomaticCells = 4'194'304;  // 2^22: 32 megabytes

struct LearnedConstraint {
  Structure structure;
  double threshold = 0;
  std::size_t n_tests = 0;
};

/// General augmented naive Bayes (GAN): learn_pc_graph over the features, every test given the class, and the class as
/// parent of all. max_parents counts features. Throws InvalidInput.
[[nodiscard]] LearnedConstraint learn_constraint_augmented(const Dataset& data, const ConstraintOptions& options = {},
                                                           int threads = 1);

/// learn_three_phase_graph over features and class, which is preferred as a parent to all features. max_parents counts
/// the class. Variables without edges stay in the model. Throws InvalidInput.
[[nodiscard]] LearnedConstraint learn_three_phase(const Dataset& data, const ConstraintOptions& options = {},
                                                  int threads = 1);

}  // namespace tanager

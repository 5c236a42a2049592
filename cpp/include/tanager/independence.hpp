#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "tanager/dataset.hpp"

namespace tanager {

/// How strongly two variables depend on each other given others. They count as independent where this is at most a
/// threshold; infinity means that nothing can be told, so that they never do. It must not depend on the order of the
/// two, nor on that of the others, which are given in increasing order, and several threads may ask at once.
using Dependence = std::function<double(std::size_t x, std::size_t y, std::span<const std::size_t> given)>;

/// What strength means, and so its threshold.
enum class DependenceKind {
  kMutualInformation,  ///< I(X;Y|Z) in nats
  kG2                  ///< -ln p of the likelihood-ratio (G2) test, so that the threshold is -ln of a significance
};

struct DependenceOptions {
  DependenceKind kind = DependenceKind::kMutualInformation;
  /// Condition every test on the class as well.
  bool given_class = false;
  /// A test that is conditioned on features needs so many rows, on average, for every combination of values that occurs
  /// among what is given: with fewer, even the strongest dependence would look like none.
  double min_rows = 5;
};

/// What a test of a pair has found.
struct DependenceFinding {
  double information = 0;     ///< I(X;Y|Z) in nats
  double rows = 0;            ///< in which all is observed, or the sum of their weights
  double configurations = 0;  ///< combinations of values that occur among what is given
  double degrees = 0;         ///< of freedom: (values of x - 1)(values of y - 1), of those that occur, over these
};

/// ln p of a G2 statistic, 2 rows * information, which is chi-square where the two are independent. Nothing is as small
/// as to underflow. Zero if there are no degrees of freedom.
double log_p_value(double g2, double degrees);

/// Dependence as the rows of a data set have it: variables are the features, in order, and then the class. A test uses
/// the rows in which all its variables are observed. Informations that rounding alone can tell from zero are zero, and
/// every result is the same, to the last bit, for any order of columns.
class RowDependence {
 public:
  /// Looks at all pairs beforehand, on up to `threads` threads. Throws InvalidInput if their tables are too large.
  /// Counts all pairs. `keep_going`, unless it is empty, is asked now and then, by one thread at a time; if it says no,
  /// Stopped is thrown.
  explicit RowDependence(const Dataset& data, const DependenceOptions& options = {}, int threads = 1,
                         const std::function<bool()>& keep_going = {});

  /// Number of variables.
  std::size_t n_variables() const;
  /// Throws InvalidInput for a variable that does not exist, comes twice, or is the class where that is given anyway.
  double operator()(std::size_t x, std::size_t y, std::span<const std::size_t> given) const;
  DependenceFinding find(std::size_t x, std::size_t y, std::span<const std::size_t> given) const;

 private:
  class Rows;

  DependenceOptions options_;
  std::shared_ptr<const Rows> rows_;
};

}  // namespace tanager

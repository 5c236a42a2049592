#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/dataset.hpp"

namespace tanager {

/// The fold, 0 .. n_folds-1, of every row, for cross-validation. The rows of each class are shuffled and dealt out in
/// turn, going on with the next class where the last one ended: the sizes of the folds differ by at most one, and so do
/// the numbers of rows of any class in them. The same seed gives the same folds on every platform. Throws InvalidInput
/// for fewer than two folds or more folds than rows.
std::vector<std::uint32_t> stratified_folds(const Column& classes, std::uint32_t n_folds, std::uint64_t seed);

/// Predictions of some rows beside the truth.
struct Predictions {
  /// P(class | row), [row][class].
  std::span<const double> probabilities;
  std::uint32_t n_classes = 0;
  /// The true class of every row; kMissing for a class that the classifier never saw.
  std::span<const Code> truth;
};

// The scores of predictions. All throw InvalidInput if sizes do not fit, a true class is neither one of the classes nor
// kMissing, or there are no rows.

/// The share of rows whose most probable class is the true one; ties go to the lowest class.
double accuracy(const Predictions& predictions);

/// The sum of ln P(true class | row): minus infinity if a true class has probability zero or was never seen.
double conditional_log_likelihood(const Predictions& predictions);

/// The mean of -ln P(true class | row).
double log_score(const Predictions& predictions);

/// The area under the receiver operating characteristic. Of two classes, that of the second; of more, the mean over all
/// classes that some rows have and some do not, each against the rest. Ties count half. NaN where no class is so, or
/// where there is one class only.
double auc(const Predictions& predictions);

}  // namespace tanager

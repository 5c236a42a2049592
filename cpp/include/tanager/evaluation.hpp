#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/dataset.hpp"

namespace tanager {

/// The fold, 0 .. n_folds-1, of every row, for cross-validation. The rows of each class are shuffled and dealt to
/// the folds in turn, each class starting where the last one ended: the sizes of the folds differ by at most one, and
/// so do the numbers of rows of any class in them. The same seed gives the same folds on every platform. Throws
/// InvalidInput for fewer than two folds or more folds than rows.
[[nodiscard]] std::vector<std::uint32_t> stratified_folds(const Column& classes, std::uint32_t n_folds,
                                                          std::uint64_t seed);

/// How the codes of a dataset change in a fold, whose training rows may lack values and classes: the new code of every
/// old code, kMissing for a value unknown in the fold; empty where no code changes.
struct FoldCoding {
  std::vector<Recoding> features;
  std::vector<std::uint32_t> cardinalities;
  Recoding classes;
  std::uint32_t n_classes = 0;

  /// Whether a value or class of the dataset is unknown in the fold.
  [[nodiscard]] bool drops_values() const;
};

/// A fold's coding of one variable that is not learned from which values occur, such as the cut points of that fold.
struct GivenCoding {
  Recoding codes;
  std::uint32_t n_values = 0;
};

/// The training counts of one fold.
struct TrainingFold {
  FoldCoding coding;
  CountSet counts;
};

/// Training counts for cross-validation, fold after fold, exactly as if the training rows had been encoded and counted
/// on their own: values and classes that occur in none of them have no code. Unweighted counts are the total minus
/// the rows left out; weighted rows are counted directly, since sums of weights depend on their order. Immutable and
/// safe to share between threads.
class FoldCounter {
 public:
  /// `keep_all[f]`: feature f keeps all its values in every fold, used or not. Where every row is left out of exactly
  /// one fold, `folds` may give that fold: then one pass over the rows counts all folds. Empty means unknown.
  FoldCounter(Dataset data, CountScope scope, std::vector<Family> families, std::vector<bool> keep_all, int threads = 1,
              std::span<const std::uint32_t> folds = {});

  [[nodiscard]] const Dataset& data() const { return data_; }
  /// Trains on the given rows; one may occur several times. A coding that is given is used unchanged, for the
  /// features (none or one per feature, empty where not given) and for the class (empty codes: not given).
  [[nodiscard]] TrainingFold train(std::span<const std::size_t> rows, const std::vector<GivenCoding>& features = {},
                                   const GivenCoding& classes = {}, int threads = 1) const;
  /// Whether train_without can be called: folds were given, and counting them together is faster.
  [[nodiscard]] bool knows_folds() const { return by_fold_.has_value(); }
  /// Trains on all rows except those of a fold.
  [[nodiscard]] TrainingFold train_without(std::size_t fold, const std::vector<GivenCoding>& features = {},
                                           const GivenCoding& classes = {}) const;

 private:
  TrainingFold finished(CountSet counts, const std::vector<GivenCoding>& features, const GivenCoding& classes) const;
  TrainingFold counted(std::span<const std::size_t> rows, const std::vector<GivenCoding>& features,
                       const GivenCoding& classes, int threads) const;

  Dataset data_;
  CountScope scope_;
  std::vector<Family> families_;
  std::vector<bool> keep_all_;
  std::optional<CountSet> total_;    // none where subtracting does not pay or is not exact
  std::optional<CountSet> by_fold_;  // of classes fold * n_classes + class; none where folds are not known
  std::size_t n_folds_ = 0;
};

/// The given rows of a dataset, coded as in a fold. Throws InvalidInput if a row's class is unknown there.
[[nodiscard]] Dataset recoded_subset(const Dataset& data, std::span<const std::size_t> rows, const FoldCoding& coding);

/// The codes of the given rows of one column, coded as in a fold; `out` has one entry per row.
void gather_codes(const Column& column, std::span<const std::size_t> rows, const Recoding& recoding,
                  std::span<std::uint8_t> out);
void gather_codes(const Column& column, std::span<const std::size_t> rows, const Recoding& recoding,
                  std::span<std::uint16_t> out);

/// Predictions of some rows with their true classes.
struct Predictions {
  /// P(class | row), [row][class].
  std::span<const double> probabilities;
  std::uint32_t n_classes = 0;
  /// The true class of every row; kMissing for a class that the classifier never saw.
  std::span<const Code> truth;
  /// ln P(class | row), if known: used where a probability is too small for a double and became zero.
  std::span<const double> log_probabilities = {};
};

// The scores of predictions. All throw InvalidInput if sizes do not fit, a true class is neither one of the classes nor
// kMissing, or there are no rows.

/// How many rows have the true class as their most probable one, ties going to the lowest class; and the rows where
/// another class comes so close that rounding alone may decide.
struct RightRows {
  std::size_t n_right = 0;  ///< close rows not counted
  std::vector<std::size_t> close;
};
[[nodiscard]] RightRows right_rows(const Predictions& predictions);

/// The share of rows whose most probable class is the true one; ties go to the lowest class.
[[nodiscard]] double accuracy(const Predictions& predictions);

/// The sum of ln P(true class | row): minus infinity if a true class has probability zero or was never seen.
[[nodiscard]] double conditional_log_likelihood(const Predictions& predictions);

/// The mean of -ln P(true class | row).
[[nodiscard]] double log_loss(const Predictions& predictions);

/// The area under the receiver operating characteristic. Of two classes, that of the second; of more, the mean over all
/// classes that some rows have and some do not, each against the rest. Ties count half. NaN if there is no
/// such class, or only one class.
[[nodiscard]] double auc(const Predictions& predictions);

}  // namespace tanager

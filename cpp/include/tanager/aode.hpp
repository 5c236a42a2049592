#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/predictor.hpp"

namespace tanager {

/// Averaged one-dependence estimators (Webb, Boughton and Wang 2005): one model per feature, in which that feature (the
/// super-parent) and the class are the parents of all others, and the average of their predictions:
///
///     P(c, x) = mean over p of P(c) P(x_p | c) prod_{i != p} P(x_i | x_p, c)
///
/// Immutable, safe to share between threads, and cheap to copy: copies share the tables.
class Aode {
 public:
  /// `singles` are P(f | class), one feature after the other, each [value][class]. `pairs` are P(child | parent,
  /// class): [parent][value of the parent][child other than the parent][value of the child][class]. `value_counts` are
  /// the training weights of every value of every feature, one feature after the other. Throws InvalidInput if
  /// a size is wrong, a number is not a probability, or a distribution does not sum to one.
  Aode(std::vector<std::uint32_t> cardinalities, std::vector<double> class_probabilities, std::vector<double> singles,
       std::vector<double> pairs, std::vector<double> value_counts, double min_count = 0);

  [[nodiscard]] std::size_t n_features() const { return tables_->cardinalities.size(); }
  [[nodiscard]] std::uint32_t n_classes() const {
    return static_cast<std::uint32_t>(tables_->class_probabilities.size());
  }
  [[nodiscard]] std::span<const std::uint32_t> cardinalities() const { return tables_->cardinalities; }
  [[nodiscard]] std::span<const double> class_probabilities() const { return tables_->class_probabilities; }
  /// P(feature | class): [value][class]
  [[nodiscard]] std::span<const double> single(std::size_t feature) const;
  /// P(child | value of the parent, class): [value of the child][class]
  [[nodiscard]] std::span<const double> pair(std::size_t parent, std::size_t value, std::size_t child) const;
  /// The training weight of every value of a feature.
  [[nodiscard]] std::span<const double> value_counts(std::size_t feature) const;
  /// A feature is super-parent for a row only if its value there was seen in rows of at least this weight; a row
  /// without any such feature is predicted by naive Bayes. Zero: every feature always is, and marginalized if missing.
  [[nodiscard]] double min_count() const { return tables_->min_count; }
  /// Free parameters of all models together.
  [[nodiscard]] std::uint64_t n_parameters() const;

  /// All of them one after the other, laid out as the constructor takes them.
  [[nodiscard]] std::span<const double> singles() const { return tables_->singles; }
  [[nodiscard]] std::span<const double> pairs() const { return tables_->pairs; }
  [[nodiscard]] std::span<const double> value_counts() const { return tables_->value_counts; }

 private:
  struct Tables {
    std::vector<std::uint32_t> cardinalities;
    std::vector<double> class_probabilities;
    std::vector<double> singles;
    std::vector<double> pairs;
    std::vector<double> value_counts;
    double min_count = 0;
    std::vector<std::size_t> first_values;  // n_features + 1: values of all features before
    std::vector<std::size_t> pair_offsets;  // n_features + 1: of a parent's first table
  };
  std::shared_ptr<const Tables> tables_;
};

struct AodeOptions {
  /// Added to every count. Zero gives maximum likelihood; distributions without any counts are then uniform.
  double alpha = 1.0;
  /// See Aode::min_count.
  double min_count = 0;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

/// All models at once from the counts of pairs: every table as estimate_dirichlet would make it. Throws InvalidInput if
/// the counts have no pairs, or the tables would be too large.
[[nodiscard]] Aode learn_aode(const CountSet& counts, const AodeOptions& options = {});

/// Fast prediction with the averaged models. A missing feature is marginalized exactly in every model; nothing
/// underflows, with any number of features. Immutable and safe to share between threads.
class AodePredictor : public Predictor {
 public:
  explicit AodePredictor(const Aode& aode);
  ~AodePredictor() override;
  AodePredictor(AodePredictor&&) noexcept;
  AodePredictor& operator=(AodePredictor&&) noexcept;

  [[nodiscard]] std::size_t n_features() const override;
  [[nodiscard]] std::uint32_t n_classes() const override;

 private:
  void run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const override;
  void run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const override;
  std::uint32_t run_row(std::span<const Code> row, Output output, std::span<double> out,
                        Scratch& scratch) const override;

  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace tanager

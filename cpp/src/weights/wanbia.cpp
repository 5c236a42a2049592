// The objective of WANBIA and its gradient. With J_c = ln P(c) + sum_i u_ic(x_i), where u is ln theta times the weight
// (less the logarithm of its normalizer), the loss depends on the weights through J alone: one pass adds up J, a second
// multiplies the loss's derivatives by J with those of u by the weights.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parameters/from_counts.hpp"
#include "simd/vector_exp.hpp"
#include "support/parallel.hpp"
#include "tanager/learn_weights.hpp"
#include "weights/powers.hpp"
#include "weights/wanbia_kernels.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Rows are summed up in pieces of this size, whatever the number of threads.
constexpr std::size_t kChunkRows = 4096;
/// Numbers in a block, which stays in the nearest cache while all features add to it.
constexpr std::size_t kBlockCells = 1024;
/// Features whose tables one thread makes at a time.
constexpr std::size_t kTablesAtATime = 32;

/// The codes of a column, where missing values have the code after those of the values.
struct NumberedCodes {
  CodeColumn codes;
  std::shared_ptr<const void> owner;
};

/// Columns without missing values are taken as they are.
NumberedCodes number_codes(const Column& column) {
  return column.visit([&]<class T>(std::span<const T> codes) -> NumberedCodes {
    if (!column.has_missing()) return {CodeColumn(codes.data()), std::make_shared<const Column>(column)};
    const auto numbered = std::make_shared<std::vector<T>>(codes.begin(), codes.end());
    std::ranges::replace(*numbered, std::numeric_limits<T>::max(), static_cast<T>(column.n_values()));
    return {CodeColumn(numbered->data()), numbered};
  });
}

void check(const Structure& structure, const Dataset& data, const CountSet& counts, const WanbiaOptions& options) {
  check_pseudo_counts("alpha", options.alpha, false);
  if (structure.n_features() != data.n_features() ||
      data.cardinalities() !=
          std::vector<std::uint32_t>(counts.cardinalities().begin(), counts.cardinalities().end()) ||
      data.n_classes() != counts.n_classes())
    throw InvalidInput("structure, rows and counts must be of the same variables, but are not");
  check_augmented_naive(structure, "WANBIA");
  if (!structure.is_naive())
    throw InvalidInput("WANBIA weights the features of naive Bayes, but the structure has arcs between features");
}

}  // namespace

/// All that does not depend on the weights.
class WanbiaObjective::State {
 public:
  State(const Structure& structure, const Dataset& data, const CountSet& counts, const WanbiaOptions& options);

  std::size_t n_features() const { return structure_.n_features(); }
  double total_weight() const { return total_weight_; }
  double evaluate(std::span<const double> weights, std::span<double> gradient, int threads) const;
  Network network(std::span<const double> weights) const;

 private:
  /// A feature of the model. Its tables are [value][class], with one more row for missing cells.
  struct Feature {
    std::size_t index = 0, values = 0, offset = 0;
    bool has_missing = false;
    NumberedCodes column;
  };
  /// What every value and class adds to the logarithms, and its derivative by the weight; all features together.
  struct Tables {
    std::vector<double> terms, slopes;
  };
  /// Logarithm of sum_k base_k t_k^w for t = e^logs, and its derivative by w.
  struct Normalizer {
    double log = 0, slope = 0;
  };

  std::size_t n_chunks() const { return (classes_.size() + kChunkRows - 1) / kChunkRows; }
  Normalizer normalizer(const Feature& feature, double weight, std::size_t c) const;
  void fill_tables(const Feature& feature, double weight, Tables& tables) const;
  double evaluate_chunk(const Tables& tables, std::size_t begin, std::size_t end, std::span<double> gradient) const;
  std::vector<double> absorbed(std::vector<double> log_classes) const;

  Structure structure_;
  std::vector<std::uint32_t> cardinalities_;
  WanbiaLoss loss_;
  bool renormalize_;
  std::size_t n_classes_;
  std::vector<Feature> features_;
  std::vector<double> theta_;  // at the features' offsets
  std::vector<double> logs_;   // of theta, or of theta over the value's share in all classes
  std::vector<double> base_;   // at [offset / classes]: that share, or one
  std::vector<double> classes_probabilities_, log_prior_;
  std::vector<std::uint16_t> classes_;
  std::vector<double> row_weights_;
  double total_weight_ = 0;
};

WanbiaObjective::State::State(const Structure& structure, const Dataset& data, const CountSet& counts,
                              const WanbiaOptions& options)
    : structure_(structure),
      cardinalities_(data.cardinalities()),
      loss_(options.loss),
      renormalize_(options.renormalize),
      n_classes_(data.n_classes()),
      classes_probabilities_(class_distribution(counts, options.alpha, options.class_prior)),
      classes_(data.n_rows()),
      row_weights_(data.weights().begin(), data.weights().end()) {
  for (const double p : classes_probabilities_) log_prior_.push_back(std::log(p));
  for (std::size_t row = 0; row < classes_.size(); ++row) classes_[row] = data.target()[row];
  total_weight_ = static_cast<double>(classes_.size());
  if (data.is_weighted()) {
    total_weight_ = 0;
    for (const double weight : row_weights_) total_weight_ += weight;
  }
  for (const std::size_t f : structure.order()) {
    const Column& column = data.feature(f);
    const std::size_t r = cardinalities_[f], offset = theta_.size();
    features_.push_back({f, r, offset, column.has_missing(), number_codes(column)});
    const std::span<const double> cells = counts.single(f);
    theta_.insert(theta_.end(), cells.begin(), cells.end());
    smooth(std::span(theta_).subspan(offset), r, n_classes_, options.alpha);
    // The smallest alpha of all vanish in the quotient, but logarithms must be finite.
    for (std::size_t i = offset; i < theta_.size(); ++i)
      theta_[i] = std::max(theta_[i], std::numeric_limits<double>::min());
    theta_.resize(offset + (r + 1) * n_classes_, 0.0);
    logs_.resize(offset + (r + 1) * n_classes_, 0.0);
    base_.resize(logs_.size() / n_classes_, 1.0);
    for (std::size_t k = 0; k < r; ++k) {
      double share = 0;
      for (std::size_t c = 0; c < n_classes_; ++c)
        share += classes_probabilities_[c] * theta_[offset + k * n_classes_ + c];
      const std::size_t first = offset + k * n_classes_;
      if (!renormalize_) base_[first / n_classes_] = share;
      for (std::size_t c = first; c < first + n_classes_; ++c)
        logs_[c] = std::log(theta_[c] / base_[first / n_classes_]);
    }
  }
}

WanbiaObjective::State::Normalizer WanbiaObjective::State::normalizer(const Feature& feature, double weight,
                                                                      std::size_t c) const {
  const double* logs = logs_.data() + feature.offset + c;
  const double* base = base_.data() + feature.offset / n_classes_;
  double largest = logs[0];
  for (std::size_t k = 1; k < feature.values; ++k) largest = std::max(largest, logs[k * n_classes_]);
  double sum = 0, slopes = 0;
  for (std::size_t k = 0; k < feature.values; ++k) {
    const double power = base[k] * vector_exp(weight * (logs[k * n_classes_] - largest));
    sum += power;
    slopes += power * logs[k * n_classes_];
  }
  return {weight * largest + std::log(sum), slopes / sum};
}

void WanbiaObjective::State::fill_tables(const Feature& feature, double weight, Tables& tables) const {
  const std::size_t missing = feature.offset + feature.values * n_classes_;
  for (std::size_t i = feature.offset; i < missing; ++i) tables.terms[i] = weight * logs_[i];
  if (!renormalize_ && !feature.has_missing) return;
  for (std::size_t c = 0; c < n_classes_; ++c) {
    const Normalizer found = normalizer(feature, weight, c);
    if (renormalize_) {
      for (std::size_t i = feature.offset + c; i < missing; i += n_classes_) {
        tables.terms[i] -= found.log;
        tables.slopes[i] = logs_[i] - found.slope;
      }
    } else {
      tables.terms[missing + c] = found.log;
      tables.slopes[missing + c] = found.slope;
    }
  }
}

double WanbiaObjective::State::evaluate(std::span<const double> weights, std::span<double> gradient,
                                        int threads) const {
  if (weights.size() != n_features() || (!gradient.empty() && gradient.size() != n_features()))
    throw InvalidInput(join_text("expected ", n_features(), " weights and as many derivatives, got room for ",
                                 weights.size(), " and ", gradient.size()));
  Tables tables{std::vector<double>(theta_.size(), 0.0), {}};
  tables.slopes = renormalize_ ? tables.terms : logs_;
  parallel_for(features_.size(), kTablesAtATime, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fill_tables(features_[i], weights[features_[i].index], tables);
  });
  const std::size_t width = gradient.empty() ? 0 : features_.size();
  std::vector<double> values(n_chunks()), slopes(n_chunks() * width);
  parallel_for(classes_.size(), kChunkRows, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t chunk = begin / kChunkRows;
    values[chunk] = evaluate_chunk(tables, begin, end, std::span(slopes).subspan(chunk * width, width));
  });
  std::ranges::fill(gradient, 0.0);
  double value = 0;
  for (std::size_t chunk = 0; chunk < values.size(); ++chunk) {
    value += values[chunk];
    for (std::size_t i = 0; i < width; ++i) gradient[features_[i].index] += slopes[chunk * width + i];
  }
  return value;
}

double WanbiaObjective::State::evaluate_chunk(const Tables& tables, std::size_t begin, std::size_t end,
                                              std::span<double> gradient) const {
  const std::size_t at_once = std::max<std::size_t>(1, kBlockCells / n_classes_);
  std::vector<double> sums(at_once * n_classes_), shifts(at_once);
  double value = 0;
  for (std::size_t row = begin; row < end; row += at_once) {
    const std::size_t rows = std::min(at_once, end - row);
    for (std::size_t i = 0; i < rows; ++i)
      std::ranges::copy(log_prior_, sums.begin() + static_cast<std::ptrdiff_t>(i * n_classes_));
    for (const Feature& feature : features_)
      add_block_terms(feature.column.codes, row, tables.terms.data() + feature.offset, rows, n_classes_, sums.data());
    const double* weights = row_weights_.empty() ? nullptr : row_weights_.data() + row;
    value += evaluate_block(loss_, {classes_.data() + row, weights, rows, n_classes_}, sums.data(), shifts.data());
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] += block_slope(features_[i].column.codes, row, tables.slopes.data() + features_[i].offset, rows,
                                 n_classes_, sums.data());
  }
  return value;
}

Network WanbiaObjective::State::network(std::span<const double> weights) const {
  check_feature_weights(structure_, weights);
  std::vector<std::vector<double>> tables(n_features());
  std::vector<double> log_classes = log_prior_;
  for (const Feature& feature : features_) {
    const double weight = weights[feature.index];
    std::vector<double>& table = tables[feature.index];
    const auto theta = theta_.begin() + static_cast<std::ptrdiff_t>(feature.offset);
    table.assign(theta, theta + static_cast<std::ptrdiff_t>(feature.values * n_classes_));
    if (renormalize_) {
      take_power(table, feature.values, n_classes_, weight);
      continue;
    }
    for (std::size_t c = 0; c < n_classes_; ++c) {
      const double log = normalizer(feature, weight, c).log;
      log_classes[c] += log;
      for (std::size_t k = 0; k < feature.values; ++k)
        table[k * n_classes_ + c] = base_[feature.offset / n_classes_ + k] *
                                    std::exp(weight * logs_[feature.offset + k * n_classes_ + c] - log);
    }
  }
  const std::vector<double> classes = renormalize_ ? classes_probabilities_ : absorbed(std::move(log_classes));
  return Network(structure_, cardinalities_, classes, std::move(tables));
}

/// Class probabilities that took up the normalizers, given as logarithms.
std::vector<double> WanbiaObjective::State::absorbed(std::vector<double> log_classes) const {
  const double largest = *std::ranges::max_element(log_classes);
  double sum = 0;
  for (double& p : log_classes) sum += p = std::exp(p - largest);
  for (std::size_t c = 0; c < n_classes_; ++c) {
    log_classes[c] /= sum;
    if (log_classes[c] < std::numeric_limits<double>::min() && classes_probabilities_[c] > 0)
      throw InvalidInput(join_text("the normalizers of ", features_.size(), " features make the probability of class ",
                                   c, " too small for a number: set renormalize to true"));
  }
  return log_classes;
}

WanbiaObjective::WanbiaObjective(const Structure& structure, const Dataset& data, const CountSet& counts,
                                 const WanbiaOptions& options) {
  check(structure, data, counts, options);
  state_ = std::make_shared<const State>(structure, data, counts, options);
}

std::size_t WanbiaObjective::n_features() const {
  return state_->n_features();
}

double WanbiaObjective::total_weight() const {
  return state_->total_weight();
}

double WanbiaObjective::evaluate(std::span<const double> weights, std::span<double> gradient, int threads) const {
  return state_->evaluate(weights, gradient, threads);
}

Network WanbiaObjective::network(std::span<const double> weights) const {
  return state_->network(weights);
}

}  // namespace tanager

// APN and ELR: the same optimizers in softmax parameters, of the likelihood and of the conditional likelihood. Cross
// tuning takes a step in all folds at a time, so that it can end when none of the last iterations was any good.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "rows/fit_monitor.hpp"
#include "rows/optimizer.hpp"
#include "rows/softmax_families.hpp"
#include "rows/start.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_rows.hpp"

namespace tanager {

using namespace internal;

namespace {

/// What to multiply a goal of this size by, so that squares of its slopes stay within the range of doubles: one unless
/// rows weigh very much or very little, and else a power of two, which changes no digit.
double scale_for(double size) {
  constexpr int kFar = 100, kMost = 1000;
  if (!(size > 0)) return 1;
  const int exponent = std::ilogb(size);
  return std::abs(exponent) <= kFar ? 1.0 : std::ldexp(1.0, std::clamp(-exponent, -kMost, kMost));
}

/// An optimizer on some rows, and where it stands.
class Fit {
 public:
  /// `change(point, gradient)` is added to the goal; gradients are added to where there is room.
  using Change = std::function<double(std::span<const double>, std::span<double>)>;

  Fit(RowLikelihood rows, const Network& start, OptimizerMethod method, const Change& change, int threads)
      : rows_(std::move(rows)),
        // What is added to the goal does not shrink with the rows.
        scale_(scale_for(change ? std::max(1.0, rows_.total_weight()) : rows_.total_weight())) {
    const auto objective = [this, change, threads](std::span<const double> point, std::span<double> gradient) {
      double value = rows_.evaluate(point, gradient, threads).value;
      if (change) value += change(point, gradient);
      if (scale_ != 1)
        for (double& slope : gradient) slope *= scale_;
      return value * scale_;
    };
    optimizer_ = make_optimizer(method, objective, rows_.parameters(start), kMostDistance);
  }
  Fit(const Fit&) = delete;

  const std::vector<double>& point() const { return optimizer_->point(); }
  double value() const { return optimizer_->value() / scale_; }
  Network network() const { return rows_.network(point()); }
  /// False at the top.
  bool step(double tol) {
    if (optimizer_->largest_slope() <= tol * (rows_.total_weight() * scale_)) return false;
    const double before = optimizer_->value();
    if (!optimizer_->step()) return false;
    // A rise that rounding can hardly tell is the last one.
    stuck_ = optimizer_->value() - before <= 1e-14 * std::abs(before) ? stuck_ + 1 : 0;
    return stuck_ < 3;
  }

 private:
  RowLikelihood rows_;
  double scale_;
  std::unique_ptr<Optimizer> optimizer_;
  int stuck_ = 0;
};

/// Up to `most` iterations; says how they ended.
FitStop run(Fit& fit, std::size_t most, double tol, FitStop at_most, FitMonitor& monitor, std::vector<double>& trace) {
  trace.push_back(fit.value());
  try {
    for (std::size_t i = 0; i < most; ++i) {
      monitor.report({false, i, fit.value()});
      if (!fit.step(tol)) return FitStop::kConverged;
      trace.push_back(fit.value());
    }
  } catch (const Stopped&) {
    return FitStop::kInterrupted;
  }
  return at_most;
}

/// alpha times the sum of ln theta, as if every cell had alpha rows more; a class distribution that is given has none.
Fit::Change log_prior(const Structure& structure, const Dataset& data, double alpha, std::size_t given) {
  if (alpha == 0) return {};
  const auto families = std::make_shared<const SoftmaxFamilies>(structure, data.cardinalities(), data.n_classes());
  return [families, alpha, given](std::span<const double> point, std::span<double> gradient) {
    std::vector<double> probabilities(point.size()), logs(point.size()), counts(point.size(), alpha);
    families->normalize(point, probabilities, logs);
    const std::size_t learned = point.size() - given;
    double sum = 0;
    for (std::size_t i = 0; i < learned; ++i) sum += logs[i];
    if (gradient.empty()) return alpha * sum;
    families->to_gradient(probabilities, counts);
    for (std::size_t i = 0; i < learned; ++i) gradient[i] += counts[i];
    return alpha * sum;
  };
}

Fit::Change distance(std::vector<double> from, double l2) {
  if (l2 == 0) return {};
  return [from = std::move(from), l2](std::span<const double> point, std::span<double> gradient) {
    double squares = 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const double off = point[i] == from[i] ? 0.0 : point[i] - from[i];  // both may be infinite
      squares += off * off;
      if (!gradient.empty()) gradient[i] -= l2 * off;
    }
    return -0.5 * l2 * squares;
  };
}

/// One fold of cross tuning.
struct Fold {
  std::unique_ptr<Fit> fit;
  std::unique_ptr<RowLikelihood> test;
  std::vector<double> held_out, error;  // sums over the test rows, per iteration
  std::size_t n_steps = 0;              // iterations made; from there on values stay as they are
  bool done = false;
};

class Tuning {
 public:
  Tuning(const Structure& structure, const Dataset& data, const ElrOptions& options, int threads);

  void run(FitMonitor& monitor);
  std::size_t best() const;
  void write(FitResult& result) const;

 private:
  void make_fold(const Structure& structure, const Dataset& data, std::size_t k, int threads);
  void evaluate(Fold& fold) const;
  /// The curve to make large, of one fold or of all.
  std::vector<double> curve(const Fold& fold) const;
  std::vector<double> mean() const;
  /// Sums over the folds, per row.
  std::vector<double> mean_of(std::vector<double> Fold::* curve) const;
  static std::size_t first_best(const std::vector<double>& curve);
  /// The one to take of several iterations that are equally good, up to a tolerance; `n_steps` were made.
  std::size_t chosen(const std::vector<double>& curve, double tolerance, std::size_t n_steps) const;

  const ElrOptions& options_;
  int threads_;
  std::vector<Fold> folds_;
  double weight_ = 0;
};

Tuning::Tuning(const Structure& structure, const Dataset& data, const ElrOptions& options, int threads)
    : options_(options), threads_(threads) {
  if (options.fold_of_row.size() != data.n_rows())
    throw InvalidInput(
        join_text("expected the fold of each of ", data.n_rows(), " rows, got those of ", options.fold_of_row.size()));
  const std::size_t n = *std::ranges::max_element(options.fold_of_row) + std::size_t{1};
  if (n < 2 || n > data.n_rows()) throw InvalidInput(join_text("tuning needs 2 folds or more, got ", n));
  folds_.resize(n);
  const int own = std::max(1, resolve_threads(threads) / static_cast<int>(n));
  parallel_for(n, 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) make_fold(structure, data, k, own);
  });
  for (const Fold& fold : folds_) weight_ += fold.test->total_weight();
}

void Tuning::make_fold(const Structure& structure, const Dataset& data, std::size_t k, int threads) {
  std::vector<std::size_t> train, test;
  for (std::size_t row = 0; row < data.n_rows(); ++row) (options_.fold_of_row[row] == k ? test : train).push_back(row);
  if (train.empty() || test.empty()) throw InvalidInput(join_text("fold ", k, " or the rest of the rows is empty"));
  const Dataset rest = data.subset(train);
  const Network start = start_network(structure, rest, options_.alpha, options_.class_prior);
  RowLikelihood rows(structure, rest, RowGoal::kConditionalLikelihood, options_.class_prior, options_.max_cells);
  Fold& fold = folds_[k];
  fold.test = std::make_unique<RowLikelihood>(structure, data.subset(test), RowGoal::kConditionalLikelihood,
                                              options_.class_prior, options_.max_cells);
  const auto change = distance(rows.parameters(start), options_.l2);
  fold.fit = std::make_unique<Fit>(std::move(rows), start, options_.method, change, threads);
  evaluate(fold);
}

void Tuning::evaluate(Fold& fold) const {
  const RowEvaluation evaluation = fold.test->evaluate(fold.fit->point());
  fold.held_out.push_back(evaluation.value);
  fold.error.push_back(evaluation.wrong);
}

void Tuning::run(FitMonitor& monitor) {
  for (std::size_t i = 0; i < options_.max_iter; ++i) {
    monitor.report({true, i, mean_of(&Fold::held_out).back()});
    parallel_for(folds_.size(), 1, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        Fold& fold = folds_[k];
        if (!fold.done && fold.fit->step(options_.tol)) {
          evaluate(fold);
          ++fold.n_steps;
        } else {  // at the top it stays as it is
          fold.done = true;
          fold.held_out.push_back(fold.held_out.back());
          fold.error.push_back(fold.error.back());
        }
      }
    });
    if (std::ranges::all_of(folds_, [](const Fold& fold) { return fold.done; })) break;
    std::size_t latest = first_best(mean());
    if (options_.tune_rule == TuneRule::kMedian)
      for (const Fold& fold : folds_) latest = std::max(latest, first_best(curve(fold)));
    if (i + 1 >= latest + options_.patience) break;
  }
}

std::vector<double> Tuning::mean_of(std::vector<double> Fold::* curve) const {
  std::vector<double> sums((folds_.front().*curve).size(), 0.0);
  for (const Fold& fold : folds_)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += (fold.*curve)[i];
  for (double& sum : sums) sum /= weight_;
  return sums;
}

std::vector<double> Tuning::mean() const {
  Fold all;
  all.error = mean_of(&Fold::error);
  all.held_out = mean_of(&Fold::held_out);
  return curve(all);
}

std::vector<double> Tuning::curve(const Fold& fold) const {
  if (options_.tune_by == TuneBy::kCll) return fold.held_out;
  std::vector<double> right = fold.error;
  for (double& value : right) value = -value;
  return right;
}

std::size_t Tuning::first_best(const std::vector<double>& curve) {
  return static_cast<std::size_t>(std::ranges::max_element(curve) - curve.begin());
}

// Errors are few different numbers, and many iterations have the least. The start is left only for what is better;
// where it is left, the last of them, within the patience of tuning, is the most likely by the training rows, and the
// first is often a lucky one on the way. The paper does not say which counts; this is what reproduces both its figure 8
// and its figures 11 and 12.
std::size_t Tuning::chosen(const std::vector<double>& curve, double tolerance, std::size_t n_steps) const {
  const std::size_t first = first_best(curve);
  if (options_.tune_by == TuneBy::kCll) return first;
  const double least = curve[first] - tolerance;  // sums of weights may differ where they are equal on paper
  if (curve[0] >= least) return 0;
  std::size_t last = n_steps;
  while (curve[last] < least) --last;
  return last;
}

std::size_t Tuning::best() const {
  constexpr double kRounding = 1e-12;
  if (options_.tune_rule == TuneRule::kMean) {
    std::size_t n_steps = 0;
    for (const Fold& fold : folds_) n_steps = std::max(n_steps, fold.n_steps);
    return chosen(mean(), kRounding, n_steps);
  }
  std::vector<std::size_t> each;
  for (const Fold& fold : folds_)
    each.push_back(chosen(curve(fold), kRounding * fold.test->total_weight(), fold.n_steps));
  std::ranges::sort(each);
  return each[(each.size() - 1) / 2];
}

void Tuning::write(FitResult& result) const {
  result.held_out = mean_of(&Fold::held_out);
  result.held_out_error = mean_of(&Fold::error);
  for (const Fold& fold : folds_) {
    const double weight = fold.test->total_weight();
    auto& held_out = result.fold_held_out.emplace_back(fold.held_out);
    auto& error = result.fold_error.emplace_back(fold.error);
    for (double& value : held_out) value /= weight;
    for (double& value : error) value /= weight;
  }
}

FitResult interrupted(Network start) {
  return {std::move(start), {}, {}, {}, {}, {}, FitStop::kInterrupted};
}

}  // namespace

FitResult estimate_apn(const Structure& structure, const Dataset& data, const ApnOptions& options, int threads) {
  check_fit(options.alpha, true, options.tol);
  Network start = start_network(structure, data, options.alpha > 0 ? options.alpha : 1.0, options.class_prior);
  const RowLikelihood rows(structure, data, RowGoal::kLikelihood, options.class_prior, options.max_cells);
  try {
    FitMonitor monitor(options.keep_going, {});
    Fit fit(rows, start, options.method, log_prior(structure, data, options.alpha, options.class_prior.size()),
            threads);
    std::vector<double> trace;
    const FitStop stop = run(fit, options.max_iter, options.tol, FitStop::kIterationLimit, monitor, trace);
    return {fit.network(), std::move(trace), {}, {}, {}, {}, stop};
  } catch (const Stopped&) {
    return interrupted(std::move(start));
  }
}

FitResult estimate_elr(const Structure& structure, const Dataset& data, const ElrOptions& options, int threads) {
  check_fit(options.alpha, false, options.tol);
  if (!(options.l2 >= 0 && options.l2 < INFINITY))
    throw InvalidInput(join_text("l2: expected a finite number >= 0, got ", options.l2));
  Network start = start_network(structure, data, options.alpha, options.class_prior);
  RowLikelihood rows(structure, data, RowGoal::kConditionalLikelihood, options.class_prior, options.max_cells);
  try {
    FitResult result{start, {}, {}, {}, {}, {}, FitStop::kIterationLimit};
    std::size_t most = options.max_iter;
    FitMonitor monitor(options.keep_going, {.held_out = !options.fold_of_row.empty()});
    if (!options.fold_of_row.empty()) {
      Tuning tuning(structure, data, options, threads);
      tuning.run(monitor);
      most = tuning.best();
      tuning.write(result);
    }
    const auto change = distance(rows.parameters(start), options.l2);
    Fit fit(std::move(rows), start, options.method, change, threads);
    const FitStop limit = options.fold_of_row.empty() ? FitStop::kIterationLimit : FitStop::kTuned;
    result.stop = run(fit, most, options.tol, limit, monitor, result.training);
    result.network = fit.network();
    return result;
  } catch (const Stopped&) {
    return interrupted(std::move(start));
  }
}

}  // namespace tanager

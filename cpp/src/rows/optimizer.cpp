// Polak-Ribière conjugate gradients with Brent's line search, and L-BFGS (Nocedal and Wright 2006, chapters 5 and 7).
#include "rows/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rows/line_search.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kMemory = 10;  // pairs that L-BFGS keeps
constexpr int kMaxTrials = 25;
// Of the first step, along the parameter that changes most.
constexpr double kFirstChange = 1.0;

double largest_of(std::span<const double> x) {
  double largest = 0;
  for (const double v : x) largest = std::max(largest, std::abs(v));
  return largest;
}

class ConjugateGradient : public Optimizer {
 public:
  ConjugateGradient(Objective objective, std::vector<double> start, double reach)
      : Optimizer(std::move(objective), std::move(start), reach),
        direction_(gradient_),
        trial_(point_),
        trial_gradient_(gradient_) {}

  bool step() override {
    double slope = dot(gradient_, direction_);
    if (slope > 0 && search_line(slope)) return true;
    direction_ = gradient_;  // the old directions lead nowhere: begin anew
    slope = dot(gradient_, direction_);
    return slope > 0 && search_line(slope);
  }

 private:
  bool search_line(double slope) {
    const Line line{[&](double length) {
                      move(direction_, length, trial_);
                      return objective_(trial_, {});
                    },
                    [&](double length) {
                      move(direction_, length, trial_);
                      const double value = evaluate(trial_, trial_gradient_);
                      return SlopedPoint{{length, value}, dot(trial_gradient_, direction_)};
                    }};
    const double guess = last_rise_ > 0
                             ? std::min(1.01 * last_rise_ / slope, kFirstChange * 10 / largest_of(direction_))
                             : kFirstChange / largest_of(direction_);
    const LinePoint top = maximize_along(line, value_, slope, guess);
    if (top.length <= 0) return false;
    last_rise_ = top.length * slope;
    value_ = top.value;
    point_.swap(trial_);
    gradient_.swap(trial_gradient_);
    const double old = dot(trial_gradient_, trial_gradient_);
    for (std::size_t i = 0; i < gradient_.size(); ++i) trial_gradient_[i] = gradient_[i] - trial_gradient_[i];
    const double share = old > 0 ? std::max(0.0, dot(gradient_, trial_gradient_) / old) : 0.0;
    for (std::size_t i = 0; i < direction_.size(); ++i) direction_[i] = gradient_[i] + share * direction_[i];
    return true;
  }

  std::vector<double> direction_, trial_, trial_gradient_;
  double last_rise_ = 0;  // along the tangent
};

class Lbfgs : public Optimizer {
 public:
  Lbfgs(Objective objective, std::vector<double> start, double reach)
      : Optimizer(std::move(objective), std::move(start), reach), trial_(point_), trial_gradient_(gradient_) {}

  bool step() override {
    if (search_line(direction())) return true;
    if (pairs_.empty()) return false;
    pairs_.clear();
    return search_line(direction());
  }

 private:
  struct Pair {
    std::vector<double> step, change;  // of the point, and how much the gradient fell
    double scale;                      // one over their product
  };

  /// The two-loop recursion.
  std::vector<double> direction() const {
    std::vector<double> d = gradient_;
    std::vector<double> shares(pairs_.size());
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      shares[i] = pairs_[i].scale * dot(pairs_[i].step, d);
      for (std::size_t k = 0; k < d.size(); ++k) d[k] -= shares[i] * pairs_[i].change[k];
    }
    const double scale = pairs_.empty() ? kFirstChange / std::max(largest_of(d), 1e-300)
                                        : 1 / (pairs_.back().scale * dot(pairs_.back().change, pairs_.back().change));
    for (double& x : d) x *= scale;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const double share = shares[i] - pairs_[i].scale * dot(pairs_[i].change, d);
      for (std::size_t k = 0; k < d.size(); ++k) d[k] += share * pairs_[i].step[k];
    }
    return d;
  }

  /// Looks for a length where the value has risen enough and the slope has fallen enough (Wolfe's conditions).
  bool search_line(const std::vector<double>& direction) {
    constexpr double kRise = 1e-4, kFlatter = 0.9;
    const double slope = dot(gradient_, direction);
    if (!(slope > 0)) return false;
    double low = 0, low_value = value_, low_slope = slope, high = INFINITY, length = 1;
    bool risen = false;
    for (int i = 0; i < kMaxTrials; ++i) {
      move(direction, length, trial_);
      const double value = evaluate(trial_, trial_gradient_);
      const double own_slope = dot(trial_gradient_, direction);
      if (!(value >= value_ + kRise * length * slope) || value < low_value) {
        high = length;
      } else if (own_slope > kFlatter * slope && !(length >= high)) {
        low = length;
        low_value = value;
        low_slope = own_slope;
        risen = true;
      } else {
        return accept(value);
      }
      length = std::isinf(high) ? length * 2 : between(low, low_value, low_slope, high, length, value);
    }
    if (!risen || low_value <= value_) return false;
    move(direction, low, trial_);
    return accept(evaluate(trial_, trial_gradient_));
  }

  /// The top of a parabola through the low point, kept away from both ends.
  static double between(double low, double low_value, double low_slope, double high, double length, double value) {
    double next = 0.5 * (low + high);
    if (length == high && std::isfinite(value)) {
      const double width = high - low, fall = low_value + low_slope * width - value;
      if (fall > 0) next = low + low_slope * width * width / (2 * fall);
    }
    return std::clamp(next, low + 0.1 * (high - low), high - 0.1 * (high - low));
  }

  bool accept(double value) {
    if (!(value > value_)) return false;
    Pair pair{trial_, gradient_, 0};
    for (std::size_t k = 0; k < trial_.size(); ++k) {
      pair.step[k] -= point_[k];
      pair.change[k] -= trial_gradient_[k];
    }
    const double product = dot(pair.step, pair.change);
    point_.swap(trial_);
    gradient_.swap(trial_gradient_);
    value_ = value;
    if (product > 1e-14 * dot(pair.change, pair.change)) {
      pair.scale = 1 / product;
      pairs_.push_back(std::move(pair));
      if (pairs_.size() > kMemory) pairs_.pop_front();
    }
    return true;
  }

  std::deque<Pair> pairs_;
  std::vector<double> trial_, trial_gradient_;
};

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
  // Four sums side by side, always in this order: the result is the same on every machine.
  double lanes[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  for (; i < a.size(); ++i) lanes[0] += a[i] * b[i];
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

Optimizer::Optimizer(Objective objective, std::vector<double> start, double reach)
    : objective_(std::move(objective)),
      start_(std::move(start)),
      point_(start_),
      gradient_(start_.size()),
      reach_(reach) {
  value_ = evaluate(point_, gradient_);
}

double Optimizer::largest_slope() const {
  return largest_of(gradient_);
}

void Optimizer::move(std::span<const double> direction, double length, std::span<double> to) const {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double at = point_[i] + length * direction[i];
    to[i] = at > start_[i] + reach_ ? start_[i] + reach_ : at < start_[i] - reach_ ? start_[i] - reach_ : at;
  }
}

double Optimizer::evaluate(std::span<const double> point, std::span<double> gradient) const {
  const double value = objective_(point, gradient);
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double off = point[i] - start_[i];
    if ((off >= reach_ && gradient[i] > 0) || (off <= -reach_ && gradient[i] < 0)) gradient[i] = 0;
  }
  return value;
}

std::unique_ptr<Optimizer> make_optimizer(OptimizerMethod method, Objective objective, std::vector<double> start,
                                          double reach) {
  if (method == OptimizerMethod::kLbfgs) return std::make_unique<Lbfgs>(std::move(objective), std::move(start), reach);
  return std::make_unique<ConjugateGradient>(std::move(objective), std::move(start), reach);
}

}  // namespace tanager::internal

// Maximizes a smooth function of many parameters, step by step.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tanager/learn_rows.hpp"

namespace tanager::internal {

/// The value at a point; unless it is empty, `gradient` gets the derivatives.
using Objective = std::function<double(std::span<const double> point, std::span<double> gradient)>;

/// Takes one step at a time, each to a greater value. No coordinate goes farther than `reach` from the start: what
/// would lead out is taken off the gradient.
class Optimizer {
 public:
  Optimizer(Objective objective, std::vector<double> start, double reach);
  virtual ~Optimizer() = default;

  const std::vector<double>& point() const { return point_; }
  double value() const { return value_; }
  /// The steepest slope along any one parameter.
  double largest_slope() const;
  /// False if no step up was found: the top is reached as far as rounding can tell.
  virtual bool step() = 0;

 protected:
  /// The point so far along a direction, within reach.
  void move(std::span<const double> direction, double length, std::span<double> to) const;
  /// Value and gradient at a point, the latter without what would lead out of reach.
  double evaluate(std::span<const double> point, std::span<double> gradient) const;

  Objective objective_;
  std::vector<double> start_, point_, gradient_;
  double reach_;
  double value_ = 0;
};

std::unique_ptr<Optimizer> make_optimizer(OptimizerMethod method, Objective objective, std::vector<double> start,
                                          double reach);

double dot(std::span<const double> a, std::span<const double> b);

}  // namespace tanager::internal

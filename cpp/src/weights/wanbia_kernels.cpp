#include "weights/wanbia_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "simd/vector_exp.hpp"

namespace tanager::internal {
namespace {

/// Calls use(codes from row `first` on) with the codes in their width.
template <class Use>
auto with_codes(const CodeColumn& column, std::size_t first, Use use) {
  return column.wide ? use(static_cast<const std::uint16_t*>(column.codes) + first)
                     : use(static_cast<const std::uint8_t*>(column.codes) + first);
}

/// kClasses is the number of classes where the compiler should know it, zero where it should not.
template <std::size_t kClasses, class T>
void add_terms(const T* codes, const double* terms, std::size_t rows, std::size_t n_classes, double* sums) {
  if constexpr (kClasses > 0) n_classes = kClasses;
  for (std::size_t i = 0; i < rows; ++i) {
    const double* term = terms + codes[i] * n_classes;
    double* sum = sums + i * n_classes;
    for (std::size_t c = 0; c < n_classes; ++c) sum[c] += term[c];
  }
}

/// Four sums side by side: one alone would wait for itself at every step.
template <class T>
double slope_two(const T* codes, const double* slopes, std::size_t rows, const double* derivatives) {
  double a = 0, b = 0, c = 0, d = 0;
  std::size_t i = 0;
  for (; i + 1 < rows; i += 2) {
    const double* first = slopes + std::size_t{codes[i]} * 2;
    const double* second = slopes + std::size_t{codes[i + 1]} * 2;
    a += first[0] * derivatives[i * 2];
    b += first[1] * derivatives[i * 2 + 1];
    c += second[0] * derivatives[i * 2 + 2];
    d += second[1] * derivatives[i * 2 + 3];
  }
  if (i < rows) {
    const double* last = slopes + std::size_t{codes[i]} * 2;
    a += last[0] * derivatives[i * 2];
    b += last[1] * derivatives[i * 2 + 1];
  }
  return (a + c) + (b + d);
}

template <class T>
double slope_any(const T* codes, const double* slopes, std::size_t rows, std::size_t n_classes,
                 const double* derivatives) {
  constexpr std::size_t kLanes = 4;
  double lanes[kLanes] = {};
  const std::size_t whole = n_classes - n_classes % kLanes;
  for (std::size_t i = 0; i < rows; ++i) {
    const double* slope = slopes + codes[i] * n_classes;
    const double* derivative = derivatives + i * n_classes;
    for (std::size_t c = 0; c < whole; c += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += slope[c + lane] * derivative[c + lane];
    for (std::size_t c = whole; c < n_classes; ++c) lanes[c - whole] += slope[c] * derivative[c];
  }
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/// Takes the largest logarithm of every row from all of them, and keeps in `shifts` what the true class's is then.
void shift_rows(const BlockRows& block, double* sums, double* shifts) {
  const std::size_t n_classes = block.n_classes;
  for (std::size_t i = 0; i < block.rows; ++i) {
    double* row = sums + i * n_classes;
    double largest = row[0];
    for (std::size_t c = 1; c < n_classes; ++c) largest = row[c] > largest ? row[c] : largest;
    for (std::size_t c = 0; c < n_classes; ++c) row[c] -= largest;
    shifts[i] = row[block.classes[i]];
  }
}

/// Posteriors p to derivatives of -ln p of the true class by the logarithms: p_c - [c is true].
double likelihood_row(double* p, std::size_t n_classes, std::size_t truth, double weight, double log_truth) {
  if (std::isinf(log_truth)) {  // the given class prior says that there is no such row: nothing can help
    std::fill_n(p, n_classes, 0.0);
    return 0;
  }
  p[truth] -= 1;
  for (std::size_t c = 0; c < n_classes; ++c) p[c] *= weight;
  return -log_truth * weight;
}

/// Posteriors p to derivatives of sum of e_c^2 / 2 with e_c = p_c - [c is true]: p_c (e_c - sum of e p).
double squares_row(double* p, std::size_t n_classes, std::size_t truth, double weight) {
  double squares = 0, mean = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double error = p[c] - (c == truth ? 1.0 : 0.0);
    squares += error * error;
    mean += error * p[c];
  }
  for (std::size_t c = 0; c < n_classes; ++c) p[c] *= (p[c] - (c == truth ? 1.0 : 0.0) - mean) * weight;
  return 0.5 * squares * weight;
}

}  // namespace

void add_block_terms(const CodeColumn& codes, std::size_t first, const double* terms, std::size_t rows,
                     std::size_t n_classes, double* sums) {
  with_codes(codes, first, [&](const auto* own) {
    n_classes == 2 ? add_terms<2>(own, terms, rows, 2, sums) : add_terms<0>(own, terms, rows, n_classes, sums);
  });
}

double evaluate_block(WanbiaLoss loss, const BlockRows& block, double* sums, double* shifts) {
  const std::size_t n_classes = block.n_classes, cells = block.rows * n_classes;
  shift_rows(block, sums, shifts);
  for (std::size_t i = 0; i < cells; ++i) sums[i] = vector_exp(sums[i]);
  double value = 0;
  for (std::size_t i = 0; i < block.rows; ++i) {
    double* p = sums + i * n_classes;
    double total = 0;
    for (std::size_t c = 0; c < n_classes; ++c) total += p[c];
    for (std::size_t c = 0; c < n_classes; ++c) p[c] /= total;
    const double weight = block.weights == nullptr ? 1.0 : block.weights[i];
    value += loss == WanbiaLoss::kConditionalLikelihood
                 ? likelihood_row(p, n_classes, block.classes[i], weight, shifts[i] - std::log(total))
                 : squares_row(p, n_classes, block.classes[i], weight);
  }
  return value;
}

double block_slope(const CodeColumn& codes, std::size_t first, const double* slopes, std::size_t rows,
                   std::size_t n_classes, const double* derivatives) {
  return with_codes(codes, first, [&](const auto* own) {
    return n_classes == 2 ? slope_two(own, slopes, rows, derivatives)
                          : slope_any(own, slopes, rows, n_classes, derivatives);
  });
}

}  // namespace tanager::internal

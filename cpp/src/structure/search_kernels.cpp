// All numbers are on a grid (search_grid.hpp), so that sums are exact and every instruction set gives the same answer.
#include "structure/search_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/vector_exp.hpp"

namespace tanager {
namespace {

TANAGER_ALWAYS_INLINE void add_codes_body(const std::uint16_t* codes, std::uint32_t stride, std::size_t rows,
                                          std::uint32_t* index) {
  for (std::size_t i = 0; i < rows; ++i) index[i] += codes[i] * stride;
}

TANAGER_ALWAYS_INLINE void add_terms_body(const double* terms, const std::uint32_t* index, std::size_t rows,
                                          std::size_t width, double sign, double* sums) {
  if (width == 1) {
    for (std::size_t i = 0; i < rows; ++i) sums[i] += sign * terms[index[i]];
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const double* term = terms + std::size_t{index[i]} * width;
    double* sum = sums + i * width;
    for (std::size_t c = 0; c < width; c += 4)
      for (std::size_t lane = c; lane < c + 4; ++lane) sum[lane] += sign * term[lane];
  }
}

/// The difference of two classes: the second is predicted if it is positive, the first if not.
TANAGER_ALWAYS_INLINE std::size_t count_positive(const CandidateBlock& block) {
  std::size_t positive = 0;
  for (std::size_t i = 0; i < block.rows; ++i) positive += block.sums[i] + block.terms[block.index[i]] > 0 ? 1U : 0U;
  return positive;
}

// A row is predicted rightly if no other class has more than its own; classes before it win ties, which half a step of
// the grid on top of theirs decides.
TANAGER_ALWAYS_INLINE std::size_t count_largest(const CandidateBlock& block, const double* bias, bool zeros) {
  const std::size_t width = block.width;
  std::size_t correct = 0;
  for (std::size_t i = 0; i < block.rows; ++i) {
    const double* sum = block.sums + i * width;
    const double* term = block.terms + std::size_t{block.index[i]} * width;
    double own = sum[block.label] + term[block.label];
    long long beaten = 0;
    if (zeros) {
      own = own > block.floor ? own : block.floor;
      for (std::size_t c = 0; c < width; c += 4)
        for (std::size_t lane = c; lane < c + 4; ++lane) {
          const double other = sum[lane] + term[lane];
          beaten |= (other > block.floor ? other : block.floor) + bias[lane] > own ? 1 : 0;
        }
    } else {
      for (std::size_t c = 0; c < width; c += 4)
        for (std::size_t lane = c; lane < c + 4; ++lane) beaten |= sum[lane] + term[lane] + bias[lane] > own ? 1 : 0;
    }
    correct += beaten == 0 ? 1U : 0U;
  }
  return correct;
}

TANAGER_ALWAYS_INLINE std::size_t count_correct_body(const CandidateBlock& block) {
  if (block.width == 1) {
    const std::size_t positive = count_positive(block);
    return block.label == 1 ? positive : block.rows - positive;
  }
  constexpr std::size_t kOnStack = 64;
  double bias[kOnStack];
  const bool zeros = block.floor > -std::numeric_limits<double>::infinity();
  if (block.width <= kOnStack) {
    for (std::size_t c = 0; c < block.width; ++c) bias[c] = c < block.label ? block.half_step : 0.0;
    return zeros ? count_largest(block, bias, true) : count_largest(block, bias, false);
  }
  std::size_t correct = 0;
  double* sums = new double[block.width];
  for (std::size_t i = 0; i < block.rows; ++i) {
    const double* sum = block.sums + i * block.width;
    const double* term = block.terms + std::size_t{block.index[i]} * block.width;
    for (std::size_t c = 0; c < block.width; ++c) sums[c] = sum[c] + term[c];
    correct += is_correct(block, sums) ? 1U : 0U;
  }
  delete[] sums;
  return correct;
}

#if TANAGER_X86_DISPATCH
TANAGER_TARGET_AVX2 void add_codes_avx2(const std::uint16_t* codes, std::uint32_t stride, std::size_t rows,
                                        std::uint32_t* index) {
  add_codes_body(codes, stride, rows, index);
}
TANAGER_TARGET_AVX2 void add_terms_avx2(const double* terms, const std::uint32_t* index, std::size_t rows,
                                        std::size_t width, double sign, double* sums) {
  add_terms_body(terms, index, rows, width, sign, sums);
}
TANAGER_TARGET_AVX2 std::size_t count_correct_avx2(const CandidateBlock& block) {
  return count_correct_body(block);
}
TANAGER_TARGET_AVX512 void add_codes_avx512(const std::uint16_t* codes, std::uint32_t stride, std::size_t rows,
                                            std::uint32_t* index) {
  add_codes_body(codes, stride, rows, index);
}
TANAGER_TARGET_AVX512 void add_terms_avx512(const double* terms, const std::uint32_t* index, std::size_t rows,
                                            std::size_t width, double sign, double* sums) {
  add_terms_body(terms, index, rows, width, sign, sums);
}
TANAGER_TARGET_AVX512 std::size_t count_correct_avx512(const CandidateBlock& block) {
  return count_correct_body(block);
}
#endif

}  // namespace

void add_codes(const std::uint16_t* codes, std::uint32_t stride, std::size_t rows, std::uint32_t* index, Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa == Isa::kAvx512) return add_codes_avx512(codes, stride, rows, index);
  if (isa == Isa::kAvx2) return add_codes_avx2(codes, stride, rows, index);
#endif
  static_cast<void>(isa);
  add_codes_body(codes, stride, rows, index);
}

void add_terms(const double* terms, const std::uint32_t* index, std::size_t rows, std::size_t width, double sign,
               double* sums, Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa == Isa::kAvx512) return add_terms_avx512(terms, index, rows, width, sign, sums);
  if (isa == Isa::kAvx2) return add_terms_avx2(terms, index, rows, width, sign, sums);
#endif
  static_cast<void>(isa);
  add_terms_body(terms, index, rows, width, sign, sums);
}

std::size_t count_correct(const CandidateBlock& block, Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa == Isa::kAvx512) return count_correct_avx512(block);
  if (isa == Isa::kAvx2) return count_correct_avx2(block);
#endif
  static_cast<void>(isa);
  return count_correct_body(block);
}

bool is_correct(const CandidateBlock& block, const double* sums) {
  if (block.width == 1) return (sums[0] > 0) == (block.label == 1);
  const double own = std::max(sums[block.label], block.floor);
  for (std::size_t c = 0; c < block.n_classes; ++c) {
    const double other = std::max(sums[c], block.floor);
    if (c < block.label ? other >= own : other > own) return false;
  }
  return true;
}

double log_score(const CandidateBlock& block, const double* sums) {
  if (block.width == 1) {
    // ln P(label) = -ln(1 + e^-d), with d in favor of the label
    const double d = block.label == 1 ? sums[0] : -sums[0];
    return d > 0 ? -std::log1p(vector_exp(-d)) : d - std::log1p(vector_exp(d));
  }
  double largest = block.floor;
  for (std::size_t c = 0; c < block.n_classes; ++c) largest = std::max(largest, sums[c]);
  double sum = 0;
  for (std::size_t c = 0; c < block.n_classes; ++c) sum += vector_exp(std::max(sums[c], block.floor) - largest);
  // A sum at the floor is ln 0, unless all are: then nothing is known.
  const double own = std::max(sums[block.label], block.floor);
  if (own == block.floor && largest > block.floor) return -std::numeric_limits<double>::infinity();
  return own - largest - std::log(sum);
}

}  // namespace tanager

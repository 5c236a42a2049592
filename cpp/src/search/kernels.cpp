// All numbers are on a grid (log_grid.hpp): sums are exact and every instruction set gives the same answer.
#include "search/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "simd/for_isa.hpp"
#include "simd/vec.hpp"
#include "simd/vector_exp.hpp"
#include "simd/with_constant.hpp"

namespace tanager::internal {
namespace {

TANAGER_ALWAYS_INLINE void pair_codes_loop(const std::uint16_t* a, std::uint32_t a_stride, const std::uint16_t* b,
                                           std::uint32_t b_stride, std::size_t rows, std::uint32_t* index) {
  for (std::size_t i = 0; i < rows; ++i) index[i] = a[i] * a_stride + b[i] * b_stride;
}

TANAGER_ALWAYS_INLINE void add_codes_loop(const std::uint16_t* codes, std::uint32_t stride, std::size_t rows,
                                          std::uint32_t* index) {
  for (std::size_t i = 0; i < rows; ++i) index[i] += codes[i] * stride;
}

template <bool kSubtract>
TANAGER_ALWAYS_INLINE void add_signed(const double* terms, const std::uint32_t* index, std::size_t rows,
                                      std::size_t width, double* sums) {
  if (width == 1) {
    const auto add = [&](std::size_t i) { sums[i] += kSubtract ? -terms[index[i]] : terms[index[i]]; };
    std::size_t i = 0;
    for (; i + 4 <= rows; i += 4) {  // compilers leave the counting of so short a loop at half of its work
      add(i);
      add(i + 1);
      add(i + 2);
      add(i + 3);
    }
    for (; i < rows; ++i) add(i);
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const double* term = terms + std::size_t{index[i]} * width;
    double* sum = sums + i * width;
    for (std::size_t c = 0; c < width; ++c) sum[c] += kSubtract ? -term[c] : term[c];
  }
}

TANAGER_ALWAYS_INLINE void add_terms_loop(const double* terms, const std::uint32_t* index, std::size_t rows,
                                          std::size_t width, double sign, double* sums) {
  if (sign < 0)
    add_signed<true>(terms, index, rows, width, sums);
  else
    add_signed<false>(terms, index, rows, width, sums);
}

/// Several tables in one pass, so that a row's sum stays in a register; as many as there are registers for addresses.
template <std::size_t kCount>
void add_shared(const SharedTables& tables, const std::uint16_t* shared, std::size_t rows, double* sums) {
  const double* terms[kCount];
  const std::uint16_t* index[kCount];
  std::copy_n(tables.terms, kCount, terms);
  std::copy_n(tables.index, kCount, index);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = shared[row] * tables.stride;
    double sum = sums[row];
    for (std::size_t i = 0; i < kCount; ++i) sum += terms[i][first + index[i][row]];
    sums[row] = sum;
  }
}

/// The difference of two classes: the second is predicted if it is positive, the first if not.
TANAGER_ALWAYS_INLINE std::size_t count_positive(const CandidateBlock& block) {
  std::uint64_t positive = 0;
  if (block.terms == nullptr)
    for (std::size_t i = 0; i < block.rows; ++i) positive += block.sums[i] > 0 ? 1U : 0U;
  else if (block.index == nullptr)
    for (std::size_t i = 0; i < block.rows; ++i) positive += block.sums[i] + block.terms[i] > 0 ? 1U : 0U;
  else
    for (std::size_t i = 0; i < block.rows; ++i) positive += block.sums[i] + block.terms[block.index[i]] > 0 ? 1U : 0U;
  return positive;
}

/// a + b + c; the numbers may lie at any address of a double.
TANAGER_ALWAYS_INLINE void add_four(const double* a, const double* b, const double* c, Four& sum) {
  Four second, third;
  load_vector(a, sum);
  load_vector(b, second);
  load_vector(c, third);
  sum += second;
  sum += third;
}

TANAGER_ALWAYS_INLINE double largest_of(const Four& four) {
  return std::max(std::max(four[0], four[1]), std::max(four[2], four[3]));
}

// A row is predicted correctly if no other class has more than its own; classes before it win ties, which half a step
// of the grid on top of theirs decides.
template <bool kZeros>
TANAGER_ALWAYS_INLINE std::size_t count_largest(const CandidateBlock& block) {
  const std::size_t width = block.width;
  const double* bias = block.bias;
  std::size_t correct = 0;
  for (std::size_t i = 0; i < block.rows; ++i) {
    const double* sum = block.sums + i * width;
    const std::size_t cell = block.index == nullptr ? i : block.index[i];
    const double* term = block.terms == nullptr ? block.zeros : block.terms + cell * width;
    Four largest, others;
    add_four(sum, term, bias, largest);
    for (std::size_t c = 4; c < width; c += 4) {
      add_four(sum + c, term + c, bias + c, others);
      keep_larger(largest, others);
    }
    const double own = sum[block.label] + term[block.label];
    double best = largest_of(largest);
    if constexpr (kZeros) {
      // Where all are ln 0 the first class is predicted; half a step cannot lift one over the floor.
      if (!(best > block.floor)) best = block.label == 0 ? own : block.floor + 1;
    }
    correct += best > own ? 0U : 1U;
  }
  return correct;
}

TANAGER_ALWAYS_INLINE std::size_t count_correct_loop(const CandidateBlock& block) {
  if (block.width == 1) {
    const std::size_t positive = count_positive(block);
    return block.label == 1 ? positive : block.rows - positive;
  }
  return block.floor > -std::numeric_limits<double>::infinity() ? count_largest<true>(block)
                                                                : count_largest<false>(block);
}

#if defined(__GNUC__)
typedef long long FourWhole __attribute__((vector_size(32)));
typedef std::uint8_t FourBytes __attribute__((vector_size(4)));

/// For each of four parents the term of its own value, found by trying all of them.
template <std::size_t kValues>
TANAGER_ALWAYS_INLINE void choose_terms(const double* terms, const std::uint8_t* codes, Four& chosen) {
  FourBytes bytes;
  std::memcpy(&bytes, codes, sizeof(bytes));
  const FourWhole values = __builtin_convertvector(bytes, FourWhole);
  std::memcpy(&chosen, terms, sizeof(Four));
  for (std::size_t j = 1; j < kValues; ++j) {
    Four other;
    std::memcpy(&other, terms + j * kParentLanes, sizeof(Four));
    chosen = values == static_cast<long long>(j) ? other : chosen;
  }
}

template <std::size_t kValues>
TANAGER_ALWAYS_INLINE void sum_accuracies_of(std::span<const OpenFold> folds, const std::uint8_t* codes,
                                             const double* terms, std::size_t n_values, double* scores) {
  const Four zeros{};
  Four sums[2]{};
  for (const OpenFold& fold : folds) {
    Four right[2] = {zeros + fold.right, zeros + fold.right};
    for (const OpenRow& row : fold.rows) {
      const double* cell = terms + row.value * (kValues * kParentLanes);
      const std::uint8_t* code = codes + std::size_t{row.row} * kParentLanes;
      const Four gain = zeros + row.gain;
      for (std::size_t half = 0; half < 2; ++half) {
        Four chosen;
        choose_terms<kValues>(cell + 4 * half, code + 4 * half, chosen);
        right[half] += chosen > row.threshold ? gain : zeros;
      }
    }
    for (std::size_t half = 0; half < 2; ++half) sums[half] += right[half] / fold.weight;
    terms += n_values * (kValues * kParentLanes);
  }
  std::memcpy(scores, sums, sizeof(sums));
}
#else
template <std::size_t kValues>
void sum_accuracies_of(std::span<const OpenFold> folds, const std::uint8_t* codes, const double* terms,
                       std::size_t n_values, double* scores) {
  std::fill_n(scores, kParentLanes, 0.0);
  for (const OpenFold& fold : folds) {
    for (std::size_t i = 0; i < kParentLanes; ++i) {
      double right = fold.right;
      for (const OpenRow& row : fold.rows) {
        const std::size_t cell = row.value * kValues + codes[row.row * kParentLanes + i];
        if (terms[cell * kParentLanes + i] > row.threshold) right += row.gain;
      }
      scores[i] += right / fold.weight;
    }
    terms += n_values * (kValues * kParentLanes);
  }
}
#endif
static_assert(kParentLanes == 8 && kMaxChosenValues == 4);

TANAGER_ALWAYS_INLINE void sum_accuracies_loop(std::span<const OpenFold> folds, const std::uint8_t* codes,
                                               const double* terms, std::size_t n_values, std::size_t n_parent_values,
                                               double* scores) {
  with_constant<1, 2, 3, 4>(n_parent_values, [&](auto n) TANAGER_ALWAYS_INLINE_LAMBDA {
    if constexpr (n > 0) sum_accuracies_of<n>(folds, codes, terms, n_values, scores);
  });
}

}  // namespace

void add_shared_terms(const SharedTables& tables, const std::uint16_t* shared, std::size_t rows, double* sums) {
  static_assert(SharedTables::kMost == 4);
  constexpr decltype(&add_shared<1>) loops[] = {add_shared<1>, add_shared<2>, add_shared<3>, add_shared<4>};
  if (tables.count > 0) loops[tables.count - 1](tables, shared, rows, sums);
}

void pair_codes(const std::uint16_t* a, std::uint32_t a_stride, const std::uint16_t* b, std::uint32_t b_stride,
                std::size_t rows, std::uint32_t* index, Isa isa) {
  for_isa<pair_codes_loop>(isa, a, a_stride, b, b_stride, rows, index);
}

void add_codes(const std::uint16_t* codes, std::uint32_t stride, std::size_t rows, std::uint32_t* index, Isa isa) {
  for_isa<add_codes_loop>(isa, codes, stride, rows, index);
}

void add_terms(const double* terms, const std::uint32_t* index, std::size_t rows, std::size_t width, double sign,
               double* sums, Isa isa) {
  for_isa<add_terms_loop>(isa, terms, index, rows, width, sign, sums);
}

std::size_t count_correct(const CandidateBlock& block, Isa isa) {
  return for_isa<count_correct_loop>(isa, block);
}

void sum_accuracies(std::span<const OpenFold> folds, const std::uint8_t* codes, const double* terms,
                    std::size_t n_values, std::size_t n_parent_values, double* scores, Isa isa) {
  with_isa<Isa::kAvx2>(isa, [&]<Isa kIsa>() {
    compiled_for<kIsa, sum_accuracies_loop>(folds, codes, terms, n_values, n_parent_values, scores);
  });
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

double log_posterior(const CandidateBlock& block, const double* sums) {
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

}  // namespace tanager::internal

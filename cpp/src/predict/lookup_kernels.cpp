// Every row's log-joint is prior + group 0 + group 1 + ..., in this order on every instruction set: additions of whole
// table rows, whose lanes are classes, so vector width changes nothing. The loops are plain C++ compiled once per
// level.
#include "predict/lookup_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "simd/for_isa.hpp"
#include "simd/vec.hpp"
#include "simd/vector_exp.hpp"
#include "simd/with_constant.hpp"
#include "support/infinity.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kGroupsAtOnce = 16;  // their indices are computed first, then all are looked up per row
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

struct Block {
  const LookupTables& tables;
  std::span<const std::uint32_t> cardinalities;
  std::span<const CodeColumn> columns;
  std::size_t first_row;
  std::size_t rows;
};

template <class T>
TANAGER_ALWAYS_INLINE const T* codes_of(const Block& block, std::size_t feature) {
  return static_cast<const T*>(block.columns[feature].codes) + block.first_row;
}

template <class T>
TANAGER_ALWAYS_INLINE void mark_incomplete(const T* codes, std::size_t rows, T last, std::uint8_t* incomplete) {
  for (std::size_t i = 0; i < rows; ++i) incomplete[i] |= static_cast<std::uint8_t>(codes[i] > last);
}

// Codes above the last known one are taken for it, so that no index leaves its table; such rows are marked and done
// anew.
template <class Index, class T>
TANAGER_ALWAYS_INLINE void add_to_index(const T* codes, std::size_t rows, T last, Index stride, Index* index) {
  for (std::size_t i = 0; i < rows; ++i)
    index[i] = static_cast<Index>(index[i] + static_cast<Index>(codes[i] < last ? codes[i] : last) * stride);
}

template <class Index>
TANAGER_ALWAYS_INLINE void group_index(const Block& block, const LookupGroup& group, Index* index) {
  std::fill_n(index, block.rows, Index{0});
  for (const auto& member : group.members) {
    const std::uint32_t last = block.cardinalities[member.feature] - 1;
    const auto stride = static_cast<Index>(member.stride);
    if (block.columns[member.feature].wide)
      add_to_index(codes_of<std::uint16_t>(block, member.feature), block.rows, static_cast<std::uint16_t>(last), stride,
                   index);
    else  // an 8-bit column of a feature with more values than 8 bits hold cannot exceed any of them
      add_to_index(codes_of<std::uint8_t>(block, member.feature), block.rows,
                   static_cast<std::uint8_t>(std::min<std::uint32_t>(last, 254)), stride, index);
  }
}

/// sums[row][class] += table row of every group, for the classes of some vectors from `lane` on.
template <class Vector, std::size_t kVectors, class Index>
TANAGER_ALWAYS_INLINE void look_up(const Block& block, std::size_t first_group, std::size_t n_groups,
                                   const Index (*index)[kMaxBlockRows], std::size_t lane, double* sums) {
  const std::size_t width = block.tables.padded_classes;
  const double* cells[kGroupsAtOnce];
  for (std::size_t g = 0; g < n_groups; ++g)
    cells[g] = block.tables.cells.data() + block.tables.groups[first_group + g].offset + lane;
  for (std::size_t row = 0; row < block.rows; ++row) {
    double* to = sums + row * width + lane;
    Vector sum[kVectors], term;
    for (std::size_t i = 0; i < kVectors; ++i) load_vector(to + i * kLanesOf<Vector>, sum[i]);
    for (std::size_t g = 0; g < n_groups; ++g) {
      const double* from = cells[g] + index[g][row] * width;
      for (std::size_t i = 0; i < kVectors; ++i) {
        load_vector(from + i * kLanesOf<Vector>, term);
        sum[i] += term;
      }
    }
    for (std::size_t i = 0; i < kVectors; ++i) store_vector(sum[i], to + i * kLanesOf<Vector>);
  }
}

template <class Index>
TANAGER_ALWAYS_INLINE void add_groups(const Block& block, std::size_t first_group, std::size_t n_groups, double* sums) {
  Index index[kGroupsAtOnce][kMaxBlockRows];
  for (std::size_t g = 0; g < n_groups; ++g) group_index(block, block.tables.groups[first_group + g], index[g]);
  const std::size_t width = block.tables.padded_classes;
  if (width == 1) return look_up<double, 1>(block, first_group, n_groups, index, 0, sums);
  if (width == 2) return look_up<Two, 1>(block, first_group, n_groups, index, 0, sums);
  if (width == 4) return look_up<Four, 1>(block, first_group, n_groups, index, 0, sums);
  for (std::size_t lane = 0; lane < width; lane += 2 * kLanesOf<Four>)
    look_up<Four, 2>(block, first_group, n_groups, index, lane, sums);
}

TANAGER_ALWAYS_INLINE void joint_loop(const Block& block, double* joint, double* sums, std::uint8_t* incomplete) {
  const LookupTables& tables = block.tables;
  const std::size_t width = tables.padded_classes, n_classes = tables.n_classes;
  std::fill_n(incomplete, block.rows, std::uint8_t{0});
  for (const std::size_t f : tables.features) {
    const std::uint32_t last = block.cardinalities[f] - 1;
    if (block.columns[f].wide)
      mark_incomplete(codes_of<std::uint16_t>(block, f), block.rows, static_cast<std::uint16_t>(last), incomplete);
    else
      mark_incomplete(codes_of<std::uint8_t>(block, f), block.rows,
                      static_cast<std::uint8_t>(std::min<std::uint32_t>(last, 254)), incomplete);
  }
  for (std::size_t row = 0; row < block.rows; ++row)
    for (std::size_t c = 0; c < width; ++c) sums[row * width + c] = tables.prior[c];
  for (std::size_t first = 0; first < tables.groups.size(); first += kGroupsAtOnce) {
    const std::size_t count = std::min(kGroupsAtOnce, tables.groups.size() - first);
    bool small = true;
    for (std::size_t g = first; g < first + count; ++g) small &= tables.groups[g].size <= 65536;
    if (small)
      add_groups<std::uint16_t>(block, first, count, sums);
    else
      add_groups<std::uint32_t>(block, first, count, sums);
  }
  if (sums == joint) return;
  for (std::size_t row = 0; row < block.rows; ++row)
    for (std::size_t c = 0; c < n_classes; ++c) joint[row * n_classes + c] = sums[row * width + c];
}

/// kClasses is the number of classes where the compiler should know it, zero where it should not.
template <std::size_t kClasses>
TANAGER_ALWAYS_INLINE void posterior_of(double* joint, std::size_t rows, std::size_t n_classes) {
  const std::size_t classes = kClasses > 0 ? kClasses : n_classes;
  for (std::size_t row = 0; row < rows; ++row) {
    double* p = joint + row * classes;
    double largest = p[0];
    for (std::size_t c = 1; c < classes; ++c) largest = p[c] > largest ? p[c] : largest;
    const bool impossible = largest == kMinusInfinity;
    for (std::size_t c = 0; c < classes; ++c) {
      const double below = impossible ? 0.0 : p[c] - largest;
      p[c] = below < kExpLimit ? kExpLimit : below;
    }
  }
  for (std::size_t i = 0; i < rows * classes; ++i) joint[i] = vector_exp_in_range(joint[i]);
  for (std::size_t row = 0; row < rows; ++row) {
    double* p = joint + row * classes;
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += p[c];
    for (std::size_t c = 0; c < classes; ++c) p[c] /= sum;
  }
}

TANAGER_ALWAYS_INLINE void posterior_loop(double* joint, std::size_t rows, std::size_t n_classes) {
  with_constant<2, 3>(n_classes,
                      [&](auto few) TANAGER_ALWAYS_INLINE_LAMBDA { posterior_of<few>(joint, rows, n_classes); });
}

void log_posterior(double* joint, std::size_t rows, std::size_t n_classes) {
  for (double* p = joint; p < joint + rows * n_classes; p += n_classes) {
    const double largest = *std::max_element(p, p + n_classes);
    double sum = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      p[c] = largest == kMinusInfinity ? 0.0 : p[c] - largest;
      sum += vector_exp(p[c]);
    }
    const double log_sum = std::log(sum);
    for (std::size_t c = 0; c < n_classes; ++c) p[c] -= log_sum;
  }
}

}  // namespace

std::size_t block_rows(std::uint32_t padded_classes) {
  return std::clamp<std::size_t>(kBlockBytes / (padded_classes * sizeof(double)), 1, kMaxBlockRows);
}

void log_joint_block(const LookupTables& tables, std::span<const std::uint32_t> cardinalities,
                     std::span<const CodeColumn> columns, std::size_t first_row, std::size_t rows, double* joint,
                     std::uint8_t* incomplete, Isa isa) {
  const Block block{tables, cardinalities, columns, first_row, rows};
  std::vector<double> padded_sums;
  double* sums = joint;
  if (tables.padded_classes != tables.n_classes) {
    padded_sums.resize(rows * tables.padded_classes);
    sums = padded_sums.data();
  }
  for_isa<joint_loop>(isa, block, joint, sums, incomplete);
}

void finish_block(double* joint, std::size_t rows, std::uint32_t n_classes, Output output, Isa isa) {
  if (output == Output::kPosterior) for_isa<posterior_loop>(isa, joint, rows, n_classes);
  if (output == Output::kLogPosterior) log_posterior(joint, rows, n_classes);
}

}  // namespace tanager::internal

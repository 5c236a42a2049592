// The loop over the tables of pairs, for every instruction set. It needs a logarithm per cell and per marginal, as
// mutual information does; these are not logarithms of whole numbers, so they are computed, eight at a time.
#include "structure/acll_pairs.hpp"

#include <algorithm>
#include <numeric>

#include "support/vector_log.hpp"
#include "tanager/scores.hpp"

namespace tanager {
namespace {

std::size_t padded(std::size_t n) {
  return (n + kLogLanes - 1) / kLogLanes * kLogLanes;
}

struct PairTable {
  const double* cells;  // [u][v][class]
  std::size_t n_u, n_v, classes;
  const double *weights_u, *weights_v;  // w_jc and w_kc, padded
  double beta, pseudo_counts;
};

struct PairSums {
  double observed;    // all cells
  double of_cells;    // sum of w_jkc ln m_jkc
  double of_u, of_v;  // sum of w_jc ln m_jc, and of w_kc ln m_kc
};

/// Weights and raised weights of the cells of one pair of values; returns their count. The sum runs in four fixed
/// parts.
TANAGER_ALWAYS_INLINE double weigh_cells(const double* cell, std::size_t classes, double beta, double pseudo_counts,
                                         double* weight, double* raised) {
  double parts[4] = {};
  std::size_t c = 0;
  for (; c + 4 <= classes; c += 4)
    for (std::size_t i = 0; i < 4; ++i) parts[i] += cell[c + i];
  for (std::size_t i = 0; c + i < classes; ++i) parts[i] += cell[c + i];
  const double count = (parts[0] + parts[1]) + (parts[2] + parts[3]), others = beta * count;
  for (c = 0; c < classes; ++c) {
    weight[c] = cell[c] + others;
    raised[c] = weight[c] > pseudo_counts ? weight[c] : pseudo_counts;
  }
  return count;
}

TANAGER_ALWAYS_INLINE void fill_padding(double* values, std::size_t n, double with) {
  for (std::size_t i = n; i % kLogLanes != 0; ++i) values[i] = with;
}

/// `memory` holds, each padded to whole vectors: weights of cells, raised weights of cells, m_jc, m_kc.
TANAGER_ALWAYS_INLINE PairSums sums_of(const PairTable& table, std::size_t classes, double* memory) {
  const std::size_t size_v = table.n_v * classes, size_u = table.n_u * classes, size = table.n_u * size_v;
  double* const weights = memory;
  double* const raised = weights + padded(size);
  double* const of_u = raised + padded(size);
  double* const of_v = of_u + padded(size_u);
  std::fill_n(of_v, padded(size_v), 0.0);
  double observed = 0;
  for (std::size_t j = 0; j < table.n_u; ++j) {
    double* const margin = of_u + j * classes;
    std::fill_n(margin, classes, 0.0);
    for (std::size_t k = 0; k < table.n_v; ++k) {
      const std::size_t at = (j * table.n_v + k) * classes;
      observed += weigh_cells(table.cells + at, classes, table.beta, table.pseudo_counts, weights + at, raised + at);
      for (std::size_t c = 0; c < classes; ++c) {
        margin[c] += raised[at + c];
        of_v[k * classes + c] += raised[at + c];
      }
    }
  }
  fill_padding(weights, size, 0.0);
  fill_padding(raised, size, 1.0);
  fill_padding(of_u, size_u, 1.0);
  fill_padding(of_v, size_v, 1.0);
  return {observed, sum_of_weighted_logs(weights, raised, padded(size)),
          sum_of_weighted_logs(table.weights_u, of_u, padded(size_u)),
          sum_of_weighted_logs(table.weights_v, of_v, padded(size_v))};
}

/// Two classes are common, and worth a loop that knows it.
TANAGER_ALWAYS_INLINE PairSums sums_body(const PairTable& table, double* memory) {
  return table.classes == 2 ? sums_of(table, 2, memory) : sums_of(table, table.classes, memory);
}

PairSums sums_baseline(const PairTable& table, double* memory) {
  return sums_body(table, memory);
}

#if TANAGER_X86_DISPATCH
TANAGER_TARGET_AVX2 PairSums sums_avx2(const PairTable& table, double* memory) {
  return sums_body(table, memory);
}
TANAGER_TARGET_AVX512 PairSums sums_avx512(const PairTable& table, double* memory) {
  return sums_body(table, memory);
}
#endif

PairSums sums(const PairTable& table, double* memory, Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa == Isa::kAvx512) return sums_avx512(table, memory);
  if (isa == Isa::kAvx2) return sums_avx2(table, memory);
#endif
  static_cast<void>(isa);
  return sums_baseline(table, memory);
}

}  // namespace

AcllPairs::AcllPairs(const CountSet& counts, double beta, double pseudo_counts, Isa isa)
    : counts_(counts), beta_(beta), pseudo_counts_(pseudo_counts), n_rows_(counts.n_rows()), isa_(isa) {
  const std::size_t classes = counts.n_classes();
  for (std::size_t f = 0; f < counts.n_features(); ++f) {
    const auto cells = counts.single(f);
    std::vector<double> weights(padded(cells.size()), 0.0), raised(cells.size());
    for (std::size_t at = 0; at < cells.size(); at += classes)
      weigh_cells(cells.data() + at, classes, beta, pseudo_counts, weights.data() + at, raised.data() + at);
    weights_.push_back(std::move(weights));
    scores_.push_back(acll_family_score(cells, counts.cardinalities()[f], classes, beta, pseudo_counts));
  }
}

std::pair<double, double> AcllPairs::gains(std::size_t u, std::size_t v, std::vector<double>& scratch) const {
  const auto cells = counts_.pair(u, v);
  const std::size_t n_u = counts_.cardinalities()[u], n_v = counts_.cardinalities()[v], s = counts_.n_classes();
  const std::size_t needed = 2 * padded(cells.size()) + padded(n_u * s) + padded(n_v * s);
  if (scratch.size() < needed) scratch.resize(needed);
  const PairTable table{cells.data(), n_u, n_v, s, weights_[u].data(), weights_[v].data(), beta_, pseudo_counts_};
  const PairSums found = sums(table, scratch.data(), isa_);
  if (found.observed != n_rows_) return gains_of_part(u, v, found.observed);
  return {found.of_cells - found.of_u - scores_[v], found.of_cells - found.of_v - scores_[u]};
}

std::pair<double, double> AcllPairs::gains_of_part(std::size_t u, std::size_t v, double observed) const {
  if (!(observed > 0)) return {0.0, 0.0};
  const auto cells = counts_.pair(u, v);
  const std::size_t n_u = counts_.cardinalities()[u], n_v = counts_.cardinalities()[v], s = counts_.n_classes();
  std::vector<double> of_u(n_u * s, 0.0), of_v(n_v * s, 0.0), turned(cells.size());
  for (std::size_t j = 0; j < n_u; ++j)
    for (std::size_t k = 0; k < n_v; ++k)
      for (std::size_t c = 0; c < s; ++c) {
        const double count = cells[(j * n_v + k) * s + c];
        of_u[j * s + c] += count;
        of_v[k * s + c] += count;
        turned[(k * n_u + j) * s + c] = count;
      }
  const auto score = [&](std::span<const double> part, std::size_t values) {
    return acll_family_score(part, values, s, beta_, pseudo_counts_);
  };
  const double scale = n_rows_ / observed;
  return {scale * (score(cells, n_v) - score(of_v, n_v)), scale * (score(turned, n_u) - score(of_u, n_u))};
}

}  // namespace tanager

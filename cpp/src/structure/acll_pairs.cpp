// The loop over the tables of pairs, for every instruction set. It needs a logarithm per cell and per marginal, as
// mutual information does; these are not logarithms of whole numbers, so they are computed, many at a time: a batch of
// pairs is prepared, all its logarithms are taken in one go, and then summed up pair by pair.
#include "structure/acll_pairs.hpp"

#include <algorithm>

#include "simd/for_isa.hpp"
#include "simd/vector_log.hpp"
#include "tanager/scores.hpp"

namespace tanager::internal {
namespace {

// Numbers in a batch, unless one pair has more: two arrays of them stay in the first cache.
constexpr std::size_t kBatch = 1536;

struct PairTable {
  const double* cells;  // [u][v][class]
  std::size_t n_u, n_v;
  const double *weights_u, *weights_v;  // w_jc and w_kc

  /// How many numbers the pair has: its cells, m_jc, and m_kc.
  std::size_t size(std::size_t classes) const { return (n_u * n_v + n_u + n_v) * classes; }
};

struct PairSums {
  double observed;    // all cells
  double of_cells;    // sum of w_jkc ln m_jkc
  double of_u, of_v;  // sum of w_jc ln m_jc, and of w_kc ln m_kc
};

struct Batch {
  std::span<const PairTable> tables;
  std::size_t classes;
  double beta, pseudo_counts;
  double* weights;  // of all cells of a pair, then space for its marginals
  double* raised;   // of all cells of a pair, then its m_jc and m_kc
  PairSums* sums;
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

/// Fills in the weights and raised weights of a pair, and the marginals of the latter; returns the sum of the counts.
TANAGER_ALWAYS_INLINE double prepare(const PairTable& table, std::size_t classes, double beta, double pseudo_counts,
                                     double* weights, double* raised) {
  const std::size_t size_v = table.n_v * classes;
  double* const of_u = raised + table.n_u * size_v;
  double* const of_v = of_u + table.n_u * classes;
  double observed = 0;
  for (std::size_t i = 0; i < size_v; ++i) of_v[i] = 0;
  for (std::size_t j = 0; j < table.n_u; ++j) {
    double* const margin = of_u + j * classes;
    for (std::size_t c = 0; c < classes; ++c) margin[c] = 0;
    for (std::size_t k = 0; k < table.n_v; ++k) {
      const std::size_t at = (j * table.n_v + k) * classes;
      observed += weigh_cells(table.cells + at, classes, beta, pseudo_counts, weights + at, raised + at);
      for (std::size_t c = 0; c < classes; ++c) {
        margin[c] += raised[at + c];
        of_v[k * classes + c] += raised[at + c];
      }
    }
  }
  return observed;
}

/// The sum of products, in four fixed parts.
TANAGER_ALWAYS_INLINE double dot(const double* a, const double* b, std::size_t n) {
  double parts[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) parts[lane] += a[i + lane] * b[i + lane];
  for (std::size_t lane = 0; i + lane < n; ++lane) parts[lane] += a[i + lane] * b[i + lane];
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

TANAGER_ALWAYS_INLINE void sum_up(const Batch& batch, std::size_t classes) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < batch.tables.size(); ++i) {
    batch.sums[i].observed =
        prepare(batch.tables[i], classes, batch.beta, batch.pseudo_counts, batch.weights + total, batch.raised + total);
    total += batch.tables[i].size(classes);
  }
  for (std::size_t i = 0; i < total; ++i) batch.raised[i] = vector_log(batch.raised[i]);
  const double *weights = batch.weights, *logs = batch.raised;
  for (std::size_t i = 0; i < batch.tables.size(); ++i) {
    const PairTable& table = batch.tables[i];
    const std::size_t size = table.n_u * table.n_v * classes, size_u = table.n_u * classes;
    batch.sums[i].of_cells = dot(weights, logs, size);
    batch.sums[i].of_u = dot(table.weights_u, logs + size, size_u);
    batch.sums[i].of_v = dot(table.weights_v, logs + size + size_u, table.n_v * classes);
    weights += table.size(classes);
    logs += table.size(classes);
  }
}

/// Two classes are common, and worth a loop that knows it.
TANAGER_ALWAYS_INLINE void sum_up_loop(const Batch& batch) {
  batch.classes == 2 ? sum_up(batch, 2) : sum_up(batch, batch.classes);
}

}  // namespace

AcllPairs::AcllPairs(const CountSet& counts, double beta, double pseudo_counts, Isa isa)
    : counts_(counts), beta_(beta), pseudo_counts_(pseudo_counts), n_rows_(counts.n_rows()), isa_(isa) {
  const std::size_t classes = counts.n_classes();
  for (std::size_t f = 0; f < counts.n_features(); ++f) {
    const auto cells = counts.single(f);
    std::vector<double> weights(cells.size()), raised(cells.size());
    for (std::size_t at = 0; at < cells.size(); at += classes)
      weigh_cells(cells.data() + at, classes, beta, pseudo_counts, weights.data() + at, raised.data() + at);
    weights_.push_back(std::move(weights));
    scores_.push_back(acll_family_score(cells, counts.cardinalities()[f], classes, beta, pseudo_counts));
  }
}

std::size_t AcllPairs::numbers_of(std::size_t u, std::size_t v) const {
  const std::size_t n_u = counts_.cardinalities()[u], n_v = counts_.cardinalities()[v];
  return (n_u * n_v + n_u + n_v) * counts_.n_classes();
}

void AcllPairs::weigh_row(std::size_t u, std::span<double> gains) const {
  const std::size_t n = counts_.n_features();
  std::vector<PairTable> tables;
  std::vector<PairSums> sums;
  std::vector<double> memory;
  for (std::size_t begin = u + 1, end = begin; begin < n; begin = end) {
    std::size_t total = 0;
    tables.clear();
    for (; end < n && (tables.empty() || total + numbers_of(u, end) <= kBatch); ++end) {
      tables.push_back({counts_.pair(u, end).data(), counts_.cardinalities()[u], counts_.cardinalities()[end],
                        weights_[u].data(), weights_[end].data()});
      total += numbers_of(u, end);
    }
    sums.resize(std::max(sums.size(), tables.size()));
    memory.resize(std::max(memory.size(), 2 * total));
    for_isa<sum_up_loop>(isa_, Batch{tables, counts_.n_classes(), beta_, pseudo_counts_, memory.data(),
                                     memory.data() + total, sums.data()});
    for (std::size_t v = begin; v < end; ++v) {
      const PairSums& found = sums[v - begin];
      std::pair<double, double> gain{found.of_cells - found.of_u - scores_[v],
                                     found.of_cells - found.of_v - scores_[u]};
      if (found.observed != n_rows_) gain = gains_of_part(u, v, found.observed);
      gains[u * n + v] = gain.first;
      gains[v * n + u] = gain.second;
    }
  }
}

std::pair<double, double> AcllPairs::gains_of_part(std::size_t u, std::size_t v, double observed) const {
  if (!(observed > 0)) return {0.0, 0.0};
  const auto cells = counts_.pair(u, v);
  const std::size_t n_u = counts_.cardinalities()[u], n_v = counts_.cardinalities()[v], n_classes = counts_.n_classes();
  std::vector<double> of_u(n_u * n_classes, 0.0), of_v(n_v * n_classes, 0.0), turned(cells.size());
  for (std::size_t j = 0; j < n_u; ++j)
    for (std::size_t k = 0; k < n_v; ++k)
      for (std::size_t c = 0; c < n_classes; ++c) {
        const double count = cells[(j * n_v + k) * n_classes + c];
        of_u[j * n_classes + c] += count;
        of_v[k * n_classes + c] += count;
        turned[(k * n_u + j) * n_classes + c] = count;
      }
  const auto score = [&](std::span<const double> part, std::size_t values) {
    return acll_family_score(part, values, n_classes, beta_, pseudo_counts_);
  };
  const double scale = n_rows_ / observed;
  return {scale * (score(cells, n_v) - score(of_v, n_v)), scale * (score(turned, n_u) - score(of_u, n_u))};
}

}  // namespace tanager::internal

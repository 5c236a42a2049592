#include "tbmatan/tree_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "simd/for_isa.hpp"
#include "simd/vec.hpp"
#include "simd/vector_log.hpp"
#include "simd/with_constant.hpp"
#include "support/pairs.hpp"

namespace tanager::internal {
namespace {

/// Eight lanes as registers of the width that the instruction set has. Compilers are told, since they do not see it.
template <class V>
struct Lanes {
  static constexpr std::size_t kParts = kTreeLanes * sizeof(double) / sizeof(V);
  V part[kParts];

  // Register by register: all at once they would take the way over the stack.
  TANAGER_ALWAYS_INLINE void load(const double* from) {
    for (std::size_t i = 0; i < kParts; ++i) load_vector(from + i * kLanesOf<V>, part[i]);
  }
  TANAGER_ALWAYS_INLINE void store(double* to) const {
    for (std::size_t i = 0; i < kParts; ++i) store_vector(part[i], to + i * kLanesOf<V>);
  }
};

/// The product of the sums of all steps, its exponent taken out now and then.
struct Product {
  double mantissa[kTreeLanes], exponent[kTreeLanes];
};

TANAGER_ALWAYS_INLINE void take_exponents(Product& product) {
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  for (std::size_t lane = 0; lane < kTreeLanes; ++lane) {
    const auto bits = std::bit_cast<std::uint64_t>(product.mantissa[lane]);
    // The exponent's bits as a double: behind those of 2^52.
    product.exponent[lane] += std::bit_cast<double>((bits >> 52) | 0x4330000000000000U) - (4503599627370496.0 + 1023.0);
    product.mantissa[lane] = std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52));
  }
}

TANAGER_ALWAYS_INLINE void finish(Product& product, double* out) {
  take_exponents(product);
  for (std::size_t lane = 0; lane < kTreeLanes; ++lane)
    out[lane] = vector_log(product.mantissa[lane]) + product.exponent[lane] * std::numbers::ln2;
}

/// Eight tree sums; `w` is [slot][stride], of which eight lanes are looked at.
template <class V>
TANAGER_ALWAYS_INLINE void log_tree_sums(const TreePlan& plan, const SparseSchedule& schedule, double* w,
                                         std::size_t stride, double* out) {
  constexpr std::size_t kParts = Lanes<V>::kParts;
  Product product;
  std::fill_n(product.exponent, kTreeLanes, 0.0);
  Lanes<V> all, sum, share, weight, target;
  for (std::size_t i = 0; i < kParts; ++i) all.part[i] = V{} + 1.0;
  for (std::size_t slot = plan.edges.size(); slot < plan.n_slots; ++slot)
    std::fill_n(w + slot * stride, kTreeLanes, 0.0);
  const PlanNeighbor* neighbor = schedule.neighbors.data();
  const PlanRun* run = schedule.runs.data();
  const PlanUpdate* next = schedule.updates.data();
  for (const PlanStep& step : schedule.steps) {
    for (std::size_t i = 0; i < kParts; ++i) sum.part[i] = V{};
    for (const PlanNeighbor* end = neighbor + step.n_neighbors; neighbor != end; ++neighbor) {
      weight.load(w + neighbor->slot * stride);
      for (std::size_t i = 0; i < kParts; ++i) sum.part[i] += weight.part[i] * neighbor->scale;
    }
    for (std::size_t i = 0; i < kParts; ++i) all.part[i] *= sum.part[i];
    if (step.renormalize) {
      all.store(product.mantissa);
      take_exponents(product);
      all.load(product.mantissa);
    }
    if (step.n_runs == 0) continue;
    for (std::size_t i = 0; i < kParts; ++i) sum.part[i] = 1.0 / sum.part[i];
    for (const PlanRun* end = run + step.n_runs; run != end; ++run) {
      share.load(w + run->slot * stride);
      for (std::size_t i = 0; i < kParts; ++i) share.part[i] *= sum.part[i];
      for (const PlanUpdate* last = next + run->n_updates; next != last; ++next) {
        double* to = w + next->target * stride;
        weight.load(w + next->other * stride);
        target.load(to);
        for (std::size_t i = 0; i < kParts; ++i) target.part[i] += share.part[i] * weight.part[i] * next->factor;
        target.store(to);
      }
    }
  }
  all.store(product.mantissa);
  finish(product, out);
}

/// The same where all nodes are neighbors: no lists, and the factors from the exponents of scales.
template <class V>
TANAGER_ALWAYS_INLINE void log_tree_sums(const TreePlan& plan, const DenseSchedule& schedule, double* w,
                                         std::size_t stride, double* out) {
  constexpr std::size_t kParts = Lanes<V>::kParts;
  const std::size_t n = plan.n_features;
  const double* powers = schedule.negative_powers.data();
  const auto last = static_cast<std::int32_t>(schedule.negative_powers.size()) - 1;
  const auto power = [&](std::int32_t k) { return powers[k < last ? k : last]; };
  Product product;
  std::fill_n(product.exponent, kTreeLanes, 0.0);
  Lanes<V> all, sum, share, weight, target;
  for (std::size_t i = 0; i < kParts; ++i) all.part[i] = V{} + 1.0;
  for (std::size_t k = 0; k + 1 < n; ++k) {
    const std::int32_t* of_k = schedule.exponents.data() + k * n;
    const std::int32_t largest = schedule.largest[k];
    const double* row = w + pair_index(k, k + 1, n) * stride;
    for (std::size_t i = 0; i < kParts; ++i) sum.part[i] = V{};
    for (std::size_t j = k + 1; j < n; ++j) {
      weight.load(row + (j - k - 1) * stride);
      const double scale = power(largest - of_k[j]);
      for (std::size_t i = 0; i < kParts; ++i) sum.part[i] += weight.part[i] * scale;
    }
    for (std::size_t i = 0; i < kParts; ++i) all.part[i] *= sum.part[i];
    if (schedule.renormalizes[k]) {
      all.store(product.mantissa);
      take_exponents(product);
      all.load(product.mantissa);
    }
    for (std::size_t i = 0; i < kParts; ++i) sum.part[i] = 1.0 / sum.part[i];
    for (std::size_t a = k + 1; a + 1 < n; ++a) {
      share.load(row + (a - k - 1) * stride);
      for (std::size_t i = 0; i < kParts; ++i) share.part[i] *= sum.part[i];
      const std::int32_t* of_a = schedule.exponents.data() + a * n;
      const std::int32_t lack = largest - of_k[a];
      const double* from = row + (a - k) * stride;
      double* to = w + pair_index(a, a + 1, n) * stride;
      for (std::size_t b = a + 1; b < n; ++b, from += stride, to += stride) {
        const double factor = power(lack + of_a[b] - of_k[b]);
        weight.load(from);
        target.load(to);
        for (std::size_t i = 0; i < kParts; ++i) target.part[i] += share.part[i] * weight.part[i] * factor;
        target.store(to);
      }
    }
  }
  all.store(product.mantissa);
  finish(product, out);
}

/// The weights of edges for some rows: cells of `n_classes` numbers, one after the other.
template <std::size_t kClasses>
TANAGER_ALWAYS_INLINE void load(const TreePlan& plan, const std::uint16_t* columns, std::size_t stride,
                                std::size_t n_rows, std::span<const std::uint32_t> cardinalities, double* w,
                                std::size_t lanes, std::size_t row_lanes) {
  const std::size_t n_classes = kClasses == 0 ? plan.n_classes : kClasses;
  for (const PlanEdge& edge : plan.edges) {
    const std::uint16_t* u = columns + edge.u * stride;
    const std::uint16_t* v = columns + edge.v * stride;
    const std::size_t values = cardinalities[edge.v];
    const double* table = plan.tables.data() + edge.table;
    double* to = w + edge.slot * lanes;
    for (std::size_t i = 0; i < n_rows; ++i, to += row_lanes) {
      const double* cell = table + (u[i] * values + v[i]) * n_classes;
      if constexpr (kClasses > 0)
        std::memcpy(to, cell, kClasses * sizeof(double));
      else
        for (std::size_t c = 0; c < n_classes; ++c) to[c] = cell[c];
    }
  }
}

struct Job {
  const TreePlan& plan;
  const std::uint16_t* columns;
  std::size_t stride, n_rows;
  std::span<const std::uint32_t> cardinalities;
  double* weights;
  std::size_t lanes, row_lanes;
  double* logs;
};

template <class V>
TANAGER_ALWAYS_INLINE void run_loop(const Job& job) {
  with_constant<2, 3, 4, 5, 6, 7, 8>(job.plan.n_classes, [&](auto n_classes) TANAGER_ALWAYS_INLINE_LAMBDA {
    load<n_classes>(job.plan, job.columns, job.stride, job.n_rows, job.cardinalities, job.weights, job.lanes,
                    job.row_lanes);
  });
  // Vectors without a row or class in them are left out; lanes beside some hold what was there.
  const std::size_t used = job.n_rows * job.row_lanes;
  const auto* dense = std::get_if<DenseSchedule>(&job.plan.schedule);
  const auto* sparse = std::get_if<SparseSchedule>(&job.plan.schedule);
  for (std::size_t first = 0; first < used; first += kTreeLanes)
    if (dense != nullptr)
      log_tree_sums<V>(job.plan, *dense, job.weights + first, job.lanes, job.logs + first);
    else
      log_tree_sums<V>(job.plan, *sparse, job.weights + first, job.lanes, job.logs + first);
}

/// Above so many bytes, weights are kept few at a time.
constexpr std::size_t kCacheBytes = std::size_t{256} << 10;

}  // namespace

TreeLanes::TreeLanes(const TreePlan& plan) : plan_(plan), rows_(1), row_lanes_(plan.n_classes) {
  while (rows_ * row_lanes_ % kTreeLanes != 0) ++rows_;
  if (rows_ > 1 && plan.n_classes > kTreeLanes && plan.n_slots * rows_ * row_lanes_ * sizeof(double) > kCacheBytes) {
    rows_ = 1;  // one row, and some lanes for nothing
    row_lanes_ = (row_lanes_ + kTreeLanes - 1) / kTreeLanes * kTreeLanes;
  }
  lanes_ = rows_ * row_lanes_;
  weights_.assign(plan.n_slots * lanes_, 1.0);
  logs_.resize(lanes_);
}

void TreeLanes::add_log_sums(const std::uint16_t* columns, std::size_t stride, std::size_t n_rows,
                             std::span<const std::uint32_t> cardinalities, double less, double* out, Isa isa) {
  const Job job{plan_, columns, stride, n_rows, cardinalities, weights_.data(), lanes_, row_lanes_, logs_.data()};
  // An elimination leaves its traces where there is no edge.
  if (plan_.is_dense() && plan_.edges.size() < plan_.n_slots) std::fill(weights_.begin(), weights_.end(), 0.0);
  with_isa(isa, [&]<Isa kIsa>() { compiled_for<kIsa, run_loop<VectorOf<kIsa>>>(job); });
  const std::size_t n_classes = plan_.n_classes;
  for (std::size_t i = 0; i < n_rows; ++i)
    for (std::size_t c = 0; c < n_classes; ++c) out[i * n_classes + c] += logs_[i * row_lanes_ + c] - less;
}

}  // namespace tanager::internal

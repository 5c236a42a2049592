#include "averaging/tree_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "support/vector_log.hpp"

namespace tanager {
namespace {

constexpr double kLn2 = 0.693147180559945309417;

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

TANAGER_ALWAYS_INLINE void multiply(Product& product, const double* sum) {
  for (std::size_t lane = 0; lane < kTreeLanes; ++lane) product.mantissa[lane] *= sum[lane];
}

TANAGER_ALWAYS_INLINE void add_scaled(double* sum, const double* weight, double scale) {
  for (std::size_t lane = 0; lane < kTreeLanes; ++lane) sum[lane] += weight[lane] * scale;
}

TANAGER_ALWAYS_INLINE void divide(const double* weight, const double* sum, double* share) {
  for (std::size_t lane = 0; lane < kTreeLanes; ++lane) share[lane] = weight[lane] * sum[lane];
}

TANAGER_ALWAYS_INLINE void update(double* target, const double* share, const double* weight, double factor) {
  for (std::size_t lane = 0; lane < kTreeLanes; ++lane) target[lane] += share[lane] * weight[lane] * factor;
}

TANAGER_ALWAYS_INLINE void finish(Product& product, double log_scale, double* out) {
  take_exponents(product);
  for (std::size_t lane = 0; lane < kTreeLanes; ++lane)
    out[lane] = vector_log(product.mantissa[lane]) + (product.exponent[lane] * kLn2 + log_scale);
}

TANAGER_ALWAYS_INLINE void log_tree_sums_body(const TreePlan& plan, double* w, double* shares, double* out) {
  Product product;
  std::fill_n(product.mantissa, kTreeLanes, 1.0);
  std::fill_n(product.exponent, kTreeLanes, 0.0);
  std::fill(w + plan.edges.size() * kTreeLanes, w + plan.n_slots * kTreeLanes, 0.0);
  for (const PlanStep& step : plan.steps) {
    const PlanNeighbor* neighbors = plan.neighbors.data() + step.first_neighbor;
    double sum[kTreeLanes] = {};
    for (std::size_t l = 0; l < step.n_neighbors; ++l)
      add_scaled(sum, w + neighbors[l].slot * kTreeLanes, neighbors[l].scale);
    multiply(product, sum);
    if (step.renormalize) take_exponents(product);
    if (step.n_updates == 0) continue;
    for (std::size_t lane = 0; lane < kTreeLanes; ++lane) sum[lane] = 1.0 / sum[lane];
    for (std::size_t l = 0; l < step.n_shares; ++l)
      divide(w + neighbors[l].slot * kTreeLanes, sum, shares + l * kTreeLanes);
    const PlanUpdate* updates = plan.updates.data() + step.first_update;
    for (std::size_t i = 0; i < step.n_updates; ++i)
      update(w + updates[i].target * kTreeLanes, shares + updates[i].a * kTreeLanes, w + updates[i].b * kTreeLanes,
             updates[i].factor);
  }
  finish(product, plan.log_scale, out);
}

#if TANAGER_X86_DISPATCH
TANAGER_TARGET_AVX2 void log_tree_sums_avx2(const TreePlan& plan, double* w, double* shares, double* out) {
  log_tree_sums_body(plan, w, shares, out);
}
TANAGER_TARGET_AVX512 void log_tree_sums_avx512(const TreePlan& plan, double* w, double* shares, double* out) {
  log_tree_sums_body(plan, w, shares, out);
}
#endif

}  // namespace

TreeWorkspace::TreeWorkspace(const TreePlan& plan)
    : weights_(plan.n_slots * kTreeLanes), shares_(plan.n_features * kTreeLanes) {}

void log_tree_sums(const TreePlan& plan, TreeWorkspace& work, double* out, Isa isa) {
#if TANAGER_X86_DISPATCH
  if (isa == Isa::kAvx512) return log_tree_sums_avx512(plan, work.weights(), work.shares(), out);
  if (isa == Isa::kAvx2) return log_tree_sums_avx2(plan, work.weights(), work.shares(), out);
#endif
  static_cast<void>(isa);
  log_tree_sums_body(plan, work.weights(), work.shares(), out);
}

}  // namespace tanager

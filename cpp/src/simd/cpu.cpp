#include "simd/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tanager::internal {
namespace {

Isa allowed_isa() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe as long as nobody sets variables meanwhile, and read only once
  const char* value = std::getenv("TANAGER_ISA");
  if (value == nullptr) return Isa::kAvx512;
  const std::string_view name(value);
  if (name == "baseline") return Isa::kBaseline;
  if (name == "avx2") return Isa::kAvx2;
  return Isa::kAvx512;
}

}  // namespace

Isa supported_isa() {
#if TANAGER_X86_DISPATCH
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi2"))
    return Isa::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
    return Isa::kAvx2;
#endif
  return Isa::kBaseline;
}

Isa best_isa() {
  static const Isa isa = std::min(supported_isa(), allowed_isa());
  return isa;
}

bool has_fast_pext() {
#if TANAGER_X86_DISPATCH
  static const bool fast =
      __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam15h") && !__builtin_cpu_is("amdfam17h");
  return fast;
#else
  return false;
#endif
}

}  // namespace tanager::internal

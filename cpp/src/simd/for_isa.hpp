// One source per loop, compiled once per instruction set. A loop is a function marked TANAGER_ALWAYS_INLINE, as is all
// that it calls: it takes on the instruction set of the function that it is inlined into.
#pragma once

#include "simd/cpu.hpp"

namespace tanager::internal {

template <auto kLoop>
struct Compiled;

template <class Result, class... Args, Result (*kLoop)(Args...)>
struct Compiled<kLoop> {
  // Not inlined, as the others cannot be: two loops in one function run out of registers.
  TANAGER_NOINLINE static Result baseline(Args... args) { return kLoop(args...); }
#if TANAGER_X86_DISPATCH
  TANAGER_TARGET_AVX2 static Result avx2(Args... args) { return kLoop(args...); }
  TANAGER_TARGET_AVX512 static Result avx512(Args... args) { return kLoop(args...); }
#endif
};

/// Calls a loop compiled for a level that the CPU must have.
template <Isa kIsa, auto kLoop, class... Args>
decltype(auto) compiled_for(Args&&... args) {
#if TANAGER_X86_DISPATCH
  if constexpr (kIsa == Isa::kAvx512) return Compiled<kLoop>::avx512(args...);
  if constexpr (kIsa == Isa::kAvx2) return Compiled<kLoop>::avx2(args...);
#endif
  if constexpr (kIsa == Isa::kBaseline) return Compiled<kLoop>::baseline(args...);
}

/// Calls use.operator()<level>() with a level known to the compiler: `isa`, or kMost where that is lower.
template <Isa kMost = Isa::kAvx512, class Use>
decltype(auto) with_isa(Isa isa, Use use) {
#if TANAGER_X86_DISPATCH
  if constexpr (kMost >= Isa::kAvx512) {
    if (isa >= Isa::kAvx512) return use.template operator()<Isa::kAvx512>();
  }
  if (isa >= Isa::kAvx2) return use.template operator()<Isa::kAvx2>();
#endif
  static_cast<void>(isa);
  return use.template operator()<Isa::kBaseline>();
}

/// Calls a loop compiled for the level.
template <auto kLoop, class... Args>
decltype(auto) for_isa(Isa isa, Args&&... args) {
  return with_isa(isa, [&]<Isa kIsa>() -> decltype(auto) { return compiled_for<kIsa, kLoop>(args...); });
}

}  // namespace tanager::internal

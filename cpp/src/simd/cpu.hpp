// Which instruction set the hot loops may use. Wheels are built for the baseline CPU; the few loops that profit are
// compiled once per level (see for_isa.hpp) and chosen by this, once per call.
#pragma once

namespace tanager::internal {

enum class Isa { kBaseline = 0, kAvx2 = 1, kAvx512 = 2 };

/// The best level this CPU and operating system offer, at most what the environment variable TANAGER_ISA
/// (baseline, avx2, avx512) allows. kAvx2 implies BMI2 and POPCNT; kAvx512 implies F, BW, VL, DQ and VPOPCNTDQ.
Isa best_isa();

/// The best level of the CPU itself, whatever the environment says: what tests may try.
Isa supported_isa();

/// Whether pext is a real instruction here, not microcode (AMD before Zen 3).
bool has_fast_pext();

}  // namespace tanager::internal

#if defined(__x86_64__) && defined(__GNUC__)
#define TANAGER_X86_DISPATCH 1
#define TANAGER_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
#define TANAGER_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,avx2,bmi,bmi2,popcnt,lzcnt")))
#define TANAGER_ALWAYS_INLINE __attribute__((always_inline)) inline
#define TANAGER_ALWAYS_INLINE_LAMBDA __attribute__((always_inline))
#define TANAGER_NOINLINE __attribute__((noinline))
#else
#define TANAGER_X86_DISPATCH 0
#define TANAGER_ALWAYS_INLINE inline
#define TANAGER_ALWAYS_INLINE_LAMBDA
#define TANAGER_NOINLINE
#endif

// What a thread does between two looks at something that another one is about to change.
#pragma once

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace tanager::internal {

/// Lets the core do something else for a moment: a thread beside this one, or nothing.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  __asm__ __volatile__("yield");
#endif
}

}  // namespace tanager::internal

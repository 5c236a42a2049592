// Numbers too small for full precision count as zero while this lives: they cost a hundred times the time of others.
// Only for loops in which they cannot matter. The caller's mode is always restored.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tanager::internal {

class FlushSubnormals {
 public:
#if defined(__SSE2__)
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }  // flush to zero, zero in place of them
  ~FlushSubnormals() { _mm_setcsr(before_); }
#else
  FlushSubnormals() {}
  ~FlushSubnormals() {}
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

#if defined(__SSE2__)
 private:
  unsigned before_;
#endif
};

}  // namespace tanager::internal

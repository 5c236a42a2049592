// Bytes of text eight at a time.
#pragma once

#include <cstdint>
#include <cstring>

namespace tanager::internal {

/// The next eight bytes, wherever they begin.
inline std::uint64_t load8(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

}  // namespace tanager::internal

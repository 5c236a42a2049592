// Bytes of text eight at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tanager::internal {

/// The next eight bytes, wherever they begin.
inline std::uint64_t load8(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

/// A word, loaded from memory in the byte order given, with all but the first `size` bytes zero; from 8 on, all of it.
template <std::endian kOrder>
constexpr std::uint64_t first_bytes(std::uint64_t word, std::size_t size) {
  static_assert(kOrder == std::endian::little || kOrder == std::endian::big);
  if (size >= sizeof(word)) return word;
  const std::uint64_t behind = ~std::uint64_t{0};
  // The first byte in memory is the lowest of a little-endian word, and the highest of a big-endian one.
  return kOrder == std::endian::little ? word & ~(behind << 8 * size) : word & ~(behind >> 8 * size);
}

}  // namespace tanager::internal

// CRC-64 eight bytes at a time ("slicing by 8"): table k advances a byte through k further zero bytes, so that the
// eight bytes of a word are looked up independently and their results simply added (M. Kounavis and F. Berry, "Novel
// Table Lookup-Based Algorithms for High-Performance CRC Generation", 2008).
#include "model_file/checksum.hpp"

#include <array>

#include "model_file/bytes.hpp"

namespace tanager::internal {
namespace {

constexpr std::uint64_t kPolynomial = 0xC96C5795D7870F42;  // ECMA-182, bits reversed
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint64_t, 256>, kSlices>;

consteval Tables make_tables() {
  Tables tables{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t crc = tables[slice - 1][byte];
      tables[slice][byte] = (crc >> 8) ^ tables[0][crc & 0xFF];
    }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before) {
  std::uint64_t crc = ~before;
  while (bytes.size() >= kSlices) {
    crc ^= load_little<std::uint64_t>(bytes.data());
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < kSlices; ++i) next ^= kTables[kSlices - 1 - i][(crc >> (8 * i)) & 0xFF];
    crc = next;
    bytes = bytes.subspan(kSlices);
  }
  for (const std::byte byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint64_t>(byte)) & 0xFF];
  return ~crc;
}

}  // namespace tanager::internal

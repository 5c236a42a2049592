#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tanager::internal {

/// CRC-64/XZ (the ECMA-182 polynomial, reflected) of some bytes: finds every single wrong bit and every burst of up to
/// 64 bits. Pass the checksum of what came before to go on from there.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before = 0);

}  // namespace tanager::internal

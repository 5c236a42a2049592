// Little-endian numbers in and out of byte buffers, on any host. The reader trusts nothing: every length is compared
// with the bytes that remain before anything is allocated for it.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/saturating.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {

template <std::unsigned_integral T>
T load_little(const std::byte* bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(bytes[i]) << (8 * i));
  return value;
}

template <std::unsigned_integral T>
void store_little(T value, std::byte* bytes) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<std::byte>((value >> (8 * i)) & 0xFF);
}

/// Appends to a growing buffer.
class ByteWriter {
 public:
  void reserve(std::size_t size) { bytes_.reserve(size); }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

  template <std::unsigned_integral T>
  void number(T value) {
    std::byte raw[sizeof(T)];
    store_little(value, raw);
    bytes_.insert(bytes_.end(), raw, raw + sizeof(T));
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void reals(std::span<const double> values) {
    if constexpr (std::endian::native == std::endian::little)
      raw(std::as_bytes(values));
    else
      for (const double value : values) real(value);
  }
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// A number that must fit 32 bits.
  void count(std::size_t value) {
    if (value > std::numeric_limits<std::uint32_t>::max())
      throw ModelFileError(ModelFileProblem::kOther,
                           "a model file cannot hold " + std::to_string(value) + " items or bytes in one place");
    number(static_cast<std::uint32_t>(value));
  }
  void text(std::string_view value) {
    count(value.size());
    raw(std::as_bytes(std::span(value)));
  }
  /// Writes a number over eight bytes written earlier.
  void patch(std::size_t offset, std::uint64_t value) { store_little(value, bytes_.data() + offset); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads from a buffer; `name` says in messages what is being read.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view name) : rest_(bytes), name_(name) {}

  std::size_t remaining() const { return rest_.size(); }

  std::span<const std::byte> raw(std::uint64_t size) {
    if (size > rest_.size())
      fail("needs " + std::to_string(size) + " more bytes, but only " + std::to_string(rest_.size()) + " remain");
    const auto part = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(part.size());
    return part;
  }
  template <std::unsigned_integral T>
  T number() {
    return load_little<T>(raw(sizeof(T)).data());
  }
  double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  void reals(std::span<double> out) {
    const auto from = raw(saturating_multiply(out.size(), sizeof(double)));
    if constexpr (std::endian::native == std::endian::little) {
      if (!out.empty()) std::memcpy(out.data(), from.data(), from.size());
    } else {
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = std::bit_cast<double>(load_little<std::uint64_t>(from.data() + i * sizeof(double)));
    }
  }
  /// So many doubles as a vector, allocated only once the bytes are known to be there.
  std::vector<double> reals(std::uint64_t count) {
    need(count, sizeof(double));
    std::vector<double> values(static_cast<std::size_t>(count));
    reals(std::span(values));
    return values;
  }
  /// A number of items that follow, each of at least `least_size` bytes.
  std::uint32_t count(std::size_t least_size) {
    const auto value = number<std::uint32_t>();
    need(value, least_size);
    return value;
  }
  std::string text() {
    const auto bytes = raw(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Fails unless `count` items of at least `least_size` bytes can still follow.
  void need(std::uint64_t count, std::size_t least_size) const {
    if (count > rest_.size() / least_size)
      fail("announces " + std::to_string(count) + " items, but only " + std::to_string(rest_.size()) + " bytes remain");
  }
  void finish() const {
    if (!rest_.empty()) fail("has " + std::to_string(rest_.size()) + " bytes too many");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw ModelFileError(ModelFileProblem::kDamaged, "its section of " + std::string(name_) + " " + what);
  }

 private:
  std::span<const std::byte> rest_;
  std::string_view name_;
};

}  // namespace tanager::internal

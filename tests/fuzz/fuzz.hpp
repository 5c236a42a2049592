// What fuzz targets share: reading decisions from the fuzzer's bytes, and failing in a way that it notices.
//
// A target is one file, fuzz_NAME.cpp, which defines LLVMFuzzerTestOneInput and the two constants below. With
// TANAGER_BUILD_FUZZERS it is linked with libFuzzer; otherwise with replay.cpp, as a short test with fixed seeds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// A target may define its own way to change an input, and call libFuzzer's on a part of it; both return the new size.
#if defined(__GNUC__)
__attribute__((weak))
#endif
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
}

namespace fuzz {

/// Defined by each target: how many random inputs the short test runs (about one second), and how long they may be.
extern const int kShortRuns;
extern const std::size_t kMaxLength;

/// Turns bytes into decisions. Beyond the last byte everything is zero, so choose ranges whose low end is harmless.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  bool empty() const { return at_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

  /// An integer from low to high, both included; takes as few bytes as the range needs.
  std::uint64_t number(std::uint64_t low, std::uint64_t high) {
    const std::uint64_t range = high - low;
    std::uint64_t value = 0;
    for (std::uint64_t left = range; left > 0; left >>= 8) value = value << 8 | byte();
    return range == UINT64_MAX ? value : low + value % (range + 1);
  }

  std::size_t size(std::size_t low, std::size_t high) { return static_cast<std::size_t>(number(low, high)); }

  bool flag() { return (byte() & 1) != 0; }

  /// From 0 to 1, both included.
  double unit() { return static_cast<double>(number(0, 0xFFFF)) / 0xFFFF; }

  template <class T>
  T choose(std::initializer_list<T> options) {
    return *std::next(options.begin(), static_cast<std::ptrdiff_t>(number(0, options.size() - 1)));
  }

  /// A size from 1 to most, often one where kernels change their ways: around a byte, a word, a block, 16 bits.
  std::size_t edge_size(std::size_t most) {
    static constexpr std::array<std::size_t, 24> kEdges = {1,  2,  3,  4,  7,   8,   9,   15,  16,  17,   31,    32,
                                                           33, 63, 64, 65, 127, 254, 255, 256, 257, 4096, 65534, 65535};
    const std::size_t way = number(0, 3);
    if (way == 0) return size(1, std::min<std::size_t>(most, 5));
    if (way == 1) return size(1, most);
    return std::min(kEdges[size(0, kEdges.size() - 1)], most);
  }

  /// For data too large to be spelled out byte by byte.
  std::mt19937_64 random() { return std::mt19937_64(number(0, UINT64_MAX)); }

  std::string text(std::size_t longest) {
    const std::size_t wanted = size(0, longest);  // which takes bytes itself
    std::string result(std::min(wanted, remaining()), '\0');
    std::copy_n(at_, result.size(), result.begin());
    at_ += result.size();
    return result;
  }

 private:
  std::uint8_t byte() { return at_ == end_ ? std::uint8_t{0} : *at_++; }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// Ends the process: the fuzzer keeps the input, and so does replay.cpp.
[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "FAILED: %s\n", message.c_str());
  std::abort();
}

inline void require(bool condition, const std::string& message) {
  if (!condition) fail(message);
}

/// Equal to the last bit; NaN equals NaN.
template <class A, class B>
void require_same(const A& got, const B& expected, const std::string& what) {
  if (got == expected || (got != got && expected != expected)) return;
  std::ostringstream message;
  message.precision(17);
  message << what << ": expected " << expected << ", got " << got;
  fail(message.str());
}

/// Equal but for a relative error, or an absolute one below one.
inline void require_near(double got, double expected, double tolerance, const std::string& what) {
  if (got == expected || std::abs(got - expected) <= tolerance * std::max(1.0, std::abs(expected))) return;
  std::ostringstream message;
  message.precision(17);
  message << what << ": expected " << expected << " within " << tolerance << ", got " << got;
  fail(message.str());
}

}  // namespace fuzz

// The bin of every number: how many cuts are below it. No branch depends on the data. Cuts are searched by halving,
// eight numbers side by side so that their loads overlap; with AVX2, comparing numbers with all cuts is faster up to a
// few dozen.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "simd/cpu.hpp"
#include "support/check_stop.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kLanes = 8;

/// `values` and `out` hold a multiple of kLanes numbers.
template <class T>
void code_by_halving(const double* values, std::size_t size, std::span<const double> cuts, T* out) {
  constexpr T kMissingCode = static_cast<T>(~T{0});
  for (std::size_t i = 0; i < size; i += kLanes) {
    // Invariant: all cuts in front of start[lane] are below the value, and the answer is at most `length` further on.
    std::size_t start[kLanes] = {};
    std::size_t length = cuts.size();
    while (length > 0) {
      const std::size_t half = (length + 1) / 2;
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        start[lane] += cuts[start[lane] + half - 1] < values[i + lane] ? half : 0;
      length -= half;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      out[i + lane] = value == value ? static_cast<T>(start[lane]) : kMissingCode;
    }
  }
}

#if TANAGER_X86_DISPATCH
/// Up to this many cuts comparing with all of them beats halving: measured on AVX2, where four numbers compare at once.
constexpr std::size_t kFewCuts = 48;
constexpr std::size_t kStrip = 64;

/// `values` and `out` hold a multiple of kStrip numbers.
template <class T>
TANAGER_TARGET_AVX2 void code_by_comparing(const double* values, std::size_t size, std::span<const double> cuts,
                                           T* out) {
  for (std::size_t i = 0; i < size; i += kStrip) {
    // A missing number starts at -1, which is the missing code of either width, and is above no cut.
    std::int64_t below[kStrip];
    for (std::size_t j = 0; j < kStrip; ++j) below[j] = values[i + j] == values[i + j] ? 0 : -1;
    for (const double cut : cuts)
      for (std::size_t j = 0; j < kStrip; ++j) below[j] += cut < values[i + j] ? 1 : 0;
    for (std::size_t j = 0; j < kStrip; ++j) out[i + j] = static_cast<T>(below[j]);
  }
}
#endif

/// Codes one block; beyond `size` it may read and write up to kBlock numbers.
template <class T>
void code_block(const double* values, std::size_t size, std::span<const double> cuts, T* out) {
#if TANAGER_X86_DISPATCH
  if (cuts.size() <= kFewCuts && best_isa() >= Isa::kAvx2) {
    code_by_comparing(values, (size + kStrip - 1) / kStrip * kStrip, cuts, out);
    return;
  }
#endif
  code_by_halving(values, (size + kLanes - 1) / kLanes * kLanes, cuts, out);
}

template <class T>
void apply(const NumberColumn& x, std::span<const double> cuts, std::span<T> out, std::size_t max_cuts) {
  check_cuts(cuts);
  if (cuts.size() > max_cuts)
    throw InvalidInput(std::to_string(8 * sizeof(T)) + "-bit codes have room for " + std::to_string(max_cuts) +
                       " cut points, but there are " + std::to_string(cuts.size()));
  if (out.size() != x.size())
    throw InvalidInput("expected room for " + std::to_string(x.size()) + " codes, one per number, got " +
                       std::to_string(out.size()));
  std::array<double, kBlock> values{};
  std::array<T, kBlock> codes;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    check_stop();
    const std::size_t size = std::min(kBlock, x.size() - begin);
    x.read(begin, std::span(values).first(size));
    if (size == kBlock) {
      code_block(values.data(), kBlock, cuts, out.data() + begin);
    } else {
      code_block(values.data(), size, cuts, codes.data());
      std::copy_n(codes.begin(), size, out.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }
}

}  // namespace

void apply_cuts(const NumberColumn& x, std::span<const double> cuts, std::span<std::uint8_t> out) {
  apply(x, cuts, out, kMaxNarrowValues - 1);
}

void apply_cuts(const NumberColumn& x, std::span<const double> cuts, std::span<std::uint16_t> out) {
  apply(x, cuts, out, kMaxCuts);
}

}  // namespace tanager

// The bin of every number: how many cuts are below it. No branch depends on the data. A few cuts are all compared with
// every number, in registers; more are searched by halving, eight numbers side by side so that their loads overlap.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/cpu.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

namespace tanager {
namespace {

constexpr std::size_t kLanes = 8;
/// With more cuts than this, halving is faster than comparing with all.
constexpr std::size_t kFewCuts = 12;
constexpr std::size_t kBlock = 1024;

template <class T>
TANAGER_ALWAYS_INLINE T code_or_missing(double value, std::int64_t code) {
  constexpr T kMissingCode = static_cast<T>(~T{0});
  return value == value ? static_cast<T>(code) : kMissingCode;
}

template <class T>
TANAGER_ALWAYS_INLINE void compare_with_all(const double* values, std::span<const double> cuts, T* out) {
  std::int64_t below[kLanes] = {};
  for (const double cut : cuts)
    for (std::size_t lane = 0; lane < kLanes; ++lane) below[lane] += cut < values[lane] ? 1 : 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) out[lane] = code_or_missing<T>(values[lane], below[lane]);
}

template <class T>
TANAGER_ALWAYS_INLINE void halve(const double* values, std::span<const double> cuts, T* out) {
  // Invariant: all cuts in front of start[lane] are below the value, and the answer is at most `length` further on.
  std::size_t start[kLanes] = {};
  std::size_t length = cuts.size();
  while (length > 0) {
    const std::size_t half = (length + 1) / 2;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      start[lane] += cuts[start[lane] + half - 1] < values[lane] ? half : 0;
    length -= half;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    out[lane] = code_or_missing<T>(values[lane], static_cast<std::int64_t>(start[lane]));
}

/// `values` and `out` hold a multiple of kLanes numbers.
template <class T>
TANAGER_ALWAYS_INLINE void code_block(const double* values, std::size_t size, std::span<const double> cuts, T* out) {
  if (cuts.size() <= kFewCuts)
    for (std::size_t i = 0; i < size; i += kLanes) compare_with_all(values + i, cuts, out + i);
  else
    for (std::size_t i = 0; i < size; i += kLanes) halve(values + i, cuts, out + i);
}

template <class T>
using CodeBlock = void (*)(const double*, std::size_t, std::span<const double>, T*);

template <class T>
void code_block_baseline(const double* values, std::size_t size, std::span<const double> cuts, T* out) {
  code_block(values, size, cuts, out);
}

#if TANAGER_X86_DISPATCH
template <class T>
TANAGER_TARGET_AVX2 void code_block_avx2(const double* values, std::size_t size, std::span<const double> cuts, T* out) {
  code_block(values, size, cuts, out);
}
#endif

template <class T>
CodeBlock<T> best_code_block() {
#if TANAGER_X86_DISPATCH
  if (best_isa() >= Isa::kAvx2) return code_block_avx2<T>;
#endif
  return code_block_baseline<T>;
}

template <class T>
void apply(const NumberColumn& x, std::span<const double> cuts, std::span<T> out, std::size_t max_cuts) {
  check_cuts(cuts);
  if (cuts.size() > max_cuts)
    throw InvalidInput(std::to_string(8 * sizeof(T)) + "-bit codes have room for " + std::to_string(max_cuts) +
                       " cut points, but there are " + std::to_string(cuts.size()));
  if (out.size() != x.size())
    throw InvalidInput("expected room for " + std::to_string(x.size()) + " codes, one per number, but got " +
                       std::to_string(out.size()));
  const CodeBlock<T> code = best_code_block<T>();
  std::array<double, kBlock> values{};
  std::array<T, kBlock> codes;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, x.size() - begin);
    x.read(begin, std::span(values).first(size));
    if (size == kBlock) {
      code(values.data(), kBlock, cuts, out.data() + begin);
    } else {
      code(values.data(), (size + kLanes - 1) / kLanes * kLanes, cuts, codes.data());
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

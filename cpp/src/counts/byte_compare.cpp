// Code and class are joined in one byte, class << bits | code: a missing code (all ones) stays all ones, whatever the
// class, and equals no key. For every key the result of the comparison (-1 or 0 in each lane) is subtracted from a
// vector of 8-bit counters, which are emptied after at most 255 steps. About half an instruction per code and 16 keys:
// faster than memory delivers the codes while keys are few.
#include "counts/byte_compare.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simd/for_isa.hpp"
#include "simd/with_constant.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kLane = 32;            // codes per step, also where the machine's vectors are shorter
constexpr std::size_t kChunk = 255 * kLane;  // rows until the counters must be emptied
constexpr std::size_t kRun = 8 * kChunk;     // rows of one feature after the other: long enough for memory to keep up
constexpr std::size_t kKeysAtOnce = 8;       // as many counters as stay in registers
constexpr std::uint8_t kNoKey = 0xFF;
constexpr std::size_t kAhead = 2048;  // bytes that are asked for before they are needed

/// How a feature's codes and the class are joined.
struct Join {
  int bits = 0;
  std::size_t n_counted = 0;  // values with keys of their own; the last value's counts follow if no cell is missing
};

Join join_of(const Column& feature) {
  const std::uint32_t codes = feature.n_values() + (feature.has_missing() ? 1 : 0);
  const std::size_t counted =
      feature.has_missing() || feature.n_values() == 0 ? feature.n_values() : feature.n_values() - 1;
  return {codes <= 1 ? 0 : static_cast<int>(std::bit_width(codes - 1)), counted};
}

#if defined(__GNUC__)

template <std::size_t kBytes>
struct Bytes;
template <>
struct Bytes<16> {
  typedef std::uint8_t Vector __attribute__((vector_size(16)));
  typedef std::uint64_t Words __attribute__((vector_size(16)));
};
template <>
struct Bytes<32> {
  typedef std::uint8_t Vector __attribute__((vector_size(32)));
  typedef std::uint64_t Words __attribute__((vector_size(32)));
};

/// counts[k] += number of i with (codes[i] | classes[i]) == keys[k]
template <std::size_t kBytes, std::size_t kKeys>
TANAGER_ALWAYS_INLINE void count_keys(const std::uint8_t* codes, const std::uint8_t* classes, std::size_t steps,
                                      const std::uint8_t* keys, std::uint64_t* counts) {
  using Vector = typename Bytes<kBytes>::Vector;
  Vector key[kKeys];
  Vector hits[kKeys];
  for (std::size_t k = 0; k < kKeys; ++k) {
    key[k] = Vector{} + keys[k];
    hits[k] = Vector{};
  }
  for (std::size_t i = 0; i < steps; ++i) {
    Vector code;
    Vector klass;
    __builtin_prefetch(codes + i * kBytes + kAhead);
    std::memcpy(&code, codes + i * kBytes, kBytes);
    std::memcpy(&klass, classes + i * kBytes, kBytes);
    const Vector joined = code | klass;
    for (std::size_t k = 0; k < kKeys; ++k) hits[k] -= reinterpret_cast<Vector>(joined == key[k]);
  }
  for (std::size_t k = 0; k < kKeys; ++k) {
    // Neighbors are added in ever wider lanes.
    using Words = typename Bytes<kBytes>::Words;
    auto sums = reinterpret_cast<Words>(hits[k]);
    sums = (sums & 0x00FF00FF00FF00FF) + ((sums >> 8) & 0x00FF00FF00FF00FF);
    sums += sums >> 16;
    sums = (sums & 0xFFFF) + ((sums >> 32) & 0xFFFF);
    for (std::size_t i = 0; i < kBytes / sizeof(std::uint64_t); ++i) counts[k] += sums[i];
  }
}

template <std::size_t kBytes>
TANAGER_ALWAYS_INLINE void count_lanes(const std::uint8_t* codes, const std::uint8_t* classes, std::size_t lanes,
                                       const std::uint8_t* keys, std::size_t n_keys, std::uint64_t* counts) {
  with_constant<1, 2, 3, 4, 5, 6, 7, 8>(n_keys, [&](auto n) TANAGER_ALWAYS_INLINE_LAMBDA {
    // In two parts where 16-byte vectors take twice the steps, since the counters hold 255.
    if constexpr (n > 0)
      for (std::size_t first = 0; first < kLane; first += kBytes)
        count_keys<kBytes, n>(codes + first * lanes, classes + first * lanes, lanes, keys, counts);
  });
}

#else

template <std::size_t kBytes>
void count_lanes(const std::uint8_t* codes, const std::uint8_t* classes, std::size_t lanes, const std::uint8_t* keys,
                 std::size_t n_keys, std::uint64_t* counts) {
  std::array<std::uint32_t, 256> hits{};
  for (std::size_t i = 0; i < lanes * kLane; ++i) ++hits[codes[i] | classes[i]];
  for (std::size_t k = 0; k < n_keys; ++k) counts[k] += hits[keys[k]];
}

#endif

/// counts[k] += number of rows with keys[k] in `lanes` whole lanes, at most 255; n_keys is at most kKeysAtOnce.
void count_some_keys(const std::uint8_t* codes, const std::uint8_t* classes, std::size_t lanes,
                     const std::uint8_t* keys, std::size_t n_keys, std::uint64_t* counts, Isa isa) {
  with_isa<Isa::kAvx2>(isa, [&]<Isa kIsa>() {
    compiled_for<kIsa, count_lanes<kIsa == Isa::kAvx2 ? 32 : 16>>(codes, classes, lanes, keys, n_keys, counts);
  });
}

/// Counts one chunk of rows for all keys. The rows after the last whole lane go through a padded copy.
void count_chunk(const std::uint8_t* codes, const std::uint8_t* classes, std::size_t n,
                 std::span<const std::uint8_t> keys, std::uint64_t* counts, Isa isa) {
  const std::size_t lanes = n / kLane;
  const std::size_t rest = n % kLane;
  std::array<std::uint8_t, kLane> last_codes;
  std::array<std::uint8_t, kLane> last_classes{};
  last_codes.fill(kNoKey);
  std::copy_n(codes + lanes * kLane, rest, last_codes.begin());
  std::copy_n(classes + lanes * kLane, rest, last_classes.begin());
  for (std::size_t k = 0; k < keys.size(); k += kKeysAtOnce) {
    const std::size_t some = std::min(kKeysAtOnce, keys.size() - k);
    count_some_keys(codes, classes, lanes, keys.data() + k, some, counts + k, isa);
    if (rest > 0) count_some_keys(last_codes.data(), last_classes.data(), 1, keys.data() + k, some, counts + k, isa);
  }
}

struct Counted {
  Join join;
  std::vector<std::uint8_t> keys;  // [value][class]
  std::vector<std::uint64_t> counts;
};

Counted prepare(const Column& feature, std::uint32_t n_classes) {
  Counted counted{join_of(feature), {}, {}};
  for (std::size_t value = 0; value < counted.join.n_counted; ++value)
    for (std::uint32_t c = 0; c < n_classes; ++c)
      counted.keys.push_back(static_cast<std::uint8_t>((c << counted.join.bits) | value));
  counted.counts.assign(counted.keys.size(), 0);
  return counted;
}

/// The classes of a chunk, moved above the bits of the codes.
void shift_classes(const std::uint8_t* classes, std::size_t n, int bits, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(classes[i] << bits);
}

void deliver(const Counted& counted, std::uint32_t n_values, std::span<const double> class_counts,
             std::span<double> table) {
  const std::size_t n_classes = class_counts.size();
  std::vector<double> rest(class_counts.begin(), class_counts.end());
  for (std::size_t i = 0; i < counted.counts.size(); ++i) {
    const auto count = static_cast<double>(counted.counts[i]);
    table[i] += count;
    rest[i % n_classes] -= count;
  }
  if (counted.join.n_counted < n_values)
    for (std::size_t c = 0; c < n_classes; ++c) table[counted.counts.size() + c] += rest[c];
}

}  // namespace

bool fits_byte_compare(const Column& feature, const Column& target) {
  if (feature.is_wide() || target.is_wide() || feature.n_values() == 0 || target.n_values() == 0) return false;
  const Join join = join_of(feature);
  return join.bits < 8 && ((target.n_values() - 1) << join.bits) + feature.n_values() - 1 < kNoKey;
}

std::size_t byte_comparisons(const Column& feature, std::uint32_t n_classes) {
  return join_of(feature).n_counted * n_classes;
}

void count_by_comparing(const Dataset& data, std::span<const std::size_t> features,
                        std::span<const std::span<double>> tables, std::span<const double> class_counts, Isa isa) {
  std::vector<Counted> all;
  for (const std::size_t f : features) all.push_back(prepare(data.feature(f), data.n_classes()));
  std::array<std::vector<std::uint8_t>, 8> shifted;  // by number of bits, filled for each run as needed
  for (std::size_t begin = 0; begin < data.n_rows(); begin += kRun) {
    const std::size_t n = std::min(kRun, data.n_rows() - begin);
    unsigned ready = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const int bits = all[i].join.bits;
      auto& classes = shifted[static_cast<std::size_t>(bits)];
      if ((ready >> bits & 1U) == 0) {
        classes.resize(std::max(classes.size(), n));
        shift_classes(data.target().narrow().data() + begin, n, bits, classes.data());
        ready |= 1U << bits;
      }
      const std::uint8_t* codes = data.feature(features[i]).narrow().data() + begin;
      for (std::size_t at = 0; at < n; at += kChunk)
        count_chunk(codes + at, classes.data() + at, std::min(kChunk, n - at), all[i].keys, all[i].counts.data(), isa);
    }
  }
  for (std::size_t i = 0; i < features.size(); ++i)
    deliver(all[i], data.feature(features[i]).n_values(), class_counts, tables[i]);
}

void count_classes_by_comparing(const Column& target, std::span<double> class_counts, Isa isa) {
  Counted counted = prepare(target, 1);
  const std::vector<std::uint8_t> zeros(std::min(kChunk, target.size()), 0);
  for (std::size_t begin = 0; begin < target.size(); begin += kChunk)
    count_chunk(target.narrow().data() + begin, zeros.data(), std::min(kChunk, target.size() - begin), counted.keys,
                counted.counts.data(), isa);
  const std::array<double, 1> n_rows{static_cast<double>(target.size())};
  deliver(counted, target.n_values(), n_rows, class_counts);
}

}  // namespace tanager::internal

#include "data/encode_strings.hpp"

#include <cstring>

#include "support/check_stop.hpp"
#include "support/words.hpp"
#include "tanager/encode.hpp"

namespace tanager::internal {
namespace {

std::uint64_t load4(const char* p) {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9E3779B97F4A7C15ULL;
  return state ^ (state >> 29);
}

}  // namespace

std::uint64_t HashText::operator()(std::string_view text) const {
  // Eight bytes at a time, the last eight overlapping those before, so that no byte is handled alone.
  const char* p = text.data();
  const std::size_t n = text.size();
  std::uint64_t state = mix(0x2545F4914F6CDD1DULL, n);
  if (n >= 8) {
    for (std::size_t i = 0; i + 8 < n; i += 8) state = mix(state, load8(p + i));
    state = mix(state, load8(p + n - 8));
  } else if (n >= 4) {
    state = mix(state, load4(p) | (load4(p + n - 4) << 32));
  } else if (n > 0) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])); };
    state = mix(state, byte(0) | (byte(n / 2) << 8) | (byte(n - 1) << 16));
  }
  return mix(state, state >> 32);
}

}  // namespace tanager::internal

namespace tanager {

using namespace internal;

std::vector<std::int64_t> number_fixed_strings(const char* data, std::ptrdiff_t stride, std::size_t size,
                                               std::span<std::int32_t> numbers) {
  StringIndex index;
  std::vector<std::int64_t> first_rows;
  for (std::size_t i = 0; i < numbers.size(); ++i, data += stride) {
    if (i % kStepsPerCheck == 0) check_stop();
    numbers[i] = static_cast<std::int32_t>(index.insert({data, size}));
    if (index.keys().size() > first_rows.size()) first_rows.push_back(static_cast<std::int64_t>(i));
  }
  return first_rows;
}

}  // namespace tanager

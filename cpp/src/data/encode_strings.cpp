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

/// Eight bytes at a time, the last eight overlapping those before, so that no byte is handled alone.
std::uint64_t hash(std::string_view text) {
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

}  // namespace

StringIndex::StringIndex() : slots_(256) {}

std::uint32_t StringIndex::insert(std::string_view text) {
  const std::uint64_t hashed = hash(text);
  const auto tag = static_cast<std::uint32_t>(hashed >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = static_cast<std::size_t>(hashed) & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.position == kNone) {
      const auto position = static_cast<std::uint32_t>(strings_.size());
      slot = {tag, position};
      strings_.push_back(text);
      if (2 * strings_.size() > slots_.size()) grow();
      return position;
    }
    if (slot.tag == tag && strings_[slot.position] == text) return slot.position;
  }
}

void StringIndex::grow() {
  std::vector<Slot> larger(4 * slots_.size());
  const std::size_t mask = larger.size() - 1;
  for (std::uint32_t position = 0; position < strings_.size(); ++position) {
    const std::uint64_t hashed = hash(strings_[position]);
    std::size_t at = static_cast<std::size_t>(hashed) & mask;
    while (larger[at].position != kNone) at = (at + 1) & mask;
    larger[at] = {static_cast<std::uint32_t>(hashed >> 32), position};
  }
  slots_ = std::move(larger);
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
    if (index.strings().size() > first_rows.size()) first_rows.push_back(static_cast<std::int64_t>(i));
  }
  return first_rows;
}

}  // namespace tanager

// What is known of sets of variables, found quickly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tanager::internal {

/// A set of up to eight variables, not empty, as a number of 128 bits.
struct SetKey {
  std::uint64_t low = 0, high = 0;

  static constexpr std::size_t kMostMembers = 8;

  /// Of variables in increasing order; nothing where they do not fit.
  static std::optional<SetKey> of(std::span<const std::size_t> variables) {
    if (variables.empty() || variables.size() > kMostMembers || variables.back() >= 0xFFFF) return std::nullopt;
    SetKey key;
    for (std::size_t i = 0; i < variables.size(); ++i)
      (i < 4 ? key.low : key.high) |= static_cast<std::uint64_t>(variables[i] + 1) << 16 * (i % 4);
    return key;
  }

  bool operator==(const SetKey&) const = default;
  std::size_t hash() const {
    std::uint64_t mixed = low * 0x9E3779B97F4A7C15 ^ (high + 0x7F4A7C15) * 0xC2B2AE3D27D4EB4F;
    mixed = (mixed ^ mixed >> 32) * 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(mixed ^ mixed >> 29);
  }
};

/// Values by sets of variables, in one block of memory.
template <class Value>
class SetMap {
 public:
  std::size_t size() const { return size_; }

  const Value* find(const SetKey& key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }

  /// Keeps the first value of a set.
  void add(const SetKey& key, const Value& value) {
    if (3 * (size_ + 1) > 2 * slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.key == key) return;
    slot = {key, value};
    ++size_;
  }

 private:
  struct Slot {
    SetKey key;  // all zero where the slot is free
    Value value{};
  };

  std::size_t place_of(const SetKey& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = key.hash() & mask;
    while (slots_[place].key != key && slots_[place].key != SetKey{}) place = (place + 1) & mask;
    return place;
  }

  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(8, 2 * slots_.size()));
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.key != SetKey{}) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, and never full
  std::size_t size_ = 0;
};

}  // namespace tanager::internal

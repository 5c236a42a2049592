// Keys to numbers: the one hash table of the library.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tanager::internal {

/// Spreads all bits of a key over the upper bits of its hash, so that neither small integers nor the bit patterns of
/// integral doubles (all zeros at the bottom) crowd together.
struct HashWord {
  template <std::integral Word>
  std::uint64_t operator()(Word key) const {
    const auto word = static_cast<std::uint64_t>(key);
    return (word ^ (word >> 32)) * 0x9E3779B97F4A7C15;
  }
};

/// Numbers keys 0, 1, 2, ... in the order of their first appearance. Open addressing in a table at most half full.
template <class Key, class Hash = HashWord>
class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  FlatIndex() = default;
  /// With room for so many keys.
  explicit FlatIndex(std::size_t expected) { resize(std::bit_ceil(2 * expected + 2)); }

  std::size_t size() const { return keys_.size(); }
  /// By their numbers.
  const std::vector<Key>& keys() const { return keys_; }

  /// The number of a key; a new key gets the next one.
  std::uint32_t insert(const Key& key) {
    if (2 * keys_.size() >= slots_.size()) resize(std::max<std::size_t>(16, 4 * slots_.size()));
    const std::uint64_t hash = Hash{}(key);
    Slot& slot = slots_[place_of(key, hash)];
    if (slot.number == kNone) {
      keys_.push_back(key);
      slot = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(keys_.size() - 1)};
    }
    return slot.number;
  }

  /// The number of a key, or kNone.
  std::uint32_t find(const Key& key) const {
    return slots_.empty() ? kNone : slots_[place_of(key, Hash{}(key))].number;
  }

  /// Forgets all keys but keeps the memory.
  void clear() {
    keys_.clear();
    std::fill(slots_.begin(), slots_.end(), Slot{});
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;  // lower half of the hash, to tell most other keys apart without looking at them
    std::uint32_t number = kNone;
  };

  std::size_t place_of(const Key& key, std::uint64_t hash) const {
    const auto tag = static_cast<std::uint32_t>(hash);
    auto at = static_cast<std::size_t>(hash >> shift_);
    while (slots_[at].number != kNone && (slots_[at].tag != tag || keys_[slots_[at].number] != key))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void resize(std::size_t n_slots) {
    std::vector<Slot> larger(n_slots);
    slots_.swap(larger);
    shift_ = std::countl_zero(std::uint64_t{n_slots}) + 1;
    for (std::uint32_t number = 0; number < keys_.size(); ++number) {
      const std::uint64_t hash = Hash{}(keys_[number]);
      slots_[place_of(keys_[number], hash)] = {static_cast<std::uint32_t>(hash), number};
    }
  }

  std::vector<Slot> slots_;  // a power of two, at least two of them
  int shift_ = 0;            // from a hash to a slot
  std::vector<Key> keys_;
};

}  // namespace tanager::internal

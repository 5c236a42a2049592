// What is known of sets of variables, found quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "support/flat_index.hpp"

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
  std::uint64_t hash() const { return HashWord{}(HashWord{}(low) ^ (high + 1) * 0xC2B2AE3D27D4EB4F); }
};

/// Values by sets of variables.
template <class Value>
class SetMap {
 public:
  std::size_t size() const { return values_.size(); }

  const Value* find(const SetKey& key) const {
    const std::uint32_t number = index_.find(key);
    return number < values_.size() ? &values_[number] : nullptr;
  }

  /// Keeps the first value of a set.
  void add(const SetKey& key, const Value& value) {
    if (index_.insert(key) == values_.size()) values_.push_back(value);
  }

 private:
  struct Hash {
    std::uint64_t operator()(const SetKey& key) const { return key.hash(); }
  };

  FlatIndex<SetKey, Hash> index_;
  std::vector<Value> values_;
};

}  // namespace tanager::internal

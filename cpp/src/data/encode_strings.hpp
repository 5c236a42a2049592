// Strings to numbers 0, 1, 2, ... in the order of their first appearance.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace tanager::internal {

/// An open-addressing map from strings to positions in the order of insertion. Strings are viewed, not copied: whoever
/// inserts them keeps them alive.
class StringIndex {
 public:
  StringIndex();

  /// The position of a string; a new string gets the next one.
  std::uint32_t insert(std::string_view text);
  const std::vector<std::string_view>& strings() const { return strings_; }

 private:
  struct Slot {
    std::uint32_t tag = 0;  // high half of the hash, to tell most strangers without looking at them
    std::uint32_t position = kNone;
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  void grow();

  std::vector<Slot> slots_;  // a power of two of them
  std::vector<std::string_view> strings_;
};

}  // namespace tanager::internal

// Strings to numbers 0, 1, 2, ... in the order of their first appearance.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/flat_index.hpp"

namespace tanager::internal {

struct HashText {
  std::uint64_t operator()(std::string_view text) const;
};

/// Strings are viewed, not copied: whoever inserts them keeps them alive.
using StringIndex = FlatIndex<std::string_view, HashText>;

}  // namespace tanager::internal

// Integers, or the bits of other numbers, to numbers 0, 1, 2, ... in the order of their first appearance.
#pragma once

#include <cstdint>

#include "support/flat_index.hpp"

namespace tanager::internal {

class IntegerIndex : public FlatIndex<std::int64_t> {
 public:
  using FlatIndex::FlatIndex;
};

}  // namespace tanager::internal

// Integers of any type to numbers and codes.
#pragma once

#include <cstdint>

#include "support/flat_index.hpp"
#include "tanager/encode.hpp"

namespace tanager::internal {

/// Integers, or the bits of other numbers, to numbers 0, 1, 2, ... in the order of their first appearance.
class IntegerIndex : public FlatIndex<std::int64_t> {
 public:
  using FlatIndex::FlatIndex;
};

/// Calls body with a value of the matrix's cell type.
template <class Body>
decltype(auto) with_type(IntegerType type, Body body) {
  switch (type) {
    case IntegerType::kInt8:
      return body(std::int8_t{});
    case IntegerType::kUint8:
      return body(std::uint8_t{});
    case IntegerType::kInt16:
      return body(std::int16_t{});
    case IntegerType::kUint16:
      return body(std::uint16_t{});
    case IntegerType::kInt32:
      return body(std::int32_t{});
    case IntegerType::kUint32:
      return body(std::uint32_t{});
    case IntegerType::kUint64:
      return body(std::uint64_t{});
    default:
      return body(std::int64_t{});
  }
}

}  // namespace tanager::internal

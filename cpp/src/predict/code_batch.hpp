// Where a batch has the codes of a feature, however it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "tanager/predictor.hpp"

namespace tanager::internal {

/// Calls use(codes, step): the code of the feature in row first + i is codes[i * step], of 8 or 16 bits.
template <class Use>
void with_codes(const CodeBatch& batch, std::size_t n_features, std::size_t feature, std::size_t first, Use use) {
  if (const auto* columns = std::get_if<std::span<const CodeColumn>>(&batch.codes)) {
    const CodeColumn& column = (*columns)[feature];
    if (column.wide)
      use(static_cast<const std::uint16_t*>(column.codes) + first, std::size_t{1});
    else
      use(static_cast<const std::uint8_t*>(column.codes) + first, std::size_t{1});
  } else if (const auto* wide = std::get_if<std::span<const Code>>(&batch.codes)) {
    use(wide->data() + first * n_features + feature, n_features);
  } else {
    use(std::get<std::span<const std::uint8_t>>(batch.codes).data() + first * n_features + feature, n_features);
  }
}

}  // namespace tanager::internal

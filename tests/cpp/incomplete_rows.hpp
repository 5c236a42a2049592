// Training rows with missing values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tanager/dataset.hpp"
#include "tanager/network.hpp"

namespace testing {

inline std::size_t draw(std::mt19937_64& random, std::size_t below) {
  return static_cast<std::size_t>(random() % below);
}

inline double unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

/// Classes, and a chain of features that follows them.
inline tanager::Dataset chain_data(std::size_t rows, double missing, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::uint8_t>> codes(4);
  std::vector<std::uint8_t> target;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t c = draw(random, 2);
    target.push_back(static_cast<std::uint8_t>(c));
    std::size_t before = c;
    for (std::size_t f = 0; f < 4; ++f) {
      before = unit(random) < 0.7 ? before : draw(random, 3);
      codes[f].push_back(unit(random) < missing ? tanager::kMissing8 : static_cast<std::uint8_t>(before));
    }
  }
  std::vector<tanager::Column> columns;
  for (auto& column : codes) columns.emplace_back(std::move(column), 3);
  return tanager::Dataset(std::move(columns), tanager::Column(std::move(target), 2));
}

inline const tanager::Structure kChain({{}, {0}, {1}, {2}});

}  // namespace testing

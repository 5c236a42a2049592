// What the discretizers share: numbers as sortable keys, a stable radix sort of them, and the place of a cut.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/check_stop.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {

/// Unsigned keys in the order of the numbers; -0.0 and 0.0 share one.
inline std::uint64_t number_key(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return bits ^ ((bits >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}

inline double key_number(std::uint64_t key) {
  return std::bit_cast<double>(key ^ ((key >> 63) != 0 ? std::uint64_t{1} << 63 : ~std::uint64_t{0}));
}

/// Sorts items by their member `key`; items of equal keys keep their order. From a few hundred items on, one pass per
/// 11 bits of the key from the lowest up, skipping digits in which all keys agree (whole numbers and floats have many).
template <class Item>
void sort_by_key(std::vector<Item>& items) {
  constexpr int kDigitBits = 11;
  constexpr int kDigits = 6;
  constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;
  if (items.size() < 512) {
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
    return;
  }
  const auto digit = [](const Item& item, int d) {
    return static_cast<std::size_t>(item.key >> (d * kDigitBits)) & (kBuckets - 1);
  };
  std::vector<std::array<std::size_t, kBuckets>> counts(kDigits);
  in_pieces(items.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (int d = 0; d < kDigits; ++d) ++counts[static_cast<std::size_t>(d)][digit(items[i], d)];
  });

  std::vector<Item> sorted(items.size());
  for (int d = 0; d < kDigits; ++d) {
    auto& places = counts[static_cast<std::size_t>(d)];
    if (places[digit(items.front(), d)] == items.size()) continue;
    std::size_t place = 0;
    for (std::size_t& count : places) place += std::exchange(count, place);
    in_pieces(items.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) sorted[places[digit(items[i], d)]++] = items[i];
    });
    items.swap(sorted);
  }
}

/// Half-way between a < b, but never so rounded that the cut fails to separate them: a <= cut < b.
inline double cut_between(double a, double b) {
  double middle = (a + b) / 2;
  if (!std::isfinite(middle)) middle = a / 2 + b / 2;
  return (middle < b ? middle : a) + 0.0;
}

/// Calls use(row, value, weight) for every row that has a value and a weight above zero, in order. Throws InvalidInput
/// as said in discretize.hpp.
template <class Use>
void for_each_weighted_value(const NumberColumn& x, std::span<const double> weights, Use use) {
  if (!weights.empty() && weights.size() != x.size())
    throw InvalidInput("expected " + std::to_string(x.size()) + " weights, one per row, got " +
                       std::to_string(weights.size()));
  std::array<double, 512> block;
  for (std::size_t begin = 0; begin < x.size(); begin += block.size()) {
    check_stop();
    const std::size_t size = std::min(block.size(), x.size() - begin);
    x.read(begin, std::span(block).first(size));
    for (std::size_t i = 0; i < size; ++i) {
      const double value = block[i];
      if (std::isinf(value))
        throw InvalidInput("cut points need finite numbers, but row " + std::to_string(begin + i) + " is infinite");
      double weight = 1.0;
      if (!weights.empty()) {
        weight = weights[begin + i];
        if (!std::isfinite(weight) || weight < 0)
          throw InvalidInput("expected finite, non-negative weights, got " + std::to_string(weight) + " in row " +
                             std::to_string(begin + i));
        if (weight == 0) continue;
      }
      if (!std::isnan(value)) use(begin + i, value, weight);
    }
  }
}

/// Throws InvalidInput unless the sum of weights is a number.
inline void check_total_weight(double total) {
  if (!std::isfinite(total)) throw InvalidInput("expected weights with a finite sum, got infinity");
}

}  // namespace tanager::internal

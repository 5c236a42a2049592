#include "tanager/encode.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "tanager/errors.hpp"

namespace tanager {
namespace {

// Tables up to this many entries stay in the second-level cache; wider key ranges are hashed.
constexpr std::uint64_t kMaxTable = std::uint64_t{1} << 17;

/// Distance between two keys, exact even where the signed difference would overflow.
std::uint64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

}  // namespace

IntegerIndex::IntegerIndex(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 2), kNone) {}

std::size_t IntegerIndex::slot(std::int64_t key) const {
  // Fold, multiply, take the top bits: they depend on every bit of the key, so neither small integers nor the bit
  // patterns of whole doubles (all zeros at the bottom) crowd together.
  const auto bits = static_cast<std::uint64_t>(key);
  const std::size_t mask = slots_.size() - 1;
  auto at = static_cast<std::size_t>(((bits ^ (bits >> 32)) * 0x9E3779B97F4A7C15ULL) >> (64 - std::bit_width(mask)));
  while (slots_[at] != kNone && keys_[slots_[at]] != key) at = (at + 1) & mask;
  return at;
}

std::uint32_t IntegerIndex::find(std::int64_t key) const {
  return slots_[slot(key)];
}

std::uint32_t IntegerIndex::insert(std::int64_t key) {
  std::size_t at = slot(key);
  if (slots_[at] != kNone) return slots_[at];
  if (2 * (keys_.size() + 1) > slots_.size()) {
    grow();
    at = slot(key);
  }
  slots_[at] = static_cast<std::uint32_t>(keys_.size());
  keys_.push_back(key);
  return slots_[at];
}

void IntegerIndex::grow() {
  slots_.assign(4 * slots_.size(), kNone);
  for (std::uint32_t i = 0; i < keys_.size(); ++i) slots_[slot(keys_[i])] = i;
}

CodeBook::CodeBook(std::span<const std::int64_t> keys) : n_codes_(static_cast<std::uint32_t>(keys.size())) {
  if (keys.size() > kMaxValues)
    throw InvalidInput("a column can have at most " + std::to_string(kMaxValues) + " values, but " +
                       std::to_string(keys.size()) + " came");
  if (keys.empty()) return;
  const auto [smallest, largest] = std::minmax_element(keys.begin(), keys.end());
  first_ = *smallest;
  last_ = *largest;
  const std::uint64_t span = distance(first_, last_);
  bool ascending = span == keys.size() - 1;
  for (std::size_t i = 1; ascending && i < keys.size(); ++i) ascending = distance(first_, keys[i]) == i;
  if (ascending) return;

  const auto refuse_twice = [](std::int64_t key) {
    throw InvalidInput("the value " + std::to_string(key) + " was given twice as a category");
  };
  if (span < kMaxTable) {
    kind_ = Kind::kTable;
    table_.assign(static_cast<std::size_t>(span) + 1, kMissing);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Code& code = table_[static_cast<std::size_t>(distance(first_, keys[i]))];
      if (code != kMissing) refuse_twice(keys[i]);
      code = static_cast<Code>(i);
    }
    return;
  }
  kind_ = Kind::kHash;
  index_ = IntegerIndex(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (index_.insert(keys[i]) != i) refuse_twice(keys[i]);
}

CodeBook CodeBook::from_table(std::vector<Code> codes, std::uint32_t n_codes) {
  CodeBook book;
  book.kind_ = Kind::kTable;
  book.n_codes_ = n_codes;
  book.last_ = static_cast<std::int64_t>(codes.size()) - 1;
  book.table_ = std::move(codes);
  return book;
}

Code CodeBook::find(std::int64_t key) const {
  if (kind_ == Kind::kHash) {
    const std::uint32_t at = index_.find(key);
    return at == IntegerIndex::kNone ? kMissing : static_cast<Code>(at);
  }
  if (key < first_ || key > last_) return kMissing;
  const auto at = static_cast<std::size_t>(distance(first_, key));
  return kind_ == Kind::kRange ? static_cast<Code>(at) : table_[at];
}

}  // namespace tanager

#include "tanager/encode.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "data/integer_types.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

// Tables up to this many entries stay in the second-level cache; wider key ranges are hashed.
constexpr std::uint64_t kMaxTable = std::uint64_t{1} << 17;

/// Distance between two keys, exact even where the signed difference would overflow.
std::uint64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

}  // namespace

CodeBook::CodeBook(std::span<const std::int64_t> keys) : n_codes_(static_cast<std::uint32_t>(keys.size())) {
  if (keys.size() > kMaxValues)
    throw InvalidInput("a column can have at most " + std::to_string(kMaxValues) + " values, got " +
                       std::to_string(keys.size()));
  if (keys.empty()) return;
  const auto [smallest, largest] = std::minmax_element(keys.begin(), keys.end());
  first_ = *smallest;
  last_ = *largest;
  const std::uint64_t span = distance(first_, last_);
  bool ascending = span == keys.size() - 1;
  for (std::size_t i = 1; ascending && i < keys.size(); ++i) ascending = distance(first_, keys[i]) == i;
  if (ascending) return;

  const auto throw_duplicate = [](std::int64_t key) {
    throw InvalidInput("the value " + std::to_string(key) + " was given twice as a category");
  };
  if (span < kMaxTable) {
    kind_ = Kind::kTable;
    table_.assign(static_cast<std::size_t>(span) + 1, kMissing);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Code& code = table_[static_cast<std::size_t>(distance(first_, keys[i]))];
      if (code != kMissing) throw_duplicate(keys[i]);
      code = static_cast<Code>(i);
    }
    return;
  }
  kind_ = Kind::kHash;
  IntegerIndex index(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (index.insert(keys[i]) != i) throw_duplicate(keys[i]);
  index_ = std::make_shared<const IntegerIndex>(std::move(index));
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
    const std::uint32_t at = index_->find(key);
    return at == IntegerIndex::kNone ? kMissing : static_cast<Code>(at);
  }
  if (key < first_ || key > last_) return kMissing;
  const auto at = static_cast<std::size_t>(distance(first_, key));
  return kind_ == Kind::kRange ? static_cast<Code>(at) : table_[at];
}

}  // namespace tanager

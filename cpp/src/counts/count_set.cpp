// The store behind all learning from counts: one flat array of cells, offsets into it, and sizes checked before
// anything is allocated.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "support/check_stop.hpp"
#include "support/saturating.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

/// A whole set larger than this many cells (8 GiB) is rejected.
constexpr std::uint64_t kMaxSetCells = std::uint64_t{1} << 30;

std::string cells_text(std::uint64_t cells) {
  return cells == kSaturated ? "more than " + std::to_string(kSaturated - 1) : std::to_string(cells);
}

std::string describe(const Family& family) {
  std::string text = "feature " + std::to_string(family.child);
  for (std::size_t i = 0; i < family.parents.size(); ++i)
    text += (i == 0 ? " with parents " : ", ") + std::to_string(family.parents[i]);
  return text;
}

void check_family(const Family& family, std::size_t n_features) {
  const auto check_index = [&](std::size_t f) {
    if (f >= n_features)
      throw InvalidInput("a family names feature " + std::to_string(f) + ", but there are " +
                         std::to_string(n_features) + " features");
  };
  check_index(family.child);
  if (family.parents.size() > kMaxParents)
    throw InvalidInput("feature " + std::to_string(family.child) + " has " + std::to_string(family.parents.size()) +
                       " parents, but at most " + std::to_string(kMaxParents) + " are possible");
  for (std::size_t i = 0; i < family.parents.size(); ++i) {
    check_index(family.parents[i]);
    const auto before = family.parents.begin() + static_cast<std::ptrdiff_t>(i);
    if (family.parents[i] == family.child || std::find(family.parents.begin(), before, family.parents[i]) != before)
      throw InvalidInput("expected different features in the family of feature " + std::to_string(family.child) +
                         ", got feature " + std::to_string(family.parents[i]) + " twice");
  }
}

std::vector<std::uint32_t> dims_of(const Family& family, std::span<const std::uint32_t> cardinalities) {
  std::vector<std::uint32_t> dims;
  dims.reserve(family.parents.size() + 1);
  for (const std::size_t parent : family.parents) dims.push_back(cardinalities[parent]);
  dims.push_back(cardinalities[family.child]);
  return dims;
}

/// [u][v][class] -> [v][u][class]
std::vector<double> transposed(std::span<const double> cells, std::size_t n_u, std::size_t n_v, std::size_t n_classes) {
  std::vector<double> out(cells.size());
  for (std::size_t u = 0; u < n_u; ++u)
    for (std::size_t v = 0; v < n_v; ++v)
      std::copy_n(cells.data() + (u * n_v + v) * n_classes, n_classes, out.data() + (v * n_u + u) * n_classes);
  return out;
}

}  // namespace

std::uint64_t checked_table_size(const Family& family, std::span<const std::uint32_t> cardinalities,
                                 std::uint32_t n_classes) {
  check_family(family, cardinalities.size());
  std::uint64_t cells = saturating_multiply(n_classes, cardinalities[family.child]);
  bool empty = cells == 0;
  for (const std::size_t parent : family.parents) {
    empty |= cardinalities[parent] == 0;
    cells = saturating_multiply(cells, cardinalities[parent]);
  }
  if (empty) return 0;  // also where the product had overflowed before it met the zero
  if (cells > kMaxTableCells)
    throw InvalidInput("the count table of " + describe(family) + " and the class would have " + cells_text(cells) +
                       " cells, but at most " + std::to_string(kMaxTableCells) + " are allowed");
  return cells;
}

namespace {
/// Throws InvalidInput naming the first pair of features whose table is too large. In linear time, since the pairs of a
/// set that is rejected may be too many to go through.
void check_pair_tables(std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes) {
  const std::size_t n = cardinalities.size();
  std::vector<std::uint32_t> most_behind(n + 1, 0);
  for (std::size_t u = n; u-- > 0;) most_behind[u] = std::max(cardinalities[u], most_behind[u + 1]);
  for (std::size_t u = 0; u < n; ++u) {
    const std::uint64_t row = std::uint64_t{cardinalities[u]} * n_classes;
    if (saturating_multiply(row, most_behind[u + 1]) <= kMaxTableCells) continue;
    for (std::size_t v = u + 1; v < n; ++v) checked_table_size({v, {u}}, cardinalities, n_classes);
  }
}
}  // namespace

CountSet::CountSet(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes, CountScope scope,
                   std::vector<Family> families)
    : cardinalities_(std::move(cardinalities)), n_classes_(n_classes), scope_(scope), families_(std::move(families)) {
  const std::size_t n = n_features();
  std::uint64_t total = 0;
  for (std::size_t f = 0; f < n; ++f) {
    single_offsets_.push_back(static_cast<std::size_t>(total));
    total = saturating_add(total, checked_table_size({f, {}}, cardinalities_, n_classes_));
  }
  check_total(total);  // so that offsets below are right
  single_offsets_.push_back(static_cast<std::size_t>(total));
  if (scope_ == CountScope::kPairs) {
    check_pair_tables(cardinalities_, n_classes_);
    for (std::size_t u = 0; u < n; ++u) {
      pair_offsets_.push_back(static_cast<std::size_t>(total));
      const std::uint64_t behind = single_offsets_[n] - single_offsets_[u + 1];  // cells of all later features
      total = saturating_add(total, saturating_multiply(cardinalities_[u], behind));
    }
  }
  for (const Family& family : families_) {
    family_offsets_.push_back(static_cast<std::size_t>(total));
    total = saturating_add(total, checked_table_size(family, cardinalities_, n_classes_));
  }
  check_total(total);
  family_offsets_.push_back(static_cast<std::size_t>(total));
  class_counts_.assign(n_classes_, 0.0);
  cells_.reserve(static_cast<std::size_t>(total));
  in_pieces(static_cast<std::size_t>(total), [&](std::size_t, std::size_t end) { cells_.resize(end); });
}

void CountSet::check_total(std::uint64_t cells) const {
  if (cells > kMaxSetCells)
    throw InvalidInput("the count tables of " + std::to_string(n_features()) + " features" +
                       (scope_ == CountScope::kPairs ? " and their pairs" : "") + " would have " + cells_text(cells) +
                       " cells, but at most " + std::to_string(kMaxSetCells) +
                       " are allowed; leave features out, or give them fewer values");
}

double CountSet::n_rows() const {
  return std::accumulate(class_counts_.begin(), class_counts_.end(), 0.0);
}

std::span<const double> CountSet::single(std::size_t f) const {
  if (f >= n_features())
    throw InvalidInput("expected a feature below " + std::to_string(n_features()) + ", got " + std::to_string(f));
  return std::span(cells_).subspan(single_offsets_[f], single_offsets_[f + 1] - single_offsets_[f]);
}

std::span<const double> CountSet::pair(std::size_t u, std::size_t v) const {
  if (scope_ != CountScope::kPairs)
    throw InvalidInput("there are no counts of pairs: only single features were counted");
  if (u >= v || v >= n_features())
    throw InvalidInput("expected two features u < v below " + std::to_string(n_features()) + ", got " +
                       std::to_string(u) + " and " + std::to_string(v));
  const std::size_t size = std::size_t{cardinalities_[u]} * cardinalities_[v] * n_classes_;
  const std::size_t between = cardinalities_[u] * (single_offsets_[v] - single_offsets_[u + 1]);
  return std::span(cells_).subspan(pair_offsets_[u] + between, size);
}

std::span<const double> CountSet::family(std::size_t i) const {
  if (i >= families_.size())
    throw InvalidInput("expected a family below " + std::to_string(families_.size()) + ", got " + std::to_string(i));
  return std::span(cells_).subspan(family_offsets_[i], family_offsets_[i + 1] - family_offsets_[i]);
}

namespace {
std::span<double> writable(std::span<const double> cells) {
  return {const_cast<double*>(cells.data()), cells.size()};
}
}  // namespace

// The set itself is not const here, so neither are its cells.
std::span<double> CountSet::single(std::size_t f) {
  return writable(std::as_const(*this).single(f));
}
std::span<double> CountSet::pair(std::size_t u, std::size_t v) {
  return writable(std::as_const(*this).pair(u, v));
}
std::span<double> CountSet::family(std::size_t i) {
  return writable(std::as_const(*this).family(i));
}

bool CountSet::can_answer(const Family& family) const {
  if (family.child >= n_features()) return false;
  if (family.parents.empty()) return true;
  if (family.parents.size() == 1 && scope_ == CountScope::kPairs)
    return family.parents[0] < n_features() && family.parents[0] != family.child;
  return std::find(families_.begin(), families_.end(), family) != families_.end();
}

CountTable CountSet::table(const Family& family) const {
  check_family(family, n_features());
  if (!can_answer(family)) throw InvalidInput("the family of " + describe(family) + " was not counted");
  CountTable table{family, dims_of(family, cardinalities_), n_classes_, {}};
  const auto copy = [&](std::span<const double> cells) { table.cells.assign(cells.begin(), cells.end()); };
  if (family.parents.empty()) {
    copy(single(family.child));
  } else if (family.parents.size() == 1 && scope_ == CountScope::kPairs) {
    const std::size_t u = family.parents[0];
    const std::size_t v = family.child;
    if (u < v)
      copy(pair(u, v));
    else
      table.cells = transposed(pair(v, u), cardinalities_[v], cardinalities_[u], n_classes_);
  } else {
    const auto found = std::find(families_.begin(), families_.end(), family);
    copy(this->family(static_cast<std::size_t>(found - families_.begin())));
  }
  return table;
}

namespace {
void check_same(const CountSet& a, const CountSet& b) {
  const auto reject = [](const std::string& what) {
    throw InvalidInput("count sets add and subtract only over the same variables and tables, but " + what);
  };
  if (a.n_features() != b.n_features())
    reject("one has " + std::to_string(a.n_features()) + " features, the other " + std::to_string(b.n_features()));
  if (a.n_classes() != b.n_classes())
    reject("one has " + std::to_string(a.n_classes()) + " classes, the other " + std::to_string(b.n_classes()));
  for (std::size_t f = 0; f < a.n_features(); ++f)
    if (a.cardinalities()[f] != b.cardinalities()[f])
      reject("feature " + std::to_string(f) + " has " + std::to_string(a.cardinalities()[f]) + " values in one, " +
             std::to_string(b.cardinalities()[f]) + " in the other");
  if (a.scope() != b.scope()) reject("only one of them counts pairs of features");
  if (a.families() != b.families()) reject("their families differ");
}
}  // namespace

CountSet& CountSet::operator+=(const CountSet& other) {
  check_same(*this, other);
  std::ranges::transform(cells_, other.cells_, cells_.begin(), std::plus<>());
  std::ranges::transform(class_counts_, other.class_counts_, class_counts_.begin(), std::plus<>());
  return *this;
}

CountSet& CountSet::operator-=(const CountSet& other) {
  check_same(*this, other);
  std::ranges::transform(cells_, other.cells_, cells_.begin(), std::minus<>());
  std::ranges::transform(class_counts_, other.class_counts_, class_counts_.begin(), std::minus<>());
  return *this;
}

}  // namespace tanager

#include "constraint/set_counts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace tanager::internal {
namespace {

/// The last variables of a set are counted in a table of so many cells, which the nearest cache holds, group by group
/// of rows with the same values of the others.
constexpr std::size_t kMostCells = 4096;
/// Counts whose terms are tabulated.
constexpr std::uint64_t kTabulated = std::uint64_t{1} << 16;
/// Sets that are remembered: some hundred megabytes. Others are counted whenever they are asked for.
constexpr std::size_t kMostSets = std::size_t{1} << 21;
/// Numbers that are kept about groups of rows, for the same reason.
constexpr std::size_t kMostNumbers = std::size_t{1} << 24;

/// How many variables at the end of a set have so few values that a table holds them; at least one.
std::size_t n_inner(const Dataset& rows, std::span<const std::size_t> variables, std::size_t& n_cells) {
  n_cells = 1;
  std::size_t n = 0;
  while (n < variables.size()) {
    const std::size_t r = rows.feature(variables[variables.size() - 1 - n]).n_values();
    if (n > 0 && n_cells * r > kMostCells) break;
    n_cells *= r;
    ++n;
  }
  return n;
}

void make_keys(const Dataset& rows, std::span<const std::size_t> variables, std::vector<std::uint32_t>& keys) {
  keys.assign(rows.n_rows(), 0);
  for (const std::size_t v : variables) {
    const Column& column = rows.feature(v);
    column.visit([&, r = column.n_values()](auto codes) {
      for (std::size_t row = 0; row < keys.size(); ++row) keys[row] = keys[row] * r + codes[row];
    });
  }
}

std::size_t n_numbers(const RowGroups& groups) {
  return groups.rows.size() + groups.starts.size();
}

std::size_t n_numbers(const std::vector<std::uint16_t>& values) {
  return values.size();
}

template <class Parts>
auto& part_of(Parts& parts, const SetKey& key) {
  return parts[(key.hash() >> 40) % parts.size()];
}

/// What the caches have for a set, or what make() returns, which they keep if there is room.
template <class SetCaches, class Make>
auto kept(SetCaches& caches, const std::optional<SetKey>& key, Make make) {
  decltype(make()) found;
  if (key)
    part_of(caches, *key).with([&](const auto& cache) {
      if (const auto* known = cache.known.find(*key)) found = *known;
    });
  if (found) return found;
  found = make();
  if (key)
    part_of(caches, *key).with([&](auto& cache) {
      const std::size_t size = n_numbers(*found);
      if (cache.n_numbers + size > kMostNumbers / caches.size()) return;
      cache.known.add(*key, found);
      cache.n_numbers += size;
    });
  return found;
}

}  // namespace

std::vector<std::size_t> united(std::span<const std::size_t> set, std::initializer_list<std::size_t> others) {
  std::vector<std::size_t> all(set.begin(), set.end());
  for (const std::size_t v : others) all.insert(std::upper_bound(all.begin(), all.end(), v), v);
  return all;
}

SetCounts::SetCounts(const Dataset& rows) : rows_(rows), total_(rows.n_rows()) {
  if (rows.is_weighted()) {
    for (const double weight : rows.weights()) weights_.push_back(static_cast<std::uint64_t>(weight));
    total_ = std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
  }
  // No sum is above total ln total, and two of them fit.
  const double n = static_cast<double>(std::max<std::uint64_t>(total_, 2));
  unit_ = std::ldexp(1.0, std::min(52, 60 - static_cast<int>(std::ceil(std::log2(n * std::log(n))))));
  for (std::uint64_t count = 0; count < std::min(total_ + 1, kTabulated); ++count) {
    const double x = static_cast<double>(count);
    terms_.push_back(count < 2 ? 0 : std::llround(x * std::log(x) * unit_));
  }
}

std::int64_t SetCounts::term(std::uint64_t n) const {
  if (n < terms_.size()) return terms_[n];
  const double x = static_cast<double>(n);
  return std::llround(x * std::log(x) * unit_);
}

double SetCounts::per_row(std::int64_t terms) const {
  return total_ == 0 ? 0 : static_cast<double>(terms) / unit_ / static_cast<double>(total_);
}

SetSummary SetCounts::of(std::span<const std::size_t> variables) const {
  const auto key = SetKey::of(variables);
  if (!key) return count(variables);
  auto& part = part_of(known_, *key);
  SetSummary summary;
  const bool is_known = part.with([&](const auto& map) {
    const SetSummary* found = map.find(*key);
    if (found) summary = *found;
    return found != nullptr;
  });
  if (is_known) return summary;
  summary = count(variables);
  part.with([&](auto& map) {
    if (map.size() < kMostSets / kParts) map.add(*key, summary);
  });
  return summary;
}

SetSummary SetCounts::count(std::span<const std::size_t> variables) const {
  std::size_t n_cells = 1;
  const std::size_t n = n_inner(rows_, variables, n_cells);
  return scratch_.with([&](Scratch& scratch) {
    scratch.cells.resize(std::max(scratch.cells.size(), n_cells), 0);
    make_keys(rows_, variables.last(n), scratch.keys);
    SetSummary summary;
    const auto use = [&](std::uint64_t& cell) {
      if (cell == 0) return;
      summary.terms += term(cell);
      ++summary.occurring;
      cell = 0;
    };
    if (n == variables.size()) {
      for (std::size_t row = 0; row < scratch.keys.size(); ++row) scratch.cells[scratch.keys[row]] += weight(row);
      for (std::size_t cell = 0; cell < n_cells; ++cell) use(scratch.cells[cell]);
    } else {
      count_groups(scratch, variables.first(variables.size() - n), use);
    }
    return summary;
  });
}

/// Calls use(cell) for every row's cell, once all rows of its group are counted.
template <class Use>
void SetCounts::count_groups(Scratch& scratch, std::span<const std::size_t> outer, Use use) const {
  const auto grouped = groups(outer);
  const std::uint32_t* keys = scratch.keys.data();
  std::uint64_t* cells = scratch.cells.data();
  for (std::size_t g = 0; g + 1 < grouped->starts.size(); ++g) {
    const auto own = std::span(grouped->rows).subspan(grouped->starts[g], grouped->starts[g + 1] - grouped->starts[g]);
    if (weights_.empty())
      for (const std::uint32_t row : own) ++cells[keys[row]];
    else
      for (const std::uint32_t row : own) cells[keys[row]] += weights_[row];
    for (const std::uint32_t row : own) use(cells[keys[row]]);
  }
}

std::shared_ptr<const RowGroups> SetCounts::groups(std::span<const std::size_t> variables) const {
  return kept(groups_, SetKey::of(variables), [&] {
    if (!variables.empty()) {
      const auto before = groups(variables.first(variables.size() - 1));
      return std::make_shared<const RowGroups>(refined(*before, rows_.feature(variables.back())));
    }
    RowGroups all;
    all.rows.resize(rows_.n_rows());
    std::iota(all.rows.begin(), all.rows.end(), std::uint32_t{0});
    all.starts = {0, static_cast<std::uint32_t>(rows_.n_rows())};
    return std::make_shared<const RowGroups>(std::move(all));
  });
}

/// Every group in parts of one value of a variable each.
RowGroups SetCounts::refined(const RowGroups& before, const Column& column) const {
  RowGroups found{before.rows, {0}};
  std::vector<std::uint32_t> places(column.n_values());
  column.visit([&](auto codes) {
    for (std::size_t g = 0; g + 1 < before.starts.size(); ++g) {
      const std::uint32_t begin = before.starts[g], end = before.starts[g + 1];
      if (places.size() > 16 + 2 * std::size_t{end - begin}) {
        std::sort(found.rows.begin() + begin, found.rows.begin() + end,
                  [&](std::uint32_t a, std::uint32_t b) { return codes[a] < codes[b]; });
      } else {
        std::fill(places.begin(), places.end(), 0);
        for (std::uint32_t i = begin; i < end; ++i) ++places[codes[before.rows[i]]];
        std::exclusive_scan(places.begin(), places.end(), places.begin(), begin);
        for (std::uint32_t i = begin; i < end; ++i) found.rows[places[codes[before.rows[i]]]++] = before.rows[i];
      }
      for (std::uint32_t i = begin + 1; i < end; ++i)
        if (codes[found.rows[i]] != codes[found.rows[i - 1]]) found.starts.push_back(i);
      if (end > begin) found.starts.push_back(end);
    }
  });
  return found;
}

double SetCounts::degrees(std::size_t x, std::size_t y, std::span<const std::size_t> given) const {
  const auto n_of = [&](const std::vector<std::size_t>& set) { return static_cast<double>(of(set).occurring); };
  const double n_given = n_of({given.begin(), given.end()});
  // Where one of the two has all its values everywhere, numbers of combinations tell.
  for (const auto& [one, other] : {std::pair(x, y), std::pair(y, x)}) {
    const double n_values = n_of({one});
    if (n_of(united(given, {one})) == n_given * n_values)
      return (n_values - 1) * (n_of(united(given, {other})) - n_given);
  }
  const auto of_x = values(x, given), of_y = values(y, given);
  double sum = 0;
  for (std::size_t z = 0; z < of_x->size(); ++z)
    if ((*of_x)[z] > 0) sum += ((*of_x)[z] - 1.0) * ((*of_y)[z] - 1.0);
  return sum;
}

std::shared_ptr<const SetCounts::OccurringValues> SetCounts::values(std::size_t variable,
                                                                    std::span<const std::size_t> given) const {
  auto key = given.size() < SetKey::kMostMembers && variable < 0xFFFF ? SetKey::of(given) : std::nullopt;
  if (key) key->high |= static_cast<std::uint64_t>(variable + 1) << 48;
  return kept(values_, key, [&] {
    const auto within = groups(given);
    return scratch_.with([&](Scratch& scratch) {
      return std::make_shared<const OccurringValues>(count_values(scratch, rows_.feature(variable), *within));
    });
  });
}

SetCounts::OccurringValues SetCounts::count_values(Scratch& scratch, const Column& column,
                                                   const RowGroups& within) const {
  scratch.cells.resize(std::max<std::size_t>(scratch.cells.size(), column.n_values()), 0);
  OccurringValues values(within.starts.size() - 1, 0);
  column.visit([&](auto codes) {
    for (std::size_t g = 0; g < values.size(); ++g) {
      const auto own = std::span(within.rows).subspan(within.starts[g], within.starts[g + 1] - within.starts[g]);
      for (const std::uint32_t row : own)
        if (weight(row) > 0 && scratch.cells[codes[row]]++ == 0) ++values[g];
      for (const std::uint32_t row : own) scratch.cells[codes[row]] = 0;
    }
  });
  return values;
}

}  // namespace tanager::internal

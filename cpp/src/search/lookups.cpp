#include "search/lookups.hpp"

#include <utility>

namespace tanager::internal {
namespace {

/// Tables are joined while the result has at most this many cells, or as many as the largest of them; fewer where a
/// fold has few rows, for filling a cell in every fold must save more than one look-up.
constexpr std::size_t kJoinedCells = 256;
constexpr std::size_t kRowsPerJoinedCell = 8;

/// The digit of a feature, or null.
const Digit* find_digit(std::span<const Digit> digits, std::size_t feature) {
  const auto is_it = [&](const Digit& digit) { return digit.feature == feature; };
  const auto found = std::find_if(digits.begin(), digits.end(), is_it);
  return found == digits.end() ? nullptr : &*found;
}

/// How many look-ups from `first` on make a small table together; at least one.
std::size_t count_joined(std::span<const Lookup> lookups, std::size_t first, const FoldRows& rows) {
  std::vector<std::size_t> features;
  std::size_t cells = 1;
  std::size_t largest = std::min(kJoinedCells, rows.n_rows() / (rows.n_folds() * kRowsPerJoinedCell));
  std::size_t last = first;
  for (; last < lookups.size() && !lookups[last].terms->is_sparse(); ++last) {
    const FamilyTerms& family = *lookups[last].terms;
    largest = std::max(largest, family.n_cells);
    for (const auto& [f, stride] : family.digits)
      if (std::find(features.begin(), features.end(), f) == features.end()) {
        features.push_back(f);
        cells *= rows.n_slots(f);
      }
    if (last > first && cells > largest) break;
  }
  return std::max<std::size_t>(last - first, 1);
}

/// One table for the signed sum of several families' terms.
FamilyTerms sum_of(std::span<const Lookup> lookups, const TermTables& tables) {
  const FoldRows& rows = tables.rows();
  const std::size_t width = tables.width();
  FamilyTerms sum;
  sum.n_cells = 1;
  for (const Lookup& lookup : lookups)
    for (const auto& [f, stride] : lookup.terms->digits)
      if (find_digit(sum.digits, f) == nullptr) {
        sum.digits.push_back({.feature = f, .stride = static_cast<std::uint32_t>(sum.n_cells)});
        sum.n_cells *= rows.n_slots(f);
      }
  sum.terms.assign(rows.n_folds() * sum.n_cells * width, 0.0);
  std::vector<std::uint32_t> cell(sum.n_cells);
  for (const Lookup& lookup : lookups) {
    // The family's cell for every cell of the sum: built up feature by feature, from the innermost outwards.
    std::size_t size = 1;
    cell[0] = 0;
    for (const auto& [f, stride] : sum.digits) {
      const Digit* digit = find_digit(lookup.terms->digits, f);
      const std::uint32_t step = digit == nullptr ? 0 : digit->stride;
      for (std::uint32_t value = 1; value < rows.n_slots(f); ++value)
        for (std::size_t i = 0; i < size; ++i) cell[value * size + i] = cell[i] + value * step;
      size *= rows.n_slots(f);
    }
    for (std::size_t k = 0; k < rows.n_folds(); ++k)
      add_terms(lookup.terms->fold(k, width), cell.data(), sum.n_cells, width, lookup.sign,
                sum.terms.data() + k * sum.n_cells * width, best_isa());
  }
  return sum;
}

}  // namespace

Lookups joined(Lookups lookups, const TermTables& tables) {
  Lookups result;
  for (std::size_t first = 0; first < lookups.size();) {
    const std::size_t count = count_joined(lookups, first, tables.rows());
    if (count == 1)
      result.push_back(std::move(lookups[first]));
    else
      result.push_back({.terms = Terms(sum_of(std::span(lookups).subspan(first, count), tables)), .sign = 1.0});
    first += count;
  }
  return result;
}

void find_cells(const FamilyTerms& family, const FoldRows& rows, std::size_t first, std::size_t n_rows,
                std::uint32_t* index) {
  if (family.is_sparse()) {
    std::copy_n(family.index.data() + first, n_rows, index);
    return;
  }
  const std::span<const Digit> digits = family.digits;
  const auto codes = [&](const Digit& digit) { return rows.codes(digit.feature) + first; };
  if (digits.size() == 1) {
    std::copy_n(codes(digits[0]), n_rows, index);
    return;
  }
  pair_codes(codes(digits[0]), digits[0].stride, codes(digits[1]), digits[1].stride, n_rows, index, best_isa());
  for (const Digit& digit : digits.subspan(2)) add_codes(codes(digit), digit.stride, n_rows, index, best_isa());
}

void add_lookups(std::span<const Lookup> lookups, const TermTables& tables, std::size_t fold, std::size_t first,
                 std::size_t n_rows, double* sums) {
  std::uint32_t index[kSearchBlock];
  for (const Lookup& lookup : lookups) {
    find_cells(*lookup.terms, tables.rows(), first, n_rows, index);
    add_terms(lookup.terms->fold(fold, tables.width()), index, n_rows, tables.width(), lookup.sign, sums, best_isa());
  }
}

}  // namespace tanager::internal

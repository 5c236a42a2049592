// What a candidate adds to the sums of all rows, in as few tables as can be.
#include <algorithm>
#include <utility>

#include "search/kernels.hpp"
#include "search/scorer.hpp"

namespace tanager::internal {
namespace {

/// Tables are joined while the result has at most this many cells, or as many as the largest of them; fewer where a
/// fold has few rows, for to fill a cell in every fold must save more than one look-up.
constexpr std::size_t kJoinedCells = 256, kRowsPerJoinedCell = 8;

auto find_digit(const FamilyTerms& family, std::size_t feature) {
  return std::find_if(family.digits.begin(), family.digits.end(),
                      [&](const Digit& digit) { return digit.feature == feature; });
}

}  // namespace

Terms SearchScorer::terms_of(const StructureChange& change) const {
  return change.absent ? nullptr : tables_.terms(change.feature, change.parents);
}

Terms SearchScorer::present_terms(std::size_t feature) const {
  return state_.absent[feature] ? nullptr : tables_.terms(feature, state_.parents[feature]);
}

/// How many look-ups from `first` on make a small table together; one at least.
std::size_t SearchScorer::count_joined(const Lookups& lookups, std::size_t first) const {
  std::vector<std::size_t> features;
  const std::size_t worthwhile = rows_.n_rows() / (rows_.n_folds() * kRowsPerJoinedCell);
  std::size_t cells = 1, largest = std::min(kJoinedCells, worthwhile), last = first;
  for (; last < lookups.size() && !lookups[last].terms->is_sparse(); ++last) {
    const FamilyTerms& family = *lookups[last].terms;
    largest = std::max(largest, family.n_cells);
    for (const auto& [f, stride] : family.digits)
      if (std::find(features.begin(), features.end(), f) == features.end()) {
        features.push_back(f);
        cells *= rows_.n_slots(f);
      }
    if (last > first && cells > largest) break;
  }
  return std::max<std::size_t>(last - first, 1);
}

/// One table for the signed sum of several families' terms.
Terms SearchScorer::sum_of(std::span<const SignedTerms> lookups) const {
  const std::size_t width = tables_.width(), folds = rows_.n_folds();
  FamilyTerms sum;
  std::size_t cells = 1;
  for (const SignedTerms& lookup : lookups)
    for (const auto& [f, stride] : lookup.terms->digits)
      if (find_digit(sum, f) == sum.digits.end()) {
        sum.digits.push_back({f, static_cast<std::uint32_t>(cells)});
        cells *= rows_.n_slots(f);
      }
  sum.n_cells = cells;
  sum.terms.assign(folds * cells * width, 0.0);
  std::vector<std::uint32_t> cell(cells);
  for (const SignedTerms& lookup : lookups) {
    const FamilyTerms& family = *lookup.terms;
    // The family's cell for every cell of the sum: built up feature by feature, from the innermost outwards.
    std::size_t size = 1;
    cell[0] = 0;
    for (const auto& [f, stride] : sum.digits) {
      const auto digit = find_digit(family, f);
      const std::uint32_t step = digit == family.digits.end() ? 0 : digit->stride;
      for (std::uint32_t value = 1; value < rows_.n_slots(f); ++value)
        for (std::size_t i = 0; i < size; ++i) cell[value * size + i] = cell[i] + value * step;
      size *= rows_.n_slots(f);
    }
    for (std::size_t k = 0; k < folds; ++k)
      add_terms(family.fold(k, width), cell.data(), cells, width, lookup.sign, sum.terms.data() + k * cells * width,
                isa_);
  }
  return std::make_shared<const FamilyTerms>(std::move(sum));
}

/// Neighbors joined into one table while that is small, so that a row costs fewer look-ups.
SearchScorer::Lookups SearchScorer::joined(Lookups lookups) const {
  if (lookups.size() < 2) return lookups;
  Lookups result;
  for (std::size_t first = 0; first < lookups.size();) {
    const std::size_t count = count_joined(lookups, first);
    if (count == 1)
      result.push_back(std::move(lookups[first]));
    else
      result.push_back({sum_of(std::span(lookups).subspan(first, count)), 1.0});
    first += count;
  }
  return result;
}

/// The terms of changed features as they are now, to be taken away.
SearchScorer::Base SearchScorer::old_terms(std::span<const StructureChange> changes) const {
  Lookups lookups;
  for (const StructureChange& change : changes)
    if (Terms terms = present_terms(change.feature)) lookups.push_back({std::move(terms), -1.0});
  return {joined(std::move(lookups)), {}};
}

/// A candidate on its own takes the old terms away itself, in the same look-ups.
SearchScorer::Candidate SearchScorer::prepare(std::vector<StructureChange> changes, bool alone) const {
  Candidate candidate;
  for (const StructureChange& change : changes) {
    if (Terms terms = terms_of(change)) candidate.lookups.push_back({std::move(terms), 1.0});
    if (!alone) continue;
    if (Terms terms = present_terms(change.feature)) candidate.lookups.push_back({std::move(terms), -1.0});
  }
  candidate.lookups = joined(std::move(candidate.lookups));
  if (rows_.has_missing()) {
    candidate.inexact_rows = find_inexact_rows(changes);
    candidate.changes = std::move(changes);
  }
  return candidate;
}

/// All that it adds is added up elsewhere. What it changes is long, and asked for only where rows are judged one by
/// one.
SearchScorer::Candidate SearchScorer::prepare_super_parent(const Move& move, const MoveGenerator& generator,
                                                           Base& base) const {
  base = {{}, super_parents_->of(move.slot, generator.children_of_all(move))};
  Candidate candidate;
  if (rows_.has_missing()) {
    candidate.changes = generator.expand(move, state_);
    candidate.inexact_rows = find_inexact_rows(candidate.changes);
  }
  return candidate;
}

}  // namespace tanager::internal

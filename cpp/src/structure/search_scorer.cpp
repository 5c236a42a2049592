#include "structure/search_scorer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "inference/sum_out.hpp"
#include "structure/search_kernels.hpp"
#include "support/parallel.hpp"

namespace tanager {
namespace {

/// Tables of several families are joined into one look-up while it has at most this many cells, or as many as the
/// largest of them.
constexpr std::size_t kJoinedCells = 256;
/// Tables that a group of candidates holds at once.
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;
/// Work between two calls of poll, in terms looked up.
constexpr double kPollWork = 1 << 26;

}  // namespace

struct SearchScorer::Workspace {
  explicit Workspace(std::size_t width) : sums(kSearchBlock * width), changed(kSearchBlock * width) {}

  std::vector<double> sums;     // of a block, without the terms that all candidates take away
  std::vector<double> changed;  // with all look-ups of a candidate but the last
  std::uint32_t index[kSearchBlock];
  CandidateBlock block{};
};

const double* SearchScorer::Lookup::fold(std::size_t k, std::size_t width) const {
  return family ? family->fold(k, width) : terms.data() + k * n_cells * width;
}

SearchScorer::SearchScorer(const SearchRows& rows, const SearchTables& tables, SearchState start,
                           SearchObjective objective, int threads)
    : rows_(rows),
      tables_(tables),
      state_{std::vector<std::vector<std::size_t>>(rows.n_features()), std::vector<bool>(rows.n_features(), true)},
      objective_(objective),
      threads_(threads),
      sums_(rows.n_rows() * tables.width()),
      segment_of_row_(rows.n_rows()) {
  const std::size_t width = tables_.width();
  for (std::size_t k = 0; k < rows.n_folds(); ++k)
    for (const RowSegment& segment : rows.segments(k)) {
      for (std::size_t row = segment.begin; row < segment.end; ++row) {
        segment_of_row_[row] = static_cast<std::uint32_t>(segments_.size());
        std::copy_n(tables_.prior(k).begin(), width, sums_.begin() + static_cast<std::ptrdiff_t>(row * width));
      }
      segments_.push_back(segment);
    }
  find_components();
  std::vector<StructureChange> changes;
  for (std::size_t f = 0; f < rows.n_features(); ++f)
    if (!start.absent[f]) changes.push_back({f, false, start.parents[f]});
  accept(changes);
}

std::shared_ptr<const FamilyTerms> SearchScorer::terms_of(const StructureChange& change) const {
  return change.absent ? nullptr : tables_.terms(change.feature, change.parents);
}

std::shared_ptr<const FamilyTerms> SearchScorer::present_terms(std::size_t feature) const {
  return state_.absent[feature] ? nullptr : tables_.terms(feature, state_.parents[feature]);
}

/// Adds a family's terms to the last look-up if that does not make it large, or makes another.
void SearchScorer::add_lookup(std::vector<Lookup>& lookups, std::shared_ptr<const FamilyTerms> family,
                              double sign) const {
  if (!family) return;
  const std::size_t width = tables_.width(), folds = rows_.n_folds();
  Lookup joined;
  if (!lookups.empty()) {
    joined.features = lookups.back().features;
    joined.n_cells = lookups.back().n_cells;
  }
  for (const std::size_t f : family->features)
    if (std::find(joined.features.begin(), joined.features.end(), f) == joined.features.end()) {
      joined.features.push_back(f);
      joined.n_cells *= rows_.n_slots(f);
    }
  const bool joins =
      !lookups.empty() && joined.n_cells <= std::max({kJoinedCells, lookups.back().n_cells, family->n_cells});
  if (!joins) {
    joined.features = family->features;
    joined.n_cells = family->n_cells;
  }
  // The new features of a join are outermost, so that what is there is repeated as a whole.
  const std::size_t inner = joins ? lookups.back().n_cells : 1;
  joined.strides.resize(joined.features.size());
  std::size_t stride = inner;
  for (std::size_t i = 0; i < joined.features.size(); ++i) {
    if (joins && i < lookups.back().features.size()) {
      joined.strides[i] = lookups.back().strides[i];
    } else {
      joined.strides[i] = static_cast<std::uint32_t>(stride);
      stride *= rows_.n_slots(joined.features[i]);
    }
  }
  // The cell of the family that every joined cell belongs to, counted up feature by feature.
  std::vector<std::uint32_t> cell(joined.n_cells, 0);
  for (std::size_t i = 0; i < family->features.size(); ++i) {
    const auto at = std::find(joined.features.begin(), joined.features.end(), family->features[i]);
    const std::uint32_t stride_of = joined.strides[static_cast<std::size_t>(at - joined.features.begin())];
    const std::uint32_t slots = rows_.n_slots(family->features[i]);
    for (std::size_t j = 0; j < joined.n_cells; ++j)
      cell[j] += static_cast<std::uint32_t>(j / stride_of % slots) * family->strides[i];
  }
  joined.terms.resize(folds * joined.n_cells * width);
  for (std::size_t k = 0; k < folds; ++k) {
    const double* added = family->fold(k, width);
    const double* there = joins ? lookups.back().fold(k, width) : nullptr;
    double* terms = joined.terms.data() + k * joined.n_cells * width;
    for (std::size_t j = 0; j < joined.n_cells; ++j)
      for (std::size_t c = 0; c < width; ++c)
        terms[j * width + c] = (joins ? there[j % inner * width + c] : 0.0) + sign * added[cell[j] * width + c];
  }
  if (joins)
    lookups.back() = std::move(joined);
  else
    lookups.push_back(std::move(joined));
}

SearchScorer::Candidate SearchScorer::prepare(std::vector<StructureChange> changes, bool shares_base) const {
  Candidate candidate;
  if (shares_base) {
    if (auto family = terms_of(changes[0])) {
      Lookup lookup;
      lookup.features = family->features;
      lookup.strides = family->strides;
      lookup.n_cells = family->n_cells;
      lookup.family = std::move(family);
      candidate.lookups.push_back(std::move(lookup));
    }
  } else {
    for (const StructureChange& change : changes) {
      add_lookup(candidate.lookups, terms_of(change), 1.0);
      add_lookup(candidate.lookups, present_terms(change.feature), -1.0);
    }
  }
  if (rows_.has_missing()) candidate.inexact_rows = find_inexact_rows(changes);
  candidate.changes = std::move(changes);
  return candidate;
}

void SearchScorer::find_components() {
  if (!rows_.has_missing()) return;
  const std::size_t n = rows_.n_features();
  component_.resize(n);
  std::iota(component_.begin(), component_.end(), std::size_t{0});
  const auto root = [&](std::size_t f) {
    while (component_[f] != f) f = component_[f] = component_[component_[f]];
    return f;
  };
  std::vector<bool> is_parent(n, false);
  for (std::size_t f = 0; f < n; ++f)
    for (const std::size_t p : state_.parents[f]) {
      component_[root(f)] = root(p);
      is_parent[p] = true;
    }
  missing_parents_.assign(n, {});
  for (std::size_t f = 0; f < n; ++f) component_[f] = root(f);
  for (std::size_t f = 0; f < n; ++f)
    if (is_parent[f] && !rows_.missing_rows(f).empty()) missing_parents_[component_[f]].push_back(f);
}

/// A missing feature without children sums to one and takes its term with it. One with children couples theirs: rows
/// where such a feature is missing, in the components that a candidate touches, are judged one by one.
std::vector<std::uint32_t> SearchScorer::find_inexact_rows(std::span<const StructureChange> changes) const {
  std::vector<std::size_t> features;
  const auto touch = [&](std::size_t f) {
    const auto& found = missing_parents_[component_[f]];
    features.insert(features.end(), found.begin(), found.end());
  };
  for (const StructureChange& change : changes) {
    touch(change.feature);
    for (const std::size_t p : change.parents) {
      touch(p);
      features.push_back(p);
    }
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  std::vector<std::uint32_t> rows;
  for (const std::size_t f : features) {
    const auto missing = rows_.missing_rows(f);
    rows.insert(rows.end(), missing.begin(), missing.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

void SearchScorer::exact_sums(const Candidate& candidate, std::span<const std::uint32_t> rows,
                              const std::function<void(std::uint32_t row, const double* sums)>& take) const {
  if (rows.empty()) return;
  const std::size_t n = rows_.n_features(), width = tables_.width();
  SearchState after = state_;
  after.apply(candidate.changes);
  const Structure structure = after.structure();
  const std::vector<std::uint32_t> cardinalities = rows_.data().cardinalities();
  std::vector<std::shared_ptr<const FamilyTerms>> families(n);
  for (const std::size_t f : structure.order()) families[f] = tables_.terms(f, after.parents[f]);

  std::vector<double> logs(rows_.n_classes()), sums(width);
  std::vector<Code> codes(n);
  SummingOut::Workspace work;
  std::size_t next = 0;
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const std::size_t end = rows_.fold_begin(k + 1);
    if (next == rows.size() || rows[next] >= end) continue;
    std::vector<std::vector<double>> tables(n);
    for (const std::size_t f : structure.order()) tables[f] = families[f]->logs[k];
    const auto prior = tables_.log_prior(k);
    const SummingOut summing_out(structure, cardinalities, {prior.begin(), prior.end()}, tables);
    for (; next < rows.size() && rows[next] < end; ++next) {
      for (std::size_t f = 0; f < n; ++f) {
        const std::uint16_t code = rows_.codes(f)[rows[next]];
        codes[f] = code == rows_.n_values(f) ? kMissing : code;
      }
      summing_out.log_joint(codes, logs, work);
      tables_.to_width(logs.data(), sums.data());
      take(rows[next], sums.data());
    }
  }
}

void SearchScorer::load_block(const RowSegment& segment, std::size_t first, std::size_t rows, const FamilyTerms* base,
                              Workspace& work) const {
  const std::size_t width = tables_.width();
  std::copy_n(sums_.data() + first * width, rows * width, work.sums.data());
  if (base != nullptr) {
    std::fill_n(work.index, rows, std::uint32_t{0});
    for (std::size_t i = 0; i < base->features.size(); ++i)
      add_codes(rows_.codes(base->features[i]) + first, base->strides[i], rows, work.index, isa_);
    add_terms(base->fold(segment.fold, width), work.index, rows, width, -1.0, work.sums.data(), isa_);
  }
  work.block = {rows,       width,   rows_.n_classes(),          segment.label,         nullptr,
                work.index, nullptr, tables_.grid().half_step(), tables_.grid().floor()};
}

void SearchScorer::index_block(const Lookup& lookup, std::size_t first, std::size_t rows, std::uint32_t* index) const {
  std::fill_n(index, rows, std::uint32_t{0});
  for (std::size_t i = 0; i < lookup.features.size(); ++i)
    add_codes(rows_.codes(lookup.features[i]) + first, lookup.strides[i], rows, index, isa_);
}

void SearchScorer::evaluate_counts(std::span<const Candidate> candidates, const FamilyTerms* base, Workspace& work,
                                   std::vector<double>& totals) const {
  const std::size_t width = tables_.width(), folds = rows_.n_folds();
  const std::vector<double> nothing(width, 0.0);
  const std::uint32_t zeros[kSearchBlock] = {};
  for (const RowSegment& segment : segments_)
    for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock) {
      const std::size_t rows = std::min(kSearchBlock, segment.end - first);
      load_block(segment, first, rows, base, work);
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto& lookups = candidates[i].lookups;
        work.block.sums = work.sums.data();
        work.block.terms = nothing.data();
        work.block.index = zeros;
        for (std::size_t l = 0; l < lookups.size(); ++l) {
          if (l > 0) {
            if (l == 1) std::copy_n(work.sums.data(), rows * width, work.changed.data());
            add_terms(work.block.terms, work.index, rows, width, 1.0, work.changed.data(), isa_);
            work.block.sums = work.changed.data();
          }
          index_block(lookups[l], first, rows, work.index);
          work.block.terms = lookups[l].fold(segment.fold, width);
          work.block.index = work.index;
        }
        totals[i * folds + segment.fold] += static_cast<double>(count_correct(work.block, isa_));
      }
    }
}

void SearchScorer::evaluate_values(const Candidate& candidate, const FamilyTerms* base, Workspace& work,
                                   double* totals) const {
  const std::size_t width = tables_.width();
  const auto weights = rows_.data().weights();
  std::vector<double> values(rows_.n_rows());
  const auto value = [&](const CandidateBlock& block, const double* sums) {
    return objective_ == SearchObjective::kLogScore ? log_score(block, sums) : is_correct(block, sums) ? 1.0 : 0.0;
  };
  for (const RowSegment& segment : segments_)
    for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock) {
      const std::size_t rows = std::min(kSearchBlock, segment.end - first);
      load_block(segment, first, rows, base, work);
      for (const Lookup& lookup : candidate.lookups) {
        index_block(lookup, first, rows, work.index);
        add_terms(lookup.fold(segment.fold, width), work.index, rows, width, 1.0, work.sums.data(), isa_);
      }
      for (std::size_t i = 0; i < rows; ++i) values[first + i] = value(work.block, work.sums.data() + i * width);
    }
  exact_sums(candidate, candidate.inexact_rows, [&](std::uint32_t row, const double* sums) {
    work.block.label = segments_[segment_of_row_[row]].label;
    values[row] = value(work.block, sums);
  });
  for (const RowSegment& segment : segments_)
    for (std::size_t row = segment.begin; row < segment.end; ++row)
      totals[segment.fold] += (weights.empty() ? 1.0 : weights[row]) * values[row];
}

std::vector<double> SearchScorer::evaluate(std::span<const Candidate> candidates, const FamilyTerms* base) const {
  const std::size_t folds = rows_.n_folds(), width = tables_.width();
  std::vector<double> totals(candidates.size() * folds, 0.0);
  Workspace work(width);
  if (objective_ == SearchObjective::kAccuracy && !rows_.data().is_weighted()) {
    evaluate_counts(candidates, base, work, totals);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      // What the block loop made of rows that are no sum of terms is replaced.
      exact_sums(candidates[i], candidates[i].inexact_rows, [&](std::uint32_t row, const double* sums) {
        const RowSegment& segment = segments_[segment_of_row_[row]];
        load_block(segment, row, 1, base, work);
        for (const Lookup& lookup : candidates[i].lookups) {
          index_block(lookup, row, 1, work.index);
          add_terms(lookup.fold(segment.fold, width), work.index, 1, width, 1.0, work.sums.data(), isa_);
        }
        totals[i * folds + segment.fold] +=
            (is_correct(work.block, sums) ? 1.0 : 0.0) - (is_correct(work.block, work.sums.data()) ? 1.0 : 0.0);
      });
    }
  } else {
    for (std::size_t i = 0; i < candidates.size(); ++i)
      evaluate_values(candidates[i], base, work, totals.data() + i * folds);
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] /= rows_.fold_weight(i % folds);
  return totals;
}

std::vector<double> SearchScorer::fold_scores(std::span<const StructureChange> changes) const {
  const Candidate candidate = prepare({changes.begin(), changes.end()}, false);
  return evaluate({&candidate, 1}, nullptr);
}

void SearchScorer::score_group(std::span<const Move> moves, std::span<const std::size_t> members,
                               const MoveGenerator& generator, std::vector<double>& scores) const {
  const std::size_t folds = rows_.n_folds();
  std::shared_ptr<const FamilyTerms> base;
  std::vector<Candidate> candidates;
  std::size_t begin = 0, bytes = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto changes = generator.expand(moves[members[i]], state_);
    const bool shares_base = changes.size() == 1;
    if (shares_base) base = present_terms(changes[0].feature);
    candidates.push_back(prepare(std::move(changes), shares_base));
    for (const Lookup& lookup : candidates.back().lookups) bytes += lookup.n_cells * folds * tables_.width() * 8;
    if (i + 1 < members.size() && bytes < kGroupBytes) continue;
    const std::vector<double> found = evaluate(candidates, base.get());
    for (std::size_t j = begin; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < folds; ++k) sum += found[(j - begin) * folds + k];
      scores[members[j]] = sum / static_cast<double>(folds);
    }
    candidates.clear();
    begin = i + 1;
    bytes = 0;
  }
}

std::vector<double> SearchScorer::scores(std::span<const Move> moves, const MoveGenerator& generator,
                                         const std::function<void(std::size_t done)>& poll) const {
  std::vector<std::size_t> order(moves.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(moves[a].kind, moves[a].slot) < std::pair(moves[b].kind, moves[b].slot);
  });
  // Adding a feature alone and adding it to a group change the same one feature, but keep apart here: little is lost.
  std::vector<std::size_t> group_begin;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i == 0 || moves[order[i]].kind != moves[order[i - 1]].kind || moves[order[i]].slot != moves[order[i - 1]].slot)
      group_begin.push_back(i);
  group_begin.push_back(order.size());

  std::vector<double> scores(moves.size());
  const double work_per_move =
      static_cast<double>(rows_.n_rows() * tables_.width()) * (objective_ == SearchObjective::kLogScore ? 8.0 : 1.0);
  std::size_t group = 0;
  const std::size_t n_groups = group_begin.size() - 1;
  while (group < n_groups) {
    std::size_t end = group + 1;
    const auto least = static_cast<std::size_t>(4 * resolve_threads(threads_));
    while (end < n_groups && (end - group < least ||
                              static_cast<double>(group_begin[end] - group_begin[group]) * work_per_move < kPollWork))
      ++end;
    parallel_for(end - group, 1, threads_, [&](std::size_t first, std::size_t last) {
      for (std::size_t g = group + first; g < group + last; ++g)
        score_group(moves, std::span(order).subspan(group_begin[g], group_begin[g + 1] - group_begin[g]), generator,
                    scores);
    });
    group = end;
    poll(group_begin[group]);
  }
  return scores;
}

void SearchScorer::accept(std::span<const StructureChange> changes) {
  const std::size_t width = tables_.width();
  Candidate candidate = prepare({changes.begin(), changes.end()}, false);
  Workspace work(width);
  for (const RowSegment& segment : segments_)
    for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock) {
      const std::size_t rows = std::min(kSearchBlock, segment.end - first);
      for (const Lookup& lookup : candidate.lookups) {
        index_block(lookup, first, rows, work.index);
        add_terms(lookup.fold(segment.fold, width), work.index, rows, width, 1.0, sums_.data() + first * width, isa_);
      }
    }
  exact_sums(candidate, candidate.inexact_rows, [&](std::uint32_t row, const double* sums) {
    std::copy_n(sums, width, sums_.begin() + static_cast<std::ptrdiff_t>(row * width));
  });
  state_.apply(changes);
  find_components();
}

}  // namespace tanager

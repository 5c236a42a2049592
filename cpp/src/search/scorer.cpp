#include "search/scorer.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "search/kernels.hpp"

namespace tanager::internal {
namespace {

/// Bytes of tables that a group of candidates holds at once: those of the cache are shared, the others are not.
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;
/// Fewer arcs to a child are not worth the tables of all its parents side by side.
constexpr std::size_t kLeastPlainArcs = 4;
/// Tables of the initial structure handed to a thread at once.
constexpr std::size_t kTablesAtOnce = 4;
/// Terms looked up for an accepted step that are worth sharing among threads.
constexpr std::size_t kLeastToShare = std::size_t{1} << 16;

}  // namespace

/// The sums of up to kSearchBlock rows of one fold and class.
struct Scorer::Block {
  explicit Block(const TermTables& tables)
      : width(tables.width()),
        half_step(tables.grid().half_step()),
        sums(kSearchBlock * width),
        changed(kSearchBlock * width),
        bias(width),
        zeros(width, 0.0),
        view{.rows = 0,
             .width = width,
             .n_classes = tables.rows().n_classes(),
             .label = 0,
             .sums = nullptr,
             .index = nullptr,
             .terms = nullptr,
             .bias = bias.data(),
             .zeros = zeros.data(),
             .floor = tables.grid().floor()} {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// For `view`: the class of its rows, and how many there are.
  void begin(std::uint32_t label, std::size_t n_rows) {
    for (std::size_t c = 0; c < width; ++c) bias[c] = c < label ? half_step : 0.0;
    view.label = label;
    view.rows = n_rows;
  }

  std::size_t width;
  double half_step;
  std::vector<double> sums;     // without the terms that all candidates take away
  std::vector<double> changed;  // with a candidate's terms, some or all
  std::vector<double> bias;     // decides ties for the classes before the rows' own
  std::vector<double> zeros;
  std::uint32_t index[kSearchBlock];
  CandidateBlock view;
};

Scorer::Scorer(const TermTables& tables, const SearchState& start, const SearchOptions& options, ThreadTeam& team)
    : rows_(tables.rows()),
      tables_(tables),
      state_{.parents = std::vector<std::vector<std::size_t>>(rows_.n_features()),
             .absent = std::vector<bool>(rows_.n_features(), true)},
      objective_(options.objective),
      team_(team),
      incomplete_(tables, options.memory_limit),
      plain_arcs_(tables) {
  if (options.method == SearchMethod::kSuperParent) super_parents_.emplace(tables, options.memory_limit);
  sums_.reserve(rows_.n_rows() * tables.width());
  for (std::size_t k = 0; k < rows_.n_folds(); ++k)
    for (std::size_t row = rows_.fold_begin(k); row < rows_.fold_begin(k + 1); ++row)
      sums_.insert(sums_.end(), tables.prior(k).begin(), tables.prior(k).end());
  incomplete_.update(state_, {});
  std::vector<StructureChange> changes;
  for (std::size_t f = 0; f < rows_.n_features(); ++f)
    if (!start.absent[f]) changes.push_back({.feature = f, .absent = false, .parents = start.parents[f]});
  // All threads make the tables, which `accept` then finds in the cache.
  team_.run(changes.size(), kTablesAtOnce, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) tables_.terms(changes[i].feature, changes[i].parents);
  });
  accept(changes);
}

void Scorer::take_away(std::size_t feature, Lookups& lookups) const {
  if (!state_.absent[feature])
    lookups.push_back({.terms = tables_.terms(feature, state_.parents[feature]), .sign = -1.0});
}

/// The terms of changed features as they are.
Lookups Scorer::old_terms(std::span<const StructureChange> changes) const {
  Lookups lookups;
  for (const StructureChange& change : changes) take_away(change.feature, lookups);
  return joined(std::move(lookups), tables_);
}

/// A candidate on its own takes the old terms away itself: that saves look-ups where both are joined.
Scorer::Candidate Scorer::prepare(std::vector<StructureChange> changes, bool alone) const {
  Lookups lookups;
  for (const auto& [feature, absent, parents] : changes) {
    if (alone) take_away(feature, lookups);
    if (!absent) lookups.push_back({.terms = tables_.terms(feature, parents), .sign = 1.0});
  }
  std::vector<std::uint32_t> inexact_rows = incomplete_.find(changes);
  return {.lookups = joined(std::move(lookups), tables_),
          .row_terms = {},
          .changes = std::move(changes),
          .inexact_rows = std::move(inexact_rows)};
}

std::vector<double> Scorer::fold_scores(std::span<const StructureChange> changes) const {
  const Candidate candidate = prepare({changes.begin(), changes.end()}, true);
  return evaluate({}, {&candidate, 1});
}

double Scorer::mean_of_folds(const double* scores) const {
  return std::accumulate(scores, scores + rows_.n_folds(), 0.0) / static_cast<double>(rows_.n_folds());
}

void Scorer::score(std::span<CandidateGroup> groups) {
  team_.run_items(groups.size(), [&](std::size_t i, std::size_t) { score_group(groups[i]); });
}

void Scorer::score_group(CandidateGroup& group) {
  group.scores.resize(group.size());
  if (is_plain(group))
    score_plain_arcs(group);
  else if (super_parents_ && group.changes.size() > 1)
    score_super_parent(group);
  else
    score_candidates(group);
}

/// Whether all candidates are single arcs to a feature without parents that PlainArcs can score.
bool Scorer::is_plain(const CandidateGroup& group) const {
  return group.size() >= kLeastPlainArcs && tables_.has_plain_pairs() && objective_ == SearchObjective::kAccuracy &&
         group.changes.size() == 1 && group.changes[0].parents.empty() && group.adds_one_each() &&
         !state_.absent[group.changes[0].feature];
}

void Scorer::score_plain_arcs(CandidateGroup& group) {
  const Lookups taken = old_terms(group.changes);
  std::vector<double> sums = sums_;
  for_each_block(rows_.segments(), [&](const RowSegment& segment, std::size_t first, std::size_t n_rows) {
    add_lookups(taken, tables_, segment.fold, first, n_rows, sums.data() + first);
  });
  plain_arcs_.score(group.changes[0].feature, group.added, sums, group.scores);
}

/// All that a super-parent adds is added up in SuperParentSums.
void Scorer::score_super_parent(CandidateGroup& group) {
  const std::size_t parent = group.added[0];
  Candidate candidate;
  candidate.row_terms = super_parents_->of(parent, group.changes);
  if (rows_.has_missing()) {
    candidate.changes = group.expand(0);
    candidate.inexact_rows = incomplete_.find(candidate.changes);
  }
  group.scores[0] = mean_of_folds(evaluate({}, {&candidate, 1}).data());
  super_parents_->done_with(parent);
}

void Scorer::score_candidates(CandidateGroup& group) const {
  const bool alone = group.size() == 1;
  const Lookups taken = alone ? Lookups{} : old_terms(group.changes);
  std::vector<Candidate> candidates;
  candidates.reserve(group.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    candidates.push_back(prepare(group.expand(i), alone));
    for (const Lookup& lookup : candidates.back().lookups) bytes += lookup.terms->bytes();
    if (i + 1 < group.size() && bytes < kGroupBytes) continue;
    const std::vector<double> found = evaluate(taken, candidates);
    for (std::size_t j = 0; j < candidates.size(); ++j)
      group.scores[i + 1 - candidates.size() + j] = mean_of_folds(found.data() + j * rows_.n_folds());
    candidates.clear();
    bytes = 0;
  }
}

std::vector<double> Scorer::evaluate(const Lookups& taken, std::span<const Candidate> candidates) const {
  const std::size_t folds = rows_.n_folds();
  std::vector<double> totals(candidates.size() * folds, 0.0);
  const bool counts = objective_ == SearchObjective::kAccuracy && !rows_.data().is_weighted();
  if (counts) count_correct_rows(taken, candidates, totals);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (counts)
      recount_inexact_rows(taken, candidates[i], totals.data() + i * folds);
    else
      add_row_values(taken, candidates[i], totals.data() + i * folds);
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] /= rows_.fold_weight(i % folds);
  return totals;
}

/// The sums of a block of rows without the terms that are taken away: copied to `block.sums` only if there are any.
const double* Scorer::load(const Lookups& taken, const RowSegment& segment, std::size_t first, std::size_t n_rows,
                           Block& block) const {
  const std::size_t width = tables_.width();
  const double* sums = sums_.data() + first * width;
  block.begin(segment.label, n_rows);
  if (taken.empty()) return sums;
  std::copy_n(sums, n_rows * width, block.sums.data());
  add_lookups(taken, tables_, segment.fold, first, n_rows, block.sums.data());
  return block.sums.data();
}

/// For unweighted accuracy: how many rows of every fold each candidate predicts correctly, [candidate][fold].
void Scorer::count_correct_rows(const Lookups& taken, std::span<const Candidate> candidates,
                                std::vector<double>& totals) const {
  const std::size_t width = tables_.width();
  Block block(tables_);
  CandidateBlock& view = block.view;
  for_each_block(rows_.segments(), [&](const RowSegment& segment, std::size_t first, std::size_t n_rows) {
    const double* sums = load(taken, segment, first, n_rows, block);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      // The last look-up, unless it takes away, is made in the pass that adds and compares.
      const std::span<const Lookup> lookups = candidates[i].lookups;
      const bool looks_up = !lookups.empty() && lookups.back().sign > 0;
      const std::span<const Lookup> before = lookups.first(lookups.size() - (looks_up ? 1 : 0));
      view.sums = sums;
      view.index = nullptr;
      view.terms = candidates[i].row_terms.empty() ? nullptr : candidates[i].row_terms.data() + first * width;
      if (!before.empty()) {
        std::copy_n(sums, n_rows * width, block.changed.data());
        add_lookups(before, tables_, segment.fold, first, n_rows, block.changed.data());
        view.sums = block.changed.data();
      }
      if (looks_up) {
        find_cells(*lookups.back().terms, rows_, first, n_rows, block.index);
        view.index = block.index;
        view.terms = lookups.back().terms->fold(segment.fold, width);
      }
      totals[i * rows_.n_folds() + segment.fold] += static_cast<double>(count_correct(view, best_isa()));
    }
  });
}

/// Writes the sums of a block of rows after a candidate to `block.changed`.
void Scorer::apply(const Lookups& taken, const Candidate& candidate, const RowSegment& segment, std::size_t first,
                   std::size_t n_rows, Block& block) const {
  const std::size_t width = tables_.width();
  std::copy_n(load(taken, segment, first, n_rows, block), n_rows * width, block.changed.data());
  add_lookups(candidate.lookups, tables_, segment.fold, first, n_rows, block.changed.data());
  if (candidate.row_terms.empty()) return;
  const double* terms = candidate.row_terms.data() + first * width;
  std::transform(terms, terms + n_rows * width, block.changed.begin(), block.changed.begin(), std::plus<>());
}

/// Replaces what `count_correct_rows` made of rows whose log-joint is not a sum of terms.
void Scorer::recount_inexact_rows(const Lookups& taken, const Candidate& candidate, double* totals) const {
  if (candidate.inexact_rows.empty()) return;
  Block block(tables_);
  sum_out(candidate, [&](std::uint32_t row, const double* sums) {
    const RowSegment& segment = rows_.segment_of(row);
    apply(taken, candidate, segment, row, 1, block);
    if (is_correct(block.view, sums)) totals[segment.fold] += 1;
    if (is_correct(block.view, block.changed.data())) totals[segment.fold] -= 1;
  });
}

/// For weights and other objectives: every row has a value, and these are added up in the order of the rows.
void Scorer::add_row_values(const Lookups& taken, const Candidate& candidate, double* totals) const {
  const std::size_t width = tables_.width();
  const std::span<const double> weights = rows_.data().weights();
  std::vector<double> values(rows_.n_rows());
  Block block(tables_);
  const auto value = [&](const double* sums) {
    if (objective_ == SearchObjective::kCll) return log_posterior(block.view, sums);
    return is_correct(block.view, sums) ? 1.0 : 0.0;
  };
  for_each_block(rows_.segments(), [&](const RowSegment& segment, std::size_t first, std::size_t n_rows) {
    apply(taken, candidate, segment, first, n_rows, block);
    for (std::size_t i = 0; i < n_rows; ++i) values[first + i] = value(block.changed.data() + i * width);
  });
  sum_out(candidate, [&](std::uint32_t row, const double* sums) {
    block.begin(rows_.segment_of(row).label, 1);
    values[row] = value(sums);
  });
  for (const RowSegment& segment : rows_.segments())
    for (std::size_t row = segment.begin; row < segment.end; ++row)
      if (weights.empty() || weights[row] > 0)  // a row without weight may be impossible: 0 * -inf is not a number
        totals[segment.fold] += (weights.empty() ? 1.0 : weights[row]) * values[row];
}

/// Calls take(row, sums) for the candidate's inexact rows.
void Scorer::sum_out(const Candidate& candidate,
                     const std::function<void(std::uint32_t row, const double* sums)>& take) const {
  if (candidate.inexact_rows.empty()) return;
  SearchState after = state_;
  after.apply(candidate.changes);
  incomplete_.sum_out(after, candidate.inexact_rows, take);
}

void Scorer::accept(std::span<const StructureChange> changes) {
  const std::size_t width = tables_.width();
  const Candidate candidate = prepare({changes.begin(), changes.end()}, true);
  const std::span<const RowSegment> segments = rows_.segments();
  // Other threads would take longer to wake up than this one to look up so little.
  const std::size_t n_terms = rows_.n_rows() * width * candidate.lookups.size();
  const std::size_t grain = n_terms < kLeastToShare ? segments.size() : 1;
  team_.run(segments.size(), grain, [&](std::size_t begin, std::size_t end) {
    for_each_block(segments.subspan(begin, end - begin),
                   [&](const RowSegment& segment, std::size_t first, std::size_t n_rows) {
                     add_lookups(candidate.lookups, tables_, segment.fold, first, n_rows, sums_.data() + first * width);
                   });
  });
  sum_out(candidate, [&](std::uint32_t row, const double* sums) {
    std::copy_n(sums, width, sums_.begin() + static_cast<std::ptrdiff_t>(row * width));
  });
  state_.apply(changes);
  incomplete_.update(state_, candidate.inexact_rows);
}

}  // namespace tanager::internal

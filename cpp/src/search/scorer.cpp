#include "search/scorer.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "search/kernels.hpp"

namespace tanager::internal {
namespace {

/// Tables that a group of candidates holds at once.
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;
/// Rows that bounds decide are worth finding for this many candidates or more.
constexpr std::size_t kLeastToBound = 4;
/// Tables of the start handed to a thread at once.
constexpr std::size_t kTablesAtOnce = 4;

/// Terms looked up for an accepted step that are worth sharing out.
constexpr std::size_t kLeastToShare = std::size_t{1} << 16;

/// Work between two calls of poll, in terms looked up.
constexpr double kPollWork = 1 << 26;

}  // namespace

struct SearchScorer::Workspace {
  explicit Workspace(std::size_t width)
      : sums(kSearchBlock * width), changed(kSearchBlock * width), bias(width), nothing(width, 0.0) {}

  std::vector<double> sums;     // of a block, without the terms that all candidates take away
  std::vector<double> changed;  // with a candidate's terms, where these are several look-ups
  std::vector<double> bias;     // what decides ties for the classes before the block's own
  const std::vector<double> nothing;
  std::uint32_t index[kSearchBlock];
  std::uint32_t kept[kSearchBlock];  // the rows of the block that are not decided yet
  CandidateBlock block{};
};

/// The least and the largest term that any candidate of a group adds, by fold and value of the child.
struct SearchScorer::Bounds {
  std::vector<double> low, high;  // [fold][value][width]; empty if the candidates have no child in common
};

SearchScorer::SearchScorer(const SearchRows& rows, const SearchTables& tables, SearchState start,
                           const SearchOptions& options, ThreadTeam& team)
    : rows_(rows),
      tables_(tables),
      state_{std::vector<std::vector<std::size_t>>(rows.n_features()), std::vector<bool>(rows.n_features(), true)},
      objective_(options.objective),
      memory_limit_(options.memory_limit),
      team_(team),
      pairs_(rows, tables, isa_),
      sums_(rows.n_rows() * tables.width()),
      workspaces_(team.size()) {
  const std::size_t width = tables_.width();
  for (std::size_t k = 0; k < rows.n_folds(); ++k) {
    const std::span<const double> prior = tables_.prior(k);
    for (std::size_t row = rows.fold_begin(k); row < rows.fold_begin(k + 1); ++row)
      for (std::size_t c = 0; c < width; ++c) sums_[row * width + c] = prior[c];
    for (const RowSegment& segment : rows.segments(k)) {
      if (rows.has_missing())
        segment_of_row_.insert(segment_of_row_.end(), segment.end - segment.begin,
                               static_cast<std::uint32_t>(segments_.size()));
      segments_.push_back(segment);
    }
  }
  find_components();
  std::vector<StructureChange> changes;
  for (std::size_t f = 0; f < rows.n_features(); ++f)
    if (!start.absent[f]) changes.push_back({f, false, start.parents[f]});
  // Made by all threads, so that accepting finds them ready.
  team_.run(changes.size(), kTablesAtOnce, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) terms_of(changes[i]);
  });
  accept(changes);
}

SearchScorer::~SearchScorer() = default;

SearchScorer::Workspace& SearchScorer::workspace_of(std::size_t worker) {
  auto& place = workspaces_[worker];
  if (!place) place = std::make_unique<Workspace>(tables_.width());
  return *place;
}

/// Only where every candidate is one table whose innermost feature is the same, which is the rule for single arcs.
SearchScorer::Bounds SearchScorer::bounds_of(std::span<const Candidate> candidates) const {
  Bounds bounds;
  const std::size_t width = tables_.width(), folds = rows_.n_folds();
  std::size_t child = rows_.n_features();
  for (const Candidate& candidate : candidates) {
    if (candidate.lookups.size() != 1 || candidate.lookups[0].terms->is_sparse()) return bounds;
    const std::size_t innermost = candidate.lookups[0].terms->digits[0].feature;
    if (child != rows_.n_features() && child != innermost) return bounds;
    child = innermost;
  }
  const std::size_t row = rows_.n_slots(child) * width;
  bounds.low.assign(folds * row, std::numeric_limits<double>::infinity());
  bounds.high.assign(folds * row, -std::numeric_limits<double>::infinity());
  for (const Candidate& candidate : candidates)
    for (std::size_t k = 0; k < folds; ++k) {
      const FamilyTerms& family = *candidate.lookups[0].terms;
      widen_bounds(family.fold(k, width), family.n_cells * width, row, bounds.low.data() + k * row,
                   bounds.high.data() + k * row, isa_);
    }
  return bounds;
}

void SearchScorer::load_block(const RowSegment& segment, std::size_t first, std::size_t rows, const Base& base,
                              Workspace& work) const {
  const std::size_t width = tables_.width();
  if (base.added.empty())
    std::copy_n(sums_.data() + first * width, rows * width, work.sums.data());
  else
    std::transform(sums_.data() + first * width, sums_.data() + (first + rows) * width,
                   base.added.data() + first * width, work.sums.data(), std::plus<>());
  add_block(base.lookups, segment.fold, first, rows, work, work.sums.data());
  for (std::size_t c = 0; c < width; ++c) work.bias[c] = c < segment.label ? tables_.grid().half_step() : 0.0;
  work.block = {rows,       width,   rows_.n_classes(), segment.label,       work.sums.data(),
                work.index, nullptr, work.bias.data(),  work.nothing.data(), tables_.grid().floor()};
}

void SearchScorer::index_block(const FamilyTerms& family, std::size_t first, std::size_t rows,
                               std::uint32_t* index) const {
  if (family.is_sparse()) {
    std::copy_n(family.index.data() + first, rows, index);
    return;
  }
  const std::span digits = family.digits;
  const auto codes = [&](const Digit& digit) { return rows_.codes(digit.feature) + first; };
  if (digits.size() == 1) {
    std::copy_n(codes(digits[0]), rows, index);
    return;
  }
  pair_codes(codes(digits[0]), digits[0].stride, codes(digits[1]), digits[1].stride, rows, index, isa_);
  for (const Digit& digit : digits.subspan(2)) add_codes(codes(digit), digit.stride, rows, index, isa_);
}

void SearchScorer::index_rows(const FamilyTerms& family, std::size_t first, std::span<const std::uint32_t> kept,
                              std::uint32_t* index) const {
  std::fill_n(index, kept.size(), std::uint32_t{0});
  for (const auto& [feature, stride] : family.digits) {
    const std::uint16_t* codes = rows_.codes(feature) + first;
    for (std::size_t row = 0; row < kept.size(); ++row) index[row] += codes[kept[row]] * stride;
  }
}

void SearchScorer::add_block(const Lookups& lookups, std::size_t fold, std::size_t first, std::size_t rows,
                             Workspace& work, double* sums) const {
  for (const SignedTerms& lookup : lookups) {
    index_block(*lookup.terms, first, rows, work.index);
    add_terms(lookup.terms->fold(fold, tables_.width()), work.index, rows, tables_.width(), lookup.sign, sums, isa_);
  }
}

void SearchScorer::evaluate_counts(std::span<const Candidate> candidates, const Base& base, Workspace& work,
                                   std::vector<double>& totals) const {
  const std::size_t width = tables_.width(), folds = rows_.n_folds();
  if (width == 1 && !base.added.empty() && base.lookups.empty() && candidates[0].lookups.empty()) {
    // A super-parent: all that it adds is added up already.
    for (const RowSegment& segment : segments_) {
      const std::size_t rows = segment.end - segment.begin;
      const std::size_t second =
          count_positive_sums(sums_.data() + segment.begin, base.added.data() + segment.begin, rows, isa_);
      totals[segment.fold] += static_cast<double>(segment.label == 1 ? second : rows - second);
    }
    return;
  }
  const bool bound = candidates.size() >= kLeastToBound && !tables_.grid().has_zeros();
  const Bounds bounds = bound ? bounds_of(candidates) : Bounds{};
  const std::size_t child = bounds.low.empty() ? 0 : candidates[0].lookups[0].terms->digits[0].feature;
  for (const RowSegment& segment : segments_)
    for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock) {
      const std::size_t rows = std::min(kSearchBlock, segment.end - first);
      load_block(segment, first, rows, base, work);
      std::size_t settled = 0;
      bool all_kept = true;
      if (!bounds.low.empty()) {
        const std::size_t at = std::size_t{segment.fold} * rows_.n_slots(child) * width;
        settled = settle_rows(work.block, rows_.codes(child) + first, bounds.low.data() + at, bounds.high.data() + at,
                              work.sums.data(), work.kept, isa_);
        all_kept = work.block.rows == rows;
      }
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const Lookups& lookups = candidates[i].lookups;
        if (lookups.size() == 1 && lookups[0].sign > 0) {  // one pass looks up, adds and compares
          if (all_kept)
            index_block(*lookups[0].terms, first, rows, work.index);
          else
            index_rows(*lookups[0].terms, first, {work.kept, work.block.rows}, work.index);
          work.block.terms = lookups[0].terms->fold(segment.fold, width);
          work.block.sums = work.sums.data();
        } else if (lookups.empty()) {
          work.block.terms = nullptr;
          work.block.sums = work.sums.data();
        } else {
          std::copy_n(work.sums.data(), rows * width, work.changed.data());
          add_block(lookups, segment.fold, first, rows, work, work.changed.data());
          work.block.terms = nullptr;
          work.block.sums = work.changed.data();
        }
        totals[i * folds + segment.fold] += static_cast<double>(settled + count_correct(work.block, isa_));
      }
    }
}

void SearchScorer::evaluate_values(const Candidate& candidate, const Base& base, Workspace& work,
                                   double* totals) const {
  const std::size_t width = tables_.width();
  const auto weights = rows_.data().weights();
  std::vector<double> values(rows_.n_rows());
  const auto value = [&](const CandidateBlock& block, const double* sums) {
    return objective_ == SearchObjective::kCll ? log_posterior(block, sums) : is_correct(block, sums) ? 1.0 : 0.0;
  };
  for (const RowSegment& segment : segments_)
    for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock) {
      const std::size_t rows = std::min(kSearchBlock, segment.end - first);
      load_block(segment, first, rows, base, work);
      add_block(candidate.lookups, segment.fold, first, rows, work, work.sums.data());
      for (std::size_t i = 0; i < rows; ++i) values[first + i] = value(work.block, work.sums.data() + i * width);
    }
  exact_sums(candidate, candidate.inexact_rows, [&](std::uint32_t row, const double* sums) {
    work.block.label = segments_[segment_of_row_[row]].label;
    values[row] = value(work.block, sums);
  });
  for (const RowSegment& segment : segments_)
    for (std::size_t row = segment.begin; row < segment.end; ++row)
      if (weights.empty() || weights[row] > 0)  // one without weight may be impossible
        totals[segment.fold] += (weights.empty() ? 1.0 : weights[row]) * values[row];
}

std::vector<double> SearchScorer::evaluate(std::span<const Candidate> candidates, const Base& base,
                                           Workspace& work) const {
  const std::size_t folds = rows_.n_folds();
  std::vector<double> totals(candidates.size() * folds, 0.0);
  if (objective_ == SearchObjective::kAccuracy && !rows_.data().is_weighted()) {
    evaluate_counts(candidates, base, work, totals);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].inexact_rows.empty()) continue;
      // What the block loop made of rows that are no sum of terms is replaced.
      exact_sums(candidates[i], candidates[i].inexact_rows, [&](std::uint32_t row, const double* sums) {
        const RowSegment& segment = segments_[segment_of_row_[row]];
        load_block(segment, row, 1, base, work);
        add_block(candidates[i].lookups, segment.fold, row, 1, work, work.sums.data());
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
  const Candidate candidate = prepare({changes.begin(), changes.end()}, true);
  Workspace work(tables_.width());
  return evaluate({&candidate, 1}, {}, work);
}

/// Whether a group is nothing but single arcs to a feature without parents, and they can be scored in one go.
bool SearchScorer::is_plain(const Group& group) const {
  return group.size() >= kLeastToBound && tables_.has_plain_pairs() && group.kind == Move::Kind::kArc &&
         state_.parents[group.slot].empty() && objective_ == SearchObjective::kAccuracy;
}

void SearchScorer::score_plain_group(const Group& group, Workspace& work, std::span<double> scores) const {
  std::vector<double> sums = sums_;
  const Lookups old{{present_terms(group.slot), -1.0}};
  for (const RowSegment& segment : segments_)
    for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock) {
      const std::size_t rows = std::min(kSearchBlock, segment.end - first);
      add_block(old, segment.fold, first, rows, work, sums.data() + first);
    }
  pairs_.score(group.slot, group.others, sums, scores);
}

void SearchScorer::score_group(const Group& group, const MoveGenerator& generator, Workspace& work,
                               std::span<double> scores) const {
  if (is_plain(group)) {
    score_plain_group(group, work, scores);
    return;
  }
  const std::size_t folds = rows_.n_folds();
  Base base;
  std::vector<Candidate> candidates;
  candidates.reserve(group.size());
  std::size_t begin = 0, bytes = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group.kind == Move::Kind::kParentOfAll) {
      candidates.push_back(prepare_super_parent(group[i], generator, base));
    } else {
      auto changes = generator.expand(group[i], state_);
      const bool alone = group.size() == 1;
      if (i == 0 && !alone) base = old_terms(changes);
      candidates.push_back(prepare(std::move(changes), alone));
    }
    for (const SignedTerms& lookup : candidates.back().lookups) bytes += lookup.terms->bytes();
    if (i + 1 < group.size() && bytes < kGroupBytes) continue;
    const std::vector<double> found = evaluate(candidates, base, work);
    if (group.kind == Move::Kind::kParentOfAll) super_parents_->done_with(group.slot);
    for (std::size_t j = begin; j <= i; ++j) {
      const double* of_folds = found.data() + (j - begin) * folds;
      scores[j] = std::accumulate(of_folds, of_folds + folds, 0.0) / static_cast<double>(folds);
    }
    candidates.clear();
    begin = i + 1;
    bytes = 0;
  }
}

/// In the order in which threads take them: what takes long at the end would keep the others waiting.
void SearchScorer::sort_longest_first(std::span<Group> groups, const MoveGenerator& generator) const {
  if (team_.size() == 1) return;
  for (Group& group : groups) group.work = group.size() * generator.count_changes(group[0]);
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.work > b.work; });
}

/// Moves by what they change. There may be millions, so they are counted out.
std::vector<SearchScorer::Group> SearchScorer::grouped(std::span<const Move> moves) {
  const std::size_t n = rows_.n_features();
  const auto group_of = [&](const Move& move) { return static_cast<std::size_t>(move.kind) * n + move.slot; };
  std::vector<std::size_t> next(Move::kKinds * n + 1, 0);
  for (const Move& move : moves) ++next[group_of(move) + 1];
  order_.resize(moves.size());
  others_.resize(moves.size());
  std::vector<Group> groups;
  for (std::size_t g = 0; g + 1 < next.size(); ++g) {
    if (next[g + 1] > 0)
      groups.push_back({static_cast<Move::Kind>(g / n), static_cast<std::uint32_t>(g % n), next[g],
                        std::span(others_).subspan(next[g], next[g + 1]), 0});
    next[g + 1] += next[g];
  }
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const std::size_t place = next[group_of(moves[i])]++;
    order_[place] = i;
    others_[place] = moves[i].other;
  }
  return groups;
}

ScoredMove SearchScorer::best_of(std::span<const Move> moves, const MoveGenerator& generator,
                                 const std::function<void(std::size_t done)>& poll) {
  std::vector<Group> groups = grouped(moves);
  if (moves[0].kind == Move::Kind::kParentOfAll && !super_parents_)
    super_parents_ = std::make_unique<SuperParentSums>(rows_, tables_, memory_limit_, isa_);
  scores_.resize(moves.size());
  const double work_per_move =
      static_cast<double>(rows_.n_rows() * tables_.width()) * (objective_ == SearchObjective::kCll ? 8.0 : 1.0);
  const std::size_t least = 4 * team_.size();
  std::size_t done = 0;
  for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
    std::size_t count = 0;
    for (; end < groups.size() && (end - begin < least || static_cast<double>(count) * work_per_move < kPollWork);
         ++end)
      count += groups[end].size();
    const auto batch = std::span(groups).subspan(begin, end - begin);
    sort_longest_first(batch, generator);
    team_.run_items(batch.size(), [&](std::size_t i, std::size_t worker) {
      score_group(batch[i], generator, workspace_of(worker),
                  std::span(scores_).subspan(batch[i].begin, batch[i].size()));
    });
    poll(done += count);
  }
  const std::size_t best = first_best(scores_, order_);
  return {order_[best], scores_[best]};
}

void SearchScorer::accept(std::span<const StructureChange> changes) {
  const std::size_t width = tables_.width();
  const Candidate candidate = prepare({changes.begin(), changes.end()}, true);
  // Other threads would take longer to see what is new than to look up so little.
  const bool alone = rows_.n_rows() * width * candidate.lookups.size() < kLeastToShare;
  team_.run(segments_.size(), alone ? segments_.size() : 1, [&](std::size_t begin, std::size_t end) {
    Workspace work(width);
    for (const RowSegment& segment : std::span(segments_).subspan(begin, end - begin))
      for (std::size_t first = segment.begin; first < segment.end; first += kSearchBlock) {
        const std::size_t rows = std::min(kSearchBlock, segment.end - first);
        add_block(candidate.lookups, segment.fold, first, rows, work, sums_.data() + first * width);
      }
  });
  exact_sums(candidate, candidate.inexact_rows, [&](std::uint32_t row, const double* sums) {
    std::copy_n(sums, width, sums_.begin() + static_cast<std::ptrdiff_t>(row * width));
  });
  if (tables_.grid().has_zeros()) summed_rows_ = candidate.inexact_rows;
  state_.apply(changes);
  find_components();
}

}  // namespace tanager::internal

// The one greedy loop of all wrapper searches.
#include "tanager/learn_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "parameters/class_prior.hpp"
#include "parameters/from_counts.hpp"
#include "search/candidates.hpp"
#include "search/fold_rows.hpp"
#include "search/scorer.hpp"
#include "search/term_tables.hpp"
#include "support/check_stop.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

void check(const Dataset& data, const SearchOptions& options) {
  if (data.n_features() == 0) throw InvalidInput("a search needs at least one feature, but there is none");
  check_pseudo_counts("alpha", options.alpha, true);
  if (!(options.epsilon >= 0) || std::isinf(options.epsilon))
    throw InvalidInput(join_text("epsilon: expected a finite number >= 0, got ", options.epsilon));
  if (options.method == SearchMethod::kHillClimb && (options.max_parents < 1 || options.max_parents > kMaxParents))
    throw InvalidInput(
        join_text("max_parents: expected an integer from 1 to ", kMaxParents, ", got ", options.max_parents));
  if (options.time_limit && !(*options.time_limit >= 0))
    throw InvalidInput(join_text("time_limit: expected a number >= 0, got ", *options.time_limit));
  if (!options.class_prior.empty()) check_class_prior(options.class_prior, data.n_classes());
}

/// The initial state. Throws InvalidInput if the options contradict each other or a table is too large, which those of
/// candidates never are.
SearchState checked_start(const SearchOptions& options, const FoldRows& rows) {
  SearchState start = first_state(options, rows.n_features());
  for (std::size_t f = 0; f < rows.n_features(); ++f) {
    double cells = static_cast<double>(rows.n_slots(f)) * rows.n_classes();
    for (const std::size_t p : start.parents[f]) cells *= rows.n_slots(p);
    if (cells > static_cast<double>(kMaxTableCells))
      throw InvalidInput(join_text("the initial structure and the required arcs give feature ", f, " a table of ",
                                   cells, " cells, but at most ", kMaxTableCells, " are possible"));
  }
  return start;
}

/// Candidates are scored for about this long before the clock is read again, in terms looked up: a fraction of a
/// second.
constexpr double kTermsPerBatch = 1 << 26;
/// The logarithm of a row's posterior takes about as long as this many terms.
constexpr double kTermsPerCll = 8;
/// With this many groups per thread, none waits long for the others at the end of a batch.
constexpr std::size_t kGroupsPerThread = 4;

class Search {
 public:
  Search(const Dataset& data, std::span<const std::uint32_t> fold_of_row, const SearchOptions& options, int threads)
      : options_(options),
        team_(threads),
        rows_(data, fold_of_row, team_),
        start_(checked_start(options, rows_)),
        limits_(rows_, options.memory_limit),
        generator_(make_generator(options, limits_)),
        tables_(rows_, options, team_),
        scorer_(tables_, start_, options, team_) {}

  SearchResult run() {
    add_step({}, scorer_.fold_scores({}), 0);
    callers_check_ = this_threads_check;
    const StopCheck none({});  // from here on there is a result, and best_of checks whether to go on
    std::optional<SearchStop> stop;
    try {
      while (!stop) stop = step();
    } catch (const SearchEnd& end) {
      stop = end.reason;
    }
    return {.structure = scorer_.state().structure(),
            .steps = std::move(steps_),
            .stop = *stop,
            .n_candidates = n_candidates_,
            .seconds = seconds()};
  }

 private:
  /// Thrown between two batches of candidates; what was accepted before remains.
  struct SearchEnd {
    SearchStop reason;
  };

  /// Accepts one step, or returns why there is none.
  std::optional<SearchStop> step() {
    const double score = steps_.back().score;
    if (options_.objective == SearchObjective::kAccuracy && score >= 1) return SearchStop::kPerfect;
    if (options_.max_steps && steps_.size() > *options_.max_steps) return SearchStop::kStepLimit;
    const std::size_t before = n_candidates_;
    std::vector<CandidateGroup> groups = generator_->propose(scorer_.state());
    if (groups.empty()) return SearchStop::kNothingLeft;
    Choice best = best_of(groups);
    if (options_.method == SearchMethod::kSuperParent) {  // a second round decides on a child of the best parent
      groups = one_by_one(best.changes());
      best = best_of(groups);
    }
    if (!improves(best.score(), score)) return SearchStop::kNoImprovement;
    std::vector<StructureChange> changes = best.changes();
    std::vector<double> fold_scores = scorer_.fold_scores(changes);
    scorer_.accept(changes);
    add_step(std::move(changes), std::move(fold_scores), n_candidates_ - before);
    return std::nullopt;
  }

  bool improves(double candidate, double present) const {
    if (std::isinf(present)) return candidate > present;  // a test row was impossible: nothing to take epsilon from
    return candidate - options_.epsilon >= present;
  }

  /// Without keep_going, the caller's StopCheck is looked at in its place.
  bool goes_on(const SearchProgress& progress) const {
    if (options_.keep_going) return options_.keep_going(progress);
    try {
      if (callers_check_ != nullptr) callers_check_->look();
      return true;
    } catch (const Stopped&) {
      return false;
    }
  }

  /// Scores groups batch by batch, and finds the best candidate of all.
  Choice best_of(std::vector<CandidateGroup>& groups) {
    std::size_t n_all = 0;
    for (const CandidateGroup& group : groups) n_all += group.size();
    // Longest first: a long group at the end would keep the other threads waiting.
    std::stable_sort(groups.begin(), groups.end(), [](const CandidateGroup& a, const CandidateGroup& b) {
      return a.size() * a.changes.size() > b.size() * b.changes.size();
    });
    const std::size_t before = n_candidates_;
    const auto check_limits = [&] {
      const SearchProgress progress{.steps = steps_.size() - 1,
                                    .score = steps_.back().score,
                                    .candidates = n_candidates_ - before,
                                    .batch = n_all};
      if (!goes_on(progress)) throw SearchEnd{SearchStop::kInterrupted};
      if (options_.time_limit && seconds() > *options_.time_limit) throw SearchEnd{SearchStop::kTimeLimit};
    };
    const StopCheck within(check_limits);
    const double terms_per_row = options_.objective == SearchObjective::kCll ? kTermsPerCll : 1.0;
    const double work = static_cast<double>(rows_.n_rows() * tables_.width()) * terms_per_row;
    for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
      std::size_t count = 0;
      for (; end < groups.size(); ++end) {
        const bool enough = end - begin >= kGroupsPerThread * team_.size();
        if (enough && static_cast<double>(count) * work >= kTermsPerBatch) break;
        count += groups[end].size();
      }
      scorer_.score(std::span(groups).subspan(begin, end - begin));
      n_candidates_ += count;
      check_limits();
    }
    return first_best(groups);
  }

  void add_step(std::vector<StructureChange> changes, std::vector<double> fold_scores, std::size_t n_candidates) {
    const double mean =
        std::accumulate(fold_scores.begin(), fold_scores.end(), 0.0) / static_cast<double>(fold_scores.size());
    steps_.push_back({.changes = std::move(changes),
                      .fold_scores = std::move(fold_scores),
                      .score = mean,
                      .n_candidates = n_candidates,
                      .seconds = seconds()});
  }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const SearchOptions& options_;
  ThreadTeam team_;
  FoldRows rows_;
  SearchState start_;
  TableLimits limits_;
  std::unique_ptr<CandidateGenerator> generator_;
  TermTables tables_;
  Scorer scorer_;
  std::vector<SearchStep> steps_;
  std::size_t n_candidates_ = 0;
  StopCheck* callers_check_ = nullptr;
};

}  // namespace

SearchResult search_structure(const Dataset& data, std::span<const std::uint32_t> fold_of_row,
                              const SearchOptions& options, int threads) {
  check(data, options);
  try {
    return Search(data, fold_of_row, options, threads).run();
  } catch (const CliqueTooLarge& error) {
    throw CliqueTooLarge(join_text(error.what(), "; a search sets max_cells to memory_limit / ", kBytesPerCliqueCell),
                         error.features());
  }
}

}  // namespace tanager

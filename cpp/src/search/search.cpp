// The one greedy loop of all wrapper searches.
#include "tanager/learn_search.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "parameters/class_prior.hpp"
#include "parameters/from_counts.hpp"
#include "search/fold_rows.hpp"
#include "search/candidates.hpp"
#include "search/scorer.hpp"
#include "search/term_tables.hpp"
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
    throw InvalidInput(join_text("epsilon must be a number that is not negative, but is ", options.epsilon));
  if (options.method == SearchMethod::kHillClimb && (options.max_parents < 1 || options.max_parents > kMaxParents))
    throw InvalidInput(join_text("a feature can have 1 to ", kMaxParents, " feature parents, but ", options.max_parents,
                                 " were asked for"));
  if (options.time_limit && !(*options.time_limit >= 0))
    throw InvalidInput(join_text("the time limit must not be negative, but is ", *options.time_limit));
  if (!options.class_prior.empty()) check_class_prior(options.class_prior, data.n_classes());
}

/// Candidates with tables beyond the limit are never proposed; a start with one must not be tried either.
SearchState checked_sizes(SearchState start, const SearchRows& rows) {
  for (std::size_t f = 0; f < rows.n_features(); ++f) {
    double cells = static_cast<double>(rows.n_slots(f)) * rows.n_classes();
    for (const std::size_t p : start.parents[f]) cells *= rows.n_slots(p);
    if (cells > static_cast<double>(kMaxTableCells))
      throw InvalidInput(join_text("the start and the required arcs give feature ", f, " a table of ", cells,
                                   " cells, but at most ", kMaxTableCells, " are possible"));
  }
  return start;
}

class Search {
 public:
  Search(const Dataset& data, std::span<const std::uint32_t> fold_of_row, const SearchOptions& options, int threads)
      : options_(options),
        team_(threads),
        rows_(data, fold_of_row, team_),
        tables_(rows_, options, team_),
        scorer_(rows_, tables_, checked_sizes(first_state(options, data.n_features()), rows_), options, team_),
        generator_(make_generator(options, scorer_.state(), [this](std::size_t child, auto parents, auto added) {
          return tables_.fits(child, parents, added);
        })) {}

  SearchResult run() {
    add_step({}, scorer_.fold_scores({}), 0);
    const StopCheck none({});  // from here on there is something to return, and best_of asks whether to go on
    std::optional<SearchStop> stop;
    try {
      while (!stop) stop = step();
    } catch (const SearchEnd& end) {
      stop = end.reason;
    }
    return {scorer_.state().structure(), std::move(steps_), *stop, n_candidates_, seconds()};
  }

 private:
  /// Thrown out of the scoring of a batch; what was accepted before remains.
  struct SearchEnd {
    SearchStop reason;
  };

  /// One accepted step, or why there is none.
  std::optional<SearchStop> step() {
    const double score = steps_.back().score;
    if (options_.objective == SearchObjective::kAccuracy && score >= 1) return SearchStop::kPerfect;
    if (options_.max_steps && steps_.size() > *options_.max_steps) return SearchStop::kStepLimit;
    const std::size_t before = n_candidates_;
    const std::span<const Move> moves =
        generator_->propose(scorer_.state(), [this](std::span<const Move> batch) { return best_of(batch).move; });
    if (moves.empty()) return SearchStop::kNothingLeft;
    const ScoredMove best = best_of(moves);
    if (!improves(best.score, score)) return SearchStop::kNoImprovement;
    std::vector<StructureChange> changes = generator_->expand(moves[best.move], scorer_.state());
    std::vector<double> fold_scores = scorer_.fold_scores(changes);
    scorer_.accept(changes);
    generator_->accepted(moves[best.move]);
    add_step(std::move(changes), std::move(fold_scores), n_candidates_ - before);
    return std::nullopt;
  }

  bool improves(double candidate, double present) const {
    if (std::isinf(present)) return candidate > present;  // a test row was impossible: nothing to take epsilon from
    return candidate - options_.epsilon >= present;
  }

  ScoredMove best_of(std::span<const Move> moves) {
    const std::size_t before = n_candidates_;
    const auto ask = [&] {
      const std::size_t done = n_candidates_ - before;
      if (options_.keep_going && !options_.keep_going({steps_.size() - 1, steps_.back().score, done, moves.size()}))
        throw SearchEnd{SearchStop::kInterrupted};
      if (options_.time_limit && seconds() > *options_.time_limit) throw SearchEnd{SearchStop::kTimeLimit};
    };
    const StopCheck within(ask);
    return scorer_.best_of(moves, *generator_, [&](std::size_t done) {
      n_candidates_ = before + done;
      ask();
    });
  }

  void add_step(std::vector<StructureChange> changes, std::vector<double> fold_scores, std::size_t n_candidates) {
    const double mean =
        std::accumulate(fold_scores.begin(), fold_scores.end(), 0.0) / static_cast<double>(fold_scores.size());
    steps_.push_back({std::move(changes), std::move(fold_scores), mean, n_candidates, seconds()});
  }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const SearchOptions& options_;
  ThreadTeam team_;
  SearchRows rows_;
  SearchTables tables_;
  SearchScorer scorer_;
  std::unique_ptr<MoveGenerator> generator_;
  std::vector<SearchStep> steps_;
  std::size_t n_candidates_ = 0;
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

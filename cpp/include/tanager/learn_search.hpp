#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tanager/dataset.hpp"
#include "tanager/errors.hpp"
#include "tanager/structure.hpp"

namespace tanager {

/// Wrapper search for a structure: candidates are evaluated by cross-validated prediction (Mihaljević, Bielza and
/// Larrañaga, section 4.4).
enum class SearchMethod {
  kHillClimb,    ///< add one arc (TAN-HC; with more than one parent allowed, wrapper k-DB): Keogh and Pazzani 2002
  kSuperParent,  ///< choose the best parent of all, then its best child (TAN-HCSP): Keogh and Pazzani 2002
  kForwardJoin,  ///< begin with the class alone; add a feature, or join it to a group (FSSJ): Pazzani 1996
  kBackwardJoin  ///< begin with naive Bayes; drop a feature, or join two groups (BSEJ): Pazzani 1996
};

/// The score that is averaged over the folds and maximized.
enum class SearchObjective {
  kAccuracy,  ///< share of test rows whose class is predicted
  kCll        ///< mean conditional log-likelihood: of ln P(class | features) over the test rows
};

struct Arc {
  std::size_t parent = 0;
  std::size_t child = 0;
};

/// The change of one feature: its new parents, or its removal from the model.
struct StructureChange {
  std::size_t feature = 0;
  bool absent = false;
  std::vector<std::size_t> parents;  ///< in increasing order
};

/// Progress of a search.
struct SearchProgress {
  std::size_t steps = 0;       ///< accepted so far
  double score = 0;            ///< of the current structure
  std::size_t candidates = 0;  ///< scored of the current batch
  std::size_t batch = 0;       ///< candidates in it
};

struct SearchOptions {
  SearchMethod method = SearchMethod::kHillClimb;
  SearchObjective objective = SearchObjective::kAccuracy;
  /// Maximum number of feature parents of a feature in kHillClimb.
  std::size_t max_parents = 1;
  /// Of the two arcs between features without feature parents, kHillClimb tries only that from the later to the earlier
  /// one, as bnclassify does: under maximum likelihood both predict the same.
  bool symmetric = false;
  /// Added to every count of the tables that candidates are evaluated with.
  double alpha = 1.0;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
  /// A step must improve the score by this much.
  double epsilon = 0.01;
  /// The initial structure; otherwise naive Bayes, or for kForwardJoin the class alone.
  std::optional<Structure> start;
  /// Arcs that are added to the initial structure and never removed.
  std::vector<Arc> required;
  /// Arcs that are never added.
  std::vector<Arc> forbidden;
  std::optional<std::size_t> max_steps;
  /// In seconds.
  std::optional<double> time_limit;
  /// Memory for tables and counts, in bytes. Less memory only costs time, except that candidates with a table that
  /// alone is larger are not tried. Above 2^30 it also raises the limit of exact inference about missing features
  /// (max_cells of Inference), to one cell for 64 bytes.
  std::size_t memory_limit = std::size_t{1} << 30;
  /// False ends the search, whose result then has SearchStop::kInterrupted. During the search it is called in place of
  /// the function of a StopCheck.
  KeepGoing<SearchProgress> keep_going;
};

/// An accepted candidate.
struct SearchStep {
  std::vector<StructureChange> changes;
  std::vector<double> fold_scores;
  double score = 0;              ///< their mean
  std::size_t n_candidates = 0;  ///< scored to find it
  double seconds = 0;            ///< since the search began
};

enum class SearchStop { kNoImprovement, kNothingLeft, kPerfect, kStepLimit, kTimeLimit, kInterrupted };

struct SearchResult {
  Structure structure;
  std::vector<SearchStep> steps;  ///< the initial structure first
  SearchStop stop = SearchStop::kNoImprovement;
  std::size_t n_candidates = 0;
  double seconds = 0;
};

/// Greedy search. `fold_of_row` is the fold that tests each row; a fold's tables are counted in all other rows. Ties
/// go to the first candidate, and to the lowest class. A missing feature is marginalized exactly. The result does not
/// depend on the number of threads. Throws InvalidInput for options that contradict each other or the data.
[[nodiscard]] SearchResult search_structure(const Dataset& data, std::span<const std::uint32_t> fold_of_row,
                                            const SearchOptions& options, int threads = 1);

}  // namespace tanager

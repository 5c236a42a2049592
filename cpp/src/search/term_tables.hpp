// The tables that candidates are judged with: for every fold, ln P(feature | parents, class) from all other folds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "search/fold_counts.hpp"
#include "search/fold_rows.hpp"
#include "search/joint_values.hpp"
#include "search/log_grid.hpp"
#include "support/parallel.hpp"
#include "support/shelf.hpp"
#include "support/synchronized.hpp"
#include "tanager/learn_search.hpp"

namespace tanager::internal {

/// The terms that a family adds to the log-joint, on the grid. A cell is a joint value of `digits`, a missing value
/// being one more: such cells are zero. Where there would be more cells than rows, a fold has only those that its rows
/// need, and the rows say which. There may be many thousands, so all that one has lies in the memory it is given.
struct FamilyTerms {
  explicit FamilyTerms(std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : digits(memory), index(memory), begin(memory), terms(memory), logs(memory) {}

  std::pmr::vector<Digit> digits;         ///< the child, then the parents from the last to the first
  std::size_t n_cells = 0;                ///< of every fold; not of a sparse table
  std::pmr::vector<std::uint32_t> index;  ///< the cell of every row in its fold; only in a sparse table
  std::pmr::vector<std::size_t> begin;    ///< of every fold's cells, and their end; only in a sparse table
  std::pmr::vector<double> terms;         ///< [fold][cell][width]
  /// ln P per fold, laid out as in Network: only where cells are missing.
  std::pmr::vector<std::pmr::vector<double>> logs;

  bool is_sparse() const { return !index.empty(); }
  const double* fold(std::size_t k, std::size_t width) const {
    return terms.data() + (is_sparse() ? begin[k] : k * n_cells) * width;
  }
  std::size_t bytes() const;
};

/// Owns the terms, unless SearchTables keeps them: then it is a mere pointer, since counting the users of what all
/// threads use would make them wait for each other.
using Terms = std::shared_ptr<const FamilyTerms>;

/// Counts once, computes the terms of a family when they are first asked for, and keeps them as long as memory allows.
class SearchTables {
 public:
  SearchTables(const SearchRows& rows, const SearchOptions& options, ThreadTeam& team);

  const LogGrid& grid() const { return grid_; }
  /// Numbers per row. With two classes the difference of the second's log-joint and the first's says all, unless both
  /// can be ln 0; else one number per class, rounded up to whole vectors.
  std::size_t width() const { return width_; }
  /// [width]
  std::span<const double> prior(std::size_t k) const { return std::span(prior_).subspan(k * width_, width_); }
  /// ln P(class) of a fold, [class].
  std::span<const double> log_prior(std::size_t k) const {
    return std::span(log_prior_).subspan(k * rows_.n_classes(), rows_.n_classes());
  }
  /// Whether the table of a child with two sets of parents stays within the limits.
  bool fits(std::size_t child, std::span<const std::size_t> parents, std::span<const std::size_t> added) const;

  /// Safe to call from several threads. `parents` in increasing order. Valid as long as these tables.
  Terms terms(std::size_t child, const std::vector<std::size_t>& parents) const;

  /// The terms of a pair whose child has no other parents, [fold][parent][child], written to `out`; only if
  /// `has_plain_pairs`. The same numbers as `terms` gives, without keeping them.
  bool has_plain_pairs() const { return width_ == 1 && !counts_.empty() && !rows_.has_missing(); }
  void pair_terms(std::size_t parent, std::size_t child, double* out) const;

  /// Whether `bytes` more may be kept elsewhere in place of `freed`; if so, they count from now on.
  bool reserve(std::size_t bytes, std::size_t freed) const;

  /// Turns logarithms per class, ln 0 being minus infinity, into what `width` says.
  void to_width(const double* logs, double* out) const;

 private:
  using Tasks = std::vector<std::function<void()>>;
  void add_counting(Tasks& tasks, std::size_t threads);
  void add_logarithms(Tasks& tasks);
  void estimate_prior(const std::vector<double>& given);
  template <class Set>
  void to_training(std::vector<Set>& folds) const;
  std::size_t count_cells(std::size_t child, std::span<const std::size_t> parents) const;
  bool is_sparse(std::size_t cells) const;
  std::size_t dense_bytes(std::size_t child, std::size_t cells, std::size_t parents) const;
  Terms put_on_shelf(std::size_t child, const std::vector<std::size_t>& parents, std::size_t cells,
                     std::atomic<const FamilyTerms*>& place) const;
  Terms find_or_make(std::size_t child, const std::vector<std::size_t>& parents) const;
  FamilyTerms compute(std::size_t child, std::span<const std::size_t> parents,
                      std::pmr::memory_resource* memory = std::pmr::new_delete_resource()) const;
  void compute_dense(FamilyTerms& family, std::size_t cells) const;
  void compute_sparse(FamilyTerms& family) const;
  std::vector<std::vector<double>> training_counts(const FamilyTerms& family, std::size_t cells) const;
  template <class T>
  void estimate(FamilyTerms& family, std::size_t k, const CountView<T>& counts,
                const std::vector<bool>& observed) const;
  template <class T>
  void estimate_difference(std::size_t child, std::size_t configurations, const CountView<T>& counts,
                           double* terms) const;
  double log_count(double count) const;
  double log_sum(double sum, std::size_t child) const;

  const SearchRows& rows_;
  double alpha_;
  LogGrid grid_;
  std::size_t width_;
  std::size_t memory_limit_;
  bool all_pairs_fit_ = false;
  std::vector<double> prior_, log_prior_;
  SearchCounts counts_;  // empty if they would not fit, or are not whole
  // Rounded logarithms of whole counts, where counts are whole: ln(n + alpha), and ln(n + r alpha) by feature.
  std::vector<double> log_counts_;
  std::vector<std::vector<double>> log_sums_;
  std::vector<std::size_t> log_sums_of_feature_;
  struct Kept {
    std::map<std::pair<std::size_t, std::vector<std::size_t>>, std::unique_ptr<const FamilyTerms>> tables;
    std::size_t bytes = 0;  // of all that is kept, here and elsewhere
  };
  mutable Synchronized<Kept> kept_;
  // Those of families with at most one parent, found without a lock: [child][parent, or the child itself]; may be
  // empty. Dense ones lie on the shelf of their child: threads mostly ask for those of one child at a time.
  mutable std::vector<std::atomic<const FamilyTerms*>> single_parent_;
  struct alignas(128) ChildShelf : Synchronized<Shelf> {};  // apart, lest threads with two children wait for each other
  mutable std::vector<ChildShelf> shelves_;
};

}  // namespace tanager::internal

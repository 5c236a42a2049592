// The tables that candidates are scored with: for every fold, ln P(feature | parents, class) from all other folds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "search/fold_counts.hpp"
#include "search/fold_rows.hpp"
#include "search/log_grid.hpp"
#include "support/parallel.hpp"
#include "support/synchronized.hpp"
#include "tanager/learn_search.hpp"

namespace tanager::internal {

/// How large the table of a family may become.
class TableLimits {
 public:
  TableLimits(const FoldRows& rows, std::size_t memory_limit);
  /// Whether the table of a child with two sets of parents stays within the limits.
  bool allow(std::size_t child, std::span<const std::size_t> parents, std::span<const std::size_t> added) const;

 private:
  const FoldRows& rows_;
  std::size_t memory_limit_;
  bool all_pairs_fit_ = false;
};

/// The terms that a family adds to the log-joint, on the grid. A cell is a joint value of `digits`; where a feature is
/// missing, cells are zero. A table that would have more cells than rows is sparse: a fold has only the cells that
/// occur in its rows, and `index` holds the cell of every row.
struct FamilyTerms {
  std::vector<Digit> digits;              ///< the child, then the parents from the last to the first
  std::size_t n_cells = 0;                ///< of every fold; zero in a sparse table
  std::vector<std::uint32_t> index;       ///< the cell of every row in its fold; empty in a dense table
  std::vector<std::size_t> begin;         ///< of every fold's cells, and their end; empty in a dense table
  std::vector<double> terms;              ///< [fold][cell][width]
  std::vector<std::vector<double>> logs;  ///< ln P per fold, laid out as in Network; only where values are missing

  bool is_sparse() const { return !index.empty(); }
  const double* fold(std::size_t k, std::size_t width) const {
    return terms.data() + (is_sparse() ? begin[k] : k * n_cells) * width;
  }
  std::size_t bytes() const;
};

/// A table that TermTables keeps, or one that did not fit into its memory and belongs to the holder of this.
class Terms {
 public:
  explicit Terms(const FamilyTerms& kept) : table_(&kept) {}
  explicit Terms(FamilyTerms&& own) : own_(std::make_unique<const FamilyTerms>(std::move(own))), table_(own_.get()) {}

  const FamilyTerms& operator*() const { return *table_; }
  const FamilyTerms* operator->() const { return table_; }

 private:
  std::unique_ptr<const FamilyTerms> own_;
  const FamilyTerms* table_;
};

/// Counts once, computes the terms of a family on first use, and keeps them as long as memory allows.
class TermTables {
 public:
  TermTables(const FoldRows& rows, const SearchOptions& options, ThreadTeam& team);

  const FoldRows& rows() const { return rows_; }
  const LogGrid& grid() const { return grid_; }
  /// Numbers per row. With two classes it is the difference of the second's log-joint and the first's, unless both can
  /// be ln 0; otherwise one number per class, padded to whole vectors.
  std::size_t width() const { return width_; }
  /// [width]
  std::span<const double> prior(std::size_t k) const { return std::span(prior_).subspan(k * width_, width_); }
  /// ln P(class) of a fold, [class].
  std::span<const double> log_prior(std::size_t k) const {
    return std::span(log_prior_).subspan(k * rows_.n_classes(), rows_.n_classes());
  }

  /// Safe to call from several threads. `parents` in increasing order. Valid as long as these tables.
  Terms terms(std::size_t child, const std::vector<std::size_t>& parents) const;

  /// Whether `pair_terms` can be called.
  bool has_plain_pairs() const { return width_ == 1 && counts_ && !rows_.has_missing(); }
  /// The terms of a child with one parent, [fold][parent][child], written to `out`: the numbers of `terms`, not kept.
  void pair_terms(std::size_t parent, std::size_t child, double* out) const;

  /// Whether `bytes` may be kept elsewhere in place of `freed`; if so, they count from now on.
  bool reserve(std::size_t bytes, std::size_t freed = 0) const;

  /// Converts logarithms per class, ln 0 being minus infinity, to `width` numbers.
  void to_width(const double* logs, double* out) const;

 private:
  using Cache = std::map<std::vector<std::size_t>, FamilyTerms>;  // by parents

  void tabulate_logarithms(ThreadTeam& team);
  void estimate_prior(const std::vector<double>& given);
  FamilyTerms compute(std::size_t child, std::span<const std::size_t> parents) const;
  void compute_dense(FamilyTerms& family) const;
  void compute_sparse(FamilyTerms& family) const;
  template <class T>
  void estimate(FamilyTerms& family, std::size_t k, const CountView<T>& counts,
                const std::vector<bool>& observed) const;
  template <class T>
  void estimate_difference(std::size_t child, std::size_t n_configurations, const CountView<T>& counts,
                           double* terms) const;
  double log_count(double count) const;
  double log_sum(double sum, std::size_t child) const;

  const FoldRows& rows_;
  double alpha_;
  LogGrid grid_;
  std::size_t width_;
  std::size_t memory_limit_;
  std::vector<double> prior_;
  std::vector<double> log_prior_;
  std::optional<PairCounts> counts_;  // none if they would not fit, or weights are counted
  // Rounded logarithms of all counts, where these are integers: ln(n + alpha), and ln(n + n_values * alpha) by feature.
  std::vector<double> log_counts_;
  std::map<std::uint32_t, std::vector<double>> log_sums_;  // by number of values
  std::vector<const double*> log_sums_of_feature_;
  mutable std::vector<Synchronized<Cache>> caches_;  // by child: threads mostly work on different ones
  mutable std::atomic<std::size_t> kept_bytes_{0};   // of all that is kept, here and elsewhere
};

}  // namespace tanager::internal

// How often combinations of values of a set of variables occur, in a form that makes informations of sets that overlap
// cheap: N I(X;Y|Z) = t(XYZ) + t(Z) - t(XZ) - t(YZ), where t adds n ln n over the combinations. A set of five variables
// serves ten pairs given the other three.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "constraint/set_map.hpp"
#include "support/scratch_pool.hpp"
#include "support/synchronized.hpp"
#include "tanager/dataset.hpp"

namespace tanager::internal {

/// A set and some variables that it does not hold, in increasing order.
std::vector<std::size_t> united(std::span<const std::size_t> set, std::initializer_list<std::size_t> others);

/// What the combinations of values of some variables tell.
struct SetSummary {
  std::int64_t terms = 0;       ///< n ln n over all, in units that SetCounts knows
  std::uint64_t occurring = 0;  ///< combinations that occur
};

/// Rows with the same values of some variables beside each other.
struct RowGroups {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> starts;  // of every group, and the end
};

/// Rows without missing cells, whose weights are whole numbers. Sums are of whole numbers, so that they depend on
/// nothing but which counts there are. Several threads may ask at once.
class SetCounts {
 public:
  /// Up to 2^32 - 2 rows, whose weights are whole and add up to less than 2^53. Keeps a reference to the rows.
  explicit SetCounts(const Dataset& rows);

  double total() const { return static_cast<double>(total_); }
  /// Of variables in increasing order, none of which has missing cells.
  SetSummary of(std::span<const std::size_t> variables) const;
  /// Degrees of freedom of a test of x and y given others in increasing order: (values of x - 1)(values of y - 1), of
  /// those that occur, over the combinations of these.
  double degrees(std::size_t x, std::size_t y, std::span<const std::size_t> given) const;
  /// A sum of terms of summaries in nats per row.
  double per_row(std::int64_t terms) const;

 private:
  static constexpr std::size_t kParts = 64;  // so that threads seldom wait for each other

  struct Scratch {
    std::vector<std::uint32_t> keys;   // of every row
    std::vector<std::uint64_t> cells;  // all zero between calls
  };
  /// How many values of a variable occur in every group of rows; zero where no row of it weighs anything.
  using OccurringValues = std::vector<std::uint16_t>;
  /// What is worth keeping as long as all of a kind have not too many numbers together.
  template <class Kept>
  struct SetCache {
    SetMap<std::shared_ptr<const Kept>> known;
    std::size_t n_numbers = 0;
  };
  template <class Kept>
  using SetCaches = std::array<Synchronized<SetCache<Kept>>, kParts>;

  SetSummary count(std::span<const std::size_t> variables) const;
  template <class Use>
  void count_groups(Scratch& scratch, std::span<const std::size_t> outer, Use use) const;
  std::shared_ptr<const RowGroups> groups(std::span<const std::size_t> variables) const;
  RowGroups refined(const RowGroups& before, const Column& column) const;
  std::shared_ptr<const OccurringValues> values(std::size_t variable, std::span<const std::size_t> given) const;
  OccurringValues count_values(Scratch& scratch, const Column& column, const RowGroups& within) const;
  std::uint64_t weight(std::size_t row) const { return weights_.empty() ? 1 : weights_[row]; }
  std::int64_t term(std::uint64_t n) const;

  const Dataset& rows_;
  std::vector<std::uint64_t> weights_;
  std::uint64_t total_ = 0;
  double unit_ = 1;                  // units per nat
  std::vector<std::int64_t> terms_;  // of small counts
  mutable std::array<Synchronized<SetMap<SetSummary>>, kParts> known_;
  mutable SetCaches<RowGroups> groups_;
  mutable SetCaches<OccurringValues> values_;
  mutable ScratchPool<Scratch> scratch_;
};

}  // namespace tanager::internal

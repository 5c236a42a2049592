// Counts that most tables of a search come from: every feature, and every pair of features, in every fold's training
// rows.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "search/fold_rows.hpp"
#include "support/parallel.hpp"

namespace tanager::internal {

/// Where the counts of a parent configuration j and a value v of the child begin: j * configuration + v * value.
template <class T>
struct CountView {
  const T* cells;
  std::size_t configuration, value;
};

/// Whole counts below 2^24: exact in single precision, which takes half the memory that they would elsewhere.
class SearchCounts {
 public:
  explicit SearchCounts(const SearchRows& rows) : rows_(rows) {}

  /// What they would take, with those that each thread makes of a fold in double precision beside them.
  double bytes_to_make(std::size_t threads) const;
  /// To be called first, if they are to be counted at all.
  void make_room();
  /// To be called once for every fold, from any thread; then `leave_folds_out`, once.
  void count_fold(std::size_t k);
  /// Turns the counts of every fold into those of all others.
  void leave_folds_out(ThreadTeam& team);

  bool empty() const { return counts_ == nullptr; }
  std::size_t bytes() const { return cells_ * rows_.n_folds() * sizeof(float); }
  /// Counts of a fold's training rows; a feature without parents has one configuration.
  CountView<float> single(std::size_t child, std::size_t k) const;
  CountView<float> pair(std::size_t parent, std::size_t child, std::size_t k) const;

 private:
  const SearchRows& rows_;
  std::size_t cells_ = 0;                                   // of a fold
  std::unique_ptr<float[]> counts_;                         // [fold][cell], as CountSet::cells has them
  std::vector<std::size_t> single_offsets_, pair_offsets_;  // in a fold
};

}  // namespace tanager::internal

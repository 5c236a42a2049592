// Which variables are neighbors: what PC and the three-phase algorithm share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "constraint/set_map.hpp"
#include "support/pairs.hpp"
#include "tanager/learn_constraint.hpp"

namespace tanager::internal {

/// Remembers tests, which do not depend on the threshold. Different pairs may be asked for by different threads.
class TestCache {
 public:
  TestCache(std::size_t n_variables, Dependence dependence);

  std::size_t n_variables() const { return n_; }
  std::size_t n_tests() const { return n_tests_; }
  double operator()(std::size_t x, std::size_t y, std::span<const std::size_t> given);

 private:
  std::size_t n_;
  Dependence dependence_;
  std::vector<SetMap<double>> known_;  // by pair
  std::atomic<std::size_t> n_tests_{0};
};

/// The sets that were found to separate a pair: how many, and how many of them hold each variable.
class Separators {
 public:
  void add(std::span<const std::size_t> set);
  std::size_t n_sets() const { return n_sets_; }
  bool empty() const { return n_sets_ == 0; }
  /// Whether fewer than half of the sets hold a variable.
  bool mostly_without(std::size_t variable) const;

 private:
  std::size_t n_sets_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> members_;
};

/// An undirected graph, and why pairs that share no edge do not.
struct Skeleton {
  PartialDag graph;
  std::vector<Separators> separators;  // by pair

  explicit Skeleton(std::size_t n) : graph(n), separators(n < 2 ? 0 : n * (n - 1) / 2) {}
  Separators& of(std::size_t x, std::size_t y) {
    return separators[pair_index(std::min(x, y), std::max(x, y), graph.n_nodes())];
  }
  const Separators& of(std::size_t x, std::size_t y) const {
    return separators[pair_index(std::min(x, y), std::max(x, y), graph.n_nodes())];
  }
};

using Pair = std::pair<std::size_t, std::size_t>;

/// A graph has so many edges that testing them takes more sets than allowed.
class TooDense : public Error {
 public:
  using Error::Error;
};

/// How sets of variables that separate the ends of an edge are searched.
struct SeparatorSearch {
  TestCache& test;
  double threshold = 0;
  std::size_t max_conditioning = 0;
  int threads = 1;
  /// Maximum number of sets that are tried at a time.
  double max_sets = std::numeric_limits<double>::infinity();

  bool separates(const Pair& pair, std::span<const std::size_t> set) const {
    return test(pair.first, pair.second, set) <= threshold;
  }
  /// All sets of a size, of variables from either of two lists in increasing order, that separate a pair.
  Separators find(const Pair& pair, std::size_t size, const std::vector<std::size_t>& first,
                  const std::vector<std::size_t>& second) const;
};

/// Neighbors of x from which y can be reached without going through x.
std::vector<std::size_t> neighbors_towards(const PartialDag& graph, std::size_t x, std::size_t y);

/// Takes away edges whose ends are separated by neighbors of one of them, for sets of growing size from `first_size`
/// on; all edges are tested in the graph as it is when a size comes up. With `towards` only neighbors count from which
/// the other end can be reached. Throws TooDense.
void thin_by_neighbors(Skeleton& skeleton, const SeparatorSearch& search, std::size_t first_size, bool towards);

Skeleton pc_skeleton(const SeparatorSearch& search);
Skeleton three_phase_skeleton(const SeparatorSearch& search);

}  // namespace tanager::internal

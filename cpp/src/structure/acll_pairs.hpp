// What arcs between features gain under the approximate conditional log-likelihood.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "simd/cpu.hpp"
#include "tanager/counts.hpp"

namespace tanager::internal {

/// Gains of arcs, from one look at the table of each pair. With w_jkc = N_jkc + beta N_jk, raised to m_jkc = max(w,
/// N'),
///
///     score(v|u,C) = sum of w_jkc ln m_jkc - sum over j, c of w_jc ln m_jc,
///
/// where w_jc and m_jc are sums over the values k of v. The first sum is that of the other direction, too, and w_jc is
/// the weight of u alone: on complete rows it is known, and so is score(v|C).
class AcllPairs {
 public:
  AcllPairs(const CountSet& counts, double beta, double pseudo_counts, Isa isa);

  /// Writes the gains of all arcs between u and later features into `gains`, [from][to]: score(v|u,C) - score(v|C) and
  /// score(u|v,C) - score(u|C). Where cells are missing, all of these are those of the rows where both are observed,
  /// times what all rows weigh over what these do.
  void weigh_row(std::size_t u, std::span<double> gains) const;

 private:
  std::size_t numbers_of(std::size_t u, std::size_t v) const;
  std::pair<double, double> gains_of_part(std::size_t u, std::size_t v, double observed) const;

  const CountSet& counts_;
  double beta_, pseudo_counts_, n_rows_;
  Isa isa_;
  std::vector<std::vector<double>> weights_;  // of every feature alone: w_kc
  std::vector<double> scores_;                // of every feature alone: score(v|C)
};

}  // namespace tanager::internal

#include "structure/search_pairs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tanager {
namespace {

/// The tables of all parents, one after the other, and what they can add to a row at least and at most.
struct PairTables {
  PairTables(const SearchRows& rows, const SearchTables& tables, std::size_t child,
             std::span<const std::size_t> parents) {
    const std::size_t values = rows.n_values(child), folds = rows.n_folds();
    low.assign(folds * values, std::numeric_limits<double>::infinity());
    high.assign(folds * values, -std::numeric_limits<double>::infinity());
    for (const std::size_t parent : parents) {
      const std::size_t cells = values * rows.n_values(parent);
      begin.push_back(terms.size());
      terms.resize(terms.size() + folds * cells);
      double* table = terms.data() + begin.back();
      tables.pair_terms(parent, child, table);
      for (std::size_t k = 0; k < folds; ++k)
        for (std::size_t i = 0; i < cells; ++i, ++table) {
          const std::size_t bound = k * values + i % values;
          low[bound] = std::min(low[bound], *table);
          high[bound] = std::max(high[bound], *table);
        }
    }
  }

  std::vector<double> terms;
  std::vector<std::size_t> begin;
  std::vector<double> low, high;  // [fold][value of the child]
};

/// A row that is not decided yet.
struct OpenRow {
  std::uint32_t row, value;
  double sum;
  bool second;  ///< whether it is of the second class
};

}  // namespace

std::vector<double> score_pairs(const SearchRows& rows, const SearchTables& tables, std::size_t child,
                                std::span<const std::size_t> parents, std::span<const double> sums) {
  const std::size_t values = rows.n_values(child), folds = rows.n_folds();
  const PairTables pairs(rows, tables, child, parents);
  const std::uint16_t* codes = rows.codes(child);
  std::vector<OpenRow> open;
  std::vector<std::size_t> open_begin, settled(folds, 0);
  for (std::size_t k = 0; k < folds; ++k) {
    open_begin.push_back(open.size());
    for (const RowSegment& segment : rows.segments(k)) {
      const bool second = segment.label == 1;
      for (std::size_t row = segment.begin; row < segment.end; ++row) {
        const std::size_t bound = k * values + codes[row];
        const bool may_be_second = sums[row] + pairs.high[bound] > 0, must_be_second = sums[row] + pairs.low[bound] > 0;
        if (may_be_second == must_be_second)
          settled[k] += must_be_second == second ? 1U : 0U;
        else
          open.push_back({static_cast<std::uint32_t>(row), codes[row], sums[row], second});
      }
    }
  }
  open_begin.push_back(open.size());

  std::vector<double> scores;
  scores.reserve(parents.size());
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const std::size_t cells = values * rows.n_values(parents[i]);
    const std::uint16_t* parent_codes = rows.codes(parents[i]);
    double sum = 0;
    for (std::size_t k = 0; k < folds; ++k) {
      const double* table = pairs.terms.data() + pairs.begin[i] + k * cells;
      std::size_t correct = settled[k];
      for (std::size_t j = open_begin[k]; j < open_begin[k + 1]; ++j) {
        const OpenRow& row = open[j];
        const double difference = row.sum + table[parent_codes[row.row] * values + row.value];
        correct += (difference > 0) == row.second ? 1U : 0U;
      }
      sum += static_cast<double>(correct) / rows.fold_weight(k);
    }
    scores.push_back(sum / static_cast<double>(folds));
  }
  return scores;
}

}  // namespace tanager

#include "structure/search_pairs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tanager {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

/// The tables of many parents, one after the other, and what they can add to a row at least and at most.
struct PairScorer::Tables {
  Tables(const SearchRows& rows, const SearchTables& tables, std::size_t child, std::span<const std::size_t> parents)
      : begin(rows.n_features(), kNone) {
    const std::size_t values = rows.n_values(child), folds = rows.n_folds();
    std::size_t size = 0;
    for (const std::size_t parent : parents) {
      begin[parent] = size;
      size += folds * values * rows.n_values(parent);
    }
    terms.resize(size);
    low.assign(folds * values, std::numeric_limits<double>::infinity());
    high.assign(folds * values, -std::numeric_limits<double>::infinity());
    for (const std::size_t parent : parents) {
      double* table = terms.data() + begin[parent];
      tables.pair_terms(parent, child, table);
      for (std::size_t k = 0; k < folds; ++k)
        for (std::size_t j = 0; j < rows.n_values(parent); ++j)
          for (std::size_t value = 0; value < values; ++value, ++table) {
            const std::size_t bound = k * values + value;
            low[bound] = std::min(low[bound], *table);
            high[bound] = std::max(high[bound], *table);
          }
    }
  }

  bool has(std::span<const std::size_t> parents) const {
    return std::all_of(parents.begin(), parents.end(), [&](std::size_t parent) { return begin[parent] != kNone; });
  }
  std::size_t bytes() const {
    return sizeof(*this) + (terms.size() + low.size() + high.size()) * sizeof(double) + begin.size() * sizeof(kNone);
  }

  std::vector<std::size_t> begin;  // of every parent's table, [fold][value of the parent][value of the child]
  std::vector<double> terms;
  std::vector<double> low, high;  // [fold][value of the child]
};

/// The rows that are not decided yet, fold by fold, and how many of the others are right.
struct PairScorer::OpenRows {
  struct Row {
    double sum;
    std::uint32_t row;
    std::uint16_t value;
    bool second;  // whether it is of the second class
  };
  std::vector<Row> rows;
  std::vector<std::size_t> begin;    // of every fold, and the end
  std::vector<std::size_t> settled;  // right rows of every fold
};

PairScorer::PairScorer(const SearchRows& rows, const SearchTables& tables) : rows_(rows), tables_(tables) {
  for (std::size_t k = 0; k < rows.n_folds(); ++k) {
    std::size_t n_rows = 0;
    for (const RowSegment& segment : rows.segments(k)) n_rows += segment.end - segment.begin;
    auto& shares = shares_.emplace_back(n_rows + 1);
    for (std::size_t i = 0; i <= n_rows; ++i) shares[i] = static_cast<double>(i) / rows.fold_weight(k);
  }
  kept_.with([&](auto& kept) { kept.resize(rows.n_features()); });
}

PairScorer::~PairScorer() = default;

std::shared_ptr<const PairScorer::Tables> PairScorer::tables_of(std::size_t child,
                                                                std::span<const std::size_t> parents) const {
  const auto known = kept_.with([&](const auto& kept) { return kept[child]; });
  if (known && known->has(parents)) return known;
  auto made = std::make_shared<const Tables>(rows_, tables_, child, parents);
  if (tables_.reserve(made->bytes(), known ? known->bytes() : 0)) kept_.with([&](auto& kept) { kept[child] = made; });
  return made;
}

PairScorer::OpenRows PairScorer::open_rows(std::size_t child, const Tables& tables,
                                           std::span<const double> sums) const {
  const std::size_t values = rows_.n_values(child), folds = rows_.n_folds();
  const std::uint16_t* codes = rows_.codes(child);
  OpenRows open;
  open.settled.assign(folds, 0);
  for (std::size_t k = 0; k < folds; ++k) {
    open.begin.push_back(open.rows.size());
    for (const RowSegment& segment : rows_.segments(k)) {
      const bool second = segment.label == 1;
      for (std::size_t row = segment.begin; row < segment.end; ++row) {
        const std::size_t bound = k * values + codes[row];
        const bool may_be_second = sums[row] + tables.high[bound] > 0;
        const bool must_be_second = sums[row] + tables.low[bound] > 0;
        if (may_be_second == must_be_second)
          open.settled[k] += must_be_second == second ? 1U : 0U;
        else
          open.rows.push_back({sums[row], static_cast<std::uint32_t>(row), codes[row], second});
      }
    }
  }
  open.begin.push_back(open.rows.size());
  return open;
}

std::vector<double> PairScorer::score(std::size_t child, std::span<const std::size_t> parents,
                                      std::span<const double> sums) const {
  const std::size_t values = rows_.n_values(child), folds = rows_.n_folds();
  const auto tables = tables_of(child, parents);
  const OpenRows open = open_rows(child, *tables, sums);
  std::vector<double> scores;
  scores.reserve(parents.size());
  for (const std::size_t parent : parents) {
    const std::uint16_t* codes = rows_.codes(parent);
    const double* table = tables->terms.data() + tables->begin[parent];
    double sum = 0;
    for (std::size_t k = 0; k < folds; ++k, table += values * rows_.n_values(parent)) {
      std::size_t correct = open.settled[k];
      for (std::size_t i = open.begin[k]; i < open.begin[k + 1]; ++i) {
        const OpenRows::Row& row = open.rows[i];
        const double difference = row.sum + table[codes[row.row] * values + row.value];
        correct += (difference > 0) == row.second ? 1U : 0U;
      }
      sum += shares_[k][correct];
    }
    scores.push_back(sum / static_cast<double>(folds));
  }
  return scores;
}

}  // namespace tanager

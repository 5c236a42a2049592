#include "structure/search_pairs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "structure/search_kernels.hpp"

namespace tanager {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

/// Parents in blocks of kParentLanes. Those of about as many values are together, so that few cells are for nothing.
struct PairScorer::Blocks {
  explicit Blocks(const SearchRows& rows) : features(rows.n_features()), lane(rows.n_features()) {
    std::iota(features.begin(), features.end(), std::size_t{0});
    std::stable_sort(features.begin(), features.end(),
                     [&](std::size_t a, std::size_t b) { return rows.n_values(a) < rows.n_values(b); });
    for (std::size_t i = 0; i < features.size(); ++i) lane[features[i]] = i;
    for (std::size_t i = 0; i < features.size(); i += kParentLanes) {
      values.push_back(rows.n_values(of(size())[0]));
      for (const std::size_t f : of(size() - 1)) values.back() = std::max<std::size_t>(values.back(), rows.n_values(f));
    }
    const auto n_narrow = static_cast<std::size_t>(
        std::partition_point(values.begin(), values.end(), [](std::size_t n) { return n <= kMaxChosenValues; }) -
        values.begin());
    codes.resize(n_narrow * rows.n_rows() * kParentLanes);
    for (std::size_t block = 0; block < n_narrow; ++block)
      for (std::size_t i = 0; i < of(block).size(); ++i) {
        const std::uint16_t* from = rows.codes(of(block)[i]);
        std::uint8_t* to = codes.data() + block * rows.n_rows() * kParentLanes + i;
        for (std::size_t row = 0; row < rows.n_rows(); ++row)
          to[row * kParentLanes] = static_cast<std::uint8_t>(from[row]);
      }
  }

  std::size_t size() const { return values.size(); }
  std::span<const std::size_t> of(std::size_t block) const {
    const std::size_t begin = block * kParentLanes;
    return std::span(features).subspan(begin, std::min(kParentLanes, features.size() - begin));
  }

  std::vector<std::size_t> features;  // of all blocks, the last of which may be shorter
  std::vector<std::size_t> lane;      // of every feature: its place in `features`
  std::vector<std::size_t> values;    // by block: the most that one of its features has
  std::vector<std::uint8_t> codes;    // [block][row][lane], of blocks with few values
};

/// The tables of many parents, block by block, and what they can add to a row at least and at most.
struct PairScorer::Tables {
  Tables(const SearchRows& rows, const SearchTables& tables, const Blocks& blocks, std::size_t child,
         const std::vector<bool>& wanted)
      : begin(blocks.size(), kNone) {
    const std::size_t values = rows.n_values(child), folds = rows.n_folds();
    std::size_t size = 0;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      if (!wanted[block]) continue;
      begin[block] = size;
      size += folds * values * blocks.values[block] * kParentLanes;
    }
    terms.resize(size);
    low.assign(folds * values, std::numeric_limits<double>::infinity());
    high.assign(folds * values, -std::numeric_limits<double>::infinity());
    std::vector<double> table(folds * values * blocks.values.back());
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      if (!wanted[block]) continue;
      const auto parents = blocks.of(block);
      for (std::size_t i = 0; i < parents.size(); ++i) {
        if (parents[i] == child) continue;  // its lane is never asked for
        tables.pair_terms(parents[i], child, table.data());
        const double* term = table.data();
        for (std::size_t k = 0; k < folds; ++k)
          for (std::size_t j = 0; j < rows.n_values(parents[i]); ++j)
            for (std::size_t value = 0; value < values; ++value, ++term) {
              const std::size_t bound = k * values + value;
              low[bound] = std::min(low[bound], *term);
              high[bound] = std::max(high[bound], *term);
              terms[begin[block] + (bound * blocks.values[block] + j) * kParentLanes + i] = *term;
            }
      }
    }
  }

  bool has(const std::vector<bool>& wanted) const {
    for (std::size_t block = 0; block < begin.size(); ++block)
      if (wanted[block] && begin[block] == kNone) return false;
    return true;
  }
  std::size_t bytes() const {
    return sizeof(*this) + (terms.size() + low.size() + high.size()) * sizeof(double) + begin.size() * sizeof(kNone);
  }

  std::vector<std::size_t> begin;  // of every block's tables: [fold][value of the child][value of the parent][lane]
  std::vector<double> terms;
  std::vector<double> low, high;  // [fold][value of the child]
};

struct PairScorer::OpenRows {
  std::vector<OpenRow> rows;
  std::vector<OpenFold> folds;
};

PairScorer::PairScorer(const SearchRows& rows, const SearchTables& tables, Isa isa)
    : rows_(rows), tables_(tables), isa_(isa) {
  kept_.with([&](auto& kept) { kept.resize(rows.n_features()); });
}

PairScorer::~PairScorer() = default;

const PairScorer::Blocks& PairScorer::blocks() const {
  std::call_once(has_blocks_, [&] { blocks_ = std::make_unique<const Blocks>(rows_); });
  return *blocks_;
}

std::shared_ptr<const PairScorer::Tables> PairScorer::tables_of(std::size_t child,
                                                                const std::vector<bool>& wanted) const {
  const auto known = kept_.with([&](const auto& kept) { return kept[child]; });
  if (known && known->has(wanted)) return known;
  auto made = std::make_shared<const Tables>(rows_, tables_, blocks(), child, wanted);
  if (tables_.reserve(made->bytes(), known ? known->bytes() : 0)) kept_.with([&](auto& kept) { kept[child] = made; });
  return made;
}

PairScorer::OpenRows PairScorer::open_rows(std::size_t child, const Tables& tables,
                                           std::span<const double> sums) const {
  const std::size_t values = rows_.n_values(child), folds = rows_.n_folds();
  const std::uint16_t* codes = rows_.codes(child);
  OpenRows open;
  std::vector<std::size_t> begin;
  for (std::size_t k = 0; k < folds; ++k) {
    begin.push_back(open.rows.size());
    std::size_t right = 0;
    for (const RowSegment& segment : rows_.segments(k)) {
      const bool is_second = segment.label == 1;
      for (std::size_t row = segment.begin; row < segment.end; ++row) {
        const std::size_t bound = k * values + codes[row];
        const bool may_be_second = sums[row] + tables.high[bound] > 0;
        const bool must_be_second = sums[row] + tables.low[bound] > 0;
        right += must_be_second == is_second ? 1U : 0U;
        if (may_be_second != must_be_second)
          open.rows.push_back({-sums[row], is_second ? 1.0 : -1.0, static_cast<std::uint32_t>(row), codes[row]});
      }
    }
    open.folds.push_back({{}, static_cast<double>(right), rows_.fold_weight(k)});
  }
  begin.push_back(open.rows.size());
  for (std::size_t k = 0; k < folds; ++k)
    open.folds[k].rows = std::span(open.rows).subspan(begin[k], begin[k + 1] - begin[k]);
  return open;
}

void PairScorer::score_block(std::size_t block, std::size_t child, const Tables& tables, const OpenRows& open,
                             double* scores) const {
  const std::size_t values = rows_.n_values(child), parent_values = blocks().values[block];
  const double* terms = tables.terms.data() + tables.begin[block];
  if (parent_values <= kMaxChosenValues) {
    const std::uint8_t* codes = blocks().codes.data() + block * rows_.n_rows() * kParentLanes;
    sum_accuracies(open.folds, codes, terms, values, parent_values, scores, isa_);
  } else {
    const auto parents = blocks().of(block);
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const std::uint16_t* codes = rows_.codes(parents[i]);
      const double* of_fold = terms + i;
      scores[i] = 0;
      for (const OpenFold& fold : open.folds) {
        double right = fold.right;
        for (const OpenRow& row : fold.rows) {
          const std::size_t cell = row.value * parent_values + codes[row.row];
          right += of_fold[cell * kParentLanes] > row.threshold ? row.gain : 0.0;
        }
        scores[i] += right / fold.weight;
        of_fold += values * parent_values * kParentLanes;
      }
    }
  }
  for (std::size_t i = 0; i < kParentLanes; ++i) scores[i] /= static_cast<double>(open.folds.size());
}

void PairScorer::score(std::size_t child, std::span<const std::uint32_t> parents, std::span<const double> sums,
                       std::span<double> scores) const {
  const std::vector<std::size_t>& lane = blocks().lane;
  std::vector<bool> wanted(blocks().size(), false);
  for (const std::uint32_t parent : parents) wanted[lane[parent] / kParentLanes] = true;
  const auto tables = tables_of(child, wanted);
  const OpenRows open = open_rows(child, *tables, sums);
  std::vector<double> of_lane(wanted.size() * kParentLanes);
  for (std::size_t block = 0; block < wanted.size(); ++block)
    if (wanted[block]) score_block(block, child, *tables, open, of_lane.data() + block * kParentLanes);
  for (std::size_t i = 0; i < parents.size(); ++i) scores[i] = of_lane[lane[parents[i]]];
}

}  // namespace tanager

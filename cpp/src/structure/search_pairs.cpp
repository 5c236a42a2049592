#include "structure/search_pairs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "structure/search_kernels.hpp"

namespace tanager {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

/// Where parents are: those of few values in blocks of kParentLanes, to be looked at side by side, all others alone.
/// Blocks are of features with about as many values, so that few cells are for nothing.
struct PairScorer::Slots {
  struct Slot {
    std::size_t begin, count;  // in `features`
    std::size_t values;        // the most that one of its features has
    std::size_t lanes;
  };

  explicit Slots(const SearchRows& rows) : features(rows.n_features()), slot(features.size()), lane(features.size()) {
    std::iota(features.begin(), features.end(), std::size_t{0});
    std::stable_sort(features.begin(), features.end(),
                     [&](std::size_t a, std::size_t b) { return rows.n_values(a) < rows.n_values(b); });
    const auto n_narrow = static_cast<std::size_t>(
        std::partition_point(features.begin(), features.end(),
                             [&](std::size_t f) { return rows.n_values(f) <= kMaxChosenValues; }) -
        features.begin());
    for (std::size_t begin = 0; begin < features.size();) {
      const std::size_t lanes = begin < n_narrow ? kParentLanes : 1;
      const std::size_t count = begin < n_narrow ? std::min(lanes, n_narrow - begin) : 1;
      slots.push_back({begin, count, rows.n_values(features[begin + count - 1]), lanes});
      for (std::size_t i = 0; i < count; ++i, ++begin) {
        slot[features[begin]] = slots.size() - 1;
        lane[features[begin]] = i;
      }
    }
    codes.resize((n_narrow + kParentLanes - 1) / kParentLanes * rows.n_rows() * kParentLanes);
    for (std::size_t i = 0; i < n_narrow; ++i) {
      const std::uint16_t* from = rows.codes(features[i]);
      std::uint8_t* to = codes.data() + slot[features[i]] * rows.n_rows() * kParentLanes + lane[features[i]];
      for (std::size_t row = 0; row < rows.n_rows(); ++row)
        to[row * kParentLanes] = static_cast<std::uint8_t>(from[row]);
    }
  }

  std::vector<std::size_t> features;    // of all slots
  std::vector<std::size_t> slot, lane;  // of every feature
  std::vector<Slot> slots;              // the blocks first
  std::vector<std::uint8_t> codes;      // [block][row][lane]
};

/// The tables of many parents, slot by slot, and what they can add to a row at least and at most.
struct PairScorer::Tables {
  Tables(const SearchRows& rows, const SearchTables& tables, const Slots& slots, std::size_t child,
         const std::vector<bool>& wanted)
      : begin(wanted.size(), kNone) {
    const std::size_t values = rows.n_values(child), folds = rows.n_folds();
    std::size_t size = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      begin[i] = size;
      size += folds * values * slots.slots[i].values * slots.slots[i].lanes;
    }
    terms.resize(size);
    low.assign(folds * values, std::numeric_limits<double>::infinity());
    high.assign(folds * values, -std::numeric_limits<double>::infinity());
    std::vector<double> table(folds * values * kMaxChosenValues);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      const Slots::Slot& slot = slots.slots[i];
      for (std::size_t lane = 0; lane < slot.count; ++lane) {
        const std::size_t parent = slots.features[slot.begin + lane];
        if (parent == child) continue;  // its lane is never asked for
        double* made = slot.lanes > 1 ? table.data() : terms.data() + begin[i];
        tables.pair_terms(parent, child, made);
        for (std::size_t k = 0; k < folds; ++k)
          for (std::size_t j = 0; j < rows.n_values(parent); ++j)
            for (std::size_t value = 0; value < values; ++value, ++made) {
              const std::size_t bound = k * values + value;
              low[bound] = std::min(low[bound], *made);
              high[bound] = std::max(high[bound], *made);
              if (slot.lanes > 1) terms[begin[i] + (bound * slot.values + j) * slot.lanes + lane] = *made;
            }
      }
    }
  }

  bool has(const std::vector<bool>& wanted) const {
    for (std::size_t slot = 0; slot < begin.size(); ++slot)
      if (wanted[slot] && begin[slot] == kNone) return false;
    return true;
  }
  std::size_t bytes() const {
    return sizeof(*this) + (terms.size() + low.size() + high.size()) * sizeof(double) + begin.size() * sizeof(kNone);
  }

  // Of every slot's tables: [fold][value of the child][value of the parent][lane] of a block, [fold][value of the
  // parent][value of the child] of a feature alone.
  std::vector<std::size_t> begin;
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

const PairScorer::Slots& PairScorer::slots() const {
  return *slots_.get([&] { return std::make_shared<const Slots>(rows_); });
}

std::shared_ptr<const PairScorer::Tables> PairScorer::tables_of(std::size_t child,
                                                                const std::vector<bool>& wanted) const {
  const auto known = kept_.with([&](const auto& kept) { return kept[child]; });
  if (known && known->has(wanted)) return known;
  auto made = std::make_shared<const Tables>(rows_, tables_, slots(), child, wanted);
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

void PairScorer::score_slot(std::size_t slot, std::size_t child, const Tables& tables, const OpenRows& open,
                            double* scores) const {
  const Slots::Slot& at = slots().slots[slot];
  const std::size_t values = rows_.n_values(child);
  const double* terms = tables.terms.data() + tables.begin[slot];
  if (at.lanes > 1) {
    const std::uint8_t* codes = slots().codes.data() + slot * rows_.n_rows() * kParentLanes;
    sum_accuracies(open.folds, codes, terms, values, at.values, scores, isa_);
  } else {
    const std::uint16_t* codes = rows_.codes(slots().features[at.begin]);
    scores[0] = 0;
    for (const OpenFold& fold : open.folds) {
      double right = fold.right;
      for (const OpenRow& row : fold.rows)
        right += terms[codes[row.row] * values + row.value] > row.threshold ? row.gain : 0.0;
      scores[0] += right / fold.weight;
      terms += values * at.values;
    }
  }
  for (std::size_t i = 0; i < at.lanes; ++i) scores[i] /= static_cast<double>(open.folds.size());
}

void PairScorer::score(std::size_t child, std::span<const std::uint32_t> parents, std::span<const double> sums,
                       std::span<double> scores) const {
  const std::vector<std::size_t>&slot = slots().slot, &lane = slots().lane;
  std::vector<bool> wanted(slots().slots.size(), false);
  for (const std::uint32_t parent : parents) wanted[slot[parent]] = true;
  const auto tables = tables_of(child, wanted);
  const OpenRows open = open_rows(child, *tables, sums);
  std::vector<double> found(wanted.size() * kParentLanes);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) score_slot(i, child, *tables, open, found.data() + i * kParentLanes);
  for (std::size_t i = 0; i < parents.size(); ++i)
    scores[i] = found[slot[parents[i]] * kParentLanes + lane[parents[i]]];
}

}  // namespace tanager

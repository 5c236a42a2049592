#include "search/plain_arcs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "search/kernels.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

/// Where parents are: those of few values in bundles of kParentLanes, to be looked at side by side, all others alone.
/// Bundles are of features with about as many values, so that few cells are for nothing.
struct PairScorer::Bundles {
  struct Bundle {
    std::size_t begin, count;  // in `features`
    std::size_t values;        // the most that one of its features has
    std::size_t lanes;
  };

  explicit Bundles(const SearchRows& rows)
      : features(rows.n_features()), bundle_of(features.size()), lane_of(features.size()) {
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
      all.push_back({begin, count, rows.n_values(features[begin + count - 1]), lanes});
      for (std::size_t i = 0; i < count; ++i, ++begin) {
        bundle_of[features[begin]] = all.size() - 1;
        lane_of[features[begin]] = i;
      }
    }
    codes.resize((n_narrow + kParentLanes - 1) / kParentLanes * rows.n_rows() * kParentLanes);
    for (std::size_t i = 0; i < n_narrow; ++i) {
      const std::uint16_t* from = rows.codes(features[i]);
      std::uint8_t* to = codes.data() + bundle_of[features[i]] * rows.n_rows() * kParentLanes + lane_of[features[i]];
      for (std::size_t row = 0; row < rows.n_rows(); ++row)
        to[row * kParentLanes] = static_cast<std::uint8_t>(from[row]);
    }
  }

  std::vector<std::size_t> features;            // of all bundles
  std::vector<std::size_t> bundle_of, lane_of;  // by feature
  std::vector<Bundle> all;                      // those of several lanes first
  std::vector<std::uint8_t> codes;              // [bundle][row][lane], of those of several lanes
};

/// The tables of many parents, bundle by bundle, and what they can add to a row at least and at most.
struct PairScorer::Tables {
  Tables(const SearchRows& rows, const SearchTables& tables, const Bundles& bundles, std::size_t child,
         const std::vector<bool>& wanted)
      : begin(wanted.size(), kNone) {
    const std::size_t values = rows.n_values(child), folds = rows.n_folds();
    std::size_t size = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      begin[i] = size;
      size += folds * values * bundles.all[i].values * bundles.all[i].lanes;
    }
    terms.resize(size);
    low.assign(folds * values, std::numeric_limits<double>::infinity());
    high.assign(folds * values, -std::numeric_limits<double>::infinity());
    std::vector<double> table(folds * values * kMaxChosenValues);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      const Bundles::Bundle& bundle = bundles.all[i];
      for (std::size_t lane = 0; lane < bundle.count; ++lane) {
        const std::size_t parent = bundles.features[bundle.begin + lane];
        if (parent == child) continue;  // its lane is never asked for
        double* made = bundle.lanes > 1 ? table.data() : terms.data() + begin[i];
        tables.pair_terms(parent, child, made);
        for (std::size_t k = 0; k < folds; ++k)
          for (std::size_t j = 0; j < rows.n_values(parent); ++j)
            for (std::size_t value = 0; value < values; ++value, ++made) {
              const std::size_t bound = k * values + value;
              low[bound] = std::min(low[bound], *made);
              high[bound] = std::max(high[bound], *made);
              if (bundle.lanes > 1) terms[begin[i] + (bound * bundle.values + j) * bundle.lanes + lane] = *made;
            }
      }
    }
  }

  bool has(const std::vector<bool>& wanted) const {
    for (std::size_t bundle = 0; bundle < begin.size(); ++bundle)
      if (wanted[bundle] && begin[bundle] == kNone) return false;
    return true;
  }
  std::size_t bytes() const {
    return sizeof(*this) + (terms.size() + low.size() + high.size()) * sizeof(double) + begin.size() * sizeof(kNone);
  }

  // Of every bundle's tables: [fold][value of the child][value of the parent][lane] of several, [fold][value of the
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

const PairScorer::Bundles& PairScorer::bundles() const {
  return *bundles_.get([&] { return std::make_shared<const Bundles>(rows_); });
}

std::shared_ptr<const PairScorer::Tables> PairScorer::tables_of(std::size_t child,
                                                                const std::vector<bool>& wanted) const {
  auto known = kept_.with([&](const auto& kept) { return kept[child]; });
  if (known && known->has(wanted)) return known;
  auto made = std::make_shared<const Tables>(rows_, tables_, bundles(), child, wanted);
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

void PairScorer::score_bundle(std::size_t bundle, std::size_t child, const Tables& tables, const OpenRows& open,
                              double* scores) const {
  const Bundles::Bundle& at = bundles().all[bundle];
  const std::size_t values = rows_.n_values(child);
  const double* terms = tables.terms.data() + tables.begin[bundle];
  if (at.lanes > 1) {
    const std::uint8_t* codes = bundles().codes.data() + bundle * rows_.n_rows() * kParentLanes;
    sum_accuracies(open.folds, codes, terms, values, at.values, scores, isa_);
  } else {
    const std::uint16_t* codes = rows_.codes(bundles().features[at.begin]);
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
  const Bundles& at = bundles();
  std::vector<bool> wanted(at.all.size(), false);
  for (const std::uint32_t parent : parents) wanted[at.bundle_of[parent]] = true;
  const auto tables = tables_of(child, wanted);
  const OpenRows open = open_rows(child, *tables, sums);
  std::vector<double> found(wanted.size() * kParentLanes);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) score_bundle(i, child, *tables, open, found.data() + i * kParentLanes);
  for (std::size_t i = 0; i < parents.size(); ++i)
    scores[i] = found[at.bundle_of[parents[i]] * kParentLanes + at.lane_of[parents[i]]];
}

}  // namespace tanager::internal

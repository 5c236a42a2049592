#include "search/plain_arcs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "search/kernels.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

PlainArcs::Bundles::Bundles(const FoldRows& rows)
    : features(rows.n_features()), bundle_of(features.size()), lane_of(features.size()) {
  std::iota(features.begin(), features.end(), std::size_t{0});
  std::stable_sort(features.begin(), features.end(),
                   [&](std::size_t a, std::size_t b) { return rows.n_values(a) < rows.n_values(b); });
  const auto n_narrow = static_cast<std::size_t>(
      std::partition_point(features.begin(), features.end(),
                           [&](std::size_t f) { return rows.n_values(f) <= kMaxChosenValues; }) -
      features.begin());
  for (std::size_t begin = 0; begin < features.size();) {
    const std::size_t n_lanes = begin < n_narrow ? kParentLanes : 1;
    const std::size_t count = begin < n_narrow ? std::min(n_lanes, n_narrow - begin) : 1;
    all.push_back(
        {.begin = begin, .count = count, .n_values = rows.n_values(features[begin + count - 1]), .n_lanes = n_lanes});
    for (std::size_t lane = 0; lane < count; ++lane, ++begin) {
      bundle_of[features[begin]] = all.size() - 1;
      lane_of[features[begin]] = lane;
    }
  }
  codes.resize((n_narrow + kParentLanes - 1) / kParentLanes * rows.n_rows() * kParentLanes);
  for (std::size_t i = 0; i < n_narrow; ++i) {
    const std::uint16_t* from = rows.codes(features[i]);
    std::uint8_t* to = codes.data() + bundle_of[features[i]] * rows.n_rows() * kParentLanes + lane_of[features[i]];
    for (std::size_t row = 0; row < rows.n_rows(); ++row) to[row * kParentLanes] = static_cast<std::uint8_t>(from[row]);
  }
}

PlainArcs::Tables PlainArcs::make_tables(std::size_t child, const std::vector<bool>& wanted) const {
  const Bundles& bundles = this->bundles();
  const std::size_t n_values = rows_.n_values(child);
  const std::size_t n_cells = rows_.n_folds() * n_values;
  Tables made;
  made.begin.assign(wanted.size(), kNone);
  std::size_t size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    made.begin[i] = size;
    size += n_cells * bundles.all[i].n_values * bundles.all[i].n_lanes;
  }
  made.terms.resize(size);
  made.low.assign(n_cells, std::numeric_limits<double>::infinity());
  made.high.assign(n_cells, -std::numeric_limits<double>::infinity());
  std::vector<double> table(n_cells * kMaxChosenValues);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const Bundle& bundle = bundles.all[i];
    double* terms = made.terms.data() + made.begin[i];
    for (std::size_t lane = 0; lane < bundle.count; ++lane) {
      const std::size_t parent = bundles.features[bundle.begin + lane];
      if (parent == child) continue;  // its lane is never read
      double* term = bundle.n_lanes > 1 ? table.data() : terms;
      tables_.pair_terms(parent, child, term);
      for (std::size_t k = 0; k < rows_.n_folds(); ++k)
        for (std::size_t j = 0; j < rows_.n_values(parent); ++j)
          for (std::size_t value = 0; value < n_values; ++value, ++term) {
            const std::size_t cell = k * n_values + value;
            made.low[cell] = std::min(made.low[cell], *term);
            made.high[cell] = std::max(made.high[cell], *term);
            if (bundle.n_lanes > 1) terms[(cell * bundle.n_values + j) * bundle.n_lanes + lane] = *term;
          }
    }
  }
  return made;
}

bool PlainArcs::Tables::have(const std::vector<bool>& wanted) const {
  if (begin.empty()) return false;
  for (std::size_t bundle = 0; bundle < begin.size(); ++bundle)
    if (wanted[bundle] && begin[bundle] == kNone) return false;
  return true;
}

std::size_t PlainArcs::Tables::bytes() const {
  return (terms.size() + low.size() + high.size()) * sizeof(double) + begin.size() * sizeof(kNone);
}

struct PlainArcs::OpenRows {
  std::vector<OpenRow> rows;
  std::vector<OpenFold> folds;
};

PlainArcs::PlainArcs(const TermTables& tables)
    : rows_(tables.rows()), tables_(tables), kept_(tables.rows().n_features()) {}

const PlainArcs::Bundles& PlainArcs::bundles() const {
  return bundles_.get([&] { return Bundles(rows_); });
}

PlainArcs::OpenRows PlainArcs::open_rows(std::size_t child, const Tables& tables, std::span<const double> sums) const {
  const std::size_t n_values = rows_.n_values(child);
  const std::uint16_t* codes = rows_.codes(child);
  OpenRows open;
  std::vector<std::size_t> begin;
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    begin.push_back(open.rows.size());
    std::size_t right = 0;
    for (const RowSegment& segment : rows_.segments(k)) {
      const bool is_second = segment.label == 1;
      for (std::size_t row = segment.begin; row < segment.end; ++row) {
        const std::size_t cell = k * n_values + codes[row];
        const bool may_be_second = sums[row] + tables.high[cell] > 0;
        const bool must_be_second = sums[row] + tables.low[cell] > 0;
        right += must_be_second == is_second ? 1U : 0U;
        if (may_be_second != must_be_second)
          open.rows.push_back({.threshold = -sums[row],
                               .gain = is_second ? 1.0 : -1.0,
                               .row = static_cast<std::uint32_t>(row),
                               .value = codes[row]});
      }
    }
    open.folds.push_back({.rows = {}, .right = static_cast<double>(right), .weight = rows_.fold_weight(k)});
  }
  begin.push_back(open.rows.size());
  for (std::size_t k = 0; k < rows_.n_folds(); ++k)
    open.folds[k].rows = std::span(open.rows).subspan(begin[k], begin[k + 1] - begin[k]);
  return open;
}

void PlainArcs::score_bundle(std::size_t i, std::size_t child, const Tables& tables, const OpenRows& open,
                             double* scores) const {
  const Bundle& bundle = bundles().all[i];
  const std::size_t n_values = rows_.n_values(child);
  const double* terms = tables.terms.data() + tables.begin[i];
  if (bundle.n_lanes > 1) {
    const std::uint8_t* codes = bundles().codes.data() + i * rows_.n_rows() * kParentLanes;
    sum_accuracies(open.folds, codes, terms, n_values, bundle.n_values, scores, best_isa());
  } else {
    const std::uint16_t* codes = rows_.codes(bundles().features[bundle.begin]);
    scores[0] = 0;
    for (const OpenFold& fold : open.folds) {
      double right = fold.right;
      for (const OpenRow& row : fold.rows)
        right += terms[codes[row.row] * n_values + row.value] > row.threshold ? row.gain : 0.0;
      scores[0] += right / fold.weight;
      terms += n_values * bundle.n_values;
    }
  }
  for (std::size_t lane = 0; lane < bundle.n_lanes; ++lane) scores[lane] /= static_cast<double>(open.folds.size());
}

void PlainArcs::score(std::size_t child, std::span<const std::uint32_t> parents, std::span<const double> sums,
                      std::span<double> scores) {
  const Bundles& at = bundles();
  std::vector<bool> wanted(at.all.size(), false);
  for (const std::uint32_t parent : parents) wanted[at.bundle_of[parent]] = true;
  Tables own;
  const Tables* tables = &kept_[child];
  if (!tables->have(wanted)) {
    own = make_tables(child, wanted);
    tables = &own;
    if (tables_.reserve(own.bytes(), kept_[child].bytes())) {
      kept_[child] = std::move(own);
      tables = &kept_[child];
    }
  }
  const OpenRows open = open_rows(child, *tables, sums);
  std::vector<double> found(wanted.size() * kParentLanes);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) score_bundle(i, child, *tables, open, found.data() + i * kParentLanes);
  for (std::size_t i = 0; i < parents.size(); ++i)
    scores[i] = found[at.bundle_of[parents[i]] * kParentLanes + at.lane_of[parents[i]]];
}

}  // namespace tanager::internal

#include "search/fold_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

/// Throws InvalidInput if a fold has no rows, or there is only one fold.
void check_folds(std::span<const std::size_t> begin) {
  std::size_t n_used = 0;
  std::size_t empty = begin.size();
  for (std::size_t k = 0; k + 1 < begin.size(); ++k)
    if (begin[k] < begin[k + 1])
      ++n_used;
    else
      empty = std::min(empty, k);
  if (n_used < 2) throw InvalidInput(join_text("expected at least 2 folds with rows, got ", n_used));
  if (empty < begin.size())
    throw InvalidInput(join_text("folds must be numbered from 0 without gaps, but no row is in fold ", empty));
}

/// Sorts rows by fold, then by class; stable.
template <class T>
void sort_rows(std::span<const T> classes, std::size_t n_classes, std::span<const std::uint32_t> fold_of_row,
               FoldRows::Order& order) {
  const std::size_t n = classes.size();
  std::vector<std::uint32_t> by_class(n);
  std::vector<std::size_t> next(n_classes + 1, 0);
  for (std::size_t row = 0; row < n; ++row) {
    ++next[classes[row] + std::size_t{1}];
    ++order.fold_begin[fold_of_row[row] + std::size_t{1}];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t row = 0; row < n; ++row) by_class[next[classes[row]]++] = static_cast<std::uint32_t>(row);
  std::partial_sum(order.fold_begin.begin(), order.fold_begin.end(), order.fold_begin.begin());
  next = order.fold_begin;
  order.rows.resize(n);
  for (const std::uint32_t row : by_class) order.rows[next[fold_of_row[row]]++] = row;
}

FoldRows::Order order_of(const Dataset& data, std::span<const std::uint32_t> fold_of_row) {
  if (fold_of_row.size() != data.n_rows())
    throw InvalidInput(join_text("expected the fold of ", data.n_rows(), " rows, got ", fold_of_row.size()));
  const std::uint32_t last = fold_of_row.empty() ? 0 : *std::max_element(fold_of_row.begin(), fold_of_row.end());
  if (last >= std::max<std::size_t>(data.n_rows(), 1))
    throw InvalidInput(
        join_text("folds must be numbered from 0 without gaps, but ", data.n_rows(), " rows have a fold ", last));
  if (data.n_rows() > std::numeric_limits<std::uint32_t>::max())
    throw InvalidInput(join_text("a search can take at most ", std::numeric_limits<std::uint32_t>::max(),
                                 " rows, but there are ", data.n_rows()));
  FoldRows::Order order;
  order.fold_begin.assign(std::size_t{last} + 2, 0);
  data.target().visit([&](auto classes) { sort_rows(classes, data.n_classes(), fold_of_row, order); });
  check_folds(order.fold_begin);
  return order;
}

/// Columns handed to a thread at once: enough that handing out is cheap, few enough to share small tables evenly.
constexpr std::size_t kColumnsAtOnce = 4;

Column reordered(const Column& column, std::span<const std::uint32_t> order) {
  return column.visit([&](auto codes) {
    std::vector<typename decltype(codes)::value_type> found(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) found[i] = codes[order[i]];
    return Column(std::move(found), column.n_values());
  });
}

/// Views rows [begin, end) of a column.
Column part(const Column& column, std::size_t begin, std::size_t end) {
  return column.visit([&](auto codes) {
    return Column(codes.subspan(begin, end - begin), column.n_values(), std::make_shared<Column>(column));
  });
}

/// The end of the first row's class among rows [first, end) that are sorted by class, by bisection.
std::size_t end_of_class(const Column& target, std::size_t first, std::size_t end) {
  std::size_t inside = first;
  while (inside + 1 < end) {
    const std::size_t middle = inside + (end - inside) / 2;
    if (target[middle] == target[first])
      inside = middle;
    else
      end = middle;
  }
  return inside + 1;
}

}  // namespace

FoldRows::FoldRows(const Dataset& data, std::span<const std::uint32_t> fold_of_row, ThreadTeam& team)
    : FoldRows(data, order_of(data, fold_of_row), team) {}

FoldRows::FoldRows(const Dataset& data, Order order, ThreadTeam& team)
    : codes_(std::make_unique_for_overwrite<std::uint16_t[]>(data.n_features() * data.n_rows())),
      missing_rows_(data.n_features()),
      data_(reordered(data, order.rows, team)),
      fold_begin_(std::move(order.fold_begin)),
      has_missing_(std::any_of(missing_rows_.begin(), missing_rows_.end(),
                               [](const auto& missing) { return !missing.empty(); })) {
  const Column& target = data_.target();
  for (std::size_t k = 0; k < n_folds(); ++k) {
    const std::size_t begin = fold_begin_[k];
    const std::size_t end = fold_begin_[k + 1];
    segment_begin_.push_back(segments_.size());
    for (std::size_t row = begin; row < end; row = segments_.back().end)
      segments_.push_back({.begin = row,
                           .end = end_of_class(target, row, end),
                           .fold = static_cast<std::uint32_t>(k),
                           .label = target[row]});
    double weight = static_cast<double>(end - begin);
    if (data_.is_weighted()) {
      const auto weights = data_.weights().subspan(begin, end - begin);
      weight = std::accumulate(weights.begin(), weights.end(), 0.0);
    }
    if (!(weight > 0)) throw InvalidInput(join_text("the rows of fold ", k, " must have a total weight above zero"));
    fold_weight_.push_back(weight);
  }
  segment_begin_.push_back(segments_.size());
}

/// The data in another order of rows, as Dataset::subset gives it. Threads share the columns, and copy their codes
/// while these are in the cache.
Dataset FoldRows::reordered(const Dataset& data, std::span<const std::uint32_t> order, ThreadTeam& team) {
  std::vector<Column> features = data.features();
  team.run(features.size(), kColumnsAtOnce, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f) {
      features[f] = internal::reordered(features[f], order);
      copy_codes(f, features[f]);
    }
  });
  std::vector<double> weights;
  if (data.is_weighted())
    for (const std::uint32_t row : order) weights.push_back(data.weights()[row]);
  return Dataset(std::move(features), internal::reordered(data.target(), order), std::move(weights));
}

void FoldRows::copy_codes(std::size_t f, const Column& column) {
  const std::size_t n_rows = column.size();
  std::uint16_t* codes = codes_.get() + f * n_rows;
  column.visit([&](auto from) { std::copy(from.begin(), from.end(), codes); });
  if (!column.has_missing()) return;
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (column[row] != kMissing) continue;
    codes[row] = static_cast<std::uint16_t>(column.n_values());
    missing_rows_[f].push_back(static_cast<std::uint32_t>(row));
  }
}

const RowSegment& FoldRows::segment_of(std::size_t row) const {
  return *std::partition_point(segments_.begin(), segments_.end(),
                               [&](const RowSegment& segment) { return segment.end <= row; });
}

Dataset FoldRows::fold(std::size_t k) const {
  const std::size_t begin = fold_begin_[k];
  const std::size_t end = fold_begin_[k + 1];
  std::vector<Column> features;
  features.reserve(n_features());
  for (const Column& column : data_.features()) features.push_back(part(column, begin, end));
  std::vector<double> weights;
  if (data_.is_weighted())
    weights.assign(data_.weights().begin() + static_cast<std::ptrdiff_t>(begin),
                   data_.weights().begin() + static_cast<std::ptrdiff_t>(end));
  return Dataset(std::move(features), part(data_.target(), begin, end), std::move(weights));
}

}  // namespace tanager::internal

#include "tanager/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "support/check_stop.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

Column gather(const Column& column, std::span<const std::size_t> rows) {
  return column.visit([&]<class T>(std::span<const T> codes) {
    std::vector<T> chosen(rows.size());
    std::ranges::transform(rows, chosen.begin(), [&](std::size_t row) { return codes[row]; });
    return Column(std::move(chosen), column.n_values());
  });
}

}  // namespace

template <class T>
void Column::check() {
  constexpr std::uint32_t kMost = sizeof(T) == 1 ? kMaxNarrowValues : kMaxValues;
  if (n_values_ > kMost)
    throw InvalidInput("a column of " + std::to_string(8 * sizeof(T)) + "-bit codes holds at most " +
                       std::to_string(kMost) + " values, but " + std::to_string(n_values_) + " were declared");
  // The missing code is the largest of its type. Adding one makes it zero, so that the smallest sum tells of missing
  // codes and the largest is above all others: two reductions that compilers turn into vector code.
  const T* codes = static_cast<const T*>(data_);
  T smallest = std::numeric_limits<T>::max(), largest_plus_one = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const T moved = static_cast<T>(codes[i] + 1);
    smallest = std::min(smallest, moved);
    largest_plus_one = std::max(largest_plus_one, moved);
  }
  has_missing_ = size_ > 0 && smallest == 0;
  if (largest_plus_one > n_values_)
    throw InvalidInput("a column has code " + std::to_string(largest_plus_one - 1) + ", but only " +
                       std::to_string(n_values_) + " values are known");
}

Column::Column(std::span<const std::uint8_t> codes, std::uint32_t n_values, std::shared_ptr<const void> owner)
    : owner_(std::move(owner)), data_(codes.data()), size_(codes.size()), n_values_(n_values), wide_(false) {
  check<std::uint8_t>();
}

Column::Column(std::span<const std::uint16_t> codes, std::uint32_t n_values, std::shared_ptr<const void> owner)
    : owner_(std::move(owner)), data_(codes.data()), size_(codes.size()), n_values_(n_values), wide_(true) {
  check<std::uint16_t>();
}

namespace {
template <class T>
std::shared_ptr<const std::vector<T>> share(std::vector<T>&& codes) {
  return std::make_shared<const std::vector<T>>(std::move(codes));
}
template <class T>
Column own(std::shared_ptr<const std::vector<T>> codes, std::uint32_t n_values) {
  const std::span<const T> view(*codes);
  return Column(view, n_values, std::move(codes));
}
}  // namespace

Column::Column(std::vector<std::uint8_t> codes, std::uint32_t n_values)
    : Column(own(share(std::move(codes)), n_values)) {}
Column::Column(std::vector<std::uint16_t> codes, std::uint32_t n_values)
    : Column(own(share(std::move(codes)), n_values)) {}

std::span<const std::uint8_t> Column::narrow() const {
  if (wide_) return {};
  return {static_cast<const std::uint8_t*>(data_), size_};
}

std::span<const std::uint16_t> Column::wide() const {
  if (!wide_) return {};
  return {static_cast<const std::uint16_t*>(data_), size_};
}

Code Column::operator[](std::size_t row) const {
  if (wide_) return static_cast<const std::uint16_t*>(data_)[row];
  const std::uint8_t code = static_cast<const std::uint8_t*>(data_)[row];
  return code == kMissing8 ? kMissing : code;
}

Dataset::Dataset(std::vector<Column> features, Column target, std::vector<double> weights)
    : features_(std::move(features)), target_(std::move(target)), weights_(std::move(weights)) {
  if (target_.has_missing()) throw InvalidInput("every row needs a class, but some class codes are missing");
  for (std::size_t i = 0; i < features_.size(); ++i)
    if (features_[i].size() != target_.size())
      throw InvalidInput("feature " + std::to_string(i) + " has " + std::to_string(features_[i].size()) +
                         " rows, but the class has " + std::to_string(target_.size()));
  if (weights_.empty()) return;
  if (weights_.size() != target_.size())
    throw InvalidInput("expected " + std::to_string(target_.size()) + " weights, one per row, got " +
                       std::to_string(weights_.size()));
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (!std::isfinite(weights_[i]) || weights_[i] < 0)
      throw InvalidInput("expected finite, non-negative weights, got " + std::to_string(weights_[i]) + " in row " +
                         std::to_string(i));
}

std::vector<std::uint32_t> Dataset::cardinalities() const {
  std::vector<std::uint32_t> all;
  all.reserve(features_.size());
  for (const Column& column : features_) all.push_back(column.n_values());
  return all;
}

Dataset Dataset::subset(std::span<const std::size_t> rows) const {
  for (const std::size_t row : rows)
    if (row >= n_rows())
      throw InvalidInput("expected a row below " + std::to_string(n_rows()) + ", got " + std::to_string(row));
  std::vector<Column> features;
  features.reserve(features_.size());
  for (const Column& column : features_) {
    check_stop();
    features.push_back(gather(column, rows));
  }
  std::vector<double> weights;
  if (is_weighted())
    for (const std::size_t row : rows) weights.push_back(weights_[row]);
  return Dataset(std::move(features), gather(target_, rows), std::move(weights));
}

}  // namespace tanager

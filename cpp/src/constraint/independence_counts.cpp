#include "constraint/independence_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "counts/direct.hpp"

namespace tanager::internal {
namespace {

/// Keys of rows in which something is missing.
constexpr std::uint64_t kUnobserved = ~std::uint64_t{0};
/// Keys are numbered anew before they grow beyond this, so that another variable always fits.
constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 47;

/// Tables of about as many cells as rows are filled directly; larger ones would be mostly empty.
bool is_dense(const Dataset& rows, std::size_t x, std::size_t y, std::span<const std::size_t> given) {
  const double most = 4.0 * static_cast<double>(rows.n_rows()) + 4096;
  double cells = static_cast<double>(rows.feature(x).n_values()) * rows.feature(y).n_values();
  for (const std::size_t g : given) cells *= rows.feature(g).n_values();
  return cells <= most;
}

void mark_unobserved(const Dataset& rows, std::size_t variable, std::vector<std::uint64_t>& keys) {
  const Column& column = rows.feature(variable);
  if (!column.has_missing()) return;
  column.visit([&]<class T>(std::span<const T> codes) {
    constexpr T missing = std::numeric_limits<T>::max();
    for (std::size_t row = 0; row < keys.size(); ++row)
      if (codes[row] == missing) keys[row] = kUnobserved;
  });
}

double sum_of_observed(const Dataset& rows, const std::vector<std::uint64_t>& keys) {
  double sum = 0;
  for (std::size_t row = 0; row < keys.size(); ++row)
    if (keys[row] != kUnobserved) sum += rows.is_weighted() ? rows.weights()[row] : 1.0;
  return sum;
}

}  // namespace

void CountTerms::add(double count, int sign) {
  if (count < static_cast<double>(kSmall)) {
    const auto whole = static_cast<std::size_t>(count);
    if (static_cast<double>(whole) == count) {
      small_[whole] += sign;
      end_small_ = std::max(end_small_, whole + 1);
      return;
    }
  }
  others_.emplace_back(count, sign);
}

void CountTerms::add(std::span<const double> counts, int sign) {
  for (const double count : counts) add(count, sign);
}

double CountTerms::take() {
  // One and zero add nothing.
  double sum = 0;
  for (std::size_t n = 2; n < end_small_; ++n)
    if (small_[n] != 0)
      sum += static_cast<double>(small_[n]) * (static_cast<double>(n) * std::log(static_cast<double>(n)));
  std::fill_n(small_.begin(), end_small_, 0);
  end_small_ = 0;
  std::sort(others_.begin(), others_.end());
  for (auto first = others_.begin(); first != others_.end();) {
    const double n = first->first;
    std::int64_t times = 0;
    for (; first != others_.end() && first->first == n; ++first) times += first->second;
    sum += static_cast<double>(times) * (n * std::log(n));
  }
  others_.clear();
  return sum;
}

DependenceFinding DependenceCounter::of_table(std::span<const double> table, std::size_t n_x, std::size_t n_y,
                                              std::size_t n_z) {
  count_margins(table, n_x, n_y, n_z);
  return finish(table, n_x, n_y, n_z);
}

void DependenceCounter::count_margins(std::span<const double> table, std::size_t n_x, std::size_t n_y,
                                      std::size_t n_z) {
  of_x_.assign(n_x * n_z, 0.0);
  of_y_.assign(n_y * n_z, 0.0);
  of_z_.assign(n_z, 0.0);
  const double* cells = table.data();
  for (std::size_t x = 0; x < n_x; ++x) {
    double* own = of_x_.data() + x * n_z;
    for (std::size_t y = 0; y < n_y; ++y, cells += n_z) {
      double* other = of_y_.data() + y * n_z;
      for (std::size_t z = 0; z < n_z; ++z) own[z] += cells[z];
      for (std::size_t z = 0; z < n_z; ++z) other[z] += cells[z];
    }
    for (std::size_t z = 0; z < n_z; ++z) of_z_[z] += own[z];
  }
}

DependenceFinding DependenceCounter::finish(std::span<const double> table, std::size_t n_x, std::size_t n_y,
                                            std::size_t n_z) {
  DependenceFinding found;
  terms_.add(table, 1);
  terms_.add(of_x_, -1);
  terms_.add(of_y_, -1);
  terms_.add(of_z_, 1);
  const double sum = terms_.take();
  found.rows = std::accumulate(of_z_.begin(), of_z_.end(), 0.0);
  values_of_x_.assign(n_z, 0.0);
  values_of_y_.assign(n_z, 0.0);
  for (std::size_t x = 0; x < n_x; ++x)
    for (std::size_t z = 0; z < n_z; ++z) values_of_x_[z] += of_x_[x * n_z + z] > 0;
  for (std::size_t y = 0; y < n_y; ++y)
    for (std::size_t z = 0; z < n_z; ++z) values_of_y_[z] += of_y_[y * n_z + z] > 0;
  for (std::size_t z = 0; z < n_z; ++z) {
    if (!(of_z_[z] > 0)) continue;
    ++found.configurations;
    found.degrees += (values_of_x_[z] - 1) * (values_of_y_[z] - 1);
  }
  if (found.rows > 0) found.information = std::max(0.0, sum / found.rows);
  return found;
}

DependenceFinding DependenceCounter::of_rows(const Dataset& rows, bool whole, std::size_t x, std::size_t y,
                                             std::span<const std::size_t> given) {
  if (!whole || !is_dense(rows, x, y, given)) return of_sparse_rows(rows, x, y, given);
  const std::size_t n_x = rows.feature(x).n_values(), n_y = rows.feature(y).n_values();
  std::size_t n_z = 1;
  for (const std::size_t g : given) n_z *= rows.feature(g).n_values();
  // All of them as one family, outermost first; the class that families end with has one value.
  Family family{given.empty() ? y : given.back(), {x}};
  if (!given.empty()) {
    family.parents.push_back(y);
    family.parents.insert(family.parents.end(), given.begin(), given.end() - 1);
  }
  cells_.assign(n_x * n_y * n_z, 0.0);
  count_direct(rows, family, cells_);
  return of_table(cells_, n_x, n_y, n_z);
}

DependenceFinding DependenceCounter::of_sparse_rows(const Dataset& rows, std::size_t x, std::size_t y,
                                                    std::span<const std::size_t> given) {
  const std::size_t n_x = rows.feature(x).n_values(), n_y = rows.feature(y).n_values();
  given_keys_.assign(rows.n_rows(), 0);
  mark_unobserved(rows, x, given_keys_);
  mark_unobserved(rows, y, given_keys_);
  std::uint64_t bound = 1;
  for (const std::size_t g : given) bound = join(rows, g, bound, given_keys_);
  const std::uint64_t n_z = number(rows, given_keys_, of_z_);
  terms_.add(of_z_, 1);
  DependenceFinding found;
  found.rows = sum_of_observed(rows, given_keys_);
  found.configurations = static_cast<double>(n_z);

  const auto count_values = [&](std::size_t variable, std::uint64_t n_values, std::vector<double>& values) {
    keys_ = given_keys_;
    join(rows, variable, n_z, keys_);
    number(rows, keys_, of_x_);
    terms_.add(of_x_, -1);
    values.assign(n_z, 0.0);
    for (const std::uint64_t key : index_.keys()) ++values[key / n_values];
  };
  count_values(x, n_x, values_of_x_);
  count_values(y, n_y, values_of_y_);
  for (std::uint64_t z = 0; z < n_z; ++z) found.degrees += (values_of_x_[z] - 1) * (values_of_y_[z] - 1);

  keys_ = given_keys_;
  bound = join(rows, x, n_z, keys_);
  join(rows, y, bound, keys_);
  number(rows, keys_, cells_);
  terms_.add(cells_, 1);
  const double sum = terms_.take();
  if (found.rows > 0) found.information = std::max(0.0, sum / found.rows);
  return found;
}

std::uint64_t DependenceCounter::join(const Dataset& rows, std::size_t variable, std::uint64_t bound,
                                      std::vector<std::uint64_t>& keys) {
  const Column& column = rows.feature(variable);
  const std::uint64_t n_values = column.n_values();
  if (bound > kMostKeys) bound = number(rows, keys, cells_);
  column.visit([&]<class T>(std::span<const T> codes) {
    constexpr T missing = std::numeric_limits<T>::max();
    for (std::size_t row = 0; row < keys.size(); ++row)
      keys[row] = keys[row] == kUnobserved || codes[row] == missing ? kUnobserved : keys[row] * n_values + codes[row];
  });
  return bound * n_values;
}

std::uint64_t DependenceCounter::number(const Dataset& rows, std::vector<std::uint64_t>& keys,
                                        std::vector<double>& sums) {
  index_.clear();
  sums.clear();
  for (std::size_t row = 0; row < keys.size(); ++row) {
    if (keys[row] == kUnobserved) continue;
    const double weight = rows.is_weighted() ? rows.weights()[row] : 1.0;
    if (!(weight > 0)) {  // as if it were not there
      keys[row] = kUnobserved;
      continue;
    }
    keys[row] = index_.insert(keys[row]);
    if (keys[row] == sums.size()) sums.push_back(0);
    sums[keys[row]] += weight;
  }
  return sums.size();
}

}  // namespace tanager::internal

#include "structure/search_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
/// Up to this many rows the logarithms of all counts are computed beforehand.
constexpr std::size_t kMaxLogTable = 1 << 16;

LogGrid make_grid(const SearchRows& rows, const SearchOptions& options) {
  const Dataset& data = rows.data();
  double total = static_cast<double>(rows.n_rows()), least = 1;
  if (data.is_weighted()) {
    total = std::accumulate(data.weights().begin(), data.weights().end(), 0.0);
    for (const double w : data.weights())
      if (w > 0) least = std::min(least, w);
  }
  double values = rows.n_classes();
  for (std::size_t f = 0; f < rows.n_features(); ++f) values = std::max<double>(values, rows.n_values(f));
  // No probability but zero is below (the least count) / (the largest sum); doubles end at e^-745.
  least = options.alpha > 0 ? std::min(options.alpha, 1.0) : least;
  double largest = std::log(std::max(total, 1.0) + values * (1 + options.alpha)) - std::log(least) + 1;
  bool zeros = options.alpha == 0;
  for (const double p : options.class_prior) {
    zeros |= p == 0;
    if (p > 0) largest = std::max(largest, -std::log(p));
  }
  return LogGrid(rows.n_features() + 1, largest, zeros);
}

/// Plain cells that add and subtract as a CountSet does.
struct Cells {
  std::vector<double> values;

  Cells& operator+=(const Cells& other) {
    std::transform(values.begin(), values.end(), other.values.begin(), values.begin(), std::plus<>());
    return *this;
  }
  Cells& operator-=(const Cells& other) {
    std::transform(values.begin(), values.end(), other.values.begin(), values.begin(), std::minus<>());
    return *this;
  }
};

std::size_t width_for(std::uint32_t n_classes, const LogGrid& grid) {
  if (n_classes == 2 && !grid.has_zeros()) return 1;
  return (std::size_t{n_classes} + 3) / 4 * 4;
}

}  // namespace

std::size_t FamilyTerms::bytes() const {
  std::size_t total = sizeof(*this) + 128 + terms.size() * sizeof(double);
  for (const auto& fold : logs) total += fold.size() * sizeof(double);
  return total;
}

SearchTables::SearchTables(const SearchRows& rows, const SearchOptions& options, int threads)
    : rows_(rows),
      alpha_(options.alpha),
      grid_(make_grid(rows, options)),
      width_(width_for(rows.n_classes(), grid_)),
      memory_limit_(options.memory_limit) {
  const std::size_t n = rows.n_features(), s = rows.n_classes(), folds = rows.n_folds();
  if (!rows.data().is_weighted() && rows.n_rows() <= kMaxLogTable) {
    log_sums_of_feature_.resize(n);
    std::map<std::uint32_t, std::size_t> known;
    for (std::size_t f = 0; f < n; ++f) {
      const auto [found, inserted] = known.try_emplace(rows.n_values(f), known.size());
      log_sums_of_feature_[f] = found->second;
      if (!inserted) continue;
      log_sums_.emplace_back(rows.n_rows() + 1);
      for (std::size_t i = 0; i <= rows.n_rows(); ++i)
        log_sums_.back()[i] = grid_.round(std::log(static_cast<double>(i) + rows.n_values(f) * alpha_));
    }
    log_counts_.resize(rows.n_rows() + 1);
    for (std::size_t i = 0; i <= rows.n_rows(); ++i)
      log_counts_[i] = grid_.round(std::log(static_cast<double>(i) + alpha_));
  }

  double cells = 0, slots = 0, squares = 0;
  for (std::size_t f = 0; f < n; ++f) {
    slots += rows.n_values(f);
    squares += static_cast<double>(rows.n_values(f)) * rows.n_values(f);
  }
  cells = ((slots * slots - squares) / 2 + slots) * static_cast<double>(s * (folds + 1));
  if (cells * sizeof(double) <= static_cast<double>(memory_limit_) / 2) {
    for (std::size_t k = 0; k < folds; ++k) pairs_.push_back(count(rows.fold(k), CountScope::kPairs, {}, threads));
    to_training(pairs_);
    bytes_ = static_cast<std::size_t>(cells) * sizeof(double);
  }

  std::vector<double> class_counts(s * folds, 0.0), total(s, 0.0);
  for (std::size_t k = 0; k < folds; ++k)
    for (const RowSegment& segment : rows.segments(k)) {
      for (std::size_t row = segment.begin; row < segment.end; ++row)
        class_counts[k * s + segment.label] += rows.data().is_weighted() ? rows.data().weights()[row] : 1.0;
      total[segment.label] += class_counts[k * s + segment.label];
    }
  prior_.resize(folds * width_);
  log_prior_.resize(folds * s);
  for (std::size_t k = 0; k < folds; ++k) {
    double sum = 0;
    for (std::size_t c = 0; c < s; ++c) sum += total[c] - class_counts[k * s + c];
    for (std::size_t c = 0; c < s; ++c) {
      const double p = options.class_prior.empty()
                           ? (total[c] - class_counts[k * s + c] + alpha_) / (sum + static_cast<double>(s) * alpha_)
                           : options.class_prior[c];
      log_prior_[k * s + c] = p > 0 ? grid_.round(std::log(p)) : kMinusInfinity;
    }
    to_width(log_prior_.data() + k * s, prior_.data() + k * width_);
  }
}

void SearchTables::to_width(const double* logs, double* out) const {
  if (width_ == 1) {
    out[0] = grid_.round(logs[1]) - grid_.round(logs[0]);
    return;
  }
  const std::size_t s = rows_.n_classes();
  for (std::size_t c = 0; c < s; ++c) out[c] = logs[c] == kMinusInfinity ? grid_.zero() : grid_.round(logs[c]);
  std::fill(out + s, out + width_, kMinusInfinity);
}

bool SearchTables::fits(std::size_t child, std::span<const std::size_t> parents) const {
  if (parents.size() > kMaxParents) return false;
  double cells = static_cast<double>(rows_.n_slots(child)) * rows_.n_classes();
  for (const std::size_t p : parents) cells *= rows_.n_slots(p);
  // The counts of all folds, their sum and the terms are in memory at once.
  const double copies = 2.0 * static_cast<double>(rows_.n_folds()) + 1;
  return cells <= static_cast<double>(kMaxTableCells) &&
         cells * copies * sizeof(double) <= static_cast<double>(memory_limit_);
}

std::shared_ptr<const FamilyTerms> SearchTables::terms(std::size_t child,
                                                       const std::vector<std::size_t>& parents) const {
  const std::pair key(child, parents);
  {
    const std::scoped_lock hold(lock_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  auto made = std::make_shared<const FamilyTerms>(compute(child, parents));
  const std::scoped_lock hold(lock_);
  if (bytes_ + made->bytes() <= memory_limit_ && known_.try_emplace(key, made).second) bytes_ += made->bytes();
  return made;
}

FamilyTerms SearchTables::compute(std::size_t child, const std::vector<std::size_t>& parents) const {
  FamilyTerms family;
  family.features = parents;
  family.features.push_back(child);
  family.strides.resize(family.features.size());
  std::size_t cells = 1;
  for (std::size_t i = family.features.size(); i-- > 0;) {
    family.strides[i] = static_cast<std::uint32_t>(cells);
    cells *= rows_.n_slots(family.features[i]);
  }
  family.n_cells = cells;
  estimate(family, child, training_counts(family));
  return family;
}

/// Turns the counts of every fold into those of all others: total - fold where counts are whole, hence exact; else the
/// sum of the others, since a difference of sums could leave a little where nothing was.
template <class Set>
void SearchTables::to_training(std::vector<Set>& folds) const {
  if (!rows_.data().is_weighted()) {
    Set total = folds[0];
    for (std::size_t k = 1; k < folds.size(); ++k) total += folds[k];
    for (Set& fold : folds) {
      Set rest = total;
      rest -= fold;
      fold = std::move(rest);
    }
    return;
  }
  const std::vector<Set> given = folds;
  for (std::size_t k = 0; k < folds.size(); ++k) {
    folds[k] = given[k == 0 ? 1 : 0];
    for (std::size_t other = k == 0 ? 2 : 1; other < folds.size(); ++other)
      if (other != k) folds[k] += given[other];
  }
}

/// Counts of the training rows of every fold, [fold][cell][class]; from the counted pairs where that is possible.
std::vector<double> SearchTables::training_counts(const FamilyTerms& family) const {
  const std::size_t s = rows_.n_classes(), folds = rows_.n_folds(), size = family.n_cells * s;
  std::vector<double> counts(folds * size, 0.0);
  const std::size_t child = family.features.back();
  if (family.features.size() <= 2 && !pairs_.empty()) {
    const std::size_t parent = family.features.front();
    const std::size_t parent_values = family.features.size() == 1 ? 1 : rows_.n_values(parent);
    const std::size_t values = rows_.n_values(child), slots = rows_.n_slots(child);
    const bool transposed = parent > child;
    const auto copy = [&](const CountSet& set, double* to) {
      const double* from = family.features.size() == 1 ? set.single(child).data()
                           : transposed                ? set.pair(child, parent).data()
                                                       : set.pair(parent, child).data();
      for (std::size_t j = 0; j < parent_values; ++j)
        for (std::size_t v = 0; v < values; ++v)
          std::copy_n(from + (transposed ? v * parent_values + j : j * values + v) * s, s, to + (j * slots + v) * s);
    };
    for (std::size_t k = 0; k < folds; ++k) copy(pairs_[k], counts.data() + k * size);
    return counts;
  }
  constexpr std::size_t kBlock = 512;
  std::uint32_t index[kBlock];
  const bool weighted = rows_.data().is_weighted();
  std::vector<Cells> of_folds(folds, Cells{std::vector<double>(size, 0.0)});
  for (std::size_t k = 0; k < folds; ++k)
    for (const RowSegment& segment : rows_.segments(k))
      for (std::size_t first = segment.begin; first < segment.end; first += kBlock) {
        const std::size_t rows = std::min(kBlock, segment.end - first);
        std::fill_n(index, rows, std::uint32_t{0});
        for (std::size_t i = 0; i < family.features.size(); ++i) {
          const std::uint16_t* codes = rows_.codes(family.features[i]) + first;
          for (std::size_t row = 0; row < rows; ++row) index[row] += codes[row] * family.strides[i];
        }
        double* of_class = of_folds[k].values.data() + segment.label;
        if (weighted)
          for (std::size_t row = 0; row < rows; ++row) of_class[index[row] * s] += rows_.data().weights()[first + row];
        else
          for (std::size_t row = 0; row < rows; ++row) of_class[index[row] * s] += 1;
      }
  to_training(of_folds);
  for (std::size_t k = 0; k < folds; ++k)
    std::copy_n(of_folds[k].values.begin(), size, counts.begin() + static_cast<std::ptrdiff_t>(k * size));
  return counts;
}

double SearchTables::log_count(double count) const {
  return log_counts_.empty() ? grid_.round(std::log(count + alpha_)) : log_counts_[static_cast<std::size_t>(count)];
}

double SearchTables::log_sum(double sum, std::size_t child) const {
  return log_counts_.empty() ? grid_.round(std::log(sum + rows_.n_values(child) * alpha_))
                             : log_sums_[log_sums_of_feature_[child]][static_cast<std::size_t>(sum)];
}

/// ln((N_jkc + a) / (N_jc + r a)) with the counts of all folds but one; both logarithms are on the grid, hence their
/// difference too.
void SearchTables::estimate(FamilyTerms& family, std::size_t child, const std::vector<double>& counts) const {
  const std::size_t s = rows_.n_classes(), folds = rows_.n_folds(), values = rows_.n_values(child);
  const std::size_t slots = rows_.n_slots(child), size = family.n_cells * s;
  const std::size_t configurations = family.n_cells / slots;
  const double uniform = grid_.round(-std::log(static_cast<double>(values)));
  // Which configurations of the parents are observed: all features but the child below their missing slot.
  std::vector<bool> observed(configurations, true);
  for (std::size_t i = 0; i + 1 < family.features.size(); ++i)
    if (rows_.n_slots(family.features[i]) > rows_.n_values(family.features[i]))
      for (std::size_t j = 0; j < configurations; ++j)
        observed[j] = observed[j] && j * slots / family.strides[i] % rows_.n_slots(family.features[i]) !=
                                         rows_.n_values(family.features[i]);

  family.terms.assign(folds * family.n_cells * width_, 0.0);
  if (rows_.has_missing()) family.logs.resize(folds);
  std::vector<double> logs(values * s);
  for (std::size_t k = 0; k < folds; ++k) {
    const double* fold = counts.data() + k * size;
    double* terms = family.terms.data() + k * family.n_cells * width_;
    for (std::size_t j = 0; j < configurations; ++j) {
      if (!observed[j]) continue;
      const std::size_t at = j * slots;
      for (std::size_t c = 0; c < s; ++c) {
        double sum = 0;
        for (std::size_t v = 0; v < values; ++v) {
          logs[v * s + c] = fold[(at + v) * s + c];
          sum += logs[v * s + c];
        }
        const double log_total = alpha_ > 0 || sum > 0 ? log_sum(sum, child) : 0;
        for (std::size_t v = 0; v < values; ++v) {
          double& n = logs[v * s + c];
          if (alpha_ > 0 || n > 0)
            n = log_count(n) - log_total;
          else
            n = sum > 0 ? kMinusInfinity : uniform;
        }
      }
      for (std::size_t v = 0; v < values; ++v) {
        double* term = terms + (at + v) * width_;
        if (width_ == 1) {
          term[0] = logs[v * s + 1] - logs[v * s];
        } else {
          for (std::size_t c = 0; c < s; ++c)
            term[c] = logs[v * s + c] == kMinusInfinity ? grid_.zero() : logs[v * s + c];
        }
      }
      if (!family.logs.empty()) family.logs[k].insert(family.logs[k].end(), logs.begin(), logs.end());
    }
  }
}

}  // namespace tanager

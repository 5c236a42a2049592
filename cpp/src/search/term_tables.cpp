#include "search/term_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "support/infinity.hpp"
#include "tanager/counts.hpp"

namespace tanager::internal {
namespace {

/// Up to this many rows the logarithms of all counts are computed beforehand.
constexpr std::size_t kMaxLogTable = std::size_t{1} << 20;
static_assert(kMaxLogTable < (std::size_t{1} << 24), "pairs are counted in single precision, exact below 2^24");
/// Logarithms handed to a thread at once: some microseconds of work.
constexpr std::size_t kLogsAtOnce = 512;
/// Bytes that a kept table takes besides its numbers, roughly: the entry in the map and the heads of its blocks.
constexpr std::size_t kBytesPerEntry = 256;

LogGrid make_grid(const FoldRows& rows, const SearchOptions& options) {
  const Dataset& data = rows.data();
  double total = static_cast<double>(rows.n_rows());
  double least = 1;
  if (data.is_weighted()) {
    total = std::accumulate(data.weights().begin(), data.weights().end(), 0.0);
    for (const double w : data.weights())
      if (w > 0) least = std::min(least, w);
  }
  double values = rows.n_classes();
  for (std::size_t f = 0; f < rows.n_features(); ++f) values = std::max<double>(values, rows.n_values(f));
  // No probability but zero is below (the least count) / (the largest sum).
  if (options.alpha > 0) least = std::min(options.alpha, 1.0);
  double largest = std::log(std::max(total, 1.0) + values * (1 + options.alpha)) - std::log(least) + 1;
  bool zeros = options.alpha == 0;
  for (const double p : options.class_prior) {
    zeros |= p == 0;
    if (p > 0) largest = std::max(largest, -std::log(p));
  }
  return LogGrid(rows.n_features() + 1, largest, zeros);
}

std::size_t width_for(std::uint32_t n_classes, const LogGrid& grid) {
  if (n_classes == 2 && !grid.has_zeros()) return 1;
  return (std::size_t{n_classes} + 3) / 4 * 4;
}

}  // namespace

TableLimits::TableLimits(const FoldRows& rows, std::size_t memory_limit) : rows_(rows), memory_limit_(memory_limit) {
  if (rows.n_features() < 2) return;
  std::vector<std::size_t> largest(rows.n_features());
  std::iota(largest.begin(), largest.end(), std::size_t{0});
  std::partial_sort(largest.begin(), largest.begin() + 2, largest.end(),
                    [&](std::size_t a, std::size_t b) { return rows.n_slots(a) > rows.n_slots(b); });
  all_pairs_fit_ = allow(largest[0], {}, {&largest[1], 1});
}

bool TableLimits::allow(std::size_t child, std::span<const std::size_t> parents,
                        std::span<const std::size_t> added) const {
  const std::size_t n_parents = parents.size() + added.size();
  if (all_pairs_fit_ && n_parents <= 1) return true;  // most searches ask for nothing else
  if (n_parents > kMaxParents) return false;
  double cells = static_cast<double>(rows_.n_slots(child)) * rows_.n_classes();
  for (const std::size_t p : parents) cells *= rows_.n_slots(p);
  for (const std::size_t p : added) cells *= rows_.n_slots(p);
  // The counts of all folds and the terms are in memory at once.
  const double copies = 2.0 * static_cast<double>(rows_.n_folds()) + 1;
  return cells <= static_cast<double>(kMaxTableCells) &&
         (cells * copies * sizeof(double) <= static_cast<double>(memory_limit_) || n_parents == 0);
}

std::size_t FamilyTerms::bytes() const {
  std::size_t total = sizeof(*this) + kBytesPerEntry + terms.size() * sizeof(double);
  total += index.size() * sizeof(std::uint32_t);
  for (const auto& fold : logs) total += fold.size() * sizeof(double);
  return total;
}

TermTables::TermTables(const FoldRows& rows, const SearchOptions& options, ThreadTeam& team)
    : rows_(rows),
      alpha_(options.alpha),
      grid_(make_grid(rows, options)),
      width_(width_for(rows.n_classes(), grid_)),
      memory_limit_(options.memory_limit),
      caches_(rows.n_features()) {
  if (!rows.data().is_weighted() && rows.n_rows() <= kMaxLogTable) {
    tabulate_logarithms(team);
    // The counts of all pairs may take half of the memory.
    if (PairCounts::bytes_to_make(rows, team.size()) <= static_cast<double>(memory_limit_) / 2)
      kept_bytes_ = counts_.emplace(rows, team).bytes();
  }
  estimate_prior(options.class_prior);
}

void TermTables::tabulate_logarithms(ThreadTeam& team) {
  for (std::size_t f = 0; f < rows_.n_features(); ++f) log_sums_[rows_.n_values(f)].resize(rows_.n_rows() + 1);
  for (std::size_t f = 0; f < rows_.n_features(); ++f)
    log_sums_of_feature_.push_back(log_sums_[rows_.n_values(f)].data());
  log_counts_.resize(rows_.n_rows() + 1);
  const auto tabulate = [&](std::vector<double>& logs, double added) {
    team.run(logs.size(), kLogsAtOnce, [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) logs[n] = grid_.round(std::log(static_cast<double>(n) + added));
    });
  };
  for (auto& [n_values, logs] : log_sums_) tabulate(logs, n_values * alpha_);
  tabulate(log_counts_, alpha_);
}

void TermTables::estimate_prior(const std::vector<double>& given) {
  const std::size_t n_classes = rows_.n_classes();
  const std::vector<std::vector<double>> counts = training_counts(rows_, {}, 1);
  prior_.resize(rows_.n_folds() * width_);
  log_prior_.resize(rows_.n_folds() * n_classes);
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    const double total = std::accumulate(counts[k].begin(), counts[k].end(), 0.0);
    const double sum = total + static_cast<double>(n_classes) * alpha_;
    double* logs = log_prior_.data() + k * n_classes;
    for (std::size_t c = 0; c < n_classes; ++c) {
      double p = sum > 0 ? (counts[k][c] + alpha_) / sum : 1.0 / static_cast<double>(n_classes);
      if (!given.empty()) p = given[c];
      logs[c] = p > 0 ? grid_.round(std::log(p)) : kMinusInfinity;
    }
    to_width(logs, prior_.data() + k * width_);
  }
}

void TermTables::to_width(const double* logs, double* out) const {
  if (width_ == 1) {
    out[0] = grid_.round(logs[1]) - grid_.round(logs[0]);
    return;
  }
  const std::size_t n_classes = rows_.n_classes();
  for (std::size_t c = 0; c < n_classes; ++c) out[c] = logs[c] == kMinusInfinity ? grid_.zero() : grid_.round(logs[c]);
  std::fill(out + n_classes, out + width_, kMinusInfinity);
}

Terms TermTables::terms(std::size_t child, const std::vector<std::size_t>& parents) const {
  Synchronized<Cache>& cache = caches_[child];
  const FamilyTerms* known = cache.with([&](const Cache& kept) {
    const auto found = kept.find(parents);
    return found == kept.end() ? nullptr : &found->second;
  });
  if (known) return Terms(*known);
  FamilyTerms made = compute(child, parents);
  const std::size_t bytes = made.bytes();
  if (!reserve(bytes)) return Terms(std::move(made));
  return cache.with([&](Cache& kept) {
    const auto [place, is_new] = kept.try_emplace(parents, std::move(made));
    if (!is_new) reserve(0, bytes);  // another thread was faster
    return Terms(place->second);
  });
}

bool TermTables::reserve(std::size_t bytes, std::size_t freed) const {
  std::size_t kept = kept_bytes_.load(std::memory_order_relaxed);
  while (kept - freed + bytes <= memory_limit_)
    if (kept_bytes_.compare_exchange_weak(kept, kept - freed + bytes, std::memory_order_relaxed)) return true;
  return false;
}

FamilyTerms TermTables::compute(std::size_t child, std::span<const std::size_t> parents) const {
  FamilyTerms family;
  family.digits.reserve(parents.size() + 1);
  family.n_cells = 1;
  const auto add = [&](std::size_t feature) {
    family.digits.push_back({.feature = feature, .stride = static_cast<std::uint32_t>(family.n_cells)});
    family.n_cells *= rows_.n_slots(feature);
  };
  add(child);
  std::for_each(parents.rbegin(), parents.rend(), add);
  // A sparse table has integer counts of complete rows only, and its logarithms are looked up.
  if (family.n_cells * rows_.n_folds() > 2 * rows_.n_rows() && !log_counts_.empty() && !rows_.has_missing())
    compute_sparse(family);
  else
    compute_dense(family);
  return family;
}

void TermTables::compute_dense(FamilyTerms& family) const {
  const std::size_t child = family.digits[0].feature;
  const std::size_t n_slots = rows_.n_slots(child);
  const std::size_t n_configurations = family.n_cells / n_slots;
  family.terms.assign(rows_.n_folds() * family.n_cells * width_, 0.0);
  std::vector<bool> observed;  // configurations without a missing parent; empty if no feature is ever missing
  if (rows_.has_missing()) {
    family.logs.resize(rows_.n_folds());
    observed.assign(n_configurations, true);
    for (const auto& [parent, stride] : std::span(family.digits).subspan(1))
      for (std::size_t j = 0; j < n_configurations; ++j)
        observed[j] = observed[j] && j * n_slots / stride % rows_.n_slots(parent) < rows_.n_values(parent);
  }
  const auto estimate_all = [&](auto counts_of) {
    for (std::size_t k = 0; k < rows_.n_folds(); ++k) estimate(family, k, counts_of(k), observed);
  };
  if (family.digits.size() == 1 && counts_)
    return estimate_all([&](std::size_t k) { return counts_->single(child, k); });
  if (family.digits.size() == 2 && counts_)
    return estimate_all([&](std::size_t k) { return counts_->pair(family.digits[1].feature, child, k); });
  const std::vector<std::vector<double>> counts = training_counts(rows_, family.digits, family.n_cells);
  const std::size_t n_classes = rows_.n_classes();
  estimate_all([&](std::size_t k) {
    return CountView<double>{.cells = counts[k].data(), .configuration = n_slots * n_classes, .value = n_classes};
  });
}

double TermTables::log_count(double count) const {
  return log_counts_.empty() ? grid_.round(std::log(count + alpha_)) : log_counts_[static_cast<std::size_t>(count)];
}

double TermTables::log_sum(double sum, std::size_t child) const {
  return log_counts_.empty() ? grid_.round(std::log(sum + rows_.n_values(child) * alpha_))
                             : log_sums_of_feature_[child][static_cast<std::size_t>(sum)];
}

/// ln((N_jvc + alpha) / (N_jc + n_values * alpha)); both logarithms are on the grid, hence their difference too.
template <class T>
void TermTables::estimate(FamilyTerms& family, std::size_t k, const CountView<T>& counts,
                          const std::vector<bool>& observed) const {
  const std::size_t child = family.digits[0].feature;
  const std::size_t n_classes = rows_.n_classes();
  const std::size_t n_values = rows_.n_values(child);
  const std::size_t n_slots = rows_.n_slots(child);
  const std::size_t n_configurations = family.n_cells / n_slots;
  double* terms = family.terms.data() + k * family.n_cells * width_;
  if (width_ == 1 && !log_counts_.empty() && family.logs.empty()) {
    estimate_difference(child, n_configurations, counts, terms);
    return;
  }
  const double uniform = grid_.round(-std::log(static_cast<double>(n_values)));
  std::vector<double> logs(n_values * n_classes);
  for (std::size_t j = 0; j < n_configurations; ++j) {
    if (!observed.empty() && !observed[j]) continue;
    const T* cells = counts.cells + j * counts.configuration;
    for (std::size_t c = 0; c < n_classes; ++c) {
      double sum = 0;
      for (std::size_t v = 0; v < n_values; ++v) sum += cells[v * counts.value + c];
      const double log_total = alpha_ > 0 || sum > 0 ? log_sum(sum, child) : 0;
      for (std::size_t v = 0; v < n_values; ++v) {
        const double n = cells[v * counts.value + c];
        if (alpha_ > 0 || n > 0)
          logs[v * n_classes + c] = log_count(n) - log_total;
        else
          logs[v * n_classes + c] = sum > 0 ? kMinusInfinity : uniform;
      }
    }
    for (std::size_t v = 0; v < n_values; ++v) {
      const double* log = logs.data() + v * n_classes;
      double* term = terms + (j * n_slots + v) * width_;
      if (width_ == 1)
        term[0] = log[1] - log[0];
      else
        for (std::size_t c = 0; c < n_classes; ++c) term[c] = log[c] == kMinusInfinity ? grid_.zero() : log[c];
    }
    if (!family.logs.empty()) family.logs[k].insert(family.logs[k].end(), logs.begin(), logs.end());
  }
}

/// The same for the difference of two classes with integer counts, which is most of the work of many searches.
template <class T>
void TermTables::estimate_difference(std::size_t child, std::size_t n_configurations, const CountView<T>& counts,
                                     double* terms) const {
  const std::size_t n_values = rows_.n_values(child);
  const double* logs = log_counts_.data();
  const double* sum_logs = log_sums_of_feature_[child];
  const auto at = [](T count) { return static_cast<std::uint32_t>(count); };
  for (std::size_t j = 0; j < n_configurations; ++j) {
    const T* cell = counts.cells + j * counts.configuration;
    T first = 0;
    T second = 0;
    for (std::size_t v = 0; v < n_values; ++v) {
      first += cell[v * counts.value];
      second += cell[v * counts.value + 1];
    }
    const double totals = sum_logs[at(second)] - sum_logs[at(first)];
    for (std::size_t v = 0; v < n_values; ++v)
      *terms++ = logs[at(cell[v * counts.value + 1])] - logs[at(cell[v * counts.value])] - totals;
  }
}

void TermTables::pair_terms(std::size_t parent, std::size_t child, double* out) const {
  const std::size_t n_cells = std::size_t{rows_.n_values(parent)} * rows_.n_values(child);
  for (std::size_t k = 0; k < rows_.n_folds(); ++k)
    estimate_difference(child, rows_.n_values(parent), counts_->pair(parent, child, k), out + k * n_cells);
}

/// As `compute_dense`, but only for the cells that occur in rows of the fold.
void TermTables::compute_sparse(FamilyTerms& family) const {
  const std::size_t child = family.digits[0].feature;
  const std::size_t n_classes = rows_.n_classes();
  const double uniform = grid_.round(-std::log(static_cast<double>(rows_.n_values(child))));
  const double* sum_logs = log_sums_of_feature_[child];
  std::vector<std::uint32_t> values = joint_values(rows_, family.digits);
  SparseCounts cells(rows_, values);
  for (std::uint32_t& value : values) value /= rows_.n_slots(child);  // leaves the parents' part
  SparseCounts configurations(rows_, std::move(values));
  family.n_cells = 0;
  family.index.resize(rows_.n_rows());
  family.begin.push_back(0);
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) {
    cells.count_fold(k);
    configurations.count_fold(k);
    const std::size_t first = family.begin.back();
    family.begin.push_back(first + cells.size());
    family.terms.resize(family.begin.back() * width_, 0.0);
    for (std::size_t row = rows_.fold_begin(k); row < rows_.fold_begin(k + 1); ++row) family.index[row] = cells[row];
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::uint32_t* counts = cells.training(i);
      const std::uint32_t* sums = configurations.training(configurations[cells.first_row(i)]);
      double* term = family.terms.data() + (first + i) * width_;
      const auto log_of = [&](std::size_t c) {
        if (alpha_ > 0 || counts[c] > 0) return log_counts_[counts[c]] - sum_logs[sums[c]];
        return sums[c] > 0 ? grid_.zero() : uniform;
      };
      if (width_ == 1)
        term[0] = log_of(1) - log_of(0);
      else
        for (std::size_t c = 0; c < n_classes; ++c) term[c] = log_of(c);
    }
  }
}

}  // namespace tanager::internal

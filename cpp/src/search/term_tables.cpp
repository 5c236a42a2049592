#include "search/term_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <numeric>

#include "support/infinity.hpp"

namespace tanager::internal {
namespace {

/// Up to this many rows the logarithms of all counts are computed beforehand.
constexpr std::size_t kMaxLogTable = std::size_t{1} << 20;
static_assert(kMaxLogTable < (std::size_t{1} << 24), "pairs are counted in single precision, exact below 2^24");
/// Up to this many features the tables of pairs are kept in an array of their own.
constexpr std::size_t kMaxPairedFeatures = 1024;
/// Logarithms handed to a thread at once.
constexpr std::size_t kLogsAtOnce = 512;

/// What is kept elsewhere for as long as anybody looks at it.
Terms kept_elsewhere(const FamilyTerms* terms) {
  return Terms(Terms(), terms);
}

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

}  // namespace

std::size_t FamilyTerms::bytes() const {
  std::size_t total = sizeof(*this) + 256 + terms.size() * sizeof(double) + index.size() * sizeof(std::uint32_t);
  for (const auto& fold : logs) total += fold.size() * sizeof(double);
  return total;
}

SearchTables::SearchTables(const SearchRows& rows, const SearchOptions& options, ThreadTeam& team)
    : rows_(rows),
      alpha_(options.alpha),
      grid_(make_grid(rows, options)),
      width_(width_for(rows.n_classes(), grid_)),
      memory_limit_(options.memory_limit),
      counts_(rows),
      single_parent_(rows.n_features() <= kMaxPairedFeatures ? rows.n_features() * rows.n_features() : 0),
      shelves_(single_parent_.empty() ? 0 : rows.n_features()) {
  // Folds are few and take long to count; logarithms are in small pieces that fill the gap at the end.
  Tasks logarithms, tasks;
  add_logarithms(logarithms);
  add_counting(tasks, team.size());
  tasks.insert(tasks.end(), logarithms.begin(), logarithms.end());
  team.run_items(tasks.size(), [&](std::size_t i, std::size_t) { tasks[i](); });
  counts_.leave_folds_out(team);
  kept_.with([&](Kept& kept) { kept.bytes = counts_.bytes(); });
  estimate_prior(options.class_prior);
  if (rows.n_features() < 2) return;
  std::vector<std::size_t> largest(rows.n_features());
  std::iota(largest.begin(), largest.end(), std::size_t{0});
  std::partial_sort(largest.begin(), largest.begin() + 2, largest.end(),
                    [&](std::size_t a, std::size_t b) { return rows.n_slots(a) > rows.n_slots(b); });
  all_pairs_fit_ = fits(largest[0], {}, {&largest[1], 1});
}

void SearchTables::add_logarithms(Tasks& tasks) {
  if (rows_.data().is_weighted() || rows_.n_rows() > kMaxLogTable) return;
  const auto tabulate = [&](std::vector<double>& logs, double added) {
    logs.resize(rows_.n_rows() + 1);
    for (std::size_t begin = 0; begin < logs.size(); begin += kLogsAtOnce)
      tasks.push_back(
          [this, part = std::span(logs).subspan(begin, std::min(kLogsAtOnce, logs.size() - begin)), begin, added] {
            for (std::size_t i = 0; i < part.size(); ++i)
              part[i] = grid_.round(std::log(static_cast<double>(begin + i) + added));
          });
  };
  std::map<std::uint32_t, std::size_t> known;
  for (std::size_t f = 0; f < rows_.n_features(); ++f)
    log_sums_of_feature_.push_back(known.try_emplace(rows_.n_values(f), known.size()).first->second);
  log_sums_.resize(known.size());
  for (const auto& [values, place] : known) tabulate(log_sums_[place], values * alpha_);
  tabulate(log_counts_, alpha_);
}

/// The counts of all pairs may take half of the memory.
void SearchTables::add_counting(Tasks& tasks, std::size_t threads) {
  if (log_counts_.empty() || counts_.bytes_to_make(threads) > static_cast<double>(memory_limit_) / 2) return;
  counts_.make_room();
  for (std::size_t k = 0; k < rows_.n_folds(); ++k) tasks.push_back([this, k] { counts_.count_fold(k); });
}

void SearchTables::estimate_prior(const std::vector<double>& given) {
  const std::size_t s = rows_.n_classes(), folds = rows_.n_folds();
  std::vector<Cells> counts(folds, Cells{std::vector<double>(s, 0.0)});
  for (std::size_t k = 0; k < folds; ++k)
    for (const RowSegment& segment : rows_.segments(k))
      for (std::size_t row = segment.begin; row < segment.end; ++row)
        counts[k].values[segment.label] += rows_.data().is_weighted() ? rows_.data().weights()[row] : 1.0;
  to_training(counts);
  prior_.resize(folds * width_);
  log_prior_.resize(folds * s);
  for (std::size_t k = 0; k < folds; ++k) {
    const auto& fold = counts[k].values;
    const double sum = std::accumulate(fold.begin(), fold.end(), 0.0) + static_cast<double>(s) * alpha_;
    for (std::size_t c = 0; c < s; ++c) {
      const double p = given.empty() ? (sum > 0 ? (fold[c] + alpha_) / sum : 1.0 / static_cast<double>(s)) : given[c];
      log_prior_[k * s + c] = p > 0 ? grid_.round(std::log(p)) : kMinusInfinity;
    }
    to_width(log_prior_.data() + k * s, prior_.data() + k * width_);
  }
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

void SearchTables::to_width(const double* logs, double* out) const {
  if (width_ == 1) {
    out[0] = grid_.round(logs[1]) - grid_.round(logs[0]);
    return;
  }
  const std::size_t s = rows_.n_classes();
  for (std::size_t c = 0; c < s; ++c) out[c] = logs[c] == kMinusInfinity ? grid_.zero() : grid_.round(logs[c]);
  std::fill(out + s, out + width_, kMinusInfinity);
}

bool SearchTables::fits(std::size_t child, std::span<const std::size_t> parents,
                        std::span<const std::size_t> added) const {
  if (all_pairs_fit_ && parents.size() + added.size() <= 1) return true;  // many searches ask for nothing else
  if (parents.size() + added.size() > kMaxParents) return false;
  double cells = static_cast<double>(rows_.n_slots(child)) * rows_.n_classes();
  for (const std::size_t p : parents) cells *= rows_.n_slots(p);
  for (const std::size_t p : added) cells *= rows_.n_slots(p);
  // The counts of all folds and the terms are in memory at once.
  const double copies = 2.0 * static_cast<double>(rows_.n_folds()) + 1;
  return cells <= static_cast<double>(kMaxTableCells) &&
         (cells * copies * sizeof(double) <= static_cast<double>(memory_limit_) || (parents.empty() && added.empty()));
}

std::size_t SearchTables::count_cells(std::size_t child, std::span<const std::size_t> parents) const {
  std::size_t cells = rows_.n_slots(child);
  for (const std::size_t p : parents) cells *= rows_.n_slots(p);
  return cells;
}

/// A sparse table has whole counts of complete rows only, and its logarithms are looked up.
bool SearchTables::is_sparse(std::size_t cells) const {
  return cells * rows_.n_folds() > 2 * rows_.n_rows() && !log_counts_.empty() && !rows_.has_missing();
}

Terms SearchTables::terms(std::size_t child, const std::vector<std::size_t>& parents) const {
  if (single_parent_.empty() || parents.size() > 1) return find_or_make(child, parents);
  auto& place = single_parent_[child * rows_.n_features() + (parents.empty() ? child : parents[0])];
  if (const FamilyTerms* known = place.load(std::memory_order_acquire)) return kept_elsewhere(known);
  const std::size_t cells = count_cells(child, parents);
  if (!is_sparse(cells)) return put_on_shelf(child, parents, cells, place);
  Terms found = find_or_make(child, parents);
  if (found.use_count() == 0) place.store(found.get(), std::memory_order_release);  // it is kept
  return found;
}

/// Memory that a dense table takes on a shelf.
std::size_t SearchTables::dense_bytes(std::size_t child, std::size_t cells, std::size_t parents) const {
  const std::size_t folds = rows_.n_folds();
  std::size_t bytes = sizeof(FamilyTerms) + (parents + 1) * sizeof(Digit) + folds * cells * width_ * sizeof(double);
  if (rows_.has_missing()) {
    const std::size_t logs = cells / rows_.n_slots(child) * rows_.n_values(child) * rows_.n_classes();
    bytes += folds * (sizeof(std::pmr::vector<double>) + logs * sizeof(double));
  }
  return bytes;
}

Terms SearchTables::put_on_shelf(std::size_t child, const std::vector<std::size_t>& parents, std::size_t cells,
                                 std::atomic<const FamilyTerms*>& place) const {
  const Terms kept = shelves_[child].with([&](Shelf& shelf) -> Terms {
    if (const FamilyTerms* known = place.load(std::memory_order_relaxed)) return kept_elsewhere(known);
    const std::size_t bytes = dense_bytes(child, cells, parents.size());
    if (const std::size_t more = shelf.more_for(bytes); more > 0 && !reserve(more, 0)) return nullptr;
    shelf.make_room(bytes);
    const auto* made =
        ::new (shelf.allocate(sizeof(FamilyTerms), alignof(FamilyTerms))) FamilyTerms(compute(child, parents, &shelf));
    place.store(made, std::memory_order_release);
    return kept_elsewhere(made);
  });
  return kept ? kept : std::make_shared<const FamilyTerms>(compute(child, parents));
}

Terms SearchTables::find_or_make(std::size_t child, const std::vector<std::size_t>& parents) const {
  std::pair key{child, parents};
  const FamilyTerms* known = kept_.with([&](const Kept& kept) {
    const auto found = kept.tables.find(key);
    return found == kept.tables.end() ? nullptr : found->second.get();
  });
  if (known) return kept_elsewhere(known);
  auto made = std::make_unique<const FamilyTerms>(compute(child, parents));
  return kept_.with([&](Kept& kept) -> Terms {
    if (kept.bytes + made->bytes() > memory_limit_) return Terms(std::move(made));
    const std::size_t bytes = made->bytes();
    const auto [place, is_new] = kept.tables.try_emplace(std::move(key), std::move(made));
    if (is_new) kept.bytes += bytes;
    return kept_elsewhere(place->second.get());
  });
}

FamilyTerms SearchTables::compute(std::size_t child, std::span<const std::size_t> parents,
                                  std::pmr::memory_resource* memory) const {
  FamilyTerms family(memory);
  family.digits.reserve(parents.size() + 1);
  std::size_t cells = 1;
  const auto add = [&](std::size_t feature) {
    family.digits.push_back({feature, static_cast<std::uint32_t>(cells)});
    cells *= rows_.n_slots(feature);
  };
  add(child);
  std::for_each(parents.rbegin(), parents.rend(), add);
  if (is_sparse(cells))
    compute_sparse(family);
  else
    compute_dense(family, cells);
  return family;
}

void SearchTables::compute_dense(FamilyTerms& family, std::size_t cells) const {
  const std::size_t child = family.digits[0].feature, folds = rows_.n_folds(), s = rows_.n_classes();
  const std::size_t slots = rows_.n_slots(child), configurations = cells / slots;
  family.n_cells = cells;
  family.terms.assign(folds * cells * width_, 0.0);
  std::vector<bool> observed;  // configurations without a missing parent; empty if no parent is ever missing
  if (rows_.has_missing()) {
    family.logs.resize(folds);
    for (auto& logs : family.logs) logs.reserve(configurations * rows_.n_values(child) * s);
    observed.assign(configurations, true);
    for (const auto& [parent, stride] : std::span(family.digits).subspan(1))
      for (std::size_t j = 0; j < configurations; ++j)
        observed[j] = observed[j] && j * slots / stride % rows_.n_slots(parent) < rows_.n_values(parent);
  }
  if (family.digits.size() == 1 && !counts_.empty()) {
    for (std::size_t k = 0; k < folds; ++k) estimate(family, k, counts_.single(child, k), observed);
  } else if (family.digits.size() == 2 && !counts_.empty()) {
    const std::size_t parent = family.digits[1].feature;
    for (std::size_t k = 0; k < folds; ++k) estimate(family, k, counts_.pair(parent, child, k), observed);
  } else {
    const auto counts = training_counts(family, cells);
    for (std::size_t k = 0; k < folds; ++k)
      estimate(family, k, CountView<double>{counts[k].data(), slots * s, s}, observed);
  }
}

/// Counts of the training rows of every fold, [fold][cell][class].
std::vector<std::vector<double>> SearchTables::training_counts(const FamilyTerms& family, std::size_t cells) const {
  const std::size_t s = rows_.n_classes(), folds = rows_.n_folds();
  const auto weights = rows_.data().weights();
  const std::vector<std::uint32_t> cell = cells_of_rows(rows_, family.digits);
  std::vector<Cells> counts(folds, Cells{std::vector<double>(cells * s, 0.0)});
  for (std::size_t k = 0; k < folds; ++k)
    for (const RowSegment& segment : rows_.segments(k)) {
      double* of_class = counts[k].values.data() + segment.label;
      for (std::size_t row = segment.begin; row < segment.end; ++row)
        of_class[cell[row] * s] += weights.empty() ? 1.0 : weights[row];
    }
  to_training(counts);
  std::vector<std::vector<double>> values;
  for (Cells& fold : counts) values.push_back(std::move(fold.values));
  return values;
}

double SearchTables::log_count(double count) const {
  return log_counts_.empty() ? grid_.round(std::log(count + alpha_)) : log_counts_[static_cast<std::size_t>(count)];
}

double SearchTables::log_sum(double sum, std::size_t child) const {
  return log_counts_.empty() ? grid_.round(std::log(sum + rows_.n_values(child) * alpha_))
                             : log_sums_[log_sums_of_feature_[child]][static_cast<std::size_t>(sum)];
}

/// ln((N_jkc + a) / (N_jc + r a)); both logarithms are on the grid, hence their difference too.
template <class T>
void SearchTables::estimate(FamilyTerms& family, std::size_t k, const CountView<T>& counts,
                            const std::vector<bool>& observed) const {
  const std::size_t child = family.digits[0].feature, s = rows_.n_classes();
  const std::size_t values = rows_.n_values(child), slots = rows_.n_slots(child);
  const std::size_t configurations = family.n_cells / slots;
  const double uniform = grid_.round(-std::log(static_cast<double>(values)));
  double* terms = family.terms.data() + k * family.n_cells * width_;
  if (width_ == 1 && !log_counts_.empty() && family.logs.empty()) {
    estimate_difference(child, configurations, counts, terms);
    return;
  }
  std::vector<double> logs(values * s);
  for (std::size_t j = 0; j < configurations; ++j) {
    if (!observed.empty() && !observed[j]) continue;
    const std::size_t at = j * counts.configuration;
    for (std::size_t c = 0; c < s; ++c) {
      double sum = 0;
      for (std::size_t v = 0; v < values; ++v) sum += counts.cells[at + v * counts.value + c];
      const double log_total = alpha_ > 0 || sum > 0 ? log_sum(sum, child) : 0;
      for (std::size_t v = 0; v < values; ++v) {
        const double n = counts.cells[at + v * counts.value + c];
        if (alpha_ > 0 || n > 0)
          logs[v * s + c] = log_count(n) - log_total;
        else
          logs[v * s + c] = sum > 0 ? kMinusInfinity : uniform;
      }
    }
    for (std::size_t v = 0; v < values; ++v) {
      double* term = terms + (j * slots + v) * width_;
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

/// The same for the difference of two classes with whole counts: many searches do little else.
template <class T>
void SearchTables::estimate_difference(std::size_t child, std::size_t configurations, const CountView<T>& counts,
                                       double* terms) const {
  const std::size_t values = rows_.n_values(child);
  const double *logs = log_counts_.data(), *sum_logs = log_sums_[log_sums_of_feature_[child]].data();
  const auto at = [](T count) { return static_cast<std::uint32_t>(count); };
  for (std::size_t j = 0; j < configurations; ++j) {
    const T* cell = counts.cells + j * counts.configuration;
    T first = 0, second = 0;
    for (std::size_t v = 0; v < values; ++v) {
      first += cell[v * counts.value];
      second += cell[v * counts.value + 1];
    }
    const double totals = sum_logs[at(second)] - sum_logs[at(first)];
    for (std::size_t v = 0; v < values; ++v)
      *terms++ = logs[at(cell[v * counts.value + 1])] - logs[at(cell[v * counts.value])] - totals;
  }
}

void SearchTables::pair_terms(std::size_t parent, std::size_t child, double* out) const {
  const std::size_t cells = std::size_t{rows_.n_values(parent)} * rows_.n_values(child);
  for (std::size_t k = 0; k < rows_.n_folds(); ++k)
    estimate_difference(child, rows_.n_values(parent), counts_.pair(parent, child, k), out + k * cells);
}

bool SearchTables::reserve(std::size_t bytes, std::size_t freed) const {
  return kept_.with([&](Kept& kept) {
    const std::size_t total = kept.bytes - freed + bytes;
    if (total > memory_limit_) return false;
    kept.bytes = total;
    return true;
  });
}

/// As `compute_dense`, but only for cells that rows of the fold are in. Counts of a cell and of a configuration of the
/// parents: all rows less those of the fold.
void SearchTables::compute_sparse(FamilyTerms& family) const {
  const std::size_t child = family.digits[0].feature, folds = rows_.n_folds(), s = rows_.n_classes();
  const double uniform = grid_.round(-std::log(static_cast<double>(rows_.n_values(child))));
  std::vector<std::uint32_t> configuration = cells_of_rows(rows_, family.digits);
  std::vector<std::uint32_t> cell = configuration;
  for (std::uint32_t& j : configuration) j /= rows_.n_slots(child);
  const ClassCounts cells(rows_, number_distinct(cell), cell);
  const ClassCounts configurations(rows_, number_distinct(configuration), configuration);

  family.index.resize(rows_.n_rows());
  family.begin.push_back(0);
  std::vector<std::uint32_t> place(cells.size()), place_of_configuration(configurations.size());
  std::vector<double> log_totals(s);
  for (std::size_t k = 0; k < folds; ++k) {
    const FoldCounts in_fold(cells, rows_, k, cell, place);
    const FoldCounts sums_in_fold(configurations, rows_, k, configuration, place_of_configuration);
    const std::size_t first = family.begin.back();
    family.begin.push_back(first + in_fold.size());
    family.terms.resize(family.begin.back() * width_, 0.0);
    for (std::size_t row = rows_.fold_begin(k); row < rows_.fold_begin(k + 1); ++row)
      family.index[row] = place[cell[row]];
    for (std::size_t i = 0; i < in_fold.size(); ++i) {
      const std::size_t row = in_fold.first_row(i);
      const std::uint32_t* sums = sums_in_fold.training(place_of_configuration[configuration[row]]);
      const std::uint32_t* counts = in_fold.training(i);
      const double* sum_logs = log_sums_[log_sums_of_feature_[child]].data();
      double* term = family.terms.data() + (first + i) * width_;
      const auto log_of = [&](std::size_t c) {
        if (alpha_ > 0 || counts[c] > 0) return log_counts_[counts[c]] - sum_logs[sums[c]];
        return sums[c] > 0 ? grid_.zero() : uniform;
      };
      if (width_ == 1)
        term[0] = log_of(1) - log_of(0);
      else
        for (std::size_t c = 0; c < s; ++c) term[c] = log_of(c);
    }
  }
}

}  // namespace tanager::internal

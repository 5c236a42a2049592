// Counting a data set: chooses a method for every table, cuts the work into tasks and runs them. No task divides the
// rows of a weighted table, and whole numbers add exactly, so results do not depend on threads or methods.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "counts/bit_pairs.hpp"
#include "counts/byte_compare.hpp"
#include "counts/direct.hpp"
#include "counts/histogram.hpp"
#include "counts/options.hpp"
#include "counts/plan.hpp"
#include "support/parallel.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Features per task: enough to share the class column's work, few enough to feed all threads.
constexpr std::size_t kFeaturesPerTask = 8;

using Tasks = std::vector<std::function<void()>>;

class Counter {
 public:
  Counter(const Dataset& data, CountScope scope, const CountOptions& options, CountSet& counts)
      : data_(data), scope_(scope), options_(options), counts_(counts), bits_(plan_bits(data, scope, options)) {}

  void run(int threads) {
    count_classes();
    std::vector<Phase> phases;
    std::optional<BitPairs> bit_pairs;
    if (!bits_.features.empty()) {
      bit_pairs.emplace(data_, bits_.features, bits_.max_product, counts_, options_,
                        static_cast<std::size_t>(resolve_threads(threads)));
      bit_pairs->append_phases(phases);
    }
    add_singles();
    if (scope_ == CountScope::kPairs) add_pairs();
    add_families();
    if (!tasks_.empty()) phases.push_back({tasks_.size(), [this](std::size_t i, std::size_t) { tasks_[i](); }});
    run_phases(phases, threads);
  }

  /// Nothing but the families.
  void run_families(int threads) {
    add_families();
    parallel_for(tasks_.size(), 1, threads, [this](std::size_t i, std::size_t) { tasks_[i](); });
  }

 private:
  void count_classes() {
    const Column& target = data_.target();
    const std::span<double> counts = counts_.class_counts();
    if (!data_.is_weighted() && !target.is_wide() && options_.method != CountMethod::kDirect) {
      count_classes_by_comparing(target, counts, options_.isa);
      return;
    }
    for (std::size_t row = 0; row < data_.n_rows(); ++row)
      counts[target[row]] += data_.is_weighted() ? data_.weights()[row] : 1.0;
  }

  /// Calls add(some features) for not too many features at a time.
  template <class Add>
  static void in_groups(std::vector<std::size_t>& features, Add add) {
    for (std::size_t begin = 0; begin < features.size(); begin += kFeaturesPerTask) {
      const auto first = features.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = first + static_cast<std::ptrdiff_t>(std::min(kFeaturesPerTask, features.size() - begin));
      add(std::vector<std::size_t>(first, last));
    }
    features.clear();
  }

  void add_singles() {
    std::vector<std::size_t> compared;
    std::vector<std::size_t> in_histograms;
    for (std::size_t f = 0; f < data_.n_features(); ++f) {
      if (bits_.chosen[f]) continue;
      const TableMethod method = single_method(data_, f, options_);
      if (method == TableMethod::kDirect)
        tasks_.push_back([this, f] { count_direct(data_, {f, {}}, counts_.single(f)); });
      else
        (method == TableMethod::kCompare ? compared : in_histograms).push_back(f);
    }
    in_groups(compared, [this](std::vector<std::size_t> some) {
      tasks_.push_back([this, features = std::move(some)] {
        count_by_comparing(data_, features, tables_of(std::nullopt, features), counts_.class_counts(), options_.isa);
      });
    });
    in_groups(in_histograms, [this](std::vector<std::size_t> some) { add_histogram(std::nullopt, std::move(some)); });
  }

  void add_pairs() {
    std::vector<std::size_t> partners;
    for (std::size_t u = 0; u < data_.n_features(); ++u) {
      for (std::size_t v = u + 1; v < data_.n_features(); ++v) {
        if (bits_.counts_pair(data_, u, v)) continue;
        if (pair_method(data_, u, v, options_) == TableMethod::kHistogram)
          partners.push_back(v);
        else
          tasks_.push_back([this, u, v] { count_direct(data_, {v, {u}}, counts_.pair(u, v)); });
      }
      in_groups(partners, [this, u](std::vector<std::size_t> some) { add_histogram(u, std::move(some)); });
    }
  }

  void add_families() {
    for (std::size_t i = 0; i < counts_.families().size(); ++i)
      tasks_.push_back([this, i] { count_direct(data_, counts_.families()[i], counts_.family(i)); });
  }

  void add_histogram(std::optional<std::size_t> u, std::vector<std::size_t> some) {
    tasks_.push_back(
        [this, u, features = std::move(some)] { count_by_histogram(data_, {u, features}, tables_of(u, features)); });
  }

  std::vector<std::span<double>> tables_of(std::optional<std::size_t> u, const std::vector<std::size_t>& features) {
    std::vector<std::span<double>> tables;
    for (const std::size_t v : features) tables.push_back(u ? counts_.pair(*u, v) : counts_.single(v));
    return tables;
  }

  const Dataset& data_;
  CountScope scope_;
  const CountOptions& options_;
  CountSet& counts_;
  BitPlan bits_;
  Tasks tasks_;
};

void check_variables(const Dataset& data, const CountSet& counts) {
  if (!std::ranges::equal(data.cardinalities(), counts.cardinalities()) || data.n_classes() != counts.n_classes())
    throw InvalidInput("rows add to counts over the same variables only, but values or classes differ in number");
}

}  // namespace

CountSet internal::count_with(const Dataset& data, CountScope scope, const std::vector<Family>& families, int threads,
                              const CountOptions& options) {
  CountSet counts(data.cardinalities(), data.n_classes(), scope, families);
  if (data.n_rows() > 0) Counter(data, scope, options, counts).run(threads);
  return counts;
}

CountSet count(const Dataset& data, CountScope scope, const std::vector<Family>& families, int threads) {
  return count_with(data, scope, families, worthwhile_threads(data, scope, families.size(), threads), CountOptions{});
}

void count_into(const Dataset& data, CountSet& counts, int threads) {
  if (!data.is_weighted()) {  // whole numbers add exactly, in any order
    counts += count(data, counts.scope(), counts.families(), threads);
    return;
  }
  check_variables(data, counts);
  const int worth = worthwhile_threads(data, counts.scope(), counts.families().size(), threads);
  if (data.n_rows() > 0) Counter(data, counts.scope(), CountOptions{}, counts).run(worth);
}

CountSet count_families(const Dataset& data, const CountSet& counts, const std::vector<Family>& families, int threads) {
  // Weights that were added up in another order, or taken away, may differ in their last digits.
  if (data.is_weighted()) return count(data, CountScope::kSingles, families, threads);
  check_variables(data, counts);
  CountSet found(data.cardinalities(), data.n_classes(), CountScope::kSingles, families);
  std::ranges::copy(counts.class_counts(), found.class_counts().begin());
  for (std::size_t f = 0; f < data.n_features(); ++f) std::ranges::copy(counts.single(f), found.single(f).begin());
  if (data.n_rows() > 0) {
    const int worth = worthwhile_threads(data, CountScope::kSingles, families.size(), threads);
    Counter(data, CountScope::kSingles, CountOptions{}, found).run_families(worth);
  }
  return found;
}

CountTable count_family(const Dataset& data, const Family& family) {
  const std::vector<std::uint32_t> cardinalities = data.cardinalities();
  CountTable table{family, {}, data.n_classes(), {}};
  table.cells.assign(static_cast<std::size_t>(checked_table_size(family, cardinalities, data.n_classes())), 0.0);
  for (const std::size_t parent : family.parents) table.dims.push_back(cardinalities[parent]);
  table.dims.push_back(cardinalities[family.child]);
  count_direct(data, family, table.cells);
  return table;
}

}  // namespace tanager

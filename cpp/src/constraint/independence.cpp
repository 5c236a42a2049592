// Tests of independence. Rows that are alike are joined first, which makes every later test shorter, and all pairs
// given nothing (or the class alone) are counted in one pass.
#include "tanager/learn_constraint.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "constraint/independence_counts.hpp"
#include "constraint/set_counts.hpp"
#include "scores/without_noise.hpp"
#include "support/check_stop.hpp"
#include "support/pairs.hpp"
#include "support/parallel.hpp"
#include "support/scratch_pool.hpp"
#include "support/special.hpp"
#include "support/text.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

/// The class as one more feature, and a class of one value in its place.
Dataset with_class_as_feature(const Dataset& data, std::vector<double> weights) {
  std::vector<Column> columns = data.features();
  columns.push_back(data.target());
  return Dataset(std::move(columns), Column(std::vector<std::uint8_t>(data.n_rows(), 0), 1), std::move(weights));
}

bool same_row(const Dataset& data, std::size_t a, std::size_t b) {
  if (data.target()[a] != data.target()[b]) return false;
  return std::all_of(data.features().begin(), data.features().end(),
                     [&](const Column& column) { return column[a] == column[b]; });
}

std::vector<std::uint64_t> hash_rows(const Dataset& data) {
  std::vector<std::uint64_t> hashes(data.n_rows(), 0);
  const auto mix = [&](const Column& column) {
    for (std::size_t row = 0; row < hashes.size(); ++row) {
      std::uint64_t& hash = hashes[row];
      hash = (hash ^ column[row]) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
    }
  };
  for (const Column& column : data.features()) mix(column);
  mix(data.target());
  return hashes;
}

/// Rows that are alike become one with the sum of their weights, in the order of the first of each.
struct JoinedRows {
  std::vector<std::size_t> rows;
  std::vector<double> weights;
};

JoinedRows join_equal_rows(const Dataset& data) {
  const std::vector<std::uint64_t> hashes = hash_rows(data);
  constexpr auto kFree = std::numeric_limits<std::size_t>::max();
  const std::size_t mask = std::bit_ceil(2 * data.n_rows() + 1) - 1;
  std::vector<std::size_t> slots(mask + 1, kFree);
  JoinedRows joined;
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    std::size_t slot = hashes[row] & mask;
    const auto is_another = [&](std::size_t known) {
      const std::size_t first = joined.rows[known];
      return hashes[first] != hashes[row] || !same_row(data, first, row);
    };
    while (slots[slot] != kFree && is_another(slots[slot])) slot = (slot + 1) & mask;
    if (slots[slot] == kFree) {
      slots[slot] = joined.rows.size();
      joined.rows.push_back(row);
      joined.weights.push_back(0);
    }
    joined.weights[slots[slot]] += data.is_weighted() ? data.weights()[row] : 1.0;
  }
  return joined;
}

bool are_whole(std::span<const double> weights) {
  constexpr double kExact = 9e15;  // sums of whole numbers below are exact
  double sum = 0;
  for (const double weight : weights) {
    if (weight != std::floor(weight)) return false;
    sum += weight;
  }
  return sum < kExact;
}

Dataset prepared(const Dataset& data) {
  JoinedRows joined = join_equal_rows(data);
  if (2 * joined.rows.size() <= data.n_rows())
    return with_class_as_feature(data.subset(joined.rows), std::move(joined.weights));
  return with_class_as_feature(data, {data.weights().begin(), data.weights().end()});
}

}  // namespace

/// The rows as tests see them.
class RowDependence::Rows {
 public:
  Rows(const Dataset& data, bool given_class, int threads)
      : rows_(prepared(data)), whole_(are_whole(data.weights())), given_class_(given_class) {
    if (whole_ && rows_.n_rows() < std::numeric_limits<std::uint32_t>::max()) sets_.emplace(rows_);
    weigh_pairs(data, threads);
  }

  std::size_t n_variables() const { return rows_.n_features(); }

  DependenceFinding find(std::size_t x, std::size_t y, std::span<const std::size_t> given) const {
    check(x, y, given);
    if (x > y) std::swap(x, y);
    if (given.empty()) return of_pairs_[pair_index(x, y, n_pairs_of())];
    const auto all = with_class(given);
    if (!has_sets(x, y, given))
      return counters_.with([&](DependenceCounter& counter) { return counter.of_rows(rows_, whole_, x, y, all); });
    const auto configurations = static_cast<double>(sets_->of(all).occurring);
    return {information(x, y, all), sets_->total(), configurations, sets_->degrees(x, y, all)};
  }

  /// Infinity where fewer rows than `min_rows` are there for every combination of what is given.
  double strength(std::size_t x, std::size_t y, std::span<const std::size_t> given,
                  const DependenceOptions& options) const {
    const bool informs = options.kind == DependenceKind::kMutualInformation;
    check(x, y, given);
    if (!given.empty() && has_sets(x, y, given)) {
      const auto all = with_class(given);
      if (are_too_few(all, options.min_rows)) return std::numeric_limits<double>::infinity();
      if (informs) return without_noise(information(std::min(x, y), std::max(x, y), all));
    }
    const DependenceFinding found = find(x, y, given);
    if (!given.empty() && found.rows < options.min_rows * std::max(1.0, found.configurations))
      return std::numeric_limits<double>::infinity();
    if (informs) return without_noise(found.information);
    // Adding zero keeps a p-value of one from being a strength of minus zero.
    return 0.0 - log_p_value(2 * found.rows * found.information, found.degrees);
  }

 private:
  /// The class cannot be tested where every test is conditioned on it.
  std::size_t n_pairs_of() const { return n_variables() - (given_class_ ? 1 : 0); }

  void check(std::size_t x, std::size_t y, std::span<const std::size_t> given) const {
    const auto see = [&](std::size_t v) {
      if (v >= n_pairs_of())
        throw InvalidInput(
            join_text("expected a variable below ", n_pairs_of(), " in a test of independence, got ", v));
      const auto times = std::count(given.begin(), given.end(), v) + (v == x) + (v == y);
      if (times > 1) throw InvalidInput(join_text("variable ", v, " occurs twice in a test of independence"));
    };
    see(x);
    see(y);
    for (const std::size_t g : given) see(g);
  }

  std::vector<std::size_t> with_class(std::span<const std::size_t> given) const {
    std::vector<std::size_t> all(given.begin(), given.end());
    std::sort(all.begin(), all.end());
    if (given_class_) all.push_back(n_variables() - 1);
    return all;
  }

  /// Whether a test uses all rows, so that it can be put together from sets that other tests have counted.
  bool has_sets(std::size_t x, std::size_t y, std::span<const std::size_t> given) const {
    const auto is_complete = [&](std::size_t v) { return !rows_.feature(v).has_missing(); };
    return sets_ && is_complete(x) && is_complete(y) && std::all_of(given.begin(), given.end(), is_complete);
  }

  /// A further variable never makes combinations fewer, so that sets without one of these, which are mostly known, may
  /// save counting all.
  bool are_too_few(const std::vector<std::size_t>& all, double min_rows) const {
    if (min_rows == 0) return false;
    const auto is_too_many = [&](std::uint64_t occurring) {
      return sets_->total() < min_rows * std::max(1.0, static_cast<double>(occurring));
    };
    const std::size_t n_own = all.size() - (given_class_ ? 1 : 0);
    for (std::size_t i = 0; n_own > 1 && i < n_own; ++i) {
      std::vector<std::size_t> fewer = all;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_too_many(sets_->of(fewer).occurring)) return true;
    }
    return is_too_many(sets_->of(all).occurring);
  }

  double information(std::size_t x, std::size_t y, const std::vector<std::size_t>& all) const {
    const std::int64_t terms = sets_->of(united(all, {x, y})).terms + sets_->of(all).terms -
                               (sets_->of(united(all, {x})).terms + sets_->of(united(all, {y})).terms);
    return std::max(0.0, sets_->per_row(terms));
  }

  /// All pairs given nothing, or the class alone.
  void weigh_pairs(const Dataset& data, int threads) {
    const std::size_t n = n_pairs_of();
    of_pairs_.resize(n < 2 ? 0 : n * (n - 1) / 2);
    const std::size_t target = n_variables() - 1;
    const std::span<const std::size_t> given{&target, given_class_ ? std::size_t{1} : 0};
    std::optional<CountSet> counts;
    if (n > 1 && whole_ && !data.is_weighted())
      counts = tanager::count(given_class_ ? data : with_class_as_feature(data, {}), CountScope::kPairs, {}, threads);
    const auto values = [&](std::size_t v) { return std::size_t{rows_.feature(v).n_values()}; };
    parallel_for(n, 1, threads, [&](std::size_t begin, std::size_t end) {
      DependenceCounter counter;
      for (std::size_t x = begin; x < end; ++x)
        for (std::size_t y = x + 1; y < n; ++y) {
          check_stop();
          of_pairs_[pair_index(x, y, n)] =
              counts ? counter.of_table(counts->pair(x, y), values(x), values(y), given_class_ ? values(target) : 1)
                     : counter.of_rows(rows_, whole_, x, y, given);
        }
    });
  }

  Dataset rows_;
  bool whole_;
  bool given_class_;
  std::optional<SetCounts> sets_;  // where it can count the rows
  std::vector<DependenceFinding> of_pairs_;
  mutable ScratchPool<DependenceCounter> counters_;
};

double log_p_value(double g2, double degrees) {
  return log_chi_square_tail(g2, degrees);
}

RowDependence::RowDependence(const Dataset& data, const DependenceOptions& options, int threads)
    : options_(options), rows_(std::make_shared<const Rows>(data, options.given_class, threads)) {
  if (!(options.min_rows >= 0) || std::isinf(options.min_rows))
    throw InvalidInput(join_text("min_rows: expected a finite number >= 0, got ", options.min_rows));
}

std::size_t RowDependence::n_variables() const {
  return rows_->n_variables();
}

DependenceFinding RowDependence::find(std::size_t x, std::size_t y, std::span<const std::size_t> given) const {
  return rows_->find(x, y, given);
}

double RowDependence::operator()(std::size_t x, std::size_t y, std::span<const std::size_t> given) const {
  return rows_->strength(x, y, given, options_);
}

}  // namespace tanager

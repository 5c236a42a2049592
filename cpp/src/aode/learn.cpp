// Learning from counts of pairs: the table of two features and the class gives both P(v | u, c) and P(u | v, c), each
// (N_uvc + a) / (N_uc + r a) from the rows where both are observed, as parameters/dirichlet.cpp has it.
#include <algorithm>
#include <limits>
#include <utility>

#include "aode/size.hpp"
#include "parameters/class_prior.hpp"
#include "parameters/from_counts.hpp"
#include "support/saturating.hpp"
#include "support/text.hpp"
#include "tanager/aode.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Larger tables of pairs (16 GiB) are rejected; the counts they come from end at half of that.
constexpr std::uint64_t kMaxPairCells = std::uint64_t{1} << 31;

void check(const AodeOptions& options, const CountSet& counts) {
  check_pseudo_counts("alpha", options.alpha, true);
  if (counts.n_features() > 1 && counts.scope() != CountScope::kPairs)
    throw InvalidInput("averaged one-dependence estimators need the counts of all pairs of features");
  if (!options.class_prior.empty()) check_class_prior(options.class_prior, counts.n_classes());
}

/// The counts of one variable's values: rows of one number per class, `step` apart.
struct Counts {
  const double* cells;
  std::size_t values, classes, step;
};

/// Counts to probabilities, [value][class]. `total` is scratch of one number per class.
void estimate(const Counts& counts, double alpha, double* total, double* out) {
  const std::size_t n_classes = counts.classes;
  for (std::size_t c = 0; c < n_classes; ++c) total[c] = 0.0;
  for (std::size_t k = 0; k < counts.values; ++k)
    for (std::size_t c = 0; c < n_classes; ++c) total[c] += counts.cells[k * counts.step + c];
  for (std::size_t c = 0; c < n_classes; ++c) total[c] += static_cast<double>(counts.values) * alpha;
  const double uniform = 1.0 / static_cast<double>(counts.values);
  for (std::size_t k = 0; k < counts.values; ++k)
    for (std::size_t c = 0; c < n_classes; ++c) {
      const double p = (counts.cells[k * counts.step + c] + alpha) / total[c];
      out[k * n_classes + c] = total[c] > 0 ? p : uniform;
    }
}

/// Fills the tables of pairs, parent by parent.
class PairTables {
 public:
  PairTables(const CountSet& counts, double alpha)
      : counts_(counts), alpha_(alpha), totals_(counts.n_classes()), n_values_(0) {
    for (const std::uint32_t r : counts.cardinalities()) n_values_ += r;
    cells_.resize(static_cast<std::size_t>(checked_aode_pair_cells(counts.cardinalities(), counts.n_classes())));
    double* parent_cells = cells_.data();
    for (std::size_t p = 0; p < counts.n_features(); ++p) {
      std::size_t before = 0;
      for (std::size_t i = 0; i < counts.n_features(); ++i)
        if (i != p) {
          fill(p, i, parent_cells + before);
          before += std::size_t{counts.cardinalities()[i]} * counts.n_classes();
        }
      parent_cells += counts.cardinalities()[p] * before;
    }
  }
  std::vector<double> take() { return std::move(cells_); }

 private:
  /// All distributions of `child` given `parent`; `out` is that of the parent's first value.
  void fill(std::size_t parent, std::size_t child, double* out) {
    const std::size_t n_classes = counts_.n_classes(), own = counts_.cardinalities()[child];
    const std::size_t values = counts_.cardinalities()[parent], stride = (n_values_ - values) * n_classes;
    const bool first = parent < child;  // in the table, whose first feature is the outer one
    const double* cells = (first ? counts_.pair(parent, child) : counts_.pair(child, parent)).data();
    for (std::size_t v = 0; v < values; ++v)
      estimate(
          {cells + v * (first ? own * n_classes : n_classes), own, n_classes, first ? n_classes : values * n_classes},
          alpha_, totals_.data(), out + v * stride);
  }

  const CountSet& counts_;
  double alpha_;
  std::vector<double> totals_, cells_;
  std::size_t n_values_;
};

}  // namespace

std::uint64_t internal::aode_pair_cells(std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes) {
  // sum over p of r_p (R - r_p) = R^2 - sum of squares, R the number of all values
  std::uint64_t values = 0, squares = 0;
  for (const std::uint64_t r : cardinalities) {
    values += r;
    squares += r * r;
    if (values >= std::uint64_t{1} << 32) return kSaturated;
  }
  const std::uint64_t cells = values * values - squares;
  return saturating_multiply(cells, n_classes);
}

std::uint64_t internal::checked_aode_pair_cells(std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes) {
  const std::uint64_t cells = aode_pair_cells(cardinalities, n_classes);
  if (cells > kMaxPairCells)
    throw InvalidInput(join_text("the tables of all pairs of ", cardinalities.size(),
                                 " features and the class would have ", static_cast<double>(cells),
                                 " cells of 8 bytes, but at most ", kMaxPairCells, " are possible"));
  return cells;
}

Aode learn_aode(const CountSet& counts, const AodeOptions& options) {
  check(options, counts);
  const std::size_t n = counts.n_features(), n_classes = counts.n_classes();
  std::vector<double> prior = options.class_prior;
  if (prior.empty()) {
    prior.resize(n_classes);
    double total = 0;
    estimate({counts.class_counts().data(), n_classes, 1, 1}, options.alpha, &total, prior.data());
  }
  std::vector<double> singles, value_counts, totals(n_classes);
  for (std::size_t f = 0; f < n; ++f) {
    const auto table = counts.single(f);
    singles.resize(singles.size() + table.size());
    estimate({table.data(), counts.cardinalities()[f], n_classes, n_classes}, options.alpha, totals.data(),
             singles.data() + singles.size() - table.size());
    for (std::size_t k = 0; k < counts.cardinalities()[f]; ++k) {
      double weight = 0;
      for (std::size_t c = 0; c < n_classes; ++c) weight += table[k * n_classes + c];
      value_counts.push_back(weight);
    }
  }
  return Aode({counts.cardinalities().begin(), counts.cardinalities().end()}, std::move(prior), std::move(singles),
              n > 1 ? PairTables(counts, options.alpha).take() : std::vector<double>{}, std::move(value_counts),
              options.min_count);
}

}  // namespace tanager

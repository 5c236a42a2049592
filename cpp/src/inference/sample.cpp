// Cases are drawn exactly, evidence or not: the class from its posterior, then the missing features that the evidence
// depends on, clique by clique against the order of summation, each from its distribution given its separator; at last
// all others from their own tables, parents first.
#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/queries_impl.hpp"
#include "support/check_stop.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

constexpr std::size_t kCasesPerTask = 1024;

/// Turns [configurations][values][classes] into running sums over the values.
void accumulate(std::span<double> cells, std::size_t values, std::size_t n_classes) {
  for (std::size_t start = 0; start < cells.size(); start += values * n_classes)
    for (std::size_t i = start + n_classes; i < start + values * n_classes; ++i) cells[i] += cells[i - n_classes];
}

/// The value in whose part of the whole a number falls; never one of probability zero. `sums` has one in every `step`.
Code draw_value(const double* sums, std::size_t values, std::size_t step, double uniform) {
  const double total = sums[(values - 1) * step], target = uniform * total;
  std::size_t low = 0, high = values - 1;  // the first value whose sum is above the target, or reaches the total
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const double sum = sums[middle * step];
    if (sum > target || sum == total)
      high = middle;
    else
      low = middle + 1;
  }
  return static_cast<Code>(low);
}

class Sampler {
 public:
  Sampler(const AskedNetwork& asked, const Evidence& evidence)
      : asked_(asked), evidence_(evidence), n_classes_(asked.scopes.n_classes()), families_(asked.logs.size()) {
    const bool nothing = !evidence.target && std::ranges::all_of(asked.scopes.order(), [&](std::size_t f) {
      return evidence.features[f] == kMissing;
    });
    if (nothing)
      draw_forward();
    else
      draw_given_evidence();
    for (const std::size_t family : forward_) {
      families_[family].reserve(asked.logs[family].size());
      for (const double log : asked.logs[family]) families_[family].push_back(std::exp(log));
      if (family < asked.n_features()) accumulate(families_[family], asked.scopes.cardinalities()[family], n_classes_);
    }
    // The class's own table has the values, not the configurations, innermost.
    if (!families_.back().empty())
      for (std::size_t start = 0; start < families_.back().size(); start += n_classes_)
        accumulate({families_.back().data() + start, n_classes_}, n_classes_, 1);
  }

  /// Draws one case; `row` has n_features codes and the class behind them.
  void draw(Random random, std::span<Code> row) const {
    const std::size_t n = asked_.n_features();
    std::ranges::copy(evidence_.features, row.begin());
    if (!classes_.empty()) row[n] = draw_value(classes_.data(), n_classes_, 1, random.uniform());
    for (std::size_t i = plan_.cliques.size(); i-- > 0;) {
      const JunctionClique& clique = plan_.cliques[i];
      std::size_t separator = 0;
      for (std::size_t k = clique.first_separator; k < clique.end_separator; ++k)
        separator = separator * asked_.scopes.cardinalities()[plan_.separators[k]] + row[plan_.separators[k]];
      const double* cells = cells_.data() + (clique.cells + separator * clique.values) * n_classes_ + row[n];
      row[clique.feature] = draw_value(cells, clique.values, n_classes_, random.uniform());
    }
    for (const std::size_t family : forward_) {
      std::size_t place = 0;
      for (const auto& member : asked_.scopes.members(family))
        if (member.feature != family) place += std::size_t{row[member.feature]} * member.stride;
      const double* cells = families_[family].data() + place;
      row[family] =
          family == n ? draw_value(cells, n_classes_, 1, random.uniform())
                      : draw_value(cells + row[n], asked_.scopes.cardinalities()[family], n_classes_, random.uniform());
    }
  }

 private:
  void draw_forward() {
    const auto order = asked_.scopes.order();
    forward_.assign(order.begin(), order.end());
    forward_.insert(forward_.begin() + static_cast<std::ptrdiff_t>(asked_.structure.class_position()),
                    asked_.n_features());
  }

  void draw_given_evidence() {
    plan_ = asked_.plan(evidence_, {});
    Propagation state;
    gather(plan_, asked_.logs, evidence_.features, asked_.scopes.n_classes(), true, state);
    classes_ = asked_.class_posterior(evidence_, state.log_evidence);
    accumulate(classes_, n_classes_, 1);
    cells_ = std::move(state.cells);
    std::vector<bool> drawn(asked_.n_features(), false);
    StopMeter meter;
    for (const JunctionClique& clique : plan_.cliques) {
      drawn[clique.feature] = true;
      for (std::size_t x = 0; x < clique.separator_cells; ++x) {
        meter.add(clique.values * n_classes_);
        accumulate({cells_.data() + (clique.cells + x * clique.values) * n_classes_, clique.values * n_classes_},
                   clique.values, n_classes_);
      }
    }
    for (const std::size_t f : asked_.scopes.order())
      if (evidence_.features[f] == kMissing && !drawn[f]) forward_.push_back(f);
  }

  const AskedNetwork& asked_;
  const Evidence& evidence_;
  const std::size_t n_classes_;
  std::vector<double> classes_;       // running sums; empty if the class is drawn from its own table
  JunctionPlan plan_;                 // none of it if there is no evidence
  std::vector<double> cells_;         // running sums over each clique's feature
  std::vector<std::size_t> forward_;  // families drawn from their own tables, in this order
  FamilyTables families_;             // their running sums
};

}  // namespace

void Queries::sample(const Evidence& evidence, std::uint64_t seed, std::span<Code> out, int threads) const {
  impl_->check(evidence);
  const std::size_t n = impl_->n_features();
  if (out.size() % (n + 1) != 0)
    throw InvalidInput(join_text("cases of ", n, " features and a class do not fill ", out.size(), " codes"));
  Evidence known = evidence;
  for (std::size_t f = 0; f < n; ++f)
    if (impl_->structure.is_absent(f)) known.features[f] = kMissing;
  const Sampler sampler(*impl_, known);
  const std::size_t cases = out.size() / (n + 1);
  parallel_for(cases, kCasesPerTask, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<Code> row(n + 1);
    for (std::size_t i = begin; i < end; ++i) {
      sampler.draw(Random(seed, i), row);
      for (std::size_t f = 0; f <= n; ++f) out[f * cases + i] = row[f];
    }
  });
}

}  // namespace tanager

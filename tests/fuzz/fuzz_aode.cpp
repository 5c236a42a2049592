// Averaged one-dependence estimators, learned or with tables of any kind, against the mean over their models.
#include <vector>

#include "aode/block.hpp"
#include "aode/plan.hpp"
#include "predictions.hpp"
#include "reference.hpp"
#include "tanager/aode.hpp"

const int fuzz::kShortRuns = 4000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;
using namespace tanager::internal;

/// P(observed features, class) by the definition: a missing super-parent is summed over its values, any other missing
/// feature has a factor of one.
std::vector<long double> averaged(const Aode& aode, const fuzz::Row& row) {
  const std::size_t n = aode.n_features(), s = aode.n_classes();
  std::vector<long double> sums(s, 0.0L);
  std::size_t models = 0;
  for (std::size_t p = 0; p < n; ++p) {
    if (aode.min_count() > 0 && (row[p] == kMissing || aode.value_counts(p)[row[p]] < aode.min_count())) continue;
    ++models;
    for (std::size_t v = 0; v < aode.cardinalities()[p]; ++v) {
      if (row[p] != kMissing && row[p] != v) continue;
      for (std::size_t c = 0; c < s; ++c) {
        long double product = static_cast<long double>(aode.class_probabilities()[c]) * aode.single(p)[v * s + c];
        for (std::size_t i = 0; i < n; ++i)
          if (i != p && row[i] != kMissing) product *= aode.pair(p, v, i)[row[i] * s + c];
        sums[c] += product;
      }
    }
  }
  for (std::size_t c = 0; c < s; ++c) {
    if (models > 0) {
      sums[c] /= static_cast<long double>(models);
      continue;
    }
    sums[c] = aode.class_probabilities()[c];
    for (std::size_t i = 0; i < n; ++i)
      if (row[i] != kMissing) sums[c] *= aode.single(i)[row[i] * s + c];
  }
  return sums;
}

Aode random_aode(std::mt19937_64& random, const std::vector<std::uint32_t>& cards, std::size_t s, fuzz::Tables kind,
                 double min_count) {
  std::vector<double> singles, pairs, value_counts;
  const auto append = [&](std::vector<double>& to, std::size_t values) {
    const auto table = fuzz::random_table(random, kind, 1, values, s);
    to.insert(to.end(), table.begin(), table.end());
  };
  for (std::size_t p = 0; p < cards.size(); ++p) {
    append(singles, cards[p]);
    for (std::size_t v = 0; v < cards[p]; ++v) {
      value_counts.push_back(static_cast<double>(random() % 6));
      for (std::size_t i = 0; i < cards.size(); ++i)
        if (i != p) append(pairs, cards[i]);
    }
  }
  return Aode(cards, fuzz::random_table(random, kind, 1, s, 1), singles, pairs, value_counts, min_count);
}

/// Tables that were learned are smoothed counts.
void check_tables(const Aode& aode, const Dataset& data, double alpha) {
  const std::size_t n = aode.n_features(), s = aode.n_classes();
  const auto compare = [&](std::span<const double> got, const double* counts, std::size_t values) {
    for (std::size_t c = 0; c < s; ++c) {
      double total = static_cast<double>(values) * alpha;
      for (std::size_t k = 0; k < values; ++k) total += counts[k * s + c];
      for (std::size_t k = 0; k < values; ++k)
        fuzz::require_near(got[k * s + c],
                           total > 0 ? (counts[k * s + c] + alpha) / total : 1.0 / static_cast<double>(values), 1e-12,
                           "learned probability");
    }
  };
  for (std::size_t p = 0; p < n; ++p) {
    compare(aode.single(p), reference::count_table(data, {p, {}}).data(), aode.cardinalities()[p]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const std::vector<double> counts = reference::count_table(data, {i, {p}});
      const std::size_t values = aode.cardinalities()[i];
      for (std::size_t v = 0; v < aode.cardinalities()[p]; ++v)
        compare(aode.pair(p, v, i), counts.data() + v * values * s, values);
    }
  }
}

Aode learned_aode(fuzz::Input& input, const std::vector<std::uint32_t>& cards, std::uint32_t classes,
                  double min_count) {
  std::vector<reference::ColumnSpec> features;
  for (const std::uint32_t r : cards)
    features.push_back({r, input.choose({0.0, 0.0, 0.3}), input.choose({0.0, 0.5}), false});
  AodeOptions options;
  options.alpha = input.choose({1.0, 0.0, 0.01, 1e-100, 1e-300});
  options.min_count = min_count;
  const Dataset data = reference::random_dataset(features, {classes, 0.0, 0.3}, input.size(0, 60), input.flag(),
                                                 input.number(0, UINT32_MAX));
  const Aode aode = learn_aode(count(data, CountScope::kPairs), options);
  check_tables(aode, data, options.alpha);
  return aode;
}

/// Every instruction set gives the same bits for all rows together as for each alone, which never joins tables.
void check_kernels(fuzz::Input& input, const Aode& aode) {
  const AodePlan plan(aode);
  AodeBlock block(plan, input.size(1, 40));
  std::mt19937_64 random = input.random();
  for (std::size_t f = 0; f < plan.n_features(); ++f) {
    const bool missing = random() % 3 == 0;
    for (std::size_t row = 0; row < block.rows; ++row) {
      const bool lacks = missing && random() % 8 == 0;
      block.slots_of(f)[row] =
          static_cast<std::uint16_t>(lacks ? plan.cardinalities[f] : random() % plan.cardinalities[f]);
      if (lacks) block.has_missing[f] = 1;
    }
  }
  AodeBlock alone(plan, 1);
  alone.has_missing = block.has_missing;
  for (int level = 0; level <= static_cast<int>(supported_isa()); ++level) {
    average_block(aode, plan, block, static_cast<Isa>(level));
    for (std::size_t row = 0; row < block.rows; ++row) {
      for (std::size_t f = 0; f < plan.n_features(); ++f) alone.slots_of(f)[0] = block.slots_of(f)[row];
      average_block(aode, plan, alone, Isa::kBaseline);
      for (std::size_t c = 0; c < plan.n_classes; ++c) {
        const std::size_t at = row * plan.width + c;
        fuzz::require_same(block.sums[at], alone.sums[c], "sum on instruction set " + std::to_string(level));
        if (plan.scaled) fuzz::require_same(block.powers[at], alone.powers[c], "power on " + std::to_string(level));
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const std::size_t most = input.choose<std::size_t>({30, 30, 30, 100, 100, 100, 500, 500, 2000, 10'000});
  const auto classes = static_cast<std::uint32_t>(input.edge_size(std::min<std::size_t>(most, 1000)));
  const std::size_t n = input.size(0, most > 500 ? 3 : most > 100 ? 5 : 10);
  const auto cards = fuzz::read_cardinalities(input, n, classes, most);
  const double min_count = input.choose({0.0, 0.0, 1.0, 3.0, 100.0});
  const bool learns = input.flag();
  const fuzz::Tables kind = fuzz::read_tables(input);
  std::mt19937_64 random = input.random();
  const Aode aode =
      learns ? learned_aode(input, cards, classes, min_count) : random_aode(random, cards, classes, kind, min_count);
  const AodePredictor predictor(aode);
  fuzz::check_predictor(input, predictor, cards, std::vector<bool>(n, false), 100'000, 1e-13,
                        [&](const fuzz::Row& row) { return averaged(aode, row); });
  if (n > 0 && input.choose({false, false, false, true})) check_kernels(input, aode);
  return 0;
}

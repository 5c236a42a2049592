// Parameters from counts, each kind by its formula, one cell at a time.
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "networks.hpp"
#include "reference.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"
#include "tanager/learn_weights.hpp"

const int fuzz::kShortRuns = 5000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;

using Numbers = std::vector<long double>;

struct Problem {
  Structure structure;
  CountSet counts;
};

Problem read_problem(fuzz::Input& input, bool naive, bool general) {
  const auto classes =
      static_cast<std::uint32_t>(input.choose<int>({0, 0, 0, 1}) == 0 ? input.size(1, 4) : input.edge_size(300));
  const std::size_t most = 1000;
  const auto cards = fuzz::read_cardinalities(input, input.size(0, 5), classes, most);
  const Structure structure =
      fuzz::read_structure(input, cards, classes, most, naive ? 0 : input.size(0, 3), general && input.flag());
  std::vector<reference::ColumnSpec> features;
  for (const std::uint32_t r : cards)
    features.push_back({r, input.choose({0.0, 0.0, 0.3, 1.0}), input.choose({0.0, 0.7}), false});
  const std::size_t n_rows = input.size(0, 100), weighted = input.size(0, 4);
  const Dataset data =
      reference::random_dataset(features, {classes, 0.0, 0.5}, n_rows, weighted == 1, input.number(0, UINT32_MAX));
  std::vector<double> weights(data.weights().begin(), data.weights().end());
  if (weighted > 2) weights.assign(n_rows, weighted == 3 ? 1e-290 : 1e290);
  std::vector<Family> families;
  for (std::size_t f = 0; f < cards.size(); ++f)
    if (!structure.is_absent(f)) families.push_back(structure.family(f));
  if (const auto family = structure.class_family()) families.push_back(*family);
  return {structure, count(Dataset(data.features(), data.target(), weights), CountScope::kSingles, families)};
}

/// One distribution of counts.
struct Distribution {
  std::size_t feature;  // n_features for the class
  Numbers counts;
  std::size_t cells;  // of the whole table
};

/// Calls estimate(distribution) for every distribution of a network, and compares what it says with the network's.
template <class Estimate>
void check_network(const Network& network, const Problem& problem, bool class_given, Estimate estimate) {
  const std::size_t n = network.n_features(), s = network.n_classes();
  for (std::size_t f = 0; f <= n; ++f) {
    const bool is_class = f == n;
    if (is_class ? class_given : problem.structure.is_absent(f)) continue;
    std::vector<double> cells;
    if (is_class) {
      const auto family = problem.structure.class_family();
      cells = family ? problem.counts.table(*family).cells
                     : std::vector<double>(problem.counts.class_counts().begin(), problem.counts.class_counts().end());
    } else {
      cells = problem.counts.table(problem.structure.family(f)).cells;
    }
    const std::size_t r = is_class ? s : network.cardinalities()[f];
    const bool child = is_class || problem.structure.is_class_child(f);
    const std::size_t width = is_class ? 1 : child ? s : 1, summed = child ? 1 : s;
    const std::span<const double> got = is_class ? network.class_table() : network.table(f);
    fuzz::require_same(got.size(), cells.size() / summed, "size of a table");
    for (std::size_t j = 0; j < got.size(); j += r * width)
      for (std::size_t c = 0; c < width; ++c) {
        Distribution distribution{f, Numbers(r, 0.0L), got.size()};
        for (std::size_t k = 0; k < r; ++k)
          for (std::size_t i = 0; i < summed; ++i) distribution.counts[k] += cells[(j + k * width + c) * summed + i];
        const Numbers expected = estimate(distribution);
        for (std::size_t k = 0; k < r; ++k)
          fuzz::require_near(got[j + k * width + c], static_cast<double>(expected[k]), 1e-12,
                             "feature " + std::to_string(f) + ", value " + std::to_string(k));
      }
  }
}

Numbers normalized(Numbers numbers) {
  const long double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0L);
  for (long double& x : numbers) x = sum > 0 ? x / sum : 1.0L / static_cast<long double>(numbers.size());
  return numbers;
}

Numbers smoothed(Numbers counts, long double alpha) {
  for (long double& n : counts) n += alpha;
  return normalized(std::move(counts));
}

std::vector<double> read_prior(fuzz::Input& input, const Problem& problem) {
  if (!problem.structure.class_parents().empty() || !input.choose({false, false, true})) return {};
  std::mt19937_64 random = input.random();
  return fuzz::random_table(random, fuzz::read_tables(input), 1, problem.counts.n_classes(), 1);
}

double read_alpha(fuzz::Input& input, bool zero) {
  return input.choose({1.0, 0.5, 1e-3, 1e-200, 1e100, zero ? 0.0 : 2.0});
}

void check_dirichlet(fuzz::Input& input) {
  const Problem problem = read_problem(input, false, true);
  DirichletOptions options;
  options.alpha = read_alpha(input, true);
  if (input.choose({false, false, true})) options.equivalent_sample_size = input.choose({10.0, 1e-3, 1e-200, 1e100});
  options.class_prior = read_prior(input, problem);
  check_network(estimate_dirichlet(problem.structure, problem.counts, options), problem, !options.class_prior.empty(),
                [&](const Distribution& one) {
                  const long double alpha = options.equivalent_sample_size
                                                ? *options.equivalent_sample_size / static_cast<long double>(one.cells)
                                                : static_cast<long double>(options.alpha);
                  return smoothed(one.counts, alpha);
                });
}

/// How often a feature's values, or the classes, occur in all, as shares.
Numbers shares(const Problem& problem, std::size_t f) {
  const std::size_t s = problem.counts.n_classes();
  Numbers counts;
  if (f == problem.counts.n_features()) {
    counts.assign(problem.counts.class_counts().begin(), problem.counts.class_counts().end());
  } else {
    counts.assign(problem.counts.cardinalities()[f], 0.0L);
    for (std::size_t i = 0; i < problem.counts.single(f).size(); ++i) counts[i / s] += problem.counts.single(f)[i];
  }
  return normalized(counts);
}

void check_softened(fuzz::Input& input) {
  const Problem problem = read_problem(input, false, true);
  SoftenedOptions options;
  options.n0 = read_alpha(input, true);
  options.class_prior = read_prior(input, problem);
  check_network(estimate_softened(problem.structure, problem.counts, options), problem, !options.class_prior.empty(),
                [&](const Distribution& one) {
                  const bool is_class = one.feature == problem.counts.n_features();
                  const Numbers towards = shares(problem, one.feature);
                  if (is_class && problem.structure.class_parents().empty()) return towards;
                  long double total = options.n0;
                  for (const long double n : one.counts) total += n;
                  Numbers mixed;
                  for (std::size_t k = 0; k < towards.size(); ++k)
                    mixed.push_back(total > 0 ? (one.counts[k] + options.n0 * towards[k]) / total : towards[k]);
                  return mixed;
                });
}

void check_temperature(fuzz::Input& input) {
  const Problem problem = read_problem(input, false, true);
  DataTemperatureOptions options;
  options.degrees = input.choose({Degrees::kLog, Degrees::kLinear});
  if (input.flag()) options.n_c = input.choose({1.0, 0.1, 50.0, 1e10});
  options.added_frequency = input.choose({1e-4, 0.0, 1.0, 1e-200});
  options.class_prior = read_prior(input, problem);
  const long double n_c = options.n_c.value_or(options.degrees == Degrees::kLog ? 2.0 : 1.0);
  check_network(estimate_data_temperature(problem.structure, problem.counts, options), problem,
                !options.class_prior.empty(), [&](const Distribution& one) {
                  const auto r = static_cast<long double>(one.counts.size());
                  const long double total = std::accumulate(one.counts.begin(), one.counts.end(), 0.0L);
                  Numbers logs(one.counts.size(), 0.0L);
                  if (!(total > 0) || one.counts.size() == 1) return normalized(Numbers(one.counts.size(), 1.0L));
                  const long double degrees = options.degrees == Degrees::kLog ? std::log(r) : r - 1;
                  const long double beta = -std::expm1(-total / (degrees * n_c));
                  for (std::size_t k = 0; k < logs.size(); ++k)
                    logs[k] = beta * std::log(one.counts[k] / total + options.added_frequency);
                  const long double most = *std::max_element(logs.begin(), logs.end());
                  for (long double& log : logs) log = std::exp(log - most);
                  return normalized(logs);
                });
}

void check_model_averaged(fuzz::Input& input) {
  Problem problem = read_problem(input, true, false);
  const std::size_t n = problem.counts.n_features(), s = problem.counts.n_classes();
  ModelAveragedOptions options;
  options.alpha = input.choose({1.0, 0.5, 1e-3, 3.0});
  options.class_prior = read_prior(input, problem);
  if (input.flag()) options.arc_prior.assign(n == 0 ? 1 : n, 0.0);
  for (double& p : options.arc_prior) p = input.choose({0.5, 0.01, 0.999, 0.0, 1.0});
  const ModelAverage average = estimate_model_averaged(problem.structure, problem.counts, options);
  const long double alpha = options.alpha;
  const auto rising = [&](long double a, long double count) { return std::lgamma(a + count) - std::lgamma(a); };
  std::vector<long double> arcs(n, 0.0L);
  for (std::size_t f = 0; f < n; ++f) {
    if (problem.structure.is_absent(f)) {
      fuzz::require(std::isnan(average.arc_probabilities[f]), "an absent feature has no arc");
      continue;
    }
    const auto cells = problem.counts.single(f);
    const std::size_t r = problem.counts.cardinalities()[f];
    const auto values = static_cast<long double>(r);
    Numbers of_values(r, 0.0L), of_classes(s, 0.0L);
    long double total = 0, with = 0, without = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      of_values[i / s] += cells[i];
      of_classes[i % s] += cells[i];
      total += cells[i];
      with += rising(alpha, cells[i]);
    }
    if (total > 1e15) return;  // the logarithm of a gamma function has no digits left for a difference
    for (const long double count : of_classes) with -= rising(alpha * values, count);
    for (const long double count : of_values) without += rising(alpha, count);
    without -= rising(alpha * values, total);
    const long double prior = options.arc_prior[options.arc_prior.size() == 1 ? 0 : f];
    // P = prior * with / (prior * with + (1 - prior) * without)
    arcs[f] = prior == 0 ? 0 : prior == 1 ? 1 : 1 / (1 + (1 - prior) / prior * std::exp(without - with));
    fuzz::require_near(average.arc_probabilities[f], static_cast<double>(arcs[f]), 1e-10, "probability of an arc");
  }
  check_network(average.network, problem, !options.class_prior.empty(), [&](const Distribution& one) {
    const Numbers given = smoothed(one.counts, alpha);
    if (one.feature == n) return given;
    Numbers alone(one.counts.size(), 0.0L), mixed;
    const auto cells = problem.counts.single(one.feature);
    for (std::size_t i = 0; i < cells.size(); ++i) alone[i / s] += cells[i];
    alone = smoothed(alone, alpha);
    const long double p = average.arc_probabilities[one.feature];
    for (std::size_t k = 0; k < alone.size(); ++k) mixed.push_back(p * given[k] + (1 - p) * alone[k]);
    return mixed;
  });
}

void check_weighted(fuzz::Input& input) {
  const Problem problem = read_problem(input, false, true);
  WeightedOptions options;
  options.alpha = input.choose({1.0, 0.5, 1e-3, 0.0});  // with less beside huge weights, estimates would be subnormal
  options.class_prior = read_prior(input, problem);
  std::vector<double> weights;
  for (std::size_t f = 0; f < problem.counts.n_features(); ++f)
    weights.push_back(input.choose({0.0, 1.0, input.unit(), 1e-300, 1e-3}));
  check_network(estimate_weighted(problem.structure, problem.counts, weights, options), problem,
                !options.class_prior.empty(), [&](const Distribution& one) {
                  Numbers numbers = smoothed(one.counts, options.alpha);
                  if (one.feature == weights.size()) return numbers;
                  for (long double& p : numbers) p = std::pow(p, static_cast<long double>(weights[one.feature]));
                  return normalized(numbers);
                });
}

void check_acll_optimal(fuzz::Input& input) {
  const Problem problem = read_problem(input, false, false);
  AcllOptimalOptions options;
  options.score.assumption = input.choose({AcllAssumption::kDirichlet, AcllAssumption::kUniform});
  options.score.pseudo_counts = input.choose({5.0, 1.0, 1e-100});
  options.class_prior = read_prior(input, problem);
  const double beta = acll_beta(problem.counts, options.score), least = options.score.pseudo_counts;
  const Network network = estimate_acll_optimal(problem.structure, problem.counts, options);
  const std::size_t s = problem.counts.n_classes();
  for (std::size_t f = 0; f < problem.counts.n_features(); ++f) {
    if (problem.structure.is_absent(f)) continue;
    const std::vector<double> cells = problem.counts.table(problem.structure.family(f)).cells;
    const std::size_t r = network.cardinalities()[f];
    for (std::size_t j = 0; j < cells.size(); j += r * s)
      for (std::size_t c = 0; c < s; ++c) {
        Numbers weights;
        for (std::size_t k = 0; k < r; ++k) {
          double all = 0;
          for (std::size_t d = 0; d < s; ++d) all += cells[j + k * s + d];
          weights.push_back(std::max(cells[j + k * s + c] + beta * all, least));
        }
        weights = normalized(weights);
        for (std::size_t k = 0; k < r; ++k)
          fuzz::require_near(network.table(f)[j + k * s + c], static_cast<double>(weights[k]), 1e-11, "aCLL parameter");
      }
  }
  if (!options.class_prior.empty()) return;
  Numbers classes;
  const long double rows = problem.counts.n_rows();
  for (const double n : problem.counts.class_counts())
    classes.push_back(std::max(n + beta * rows, static_cast<long double>(least)));
  classes = normalized(classes);
  for (std::size_t c = 0; c < s; ++c)
    fuzz::require_near(network.class_table()[c], static_cast<double>(classes[c]), 1e-11, "aCLL class probability");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  switch (input.size(0, 5)) {
    case 0:
      check_dirichlet(input);
      break;
    case 1:
      check_softened(input);
      break;
    case 2:
      check_temperature(input);
      break;
    case 3:
      check_model_averaged(input);
      break;
    case 4:
      check_weighted(input);
      break;
    default:
      check_acll_optimal(input);
  }
  return 0;
}

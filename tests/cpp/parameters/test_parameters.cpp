// Data temperature, softened and model-averaged parameters against their definitions, written out term by term.
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "check.hpp"
#include "random_networks.hpp"
#include "reference.hpp"
#include "support/special.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

constexpr double kTiny = std::numeric_limits<double>::min();

Dataset draw_data(std::uint64_t seed, std::size_t rows, double missing, bool weighted) {
  return reference::random_dataset({{2, missing, 0.3}, {3, missing}, {1, missing}, {4, missing, 0.6}, {2, missing}},
                                   {3, 0.0, 0.4}, rows, weighted, seed);
}

/// What `expected(counts of one distribution, feature)` says of every distribution of the network. Features come after
/// their parents in the table, and the class is innermost.
void check_tables(const Network& network, const Dataset& data, double tolerance,
                  const std::function<std::vector<double>(const std::vector<double>&, std::size_t)>& expected) {
  const std::size_t s = data.n_classes();
  for (const std::size_t f : network.structure().order()) {
    const auto cells = reference::count_table(data, network.structure().family(f));
    const std::size_t r = data.feature(f).n_values();
    CHECK_EQ(network.table(f).size(), cells.size());
    for (std::size_t j = 0; j < cells.size() / (r * s); ++j)
      for (std::size_t c = 0; c < s; ++c) {
        std::vector<double> counts(r);
        for (std::size_t k = 0; k < r; ++k) counts[k] = cells[(j * r + k) * s + c];
        const auto p = expected(counts, f);
        for (std::size_t k = 0; k < r; ++k)
          CHECK_NEAR(network.table(f)[(j * r + k) * s + c], p[k], tolerance * p[k] + 1e-300);
      }
  }
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<double> normalized(std::vector<double> values) {
  const double sum = sum_of(values);
  for (double& value : values) value /= sum;
  return values;
}

/// Equations 16 to 19, literally.
std::vector<double> tempered(const std::vector<double>& counts, Degrees degrees, double n_c, double added) {
  const auto r = static_cast<double>(counts.size());
  const double total = sum_of(counts), gamma = degrees == Degrees::kLog ? std::log(r) : r - 1;
  if (total == 0 || r == 1) return std::vector<double>(counts.size(), 1 / r);
  std::vector<double> powers;
  for (const double n : counts) powers.push_back(std::pow(n / total + added, 1 - std::exp(-total / (gamma * n_c))));
  return normalized(powers);
}

std::vector<double> class_counts(const Dataset& data) {
  std::vector<double> counts(data.n_classes());
  for (std::size_t row = 0; row < data.n_rows(); ++row)
    counts[data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
  return counts;
}

/// Counts of one feature of two values and one class.
CountSet two_counts(double first, double second) {
  CountSet counts({2}, 1, CountScope::kSingles);
  counts.class_counts()[0] = first + second;
  counts.single(0)[0] = first;
  counts.single(0)[1] = second;
  return counts;
}

CountSet count_families(const Dataset& data, const Structure& structure) {
  std::vector<Family> families;
  for (const std::size_t f : structure.order()) families.push_back(structure.family(f));
  return count(data, CountScope::kSingles, families);
}

}  // namespace

TEST(data_temperature_is_what_the_equations_say) {
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const std::size_t rows = repeat % 10 == 0 ? 0 : testing::draw(random, 150);
    const Dataset data = draw_data(random(), rows, repeat % 2 ? 0.2 : 0, repeat % 3 == 0);
    const Structure structure = testing::random_structure(random, 5, 2);
    const CountSet counts = count_families(data, structure);
    for (const Degrees degrees : {Degrees::kLog, Degrees::kLinear})
      for (const double n_c : {0.1, 1.0, 3.5, 100.0})
        for (const double added : {0.0, 1e-4, 0.5}) {
          const Network network = estimate_data_temperature(structure, counts, {degrees, n_c, added, {}});
          check_tables(network, data, 1e-12,
                       [&](const std::vector<double>& n, std::size_t) { return tempered(n, degrees, n_c, added); });
          const auto classes = tempered(class_counts(data), degrees, n_c, added);
          for (std::size_t c = 0; c < 3; ++c) CHECK_NEAR(network.class_probabilities()[c], classes[c], 1e-13);
        }
  }
}

TEST(data_temperature_defaults_to_two_rows_per_logarithm_and_one_per_value) {
  const CountSet counts = two_counts(3, 1);
  const Structure naive = Structure::naive(1);
  const auto first = [&](const DataTemperatureOptions& options) {
    return estimate_data_temperature(naive, counts, options).table(0)[0];
  };
  CHECK_EQ(first({}), first({Degrees::kLog, 2.0, 1e-4, {}}));
  CHECK_EQ(first({Degrees::kLinear, {}, 1e-4, {}}), first({Degrees::kLinear, 1.0, 1e-4, {}}));
}

TEST(data_temperature_has_exact_limits) {
  for (const double added : {0.0, 1e-4}) {
    const DataTemperatureOptions options{Degrees::kLog, {}, added, {}};
    const Structure naive = Structure::naive(1);
    CHECK_EQ(estimate_data_temperature(naive, two_counts(0, 0), options).table(0)[0], 0.5);
    // Beta is one to the last bit: what is left are the relative frequencies.
    const Network cold = estimate_data_temperature(naive, two_counts(300, 100), options);
    CHECK_NEAR(cold.table(0)[0], (0.75 + added) / (1 + 2 * added), 1.2e-16);
    if (added == 0) {
      const Network likely = estimate_dirichlet(naive, two_counts(300, 100), {0, {}, {}});
      CHECK_EQ(cold.table(0)[1], likely.table(0)[1]);
    }
  }
  // A huge n_c leaves nothing but zeros and not zeros, a tiny one the frequencies.
  const CountSet few = two_counts(3, 1);
  CHECK_NEAR(estimate_data_temperature(Structure::naive(1), few, {Degrees::kLog, 1e200, 0, {}}).table(0)[0], 0.5,
             1e-15);
  CHECK_EQ(estimate_data_temperature(Structure::naive(1), few, {Degrees::kLog, 1e-300, 0, {}}).table(0)[0], 0.75);
}

TEST(data_temperature_of_extreme_weights_neither_overflows_nor_vanishes) {
  const Structure naive = Structure::naive(1);
  for (const double scale : {1e-300, 1.0, 1e300}) {
    const Network network = estimate_data_temperature(naive, two_counts(3 * scale, scale), {Degrees::kLog, {}, 0, {}});
    const double beta = -std::expm1(-4 * scale / (2 * std::log(2.0)));
    CHECK_NEAR(network.table(0)[0], 1 / (1 + std::pow(1.0 / 3, beta)), 1e-15);
  }
  // The quotient of the counts is no double any more, its power is.
  const double small = kTiny / 8, large = 1e5, n_c = 1e7 / std::log(2.0);
  const Network network = estimate_data_temperature(naive, two_counts(large, small), {Degrees::kLog, n_c, 0, {}});
  const double power = std::exp(-std::expm1(-1e-2) * (std::log(small) - std::log(large)));
  CHECK(power > 1e-4 && power < 1e-3);
  CHECK_NEAR(network.table(0)[1], power / (1 + power), 1e-15);
}

TEST(data_temperature_keeps_zeros_only_if_nothing_is_added) {
  const Structure naive = Structure::naive(1);
  CHECK_EQ(estimate_data_temperature(naive, two_counts(1, 0), {Degrees::kLog, {}, 0, {}}).table(0)[1], 0.0);
  CHECK(estimate_data_temperature(naive, two_counts(1, 0)).table(0)[1] > 0);
  CHECK(estimate_data_temperature(naive, two_counts(1e6, 0)).table(0)[1] > 0.99e-4);
}

TEST(softened_is_what_the_equation_says) {
  std::mt19937_64 random(2);
  for (int repeat = 0; repeat < 30; ++repeat) {
    const std::size_t rows = repeat % 10 == 0 ? 0 : testing::draw(random, 120);
    const Dataset data = draw_data(random(), rows, repeat % 2 ? 0.2 : 0, repeat % 3 == 0);
    const Structure structure = testing::random_structure(random, 5, 2);
    const CountSet counts = count_families(data, structure);
    for (const double n0 : {0.0, 0.3, 5.0, 1e200}) {
      const Network network = estimate_softened(structure, counts, {n0, {}});
      check_tables(network, data, 1e-13, [&](const std::vector<double>& n, std::size_t f) {
        // The marginal of the feature, row by row.
        std::vector<double> marginal(n.size(), 0.0);
        for (std::size_t row = 0; row < data.n_rows(); ++row)
          if (data.feature(f)[row] != kMissing)
            marginal[data.feature(f)[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
        if (sum_of(marginal) == 0) marginal.assign(n.size(), 1.0);
        marginal = normalized(marginal);
        std::vector<double> p;
        for (std::size_t k = 0; k < n.size(); ++k)
          p.push_back(n0 + sum_of(n) > 0 ? (n[k] + n0 * marginal[k]) / (sum_of(n) + n0) : marginal[k]);
        return p;
      });
      const auto classes = class_counts(data);
      for (std::size_t c = 0; c < 3; ++c)
        CHECK_NEAR(network.class_probabilities()[c], rows ? classes[c] / sum_of(classes) : 1.0 / 3, 1e-14);
    }
  }
}

TEST(model_averaging_sums_over_all_subsets_of_features) {
  std::mt19937_64 random(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Dataset data = draw_data(random(), testing::draw(random, 30), repeat % 2 ? 0.2 : 0, repeat % 3 == 0);
    const double alpha = std::vector<double>{1.0, 0.5, 0.01, 3.0}[repeat % 4];
    const std::vector<double> prior{0.5, 0.3, 0.9, 0.2, 0.05};
    const ModelAverage made =
        estimate_model_averaged(Structure::naive(5), count(data, CountScope::kSingles), {prior, alpha, {}});
    // Marginal likelihood of a distribution with these counts, one row after the other would give the same.
    const auto evidence = [&](const std::vector<double>& n) {
      const auto r = static_cast<double>(n.size());
      double sum = std::lgamma(r * alpha) - std::lgamma(sum_of(n) + r * alpha);
      for (const double k : n) sum += std::lgamma(k + alpha) - std::lgamma(alpha);
      return sum;
    };
    const std::size_t s = data.n_classes();
    std::vector<double> weight_of_arc(5, 0.0), arc(5), no_arc(5);
    std::vector<std::vector<double>> cells(5);
    for (std::size_t f = 0; f < 5; ++f) {
      cells[f] = reference::count_table(data, {f, {}});
      const std::size_t r = data.feature(f).n_values();
      std::vector<double> alone(r, 0.0);
      for (std::size_t c = 0; c < s; ++c) {
        std::vector<double> given(r);
        for (std::size_t k = 0; k < r; ++k) alone[k] += given[k] = cells[f][k * s + c];
        arc[f] += evidence(given);
      }
      no_arc[f] = evidence(alone);
    }
    double total = 0;
    for (std::size_t subset = 0; subset < 32; ++subset) {
      double weight = 1;
      for (std::size_t f = 0; f < 5; ++f)
        weight *= subset >> f & 1 ? prior[f] * std::exp(arc[f]) : (1 - prior[f]) * std::exp(no_arc[f]);
      total += weight;
      for (std::size_t f = 0; f < 5; ++f)
        if (subset >> f & 1) weight_of_arc[f] += weight;
    }
    for (std::size_t f = 0; f < 5; ++f) {
      const double p = weight_of_arc[f] / total;
      CHECK_NEAR(made.arc_probabilities[f], p, 1e-11 * p);
      const std::size_t r = data.feature(f).n_values();
      const double count_all = sum_of(cells[f]), r_alpha = static_cast<double>(r) * alpha;
      for (std::size_t c = 0; c < s; ++c) {
        double of_class = 0;
        for (std::size_t k = 0; k < r; ++k) of_class += cells[f][k * s + c];
        for (std::size_t k = 0; k < r; ++k) {
          double of_value = 0;
          for (std::size_t d = 0; d < s; ++d) of_value += cells[f][k * s + d];
          const double with = (cells[f][k * s + c] + alpha) / (of_class + r_alpha);
          const double without = (of_value + alpha) / (count_all + r_alpha);
          CHECK_NEAR(made.network.table(f)[k * s + c], p * with + (1 - p) * without, 1e-11);
        }
      }
    }
  }
}

TEST(model_averaging_with_certain_priors) {
  const Dataset data = draw_data(7, 80, 0.1, false);
  const CountSet counts = count(data, CountScope::kSingles);
  const Structure naive = Structure::naive(5);
  const ModelAverage all = estimate_model_averaged(naive, counts, {{1.0}, 0.5, {}});
  const Network dirichlet = estimate_dirichlet(naive, counts, {0.5, {}, {}});
  const ModelAverage none = estimate_model_averaged(naive, counts, {{0.0}, 0.5, {}});
  for (std::size_t f = 0; f < 5; ++f) {
    CHECK_EQ(all.arc_probabilities[f], 1.0);
    CHECK_EQ(none.arc_probabilities[f], 0.0);
    for (std::size_t i = 0; i < all.network.table(f).size(); ++i) {
      CHECK_EQ(all.network.table(f)[i], dirichlet.table(f)[i]);
      CHECK_EQ(none.network.table(f)[i], none.network.table(f)[i - i % 3]);  // the same in every class
    }
  }
}

TEST(model_averaging_leaves_out_what_the_structure_leaves_out) {
  const Dataset data = draw_data(8, 60, 0, false);
  const CountSet counts = count(data, CountScope::kSingles);
  const ModelAverage whole = estimate_model_averaged(Structure::naive(5), counts);
  const Structure some = Structure::leaving_out({false, true, false, false, true}, {{}, {}, {}, {}, {}});
  const ModelAverage made = estimate_model_averaged(some, counts);
  for (const std::size_t f : {1u, 4u}) {
    CHECK(std::isnan(made.arc_probabilities[f]));
    CHECK(made.network.table(f).empty());
  }
  for (const std::size_t f : {0u, 2u, 3u}) CHECK_EQ(made.arc_probabilities[f], whole.arc_probabilities[f]);
}

TEST(class_priors_are_not_smoothed) {
  const Dataset data = draw_data(9, 50, 0, false);
  const CountSet counts = count(data, CountScope::kSingles);
  const std::vector<double> prior{0.2, 0.5, 0.3};
  const Structure naive = Structure::naive(5);
  for (const Network& network : {estimate_data_temperature(naive, counts, {Degrees::kLog, {}, 1e-4, prior}),
                                 estimate_softened(naive, counts, {5, prior}),
                                 estimate_model_averaged(naive, counts, {{0.5}, 1, prior}).network})
    for (std::size_t c = 0; c < 3; ++c) CHECK_EQ(network.class_probabilities()[c], prior[c]);
  CHECK_THROWS(InvalidInput, estimate_data_temperature(naive, counts, {Degrees::kLog, {}, 0, {0.5, 0.5}}),
               "class_prior: expected 3 probabilities");
}

TEST(wrong_settings_are_rejected) {
  const CountSet counts = two_counts(2, 1);
  const Structure naive = Structure::naive(1);
  const double nan = std::nan("");
  for (const double bad : {0.0, -1.0, 1e300, nan}) {
    CHECK_THROWS(InvalidInput, estimate_data_temperature(naive, counts, {Degrees::kLog, bad, 0, {}}),
                 "n_c: expected a number > 0");
    CHECK_THROWS(InvalidInput, estimate_model_averaged(naive, counts, {{0.5}, bad, {}}),
                 "alpha: expected a number > 0");
  }
  CHECK_THROWS(InvalidInput, estimate_data_temperature(naive, counts, {Degrees::kLog, 1.0, -1e-9, {}}),
               "added_frequency: expected a number >= 0");
  CHECK_THROWS(InvalidInput, estimate_softened(naive, counts, {-1, {}}), "n0: expected a number >= 0");
  for (const double bad : {-0.1, 1.1, nan})
    CHECK_THROWS(InvalidInput, estimate_model_averaged(naive, counts, {{bad}, 1, {}}),
                 "arc_prior: expected probabilities from 0 to 1, got");
  CHECK_THROWS(InvalidInput, estimate_model_averaged(naive, counts, {{0.5, 0.5}, 1, {}}),
               "one for each of the 1 features, got 2");
  CountSet pair({2, 2}, 1, CountScope::kPairs);
  CHECK_THROWS(InvalidInput, estimate_model_averaged(Structure({{}, {0}}), pair), "but feature 1 has parent 0");
  CHECK_THROWS(InvalidInput, estimate_softened(Structure::naive(2), counts), "the structure has 2 features");
}

TEST_MAIN

// Parameters learned from the rows themselves: likelihoods and their gradients summed over all completions of every
// row; EM, APN and ELR, which must rise and end where they say; WANBIA's objective against its definition.
#include <limits>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "networks.hpp"
#include "reference.hpp"
#include "tanager/learn_rows.hpp"
#include "tanager/learn_weights.hpp"

const int fuzz::kShortRuns = 8000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;

struct Problem {
  Structure structure;
  Dataset data;
  std::vector<std::uint32_t> cards;

  std::vector<Code> row(std::size_t i) const {
    std::vector<Code> codes;
    for (std::size_t f = 0; f < data.n_features(); ++f) codes.push_back(data.feature(f)[i]);
    return codes;
  }
  double weight(std::size_t i) const { return data.is_weighted() ? data.weights()[i] : 1.0; }
};

Problem read_problem(fuzz::Input& input, bool naive, std::size_t most_rows) {
  const bool large = input.choose({false, false, false, true});  // without missing values
  const auto classes = static_cast<std::uint32_t>(large ? input.edge_size(40) : input.size(1, 3));
  std::vector<std::uint32_t> cards(input.size(0, 4));
  std::size_t widest = 400 / classes;
  for (std::uint32_t& r : cards) {
    r = static_cast<std::uint32_t>(large ? input.edge_size(std::max<std::size_t>(widest, 1)) : input.size(1, 3));
    widest = std::max<std::size_t>(1, widest / r);
  }
  const Structure structure =
      fuzz::read_structure(input, cards, classes, 400, naive ? 0 : input.size(0, 3), !naive && input.flag());
  std::vector<reference::ColumnSpec> features;
  for (const std::uint32_t r : cards)
    features.push_back({r, large ? 0.0 : input.choose({0.0, 0.2, 0.5, 1.0}), input.choose({0.0, 0.5}), input.flag()});
  return {structure,
          reference::random_dataset(features, {classes, 0.0, 0.3}, input.size(1, most_rows),
                                    input.choose({false, false, true}), input.number(0, UINT32_MAX)),
          cards};
}

/// Where the parameters of every family begin; the last is the class.
std::vector<std::size_t> offsets_of(const Network& network) {
  std::vector<std::size_t> offsets(network.n_features() + 1, 0);
  std::size_t next = 0;
  for (const std::size_t f : network.structure().order()) {
    offsets[f] = next;
    next += network.table(f).size();
  }
  offsets.back() = next;
  return offsets;
}

struct Judged {
  double value = 0, wrong_least = 0, wrong_most = 0;  // of several most probable classes, rounding may decide
  std::vector<double> gradient;
};

/// The goal and its derivatives, from all completions of all rows. A class prior that is given does not change.
Judged judge(const Problem& problem, const Network& network, RowGoal goal, bool prior_given) {
  const std::size_t n = network.n_features(), s = network.n_classes();
  const Structure& structure = network.structure();
  const std::vector<std::size_t> offsets = offsets_of(network);
  const std::vector<bool> absent = fuzz::absent_features(structure);
  const std::size_t n_parameters = offsets.back() + network.class_table().size();
  std::vector<long double> counts(n_parameters, 0.0L);
  const auto configuration = [&](const std::vector<std::size_t>& parents, const std::vector<Code>& row) {
    std::size_t index = 0;
    for (const std::size_t p : parents) index = index * network.cardinalities()[p] + row[p];
    return index;
  };
  Judged n_evaluated;
  for (std::size_t i = 0; i < problem.data.n_rows(); ++i) {
    const std::size_t truth = problem.data.target()[i];
    const double weight = problem.weight(i);
    const std::vector<long double> joint = fuzz::joint_probabilities(network, problem.row(i));
    long double total = 0, best = 0;
    for (const long double p : joint) {
      total += p;
      best = std::max(best, p);
    }
    const bool conditional = goal == RowGoal::kConditionalLikelihood;
    if (conditional && joint[truth] == 0) {
      n_evaluated.wrong_most += weight;
      continue;
    }
    // Where the class prior is given, the likelihood is that of the features given the class.
    const long double base = conditional ? total : prior_given ? network.class_table()[truth] : 1.0L;
    n_evaluated.value += weight * static_cast<double>(std::log(joint[truth] / base));
    std::size_t rivals = 0;
    for (const long double p : joint) rivals += p >= best * (1 - 1e-12L) ? 1 : 0;
    if (joint[truth] < best * (1 - 1e-12L)) n_evaluated.wrong_least += weight;
    if (joint[truth] < best * (1 - 1e-12L) || rivals > 1) n_evaluated.wrong_most += weight;
    fuzz::for_each_completion(problem.row(i), network.cardinalities(), absent, [&](const std::vector<Code>& row) {
      std::vector<long double> p(s, 0.0L);
      fuzz::add_joint(network, row, p);
      for (std::size_t c = 0; c < s; ++c) {
        long double share = c == truth ? p[c] / joint[c] : 0;
        if (conditional) share -= p[c] / total;
        share *= weight;
        for (std::size_t f = 0; f < n; ++f) {
          if (absent[f]) continue;
          const std::size_t cell = configuration(structure.parents(f), row) * network.cardinalities()[f] + row[f];
          counts[offsets[f] + (structure.is_class_child(f) ? cell * s + c : cell)] += share;
        }
        counts[offsets[n] + configuration(structure.class_parents(), row) * s + c] += share;
      }
    });
  }
  n_evaluated.gradient.resize(n_parameters);
  for (std::size_t f = 0; f <= n; ++f) {
    if (f < n && absent[f]) continue;
    const std::span<const double> table = f == n ? network.class_table() : network.table(f);
    const std::size_t inner = f < n && structure.is_class_child(f) ? s : 1;
    const std::size_t values = f == n ? s : network.cardinalities()[f];
    for (std::size_t j = 0; j < table.size(); j += values * inner)
      for (std::size_t c = 0; c < inner; ++c) {
        long double sum = 0;
        for (std::size_t k = 0; k < values; ++k) sum += counts[offsets[f] + j + k * inner + c];
        for (std::size_t k = 0; k < values; ++k) {
          const std::size_t at = j + k * inner + c;
          n_evaluated.gradient[offsets[f] + at] =
              f == n && prior_given ? 0 : static_cast<double>(counts[offsets[f] + at] - table[at] * sum);
        }
      }
  }
  return n_evaluated;
}

/// Class probabilities to be kept as they are, or none.
std::vector<double> read_prior(fuzz::Input& input, const Problem& problem, fuzz::Tables kind) {
  if (!problem.structure.class_parents().empty() || !input.choose({false, false, true})) return {};
  std::mt19937_64 random = input.random();
  return fuzz::random_table(random, kind, 1, problem.data.n_classes(), 1);
}

void check_likelihood(fuzz::Input& input) {
  const Problem problem = read_problem(input, false, 12);
  const RowGoal goal = input.choose({RowGoal::kLikelihood, RowGoal::kConditionalLikelihood});
  const bool conditional = goal == RowGoal::kConditionalLikelihood;
  const std::vector<double> prior =
      read_prior(input, problem, conditional ? fuzz::Tables::kZeros : fuzz::Tables::kPlain);
  const RowLikelihood rows(problem.structure, problem.data, goal, prior);
  std::mt19937_64 random = input.random();
  const fuzz::Tables kind = input.choose({fuzz::Tables::kPlain, fuzz::Tables::kUniform});
  const Network drawn = fuzz::random_network(random, problem.structure, problem.cards, problem.data.n_classes(), kind);
  std::vector<double> point = rows.parameters(drawn);
  for (std::size_t c = 0; c < prior.size(); ++c) point[point.size() - prior.size() + c] = std::log(prior[c]);
  const double shift = input.choose({0.0, 3.0, -700.0, 1e6});  // of all of them: softmax does not notice
  for (double& x : point) x += shift;
  const Network network = rows.network(point);
  fuzz::require_same(rows.n_parameters(), point.size(), "number of parameters");
  if (!prior.empty())
    fuzz::require(std::equal(prior.begin(), prior.end(), network.class_table().begin()), "the prior that was given");
  const int threads = input.choose<int>({1, 1, 1, 2});
  std::vector<double> gradient(point.size(), -7.0);
  const RowEvaluation found = rows.evaluate(point, gradient, threads);
  const Judged expected = judge(problem, network, goal, !prior.empty());
  const double tolerance = shift > 1000 ? 1e-8 : 1e-10;
  fuzz::require_near(found.value, expected.value, tolerance, "goal");
  if (conditional)
    fuzz::require(found.wrong >= expected.wrong_least - 1e-9 && found.wrong <= expected.wrong_most + 1e-9,
                  "weight of rows predicted wrongly");
  const std::size_t learned = prior.empty() ? gradient.size() : gradient.size() - prior.size();
  for (std::size_t i = 0; i < learned; ++i)
    fuzz::require_near(gradient[i], expected.gradient[i], tolerance, "derivative " + std::to_string(i));
  fuzz::require_near(rows.evaluate(point).value, found.value, 1e-13, "goal without derivatives");
}

/// Sum of the logarithms of all parameters that are learned.
double log_prior(const Network& network, bool class_given) {
  double sum = 0;
  for (const std::size_t f : network.structure().order())
    for (const double p : network.table(f)) sum += std::log(p);
  for (std::size_t i = 0; !class_given && i < network.class_table().size(); ++i)
    sum += std::log(network.class_table()[i]);
  return sum;
}

void require_rising(const std::vector<double>& values) {
  for (std::size_t i = 1; i < values.size(); ++i)
    fuzz::require(values[i] >= values[i - 1] - 1e-9 * (1 + std::abs(values[i - 1])), "the goal falls");
}

void check_fits(fuzz::Input& input) {
  const Problem problem = read_problem(input, false, 20);
  const std::vector<double> prior = read_prior(input, problem, fuzz::Tables::kPlain);
  const std::size_t most = input.size(0, 6);
  const OptimizerMethod method = input.choose({OptimizerMethod::kConjugateGradient, OptimizerMethod::kLbfgs});
  const std::size_t kind = input.size(0, 2);
  const double alpha = input.choose({1.0, 0.1, kind == 0 ? 0.0 : 2.0});
  if (kind == 2) {
    ElrOptions options;
    options.alpha = alpha;
    options.class_prior = prior;
    options.method = method;
    options.max_iter = most;
    const FitResult fit = estimate_elr(problem.structure, problem.data, options);
    require_rising(fit.training);
    fuzz::require(fit.training.size() <= most + 1, "number of iterations");
    fuzz::require_near(judge(problem, fit.network, RowGoal::kConditionalLikelihood, !prior.empty()).value,
                       fit.training.back(), 1e-9, "conditional likelihood after ELR");
    return;
  }
  FitResult fit = [&] {
    if (kind == 0) {
      EmOptions options;
      options.alpha = alpha;
      options.class_prior = prior;
      options.max_iter = most;
      return estimate_em(problem.structure, problem.data, options);
    }
    ApnOptions options;
    options.alpha = alpha;
    options.class_prior = prior;
    options.method = method;
    options.max_iter = most;
    return estimate_apn(problem.structure, problem.data, options);
  }();
  // The start of EM without pseudo-counts was smoothed by others, but rows can only become more probable.
  require_rising(fit.training);
  fuzz::require(fit.training.size() <= most + 1, "number of iterations");
  const double expected = judge(problem, fit.network, RowGoal::kLikelihood, !prior.empty()).value +
                          (alpha > 0 ? alpha * log_prior(fit.network, !prior.empty()) : 0);
  fuzz::require_near(fit.training.back(), expected, 1e-9, "likelihood at the end");
}

/// WANBIA by its definition.
class Wanbia {
 public:
  Wanbia(const Problem& problem, const CountSet& counts, const WanbiaOptions& options)
      : p_(problem), options_(options), s_(problem.data.n_classes()) {
    theta_.resize(problem.cards.size());
    for (std::size_t f = 0; f < theta_.size(); ++f) {
      const std::size_t r = problem.cards[f];
      theta_[f].assign(counts.single(f).begin(), counts.single(f).end());
      for (std::size_t c = 0; c < s_; ++c) {
        long double total = 0;
        for (std::size_t k = 0; k < r; ++k) total += theta_[f][k * s_ + c] += options.alpha;
        for (std::size_t k = 0; k < r; ++k) theta_[f][k * s_ + c] /= total;
      }
    }
    long double total = 0;
    for (const double n : counts.class_counts()) total += n + static_cast<long double>(options.alpha);
    for (std::size_t c = 0; c < s_; ++c)
      prior_.push_back(options.class_prior.empty() ? (counts.class_counts()[c] + options.alpha) / total
                                                   : static_cast<long double>(options.class_prior[c]));
  }

  std::vector<long double> posterior(const std::vector<Code>& row, const std::vector<double>& weights) const {
    std::vector<long double> logs;
    for (std::size_t c = 0; c < s_; ++c) {
      long double log = std::log(prior_[c]);
      for (std::size_t f = 0; f < row.size(); ++f) {
        if (p_.structure.is_absent(f)) continue;
        const long double w = weights[f];
        long double sum = 0;  // of t, or with the share of the value in all classes
        for (std::size_t k = 0; k < p_.cards[f]; ++k)
          sum += std::pow(theta_[f][k * s_ + c], w) * (options_.renormalize ? 1 : std::pow(share(f, k), 1 - w));
        if (row[f] != kMissing) log += w * std::log(theta_[f][row[f] * s_ + c]);
        if (row[f] != kMissing && options_.renormalize) log -= std::log(sum);
        if (row[f] == kMissing && !options_.renormalize) log += std::log(sum);
      }
      logs.push_back(log);
    }
    const long double largest = *std::max_element(logs.begin(), logs.end());
    long double sum = 0;
    for (long double& log : logs) sum += log = std::exp(log - largest);
    for (long double& p : logs) p /= sum;
    return logs;
  }

  long double value(const std::vector<double>& weights) const {
    long double sum = 0;
    for (std::size_t i = 0; i < p_.data.n_rows(); ++i) {
      const std::vector<long double> p = posterior(p_.row(i), weights);
      const std::size_t truth = p_.data.target()[i];
      if (options_.loss == WanbiaLoss::kConditionalLikelihood) {
        if (prior_[truth] > 0) sum -= p_.weight(i) * std::log(p[truth]);
        continue;
      }
      for (std::size_t c = 0; c < s_; ++c) {
        const long double off = p[c] - (c == truth ? 1 : 0);
        sum += p_.weight(i) * off * off / 2;
      }
    }
    return sum;
  }

 private:
  long double share(std::size_t f, std::size_t k) const {
    long double sum = 0;
    for (std::size_t c = 0; c < s_; ++c) sum += prior_[c] * theta_[f][k * s_ + c];
    return sum;
  }

  const Problem& p_;
  const WanbiaOptions& options_;
  std::size_t s_;
  std::vector<std::vector<long double>> theta_;  // of every feature, [value][class]
  std::vector<long double> prior_;
};

void check_wanbia(fuzz::Input& input) {
  const Problem problem = read_problem(input, true, 10);
  WanbiaOptions options;
  options.alpha = input.choose({1.0, 0.1, 20.0});
  options.loss = input.choose({WanbiaLoss::kConditionalLikelihood, WanbiaLoss::kSquaredError});
  options.renormalize = input.flag();
  options.class_prior = read_prior(input, problem, fuzz::Tables::kZeros);
  const CountSet counts = count(problem.data, CountScope::kSingles);
  const WanbiaObjective objective(problem.structure, problem.data, counts, options);
  const Wanbia expected(problem, counts, options);
  std::vector<double> weights, gradient(problem.cards.size(), -7.0);
  for (std::size_t f = 0; f < problem.cards.size(); ++f) weights.push_back(input.choose({1.0, 0.0, input.unit()}));
  const double found = objective.evaluate(weights, gradient, input.choose<int>({1, 1, 1, 2}));
  fuzz::require_near(found, static_cast<double>(expected.value(weights)), 1e-10, "WANBIA's objective");
  if (input.flag() && !weights.empty()) {
    const std::size_t f = input.size(0, weights.size() - 1);
    constexpr double kStep = 1e-5;
    std::vector<double> above = weights, below = weights;
    above[f] += kStep;
    below[f] -= kStep;
    const long double slope = (expected.value(above) - expected.value(below)) / (above[f] - below[f]);
    fuzz::require_near(gradient[f], problem.structure.is_absent(f) ? 0 : static_cast<double>(slope), 1e-6,
                       "WANBIA's gradient");
  }
  const Network network = objective.network(weights);
  for (std::size_t i = 0; i < std::min<std::size_t>(problem.data.n_rows(), 3); ++i) {
    const auto joint = fuzz::joint_probabilities(network, problem.row(i));
    const auto posterior = expected.posterior(problem.row(i), weights);
    long double total = 0;
    for (const long double p : joint) total += p;
    for (std::size_t c = 0; c < joint.size(); ++c)
      fuzz::require_near(static_cast<double>(joint[c] / total), static_cast<double>(posterior[c]), 1e-11,
                         "posterior of WANBIA's network");
  }
}

void check_depths(fuzz::Input& input) {
  const Problem problem = read_problem(input, true, 40);
  TreeDepthOptions options;
  options.n_trees = input.size(1, 4);
  options.bootstrap = input.choose({0.5, 1.0, 0.01});
  options.seed = input.number(0, 255);
  if (input.flag()) options.max_depth = input.size(1, 3);
  const std::vector<std::uint32_t> depths = tree_depths(problem.structure, problem.data, options);
  const std::size_t n = problem.cards.size();
  fuzz::require_same(depths.size(), options.n_trees * n, "number of depths");
  std::vector<double> weights(n, 0.0);
  for (std::size_t i = 0; i < depths.size(); ++i) {
    fuzz::require(depths[i] == 0 || !problem.structure.is_absent(i % n), "an absent feature is tested");
    fuzz::require(depths[i] == 0 || problem.cards[i % n] > 1, "a constant feature is tested");
    fuzz::require(!options.max_depth || depths[i] <= *options.max_depth, "a test below the greatest depth");
    if (depths[i] > 0) weights[i % n] += 1 / std::sqrt(static_cast<double>(depths[i]));
  }
  for (std::size_t tree = 0; tree < options.n_trees && n > 0; ++tree) {  // a tree that tests anything has a root
    const auto first = depths.begin() + static_cast<std::ptrdiff_t>(tree * n);
    const auto most = *std::max_element(first, first + static_cast<std::ptrdiff_t>(n));
    fuzz::require(most == 0 || std::count(first, first + static_cast<std::ptrdiff_t>(n), 1U) == 1, "roots of a tree");
  }
  const std::vector<double> found = weights_from_depths(depths, n);
  for (std::size_t f = 0; f < n; ++f)
    fuzz::require_near(found[f], std::min(1.0, weights[f] / static_cast<double>(options.n_trees)), 1e-13, "weight");
  if (input.flag())
    fuzz::require(tree_depths(problem.structure, problem.data, options, 2) == depths, "depths depend on threads");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  switch (input.size(0, 5)) {
    case 0:
      check_fits(input);
      break;
    case 1:
    case 2:
      check_likelihood(input);
      break;
    case 3:
    case 4:
      check_wanbia(input);
      break;
    default:
      check_depths(input);
  }
  return 0;
}

// Exact inference and queries about networks of any structure against their full joint distribution.
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "networks.hpp"
#include "tanager/errors.hpp"
#include "tanager/inference.hpp"
#include "tanager/queries.hpp"

const int fuzz::kShortRuns = 3000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;

constexpr std::size_t kMostCases = 600;
constexpr double kNear = 1e-12;

/// A complete case; absent features are missing.
struct Case {
  std::vector<Code> row;
  std::uint32_t target;
  long double probability;
};

struct Problem {
  Network network;
  std::vector<bool> absent;
  std::vector<Case> cases;  // by class, then by the first feature, and so on

  explicit Problem(Network given) : network(std::move(given)), absent(fuzz::absent_features(network.structure())) {
    std::vector<std::vector<Code>> rows;
    fuzz::for_each_completion(std::vector<Code>(network.n_features(), kMissing), network.cardinalities(), absent,
                              [&](const std::vector<Code>& row) { rows.push_back(row); });
    std::sort(rows.begin(), rows.end());
    std::vector<std::vector<long double>> joint;
    for (const auto& row : rows) {
      joint.emplace_back(network.n_classes(), 0.0L);
      fuzz::add_joint(network, row, joint.back());
    }
    for (std::uint32_t c = 0; c < network.n_classes(); ++c)
      for (std::size_t i = 0; i < rows.size(); ++i) cases.push_back({rows[i], c, joint[i][c]});
  }

  bool agrees(const Case& one, const Evidence& evidence) const {
    if (evidence.target && *evidence.target != one.target) return false;
    for (std::size_t f = 0; f < one.row.size(); ++f)
      if (!absent[f] && evidence.features[f] != kMissing && evidence.features[f] != one.row[f]) return false;
    return true;
  }

  long double probability(const Evidence& evidence) const {
    long double sum = 0;
    for (const Case& one : cases)
      if (agrees(one, evidence)) sum += one.probability;
    return sum;
  }

  /// Where a case is in the table of a family; n_features is the family of the class.
  std::size_t cell(std::size_t family, const Case& one) const {
    const Structure& structure = network.structure();
    const bool is_class = family == network.n_features();
    std::size_t index = 0;
    for (const std::size_t p : is_class ? structure.class_parents() : structure.parents(family))
      index = index * network.cardinalities()[p] + one.row[p];
    if (!is_class) index = index * network.cardinalities()[family] + one.row[family];
    return index * network.n_classes() + one.target;
  }
};

Problem read_problem(fuzz::Input& input) {
  const auto classes = static_cast<std::uint32_t>(input.size(1, 4));
  std::vector<std::uint32_t> cards(input.size(0, 9));
  std::size_t cases = classes;
  for (std::uint32_t& r : cards) {
    r = static_cast<std::uint32_t>(input.size(1, std::clamp<std::size_t>(kMostCases / cases, 1, 4)));
    cases *= r;
  }
  const bool general = input.flag();
  const Structure structure = fuzz::read_structure(input, cards, classes, kMostCases, input.size(0, 4), general);
  const fuzz::Tables kind = fuzz::read_tables(input);
  std::mt19937_64 random = input.random();
  return Problem(fuzz::random_network(random, structure, cards, classes, kind));
}

Evidence read_evidence(fuzz::Input& input, const Network& network) {
  std::mt19937_64 random = input.random();
  Evidence evidence{fuzz::read_row(input, random, network.cardinalities(), SIZE_MAX / 1000), {}};
  if (input.choose({false, false, true})) evidence.target = static_cast<std::uint32_t>(random() % network.n_classes());
  return evidence;
}

/// Limits of what a junction tree may take: most often none that matters.
std::uint64_t read_limit(fuzz::Input& input) {
  return input.choose<std::uint64_t>({kMaxCliqueCells, kMaxCliqueCells, kMaxCliqueCells, 1, 8, 40});
}

/// Calls `act`; says whether it was rejected because of the limit, which only a low one may do.
template <class Act>
bool too_large(std::uint64_t limit, Act act) {
  try {
    act();
  } catch (const InvalidInput& error) {
    fuzz::require(limit != kMaxCliqueCells, std::string("rejected: ") + error.what());
    return true;
  }
  return false;
}

void check_inference(fuzz::Input& input, const Problem& problem, Inference::Workspace& work) {
  const Network& network = problem.network;
  const std::size_t s = network.n_classes();
  const std::uint64_t limit = read_limit(input);
  const Inference inference(network.structure(), {network.cardinalities().begin(), network.cardinalities().end()},
                            network.n_classes(), limit);
  const InferenceTables tables(family_tables(network));
  for (std::size_t rows = input.size(1, 3); rows > 0; --rows) {
    Evidence evidence = read_evidence(input, network);
    evidence.target.reset();
    std::vector<long double> expected(s, 0.0L);
    for (const Case& one : problem.cases)
      if (problem.agrees(one, evidence)) expected[one.target] += one.probability;
    std::vector<double> weights(s), found(s, -7.0), collected(s, -7.0);
    for (double& weight : weights) weight = 4 * input.unit() - 2;
    if (too_large(limit, [&] { inference.log_evidence(tables, evidence.features, work, found); })) continue;
    for (std::size_t c = 0; c < s; ++c)
      fuzz::require_near(found[c], static_cast<double>(std::log(expected[c])), kNear, "log evidence");
    if (too_large(limit, [&] { inference.collect(tables, evidence.features, work, collected); })) continue;
    FamilyTables sums = inference.zero_tables();
    inference.add_family_posteriors(tables, weights, work, sums);
    for (std::size_t c = 0; c < s; ++c)
      fuzz::require_near(collected[c], static_cast<double>(std::log(expected[c])), kNear, "collected evidence");
    std::vector<std::vector<long double>> expected_sums;
    for (const auto& table : sums) expected_sums.emplace_back(table.size(), 0.0L);
    for (const Case& one : problem.cases) {
      if (!(expected[one.target] > 0) || !problem.agrees(one, evidence)) continue;
      for (std::size_t f = 0; f <= network.n_features(); ++f)
        if (f == network.n_features() || !problem.absent[f])
          expected_sums[f][problem.cell(f, one)] += weights[one.target] * one.probability / expected[one.target];
    }
    for (std::size_t f = 0; f < sums.size(); ++f)
      for (std::size_t i = 0; i < sums[f].size(); ++i)
        fuzz::require_near(sums[f][i], static_cast<double>(expected_sums[f][i]), 1e-11,
                           "family " + std::to_string(f) + ", cell " + std::to_string(i));
  }
}

void check_posterior(fuzz::Input& input, const Problem& problem, const Queries& queries, const Evidence& evidence,
                     std::uint64_t limit) {
  const Network& network = problem.network;
  const long double total = problem.probability(evidence);
  std::mt19937_64 random = input.random();
  std::vector<std::size_t> variables;
  for (std::size_t v = 0; v <= network.n_features(); ++v)
    if (v == network.n_features() || !problem.absent[v]) variables.push_back(v);
  std::shuffle(variables.begin(), variables.end(), random);
  variables.resize(input.size(1, std::min<std::size_t>(variables.size(), 4)));
  std::optional<JointTable> table;
  if (too_large(limit, [&] { table = queries.posterior(evidence, variables); })) return;
  fuzz::require(table->variables == variables, "variables of a posterior");
  std::vector<long double> expected(table->probabilities.size(), 0.0L);
  for (const Case& one : problem.cases) {
    if (!problem.agrees(one, evidence)) continue;
    std::size_t index = 0;
    for (const std::size_t v : variables)
      index = v == network.n_features() ? index * network.n_classes() + one.target
                                        : index * network.cardinalities()[v] + one.row[v];
    expected.at(index) += one.probability / total;
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    fuzz::require_near(table->probabilities[i], static_cast<double>(expected[i]), kNear, "posterior");
}

void check_most_probable(const Problem& problem, const Queries& queries, const Evidence& evidence,
                         std::uint64_t limit) {
  const Case* best = nullptr;
  for (const Case& one : problem.cases)
    if (problem.agrees(one, evidence) && (best == nullptr || one.probability > best->probability * (1 + 1e-12L)))
      best = &one;
  std::optional<Explanation> found;
  if (too_large(limit, [&] { found = queries.most_probable(evidence); })) return;
  const auto same = [&](const Case& one) { return one.target == found->target && one.row == found->features; };
  const auto at = std::find_if(problem.cases.begin(), problem.cases.end(), same);
  fuzz::require(at != problem.cases.end() && problem.agrees(*at, evidence), "the most probable case is none");
  fuzz::require(at->probability >= best->probability * (1 - 1e-11L), "a more probable case");
  fuzz::require_near(found->log_probability, static_cast<double>(std::log(at->probability)), kNear, "log probability");
}

void check_samples(fuzz::Input& input, const Problem& problem, const Queries& queries, const Evidence& evidence,
                   std::uint64_t limit) {
  const std::size_t n = problem.network.n_features(), n_cases = input.size(0, 9);
  const std::uint64_t seed = input.number(0, 255);
  std::vector<Code> out((n + 1) * n_cases, 7), again(out.size(), 8);
  if (too_large(limit, [&] { queries.sample(evidence, seed, out); })) return;
  queries.sample(evidence, seed, again, 2);
  fuzz::require(out == again, "samples depend on the number of threads");
  for (std::size_t i = 0; i < n_cases; ++i) {
    const auto same = [&](const Case& one) {
      for (std::size_t f = 0; f < n; ++f)
        if (one.row[f] != out[f * n_cases + i]) return false;
      return one.target == out[n * n_cases + i];
    };
    const auto at = std::find_if(problem.cases.begin(), problem.cases.end(), same);
    fuzz::require(at != problem.cases.end() && problem.agrees(*at, evidence), "a sample that is no case");
    fuzz::require(at->probability > 0, "an impossible sample");
  }
}

void check_queries(fuzz::Input& input, const Problem& problem) {
  const std::uint64_t limit = read_limit(input);
  const Queries queries(problem.network, limit);
  const Evidence evidence = read_evidence(input, problem.network);
  const long double total = problem.probability(evidence);
  double log = 0;
  if (too_large(limit, [&] { log = queries.log_probability(evidence); })) return;
  fuzz::require_near(log, static_cast<double>(std::log(total)), kNear, "log probability of the evidence");
  if (total > 0) {
    check_posterior(input, problem, queries, evidence, limit);
    check_most_probable(problem, queries, evidence, limit);
    check_samples(input, problem, queries, evidence, limit);
    return;
  }
  try {
    static_cast<void>(queries.most_probable(evidence));
  } catch (const InvalidInput&) {
    return;
  }
  fuzz::fail("impossible evidence is explained");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const Problem first = read_problem(input);
  check_queries(input, first);
  Inference::Workspace work;
  check_inference(input, first, work);
  if (input.flag()) {  // a workspace serves any network
    check_inference(input, read_problem(input), work);
    check_inference(input, first, work);
  }
  return 0;
}

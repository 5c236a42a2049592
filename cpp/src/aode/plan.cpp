#include "aode/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/lookup_groups.hpp"

namespace tanager::internal {
namespace {

// The tables of one super-parent should stay in the second-level cache beside the rows.
constexpr std::uint64_t kTableBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kJointValueLimits[] = {64, 32, 16, 8, 4};
// With missing cells a feature has one value more; more members could then enlarge a table without end.
constexpr std::size_t kMaxMembers = 4;
// Smallest number from whose product with others nothing is lost: 2^-1022. Products start at 2^512 or, if scaled, half
// of that; a group's own product starts at 1.
constexpr double kChunkBits = 1400;
constexpr double kGroupBits = 1000;

/// The smallest positive number of all, or `known` if that is smaller.
double smallest_positive(std::span<const double> probabilities, double known) {
  double smallest = 1.0;  // not `known`, so that tables do not wait for each other
  for (const double p : probabilities) smallest = p > 0 && p < smallest ? p : smallest;
  return std::min(smallest, known);
}

/// How many powers of two a feature's smallest factor is below one, over all super-parents and alone.
std::vector<double> factor_bits(const Aode& aode) {
  const std::size_t n = aode.n_features();
  std::vector<double> smallest(n, 1.0);
  for (std::size_t i = 0; i < n; ++i) smallest[i] = smallest_positive(aode.single(i), 1.0);
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t v = 0; v < aode.cardinalities()[p]; ++v)
      for (std::size_t i = 0; i < n; ++i)
        if (i != p) smallest[i] = smallest_positive(aode.pair(p, v, i), smallest[i]);
  for (double& s : smallest) s = -std::log2(s);
  return smallest;
}

/// Neighbors joined greedily while their joint values number at most `limit`.
std::vector<std::uint32_t> join_features(std::span<const std::uint32_t> cards, std::span<const double> bits,
                                         std::uint64_t limit) {
  std::vector<std::uint32_t> groups{0};
  std::uint64_t joint = 1;
  double total_bits = 0;
  for (std::uint32_t f = 0; f < cards.size(); ++f) {
    const bool first = groups.back() == f;
    if (!first && (joint * cards[f] > limit || f - groups.back() >= kMaxMembers || total_bits + bits[f] > kGroupBits)) {
      groups.push_back(f);
      joint = 1;
      total_bits = 0;
    }
    joint *= cards[f];
    total_bits += bits[f];
  }
  if (!cards.empty()) groups.push_back(static_cast<std::uint32_t>(cards.size()));
  return groups;
}

std::uint64_t table_bytes(std::span<const std::uint32_t> cards, std::span<const std::uint32_t> groups,
                          std::uint32_t width) {
  std::uint64_t joint_values = 0;
  for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
    std::uint64_t joint = 1;
    for (std::uint32_t f = groups[g]; f < groups[g + 1]; ++f) joint *= cards[f];
    joint_values += joint;
  }
  return joint_values * *std::max_element(cards.begin(), cards.end()) * width * sizeof(double);
}

std::vector<std::uint32_t> choose_groups(std::span<const std::uint32_t> cards, std::span<const double> bits,
                                         std::uint32_t width) {
  std::vector<std::uint32_t> groups{0};
  for (const std::uint64_t limit : kJointValueLimits) {
    groups = join_features(cards, bits, limit);
    if (cards.empty() || table_bytes(cards, groups, width) <= kTableBytes) return groups;
  }
  return join_features(cards, bits, 1);
}

std::vector<std::uint32_t> choose_chunks(std::span<const std::uint32_t> groups, std::span<const double> bits) {
  std::vector<std::uint32_t> chunks{0};
  double total = 0;
  for (std::uint32_t g = 0; g + 1 < groups.size(); ++g) {
    double own = 0;
    for (std::uint32_t f = groups[g]; f < groups[g + 1]; ++f) own += bits[f];
    if (chunks.back() != g && total + own > kChunkBits) {
      chunks.push_back(g);
      total = 0;
    }
    total += own;
  }
  if (groups.size() > 1) chunks.push_back(static_cast<std::uint32_t>(groups.size() - 1));
  return chunks;
}

}  // namespace

AodePlan::AodePlan(const Aode& aode)
    : cardinalities(aode.cardinalities().begin(), aode.cardinalities().end()),
      n_classes(aode.n_classes()),
      width(padded_classes(n_classes, 4)),
      first_values(cardinalities.size() + 1, 0) {
  const std::size_t n = cardinalities.size();
  for (std::size_t f = 0; f < n; ++f) first_values[f + 1] = first_values[f] + cardinalities[f];
  const std::vector<double> bits = factor_bits(aode);
  groups = choose_groups(cardinalities, bits, width);
  chunks = choose_chunks(groups, bits);

  const auto class_probabilities = aode.class_probabilities();
  double all_bits = -std::log2(smallest_positive(class_probabilities, 1.0));
  for (const double b : bits) all_bits += b;
  scaled = all_bits > kChunkBits;

  // The product of two probabilities, each split into a number and a power of two, cannot leave the range.
  const auto put = [&](double a, double b, std::size_t at, std::vector<double>& numbers, std::vector<double>& powers) {
    int power_a = 0, power_b = 0, power = 0;
    const double number = std::frexp(std::frexp(a, &power_a) * std::frexp(b, &power_b), &power);
    power += power_a + power_b;
    numbers[at] = std::ldexp(number, scaled ? kStartPower : kStartPower + power);
    if (scaled) powers[at] = power;
  };
  start.assign(first_values[n] * width, 0.0);
  prior.assign(width, 0.0);
  if (scaled) {
    start_powers.assign(start.size(), 0.0);
    prior_powers.assign(width, 0.0);
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    put(class_probabilities[c], 1.0, c, prior, prior_powers);
    for (std::size_t value = 0; value < first_values[n]; ++value)
      put(class_probabilities[c], aode.singles()[value * n_classes + c], value * width + c, start, start_powers);
  }
  if (aode.min_count() > 0)
    for (const double weight : aode.value_counts()) eligible.push_back(weight >= aode.min_count());
}

}  // namespace tanager::internal

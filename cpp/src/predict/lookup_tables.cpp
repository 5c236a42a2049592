// Joins the terms of features into look-ups. A tree's branch of four binary features has 16 joint values: one look-up
// instead of four.
#include "predict/lookup_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tanager::internal {
namespace {

// All tables together should stay in the second-level cache beside the rows; single ones in a fair part of the first.
constexpr std::uint64_t kTotalBytes = std::uint64_t{512} << 10;
constexpr std::uint64_t kJointValueLimits[] = {1024, 256, 64, 16};
// Features of one value enlarge nothing: without a limit thousands of them would join one group, at quadratic cost.
constexpr std::size_t kMaxMembers = 32;

std::uint32_t padded(std::uint32_t classes) {
  if (classes <= 2) return classes;
  if (classes <= 4) return 4;
  return (classes + 7) / 8 * 8;
}

/// The features that a term looks at; the term n_features is that of a class with parents.
std::vector<std::size_t> features_of_term(const Structure& structure, std::size_t term) {
  if (term == structure.n_features()) return structure.class_parents();
  std::vector<std::size_t> features = structure.parents(term);
  features.push_back(term);
  return features;
}

/// All terms in the order of their variables.
std::vector<std::size_t> terms_of(const Structure& structure) {
  std::vector<std::size_t> terms = structure.order();
  if (!structure.class_parents().empty())
    terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(structure.class_position()), structure.n_features());
  return terms;
}

/// Terms in their order, joined greedily while the joint values number at most `limit`.
std::vector<LookupGroup> join_terms(const Network& network, std::uint64_t limit) {
  std::vector<LookupGroup> groups;
  const auto cards = network.cardinalities();
  std::vector<std::size_t> last_group(network.n_features(), std::numeric_limits<std::size_t>::max());
  for (const std::size_t term : terms_of(network.structure())) {
    const std::vector<std::size_t> involved = features_of_term(network.structure(), term);
    std::uint64_t growth = 1;  // by the features that the current group lacks
    for (const std::size_t f : involved)
      if (groups.empty() || last_group[f] != groups.size() - 1) growth *= cards[f];
    if (groups.empty() || groups.back().size * growth > limit || groups.back().members.size() >= kMaxMembers)
      groups.emplace_back();
    LookupGroup& group = groups.back();
    group.terms.push_back(term);
    for (const std::size_t f : involved) {
      if (last_group[f] == groups.size() - 1) continue;
      last_group[f] = groups.size() - 1;
      group.members.push_back({f, group.size});
      group.size *= cards[f];
    }
  }
  return groups;
}

std::uint64_t total_bytes(const std::vector<LookupGroup>& groups, std::uint32_t padded_classes) {
  std::uint64_t cells = 0;
  for (const LookupGroup& group : groups) cells += std::uint64_t{group.size} * padded_classes;
  return cells * sizeof(double);
}

/// Adds one term, of which `logs` are the cells, to every cell of its group.
void add_term(LookupTables& tables, const LookupGroup& group, const Network& network, std::size_t term,
              std::span<const double> logs) {
  const auto cards = network.cardinalities();
  const std::uint32_t s = tables.n_classes, width = tables.padded_classes;
  // Stride in the term's own table of every member of the group; zero for members that the term does not know.
  std::vector<std::size_t> strides(group.members.size(), 0);
  std::size_t stride = s;
  const std::vector<std::size_t> features = features_of_term(network.structure(), term);
  for (auto f = features.rbegin(); f != features.rend(); ++f) {
    for (std::size_t m = 0; m < group.members.size(); ++m)
      if (group.members[m].feature == *f) strides[m] = stride;
    stride *= cards[*f];
  }

  std::vector<std::uint32_t> value(group.members.size(), 0);
  std::size_t from = 0;
  double* to = tables.cells.data() + group.offset;
  for (std::uint32_t joint = 0; joint < group.size; ++joint, to += width) {
    for (std::uint32_t c = 0; c < s; ++c) to[c] += logs[from + c];
    for (std::size_t m = 0; m < value.size(); ++m) {  // count up; the first member has stride one
      from += strides[m];
      if (++value[m] < cards[group.members[m].feature]) break;
      from -= strides[m] * value[m];
      value[m] = 0;
    }
  }
}

}  // namespace

LookupTables build_lookup_tables(const Network& network, std::span<const std::vector<double>> logs) {
  LookupTables tables;
  tables.n_classes = network.n_classes();
  tables.padded_classes = padded(tables.n_classes);
  tables.features = network.structure().order();
  std::sort(tables.features.begin(), tables.features.end());
  tables.prior.assign(tables.padded_classes, 0.0);
  if (network.structure().class_parents().empty()) std::ranges::copy(logs.back(), tables.prior.begin());

  for (const std::uint64_t limit : kJointValueLimits) {
    tables.groups = join_terms(network, limit);
    if (total_bytes(tables.groups, tables.padded_classes) <= kTotalBytes) break;
  }
  std::size_t cells = 0;
  for (LookupGroup& group : tables.groups) {
    group.offset = cells;
    cells += std::size_t{group.size} * tables.padded_classes;
  }
  tables.cells.assign(cells, 0.0);
  for (const LookupGroup& group : tables.groups)
    for (const std::size_t term : group.terms) add_term(tables, group, network, term, logs[term]);
  return tables;
}

}  // namespace tanager::internal

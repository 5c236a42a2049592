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

/// Adds one term, of which `logs` are the cells, to every cell of its group.
void add_term(LookupTables& tables, const LookupGroup& group, const Network& network, std::size_t term,
              std::span<const double> logs) {
  const auto cards = network.cardinalities();
  const std::uint32_t n_classes = tables.n_classes, width = tables.padded_classes;
  // Stride in the term's own table of every member of the group; zero for members that the term does not know.
  std::vector<std::size_t> strides(group.members.size(), 0);
  std::size_t stride = n_classes;
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
    for (std::uint32_t c = 0; c < n_classes; ++c) to[c] += logs[from + c];
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
  tables.padded_classes = padded_classes(tables.n_classes, 8);
  tables.features = network.structure().order();
  std::sort(tables.features.begin(), tables.features.end());
  tables.prior.assign(tables.padded_classes, 0.0);
  if (network.structure().class_parents().empty()) std::ranges::copy(logs.back(), tables.prior.begin());

  const std::vector<std::size_t> terms = terms_of(network.structure());
  std::size_t cells = 0;
  for (const std::uint64_t limit : kJointValueLimits) {
    tables.groups = join_lookups(
        terms, network.cardinalities(), [&](std::size_t term) { return features_of_term(network.structure(), term); },
        limit, kMaxMembers);
    cells = place_groups(tables.groups, tables.padded_classes);
    if (cells * sizeof(double) <= kTotalBytes) break;
  }
  tables.cells.assign(cells, 0.0);
  for (const LookupGroup& group : tables.groups)
    for (const std::size_t term : group.terms) add_term(tables, group, network, term, logs[term]);
  return tables;
}

}  // namespace tanager::internal

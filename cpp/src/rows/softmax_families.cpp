#include "rows/softmax_families.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simd/vector_exp.hpp"

namespace tanager::internal {
namespace {

/// Softmax of the distributions of one configuration, [values][inner]; `largest` and `sums` have room for `inner`.
void normalize_configuration(const double* parameters, std::size_t values, std::size_t inner, double* probabilities,
                             double* logs, double* largest, double* sums) {
  std::copy_n(parameters, inner, largest);
  for (std::size_t i = inner; i < values * inner; i += inner)
    for (std::size_t c = 0; c < inner; ++c) largest[c] = std::max(largest[c], parameters[i + c]);
  std::fill_n(sums, inner, 0.0);
  for (std::size_t i = 0; i < values * inner; i += inner)
    for (std::size_t c = 0; c < inner; ++c) {
      logs[i + c] = parameters[i + c] - largest[c];
      probabilities[i + c] = vector_exp(logs[i + c]);
      sums[c] += probabilities[i + c];
    }
  for (std::size_t c = 0; c < inner; ++c) largest[c] = std::log(sums[c]);
  for (std::size_t i = 0; i < values * inner; i += inner)
    for (std::size_t c = 0; c < inner; ++c) {
      probabilities[i + c] /= sums[c];
      logs[i + c] -= largest[c];
    }
}

/// Calls use(block, i, sum) for every cell i, with the sum of the counts of its distribution.
template <class Use>
void with_sums(const std::vector<FamilyBlock>& blocks, std::size_t n_classes, std::span<const double> counts, Use use) {
  std::vector<double> sums(n_classes);
  for (const FamilyBlock& block : blocks) {
    const std::size_t width = block.values * block.inner;
    for (std::size_t start = block.offset; start < block.offset + block.size; start += width) {
      std::fill_n(sums.begin(), block.inner, 0.0);
      for (std::size_t i = start; i < start + width; i += block.inner)
        for (std::size_t c = 0; c < block.inner; ++c) sums[c] += counts[i + c];
      for (std::size_t i = start; i < start + width; i += block.inner)
        for (std::size_t c = 0; c < block.inner; ++c) use(block, i + c, sums[c]);
    }
  }
}

}  // namespace

SoftmaxFamilies::SoftmaxFamilies(const Structure& structure, std::vector<std::uint32_t> cardinalities,
                                 std::uint32_t n_classes)
    : structure_(structure), cardinalities_(std::move(cardinalities)), n_classes_(n_classes) {
  for (const std::size_t f : structure.order()) {
    checked_table_size(structure.family(f), cardinalities_, n_classes);
    FamilyBlock block;
    block.feature = f;
    block.members = structure.parents(f);
    block.members.push_back(f);
    block.values = cardinalities_[f];
    block.knows_class = structure.is_class_child(f);
    block.inner = block.knows_class ? n_classes_ : 1;
    add_block(std::move(block));
  }
  if (const auto family = structure.class_family()) checked_table_size(*family, cardinalities_, n_classes);
  FamilyBlock block;
  block.feature = cardinalities_.size();
  block.members = structure.class_parents();
  block.values = n_classes_;
  add_block(std::move(block));
}

void SoftmaxFamilies::add_block(FamilyBlock block) {
  for (const std::size_t f : block.members) block.cells *= cardinalities_[f];
  const bool is_class = block.feature == cardinalities_.size();
  block.size = block.cells * (is_class ? n_classes_ : block.inner);
  block.offset = n_parameters_;
  block.expanded = n_expanded_;
  n_parameters_ += block.size;
  n_expanded_ += block.cells * n_classes_;
  blocks_.push_back(std::move(block));
}

std::vector<double> SoftmaxFamilies::parameters(const Network& network) const {
  std::vector<double> logs;
  logs.reserve(n_parameters_);
  for (const FamilyBlock& block : blocks_) {
    const auto table = block.feature == cardinalities_.size() ? network.class_table() : network.table(block.feature);
    for (const double p : table) logs.push_back(std::log(p));
  }
  return logs;
}

Network SoftmaxFamilies::network(std::span<const double> probabilities) const {
  std::vector<std::vector<double>> tables(cardinalities_.size());
  std::vector<double> of_class;
  for (const FamilyBlock& block : blocks_) {
    const auto cells = probabilities.subspan(block.offset, block.size);
    std::vector<double>& table = block.feature == cardinalities_.size() ? of_class : tables[block.feature];
    table.assign(cells.begin(), cells.end());
  }
  return Network(structure_, cardinalities_, static_cast<std::uint32_t>(n_classes_), std::move(of_class),
                 std::move(tables));
}

void SoftmaxFamilies::normalize(std::span<const double> parameters, std::span<double> probabilities,
                                std::span<double> logs) const {
  std::vector<double> largest(n_classes_), sums(n_classes_);
  for (const FamilyBlock& block : blocks_) {
    const std::size_t width = block.values * block.inner;
    for (std::size_t i = block.offset; i < block.offset + block.size; i += width)
      normalize_configuration(parameters.data() + i, block.values, block.inner, probabilities.data() + i,
                              logs.data() + i, largest.data(), sums.data());
  }
}

void SoftmaxFamilies::expand(std::span<const double> flat, std::span<double> expanded) const {
  for (const FamilyBlock& block : blocks_) {
    const double* from = flat.data() + block.offset;
    double* to = expanded.data() + block.expanded;
    if (block.knows_class) {
      std::copy_n(from, block.size, to);
      continue;
    }
    for (std::size_t cell = 0; cell < block.cells; ++cell) std::fill_n(to + cell * n_classes_, n_classes_, from[cell]);
  }
}

void SoftmaxFamilies::contract(std::span<const double> expanded, std::span<double> flat) const {
  for (const FamilyBlock& block : blocks_) {
    const double* from = expanded.data() + block.expanded;
    double* to = flat.data() + block.offset;
    if (block.knows_class) {
      std::copy_n(from, block.size, to);
      continue;
    }
    for (std::size_t cell = 0; cell < block.cells; ++cell) {
      to[cell] = 0;
      for (std::size_t c = 0; c < n_classes_; ++c) to[cell] += from[cell * n_classes_ + c];
    }
  }
}

void SoftmaxFamilies::to_gradient(std::span<const double> probabilities, std::span<double> counts) const {
  with_sums(blocks_, n_classes_, counts,
            [&](const FamilyBlock&, std::size_t i, double sum) { counts[i] -= probabilities[i] * sum; });
}

void SoftmaxFamilies::to_probabilities(std::span<const double> before, double alpha, std::span<double> counts) const {
  with_sums(blocks_, n_classes_, counts, [&](const FamilyBlock& block, std::size_t i, double sum) {
    const double total = sum + static_cast<double>(block.values) * alpha;
    counts[i] = total > 0 ? (counts[i] + alpha) / total : before[i];
  });
}

}  // namespace tanager::internal

// Random structures, tables, networks and rows for the tests, and sums over whole domains to check them against.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tanager/network.hpp"

namespace testing {

using tanager::Code;
using tanager::kMissing;

inline std::size_t draw(std::mt19937_64& random, std::size_t below) {
  return static_cast<std::size_t>(random() % below);
}

/// Every feature may take up to `max_parents` earlier ones (in a shuffled order) as parents.
inline tanager::Structure random_structure(std::mt19937_64& random, std::size_t n, std::size_t max_parents) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[draw(random, i)]);
  std::vector<std::vector<std::size_t>> parents(n);
  for (std::size_t i = 1; i < n; ++i)
    for (std::size_t k = draw(random, max_parents + 1); k > 0; --k) {
      const std::size_t parent = order[draw(random, i)];
      auto& list = parents[order[i]];
      if (std::find(list.begin(), list.end(), parent) == list.end()) list.push_back(parent);
    }
  return tanager::Structure(parents);
}

/// The class stands anywhere: features before it (in a shuffled order) may be its parents, those behind its children.
inline tanager::Structure random_general_structure(std::mt19937_64& random, std::size_t n, std::size_t max_parents) {
  const tanager::Structure features = random_structure(random, n, max_parents);
  const std::size_t position = draw(random, n + 1);
  std::vector<std::vector<std::size_t>> parents(n);
  std::vector<bool> class_children(n, false);
  std::vector<std::size_t> class_parents;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t f = features.order()[i];
    parents[f] = features.parents(f);
    if (i < position && draw(random, 2) == 0 && class_parents.size() < max_parents + 1)
      class_parents.push_back(f);
    else if (i >= position)
      class_children[f] = draw(random, 3) > 0;
  }
  return tanager::Structure::general(parents, class_children, class_parents);
}

inline std::vector<double> random_distribution(std::mt19937_64& random, std::size_t n, bool with_zeros) {
  std::vector<double> p(n);
  double sum = 0;
  for (double& value : p) {
    value = with_zeros && draw(random, 4) == 0 ? 0.0 : 0.05 + static_cast<double>(random() % 1000) / 1000;
    sum += value;
  }
  if (sum == 0) {
    p[0] = sum = 1;
  }
  for (double& value : p) value /= sum;
  return p;
}

inline tanager::Network random_network(std::mt19937_64& random, const tanager::Structure& structure,
                                       const std::vector<std::uint32_t>& cards, std::uint32_t classes,
                                       bool with_zeros = false) {
  const auto random_table = [&](const std::vector<std::size_t>& parents, std::size_t values, std::size_t width,
                                bool zeros) {
    std::size_t configurations = 1;
    for (const std::size_t p : parents) configurations *= cards[p];
    std::vector<double> table(configurations * values * width);
    for (std::size_t j = 0; j < configurations; ++j)
      for (std::size_t c = 0; c < width; ++c) {
        const auto p = random_distribution(random, values, zeros);
        for (std::size_t k = 0; k < values; ++k) table[(j * values + k) * width + c] = p[k];
      }
    return table;
  };
  std::vector<std::vector<double>> tables;
  for (std::size_t f = 0; f < cards.size(); ++f)
    tables.push_back(
        random_table(structure.parents(f), cards[f], structure.is_class_child(f) ? classes : 1, with_zeros));
  return tanager::Network(structure, cards, classes, random_table(structure.class_parents(), classes, 1, false),
                          tables);
}

inline std::vector<Code> random_row(std::mt19937_64& random, const std::vector<std::uint32_t>& cards,
                                    int percent_missing) {
  std::vector<Code> row;
  for (const std::uint32_t r : cards)
    row.push_back(static_cast<int>(draw(random, 100)) < percent_missing ? kMissing
                                                                        : static_cast<Code>(draw(random, r)));
  return row;
}

/// P(class c, complete row) by multiplying the network's tables, term by term.
inline double joint_probability(const tanager::Network& network, const std::vector<Code>& row, std::size_t c) {
  const tanager::Structure& structure = network.structure();
  const auto configuration = [&](const std::vector<std::size_t>& parents) {
    std::size_t index = 0;
    for (const std::size_t parent : parents) index = index * network.cardinalities()[parent] + row[parent];
    return index;
  };
  double p = network.class_table()[configuration(structure.class_parents()) * network.n_classes() + c];
  for (std::size_t f = 0; f < row.size(); ++f) {
    const std::size_t index = configuration(structure.parents(f)) * network.cardinalities()[f] + row[f];
    p *= structure.is_class_child(f) ? network.table(f)[index * network.n_classes() + c] : network.table(f)[index];
  }
  return p;
}

/// The same for a row with missing features: the sum over all their joint values.
inline double summed_probability(const tanager::Network& network, std::vector<Code> row, std::size_t c) {
  for (std::size_t f = 0; f < row.size(); ++f) {
    if (row[f] != kMissing) continue;
    double sum = 0;
    for (Code value = 0; value < network.cardinalities()[f]; ++value) {
      row[f] = value;
      sum += summed_probability(network, row, c);
    }
    return sum;
  }
  return joint_probability(network, row, c);
}

}  // namespace testing

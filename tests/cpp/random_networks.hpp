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
  std::vector<std::vector<double>> tables;
  for (std::size_t f = 0; f < cards.size(); ++f) {
    std::size_t configurations = 1;
    for (const std::size_t p : structure.parents(f)) configurations *= cards[p];
    std::vector<double> table(configurations * cards[f] * classes);
    for (std::size_t j = 0; j < configurations; ++j)
      for (std::size_t c = 0; c < classes; ++c) {
        const auto p = random_distribution(random, cards[f], with_zeros);
        for (std::size_t k = 0; k < cards[f]; ++k) table[(j * cards[f] + k) * classes + c] = p[k];
      }
    tables.push_back(table);
  }
  return tanager::Network(structure, cards, random_distribution(random, classes, false), tables);
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
  double p = network.class_probabilities()[c];
  for (std::size_t f = 0; f < row.size(); ++f) {
    std::size_t index = 0;
    for (const std::size_t parent : network.structure().parents(f))
      index = index * network.cardinalities()[parent] + row[parent];
    index = index * network.cardinalities()[f] + row[f];
    p *= network.table(f)[index * network.n_classes() + c];
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

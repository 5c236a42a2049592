// Networks made from the fuzzer's bytes, and what they say by the definition: products of table entries, summed over
// all values of what is missing, in numbers of a wide range.
#pragma once

#include <cfloat>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "tanager/network.hpp"

namespace fuzz {

/// How the numbers of a table are spread.
enum class Tables { kPlain, kZeros, kExtreme, kUniform, kCertain };

inline Tables read_tables(Input& input) {
  return input.choose(
      {Tables::kPlain, Tables::kPlain, Tables::kZeros, Tables::kExtreme, Tables::kUniform, Tables::kCertain});
}

/// The smallest number of extreme tables: products of ten must stay in the range of a long double.
inline constexpr double kTiny = LDBL_MAX_EXP > 4 * DBL_MAX_EXP ? 1e-300 : 1e-25;

/// One distribution, written to out[0], out[step], ...
inline void random_distribution(std::mt19937_64& random, Tables kind, std::size_t n, double* out, std::size_t step) {
  const std::size_t certain = random() % n;
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    double p = 1 + static_cast<double>(random() >> 44);
    if (kind == Tables::kUniform) p = 1;
    if (kind == Tables::kZeros && k != certain && random() % 3 == 0) p = 0;
    if (kind == Tables::kCertain && k != certain) p = 0;
    if (kind == Tables::kExtreme && k != certain) {
      const double choices[] = {0.0, kTiny, 1e-20, 1e-3, p};
      p = choices[random() % 5];
    }
    out[k * step] = p;
    sum += p;
  }
  for (std::size_t k = 0; k < n; ++k) out[k * step] /= sum;
}

/// Distributions over `values`, [configurations][values][width].
inline std::vector<double> random_table(std::mt19937_64& random, Tables kind, std::size_t configurations,
                                        std::size_t values, std::size_t width) {
  std::vector<double> table(configurations * values * width);
  for (std::size_t j = 0; j < configurations; ++j)
    for (std::size_t c = 0; c < width; ++c)
      random_distribution(random, kind, values, table.data() + j * values * width + c, width);
  return table;
}

/// Numbers of values: those of a pair times the classes are at most about `most`.
inline std::vector<std::uint32_t> read_cardinalities(Input& input, std::size_t n, std::size_t classes,
                                                     std::size_t most) {
  std::vector<std::uint32_t> cards(n);
  std::size_t widest = std::max<std::size_t>(1, most / classes);
  for (std::uint32_t& r : cards) {
    r = static_cast<std::uint32_t>(input.edge_size(std::min<std::size_t>(widest, 300)));
    widest = std::max<std::size_t>(1, std::min(widest, most / classes / r));
  }
  return cards;
}

/// Any structure whose tables have at most about `most` cells; augmented naive Bayes unless `general`.
inline tanager::Structure read_structure(Input& input, const std::vector<std::uint32_t>& cards, std::size_t classes,
                                         std::size_t most, std::size_t max_parents, bool general) {
  const std::size_t n = cards.size();
  std::mt19937_64 random = input.random();
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::vector<std::size_t>> parents(n);
  std::vector<bool> absent(n, false), class_children(n, true);
  std::vector<std::size_t> class_parents;
  const std::size_t position = general ? input.size(0, n) : 0;
  const bool leaves_out = input.choose({false, false, false, true});
  std::size_t class_cells = classes;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t f = order[i];
    if (leaves_out && random() % 4 == 0) {
      absent[f] = true;
      class_children[f] = false;
      continue;
    }
    std::size_t cells = cards[f] * classes;
    for (std::size_t k = random() % (max_parents + 1); i > 0 && k > 0; --k) {
      const std::size_t p = order[random() % i];
      if (absent[p] || std::find(parents[f].begin(), parents[f].end(), p) != parents[f].end()) continue;
      if (cells * cards[p] > most) continue;
      cells *= cards[p];
      parents[f].push_back(p);
    }
    if (i < position) {
      class_children[f] = false;
      if (random() % 2 == 0 && class_cells * cards[f] <= most) {
        class_cells *= cards[f];
        class_parents.push_back(f);
      }
    } else {
      class_children[f] = !general || random() % 4 > 0;
    }
  }
  std::sort(class_parents.begin(), class_parents.end());
  return tanager::Structure::general(parents, class_children, class_parents, leaves_out ? absent : std::vector<bool>{});
}

inline tanager::Network random_network(std::mt19937_64& random, const tanager::Structure& structure,
                                       const std::vector<std::uint32_t>& cards, std::uint32_t classes, Tables kind) {
  const auto configurations = [&](const std::vector<std::size_t>& parents) {
    std::size_t product = 1;
    for (const std::size_t p : parents) product *= cards[p];
    return product;
  };
  std::vector<std::vector<double>> tables(cards.size());
  for (std::size_t f = 0; f < cards.size(); ++f)
    if (!structure.is_absent(f))
      tables[f] = random_table(random, kind, configurations(structure.parents(f)), cards[f],
                               structure.is_class_child(f) ? classes : 1);
  return tanager::Network(structure, cards, classes,
                          random_table(random, kind, configurations(structure.class_parents()), classes, 1), tables);
}

/// Calls visit(row) for every way to fill in what is missing in a row; features that `skip` marks stay as they are.
template <class Visit>
void for_each_completion(std::vector<tanager::Code> row, std::span<const std::uint32_t> cards,
                         const std::vector<bool>& skip, Visit visit) {
  std::vector<std::size_t> missing;
  for (std::size_t f = 0; f < row.size(); ++f)
    if (row[f] == tanager::kMissing && !skip[f]) {
      missing.push_back(f);
      row[f] = 0;
    }
  for (;;) {
    visit(row);
    std::size_t digit = 0;
    while (digit < missing.size() && ++row[missing[digit]] == cards[missing[digit]]) row[missing[digit++]] = 0;
    if (digit == missing.size()) return;
  }
}

inline std::vector<bool> absent_features(const tanager::Structure& structure) {
  std::vector<bool> absent(structure.n_features());
  for (std::size_t f = 0; f < absent.size(); ++f) absent[f] = structure.is_absent(f);
  return absent;
}

/// P(complete row, class) of every class, added to `sums`; absent features do not count.
inline void add_joint(const tanager::Network& network, const std::vector<tanager::Code>& row,
                      std::vector<long double>& sums) {
  const tanager::Structure& structure = network.structure();
  const auto configuration = [&](const std::vector<std::size_t>& parents) {
    std::size_t index = 0;
    for (const std::size_t parent : parents) index = index * network.cardinalities()[parent] + row[parent];
    return index;
  };
  const std::size_t s = network.n_classes();
  const double* prior = network.class_table().data() + configuration(structure.class_parents()) * s;
  std::vector<const double*> terms;
  std::vector<bool> by_class;
  for (std::size_t f = 0; f < row.size(); ++f) {
    if (structure.is_absent(f)) continue;
    const std::size_t index = configuration(structure.parents(f)) * network.cardinalities()[f] + row[f];
    by_class.push_back(structure.is_class_child(f));
    terms.push_back(network.table(f).data() + (by_class.back() ? index * s : index));
  }
  for (std::size_t c = 0; c < s; ++c) {
    long double p = prior[c];
    for (std::size_t i = 0; i < terms.size(); ++i) p *= terms[i][by_class[i] ? c : 0];
    sums[c] += p;
  }
}

/// P(observed features, class) of every class.
inline std::vector<long double> joint_probabilities(const tanager::Network& network,
                                                    const std::vector<tanager::Code>& row) {
  std::vector<long double> sums(network.n_classes(), 0.0L);
  for_each_completion(row, network.cardinalities(), absent_features(network.structure()),
                      [&](const std::vector<tanager::Code>& complete) { add_joint(network, complete, sums); });
  return sums;
}

/// A row with so many missing features that at most `most` ways to fill them in remain.
inline std::vector<tanager::Code> read_row(Input& input, std::mt19937_64& random, std::span<const std::uint32_t> cards,
                                           std::size_t most) {
  const std::size_t percent = input.choose<std::size_t>({0, 0, 20, 60, 100});
  std::vector<tanager::Code> row;
  std::size_t completions = 1;
  for (const std::uint32_t r : cards) {
    const bool missing = random() % 100 < percent && completions * r <= most;
    if (missing) completions *= r;
    row.push_back(missing ? tanager::kMissing : static_cast<tanager::Code>(random() % r));
  }
  return row;
}

}  // namespace fuzz

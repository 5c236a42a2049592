// Discretizers: cuts found and applied, against the definitions written down as loops.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

const int fuzz::kShortRuns = 3000;
const std::size_t fuzz::kMaxLength = 400;

namespace {

using namespace tanager;
using Cuts = std::vector<double>;

struct Table {
  std::vector<double> x;
  std::vector<std::uint16_t> classes;
  std::uint32_t n_classes = 1;
  std::vector<double> weights;  // empty: all ones
  bool is_whole = true;         // whether all weights are whole and small

  double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

/// What counts: the weight of every class at every value that has any.
using Histogram = std::map<double, std::map<std::uint16_t, long double>>;

Histogram histogram(const Table& table) {
  Histogram found;
  for (std::size_t row = 0; row < table.x.size(); ++row)
    if (!std::isnan(table.x[row]) && table.weight(row) > 0)
      found[table.x[row] + 0.0][table.classes[row]] += static_cast<long double>(table.weight(row));
  return found;
}

/// Half-way between two neighbors, or the lower one where that is no number below the upper one.
double between(double a, double b) {
  double middle = a / 2 + b / 2;
  if (std::isfinite(a + b)) middle = (a + b) / 2;
  return middle < b ? middle + 0.0 : a;
}

// -- MDL, from the paper: over all boundaries between values, entropies by plain loops

struct Summary {
  long double total = 0, entropy = 0, n_classes = 0;
};

using Place = Histogram::const_iterator;

Summary summary(Place begin, Place end) {
  std::map<std::uint16_t, long double> classes;
  Summary found;
  for (; begin != end; ++begin)
    for (const auto& [target, weight] : begin->second) {
      classes[target] += weight;
      found.total += weight;
    }
  for (const auto& [target, weight] : classes) found.entropy -= weight / found.total * std::log2(weight / found.total);
  found.n_classes = static_cast<long double>(classes.size());
  return found;
}

/// What a stretch of values comes to if it is cut there.
struct Candidate {
  Place right;
  double cut = 0;
  long double entropy = 0;  // of the two parts
  long double excess = 0;   // of the gain over its price
};

std::vector<Candidate> candidates(Place begin, Place end) {
  const Summary whole = summary(begin, end);
  std::vector<Candidate> found;
  for (Place left = begin, right = std::next(begin); right != end; ++left, ++right) {
    const Summary below = summary(begin, right), above = summary(right, end);
    const long double entropy = (below.total * below.entropy + above.total * above.entropy) / whole.total;
    const long double delta =
        std::log2(std::pow(3.0L, whole.n_classes) - 2) -
        (whole.n_classes * whole.entropy - below.n_classes * below.entropy - above.n_classes * above.entropy);
    const long double price = (std::log2(std::max(whole.total - 1, 1.0L)) + delta) / whole.total;
    found.push_back({right, between(left->first, right->first), entropy, whole.entropy - entropy - price});
  }
  return found;
}

constexpr long double kRounding = 1e-9L;

/// Whether cuts can come from recursive partitions of a stretch, where rounding may decide between cuts that are
/// equally good, and whether a cut pays that neither pays nor costs. `*cuts` is left at the first one beyond the
/// stretch.
bool is_partition(Place begin, Place end, const Cuts& cuts, std::size_t first, std::size_t last) {
  if (begin == end || std::next(begin) == end) return first == last;
  const std::vector<Candidate> all = candidates(begin, end);
  long double least = std::numeric_limits<long double>::infinity();
  for (const Candidate& candidate : all) least = std::min(least, candidate.entropy);
  bool may_stop = false;
  for (const Candidate& candidate : all) {
    if (candidate.entropy > least + kRounding) continue;
    may_stop = may_stop || candidate.excess <= kRounding;
    if (candidate.excess < -kRounding) continue;
    for (std::size_t i = first; i < last; ++i)
      if (cuts[i] == candidate.cut && is_partition(begin, candidate.right, cuts, first, i) &&
          is_partition(candidate.right, end, cuts, i + 1, last))
        return true;
  }
  return first == last && may_stop;
}

/// The lowest of the best cuts, again and again, for a table without a decision that rounding could turn.
void plain_mdl(Place begin, Place end, Cuts& cuts, bool& is_close) {
  if (begin == end || std::next(begin) == end) return;
  const std::vector<Candidate> all = candidates(begin, end);
  const Candidate* best = &all.front();
  for (const Candidate& candidate : all)
    if (candidate.entropy < best->entropy - 1e-14L) best = &candidate;
  for (const Candidate& candidate : all) {
    const long double worse = std::abs(candidate.entropy - best->entropy);
    is_close = is_close || (worse > 1e-16L && worse < kRounding);
  }
  is_close = is_close || std::abs(best->excess) < kRounding;
  if (best->excess <= 0) return;
  plain_mdl(begin, best->right, cuts, is_close);
  cuts.push_back(best->cut);
  plain_mdl(best->right, end, cuts, is_close);
}

void check_mdl(const Table& table, const Cuts& got) {
  const Histogram values = histogram(table);
  fuzz::require(is_partition(values.begin(), values.end(), got, 0, got.size()), "these cuts are not those of MDL");
  Cuts expected;
  bool is_close = false;
  plain_mdl(values.begin(), values.end(), expected, is_close);
  if (is_close || !table.is_whole) return;
  fuzz::require_same(got.size(), expected.size(), "number of cuts of MDL");
  for (std::size_t i = 0; i < expected.size(); ++i) fuzz::require_same(got[i], expected[i], "a cut of MDL");
}

// -- the others

void check_equal_width(const Table& table, std::size_t bins, const Cuts& got) {
  const Histogram values = histogram(table);
  if (values.size() < 2) return fuzz::require(got.empty(), "a constant column is cut");
  const long double low = values.begin()->first, high = values.rbegin()->first;
  const long double width = (high - low) / static_cast<long double>(bins);
  const double largest = std::max(std::abs(values.begin()->first), std::abs(values.rbegin()->first));
  const double ulp = std::max(largest * 0x1p-51, std::numeric_limits<double>::denorm_min());
  // Every cut stands where one of equal width does, and none is left out unless two would be one number.
  std::size_t i = 0;
  for (std::size_t k = 1; k < bins; ++k) {
    const long double expected = low + static_cast<long double>(k) * width;
    const bool is_here = i < got.size() && std::abs(got[i] - expected) <= 2 * ulp;
    fuzz::require(is_here || width <= 8 * ulp, "cut " + std::to_string(k) + " of equal width is not there");
    i += is_here ? 1 : 0;
  }
  if (width > 8 * ulp) fuzz::require_same(got.size(), bins - 1, "cuts of equal width");
  for (const double cut : got)
    fuzz::require(cut >= values.begin()->first && cut < values.rbegin()->first, "an empty bin of equal width");
}

void check_equal_frequency(const Table& table, std::size_t bins, const Cuts& got) {
  const Histogram values = histogram(table);
  long double total = 0;
  std::vector<std::pair<long double, double>> edges;  // weight below, cut
  double last = 0;
  for (const auto& [value, classes] : values) {
    if (total > 0) edges.emplace_back(total, between(last, value));
    for (const auto& [target, weight] : classes) total += weight;
    last = value;
  }
  if (edges.empty()) return fuzz::require(got.empty(), "a constant column is cut");
  if (!table.is_whole) return;  // rounding decides which edge is nearest
  Cuts expected;
  for (std::size_t k = 1; k < bins; ++k) {
    const long double target = static_cast<long double>(k) * total / static_cast<long double>(bins);
    const auto* best = &edges.front();
    for (const auto& edge : edges)
      if (std::abs(edge.first - target) < std::abs(best->first - target) - 1e-9L) best = &edge;
    if (expected.empty() || expected.back() < best->second) expected.push_back(best->second);
  }
  fuzz::require(got == expected, "cuts of equal frequency");
}

template <class Out>
void check_applied(const NumberColumn& column, const Cuts& cuts, const std::vector<double>& x, std::size_t most) {
  std::vector<Out> codes(x.size());
  try {
    apply_cuts(column, cuts, std::span<Out>(codes));
  } catch (const InvalidInput&) {
    return fuzz::require(cuts.size() > most, "cuts were rejected");
  }
  fuzz::require(cuts.size() <= most, "more cuts were taken than codes can tell apart");
  for (std::size_t row = 0; row < x.size(); ++row) {
    std::size_t expected = 0;
    for (const double cut : cuts) expected += cut < x[row] ? 1 : 0;
    const Out code = std::isnan(x[row]) ? std::numeric_limits<Out>::max() : static_cast<Out>(expected);
    if (codes[row] != code) fuzz::require_same(codes[row], code, "code of " + std::to_string(x[row]));
  }
}

// -- inputs

double read_value(fuzz::Input& input, std::mt19937_64& random, std::size_t way) {
  const auto bits = random();
  switch (way) {
    case 0:
      return static_cast<double>(bits % 10);
    case 1:
      return static_cast<double>(bits % 1000) / 8;
    case 2:
      return std::ldexp(static_cast<double>(bits % 100) - 50, static_cast<int>(bits >> 32 & 3) * 500 - 1000);
    case 3: {  // neighbors
      double value = 1.0;
      for (std::uint64_t steps = bits % 4; steps > 0; --steps) value = std::nextafter(value, 2.0);
      return value;
    }
    case 4: {
      constexpr std::array<double, 10> kOdd = {
          0.0, -0.0, 5e-324, -5e-324, 1e-310, 1.7976931348623157e308, -1.7976931348623157e308, 8.9e307, 1.0, -1.0};
      return kOdd[bits % kOdd.size()];
    }
    default: {
      double value;
      std::memcpy(&value, &bits, sizeof value);
      return std::isfinite(value) ? value : static_cast<double>(input.number(0, 9));
    }
  }
}

Table read_table(fuzz::Input& input) {
  Table table;
  table.n_classes = static_cast<std::uint32_t>(input.flag() ? input.size(1, 4) : input.size(1, 300));
  // Plain MDL takes time that grows with the square of the values, for every cut.
  const std::size_t n_rows = input.number(0, 15) == 15 ? input.size(500, 700) : input.size(0, 90);
  const std::size_t way = n_rows > 90 ? 0 : input.size(0, 5);
  const std::size_t missing = input.choose<std::size_t>({0, 0, 2, 10});  // of ten
  const std::size_t noise = input.size(0, 10);                           // of ten: class by chance, not by value
  const std::size_t weighting = input.size(0, 3);
  std::mt19937_64 random = input.random();
  for (std::size_t row = 0; row < n_rows; ++row) {
    const double value = random() % 10 < missing ? std::nan("") : read_value(input, random, way);
    table.x.push_back(value);
    const double scaled = std::isnan(value) ? 0.0 : std::fmod(std::abs(value), 16.0) / 4;
    table.classes.push_back(static_cast<std::uint16_t>(
        (random() % 10 < noise ? random() : static_cast<std::uint64_t>(scaled)) % table.n_classes));
    if (weighting == 1 || weighting == 2)
      table.weights.push_back(static_cast<double>(random() % (weighting == 1 ? 3 : 2)));
    if (weighting == 3) table.weights.push_back(static_cast<double>(random() % 1000) / 999);
  }
  table.is_whole = weighting != 3;
  return table;
}

/// The table with as many copies of every row as it weighs.
Table with_copies(const Table& table) {
  Table copies;
  copies.n_classes = table.n_classes;
  for (std::size_t row = 0; row < table.x.size(); ++row)
    for (double left = table.weight(row); left > 0; --left) {
      copies.x.push_back(table.x[row]);
      copies.classes.push_back(table.classes[row]);
    }
  return copies;
}

Cuts mdl_of(const Table& table) {
  return mdl_cuts(std::span<const double>(table.x), Column(table.classes, table.n_classes), table.weights);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  Table table = read_table(input);
  const std::size_t bins = input.flag() ? input.size(1, 6) : input.size(1, 400);

  // The same numbers somewhere in memory: apart, backwards, unaligned.
  const std::size_t step = sizeof(double) + input.size(0, 9);
  const bool backwards = input.flag();
  std::vector<char> memory(step * table.x.size() + 1);
  for (std::size_t row = 0; row < table.x.size(); ++row)
    std::memcpy(memory.data() + 1 + step * (backwards ? table.x.size() - 1 - row : row), &table.x[row], sizeof(double));
  const auto stride = static_cast<std::ptrdiff_t>(step);
  const char* first = memory.data() + 1 + (backwards && !table.x.empty() ? step * (table.x.size() - 1) : 0);
  const NumberColumn column(reinterpret_cast<const double*>(first), backwards ? -stride : stride, table.x.size());

  const Cuts mdl = mdl_cuts(column, Column(table.classes, table.n_classes), table.weights);
  check_mdl(table, mdl);
  const Cuts wide = equal_width_cuts(column, bins, table.weights);
  check_equal_width(table, bins, wide);
  const Cuts frequent = equal_frequency_cuts(column, bins, table.weights);
  check_equal_frequency(table, bins, frequent);
  if (table.is_whole) {
    const Table copies = with_copies(table);
    fuzz::require(mdl_of(copies) == mdl, "copies of rows and weights give other cuts of MDL");
    fuzz::require(equal_frequency_cuts(std::span<const double>(copies.x), bins) == frequent,
                  "copies of rows and weights give other cuts of equal frequency");
  }
  const std::vector<NumberColumn> both = {column, column};
  const auto twice = mdl_cuts(both, Column(table.classes, table.n_classes), table.weights, 2);
  fuzz::require(twice[0] == mdl && twice[1] == mdl, "columns of a table are cut otherwise than alone");

  if (input.flag() && !table.x.empty()) {  // only applying takes infinite numbers
    table.x[0] = input.flag() ? HUGE_VAL : -HUGE_VAL;
    try {
      (void)mdl_of(table);
      fuzz::fail("an infinite number was taken");
    } catch (const InvalidInput&) {
    }
  } else {
    for (const Cuts& cuts : {mdl, wide, frequent})
      check_applied<std::uint8_t>(column, cuts, table.x, kMaxNarrowValues - 1);
  }
  for (const Cuts& cuts : {mdl, wide, frequent})
    check_applied<std::uint16_t>(std::span<const double>(table.x), cuts, table.x, kMaxCuts);
  return 0;
}

// Counting: every method, instruction set and number of threads against a plain loop over the rows; parts, sums,
// differences and recodings of counts against the same loop over the rows they stand for.
#include <string>
#include <utility>
#include <vector>

#include "counts/options.hpp"
#include "fuzz.hpp"
#include "reference.hpp"
#include "tanager/errors.hpp"

const int fuzz::kShortRuns = 4000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;
using namespace tanager::internal;

/// What the plain loop says of a data set.
struct Expected {
  std::vector<double> classes;
  std::vector<std::vector<double>> singles, pairs, families;

  Expected(const Dataset& data, CountScope scope, const std::vector<Family>& wanted) : classes(data.n_classes(), 0.0) {
    for (std::size_t row = 0; row < data.n_rows(); ++row)
      classes[data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
    for (std::size_t v = 0; v < data.n_features(); ++v) singles.push_back(reference::count_table(data, {v, {}}));
    for (std::size_t u = 0; scope == CountScope::kPairs && u < data.n_features(); ++u)
      for (std::size_t v = u + 1; v < data.n_features(); ++v) pairs.push_back(reference::count_table(data, {v, {u}}));
    for (const Family& family : wanted) families.push_back(reference::count_table(data, family));
  }
};

/// Equal to the last bit; where weights were added in another order, equal but for rounding.
void require_table(std::span<const double> got, const std::vector<double>& expected, bool exact,
                   const std::string& what) {
  fuzz::require_same(got.size(), expected.size(), "size of " + what);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    const std::string cell = what + ", entry " + std::to_string(i);
    if (exact || !std::isfinite(expected[i]))
      fuzz::require_same(got[i], expected[i], cell);
    else
      fuzz::require(std::abs(got[i] - expected[i]) <= 1e-12 * std::abs(expected[i]), cell + " is not near");
  }
}

void require_counts(const CountSet& got, const Expected& expected, bool exact, const std::string& what) {
  require_table(got.class_counts(), expected.classes, exact, what + ": class counts");
  for (std::size_t v = 0; v < got.n_features(); ++v)
    require_table(got.single(v), expected.singles[v], exact, what + ": single " + std::to_string(v));
  std::size_t next = 0;
  for (std::size_t u = 0; got.scope() == CountScope::kPairs && u < got.n_features(); ++u)
    for (std::size_t v = u + 1; v < got.n_features(); ++v)
      require_table(got.pair(u, v), expected.pairs[next++], exact,
                    what + ": pair " + std::to_string(u) + ", " + std::to_string(v));
  for (std::size_t i = 0; i < got.families().size(); ++i)
    require_table(got.family(i), expected.families[i], exact, what + ": family " + std::to_string(i));
}

CountOptions read_options(fuzz::Input& input) {
  CountOptions options;
  options.isa = static_cast<Isa>(input.size(0, static_cast<std::size_t>(supported_isa())));
  options.fast_pext = input.flag();
  options.method =
      input.choose({CountMethod::kAuto, CountMethod::kDirect, CountMethod::kHistogram, CountMethod::kBits});
  options.block_rows = input.choose<std::size_t>({0, 0, 64, 640, 4096});
  return options;
}

std::vector<double> read_weights(fuzz::Input& input, std::size_t n_rows) {
  const std::size_t kind = input.size(0, 11);
  if (kind < 6) return {};
  std::mt19937_64 random = input.random();
  std::vector<double> weights;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const double choices[] = {2 * unit,    static_cast<double>(random() % 3), unit * 1e-300, unit * 1e300,
                              unit * 1e16, random() % 2 == 0 ? 0.0 : 5e-324};
    weights.push_back(choices[kind - 6]);
  }
  return weights;
}

/// `most` is about how many cells a table may have, so that an input takes little time.
Dataset read_dataset(fuzz::Input& input, std::size_t most) {
  const std::size_t n_rows = input.choose<int>({0, 0, 0, 1}) == 0 ? input.size(0, 200) : input.edge_size(3000);
  const auto n_classes = static_cast<std::uint32_t>(input.edge_size(std::min<std::size_t>(most, kMaxValues)));
  std::size_t widest = std::max<std::size_t>(1, most / n_classes);
  std::vector<reference::ColumnSpec> features(input.size(0, 7));
  for (reference::ColumnSpec& spec : features) {
    if (!input.flag())
      spec.n_values = static_cast<std::uint32_t>(input.edge_size(std::min<std::size_t>(widest, kMaxValues)));
    else
      spec.n_values = input.choose<std::uint32_t>({1, 1, 1, 1, 2, 2, 3, 0});
    spec.missing = input.choose({0.0, 0.0, 0.01, 0.5, 1.0});
    spec.skew = input.choose({0.0, 0.0, 0.9, 1.0});
    spec.wide = input.flag();
    // Tables of pairs hold the product of two widths.
    widest = std::max<std::size_t>(1, std::min<std::size_t>(widest, most / n_classes / std::max(1U, spec.n_values)));
  }
  const reference::ColumnSpec target{n_classes, 0.0, input.choose({0.0, 0.0, 0.9}), input.flag()};
  const Dataset data = reference::random_dataset(features, target, n_rows, false, input.number(0, UINT32_MAX));
  return Dataset(data.features(), data.target(), read_weights(input, n_rows));
}

std::vector<Family> read_families(fuzz::Input& input, const Dataset& data, std::size_t most) {
  std::vector<Family> families(data.n_features() == 0 ? 0 : input.size(0, 3));
  for (Family& family : families) {
    family.child = input.size(0, data.n_features() - 1);
    std::size_t cells = std::size_t{data.n_classes()} * data.feature(family.child).n_values();
    for (std::size_t parent = data.n_features(); parent-- > 0;) {
      if (parent == family.child || !input.flag()) continue;
      cells *= data.feature(parent).n_values();
      if (cells > most) break;
      family.parents.push_back(parent);
    }
  }
  return families;
}

/// Parts that are added one after the other, and what taking one of them away leaves.
void check_parts(fuzz::Input& input, const Dataset& data, CountScope scope, const std::vector<Family>& families,
                 const Expected& expected, int threads) {
  std::vector<std::size_t> first, second;
  if (input.flag()) {
    const std::size_t middle = input.size(0, data.n_rows());
    for (std::size_t row = 0; row < data.n_rows(); ++row) (row < middle ? first : second).push_back(row);
  } else {
    std::mt19937_64 random = input.random();
    for (std::size_t row = 0; row < data.n_rows(); ++row) (random() % 3 == 0 ? first : second).push_back(row);
  }
  const Dataset parts[] = {data.subset(first), data.subset(second)};
  const bool in_order = first.empty() || second.empty() || first.back() < second.front();
  CountSet sum(data.cardinalities(), data.n_classes(), scope, families);
  for (const Dataset& part : parts) count_into(part, sum, threads);
  require_counts(sum, expected, in_order || !data.is_weighted(), "parts added");

  CountSet total = count(parts[0], scope, families, threads);
  const Expected of_first(parts[0], scope, families);
  require_counts(total, of_first, true, "first part");
  const CountSet rest = count(parts[1], scope, families, threads);
  total += rest;
  require_counts(total, expected, !data.is_weighted(), "sum of counts");
  if (data.is_weighted()) return;
  total -= rest;
  require_counts(total, of_first, true, "difference of counts");
}

/// The same column with other codes.
Column recoded(const Column& column, const Recoding& recoding, std::uint32_t n_values) {
  std::vector<std::uint16_t> codes(column.size());
  for (std::size_t row = 0; row < codes.size(); ++row)
    codes[row] = column[row] == kMissing ? kMissing : recoding[column[row]];
  return Column(std::move(codes), n_values);
}

Recoding read_recoding(std::mt19937_64& random, std::uint32_t n_old, std::uint32_t n_new, bool grows, bool drops) {
  Recoding recoding;
  for (std::uint32_t k = 0; grows && k < n_new; ++k) recoding.push_back(static_cast<Code>(k));
  if (grows) {
    std::shuffle(recoding.begin(), recoding.end(), random);
    recoding.resize(n_old);
    return recoding;
  }
  for (std::uint32_t k = 0; k < n_old; ++k)
    recoding.push_back(drops && random() % 4 == 0 ? kMissing : static_cast<Code>(random() % std::max(1U, n_new)));
  return recoding;
}

/// Lists of values that grow, and values that are joined or dropped.
void check_recoding(fuzz::Input& input, const Dataset& data, CountScope scope, const std::vector<Family>& families) {
  const bool grows = input.flag();
  std::mt19937_64 random = input.random();
  std::vector<Recoding> recodings;
  std::vector<std::uint32_t> widths;
  std::size_t factor = 4;  // by which tables may grow in all
  const auto read = [&](std::uint32_t n_old) {
    const std::size_t most =
        std::min<std::size_t>(kMaxValues, grows ? std::min<std::size_t>(n_old + 3, n_old * factor) : n_old);
    widths.push_back(static_cast<std::uint32_t>(input.size(grows ? n_old : std::min<std::size_t>(1, most), most)));
    factor = std::max<std::size_t>(1, factor * n_old / std::max(1U, widths.back()));
    recodings.push_back(read_recoding(random, n_old, widths.back(), grows, input.flag()));
  };
  for (const std::uint32_t n_values : data.cardinalities()) read(n_values);
  read(data.n_classes());
  const Recoding classes = recodings.back();
  const std::uint32_t n_classes = widths.back();
  recodings.pop_back();
  widths.pop_back();

  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < data.n_rows(); ++row)
    if (classes[data.target()[row]] != kMissing) kept.push_back(row);
  const Dataset rest = data.subset(kept);
  std::vector<Column> columns;
  for (std::size_t f = 0; f < data.n_features(); ++f)
    columns.push_back(recoded(rest.feature(f), recodings[f], widths[f]));
  const Dataset moved(std::move(columns), recoded(rest.target(), classes, n_classes),
                      {rest.weights().begin(), rest.weights().end()});
  const CountSet before = count(data, scope, families);
  const CountSet after = grows ? before.recoded(widths, n_classes, recodings, classes)
                               : before.merged(widths, n_classes, recodings, classes);
  require_counts(after, Expected(moved, scope, families), grows || !data.is_weighted(), "recoded");
}

/// Tables asked for one at a time.
void check_tables(const Dataset& data, const CountSet& counts, const std::vector<Family>& families,
                  const Expected& expected, int threads) {
  const CountSet of_families = count_families(data, counts, families, threads);
  Expected singles = expected;
  singles.pairs.clear();
  require_counts(of_families, singles, true, "count_families");
  for (std::size_t i = 0; i < families.size(); ++i) {
    require_table(count_family(data, families[i]).cells, expected.families[i], true, "count_family");
    fuzz::require(counts.can_answer(families[i]), "a set answers for its families");
    require_table(counts.table(families[i]).cells, expected.families[i], true, "table of a family");
  }
  if (counts.scope() != CountScope::kPairs || data.n_features() < 2) return;
  const Family turned{0, {data.n_features() - 1}};
  require_table(counts.table(turned).cells, reference::count_table(data, turned), true, "table of a pair turned round");
}

/// One value or class more than codes can tell apart is rejected.
void check_limits(fuzz::Input& input) {
  const auto n_values = static_cast<std::uint32_t>(input.size(kMaxValues - 3, 70'000));
  std::vector<std::uint16_t> codes(input.size(0, 3), static_cast<std::uint16_t>(kMaxValues - 5));
  try {
    const Column column(std::move(codes), n_values);
    fuzz::require(n_values <= kMaxValues, "a column of too many values is accepted");
    const CountSet counts = count(Dataset({}, column), CountScope::kSingles);
    fuzz::require_same(counts.class_counts()[kMaxValues - 5], static_cast<double>(column.size()), "widest class");
  } catch (const InvalidInput&) {
    fuzz::require(n_values > kMaxValues, "a column of few enough values is rejected");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const std::size_t extra = input.size(0, 7);
  const std::size_t most = input.choose<std::size_t>({1000, 1000, 1000, 1000, 1000, 10'000, 10'000, 70'000});
  const Dataset data = read_dataset(input, most);
  const CountScope scope = input.flag() ? CountScope::kSingles : CountScope::kPairs;
  const std::vector<Family> families = read_families(input, data, most);
  const CountOptions options = read_options(input);
  const int threads = static_cast<int>(input.choose<int>({1, 1, 1, 2, 3}));
  const CountSet counts = count_with(data, scope, families, threads, options);
  const Expected expected(data, scope, families);
  require_counts(counts, expected, true, "count");

  if (extra == 1) check_parts(input, data, scope, families, expected, threads);
  if (extra == 2) check_recoding(input, data, scope, families);
  if (extra == 3) check_tables(data, counts, families, expected, threads);
  if (extra == 4) check_limits(input);
  return 0;
}

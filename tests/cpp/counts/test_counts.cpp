// Counting: every method, instruction set and number of threads against the plain loop; arithmetic of count sets;
// errors.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "counts/bit_sets.hpp"
#include "counts/byte_compare.hpp"
#include "counts/common_ones.hpp"
#include "counts/match.hpp"
#include "counts/options.hpp"
#include "counts/plan.hpp"
#include "reference.hpp"
#include "support/parallel.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

using namespace tanager;
using namespace tanager::internal;
using reference::ColumnSpec;
using reference::random_dataset;

namespace {

bool equal(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b);
}

std::vector<Isa> levels() {
  std::vector<Isa> all{Isa::kBaseline};
  if (supported_isa() >= Isa::kAvx2) all.push_back(Isa::kAvx2);
  if (supported_isa() >= Isa::kAvx512) all.push_back(Isa::kAvx512);
  return all;
}

/// Every way to count: method, instruction set, pext or not, short blocks or not.
std::vector<CountOptions> all_options() {
  std::vector<CountOptions> all{{Isa::kBaseline, false, CountMethod::kDirect, 0},
                                {Isa::kBaseline, false, CountMethod::kHistogram, 0}};
  for (const Isa isa : levels())
    for (const CountMethod method : {CountMethod::kAuto, CountMethod::kBits})
      for (const bool pext : {false, true})
        for (const std::size_t block_rows : {std::size_t{0}, std::size_t{640}})
          all.push_back({isa, pext, method, block_rows});
  return all;
}

void check_against_reference(const Dataset& data, const CountSet& counts) {
  std::vector<double> classes(data.n_classes(), 0.0);
  for (std::size_t row = 0; row < data.n_rows(); ++row)
    classes[data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
  CHECK(equal(counts.class_counts(), classes));
  for (std::size_t v = 0; v < data.n_features(); ++v) {
    CHECK(equal(counts.single(v), reference::count_table(data, {v, {}})));
    if (counts.scope() == CountScope::kPairs)
      for (std::size_t u = 0; u < v; ++u) CHECK(equal(counts.pair(u, v), reference::count_table(data, {v, {u}})));
  }
  for (std::size_t i = 0; i < counts.families().size(); ++i)
    CHECK(equal(counts.family(i), reference::count_table(data, counts.families()[i])));
}

bool same(const CountSet& a, const CountSet& b) {
  bool equal_so_far = equal(a.class_counts(), b.class_counts());
  for (std::size_t v = 0; v < a.n_features(); ++v) {
    equal_so_far &= equal(a.single(v), b.single(v));
    if (a.scope() == CountScope::kPairs)
      for (std::size_t u = 0; u < v; ++u) equal_so_far &= equal(a.pair(u, v), b.pair(u, v));
  }
  for (std::size_t i = 0; i < a.families().size(); ++i) equal_so_far &= equal(a.family(i), b.family(i));
  return equal_so_far;
}

/// Counts in every way; one of them is compared with the plain loop, the others with that one.
void check_all_ways(const Dataset& data, CountScope scope, const std::vector<Family>& families) {
  const CountSet first = count_with(data, scope, families, 1, all_options().front());
  check_against_reference(data, first);
  for (const CountOptions& options : all_options())
    for (const int threads : {1, 3}) {
      const bool ok = same(first, count_with(data, scope, families, threads, options));
      if (!ok)
        std::printf("method %d, isa %d, pext %d, block %zu, threads %d, %zu rows\n", static_cast<int>(options.method),
                    static_cast<int>(options.isa), options.fast_pext, options.block_rows, threads, data.n_rows());
      CHECK(ok);
    }
}

const std::vector<ColumnSpec> kMixed{{2, 0, 0, false},   {4, 0, 0, false},   {4, 0.1, 0, false},    {1, 0, 0, false},
                                     {1, 0.3, 0, false}, {3, 1.0, 0, false}, {7, 0.05, 0.9, false}, {20, 0, 0.9, false},
                                     {5, 0, 0, true},    {5, 0.2, 0, true},  {0, 1.0, 0, false}};
const std::vector<Family> kFamilies{{0, {1, 2}}, {2, {1}}, {6, {7, 8, 0}}, {3, {}}, {9, {8, 2, 1, 0}}};

}  // namespace

TEST(every_way_counts_the_same_for_few_and_many_rows) {
  const std::vector<std::size_t> ends_of_words{0, 1, 63, 64, 65, 511, 513, 1500};
  for (const std::uint32_t n_classes : {1U, 3U, 26U})
    for (const std::size_t n_rows : n_classes == 3 ? ends_of_words : std::vector<std::size_t>{1, 65, 1500}) {
      const Dataset data = random_dataset(kMixed, {n_classes, 0, 0.3, false}, n_rows, false, n_rows + n_classes);
      check_all_ways(data, CountScope::kPairs, kFamilies);
    }
}

TEST(every_way_counts_forty_thousand_rows) {
  const Dataset data = random_dataset(kMixed, {3, 0, 0.5, false}, 40000, false, 5);
  check_all_ways(data, CountScope::kPairs, kFamilies);
}

TEST(features_with_many_values) {
  const std::vector<ColumnSpec> features{{254, 0, 0, false},   {254, 0.1, 0, false}, {255, 0, 0, false},
                                         {300, 0.1, 0, false}, {2, 0, 0, false},     {130, 0, 0.9, true}};
  for (const std::size_t n_rows : {100, 3000}) {
    const Dataset data = random_dataset(features, {2, 0, 0, false}, n_rows, false, n_rows);
    check_all_ways(data, CountScope::kPairs, {{2, {4, 3}}, {4, {0}}});
  }
}

TEST(many_values_of_the_class) {
  const std::vector<ColumnSpec> features{{3, 0, 0, false}, {4, 0.1, 0, false}, {300, 0.1, 0, false}};
  for (const std::uint32_t n_classes : {100U, 254U, 300U}) {
    const Dataset data = random_dataset(features, {n_classes, 0, 0, false}, 2000, false, n_classes);
    check_all_ways(data, CountScope::kPairs, {{2, {0}}});
  }
}

TEST(columns_of_one_value_and_many_classes) {
  // A complete column of one value needs no bit rows at all, so it must not decide how the others are built.
  const std::vector<ColumnSpec> alone{{1, 0, 0, false}};
  const std::vector<ColumnSpec> missing{{1, 0.2, 0, false}, {3, 0, 0, false}};
  const std::vector<ColumnSpec> mixed{{3, 0, 0, false}, {1, 0, 0, false},   {3, 0.1, 0, false}, {1, 0.3, 0, false},
                                      {1, 0, 0, true},  {300, 0, 0, false}, {2, 0, 0, true}};
  for (const std::uint32_t n_classes : {16U, 17U, 254U, 255U, 256U, 257U, 1000U})
    for (const auto& features : {alone, missing, mixed}) {
      const Dataset data = random_dataset(features, {n_classes, 0, 0, false}, 3000, false, n_classes);
      check_all_ways(data, CountScope::kPairs, {{0, {}}});
    }
}

TEST(eight_bits_are_never_asked_to_hold_more_than_254_classes) {
  CHECK_THROWS(std::logic_error, ClassOrder(255, 1, false, true), "255 classes");
  CHECK_THROWS(std::logic_error, ClassOrder(65534, 1, true, true), "65534 classes");
  const ClassOrder order(255, 1, true, false);  // no masks, any number of classes
  CHECK_EQ(order.n_classes(), 255U);
  std::vector<std::uint8_t> buffer;
  CHECK_THROWS(std::logic_error, narrow_codes(Column(std::vector<std::uint16_t>{1, 254}, 255), 0, 2, buffer),
               "255 values");
  CHECK(!builds_by_pext(0, 3, Isa::kAvx2, true));  // nothing to build
  CHECK(builds_by_pext(1, 16, Isa::kAvx2, true));
  CHECK(!builds_by_pext(1, 17, Isa::kAvx2, true));
}

TEST(sixteen_bit_class_of_few_values) {
  const Dataset data = random_dataset(kMixed, {3, 0, 0, true}, 1000, false, 9);
  check_all_ways(data, CountScope::kPairs, kFamilies);
}

TEST(classes_that_do_not_occur) {
  std::mt19937_64 random(3);
  std::vector<Column> columns;
  for (const ColumnSpec& spec : kMixed) columns.push_back(reference::random_column(spec, 700, random));
  std::vector<std::uint8_t> classes(700);
  for (std::size_t row = 0; row < classes.size(); ++row) classes[row] = row % 3 == 0 ? 4 : 1;
  const Dataset data(columns, Column(classes, 6));
  check_all_ways(data, CountScope::kPairs, kFamilies);
}

TEST(weighted_rows_add_in_their_order) {
  for (const std::size_t n_rows : {1, 65, 5000}) {
    const Dataset data = random_dataset(kMixed, {3, 0, 0, false}, n_rows, true, n_rows);
    check_all_ways(data, CountScope::kPairs, kFamilies);
    check_all_ways(data, CountScope::kSingles, kFamilies);
  }
}

TEST(parts_in_a_row_add_up_to_the_whole_to_the_last_bit) {
  for (const bool weighted : {false, true}) {
    const Dataset data =
        random_dataset({{3, 0.1}, {7, 0}, {300, 0.2}, {2, 0}, {5, 0}, {4, 0.3}}, {3, 0, 0, false}, 3000, weighted, 5);
    for (const CountScope scope : {CountScope::kSingles, CountScope::kPairs}) {
      const CountSet whole = count(data, scope, {{0, {1, 5}}});
      CountSet parts(data.cardinalities(), data.n_classes(), scope, {{0, {1, 5}}});
      for (std::size_t begin = 0, size = 1; begin < data.n_rows(); begin += size, size = 3 * size + 1) {
        std::vector<std::size_t> rows(std::min(size, data.n_rows() - begin));
        std::iota(rows.begin(), rows.end(), begin);
        count_into(data.subset(rows), parts, 1 + static_cast<int>(size % 2));
      }
      check_against_reference(data, parts);
      CHECK(equal(parts.family(0), whole.family(0)));
    }
  }
  CountSet other({2, 2}, 2, CountScope::kPairs);
  for (const bool weighted : {false, true})
    CHECK_THROWS(InvalidInput, count_into(random_dataset({{2, 0}, {3, 0}}, {2, 0, 0, false}, 10, weighted, 1), other),
                 "same variables");
}

TEST(singles_alone) {
  const std::vector<std::size_t> ends_of_blocks{1, 31, 32, 33, 8159, 8160, 8161, 20000};
  for (const std::uint32_t n_classes : {1U, 2U, 11U})
    for (const std::size_t n_rows : n_classes == 2 ? ends_of_blocks : std::vector<std::size_t>{1, 33, 8161}) {
      const Dataset data = random_dataset(kMixed, {n_classes, 0, 0, false}, n_rows, false, n_rows + n_classes);
      check_all_ways(data, CountScope::kSingles, {});
    }
}

TEST(no_features_at_all) {
  const Dataset data = random_dataset({}, {3, 0, 0, false}, 100, false, 1);
  check_all_ways(data, CountScope::kPairs, {});
}

TEST(public_road_gives_the_same_for_any_number_of_threads) {
  std::vector<ColumnSpec> features(40, {4, 0, 0, false});
  for (std::size_t f = 0; f < features.size(); f += 7) features[f] = {12, 0.1, 0.5, false};
  const Dataset data = random_dataset(features, {3, 0, 0, false}, 20000, false, 77);
  const CountSet one = count(data, CountScope::kPairs, {{0, {1, 2}}}, 1);
  check_against_reference(data, one);
  CHECK(same(one, count(data, CountScope::kPairs, {{0, {1, 2}}}, 2)));
  CHECK(same(one, count(data, CountScope::kPairs, {{0, {1, 2}}}, 7)));
  CHECK(same(one, count(data, CountScope::kPairs, {{0, {1, 2}}}, 0)));
}

TEST(plan_uses_bit_sets_for_few_values_and_none_for_weights) {
  const CountOptions avx2{Isa::kAvx2, true, CountMethod::kAuto, 0};
  std::vector<ColumnSpec> features(10, {4, 0, 0, false});
  features.push_back({200, 0, 0, false});
  const Dataset data = random_dataset(features, {3, 0, 0, false}, 20000, false, 1);
  const BitPlan plan = plan_bits(data, CountScope::kPairs, avx2);
  CHECK_EQ(plan.features.size(), std::size_t{10});
  CHECK(plan.counts_pair(data, 0, 9));
  CHECK(!plan.counts_pair(data, 0, 10));
  CHECK(plan_bits(data, CountScope::kSingles, avx2).features.empty());
  const Dataset weighted = random_dataset(features, {3, 0, 0, false}, 20000, true, 1);
  CHECK(plan_bits(weighted, CountScope::kPairs, avx2).features.empty());
  CHECK(single_method(data, 0, avx2) == TableMethod::kCompare);
  CHECK(single_method(data, 10, avx2) == TableMethod::kHistogram);
  CHECK(pair_method(data, 0, 10, avx2) == TableMethod::kHistogram);
}

TEST(bit_rows_are_written_completely_and_in_class_order) {
  std::mt19937_64 random(11);
  for (const std::size_t n_rows : {1, 64, 100, 513, 5000})
    for (const ColumnSpec& spec : kMixed) {
      const Column column = reference::random_column(spec, n_rows + 7, random);
      const Column target = reference::random_column({3, 0, 0.4, false}, n_rows + 7, random);
      for (const Isa isa : levels())
        for (const bool by_pext : {false, true}) {
          if (by_pext && isa < Isa::kAvx2) continue;
          ClassOrder order(3, gram_granule(isa), true, true);
          order.assign(target, 7, n_rows, isa);
          const std::size_t stride = order.n_words();
          std::vector<std::uint64_t> rows(bit_rows_of(column) * stride + 1, 0xDEADBEEFDEADBEEF);  // poisoned
          BuildScratch scratch;
          build_bit_rows(column, order, by_pext, rows.data(), stride, scratch, isa);
          CHECK_EQ(rows.back(), 0xDEADBEEFDEADBEEF);
          for (std::size_t v = 0; v < bit_rows_of(column); ++v) {
            std::vector<std::uint64_t> expected(stride, 0);
            std::vector<std::size_t> next{order.word_begin(0) * 64, order.word_begin(1) * 64, order.word_begin(2) * 64};
            for (std::size_t r = 7; r < n_rows + 7; ++r) {
              const std::size_t at = next[target[r]]++;
              if (column[r] == v) expected[at / 64] |= std::uint64_t{1} << at % 64;
            }
            CHECK(std::equal(expected.begin(), expected.end(), rows.begin() + static_cast<std::ptrdiff_t>(v * stride)));
          }
        }
    }
}

TEST(common_ones_of_any_length) {
  std::mt19937_64 random(4);
  for (const Isa isa : levels())
    for (std::size_t words = 0; words <= kMaxGramBits / 64; words += words < 80 ? 8 : 88) {
      const std::size_t stride = words + 8;
      const WordBuffer a(3 * stride);
      const WordBuffer b(6 * stride);
      for (std::size_t w = 0; w < 3 * stride; ++w) a.data()[w] = random();
      for (std::size_t w = 0; w < 6 * stride; ++w) b.data()[w] = w < 2 * stride ? ~std::uint64_t{0} : random();
      std::fill_n(a.data(), stride, ~std::uint64_t{0});  // all ones: where narrow counters would overflow
      std::vector<std::uint32_t> counts(19, 12345);
      common_ones_kernel(isa)(a.data(), 3, b.data(), 6, stride, words, counts.data());
      CHECK_EQ(counts[18], 12345U);
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 6; ++j) {
          std::uint32_t expected = 0;
          for (std::size_t w = 0; w < words; ++w)
            for (std::uint64_t x = a.data()[i * stride + w] & b.data()[j * stride + w]; x != 0; x &= x - 1) ++expected;
          CHECK_EQ(counts[i * 6 + j], expected);
        }
    }
}

TEST(phases_follow_each_other_and_exceptions_come_back) {
  for (const int threads : {1, 2, 7}) {
    std::atomic<std::size_t> done{0};
    std::atomic<bool> early{false};
    std::vector<Phase> phases;
    for (std::size_t p = 0; p < 20; ++p)
      phases.push_back({p % 4 * 5, [&, p](std::size_t, std::size_t worker) {
                          // Of every four phases, those before hold 0, 5, 10 and 15 items.
                          const std::size_t before = p / 4 * 30 + std::vector<std::size_t>{0, 0, 5, 15}[p % 4];
                          if (done++ < before || worker >= static_cast<std::size_t>(threads)) early = true;
                        }});
    run_phases(phases, threads);
    CHECK_EQ(done.load(), std::size_t{150});
    CHECK(!early);
    done = 0;
    phases[5].body = [](std::size_t item, std::size_t) {
      if (item == 2) throw InvalidInput("the third item is wrong");
    };
    CHECK_THROWS(InvalidInput, run_phases(phases, threads), "the third item is wrong");
    CHECK_EQ(done.load(), std::size_t{30});
  }
}

TEST(hand_counted_table) {
  const Dataset data({Column(std::vector<std::uint8_t>{0, 1, 1, kMissing8, 0}, 2),
                      Column(std::vector<std::uint16_t>{2, 0, kMissing, 1, 2}, 3)},
                     Column(std::vector<std::uint8_t>{0, 1, 1, 0, 0}, 2));
  const CountSet counts = count(data, CountScope::kPairs);
  CHECK_EQ(counts.n_rows(), 5.0);
  CHECK(equal(counts.class_counts(), std::vector<double>{3, 2}));
  CHECK(equal(counts.single(0), std::vector<double>{2, 0, 0, 2}));
  CHECK(equal(counts.single(1), std::vector<double>{0, 1, 1, 0, 2, 0}));
  CHECK(equal(counts.pair(0, 1), std::vector<double>{0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0}));
  const CountTable turned = counts.table({0, {1}});
  CHECK(equal(turned.cells, std::vector<double>{0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0}));
  CHECK((turned.dims == std::vector<std::uint32_t>{3, 2}));
}

TEST(tables_of_any_family_the_set_can_answer) {
  const Dataset data = random_dataset(kMixed, {3, 0, 0, false}, 500, false, 21);
  const CountSet counts = count(data, CountScope::kPairs, kFamilies);
  std::vector<double> cells;  // in the order that CountSet::cells promises
  const auto add = [&](std::span<const double> table) { cells.insert(cells.end(), table.begin(), table.end()); };
  for (std::size_t f = 0; f < counts.n_features(); ++f) add(counts.single(f));
  for (std::size_t u = 0; u < counts.n_features(); ++u)
    for (std::size_t v = u + 1; v < counts.n_features(); ++v) add(counts.pair(u, v));
  for (std::size_t i = 0; i < counts.families().size(); ++i) add(counts.family(i));
  CHECK(std::equal(cells.begin(), cells.end(), counts.cells().begin(), counts.cells().end()));
  std::vector<Family> asked = kFamilies;
  asked.insert(asked.end(), {{1, {6}}, {6, {1}}, {5, {}}});
  for (const Family& family : asked) {
    CHECK(counts.can_answer(family));
    const CountTable table = counts.table(family);
    const CountTable alone = count_family(data, family);
    CHECK(equal(table.cells, reference::count_table(data, family)));
    CHECK(equal(table.cells, alone.cells));
    CHECK(table.dims == alone.dims);
    CHECK_EQ(table.n_classes, 3U);
    CHECK(table.family == family);
  }
  CHECK(!counts.can_answer({0, {2, 1}}));
  CHECK(!counts.can_answer({0, {0}}));
  CHECK(!counts.can_answer({99, {}}));
  CHECK(!counts.can_answer({0, {99}}));
  CHECK(!count(data, CountScope::kSingles).can_answer({0, {1}}));
  CHECK_THROWS(InvalidInput, counts.table({0, {2, 1}}), "feature 0 with parents 2, 1 was not counted");
  CHECK_THROWS(InvalidInput, counts.table({99, {}}), "names feature 99, but there are 11 features");
  CHECK_THROWS(InvalidInput, count(data, CountScope::kSingles).pair(0, 1), "only single features were counted");
  CHECK_THROWS(InvalidInput, counts.pair(1, 1), "expected two features u < v below 11, got 1 and 1");
  CHECK_THROWS(InvalidInput, counts.single(11), "expected a feature below 11, got 11");
  CHECK_THROWS(InvalidInput, counts.family(5), "expected a family below 5, got 5");
}

TEST(other_families_are_counted_beside_the_singles_that_are_there) {
  for (const bool weighted : {false, true})
    for (const std::size_t rows : {std::size_t{1}, std::size_t{60}, std::size_t{5000}}) {
      const Dataset data = random_dataset(kMixed, {3, 0, 0, false}, rows, weighted, 23);
      for (const CountScope scope : {CountScope::kSingles, CountScope::kPairs}) {
        const CountSet found = count_families(data, count(data, scope), kFamilies, 2);
        CHECK(found.scope() == CountScope::kSingles);
        CHECK(found.families() == kFamilies);
        check_against_reference(data, found);
      }
    }
  const Dataset data = random_dataset(kMixed, {3, 0, 0, false}, 50, false, 24);
  const CountSet others = count(random_dataset(kMixed, {2, 0, 0, false}, 50, false, 24), CountScope::kSingles);
  CHECK_THROWS(InvalidInput, count_families(data, others, kFamilies), "over the same variables only");
}

TEST(sets_add_and_subtract) {
  const Dataset data = random_dataset(kMixed, {3, 0, 0, false}, 900, false, 8);
  std::vector<std::size_t> rows(900);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::span<const std::size_t> all(rows);
  const CountSet whole = count(data, CountScope::kPairs, kFamilies);
  const CountSet left = count(data.subset(all.first(250)), CountScope::kPairs, kFamilies);
  const CountSet right = count(data.subset(all.subspan(250)), CountScope::kPairs, kFamilies);
  CountSet sum = left;
  sum += right;
  CHECK(same(sum, whole));
  CountSet difference = whole;
  difference -= left;
  CHECK(same(difference, right));
  CHECK_EQ(sum.n_rows(), 900.0);

  CHECK_THROWS(InvalidInput, sum += count(data, CountScope::kSingles, kFamilies), "counts pairs");
  CHECK_THROWS(InvalidInput, sum += count(data, CountScope::kPairs), "families differ");
  CountSet two({2, 3}, 2, CountScope::kSingles);
  CHECK_THROWS(InvalidInput, two += CountSet({2, 4}, 2, CountScope::kSingles), "feature 1 has 3 values in one, 4 in");
  CHECK_THROWS(InvalidInput, two -= CountSet({2, 3}, 3, CountScope::kSingles), "2 classes, the other 3");
  CHECK_THROWS(InvalidInput, two += CountSet({2}, 2, CountScope::kSingles), "2 features, the other 1");
}

TEST(recoding_moves_every_cell) {
  const Dataset data =
      random_dataset({{3, 0.1, 0, false}, {2, 0, 0, false}, {4, 0, 0, false}}, {2, 0, 0, false}, 300, false, 6);
  const std::vector<Recoding> features{{2, 0, 4}, {0, 1}, {3, 2, 5, 0}};
  const Recoding classes{2, 0};
  const std::vector<Family> families{{2, {0, 1}}};
  // The oracle: recode the data, then count.
  std::vector<Column> columns;
  const std::vector<std::uint32_t> grown{5, 2, 6};
  for (std::size_t f = 0; f < 3; ++f) {
    std::vector<std::uint16_t> codes;
    for (std::size_t r = 0; r < 300; ++r)
      codes.push_back(data.feature(f)[r] == kMissing ? kMissing : features[f][data.feature(f)[r]]);
    columns.emplace_back(codes, grown[f]);
  }
  std::vector<std::uint8_t> target;
  for (std::size_t r = 0; r < 300; ++r) target.push_back(static_cast<std::uint8_t>(classes[data.target()[r]]));
  const CountSet expected = count(Dataset(columns, Column(target, 3)), CountScope::kPairs, families);
  const CountSet counts = count(data, CountScope::kPairs, families);
  CHECK(same(counts.recoded(grown, 3, features, classes), expected));

  CHECK_THROWS(InvalidInput, counts.recoded({5, 2}, 3, features, classes), "expected 3 cardinalities and recodings");
  CHECK_THROWS(InvalidInput, counts.recoded({3, 2, 6}, 3, features, classes), "feature 0 leads to code 4, but only 3");
  CHECK_THROWS(InvalidInput, counts.recoded(grown, 3, features, {1, 1}), "the class leads to code 1 twice");
  CHECK_THROWS(InvalidInput, counts.recoded(grown, 3, {{0}, {0, 1}, {3, 2, 5, 0}}, classes), "has 1 entries, but 3");
}

TEST(too_large_tables_are_rejected_by_name_and_size) {
  const std::vector<std::uint32_t> many{60000, 50000, 7, 65534};
  CHECK_THROWS(InvalidInput, CountSet(many, 2, CountScope::kPairs),
               "feature 1 with parents 0 and the class would have 6000000000 cells, but at most 268435456 are allowed");
  CHECK_THROWS(InvalidInput, CountSet(many, 2, CountScope::kSingles, {{2, {0, 1}}}), "feature 2 with parents 0, 1");
  CHECK_THROWS(InvalidInput, checked_table_size({0, {1, 2, 3}}, many, 4000000), "cells, but at most");
  const std::vector<std::uint32_t> huge(8, 65534);
  CHECK_THROWS(InvalidInput, checked_table_size({0, {1, 2, 3, 4, 5, 6, 7}}, huge, 2), "more than 18446744073709551614");
  const std::vector<std::uint32_t> empty{65534, 65534, 65534, 65534, 65534, 0};
  CHECK_EQ(checked_table_size({0, {1, 2, 3, 4, 5}}, empty, 2), std::uint64_t{0});
  CHECK_EQ(checked_table_size({2, {}}, many, 3), std::uint64_t{21});
  CHECK_THROWS(InvalidInput, CountSet(std::vector<std::uint32_t>(600, 80), 1, CountScope::kPairs),
               "600 features and their pairs would have 1150128000 cells, but at most 1073741824");
  CHECK_THROWS(InvalidInput, CountSet({2, 2}, 2, CountScope::kSingles, {{0, {1, 1}}}), "got feature 1 twice");
  CHECK_THROWS(InvalidInput, CountSet({2, 2}, 2, CountScope::kSingles, {{0, {0}}}), "got feature 0 twice");
  CHECK_THROWS(InvalidInput, CountSet({2, 2}, 2, CountScope::kSingles, {{2, {0}}}), "feature 2, but there are 2");
}

TEST_MAIN

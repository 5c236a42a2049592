#include "tanager/discretize.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "data/discretize_sort.hpp"
#include "tanager/errors.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

using Numbers = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

std::span<const double> view(const Numbers& x) {
  return x;
}

Numbers mdl(const Numbers& x, const std::vector<std::uint8_t>& y, std::uint32_t n_classes, const Numbers& w = {}) {
  return mdl_cuts(view(x), Column(y, n_classes), w);
}

bool same(const Numbers& a, const Numbers& b) {
  if (a == b) return true;
  std::printf("got");
  for (const double v : a) std::printf(" %.17g", v);
  std::printf(", expected");
  for (const double v : b) std::printf(" %.17g", v);
  std::printf("\n");
  return false;
}

// ------------------------------------------------------------------ the slow, obviously right partition
// Every distinct value maps to its weight by class; every cut is tried and every entropy computed from scratch.
using Histogram = std::map<double, std::vector<long double>>;

struct Part {
  long double total = 0, entropy = 0, n_classes = 0;
};

template <class Iterator>
Part describe(Iterator begin, Iterator end, std::size_t n_classes) {
  std::vector<long double> counts(n_classes, 0);
  Part part;
  for (; begin != end; ++begin)
    for (std::size_t c = 0; c < n_classes; ++c) counts[c] += begin->second[c];
  for (const long double count : counts) part.total += count;
  for (const long double count : counts)
    if (count > 0) {
      part.n_classes += 1;
      part.entropy -= count / part.total * std::log2(count / part.total);
    }
  return part;
}

template <class Iterator>
void partition(Iterator begin, Iterator end, std::size_t n_classes, Numbers& cuts) {
  if (begin == end) return;
  const Part whole = describe(begin, end, n_classes);
  Iterator best = end;
  long double least = 0;
  for (Iterator at = std::next(begin); at != end; ++at) {
    const Part left = describe(begin, at, n_classes), right = describe(at, end, n_classes);
    const long double conditional = (left.total * left.entropy + right.total * right.entropy) / whole.total;
    if (best == end || conditional < least - 1e-14L) {
      best = at;
      least = conditional;
    }
  }
  if (best == end) return;
  const Part left = describe(begin, best, n_classes), right = describe(best, end, n_classes);
  const long double delta =
      std::log2(std::pow(3.0L, whole.n_classes) - 2) -
      (whole.n_classes * whole.entropy - left.n_classes * left.entropy - right.n_classes * right.entropy);
  if (whole.entropy - least <= (std::log2(std::max(whole.total - 1, 1.0L)) + delta) / whole.total) return;
  partition(begin, best, n_classes, cuts);
  cuts.push_back((std::prev(best)->first + best->first) / 2);
  partition(best, end, n_classes, cuts);
}

Numbers reference_mdl(const Numbers& x, const std::vector<std::uint8_t>& y, std::size_t n_classes, const Numbers& w) {
  Histogram values;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) || (!w.empty() && w[i] == 0)) continue;
    auto& counts = values[x[i]];
    counts.resize(n_classes, 0);
    counts[y[i]] += w.empty() ? 1 : w[i];
  }
  Numbers cuts;
  partition(values.begin(), values.end(), n_classes, cuts);
  return cuts;
}

/// Random data whose classes depend on the number, so cut points exist, with ties and missing values.
struct Problem {
  Numbers x, w;
  std::vector<std::uint8_t> y;
  std::uint32_t n_classes;
};

Problem random_problem(std::mt19937_64& random) {
  Problem p;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t n = below(120);
  const std::size_t levels = 1 + below(60);
  const std::size_t noise = 1 + below(6);
  p.n_classes = static_cast<std::uint32_t>(1 + below(6));
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t level = below(levels);
    p.x.push_back(below(12) == 0 ? kNan : static_cast<double>(level) / 4 - 3);
    const std::size_t guess = level * p.n_classes / levels;
    p.y.push_back(static_cast<std::uint8_t>(below(6) < noise ? below(p.n_classes) : guess));
    p.w.push_back(static_cast<double>(below(5)));
  }
  return p;
}

}  // namespace

TEST(mdl_equals_trying_every_cut) {
  std::mt19937_64 random(1);
  std::size_t n_cuts = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Problem p = random_problem(random);
    const Numbers cuts = mdl(p.x, p.y, p.n_classes);
    CHECK(same(cuts, reference_mdl(p.x, p.y, p.n_classes, {})));
    n_cuts += cuts.size();
  }
  CHECK(n_cuts > 1000);  // the problems are not all trivial
}

TEST(mdl_equals_trying_every_cut_with_fractional_weights) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    Problem p = random_problem(random);
    for (double& w : p.w) w *= 0.1 * static_cast<double>(random() % 40);
    if (p.x.empty()) p.w.clear();
    CHECK(same(mdl(p.x, p.y, p.n_classes, p.w), reference_mdl(p.x, p.y, p.n_classes, p.w)));
  }
}

TEST(a_whole_weight_equals_so_many_copies) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const Problem p = random_problem(random);
    if (p.x.empty()) continue;
    Problem copies;
    for (std::size_t i = 0; i < p.x.size(); ++i)
      for (double k = 0; k < p.w[i]; ++k) {
        copies.x.push_back(p.x[i]);
        copies.y.push_back(p.y[i]);
      }
    CHECK(same(mdl(p.x, p.y, p.n_classes, p.w), mdl(copies.x, copies.y, p.n_classes)));
    for (const std::size_t bins : {2, 3, 5, 7}) {
      CHECK(same(equal_frequency_cuts(view(p.x), bins, p.w), equal_frequency_cuts(view(copies.x), bins)));
      CHECK(same(equal_width_cuts(view(p.x), bins, p.w), equal_width_cuts(view(copies.x), bins)));
    }
  }
}

TEST(the_order_of_rows_and_the_names_of_classes_change_nothing) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 1000; ++trial) {
    Problem p = random_problem(random);
    const Numbers cuts = mdl(p.x, p.y, p.n_classes);
    for (auto& y : p.y) y = static_cast<std::uint8_t>(p.n_classes - 1 - y);
    CHECK(same(mdl(p.x, p.y, p.n_classes), cuts));
    std::vector<std::size_t> order(p.x.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
    Problem turned;
    for (const std::size_t i : order) {
      turned.x.push_back(p.x[i]);
      turned.y.push_back(p.y[i]);
    }
    CHECK(same(mdl(turned.x, turned.y, p.n_classes), cuts));
  }
}

TEST(of_equally_good_cuts_the_lowest_is_taken) {
  // The same from either end, so every cut point has an equally good mirror image; the cut points found have not.
  const std::string classes = "2222222112000000001111000000002112222222";
  CHECK(std::equal(classes.begin(), classes.end(), classes.rbegin()));
  Numbers x;
  std::vector<std::uint8_t> y;
  for (const char c : classes) {
    x.push_back(static_cast<double>(x.size()));
    y.push_back(static_cast<std::uint8_t>(c - '0'));
  }
  CHECK(same(mdl(x, y, 3), {6.5, 29.5}));
}

TEST(mdl_of_small_and_degenerate_columns) {
  CHECK(mdl({}, {}, 2).empty());
  CHECK(mdl({1}, {0}, 2).empty());
  CHECK(mdl({1, 1}, {0, 1}, 2).empty());
  CHECK(mdl({3, 3, 3, 3}, {0, 1, 0, 1}, 2).empty());
  CHECK(mdl({kNan, kNan}, {0, 1}, 2).empty());
  CHECK(mdl({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 1, 1, 1, 1, 1, 1}, 2).empty());
  CHECK(mdl({1, 2, 3}, {0, 0, 1}, 2, {0, 0, 0}).empty());
  CHECK(same(mdl({1, 2}, {0, 1}, 2), {1.5}));  // one bit gained by each row against log2(7) - 2 to pay
  // -0.0 and 0.0 are one value: no cut parts them.
  CHECK(mdl({-0.0, 0.0, -0.0, 0.0}, {0, 1, 0, 1}, 2).empty());
}

TEST(weights_far_from_one_are_only_weights) {
  const Numbers x{1, 2, 3, 4};
  CHECK(mdl(x, {0, 0, 1, 1}, 2, {kTiny, kTiny, kTiny, kTiny}).empty());
  CHECK(same(mdl(x, {0, 0, 1, 1}, 2, {1e300, 1e300, 1e300, 1e300}), {2.5}));
  CHECK(same(mdl(x, {0, 0, 1, 1}, 2, {1e200, kTiny, 1e200, kTiny}), {2.5}));
}

TEST(twenty_thousand_classes_neither_overflow_nor_crawl) {
  // 3^k leaves the doubles at k = 647. Pure runs of 30 rows: every border is worth a cut.
  const std::size_t n_classes = 20000, run = 30;
  Numbers x;
  std::vector<std::uint16_t> y;
  for (std::size_t i = 0; i < n_classes * run; ++i) {
    x.push_back(static_cast<double>(i));
    y.push_back(static_cast<std::uint16_t>(i / run));
  }
  const Numbers cuts = mdl_cuts(view(x), Column(y, 20000));
  for (const double cut : cuts) CHECK_EQ(std::fmod(cut + 0.5, static_cast<double>(run)), 0.0);
  CHECK(cuts.size() > 1000);
}

TEST(a_cut_separates_even_adjacent_doubles) {
  std::mt19937_64 random(5);
  const auto check_pair = [](double a, double b) {
    const double cut = cut_between(a, b);
    CHECK(a <= cut && cut < b);
    CHECK(same(mdl({a, b}, {0, 1}, 2), {cut}));
    CHECK(same(equal_frequency_cuts(view({a, b}), 2), {cut}));
    const Numbers width = equal_width_cuts(view({a, b}), 2);
    CHECK(width.size() <= 1 && (width.empty() || (a <= width[0] && width[0] < b)));
  };
  for (const double a : {1.0, -1.0, 0.1, -0.1, 0.0, kTiny, -kTiny, 1e308, -kMax, 1e-300, 3 * kTiny}) {
    check_pair(a, std::nextafter(a, kInf));
    check_pair(a, kMax);
  }
  check_pair(-kTiny, 0.0);
  check_pair(-kMax, kMax);
  for (int i = 0; i < 2000; ++i) {
    const double a = key_number(random());
    if (std::isfinite(a) && a < kMax) check_pair(a, std::nextafter(a, kInf));
  }
  CHECK_EQ(cut_between(1, 2), 1.5);
  CHECK(!std::signbit(cut_between(-2 * kTiny, kTiny)));
}

TEST(keys_sort_as_numbers_do) {
  const Numbers ascending{-kInf, -kMax, -1, -kTiny, 0.0, kTiny, 1, std::nextafter(1.0, 2.0), kMax, kInf};
  for (std::size_t i = 0; i + 1 < ascending.size(); ++i) CHECK(number_key(ascending[i]) < number_key(ascending[i + 1]));
  for (const double v : ascending) CHECK_EQ(key_number(number_key(v)), v);
  CHECK_EQ(number_key(-0.0), number_key(0.0));

  struct Item {
    std::uint64_t key;
    std::size_t place;
  };
  std::mt19937_64 random(6);
  for (const std::uint64_t mask :
       {~std::uint64_t{0}, std::uint64_t{0xFF}, std::uint64_t{0xFF} << 50, std::uint64_t{0}}) {
    std::vector<Item> items;
    for (std::size_t i = 0; i < 5000; ++i) items.push_back({random() & mask, i});
    sort_by_key(items);
    for (std::size_t i = 0; i + 1 < items.size(); ++i)
      CHECK(items[i].key < items[i + 1].key ||
            (items[i].key == items[i + 1].key && items[i].place < items[i + 1].place));
  }
}

TEST(equal_frequency_takes_the_edge_nearest_to_each_share) {
  CHECK(same(equal_frequency_cuts(view({5, 1, 4, 2, 3, 6}), 3), {2.5, 4.5}));
  // Shares end after 2.5 rows: two and three rows are equally near, and the lower edge wins.
  CHECK(same(equal_frequency_cuts(view({1, 2, 3, 4, 5}), 2), {2.5}));
  // Half the rows are ones and cannot be parted: both shares below end at their edge.
  CHECK(same(equal_frequency_cuts(view({1, 1, 1, 1, 2, 3, 4, 5}), 4), {1.5, 3.5}));
  CHECK(equal_frequency_cuts(view({7, 7, 7}), 5).empty());
  CHECK(equal_frequency_cuts(view({kNan}), 5).empty());
  CHECK(same(equal_frequency_cuts(view({1, 2, 3}), 2, Numbers{1, 1e-30, 5}), {1.5}));
  CHECK(same(equal_frequency_cuts(view({1, 2, 3, 4}), 2, Numbers{1e308, 1e-300, 1e-300, 1e307}), {1.5}));
}

TEST(equal_width_divides_the_range) {
  CHECK(same(equal_width_cuts(view({0, 7, kNan, 3}), 7), {1, 2, 3, 4, 5, 6}));
  CHECK(same(equal_width_cuts(view({0, 1}), 10), {.1, .2, .3, .4, .5, .6, .7, .8, .9}));
  CHECK(same(equal_width_cuts(view({0, 100, 4}), 4, Numbers{1, 0, 1}), {1, 2, 3}));
  CHECK(equal_width_cuts(view({2, 2}), 4).empty());
  const Numbers huge = equal_width_cuts(view({-kMax, kMax}), 4);
  CHECK_EQ(huge.size(), 3u);
  for (std::size_t i = 0; i < huge.size(); ++i) CHECK_NEAR(huge[i], (static_cast<double>(i) - 1) * (kMax / 2), 1e293);
  CHECK(same(equal_width_cuts(view({0, 3 * kTiny}), 3), {kTiny, 2 * kTiny}));
  CHECK(same(equal_width_cuts(view({0, kTiny}), 50), {0}));
}

TEST(applied_cuts_count_what_lies_below) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::size_t n_cuts :
       {0, 1, 2, 3, 7, 8, 11, 12, 13, 14, 15, 16, 17, 47, 48, 49, 100, 253, 254, 5000, 65533}) {
    Numbers cuts(n_cuts);
    for (double& cut : cuts) cut = uniform(random);
    std::sort(cuts.begin(), cuts.end());
    for (const std::size_t n : {0, 1, 7, 8, 9, 1023, 1024, 1025, 3000}) {
      Numbers x(n);
      for (double& v : x) {
        v = random() % 4 == 0 && n_cuts > 0 ? cuts[random() % n_cuts] : uniform(random) * 1.2;
        if (random() % 9 == 0) v = kNan;
        if (random() % 99 == 0) v = random() % 2 == 0 ? kInf : -kInf;
      }
      std::vector<std::uint16_t> wide(n);
      std::vector<std::uint8_t> narrow(n);
      apply_cuts(view(x), cuts, wide);
      if (n_cuts <= 253) apply_cuts(view(x), cuts, narrow);
      for (std::size_t i = 0; i < n; ++i) {
        const auto expected = std::lower_bound(cuts.begin(), cuts.end(), x[i]) - cuts.begin();
        CHECK_EQ(wide[i], std::isnan(x[i]) ? kMissing : expected);
        if (n_cuts <= 253) CHECK_EQ(narrow[i], std::isnan(x[i]) ? kMissing8 : expected);
      }
    }
  }
}

TEST(columns_are_read_wherever_they_lie) {
  // Doubles 12 bytes apart are unaligned; floats run backwards.
  const Numbers x{3, kNan, -1, 2, 0.5, -0.0};
  std::vector<std::byte> packed(12 * x.size() + 1);
  for (std::size_t i = 0; i < x.size(); ++i) std::memcpy(packed.data() + 1 + 12 * i, &x[i], sizeof(double));
  const NumberColumn strided(reinterpret_cast<const double*>(packed.data() + 1), 12, x.size());
  std::vector<float> floats(x.rbegin(), x.rend());
  const NumberColumn backwards(&floats.back(), -4, x.size());
  const Numbers cuts{0, 1};
  const std::vector<std::uint8_t> expected{2, kMissing8, 0, 2, 1, 0};
  for (const NumberColumn& column : {NumberColumn(view(x)), strided, backwards}) {
    std::vector<std::uint8_t> codes(x.size());
    apply_cuts(column, cuts, codes);
    CHECK(codes == expected);
    CHECK(same(equal_width_cuts(column, 4), {0, 1, 2}));
  }
}

TEST(tables_give_the_cuts_of_their_columns_on_any_number_of_threads) {
  std::mt19937_64 random(8);
  const std::size_t n_rows = 3000, n_columns = 11;
  Numbers table(n_rows * n_columns), weights(n_rows);
  std::vector<std::uint8_t> y(n_rows);
  for (auto& c : y) c = static_cast<std::uint8_t>(random() % 3);
  for (auto& w : weights) w = static_cast<double>(random() % 1000) / 7;
  std::vector<NumberColumn> columns;
  for (std::size_t j = 0; j < n_columns; ++j) {
    for (std::size_t i = 0; i < n_rows; ++i)
      table[i * n_columns + j] = y[i] + static_cast<double>(j * (random() % 1000)) / 700;
    columns.emplace_back(table.data() + j, static_cast<std::ptrdiff_t>(n_columns * sizeof(double)), n_rows);
  }
  const Column classes(y, 3);
  for (const int threads : {1, 2, 7, 0}) {
    const auto mdl_all = mdl_cuts(columns, classes, weights, threads);
    const auto frequency_all = equal_frequency_cuts(columns, 6, weights, threads);
    const auto width_all = equal_width_cuts(columns, 6, weights, threads);
    for (std::size_t j = 0; j < n_columns; ++j) {
      CHECK(same(mdl_all[j], mdl_cuts(columns[j], classes, weights)));
      CHECK(same(frequency_all[j], equal_frequency_cuts(columns[j], 6, weights)));
      CHECK(same(width_all[j], equal_width_cuts(columns[j], 6, weights)));
    }
    CHECK(!mdl_all[0].empty());
  }
}

TEST(invalid_input_is_rejected) {
  const Column two(std::vector<std::uint8_t>{0, 1}, 2);
  const Numbers x{1, 2}, infinite{1, -kInf};
  CHECK_THROWS(InvalidInput, mdl_cuts(view(infinite), two), "row 1 is infinite");
  CHECK_THROWS(InvalidInput, equal_frequency_cuts(view(infinite), 3), "row 1 is infinite");
  CHECK_THROWS(InvalidInput, equal_width_cuts(view(infinite), 3), "row 1 is infinite");
  CHECK_THROWS(InvalidInput, mdl_cuts(view({1, 2, 3}), two), "expected 3 classes, one per row, got 2");
  CHECK_THROWS(InvalidInput, mdl_cuts(view(x), two, Numbers{1}), "expected 2 weights, one per row, got 1");
  CHECK_THROWS(InvalidInput, mdl_cuts(view(x), two, Numbers{1, -1}), "got -1.000000 in row 1");
  CHECK_THROWS(InvalidInput, mdl_cuts(view(x), two, Numbers{1, kNan}), "got nan in row 1");
  CHECK_THROWS(InvalidInput, mdl_cuts(view(x), two, Numbers{kMax, kMax}), "expected weights with a finite sum");
  CHECK_THROWS(InvalidInput, equal_frequency_cuts(view(x), 2, Numbers{kMax, kMax}),
               "expected weights with a finite sum");
  CHECK_THROWS(InvalidInput, mdl_cuts(view(x), Column(std::vector<std::uint8_t>{0, 255}, 2)), "codes are missing");
  CHECK_THROWS(InvalidInput, equal_width_cuts(view(x), 0), "expected 1 to 65534 bins, got 0");
  CHECK_THROWS(InvalidInput, equal_frequency_cuts(view(x), 65535), "expected 1 to 65534 bins, got 65535");
  const std::vector<NumberColumn> columns{view(x), view(infinite)};
  CHECK_THROWS(InvalidInput, mdl_cuts(columns, two, {}, 2), "column 1: ");

  std::vector<std::uint8_t> narrow(2);
  std::vector<std::uint16_t> wide(2);
  CHECK_THROWS(InvalidInput, apply_cuts(view(x), Numbers{1, 1}, narrow), "strictly increasing order");
  CHECK_THROWS(InvalidInput, apply_cuts(view(x), Numbers{kNan}, narrow), "strictly increasing order");
  CHECK_THROWS(InvalidInput, apply_cuts(view({1}), Numbers{1}, narrow), "expected room for 1 codes");
  Numbers many(254);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  CHECK_THROWS(InvalidInput, apply_cuts(view(x), many, narrow), "8-bit codes have room for 253 cut points");
  apply_cuts(view(x), many, wide);
  many.resize(65534);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  CHECK_THROWS(InvalidInput, apply_cuts(view(x), many, wide), "at most 65533 cut points");
}

TEST_MAIN

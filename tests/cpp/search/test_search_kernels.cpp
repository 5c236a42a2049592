// The inner loops of searches on every instruction set, against plain loops; the grid that makes their sums exact.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "reference.hpp"
#include "search/fold_counts.hpp"
#include "search/kernels.hpp"
#include "search/log_grid.hpp"
#include "simd/cpu.hpp"
#include "support/parallel.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Isa> levels() {
  std::vector<Isa> found;
  for (int level = 0; level <= static_cast<int>(supported_isa()); ++level) found.push_back(static_cast<Isa>(level));
  return found;
}

/// Rows of one class, and tables over a child's value (innermost) and a parent's, that candidates would add.
struct Rows {
  std::size_t n_classes, width, rows, values, parent_values;
  std::uint32_t label;
  LogGrid grid;
  std::vector<double> sums, bias, zeros;
  std::vector<std::uint16_t> child, parent;
  std::vector<std::vector<double>> tables;

  std::vector<std::uint32_t> index() const {
    std::vector<std::uint32_t> cells;
    for (std::size_t i = 0; i < rows; ++i) cells.push_back(static_cast<std::uint32_t>(child[i] + parent[i] * values));
    return cells;
  }
  CandidateBlock block(const std::vector<double>& of_sums, const std::vector<std::uint32_t>& cells,
                       const std::vector<double>& table) const {
    CandidateBlock made{};
    made.rows = rows;
    made.width = width;
    made.n_classes = n_classes;
    made.label = label;
    made.sums = of_sums.data();
    made.index = cells.data();
    made.terms = table.data();
    made.bias = bias.data();
    made.zeros = zeros.data();
    made.floor = grid.floor();
    return made;
  }
};

/// Few different numbers, so many classes tie. `spread` is how far the sums are apart.
Rows draw(std::mt19937_64& random, std::size_t n_classes, std::size_t rows, bool with_zeros, double spread) {
  const std::size_t width = n_classes == 2 && !with_zeros ? 1 : (n_classes + 3) / 4 * 4;
  Rows made{n_classes,
            width,
            rows,
            3,
            4,
            static_cast<std::uint32_t>(random() % n_classes),
            LogGrid(20, 30.0, with_zeros),
            {},
            {},
            {},
            {},
            {},
            {}};
  const auto number = [&](double scale) {
    if (with_zeros && random() % 4 == 0) return made.grid.zero();
    return made.grid.round(-scale * static_cast<double>(random() % 5) / 3);
  };
  const auto padded = [&](std::size_t c, double x, double padding) {
    return c < n_classes || width == 1 ? x : padding;
  };
  for (std::size_t i = 0; i < rows; ++i) {
    made.child.push_back(static_cast<std::uint16_t>(random() % made.values));
    made.parent.push_back(static_cast<std::uint16_t>(random() % made.parent_values));
    for (std::size_t c = 0; c < width; ++c)
      made.sums.push_back(width == 1 ? number(spread) - number(spread) : padded(c, number(spread), -kInfinity));
  }
  for (std::size_t t = 0; t < 5; ++t) {
    made.tables.emplace_back();
    for (std::size_t i = 0; i < made.values * made.parent_values * width; ++i)
      made.tables.back().push_back(width == 1 ? number(1) - number(1) : padded(i % width, number(1), 0.0));
  }
  for (std::size_t c = 0; c < width; ++c) made.bias.push_back(c < made.label ? made.grid.half_step() : 0.0);
  made.zeros.assign(width, 0.0);
  return made;
}

/// The first of the most probable classes; the first of all where none is possible.
std::size_t predicted(const Rows& rows, const double* sums) {
  if (rows.width == 1) return sums[0] > 0 ? 1 : 0;
  std::size_t best = 0;
  double largest = -kInfinity;
  for (std::size_t c = 0; c < rows.n_classes; ++c) {
    const double sum = sums[c] < rows.grid.floor() ? -kInfinity : sums[c];
    if (sum > largest) {
      largest = sum;
      best = c;
    }
  }
  return best;
}

std::vector<double> added(const Rows& rows, std::size_t i, const std::vector<double>& table) {
  std::vector<double> sums(rows.sums.begin() + static_cast<std::ptrdiff_t>(i * rows.width),
                           rows.sums.begin() + static_cast<std::ptrdiff_t>((i + 1) * rows.width));
  const std::size_t cell = rows.child[i] + rows.parent[i] * rows.values;
  for (std::size_t c = 0; c < rows.width; ++c) sums[c] += table[cell * rows.width + c];
  return sums;
}

std::size_t plain_count(const Rows& rows, const std::vector<double>& table) {
  std::size_t correct = 0;
  for (std::size_t i = 0; i < rows.rows; ++i)
    correct += predicted(rows, added(rows, i, table).data()) == rows.label ? 1 : 0;
  return correct;
}

constexpr std::size_t kClasses[] = {1, 2, 3, 4, 5, 8, 9, 26};
constexpr std::size_t kRows[] = {1, 3, 4, 7, 64, 255, kSearchBlock};

}  // namespace

TEST(rows_are_counted_as_plain_loops_do_ties_and_impossible_rows_included) {
  std::mt19937_64 random(1);
  std::size_t right = 0, all = 0;
  for (const std::size_t classes : kClasses)
    for (const bool zeros : {false, true})
      for (const std::size_t n : kRows) {
        const Rows rows = draw(random, classes, n, zeros, 1);
        const auto index = rows.index();
        for (const auto& table : rows.tables) {
          const std::size_t expected = plain_count(rows, table);
          const CandidateBlock block = rows.block(rows.sums, index, table);
          for (const Isa isa : levels()) CHECK_EQ(count_correct(block, isa), expected);
          std::size_t one_by_one = 0;
          for (std::size_t i = 0; i < n; ++i) one_by_one += is_correct(block, added(rows, i, table).data()) ? 1 : 0;
          CHECK_EQ(one_by_one, expected);
          right += expected;
          all += n;
        }
      }
  CHECK(right > all / 20 && right < all);
}

TEST(terms_of_every_row_are_counted_as_those_of_a_table) {
  std::mt19937_64 random(2);
  for (const std::size_t classes : kClasses)
    for (const bool zeros : {false, true})
      for (const std::size_t n : kRows) {
        const Rows rows = draw(random, classes, n, zeros, 1);
        std::vector<double> terms;
        for (const std::uint32_t cell : rows.index()) {
          const auto first = rows.tables[0].begin() + static_cast<std::ptrdiff_t>(cell * rows.width);
          terms.insert(terms.end(), first, first + static_cast<std::ptrdiff_t>(rows.width));
        }
        CandidateBlock block = rows.block(rows.sums, {}, terms);
        block.index = nullptr;
        for (const Isa isa : levels()) CHECK_EQ(count_correct(block, isa), plain_count(rows, rows.tables[0]));
      }
}

TEST(accuracies_of_parents_side_by_side_are_those_of_a_plain_loop) {
  std::mt19937_64 random(6);
  constexpr std::size_t kTableRows = 70, kFolds = 3, kValues = 3;
  for (std::size_t parent_values = 1; parent_values <= kMaxChosenValues; ++parent_values)
    for (const std::size_t n : {0u, 1u, 2u, 9u, 40u}) {
      std::vector<std::uint8_t> codes(kTableRows * kParentLanes);
      for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(random() % parent_values);
      std::vector<double> terms(kFolds * kValues * parent_values * kParentLanes);
      for (double& term : terms) term = static_cast<double>(random() % 7) - 3;  // often equal to a threshold
      std::vector<std::vector<OpenRow>> rows(kFolds);
      std::vector<OpenFold> folds;
      for (std::size_t k = 0; k < kFolds; ++k) {
        for (std::size_t i = 0; i < n * k; ++i)
          rows[k].push_back({static_cast<double>(random() % 7) - 3, random() % 2 == 0 ? 1.0 : -1.0,
                             static_cast<std::uint32_t>(random() % kTableRows),
                             static_cast<std::uint32_t>(random() % kValues)});
        folds.push_back({rows[k], 100.0 + static_cast<double>(k), 211.0});
      }
      std::vector<double> expected(kParentLanes, 0.0);
      for (std::size_t i = 0; i < kParentLanes; ++i)
        for (std::size_t k = 0; k < kFolds; ++k) {
          double right = folds[k].right;
          for (const OpenRow& row : rows[k]) {
            const std::size_t cell = (k * kValues + row.value) * parent_values + codes[row.row * kParentLanes + i];
            if (terms[cell * kParentLanes + i] > row.threshold) right += row.gain;
          }
          expected[i] += right / folds[k].weight;
        }
      for (const Isa isa : levels()) {
        std::vector<double> scores(kParentLanes, -1.0);
        sum_accuracies(folds, codes.data(), terms.data(), kValues, parent_values, scores.data(), isa);
        CHECK(scores == expected);
      }
    }
}

TEST(codes_and_terms_are_added_as_plain_loops_do) {
  std::mt19937_64 random(3);
  for (const std::size_t n : {std::size_t{1}, std::size_t{5}, std::size_t{16}, std::size_t{33}, std::size_t{1000}}) {
    std::vector<std::uint16_t> a(n), b(n), c(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<std::uint16_t>(random() % 65535);
      b[i] = static_cast<std::uint16_t>(random() % 11);
      c[i] = static_cast<std::uint16_t>(random() % 3);
    }
    for (const Isa isa : levels()) {
      std::vector<std::uint32_t> index(n);
      pair_codes(a.data(), 1, b.data(), 65535, n, index.data(), isa);
      for (std::size_t i = 0; i < n; ++i) CHECK_EQ(index[i], a[i] + 65535u * b[i]);
      add_codes(c.data(), 1000000, n, index.data(), isa);
      for (std::size_t i = 0; i < n; ++i) CHECK_EQ(index[i], a[i] + 65535u * b[i] + 1000000u * c[i]);
      pair_codes(b.data(), 1, c.data(), 11, n, index.data(), isa);
      for (const std::size_t width : {1, 4, 28}) {
        std::vector<double> terms(33 * width), sums(n * width), expected(n * width);
        for (double& x : terms) x = static_cast<double>(random() % 1000) / 8;
        for (std::size_t i = 0; i < sums.size(); ++i) expected[i] = sums[i] = static_cast<double>(random() % 1000) / 8;
        for (const double sign : {1.0, -1.0, -1.0}) {
          add_terms(terms.data(), index.data(), n, width, sign, sums.data(), isa);
          for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] += sign * terms[index[i / width] * width + i % width];
        }
        CHECK(sums == expected);
      }
    }
  }
}

TEST(tables_that_share_a_feature_are_added_as_one_after_the_other) {
  std::mt19937_64 random(8);
  const std::size_t n_cells[] = {1, 6, 64, 5};
  constexpr std::size_t kValues = 3, kStride = 1 + 6 + 64 + 5;
  for (std::size_t count = 0; count <= SharedTables::kMost; ++count)
    for (const std::size_t n : kRows) {
      std::vector<double> terms(kValues * kStride);
      for (double& term : terms) term = static_cast<double>(random() % 1000) / 8;
      std::vector<std::uint16_t> shared(n);
      for (auto& value : shared) value = static_cast<std::uint16_t>(random() % kValues);
      std::vector<double> sums(n, 0.5), expected = sums;
      std::vector<std::vector<std::uint16_t>> index(count, std::vector<std::uint16_t>(n));
      SharedTables tables{count, {}, {}, kStride};
      const double* first = terms.data();
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t row = 0; row < n; ++row) {
          index[i][row] = static_cast<std::uint16_t>(random() % n_cells[i]);
          expected[row] += first[shared[row] * kStride + index[i][row]];
        }
        tables.terms[i] = first;
        tables.index[i] = index[i].data();
        first += n_cells[i];
      }
      add_shared_terms(tables, shared.data(), n, sums.data());
      CHECK(sums == expected);
    }
}

TEST(log_posteriors_are_logarithms_of_posteriors) {
  std::mt19937_64 random(4);
  for (const std::size_t classes : kClasses)
    for (const bool zeros : {false, true}) {
      const Rows rows = draw(random, classes, 200, zeros, 40);
      const auto index = rows.index();
      const CandidateBlock block = rows.block(rows.sums, index, rows.tables[0]);
      for (std::size_t i = 0; i < rows.rows; ++i) {
        const std::vector<double> sums = added(rows, i, rows.tables[0]);
        std::vector<long double> joint(classes, 0.0L);
        long double largest = -kInfinity, total = 0;
        for (std::size_t c = 0; c < classes; ++c) {
          joint[c] = rows.width == 1 ? (c == 1 ? sums[0] : 0.0L) : sums[c];
          if (joint[c] < rows.grid.floor()) joint[c] = -kInfinity;
          largest = std::max(largest, joint[c]);
        }
        double expected = -std::log(static_cast<double>(classes));  // where no class is possible, nothing is known
        if (largest > -kInfinity) {
          for (const long double x : joint) total += std::exp(x - largest);
          expected = static_cast<double>(joint[rows.label] - largest - std::log(total));
        }
        CHECK_NEAR(log_posterior(block, sums.data()), expected, 1e-14 * (1 + std::abs(expected)));
      }
    }
}

TEST(sums_on_the_grid_do_not_depend_on_their_order) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (const std::size_t n : {std::size_t{1}, std::size_t{10}, std::size_t{3000}})
    for (const double largest : {0.7, 25.0, 460.0})
      for (const bool zeros : {false, true}) {
        const LogGrid grid(n, largest, zeros);
        std::vector<double> terms;
        for (std::size_t i = 0; i < n; ++i) {
          const double x = -largest * unit(random);
          terms.push_back(grid.round(x));
          CHECK_NEAR(terms.back(), x, grid.half_step() * (1 + 1e-9));
          CHECK_EQ(grid.round(terms.back()), terms.back());
        }
        double plain = 0;
        for (const double x : terms) plain += x;
        CHECK(plain + grid.half_step() > plain);
        CHECK(plain + grid.half_step() < plain + 2 * grid.half_step());
        for (int repeat = 0; repeat < 5; ++repeat) {
          std::shuffle(terms.begin(), terms.end(), random);
          double sum = 0;
          for (const double x : terms) sum += x;
          CHECK_EQ(sum, plain);
          const double other = grid.round(-largest * unit(random));
          CHECK_EQ(((sum - terms[0]) + other) - other + terms[0], plain);
        }
        CHECK_EQ(grid.has_zeros(), zeros);
        if (!zeros) {
          CHECK_EQ(grid.floor(), -kInfinity);
          continue;
        }
        // One ln 0 is enough to fall below the floor, all others stay far above, and it can be taken away again.
        CHECK(plain > grid.floor() + 800);
        CHECK(grid.zero() < grid.floor());
        CHECK(plain + grid.zero() < grid.floor());
        double sum = plain;
        for (std::size_t i = 0; i < n; ++i) sum += grid.zero() - terms[i];
        for (std::size_t i = 0; i < n; ++i) sum += terms[i] - grid.zero();
        CHECK_EQ(sum, plain);
      }
}

TEST(joint_values_that_occur_are_counted_outside_of_their_fold) {
  const std::size_t n_rows = 300;
  const Dataset data = reference::random_dataset({{2}}, {3}, n_rows, false, 6);
  std::vector<std::uint32_t> folds;
  for (std::size_t row = 0; row < n_rows; ++row) folds.push_back(static_cast<std::uint32_t>(row % 4));
  ThreadTeam team(1);
  const FoldRows rows(data, folds, team);
  std::mt19937_64 random(6);
  for (const std::uint64_t below : {std::uint64_t{1}, std::uint64_t{60}, std::uint64_t{1} << 32}) {
    std::vector<std::uint32_t> values;
    for (std::size_t row = 0; row < n_rows; ++row) values.push_back(static_cast<std::uint32_t>(random() % below));
    SparseCounts counts(rows, values);
    for (std::size_t k = 0; k < rows.n_folds(); ++k) {
      counts.count_fold(k);
      std::set<std::uint32_t> in_fold;
      for (std::size_t row = rows.fold_begin(k); row < rows.fold_begin(k + 1); ++row) {
        in_fold.insert(values[row]);
        CHECK(counts[row] < counts.size());
        CHECK_EQ(values[counts.first_row(counts[row])], values[row]);
        for (std::uint32_t c = 0; c < 3; ++c) {
          std::size_t expected = 0;
          for (std::size_t other = 0; other < n_rows; ++other)
            if (rows.segment_of(other).fold != k && values[other] == values[row] && rows.segment_of(other).label == c)
              ++expected;
          CHECK_EQ(counts.training(counts[row])[c], expected);
        }
      }
      CHECK_EQ(counts.size(), in_fold.size());
    }
  }
}

TEST_MAIN

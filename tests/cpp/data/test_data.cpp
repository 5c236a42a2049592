// Columns and data sets.
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "check.hpp"
#include "tanager/dataset.hpp"
#include "tanager/errors.hpp"

using namespace tanager;

namespace {

using Narrow = std::vector<std::uint8_t>;
using Wide = std::vector<std::uint16_t>;

Dataset small() {
  return Dataset({Column(Narrow{0, 2, kMissing8, 1}, 3), Column(Wide{299, 0, 5, kMissing}, 300)},
                 Column(Narrow{1, 0, 1, 1}, 2), {0.5, 1.0, 0.0, 2.0});
}

}  // namespace

TEST(columns_of_both_widths_show_the_same_codes) {
  const Column narrow(Narrow{0, 253, kMissing8}, 254);
  CHECK_EQ(narrow.size(), std::size_t{3});
  CHECK_EQ(narrow.n_values(), 254U);
  CHECK(!narrow.is_wide());
  CHECK(narrow.has_missing());
  CHECK_EQ(narrow[1], 253);
  CHECK_EQ(narrow[2], kMissing);
  CHECK_EQ(narrow.narrow().size(), std::size_t{3});
  CHECK(narrow.wide().empty());

  const Column wide(Wide{65533, 0}, 65534);
  CHECK(wide.is_wide());
  CHECK(!wide.has_missing());
  CHECK_EQ(wide[0], 65533);
  CHECK(wide.narrow().empty());
  CHECK_EQ(wide.wide()[1], 0);
  CHECK_EQ(Column(Wide{255, kMissing}, 256)[0], 255);
  CHECK_EQ(Column(Wide{255, kMissing}, 256)[1], kMissing);
}

TEST(codes_are_checked) {
  CHECK_THROWS(InvalidInput, Column(Narrow{0, 9, 3}, 8), "code 9, but only 8 values are known");
  CHECK_THROWS(InvalidInput, Column(Wide{0, 300}, 300), "code 300, but only 300 values are known");
  CHECK_THROWS(InvalidInput, Column(Narrow{254}, 254), "code 254, but only 254");
  CHECK_THROWS(InvalidInput, Column(Narrow{}, 255), "8-bit codes holds at most 254 values, but 255");
  CHECK_THROWS(InvalidInput, Column(Wide{}, 65535), "16-bit codes holds at most 65534 values, but 65535");
  CHECK_THROWS(InvalidInput, Column(Wide{65534}, 65534), "code 65534");
  CHECK_THROWS(InvalidInput, Column(Narrow{0}, 0), "code 0, but only 0");
  // A wrong code must be found wherever it is in a vector of codes.
  for (std::size_t at = 0; at < 100; ++at) {
    Narrow codes(100, 1);
    CHECK(!Column(codes, 2).has_missing());
    codes[at] = kMissing8;
    CHECK(Column(codes, 2).has_missing());
    codes[at] = 2;
    CHECK_THROWS(InvalidInput, Column(codes, 2), "code 2");
  }
}

TEST(empty_and_all_missing_columns) {
  const Column empty(Narrow{}, 0);
  CHECK_EQ(empty.size(), std::size_t{0});
  CHECK(!empty.has_missing());
  const Column missing(Narrow{kMissing8, kMissing8}, 0);
  CHECK(missing.has_missing());
  CHECK_EQ(missing[1], kMissing);
}

TEST(a_view_keeps_its_owner_and_copies_nothing) {
  auto codes = std::make_shared<const Narrow>(Narrow{0, 1, 0});
  const std::weak_ptr<const Narrow> watch = codes;
  const std::uint8_t* address = codes->data();
  {
    const Column column(std::span<const std::uint8_t>(*codes), 2, codes);
    codes.reset();
    CHECK(!watch.expired());
    const Column copy = column;
    CHECK_EQ(static_cast<const void*>(copy.narrow().data()), static_cast<const void*>(address));
  }
  CHECK(watch.expired());
}

TEST(data_sets_check_their_parts) {
  const Dataset data = small();
  CHECK_EQ(data.n_rows(), std::size_t{4});
  CHECK_EQ(data.n_features(), std::size_t{2});
  CHECK_EQ(data.n_classes(), 2U);
  CHECK(data.is_weighted());
  CHECK((data.cardinalities() == std::vector<std::uint32_t>{3, 300}));

  const Column target(Narrow{0, 1}, 2);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS(InvalidInput, Dataset({}, Column(Narrow{0, kMissing8}, 2)), "every row needs a class");
  CHECK_THROWS(InvalidInput, Dataset({target, Column(Narrow{0}, 1)}, target),
               "feature 1 has 1 rows, but the class has 2");
  CHECK_THROWS(InvalidInput, Dataset({}, target, {1.0}), "expected 2 weights, one per row, got 1");
  CHECK_THROWS(InvalidInput, Dataset({}, target, {1.0, -0.5}), "got -0.500000 in row 1");
  CHECK_THROWS(InvalidInput, Dataset({}, target, {infinity, 1.0}), "got inf in row 0");
  CHECK_THROWS(InvalidInput, Dataset({}, target, {1.0, std::nan("")}), "got nan in row 1");
}

TEST(subsets_take_rows_in_the_given_order_and_repeat_them) {
  const std::vector<std::size_t> rows{3, 0, 0, 2};
  const Dataset chosen = small().subset(rows);
  CHECK_EQ(chosen.n_rows(), std::size_t{4});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t f = 0; f < 2; ++f) CHECK_EQ(chosen.feature(f)[i], small().feature(f)[rows[i]]);
    CHECK_EQ(chosen.target()[i], small().target()[rows[i]]);
    CHECK_EQ(chosen.weights()[i], small().weights()[rows[i]]);
  }
  CHECK(chosen.feature(1).is_wide());
  CHECK((chosen.cardinalities() == std::vector<std::uint32_t>{3, 300}));
  CHECK_EQ(small().subset({}).n_rows(), std::size_t{0});
  // Values stay known when the rows that show them are gone, and so does whether a value is missing.
  const std::vector<std::size_t> first{0};
  CHECK(!small().subset(first).feature(0).has_missing());
  CHECK_EQ(small().subset(first).feature(0).n_values(), 3U);
  const std::vector<std::size_t> beyond{1, 4};
  CHECK_THROWS(InvalidInput, small().subset(beyond), "expected a row below 4, got 4");
}

TEST_MAIN

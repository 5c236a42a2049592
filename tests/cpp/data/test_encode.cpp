// Encoding of integers, floats, strings and intervals, each against a slow loop that is obviously right.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "data/encode_arrow.hpp"
#include "data/encode_strings.hpp"
#include "data/transpose.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

template <class T>
constexpr IntegerType kType = IntegerType::kInt64;
template <>
constexpr IntegerType kType<std::int8_t> = IntegerType::kInt8;
template <>
constexpr IntegerType kType<std::uint8_t> = IntegerType::kUint8;
template <>
constexpr IntegerType kType<std::int16_t> = IntegerType::kInt16;
template <>
constexpr IntegerType kType<std::uint16_t> = IntegerType::kUint16;
template <>
constexpr IntegerType kType<std::int32_t> = IntegerType::kInt32;
template <>
constexpr IntegerType kType<std::uint32_t> = IntegerType::kUint32;
template <>
constexpr IntegerType kType<std::uint64_t> = IntegerType::kUint64;

template <class T>
IntegerMatrix row_major(const std::vector<T>& cells, std::size_t n_columns) {
  const auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  return {cells.data(), kType<T>, cells.size() / n_columns, n_columns, size * static_cast<std::ptrdiff_t>(n_columns),
          size};
}

template <class T>
IntegerMatrix column_major(const std::vector<T>& cells, std::size_t n_columns) {
  const auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  const std::size_t n_rows = cells.size() / n_columns;
  return {cells.data(), kType<T>, n_rows, n_columns, size, size * static_cast<std::ptrdiff_t>(n_rows)};
}

struct Encoded {
  std::vector<std::vector<Code>> codes;  // 8-bit codes widened, with kMissing for missing
  std::vector<std::uint8_t> unseen;
};

Encoded encode(const IntegerMatrix& matrix, const std::vector<CodeBook>& books, int threads = 1) {
  std::vector<std::vector<std::uint8_t>> narrow(books.size());
  std::vector<std::vector<std::uint16_t>> wide(books.size());
  std::vector<CodeBuffer> buffers;
  std::vector<const CodeBook*> pointers;
  for (std::size_t j = 0; j < books.size(); ++j) {
    pointers.push_back(&books[j]);
    narrow[j].resize(matrix.n_rows);
    wide[j].resize(matrix.n_rows);
    buffers.push_back(books[j].is_wide() ? CodeBuffer{wide[j].data(), true} : CodeBuffer{narrow[j].data(), false});
  }
  Encoded result{{}, encode_integers(matrix, pointers, buffers, threads)};
  for (std::size_t j = 0; j < books.size(); ++j) {
    if (!books[j].is_wide())
      for (std::size_t i = 0; i < matrix.n_rows; ++i) wide[j][i] = narrow[j][i] == kMissing8 ? kMissing : narrow[j][i];
    result.codes.push_back(wide[j]);
  }
  return result;
}

/// Checks every cell against CodeBook::find.
template <class T>
void check_encoding(const std::vector<T>& cells, std::size_t n_columns, const std::vector<CodeBook>& books, bool rows) {
  const IntegerMatrix matrix = rows ? row_major(cells, n_columns) : column_major(cells, n_columns);
  const Encoded one = encode(matrix, books);
  for (std::size_t j = 0; j < n_columns; ++j) {
    bool unseen = false;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < matrix.n_rows; ++i) {
      const T cell = rows ? cells[i * n_columns + j] : cells[j * matrix.n_rows + i];
      const bool fits = std::is_signed_v<T> || static_cast<std::uint64_t>(cell) <= std::uint64_t{INT64_MAX};
      const Code expected = fits ? books[j].find(static_cast<std::int64_t>(cell)) : kMissing;
      unseen |= expected == kMissing;
      wrong += one.codes[j][i] != expected ? 1 : 0;
    }
    CHECK_EQ(wrong, 0U);
    CHECK_EQ(one.unseen[j] != 0, unseen);
  }
  for (const int threads : {2, 7}) {
    const Encoded more = encode(matrix, books, threads);
    CHECK(more.codes == one.codes);
    CHECK(more.unseen == one.unseen);
  }
}

std::vector<CodeBook> books_of_every_kind(std::size_t n_columns) {
  std::vector<std::vector<std::int64_t>> lists = {
      {0, 1, 2, 3},                 // a range from zero
      {-2, -1, 0, 1, 2},            // a range below zero
      {2, 3, 4, 5, 6},              // a range above zero
      {0, 2, 4, 6},                 // few, with holes
      {5, 1, 3},                    // in a different order
      {},                           // nothing known
      {-1000000, 3, 1000000000000}  // far apart: hashed
  };
  std::vector<std::int64_t> many;  // enough for a table
  for (std::int64_t i = 0; i < 60; ++i) many.push_back(2 * i - 60);
  lists.push_back(many);
  std::vector<std::int64_t> wide;
  for (std::int64_t i = -300; i < 300; ++i) wide.push_back(i);
  lists.push_back(wide);
  std::vector<CodeBook> books;
  for (std::size_t j = 0; j < n_columns; ++j) books.emplace_back(lists[j % lists.size()]);
  return books;
}

template <class T>
void check_type() {
  std::mt19937_64 random(7);
  for (const std::size_t n_columns : {1U, 3U, 9U, 16U, 19U, 32U, 37U}) {
    for (const std::size_t n_rows : {0U, 1U, 15U, 16U, 17U, 100U, 5000U}) {
      std::vector<T> cells(n_rows * n_columns);
      for (auto& cell : cells) cell = static_cast<T>(static_cast<std::int64_t>(random() % 9) - 1);
      if (n_rows > 50)
        for (int i = 0; i < 20; ++i) cells[random() % cells.size()] = static_cast<T>(random());
      for (const bool rows : {true, false}) {
        if (n_rows == 0 || n_columns * n_rows > 200000) continue;
        check_encoding(cells, n_columns, books_of_every_kind(n_columns), rows);
      }
    }
  }
}

}  // namespace

TEST(integers_of_every_type_shape_and_order) {
  check_type<std::int8_t>();
  check_type<std::uint8_t>();
  check_type<std::int16_t>();
  check_type<std::uint16_t>();
  check_type<std::int32_t>();
  check_type<std::uint32_t>();
  check_type<std::int64_t>();
  check_type<std::uint64_t>();
}

TEST(large_tables_are_streamed_past_the_cache) {
  // Above the size where transposition writes past the cache, with columns that do not start on a cache line.
  std::vector<std::uint8_t> cells(450001 * 11);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<std::uint8_t>((i * 2654435761U >> 11) % 7);
  check_encoding(cells, 11, books_of_every_kind(11), true);
}

TEST(rows_with_gaps_between_them) {
  std::vector<std::int8_t> cells(1000 * 20);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<std::int8_t>(i * 40503U >> 7) % 5;
  IntegerMatrix view = row_major(cells, 20);  // columns 3 .. 9 of every second row
  view.data = cells.data() + 3;
  view.n_columns = 7;
  view.n_rows = 500;
  view.row_stride = 40;
  const auto books = books_of_every_kind(7);
  const Encoded encoded = encode(view, books);
  for (std::size_t i = 0; i < 500; ++i)
    for (std::size_t j = 0; j < 7; ++j) CHECK_EQ(encoded.codes[j][i], books[j].find(cells[40 * i + 3 + j]));
}

TEST(last_rows_are_not_read_beyond_their_end) {
  // An exact allocation, so sanitizers detect a single byte too many.
  for (std::size_t n_columns = 2; n_columns < 16; ++n_columns) {
    std::vector<std::uint8_t> cells(64 * n_columns, 1);
    cells.shrink_to_fit();
    const Encoded encoded = encode(row_major(cells, n_columns), books_of_every_kind(n_columns));
    CHECK_EQ(encoded.codes[0][63], 1);
  }
}

TEST(code_books_answer_and_reject) {
  const CodeBook range(std::vector<std::int64_t>{-1, 0, 1});
  CHECK(range.kind() == CodeBook::Kind::kRange);
  CHECK_EQ(range.find(-1), 0);
  CHECK_EQ(range.find(2), kMissing);
  const CodeBook table(std::vector<std::int64_t>{9, 4, 7});
  CHECK(table.kind() == CodeBook::Kind::kTable);
  CHECK_EQ(table.find(9), 0);
  CHECK_EQ(table.find(7), 2);
  CHECK_EQ(table.find(8), kMissing);
  const std::vector<std::int64_t> extremes{INT64_MIN, 0, INT64_MAX};
  const CodeBook hash(extremes);
  CHECK(hash.kind() == CodeBook::Kind::kHash);
  for (std::size_t i = 0; i < extremes.size(); ++i) CHECK_EQ(hash.find(extremes[i]), i);
  CHECK_EQ(hash.find(1), kMissing);
  CHECK_EQ(CodeBook(std::vector<std::int64_t>{}).find(0), kMissing);
  CHECK(!CodeBook(std::vector<std::int64_t>(1, 5)).is_wide());

  CHECK_THROWS(InvalidInput, CodeBook(std::vector<std::int64_t>{1, 2, 1}), "1 was given twice");
  CHECK_THROWS(InvalidInput, CodeBook(std::vector<std::int64_t>{INT64_MAX, 2, INT64_MAX}), "was given twice");
  std::vector<std::int64_t> many(kMaxValues);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(3 * i);
  CHECK_EQ(CodeBook(many).find(3 * 65533), 65533);
  many.push_back(-1);
  CHECK_THROWS(InvalidInput, CodeBook{many}, "got 65535");
}

TEST(codes_by_a_table) {
  const CodeBook book = CodeBook::from_table({2, kMissing, 0, 0}, 3);
  const std::vector<std::int32_t> old{0, 1, 2, 3, -1, 4, 0};
  const Encoded encoded = encode(column_major(old, 1), {book});
  CHECK((encoded.codes[0] == std::vector<Code>{2, kMissing, 0, 0, kMissing, kMissing, 2}));
}

TEST(distinct_integers_of_columns) {
  std::mt19937_64 random(3);
  const std::size_t n_columns = 11;
  std::vector<std::int64_t> cells(3000 * n_columns);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t j = i % n_columns;
    cells[i] = j == 0   ? static_cast<std::int64_t>(random())           // anything
               : j == 1 ? static_cast<std::int64_t>(random() % 100000)  // a moderate span
                        : static_cast<std::int64_t>(random() % 5) - 2 * static_cast<std::int64_t>(j);
  }
  const std::vector<std::size_t> wanted{0, 1, 10, 4};
  for (const int threads : {1, 2, 7}) {
    const auto found = distinct_integers(row_major(cells, n_columns), wanted, threads);
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      std::set<std::int64_t> expected;
      for (std::size_t i = wanted[w]; i < cells.size(); i += n_columns) expected.insert(cells[i]);
      CHECK(found[w] == std::vector<std::int64_t>(expected.begin(), expected.end()));
    }
  }
  const std::vector<std::uint64_t> large{1, std::uint64_t{1} << 63};
  const std::vector<std::size_t> first{0};
  CHECK_THROWS(InvalidInput, distinct_integers(column_major(large, 1), first), "below 2^63");
  const auto sample = sampled_integers(row_major(cells, n_columns));
  CHECK_EQ(sample.size(), n_columns);
  CHECK_EQ(sample[4].size(), 5U);
}

TEST(floats_by_value) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{0.5, -0.0, nan, infinity, 0.0, 0.5, 3.0, -7.25};
  const FloatColumn<double> column{values.data(), values.size(), sizeof(double)};
  const auto distinct = distinct_floats(column);
  CHECK((distinct == std::vector<double>{-7.25, 0.0, 0.5, 3.0, infinity}));

  std::vector<std::int64_t> keys;
  for (const double value : {-7.25, 0.0, 0.5}) keys.push_back(float_key(value));
  std::vector<std::uint8_t> codes(values.size());
  CHECK(encode_floats(column, CodeBook(keys), FloatKeys::kPattern, {codes.data(), false}));
  CHECK((codes == std::vector<std::uint8_t>{2, 1, 255, 255, 1, 2, 255, 0}));
}

TEST(floats_against_integer_categories) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{3.0F, 4.0F, nan, 3.5F, -0.0F, 1e30F};
  const FloatColumn<float> column{values.data(), values.size(), sizeof(float)};
  std::vector<std::uint8_t> codes(values.size());
  CHECK(encode_floats(column, CodeBook(std::vector<std::int64_t>{0, 3, 4}), FloatKeys::kWhole, {codes.data(), false}));
  CHECK((codes == std::vector<std::uint8_t>{1, 2, 255, 255, 0, 255}));
  const FloatColumn<float> known{values.data(), 3, sizeof(float)};
  CHECK(!encode_floats(known, CodeBook(std::vector<std::int64_t>{0, 3, 4}), FloatKeys::kWhole, {codes.data(), false}));
}

TEST(intervals_of_a_table) {
  std::mt19937_64 random(5);
  const std::size_t n_rows = 20000;
  std::vector<double> cells(n_rows * 3);
  for (auto& cell : cells) cell = static_cast<double>(random() % 1000) / 7.0;
  cells[4] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> cuts{{}, {20.0, 71.0}, {1.0, 2.0, 100.0}};
  const FloatMatrix<double> matrix{cells.data(), n_rows, 3, 24, 8};
  std::vector<std::vector<std::uint8_t>> first;
  for (const int threads : {1, 2, 7}) {
    std::vector<std::vector<std::uint8_t>> codes(3, std::vector<std::uint8_t>(n_rows));
    encode_intervals(matrix, cuts, std::vector<CodeBuffer>{{codes[0].data()}, {codes[1].data()}, {codes[2].data()}},
                     threads);
    if (first.empty()) first = codes;
    CHECK(codes == first);
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& points = cuts[i % 3];
    std::size_t expected = 0;
    while (expected < points.size() && cells[i] > points[expected]) ++expected;
    if (std::isnan(cells[i])) expected = 255;
    wrong += first[i % 3][i / 3] != expected ? 1 : 0;
  }
  CHECK_EQ(wrong, 0U);
}

TEST(strings_are_numbered_in_order_of_appearance) {
  std::mt19937_64 random(11);
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back(std::string(random() % 40, 'x') + std::to_string(random() % 700));
  texts.emplace_back();
  StringIndex index;
  std::map<std::string, std::uint32_t> expected;
  std::size_t wrong = 0;
  for (const auto& text : texts) {
    const auto number = expected.emplace(text, static_cast<std::uint32_t>(expected.size())).first->second;
    wrong += index.insert(text) != number ? 1 : 0;
  }
  CHECK_EQ(wrong, 0U);
  CHECK_EQ(index.keys().size(), expected.size());

  const char fixed[] = "ab\0cd\0ab\0\0\0\0";
  std::vector<std::int32_t> numbers(4);
  const auto rows = number_fixed_strings(fixed, 3, 3, numbers);
  CHECK((numbers == std::vector<std::int32_t>{0, 1, 0, 2}));
  CHECK((rows == std::vector<std::int64_t>{0, 1, 3}));
}

// A stream of one or two chunks of strings, as a data frame would hand it over.
namespace {

struct FakeStream {
  const char* format = "u";
  std::vector<ArrowArray> chunks;
  std::size_t next = 0;
  bool broken = false;
  int released = 0;

  ArrowArrayStream stream() {
    return {[](ArrowArrayStream* s, ArrowSchema* out) {
              *out = {};
              out->format = self(s).format;
              out->release = [](ArrowSchema* schema) { schema->release = nullptr; };
              return 0;
            },
            [](ArrowArrayStream* s, ArrowArray* out) {
              if (self(s).broken) return 5;
              *out = {};
              if (self(s).next < self(s).chunks.size()) *out = self(s).chunks[self(s).next++];
              return 0;
            },
            [](ArrowArrayStream*) -> const char* { return "the disk is full"; },
            [](ArrowArrayStream* s) {
              ++self(s).released;
              s->release = nullptr;
            },
            this};
  }
  static FakeStream& self(ArrowArrayStream* s) { return *static_cast<FakeStream*>(s->private_data); }
};

int chunks_released = 0;

ArrowArray chunk(std::int64_t length, std::int64_t offset, const void** buffers, std::int64_t n_buffers,
                 std::int64_t nulls) {
  ArrowArray array{};
  array.length = length;
  array.offset = offset;
  array.buffers = buffers;
  array.n_buffers = n_buffers;
  array.null_count = nulls;
  array.release = [](ArrowArray* a) {
    ++chunks_released;
    a->release = nullptr;
  };
  return array;
}

}  // namespace

TEST(arrow_strings_with_offsets_nulls_and_chunks) {
  const std::int32_t offsets[] = {0, 1, 3, 3, 4};
  const char text[] = "abca";
  const std::uint8_t valid[] = {0b1011};
  const void* with_nulls[] = {valid, offsets, text};
  const void* without[] = {nullptr, offsets, text};
  FakeStream fake;
  fake.chunks = {chunk(4, 0, with_nulls, 3, -1), chunk(2, 2, without, 3, 0)};
  auto stream = fake.stream();
  chunks_released = 0;
  {
    const ArrowStrings strings(stream);
    CHECK_EQ(strings.n_rows(), 6U);
    std::vector<std::int32_t> numbers(6);
    const auto distinct = strings.number(numbers);
    CHECK((numbers == std::vector<std::int32_t>{0, 1, -1, 0, 2, 0}));
    CHECK((distinct == std::vector<std::string_view>{"a", "bc", ""}));
    std::vector<std::int32_t> short_one(5);
    CHECK_THROWS(InvalidInput, strings.number(short_one), "room for 6");
  }
  CHECK_EQ(chunks_released, 2);
  CHECK_EQ(fake.released, 1);
  CHECK_THROWS(InvalidInput, ArrowStrings{stream}, "only once");
}

TEST(arrow_string_views) {
  const std::string longer = "a text of more than twelve bytes";
  char views[48] = {};
  const auto set = [&](std::size_t row, std::int32_t length, const std::string& inline_text, std::int32_t offset) {
    std::memcpy(views + 16 * row, &length, 4);
    std::memcpy(views + 16 * row + 4, inline_text.data(), inline_text.size());
    if (length > 12) std::memcpy(views + 16 * row + 12, &offset, 4);
  };
  set(0, 3, "abc", 0);
  set(1, static_cast<std::int32_t>(longer.size()), longer.substr(0, 4), 0);
  set(2, 12, "exactly_12_b", 0);
  const void* buffers[] = {nullptr, views, longer.data()};
  FakeStream fake;
  fake.format = "vu";
  fake.chunks = {chunk(3, 0, buffers, 3, 0)};
  auto stream = fake.stream();
  const ArrowStrings strings(stream);
  std::vector<std::int32_t> numbers(3);
  CHECK((strings.number(numbers) == std::vector<std::string_view>{"abc", longer, "exactly_12_b"}));
}

TEST(arrow_streams_that_fail) {
  FakeStream integers;
  integers.format = "l";
  auto stream = integers.stream();
  CHECK_THROWS(InvalidInput, ArrowStrings{stream}, "format 'l'");
  CHECK_EQ(integers.released, 1);
  FakeStream broken;
  broken.broken = true;
  stream = broken.stream();
  CHECK_THROWS(InvalidInput, ArrowStrings{stream}, "the disk is full");
}

TEST(integers_are_learned_and_encoded_in_one_call) {
  // Column 0 is seen as a whole by any sample; 1 has a rare value; 2 needs 16 bits, which only reading all of it tells.
  const std::size_t n_rows = 50'000;
  std::vector<std::int32_t> cells(3 * n_rows);
  for (std::size_t i = 0; i < n_rows; ++i) {
    cells[i] = static_cast<std::int32_t>(i % 3) - 1;
    cells[n_rows + i] = i == 777 ? 1'000'000 : 5;
    cells[2 * n_rows + i] = i % 100 == 1 ? static_cast<std::int32_t>(i) : 7;
  }
  const IntegerMatrix matrix{cells.data(),
                             IntegerType::kInt32,
                             n_rows,
                             3,
                             sizeof(std::int32_t),
                             static_cast<std::ptrdiff_t>(n_rows * sizeof(std::int32_t))};
  for (const int threads : {1, 2}) {
    std::vector<std::vector<std::uint8_t>> narrow(3, std::vector<std::uint8_t>(n_rows));
    std::vector<std::vector<std::uint16_t>> wide(3);
    std::vector<CodeBuffer> out;
    for (auto& codes : narrow) out.push_back({codes.data(), false});
    const auto widened = [&](std::size_t column) {
      wide[column].resize(n_rows);
      return CodeBuffer{wide[column].data(), true};
    };
    const auto keys = learn_integers(matrix, out, widened, threads);
    CHECK(keys[0] == (std::vector<std::int64_t>{-1, 0, 1}));
    CHECK(keys[1] == (std::vector<std::int64_t>{5, 1'000'000}));
    CHECK_EQ(keys[2].size(), n_rows / 100 + 1);
    CHECK(!out[0].wide && !out[1].wide && out[2].wide);
    for (std::size_t i = 0; i < n_rows; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        const std::size_t code = out[j].wide ? wide[j][i] : narrow[j][i];
        CHECK_EQ(keys[j][code], cells[j * n_rows + i]);
      }
  }
}

TEST_MAIN

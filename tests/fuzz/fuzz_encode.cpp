// Encoders: integers, floats and intervals to codes, from any place in memory, against maps and loops.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <vector>

#include "fuzz.hpp"
#include "places.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

const int fuzz::kShortRuns = 6000;
const std::size_t fuzz::kMaxLength = 300;

namespace {

using namespace tanager;
using fuzz::Place;

struct Codes {
  bool wide = false;
  std::vector<std::uint8_t> narrow_codes;
  std::vector<std::uint16_t> wide_codes;

  Codes(bool is_wide, std::size_t n_rows) : wide(is_wide) {
    if (wide)
      wide_codes.resize(n_rows);
    else
      narrow_codes.resize(n_rows);
  }
  CodeBuffer buffer() {
    if (wide) return {wide_codes.data(), true};
    return {narrow_codes.data(), false};
  }
  Code operator[](std::size_t row) const {
    if (wide) return wide_codes[row];
    return narrow_codes[row] == kMissing8 ? kMissing : Code{narrow_codes[row]};
  }
};

/// A book and what it should say.
struct Book {
  std::optional<CodeBook> book;
  std::map<std::int64_t, Code> codes;

  Code find(std::int64_t key) const {
    const auto found = codes.find(key);
    return found == codes.end() ? kMissing : found->second;
  }
};

/// A book of most of these keys, in any order, and of some others.
Book read_book(fuzz::Input& input, const std::vector<std::int64_t>& known, std::mt19937_64& random,
               bool may_be_full = false) {
  Book made;
  if (input.number(0, 7) == 7) {  // a table where several keys may share one code
    std::vector<Code> table(input.size(0, 300));
    const std::uint32_t n_codes = static_cast<std::uint32_t>(input.edge_size(300));
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = random() % 8 == 0 ? kMissing : static_cast<Code>(random() % n_codes);
      if (table[i] != kMissing) made.codes[static_cast<std::int64_t>(i)] = table[i];
    }
    made.book = CodeBook::from_table(table, n_codes);
    return made;
  }
  const std::size_t left_out = input.choose<std::size_t>({0, 0, 1, 5});  // of ten
  std::vector<std::int64_t> keys;
  for (const std::int64_t key : known)
    if (keys.empty() || random() % 10 >= left_out) keys.push_back(key);
  std::set<std::int64_t> seen(keys.begin(), keys.end());
  const std::int64_t start = input.choose<std::int64_t>(
      {0, -3, 250, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max() - 400});
  for (std::size_t i = input.number(0, 3) != 0 ? 0 : input.size(0, 300); i > 0; --i)
    if (const std::int64_t key = start + static_cast<std::int64_t>(i); seen.insert(key).second) keys.push_back(key);
  if (may_be_full && input.number(0, 63) == 63) {  // up to and beyond what a column can have
    const std::size_t wanted = kMaxValues - 1 + input.size(0, 3);
    const std::int64_t step = input.flag() ? 1 : 3;
    for (std::int64_t key = 1000; keys.size() < wanted; key += step)
      if (seen.size() < 2000 ? seen.insert(key).second : seen.count(key) == 0) keys.push_back(key);
  }
  if (input.flag()) std::sort(keys.begin(), keys.end());
  const bool twice = input.number(0, 15) == 15 && !keys.empty();
  if (twice) keys.push_back(keys[random() % keys.size()]);
  try {
    made.book.emplace(keys);
    fuzz::require(!twice && keys.size() <= kMaxValues, "a book was made of keys that are too many, or given twice");
  } catch (const InvalidInput&) {
    fuzz::require(twice || keys.size() > kMaxValues, "a book was rejected");
    made.book.emplace(std::vector<std::int64_t>());
    return made;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) made.codes[keys[i]] = static_cast<Code>(i);
  fuzz::require_same(std::size_t{made.book->n_codes()}, keys.size(), "codes of a book");
  fuzz::require_same(made.book->is_wide(), keys.size() > kMaxNarrowValues, "width of a book");
  return made;
}

// -- integers

template <class T>
T random_integer(std::size_t way, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (way) {
    case 0:
      return static_cast<T>(bits % 5);
    case 1:
      return static_cast<T>(bits % 300);
    case 2:
      return static_cast<T>(bits % 20 * 7 - 50);
    case 3:
      return bits % 2 == 0 ? static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(bits >> 8 & 3))
                           : static_cast<T>(std::numeric_limits<T>::min() + static_cast<T>(bits >> 8 & 3));
    case 4: {  // far apart, yet not so that every input would fill a table of millions
      constexpr std::array<std::uint64_t, 8> kShifts = {0, 2, 4, 6, 9, 40, 50, 59};
      return static_cast<T>(bits % 16 << kShifts[bits >> 61]);
    }
    case 6:  // around the largest span that is kept as a table
      return static_cast<T>(bits % 3 * ((1 << 21) - 1) + (bits >> 62));
    default:
      return static_cast<T>(bits);
  }
}

constexpr bool is_key(std::uint64_t value) {
  return value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
}

/// Integers found and encoded in one call: codes are positions among the distinct integers of the column.
template <class ValueAt>
void check_learning(const IntegerMatrix& matrix, const std::vector<std::set<std::int64_t>>& known, bool too_large,
                    int threads, ValueAt value_at) {
  std::vector<Codes> codes(matrix.n_columns, Codes(false, matrix.n_rows));
  std::vector<CodeBuffer> out;
  for (Codes& column : codes) out.push_back(column.buffer());
  const auto widened = [&](std::size_t j) {
    codes[j] = Codes(true, matrix.n_rows);
    return codes[j].buffer();
  };
  std::vector<std::vector<std::int64_t>> keys;
  try {
    keys = learn_integers(matrix, out, widened, threads);
  } catch (const InvalidInput&) {
    fuzz::require(too_large, "integers to learn were rejected");
    return;
  }
  fuzz::require(!too_large, "an integer beyond 64 bits was learned");
  for (std::size_t j = 0; j < matrix.n_columns; ++j) {
    fuzz::require(std::equal(keys[j].begin(), keys[j].end(), known[j].begin(), known[j].end()), "learned integers");
    if (keys[j].size() > kMaxValues) continue;  // the caller rejects the column
    fuzz::require_same(codes[j].wide, keys[j].size() > kMaxNarrowValues, "width of learned codes");
    for (std::size_t i = 0; i < matrix.n_rows; ++i) {
      const Code code = codes[j][i];
      fuzz::require(code < keys[j].size() && keys[j][code] == static_cast<std::int64_t>(value_at(i, j)),
                    "learned code of an integer");
    }
  }
}

template <class T>
void check_integers(fuzz::Input& input, IntegerType type) {
  // Of 16 bits, every column is a table of 65,536 flags.
  const std::size_t n_columns = input.flag() || sizeof(T) == 2 ? input.size(0, 5) : input.size(0, 40);
  // Sometimes more rows than learn_integers samples first, and rare integers, which it finds only later.
  const bool is_tall = input.number(0, 31) == 31;
  const std::size_t n_rows = is_tall         ? input.size(4'000, 6'000)
                             : n_columns > 8 ? input.size(0, 100)
                                             : fuzz::read_n_rows(input);
  const bool is_far = n_columns == 1 && input.number(0, 31) == 31;
  Place place = fuzz::read_place(input, n_rows, n_columns, sizeof(T));
  std::mt19937_64 random = input.random();
  for (std::size_t j = 0; j < n_columns; ++j) {
    const std::size_t way = is_far ? 6 : is_tall ? 0 : input.size(0, 5);
    const std::size_t rare = is_tall && j % 8 == 0 ? random() % n_rows : n_rows;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const T value = random_integer<T>(i == rare ? 7 : way, random);
      std::memcpy(place.at(i, j), &value, sizeof value);
    }
  }
  const IntegerMatrix matrix{place.data(), type, n_rows, n_columns, place.row_stride, place.column_stride};
  const int threads = static_cast<int>(input.number(1, 2));
  const auto value_at = [&](std::size_t i, std::size_t j) {
    T value;
    std::memcpy(&value, place.at(i, j), sizeof value);
    return value;
  };

  std::vector<std::set<std::int64_t>> known(n_columns);
  bool too_large = false;
  for (std::size_t j = 0; j < n_columns; ++j)
    for (std::size_t i = 0; i < n_rows; ++i) {
      const T value = value_at(i, j);
      if (std::is_same_v<T, std::uint64_t> && !is_key(static_cast<std::uint64_t>(value)))
        too_large = true;
      else
        known[j].insert(static_cast<std::int64_t>(value));
    }
  std::vector<std::size_t> columns;
  for (std::size_t j = n_columns; j-- > 0;) columns.push_back(j);
  try {
    const auto found = distinct_integers(matrix, columns, threads);
    fuzz::require(!too_large, "an integer beyond 64 bits was taken");
    for (std::size_t c = 0; c < columns.size(); ++c)
      fuzz::require(std::equal(found[c].begin(), found[c].end(), known[columns[c]].begin(), known[columns[c]].end()),
                    "distinct integers");
    const auto sampled = sampled_integers(matrix);
    for (std::size_t j = 0; j < n_columns; ++j)
      fuzz::require(std::includes(known[j].begin(), known[j].end(), sampled[j].begin(), sampled[j].end()),
                    "a sample holds integers that are not there");
  } catch (const InvalidInput&) {
    fuzz::require(too_large, "integers were rejected");
  }

  check_learning(matrix, known, too_large, threads, value_at);

  std::vector<Book> books;
  std::vector<Codes> codes;
  for (std::size_t j = 0; j < n_columns; ++j) {
    books.push_back(read_book(input, {known[j].begin(), known[j].end()}, random, n_columns == 1));
    codes.emplace_back(books[j].book->is_wide(), n_rows);
  }
  std::vector<const CodeBook*> pointers;
  std::vector<CodeBuffer> out;
  for (std::size_t j = 0; j < n_columns; ++j) {
    pointers.push_back(&*books[j].book);
    out.push_back(codes[j].buffer());
  }
  const std::vector<std::uint8_t> unseen = encode_integers(matrix, pointers, out, threads);
  fuzz::require_same(unseen.size(), n_columns, "columns");
  for (std::size_t j = 0; j < n_columns; ++j) {
    bool expected = false;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const T value = value_at(i, j);
      const bool is_there = !std::is_same_v<T, std::uint64_t> || is_key(static_cast<std::uint64_t>(value));
      const Code code = is_there ? books[j].find(static_cast<std::int64_t>(value)) : kMissing;
      expected = expected || code == kMissing;
      if (codes[j][i] != code) fuzz::require_same(codes[j][i], code, "code of an integer");
    }
    fuzz::require_same(unseen[j] != 0, expected, "whether an integer has no code");
  }
}

// -- floats

template <class Float>
Float random_float(std::size_t way, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (way) {
    case 0:
      return static_cast<Float>(bits % 7) - 3;
    case 1: {
      constexpr std::array<double, 12> kOdd = {0.0,    -0.0,    5e-324, 1e-40, HUGE_VAL, -HUGE_VAL,
                                               0x1p63, -0x1p63, 0x1p53, 0.1,   1e308,    3.4e38};
      return static_cast<Float>(kOdd[bits % kOdd.size()]);
    }
    case 2:
      return bits % 4 == 0 ? std::numeric_limits<Float>::quiet_NaN() : static_cast<Float>(bits % 600) / 2;
    default: {
      Float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
  }
}

template <class Float>
void check_floats(fuzz::Input& input) {
  const std::size_t n_rows = fuzz::read_n_rows(input);
  Place place = fuzz::read_place(input, n_rows, 1, sizeof(Float));
  std::mt19937_64 random = input.random();
  const std::size_t way = input.size(0, 3);
  for (std::size_t i = 0; i < n_rows; ++i) {
    const Float value = random_float<Float>(way, random);
    std::memcpy(place.at(i, 0), &value, sizeof value);
  }
  const auto value_at = [&](std::size_t i) {
    Float value;
    std::memcpy(&value, place.at(i, 0), sizeof value);
    return static_cast<double>(value);
  };
  const FloatColumn<Float> column{place.data(), n_rows, place.row_stride};
  std::set<double> known;
  for (std::size_t i = 0; i < n_rows; ++i)
    if (!std::isnan(value_at(i))) known.insert(value_at(i));
  const std::vector<double> found = distinct_floats(column);
  fuzz::require(std::equal(found.begin(), found.end(), known.begin(), known.end()), "distinct floats");

  const FloatKeys keys = input.flag() ? FloatKeys::kWhole : FloatKeys::kPattern;
  const auto key_of = [&](double value) -> std::optional<std::int64_t> {
    if (keys == FloatKeys::kPattern) {
      std::int64_t bits;
      if (value == 0.0) value = 0.0;  // both zeros are one
      std::memcpy(&bits, &value, sizeof bits);
      return value == 0.0 ? 0 : bits;
    }
    if (!(value >= -0x1p63 && value < 0x1p63) || std::trunc(value) != value) return std::nullopt;
    return static_cast<std::int64_t>(value);
  };
  std::vector<std::int64_t> wanted;
  for (const double value : known)
    if (const auto key = key_of(value)) wanted.push_back(*key);
  const Book book = read_book(input, wanted, random);
  Codes codes(book.book->is_wide(), n_rows);
  const bool unseen = encode_floats(column, *book.book, keys, codes.buffer());
  bool expected = false;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double value = value_at(i);
    const auto key = std::isnan(value) ? std::nullopt : key_of(value);
    const Code code = key ? book.find(*key) : kMissing;
    expected = expected || (code == kMissing && !std::isnan(value));
    if (codes[i] != code) fuzz::require_same(codes[i], code, "code of a float");
  }
  fuzz::require_same(unseen, expected, "whether a float has no code");
}

template <class Float>
void check_intervals(fuzz::Input& input) {
  const std::size_t n_columns = input.size(0, 4), n_rows = fuzz::read_n_rows(input);
  Place place = fuzz::read_place(input, n_rows, n_columns, sizeof(Float));
  std::mt19937_64 random = input.random();
  std::vector<std::vector<double>> cuts(n_columns);
  std::vector<Codes> codes;
  for (std::size_t j = 0; j < n_columns; ++j) {
    const std::size_t way = input.size(0, 3);
    for (std::size_t i = 0; i < n_rows; ++i) {
      const Float value = random_float<Float>(way, random);
      std::memcpy(place.at(i, j), &value, sizeof value);
    }
    std::set<double> chosen;
    for (std::size_t left = input.edge_size(400) - 1; left > 0; --left)
      if (const double cut = random_float<Float>(random() % 4, random); !std::isnan(cut)) chosen.insert(cut);
    cuts[j].assign(chosen.begin(), chosen.end());
    codes.emplace_back(cuts[j].size() + 1 > kMaxNarrowValues || input.flag(), n_rows);
  }
  std::vector<CodeBuffer> out;
  for (Codes& column : codes) out.push_back(column.buffer());
  const FloatMatrix<Float> matrix{place.data(), n_rows, n_columns, place.row_stride, place.column_stride};
  encode_intervals(matrix, std::span<const std::vector<double>>(cuts), out, static_cast<int>(input.number(1, 2)));
  for (std::size_t j = 0; j < n_columns; ++j)
    for (std::size_t i = 0; i < n_rows; ++i) {
      Float value;
      std::memcpy(&value, place.at(i, j), sizeof value);
      std::size_t expected = 0;
      for (const double cut : cuts[j]) expected += cut < static_cast<double>(value) ? 1 : 0;
      const Code code = std::isnan(value) ? kMissing : static_cast<Code>(expected);
      if (codes[j][i] != code) fuzz::require_same(codes[j][i], code, "code of an interval");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.number(0, 13)) {
    case 0:
    case 1:
      check_integers<std::int8_t>(input, IntegerType::kInt8);
      break;
    case 2:
    case 3:
      check_integers<std::uint8_t>(input, IntegerType::kUint8);
      break;
    case 4:
      check_integers<std::int16_t>(input, IntegerType::kInt16);
      break;
    case 5:
      check_integers<std::uint16_t>(input, IntegerType::kUint16);
      break;
    case 6:
      check_integers<std::int32_t>(input, IntegerType::kInt32);
      break;
    case 7:
      check_integers<std::uint32_t>(input, IntegerType::kUint32);
      break;
    case 8:
      check_integers<std::int64_t>(input, IntegerType::kInt64);
      break;
    case 9:
      check_integers<std::uint64_t>(input, IntegerType::kUint64);
      break;
    case 10:
      check_floats<float>(input);
      break;
    case 11:
      check_floats<double>(input);
      break;
    case 12:
      check_intervals<float>(input);
      break;
    default:
      check_intervals<double>(input);
  }
  return 0;
}

// Tables as text: records and cells against a reader that looks at one character at a time, and rows of codes against
// Model::encode.
#include <cstring>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "csv/csv.hpp"
#include "csv/rows.hpp"
#include "model_file/labels.hpp"
#include "model_file/settings.hpp"
#include "model_fixtures.hpp"
#include "support/words.hpp"

using namespace fixtures;
using namespace tanager::internal;

namespace {

using Table = std::vector<std::vector<std::string>>;

/// A text with exactly the padding that readers need, so a sanitizer detects one byte more.
struct Padded {
  explicit Padded(const std::string& text) : bytes(text.begin(), text.end()), size(text.size()) {
    bytes.insert(bytes.end(), kCsvPadding, 'x');
    bytes.shrink_to_fit();
  }
  std::span<char> text() { return {bytes.data(), size}; }

  std::vector<char> bytes;
  std::size_t size;
};

Table read_all(const std::string& text, char delimiter = ',') {
  Padded padded(text);
  CsvRecords records(padded.text(), delimiter);
  Table table;
  while (records.next()) table.emplace_back(records.cells().begin(), records.cells().end());
  return table;
}

/// The oracle: one character at a time; none where the text is wrong.
std::optional<Table> read_slowly(const std::string& text, char delimiter) {
  enum { kCellStart, kPlain, kQuoted, kClosed } state = kCellStart;
  Table table;
  std::vector<std::string> record;
  std::string cell;
  const auto end_cell = [&] {
    record.push_back(cell);
    cell.clear();
    state = kCellStart;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_end = c == '\n' || c == '\r';
    if (state == kQuoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        state = kClosed;
      }
    } else if (state == kCellStart && c == '"') {
      state = kQuoted;
    } else if (c == delimiter) {
      end_cell();
    } else if (is_end) {
      const bool is_empty_line = record.empty() && cell.empty() && state == kCellStart;
      if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
      if (is_empty_line) continue;
      end_cell();
      table.push_back(record);
      record.clear();
    } else if (state == kClosed) {
      return std::nullopt;
    } else {
      cell += c;
      state = kPlain;
    }
  }
  if (state == kQuoted) return std::nullopt;
  return table;
}

std::string random_text(std::mt19937& random, std::string_view alphabet, std::size_t longest) {
  std::string text(random() % (longest + 1), ' ');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

std::string write(const Table& table, char delimiter, std::mt19937& random) {
  constexpr std::array<const char*, 4> kEnds = {"\n", "\r\n", "\r", "\n\r\n"};
  std::string text;
  for (const auto& record : table) {
    for (std::size_t j = 0; j < record.size(); ++j) {
      if (j > 0) text += delimiter;
      const std::size_t begin = text.size();
      append_cell(text, record[j], delimiter);
      // An empty cell alone would be an empty line; others may be in quotes or not.
      const bool is_bare = text.size() - begin == record[j].size();
      if (is_bare && (record.size() == 1 || random() % 4 == 0)) text = text.substr(0, begin) + '"' + record[j] + '"';
    }
    text += kEnds[random() % kEnds.size()];
  }
  return text;
}

/// All records of a text that comes in parts of any size, as the program reads it.
Table read_in_parts(const std::string& text, char delimiter, std::mt19937& random) {
  Table table;
  std::string held;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = 1 + random() % 12;
    held += text.substr(at, size);
    at += size;
    const std::size_t whole = at < text.size() ? whole_records(held, delimiter) : held.size();
    for (auto& record : read_all(held.substr(0, whole), delimiter)) table.push_back(std::move(record));
    held.erase(0, whole);
  }
  return table;
}

}  // namespace

TEST(what_is_written_is_read_whole_and_in_parts) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const char delimiter = ",;\t "[trial % 4];
    Table table(random() % 6, std::vector<std::string>(1 + random() % 20));
    for (auto& record : table)
      for (auto& cell : record) cell = random_text(random, "ab\",;\t \r\n\xC3\xA9", random() % 8 == 0 ? 40 : 4);
    const std::string text = write(table, delimiter, random);
    CHECK(read_all(text, delimiter) == table);
    CHECK(read_in_parts(text, delimiter, random) == table);
  }
}

TEST(any_text_is_read_as_the_slow_reader_reads_it) {
  std::mt19937 random(2);
  int n_wrong = 0;
  for (int trial = 0; trial < 30000; ++trial) {
    const std::string text = random_text(random, trial % 2 == 0 ? "a,\n" : "ab,,\"\"\n\r", 24) + "\n";
    const auto expected = read_slowly(text, ',');
    n_wrong += !expected.has_value();
    std::optional<Table> got;
    try {
      got = read_all(text);
    } catch (const CsvError&) {
    }
    CHECK(got == expected);
    if (expected) CHECK(read_in_parts(text, ',', random) == *expected);
  }
  CHECK(n_wrong > 1000);
}

TEST(records_and_errors_have_line_numbers) {
  Padded padded("a\n\n\"b\r\nc\rd\"\r\n\re\n");
  CsvRecords records(padded.text(), ',');
  std::vector<std::size_t> lines;
  while (records.next()) lines.push_back(records.line());
  CHECK((lines == std::vector<std::size_t>{0, 2, 6}));
  CHECK_EQ(records.line(), 7U);
  for (const auto& [text, line] :
       std::vector<std::pair<std::string, std::size_t>>{{"a\n\n\"b\n", 2}, {"\"a\nb\"\nc,\"d\"e\n", 2}, {"\"", 0}}) {
    try {
      read_all(text + "\n");
      CHECK(false);
    } catch (const CsvError& error) {
      CHECK_EQ(error.line(), line);
    }
  }
}

TEST(numbers_are_read_as_tables_have_them) {
  const std::vector<std::pair<std::string, double>> known = {{"1", 1},
                                                             {"+1", 1},
                                                             {" -1.5\t", -1.5},
                                                             {".5", 0.5},
                                                             {"5.", 5},
                                                             {"1E3", 1000},
                                                             {"1e400", kInfinity},
                                                             {"-1e400", -kInfinity},
                                                             {"1e-400", 0},
                                                             {"inf", kInfinity},
                                                             {"-Infinity", -kInfinity},
                                                             {"0.000001e400", kInfinity},
                                                             {"1000000e-400", 0},
                                                             {"1e99999999999999999999", kInfinity},
                                                             {"1e-99999999999999999999", 0},
                                                             {"0e99999", 0},
                                                             {std::string(400, '9'), kInfinity},
                                                             {"0." + std::string(400, '0') + "1", 0},
                                                             {"9007199254740993", 9007199254740992}};
  for (const auto& [text, value] : known) CHECK_EQ(parse_number(text), value);
  for (const char* text : {"", " ", "+", "-", "+-1", "1 2", "0x10", "1_0", "1,5", "e5", ".", "nan", "NaN", "1e", "--1"})
    CHECK(std::isnan(parse_number(text)));
  CHECK(spells_nan(" NaN") && spells_nan("-nan") && !spells_nan("") && !spells_nan("1") && !spells_nan("NA"));
}

TEST(short_numbers_are_rounded_as_the_standard_library_rounds_them) {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 200000; ++trial) {
    std::string text = std::to_string(random() >> (random() % 64));
    if (random() % 4 != 0) text.insert(random() % (text.size() + 1), 1, '.');
    if (random() % 2 == 0) text.insert(0, 1, '-');
    const double got = parse_number(text);
    const double expected = std::strtod(text.c_str(), nullptr);
    CHECK(std::memcmp(&got, &expected, sizeof got) == 0);
  }
  for (const char* text :
       {"0", "-0", "-0.0", ".0", "0.1", "123456789012345", "1234567890123456", "999999999999999.9"}) {
    const double got = parse_number(text);
    const double expected = std::strtod(text, nullptr);
    CHECK(std::memcmp(&got, &expected, sizeof got) == 0);
  }
}

TEST(numbers_are_written_so_that_they_read_back) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 10000; ++trial) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    std::string text = "x";
    append_number(text, value);
    CHECK_EQ(parse_number(text.substr(1)), value);
  }
  std::string text;
  for (const double value : {0.0, 1.0, 0.1, 1e-5, 1.0 / 3.0}) append_number(text, value), text += ' ';
  CHECK_EQ(text, "0 1 0.1 1e-05 0.3333333333333333 ");
}

namespace {

/// Labels of all kinds and lengths; more than a block remembers.
Model wide_model() {
  std::vector<Label> many;
  for (int i = 0; i < 700; ++i)
    many.push_back("v" + std::to_string(i) + std::string(static_cast<std::size_t>(i % 20), '-'));
  std::vector<FeatureInfo> features = {
      categories("many", many),
      categories("whole", {std::int64_t{3}, kTwoTo53, kTwoTo53 + 1}),
      categories("flag", {false, true}),
      categories("mixed", {std::string("NA"), std::string(""), 2.5, std::string("a\0b", 3)}),
      intervals("size", {-1.0, 0.0, 2.5}),
      categories("never", {})};
  return Model(random_network({{}, {}, {}, {}, {}, {}}, {700, 3, 2, 4, 4, 1}, 2, 5), features,
               {std::string("no"), std::string("yes")});
}

std::string random_cell(const Model& model, std::size_t feature, std::mt19937& random) {
  const FeatureInfo& info = model.features()[feature];
  if (random() % 8 == 0) return std::string(kMissingMarkers[random() % kMissingMarkers.size()]);
  if (info.is_interval) return std::to_string(static_cast<int>(random() % 9) - 4) + (random() % 2 == 0 ? ".5" : "");
  if (info.labels.empty() || random() % 8 == 0) return random_text(random, "v1-", 20);
  return label_text(info.labels[random() % info.labels.size()]);
}

}  // namespace

TEST(rows_have_the_codes_that_the_model_gives_their_cells) {
  const Model model = wide_model();
  std::mt19937 random(4);
  CsvOptions options;
  options.keep = {"other", "whole"};
  const std::vector<std::string_view> names = {"size", "other", "flag", "never", "mixed", "whole", "many"};
  const CsvEncoder encoder(model, names, options);
  CsvRows rows = encoder.make_rows();
  std::vector<Code> row(model.n_features());
  for (int block = 0; block < 20; ++block) {
    Table table(200, std::vector<std::string>(names.size()));
    for (auto& record : table)
      for (std::size_t j = 0; j < names.size(); ++j)
        record[j] = j == 1 ? random_text(random, "\"x,", 3) : random_cell(model, model.feature_index(names[j]), random);
    Padded text(write(table, ',', random));
    CsvRecords records(text.text(), ',');
    encoder.encode(records, rows);
    CHECK_EQ(rows.n_rows(), table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
      rows.copy_row(i, row);
      std::string kept;
      for (const std::size_t j : {1, 5}) append_cell(kept, table[i][j], ','), kept += ',';
      CHECK_EQ(rows.kept(i), kept);
      for (std::size_t j = 0; j < names.size(); ++j) {
        if (j == 1) continue;
        const bool missing = std::count(kMissingMarkers.begin(), kMissingMarkers.end(), table[i][j]) > 0;
        const std::size_t f = model.feature_index(names[j]);
        CHECK_EQ(row[f], missing ? kMissing : model.encode(f, std::string_view(table[i][j])));
      }
    }
  }
}

TEST(columns_are_found_at_once_however_many_there_are) {
  const std::size_t n_features = 10000, n_columns = 100000;
  std::vector<FeatureInfo> features;
  for (std::size_t f = 0; f < n_features; ++f) features.push_back(categories("c" + std::to_string(7 * f), {}));
  const Model model(random_network(std::vector<std::vector<std::size_t>>(n_features),
                                   std::vector<std::uint32_t>(n_features, 1), 2, 1),
                    features, {false, true});
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < n_columns; ++c) texts.push_back("c" + std::to_string(n_columns - 1 - c));
  std::vector<std::string_view> names(texts.begin(), texts.end());
  const std::clock_t start = std::clock();
  CsvOptions options;
  options.keep = {"c99999", "c0", "c99999"};
  const CsvEncoder encoder(model, names, options);
  CHECK((encoder.kept_names() == std::vector<std::string>{"c99999", "c0"}));
  names[17] = "c7";
  CHECK_THROWS(InvalidInput, CsvEncoder(model, names, {}), "the table has duplicate columns named 'c7'");
  names[17] = names[18] = "twice";  // that nobody needs
  CsvEncoder(model, names, {});
  std::ranges::replace(names, std::string_view("c14"), std::string_view("none"));
  std::ranges::replace(names, std::string_view("c7"), std::string_view("none"));
  CHECK_THROWS(InvalidInput, CsvEncoder(model, names, {}), "the table lacks the columns 'c7', 'c14' of the model");
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 3);
}

TEST(bytes_behind_a_cell_are_zero_in_either_byte_order) {
  const std::array<unsigned char, 8> bytes{0x81, 0x02, 0xFF, 0x04, 0x00, 0xF6, 0x07, 0x88};
  const auto word_of = [&](bool little, std::size_t size) {  // as memory with `size` of the bytes would be loaded
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < std::min(size, bytes.size()); ++i)
      word |= std::uint64_t{bytes[i]} << 8 * (little ? i : bytes.size() - 1 - i);
    return word;
  };
  for (std::size_t size = 0; size <= 16; ++size) {
    CHECK_EQ(first_bytes<std::endian::little>(word_of(true, 8), size), word_of(true, size));
    CHECK_EQ(first_bytes<std::endian::big>(word_of(false, 8), size), word_of(false, size));
  }
}

TEST(markers_and_unseen_categories_are_what_was_asked_for) {
  const Model model = wide_model();
  const std::vector<std::string_view> names = {"many", "whole", "flag", "mixed", "size", "never"};
  const auto encode = [&](const std::string& line, CsvOptions options) {
    const CsvEncoder encoder(model, names, options);
    CsvRows rows = encoder.make_rows();
    Padded text(line + "\n");
    CsvRecords records(text.text(), ',');
    encoder.encode(records, rows);
    std::vector<Code> row(model.n_features());
    rows.copy_row(0, row);
    return row;
  };
  CsvOptions own;
  own.missing = {"3", "-1"};
  CHECK((encode("v0,3,TRUE,NA,-1,x", own) == std::vector<Code>{0, kMissing, 1, 0, kMissing, kMissing}));
  CHECK((encode("v0,+3,true,2.50, -1 ,x", own) == std::vector<Code>{0, 0, 1, 2, 0, kMissing}));
  CHECK((encode("v0,9007199254740993,1,2.5,nan,", own) == std::vector<Code>{0, 2, 1, 2, kMissing, kMissing}));
  CsvOptions strict;
  strict.reject_unseen = true;
  CHECK((encode("v1-,3,true,NA,1,", strict) == std::vector<Code>{1, 0, 1, kMissing, 2, kMissing}));
  CHECK_THROWS(CsvError, encode("v1-,4,true,NA,1,", strict), "'whole' contains the unknown category '4'");
  CHECK_THROWS(CsvError, encode("v1-,3,true,NA,1,x", strict), "'never' contains the unknown category 'x'");
  CHECK_THROWS(CsvError, encode("v1-,3,true,NA,one,", {}), "'size' must be numeric, but contains 'one'");
  CHECK_THROWS(CsvError, encode("v1-,3,true,NA,1", {}), "expected 6 fields as in the header, got 5");
}

TEST(settings_are_found_by_their_names) {
  constexpr std::array<std::string_view, 2> kPlace = {"params", "unseen"};
  const auto find = [&](const std::string& json) { return setting_text(json, kPlace).value_or("none"); };
  CHECK_EQ(find(R"({"a": [1, {"unseen": "no"}, "}"], "params": {"b": NaN, "c": "\"", "unseen": "error"}})"), "error");
  CHECK_EQ(find(R"({"params":{"unseen":"missing"}})"), "missing");
  CHECK_EQ(find(R"({"unseen": "error", "params": {"other": {"unseen": "error"}}})"), "none");
  CHECK_EQ(find(R"({"params": {"unseen": 3}})"), "none");
  for (const char* text :
       {"", "{", "[]", "{\"params\"", "{\"params\":", "{\"params\": {\"unseen\": \"err", "}{", "\"\\"})
    CHECK_EQ(find(text), "none");
  std::mt19937 random(5);
  for (int trial = 0; trial < 5000; ++trial) {
    const std::string text = random_text(random, "{}[]:,\"\\ p1", 30);
    CHECK_EQ(find(text), "none");
  }
}

TEST_MAIN

// CSV: tanager-predict, which reads tables in blocks, against a parser that goes byte by byte; and cells written and
// read again.
#include <unistd.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "csv/csv.hpp"
#include "fuzz.hpp"
#include "plain_text.hpp"
#include "programs/predict/job.hpp"
#include "support/utf8.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"

const int fuzz::kShortRuns = 12'000;
const std::size_t fuzz::kMaxLength = 600;

namespace {

using namespace tanager;
using namespace tanager::internal;

// -- the model: numbers, texts, a mixture, and more values than eight bits hold

Model make_model(const std::string& settings) {
  std::vector<FeatureInfo> features(4);
  features[0] = {"x", {}, {-1.5, 0.0, 2.5}, true};
  features[1] = {"t",
                 {std::string("a"), std::string("a,b"), std::string("q\"q"), std::string("\xC3\xA9"),
                  std::string("longer than two words of a machine")},
                 {},
                 false};
  features[2] = {"n", {std::int64_t{1}, true, 2.5, std::string("1.0"), std::int64_t{-7}}, {}, false};
  features[2].labels[0] = std::int64_t{0};
  features[3].name = "w";
  for (int i = 0; i < 300; ++i) features[3].labels.push_back("v" + std::to_string(i));
  const std::vector<std::uint32_t> cardinalities = {4, 5, 5, 300};
  constexpr std::size_t kClasses = 3;
  std::mt19937 random(1);
  std::vector<std::vector<double>> tables;
  for (const std::uint32_t n_values : cardinalities) {
    std::vector<double> table(n_values * kClasses);
    for (std::size_t c = 0; c < kClasses; ++c) {
      double sum = 0;
      for (std::size_t v = 0; v < n_values; ++v) sum += table[v * kClasses + c] = static_cast<double>(1 + random() % 9);
      for (std::size_t v = 0; v < n_values; ++v) table[v * kClasses + c] /= sum;
    }
    tables.push_back(std::move(table));
  }
  Network network(Structure::naive(4), cardinalities, {0.25, 0.25, 0.5}, std::move(tables));
  return Model(std::move(network), features, {std::string("yes"), std::string("n,o\""), std::int64_t{7}}, settings);
}

// -- what is expected, the slow way

/// The table, or a row of it, is wrong; line 0 if no line is to blame.
struct Wrong {
  std::size_t line = 0;
};

struct Record {
  std::size_t line = 0;
  std::vector<std::string> cells;
};

/// Reads one record after the other.
class SlowReader {
 public:
  SlowReader(std::string text, char delimiter) : text_(std::move(text)), delimiter_(delimiter) {
    if (!text_.empty() && !is_line_end(text_.back())) text_ += '\n';
  }

  bool next(Record& record) {
    while (at_ < text_.size() && is_line_end(text_[at_])) pass_line_end();
    record = {line_, {}};
    if (at_ == text_.size()) return false;
    for (;;) {
      record.cells.emplace_back();
      if (text_[at_] == '"')
        read_quoted(record);
      else
        while (!ends_cell(text_[at_])) record.cells.back() += text_[at_++];
      if (text_[at_] != delimiter_) break;
      ++at_;
    }
    pass_line_end();
    return true;
  }

  /// Where what was read ends, in the text.
  std::size_t position() const { return at_; }

 private:
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
  bool ends_cell(char c) const { return c == delimiter_ || is_line_end(c); }
  void pass_line_end() {
    at_ += text_.compare(at_, 2, "\r\n") == 0 ? 2 : 1;
    ++line_;
  }
  void read_quoted(Record& record) {
    for (++at_;; ++at_) {
      if (at_ == text_.size()) throw Wrong{record.line + 1};
      if (text_[at_] == '"') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
      } else if (text_[at_] == '\n' || (text_[at_] == '\r' && text_.compare(at_, 2, "\r\n") != 0)) {
        ++line_;
      }
      record.cells.back() += text_[at_];
    }
    ++at_;
    if (at_ == text_.size() || !ends_cell(text_[at_])) throw Wrong{record.line + 1};
  }

  std::string text_;
  char delimiter_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
};

std::string as_cell(const std::string& text, char delimiter) {
  if (text.find_first_of(std::string("\"\r\n") + delimiter) == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

class SlowPredict {
 public:
  SlowPredict(const Model& model, const predict::Options& options, bool rejects_unseen)
      : model_(model), options_(options), rejects_unseen_(rejects_unseen) {
    if (options.missing)
      missing_ = {options.missing->begin(), options.missing->end()};
    else
      missing_ = {internal::kMissingMarkers.begin(), internal::kMissingMarkers.end()};
  }

  /// The whole output. Throws Wrong.
  std::string run(std::string text) const {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    for (const char* other : {"\x1f\x8b", "PAR1", "ARROW1", "\xff\xff\xff\xff", "\xff\xfe", "\xfe\xff"})
      if (text.starts_with(other)) throw Wrong{};
    SlowReader reader(text, options_.delimiter);
    Record header, record;
    if (!reader.next(header)) throw Wrong{};
    std::vector<std::size_t> columns;
    for (const FeatureInfo& feature : model_.features()) columns.push_back(column(header, feature.name));
    const std::vector<std::size_t> kept = kept_columns(header);
    std::string out = header_line(header, kept);
    while (reader.next(record)) {
      if (record.cells.size() != header.cells.size()) throw Wrong{record.line + 1};
      out += line_of(record, columns, kept);
    }
    return out;
  }

 private:
  static std::size_t column(const Record& header, const std::string& name) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < header.cells.size(); ++i)
      if (header.cells[i] == name) found.push_back(i);
    if (found.size() != 1) throw Wrong{};
    return found[0];
  }

  std::vector<std::size_t> kept_columns(const Record& header) const {
    std::vector<std::size_t> kept;
    if (options_.keep_all)
      for (std::size_t i = 0; i < header.cells.size(); ++i) kept.push_back(i);
    else
      for (const std::string& name : options_.keep)
        if (const std::size_t i = column(header, name); std::find(kept.begin(), kept.end(), i) == kept.end())
          kept.push_back(i);
    return kept;
  }

  std::string header_line(const Record& header, const std::vector<std::size_t>& kept) const {
    std::vector<std::string> names;
    for (const std::size_t i : kept) names.push_back(header.cells[i]);
    names.emplace_back("predicted");
    for (std::uint32_t c = 0; options_.probabilities && c < model_.n_classes(); ++c)
      names.push_back("P(" + model_.class_name(c) + ")");
    if (std::set<std::string>(names.begin(), names.end()).size() < names.size()) throw Wrong{};
    return joined(names);
  }

  std::string line_of(const Record& record, const std::vector<std::size_t>& columns,
                      const std::vector<std::size_t>& kept) const {
    std::vector<Code> row;
    for (std::size_t f = 0; f < columns.size(); ++f)
      row.push_back(code_of(f, record.cells[columns[f]], record.line + 1));
    std::vector<std::string> cells;
    for (const std::size_t i : kept) cells.push_back(record.cells[i]);
    cells.push_back(model_.class_name(model_.predictor().predict_class(row)));
    std::vector<double> posterior(model_.n_classes());
    model_.predictor().predict(row, tanager::Output::kPosterior, posterior);
    for (const double p : posterior)
      if (options_.probabilities) internal::append_number(cells.emplace_back(), p);
    return joined(cells);
  }

  Code code_of(std::size_t f, const std::string& cell, std::size_t line) const {
    if (missing_.count(cell) != 0) return kMissing;
    const FeatureInfo& feature = model_.features()[f];
    if (!feature.is_interval) {
      const Code code = plain::find(feature.labels, cell);
      if (code == kMissing && (rejects_unseen_ || !internal::is_utf8(cell))) throw Wrong{line};
      return code;
    }
    const double number = plain::number(cell);
    if (std::isnan(number) && !plain::spells_nan(cell)) throw Wrong{line};
    if (std::isnan(number)) return kMissing;
    Code code = 0;
    for (const double cut : feature.cuts) code = static_cast<Code>(code + (cut < number ? 1 : 0));
    return code;
  }

  std::string joined(const std::vector<std::string>& cells) const {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += (i > 0 ? std::string(1, options_.delimiter) : "") + as_cell(cells[i], options_.delimiter);
    return line + "\n";
  }

  const Model& model_;
  const predict::Options& options_;
  bool rejects_unseen_;
  std::set<std::string, std::less<>> missing_;
};

// -- what there is

/// Both ends of a pipe, closed in the end; a pipe holds at least 64 KiB.
class Pipe {
 public:
  Pipe() { fuzz::require(::pipe(ends_.data()) == 0, "cannot make a pipe"); }
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::string path(std::size_t end) const { return "/dev/fd/" + std::to_string(ends_[end]); }
  void write(const std::string& text) {
    fuzz::require(::write(ends_[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()), "cannot write");
    close_writing();
  }
  std::string read() {
    close_writing();
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t count = 0; (count = ::read(ends_[0], part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(count));
    return text;
  }

 private:
  void close_writing() {
    ::close(ends_[1]);
    ends_[1] = ::dup(ends_[0]);
  }

  std::array<int, 2> ends_{};  // for reading, for writing
};

/// Runs the program's own work.
std::string run_predict(const Model& model, const predict::Options& options, const std::string& text) {
  Pipe table, result;
  table.write(text);
  {
    predict::Input input(table.path(0));
    predict::Output output(result.path(1));
    predict::predict_table(model, options, input, output);
  }
  return result.read();
}

void check_prediction(const Model& model, const predict::Options& options, bool rejects_unseen,
                      const std::string& text) {
  std::string expected;
  std::optional<Wrong> wrong;
  try {
    expected = SlowPredict(model, options, rejects_unseen).run(text);
  } catch (const Wrong& error) {
    wrong = error;
  }
  try {
    const std::string got = run_predict(model, options, text);
    fuzz::require(!wrong.has_value(),
                  "a table was taken that is wrong in line " + std::to_string(wrong ? wrong->line : 0));
    fuzz::require_same(got, expected, "predictions");
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    fuzz::require(wrong.has_value(), "a table was rejected: " + message);
    const std::string place = "line " + std::to_string(wrong->line) + " of the table: ";
    if (wrong->line > 0)
      fuzz::require(message.starts_with(place), "expected '" + place + "', got " + message);
    else
      fuzz::require(!message.starts_with("line "), "expected no line, got " + message);
  }
}

/// Only whole records are handed out, and at least one if one is there and certain.
void check_whole_records(const std::string& text, char delimiter) {
  const std::size_t got = internal::whole_records(text, delimiter);
  fuzz::require(got <= text.size(), "more records than text");
  std::set<std::size_t> ends{0};
  std::size_t last = 0;
  SlowReader reader(text, delimiter);
  Record record;
  try {
    while (reader.next(record)) {
      if (reader.position() > text.size()) break;                          // it lacks its line end
      if (reader.position() == text.size() && text.back() == '\r') break;  // which may be half of one
      ends.insert(last = reader.position());
    }
  } catch (const Wrong&) {
    return;  // broken quotes: who reads the record rejects it, wherever it is cut
  }
  if (text.find('"') == text.npos)
    return fuzz::require(got == 0 || text[got - 1] == '\n' || text[got - 1] == '\r', "cut within a line");
  bool only_empty_lines = text.find_first_not_of("\r\n", got) == text.npos;
  fuzz::require(ends.count(got) != 0 || only_empty_lines || text[got - 1] == '\n' || text[got - 1] == '\r',
                "cut within a record");
  fuzz::require(got >= last, "a whole record was left");
}

void check_round_trip(const std::vector<std::vector<std::string>>& records, char delimiter) {
  std::string text;
  for (const auto& cells : records) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += delimiter;
      internal::append_cell(text, cells[i], delimiter);
    }
    text += '\n';
  }
  std::vector<char> buffer(text.begin(), text.end());
  buffer.resize(buffer.size() + internal::kCsvPadding);
  internal::CsvRecords reader({buffer.data(), text.size()}, delimiter);
  for (const auto& cells : records) {
    if (cells.size() == 1 && cells[0].empty()) continue;  // an empty line is no record
    fuzz::require(reader.next(), "a record is lost");
    fuzz::require(std::equal(cells.begin(), cells.end(), reader.cells().begin(), reader.cells().end()),
                  "cells were not read as they were written");
  }
  fuzz::require(!reader.next(), "there is one record too many");
}

// -- inputs

std::string read_table(fuzz::Input& input, char delimiter) {
  static const std::array<std::string, 28> kTokens = {"D",        "\n",
                                                      "D",        "D",
                                                      "a",        "1",
                                                      "-1.5",     "\r\n",
                                                      "\r",       "\"",
                                                      "\"a,b\"",  "\"q\"\"q\"",
                                                      "true",     "v7",
                                                      "v299",     " 2.5",
                                                      "\xC3\xA9", "\xFF",
                                                      "?",        "",
                                                      "1e999",    "nan",
                                                      "\"\n\"",   "\"D\"",
                                                      "\"\"",     "longer than two words of a machine",
                                                      "1.0",      "\r\r\n"};
  std::string text = input.choose<std::string>({"", "", "\n", "\r\n\n\r", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"});
  if (input.number(0, 7) != 0)
    text += input.choose<std::string>({"xDtDnDw", "wDnDidDxDt", "\"x\"DtDnDw", "tDxDwDn"}) +
            input.choose<std::string>({"\n", "\r\n", "\r"});
  if (input.flag()) {  // rows that are nearly right
    static const std::array<std::vector<std::string>, 4> kCells = {
        {{"1", "-2e3", "", "2.5", "inf", "+0.1"},
         {"a", "\"a,b\"", "\"q\"\"q\"", "?", "b", "\xC3\xA9"},
         {"0", "1.0", "true", "-7", "2.50", "False"},
         {"v0", "v253", "v254", "v299", "v300", "NA"}}};
    const bool has_id = input.flag();
    for (std::size_t left = input.size(0, 40); left > 0 && !input.empty(); --left) {
      const auto cell = [&](std::size_t f) { return kCells[f][input.size(0, 5)]; };
      text += has_id ? cell(3) + "D" + cell(2) + "Dr\"1D" + cell(0) + "D" + cell(1)
                     : cell(0) + "D" + cell(1) + "D" + cell(2) + "D" + cell(3);
      text += input.choose<std::string>({"\n", "\n", "\r\n", "\r", "\n\n"});
    }
  }
  if (input.flag()) {
    text += input.text(fuzz::kMaxLength);
  } else {
    for (std::size_t left = input.size(0, 200); left > 0 && !input.empty(); --left)
      text += kTokens[input.size(0, kTokens.size() - 1)];
  }
  for (char& c : text)
    if (c == 'D') c = delimiter;
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Model lenient = make_model("");
  static const Model strict = make_model(R"({"params": {"unseen": "error"}})");
  fuzz::Input input(data, size);
  predict::Options options;
  options.threads = 1;
  options.block_size = input.flag() ? input.size(1, 64) : input.size(65, 4096);
  options.delimiter = input.choose({',', ',', ';', '\t', ' ', '\0', 'a'});
  options.probabilities = input.flag();
  options.keep_all = input.number(0, 3) == 3;
  for (std::size_t left = input.size(0, 2); left > 0; --left)
    options.keep.push_back(input.choose<std::string>({"x", "id", "w", "predicted", "P(7)", ""}));
  if (input.flag()) options.missing = std::vector<std::string>{input.choose<std::string>({"", "1", "a", "?"})};
  const bool is_strict = input.number(0, 3) == 3;
  const bool overrules = input.number(0, 3) == 3;
  if (overrules) options.unseen = is_strict ? "missing" : "error";
  const std::string text = read_table(input, options.delimiter);

  check_prediction(is_strict ? strict : lenient, options, is_strict != overrules, text);
  check_whole_records(text, options.delimiter);
  std::vector<std::vector<std::string>> records(1);
  for (std::size_t at = 0; at < text.size(); at += 7) {
    records.back().push_back(text.substr(at, text[at] % 8));
    if (text[at] % 3 == 0) records.emplace_back();
  }
  if (records.back().empty()) records.pop_back();
  check_round_trip(records, options.delimiter);
  return 0;
}

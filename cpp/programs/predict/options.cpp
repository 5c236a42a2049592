#include "options.hpp"

#include <charconv>

#include "csv/csv.hpp"
#include "tanager/inference.hpp"

namespace tanager::predict {

using namespace internal;

namespace {

/// Iterates over arguments. The value of an option is the next argument, or follows "=".
class Arguments {
 public:
  explicit Arguments(const std::vector<std::string_view>& all) : all_(all) {}

  bool next() {
    if (at_ == all_.size()) return false;
    whole_ = current_ = all_[at_++];
    value_.reset();
    if (const std::size_t equal = current_.find('='); current_.starts_with("--") && equal != current_.npos) {
      value_ = current_.substr(equal + 1);
      current_ = current_.substr(0, equal);
    }
    return true;
  }

  /// The unparsed argument.
  std::string_view whole() const { return whole_; }
  std::string_view current() const { return current_; }
  bool is(std::string_view name) const { return current_ == name; }
  /// Whether it is this option, which takes no value.
  bool is_flag(std::string_view name) const {
    if (current_ != name) return false;
    if (value_) throw UsageError(std::string(name) + " takes no value, got '" + std::string(*value_) + "'");
    return true;
  }
  std::string value() {
    if (!value_) {
      if (at_ == all_.size()) throw UsageError(std::string(current_) + " requires a value");
      value_ = all_[at_++];
    }
    return std::string(*value_);
  }

 private:
  const std::vector<std::string_view>& all_;
  std::size_t at_ = 0;
  std::string_view whole_;
  std::string_view current_;  // without the part after "="
  std::optional<std::string_view> value_;
};

char parse_delimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r" || static_cast<unsigned char>(text[0]) > 0x7F)
    throw UsageError("--delimiter: expected 'tab' or one ASCII character other than a quote or line end, got '" + text +
                     "'");
  return text[0];
}

/// An integer in this range, or nothing.
template <class T>
std::optional<T> parse_integer(const std::string& text, T minimum, T maximum) {
  T number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < minimum || number > maximum) return std::nullopt;
  return number;
}

int parse_threads(const std::string& text) {
  constexpr int kMax = 1024;
  if (const auto threads = parse_integer(text, 0, kMax)) return *threads;
  throw UsageError("--threads: expected an integer from 0 (one per CPU) to " + std::to_string(kMax) + ", got '" + text +
                   "'");
}

std::uint64_t parse_max_cells(const std::string& text) {
  if (const auto cells = parse_integer(text, std::uint64_t{1}, kMostCliqueCells)) return *cells;
  throw UsageError("--max-cells: expected an integer from 1 to " + std::to_string(kMostCliqueCells) + ", got '" + text +
                   "'");
}

std::string parse_unseen(std::string text) {
  if (text != "missing" && text != "error")
    throw UsageError("--unseen: expected 'missing' or 'error', got '" + text + "'");
  return text;
}

/// Parses an option and its value; false if it is unknown.
bool take_option(Arguments& arguments, Options& options) {
  if (arguments.is("-o") || arguments.is("--output")) {
    options.output = arguments.value();
  } else if (arguments.is("--keep")) {
    options.keep.push_back(arguments.value());
  } else if (arguments.is_flag("--keep-all")) {
    options.keep_all = true;
  } else if (arguments.is_flag("--no-probabilities") || arguments.is_flag("--without-probabilities")) {
    options.probabilities = false;
  } else if (arguments.is("--missing")) {
    if (!options.missing) options.missing.emplace();
    options.missing->push_back(arguments.value());
  } else if (arguments.is("--delimiter")) {
    options.delimiter = parse_delimiter(arguments.value());
  } else if (arguments.is("--unseen")) {
    options.unseen = parse_unseen(arguments.value());
  } else if (arguments.is("--threads")) {
    options.threads = parse_threads(arguments.value());
  } else if (arguments.is("--max-cells")) {
    options.max_cells = parse_max_cells(arguments.value());
  } else {
    return false;
  }
  return true;
}

std::string list_markers() {
  std::string list;
  for (const std::string_view marker : kMissingMarkers) {
    if (!list.empty()) list += ' ';
    list += marker.empty() ? "''" : std::string(marker);
  }
  return list;
}

}  // namespace

Options parse_options(const std::vector<std::string_view>& all) {
  Options options;
  std::vector<std::string> files;
  Arguments arguments(all);
  bool only_files = false;
  while (arguments.next()) {
    if (only_files || arguments.is("-") || !arguments.current().starts_with('-')) {
      files.emplace_back(arguments.whole());
    } else if (arguments.is_flag("-h") || arguments.is_flag("--help")) {
      options.task = Task::kHelp;
      return options;
    } else if (arguments.is_flag("--version")) {
      options.task = Task::kVersion;
      return options;
    } else if (arguments.is_flag("--")) {
      only_files = true;
    } else if (!take_option(arguments, options)) {
      throw UsageError("unknown option '" + std::string(arguments.current()) + "'");
    }
  }
  if (files.empty()) throw UsageError("expected a model file");
  if (files.size() > 2) throw UsageError("expected a model file and a table, got also '" + files[2] + "'");
  options.model = files[0];
  if (files.size() == 2) options.input = files[1];
  return options;
}

std::string help_text() {
  return R"help(usage: tanager-predict [options] MODEL [TABLE]

Predicts the class of each row of a table with a model file. TABLE is a CSV
file with a header (RFC 4180, UTF-8), or - for standard input (the default).
Columns are matched by name, in any order; other columns are ignored. The output
is CSV with one row per input row: the kept columns, then "predicted", then
"P(label)" for each class. Numbers are written as the shortest text that parses
to the same number.

options:
  -o, --output FILE     output file, written atomically, or - for standard
                        output (the default)
  --keep COLUMN         copy this column to the output; may be repeated
  --keep-all            copy all columns to the output
  --no-probabilities, --without-probabilities
                        write only the predicted class
  --missing MARKER      value that means 'missing'; '' is an empty field; may be
                        repeated, and replaces the default markers:
                        )help" +
         list_markers() + R"help(
  --unseen WHAT         how to treat categories unknown to the model: as
                        'missing', or as an 'error' (default: the setting of
                        the model)
  --delimiter CHAR      field delimiter of input and output: one character, or
                        tab (default: ,)
  --threads N           number of threads, 0 for one per CPU (the default)
  --max-cells N         limit on the size of tables in exact inference for rows
                        with missing values (default: 16777216); the error
                        message shows how many cells are needed
  -h, --help            show this and exit
  --version             show the version and exit

Values of discretized columns must be numbers. Categories are matched with the
labels of the model as text; if the labels are numbers or booleans, 3, +3 and
3.0 are equal, and so are true, True and TRUE. Kept columns are copied
unchanged. Empty lines are skipped.

exit codes: 0 success, 1 reading or writing failed, 2 invalid command line,
model or table, 130 interrupted
)help";
}

}  // namespace tanager::predict

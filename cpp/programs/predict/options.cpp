#include "options.hpp"

#include <charconv>

#include "csv/csv.hpp"
#include "tanager/inference.hpp"

namespace tanager::predict {

using namespace internal;

namespace {

/// The arguments, one after the other. A value of an option follows it as the next argument, or after "=".
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

  /// The argument as it was given.
  std::string_view whole() const { return whole_; }
  std::string_view current() const { return current_; }
  bool is(std::string_view name) const { return current_ == name; }
  /// Whether it is this option, which takes no value.
  bool is_flag(std::string_view name) const {
    if (current_ != name) return false;
    if (value_) throw UsageError(std::string(name) + " takes no value, but got '" + std::string(*value_) + "'");
    return true;
  }
  std::string value() {
    if (!value_) {
      if (at_ == all_.size()) throw UsageError(std::string(current_) + " needs a value after it");
      value_ = all_[at_++];
    }
    return std::string(*value_);
  }

 private:
  const std::vector<std::string_view>& all_;
  std::size_t at_ = 0;
  std::string_view whole_;
  std::string_view current_;  // without what follows "="
  std::optional<std::string_view> value_;
};

char parse_delimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r" || static_cast<unsigned char>(text[0]) > 0x7F)
    throw UsageError("--delimiter must be one ASCII character other than a quote or a line end, or tab, but is '" +
                     text + "'");
  return text[0];
}

/// A whole number in this range; none otherwise.
template <class T>
std::optional<T> parse_whole(const std::string& text, T least, T most) {
  T number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < least || number > most) return std::nullopt;
  return number;
}

int parse_threads(const std::string& text) {
  constexpr int kMost = 1024;
  if (const auto threads = parse_whole(text, 0, kMost)) return *threads;
  throw UsageError("--threads must be a whole number from 0 (all there are) to " + std::to_string(kMost) +
                   ", but is '" + text + "'");
}

std::uint64_t parse_max_cells(const std::string& text) {
  if (const auto cells = parse_whole(text, std::uint64_t{1}, kMostCliqueCells)) return *cells;
  throw UsageError("--max-cells: expected an integer from 1 to " + std::to_string(kMostCliqueCells) + ", got '" + text +
                   "'");
}

std::string parse_unseen(std::string text) {
  if (text != "missing" && text != "error")
    throw UsageError("--unseen must be 'missing' or 'error', but is '" + text + "'");
  return text;
}

/// Takes an option with its value; false if it is none.
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
      throw UsageError("there is no option '" + std::string(arguments.current()) + "'");
    }
  }
  if (files.empty()) throw UsageError("the model file is missing");
  if (files.size() > 2)
    throw UsageError("a model file and a table were expected, but there is also '" + files[2] + "'");
  options.model = files[0];
  if (files.size() == 2) options.input = files[1];
  return options;
}

std::string help_text() {
  return R"help(usage: tanager-predict [options] MODEL [TABLE]

Predicts the class of every row of a table with a model that tanager has saved.
TABLE is a CSV file with a header (RFC 4180, UTF-8), or - for standard input,
the default. Its columns are found by their names, in any order; columns that
the model does not know are ignored. The result is CSV, too, one row for each
row of the table: the kept columns, then the column "predicted", then one column
"P(label)" per class. Numbers are written as the shortest text that reads back
as the same number.

options:
  -o, --output FILE     where to write, - for standard output (the default); a
                        file appears as a whole or not at all
  --keep COLUMN         copy this column of the table; may be repeated
  --keep-all            copy all columns of the table
  --no-probabilities, --without-probabilities
                        write the predicted class alone
  --missing MARKER      a cell with this text is missing, '' being an empty one;
                        may be repeated, and replaces the usual markers:
                        )help" +
         list_markers() + R"help(
  --unseen WHAT         what a category unknown to the model is: 'missing' or an
                        'error' (default: as set in the model)
  --delimiter CHAR      what separates cells, of the result too: one character,
                        or tab (default: ,)
  --threads N           threads to use, 0 for all there are (the default)
  --max-cells N         limit of exact inference for rows with missing values
                        (default: 16777216); the error message that names it
                        says how many cells are needed
  -h, --help            show this and exit
  --version             show the version and exit

Cells of numbers that the model cuts into intervals must be numbers. Cells of
categories are looked up among the labels of the model as text; where labels are
numbers or booleans, 3, +3 and 3.0 are the same, and so are true, True and TRUE.
Kept cells are copied as they are. Empty lines are skipped.

exit codes: 0 all went well, 1 reading or writing failed, 2 the command line,
the model or the table is wrong, 130 interrupted
)help";
}

}  // namespace tanager::predict

#include "job.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "csv/csv.hpp"
#include "csv/rows.hpp"
#include "model_file/settings.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/network_predictor.hpp"

namespace tanager::predict {

using namespace internal;

namespace {

/// Blocks per thread that are processed at once: several, to balance the load.
constexpr std::size_t kBlocksPerThread = 4;
constexpr std::size_t kMostBlocks = 128;
/// Logarithms, which determine the predicted class, may order probabilities within this tolerance differently.
constexpr double kNearlyEqual = 1e-9;

constexpr std::string_view kPredicted = "predicted";

bool rejects_unseen(const Model& model, const Options& options) {
  constexpr std::array<std::string_view, 2> kPlace = {"params", "unseen"};
  if (options.unseen) return *options.unseen == "error";
  return setting_text(model.settings(), kPlace) == "error";
}

CsvOptions csv_options(const Model& model, const Options& options) {
  CsvOptions csv;
  csv.delimiter = options.delimiter;
  if (options.missing) csv.missing = *options.missing;
  csv.reject_unseen = rejects_unseen(model, options);
  csv.keep = options.keep;
  csv.keep_all = options.keep_all;
  return csv;
}

/// Bytes to read at a time: fewer if the rows of the result are long, since results of whole blocks are kept.
std::size_t block_size(const Model& model, const Options& options) {
  constexpr std::size_t kLongestNumber = 24, kLeast = 64, kMostResult = std::size_t{1} << 27;
  const std::size_t row = options.probabilities ? kLongestNumber * model.n_classes() : 1;
  return std::min(options.block_size, std::max(kLeast, kMostResult / row));
}

/// Detects other formats, which would otherwise fail with a message about missing columns.
void check_is_text(std::string_view table) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOthers = {{
      {"\x1f\x8b", "a gzip-compressed file; decompress it: zcat TABLE | tanager-predict MODEL"},
      {"PAR1", "a Parquet file; use 'tanager predict', or 'tanager convert' to CSV"},
      {"ARROW1", "an Arrow file; use 'tanager predict', or 'tanager convert' to CSV"},
      {"\xff\xff\xff\xff", "an Arrow stream; use 'tanager predict', or 'tanager convert' to CSV"},
      {"\xff\xfe", "text in another encoding than UTF-8"},
      {"\xfe\xff", "text in another encoding than UTF-8"},
  }};
  for (const auto& [start, what] : kOthers)
    if (table.starts_with(start)) throw InvalidInput(join_text("expected CSV, got ", what));
}

/// Shared by all blocks: how to encode rows and write results.
class Plan {
 public:
  Plan(const Model& model, const Options& options, std::span<const std::string_view> names)
      : model_(model), options_(options), encoder_(model, names, csv_options(model, options)) {
    for (std::uint32_t c = 0; c < model.n_classes(); ++c) {
      names_.push_back(model.class_name(c));
      // An empty line would not count as a row.
      const bool alone = names_.back().empty() && !options.probabilities && encoder_.kept_names().empty();
      labels_.emplace_back(alone ? "\"\"" : "");
      append_cell(labels_.back(), names_.back(), options.delimiter);
    }
    check_names();
    const auto* network = std::get_if<Network>(&model.classifier());
    if (options.max_cells && network != nullptr) limited_.emplace(*network, *options.max_cells);
  }

  const CsvEncoder& encoder() const { return encoder_; }

  std::string header() const {
    std::string text;
    for (const std::string& name : encoder_.kept_names()) {
      append_cell(text, name, options_.delimiter);
      text += options_.delimiter;
    }
    text += kPredicted;
    for (const std::string& name : probability_names()) {
      text += options_.delimiter;
      append_cell(text, name, options_.delimiter);
    }
    return text + '\n';
  }

  /// Predicts rows and writes them as text.
  void predict(const CsvRows& rows, std::string& text) const {
    const std::size_t n_classes = model_.n_classes();
    std::vector<double> posterior;
    std::vector<std::uint32_t> classes;
    if (options_.probabilities) {
      posterior.resize(rows.n_rows() * n_classes);
      predictor().predict_columns(rows.columns(), rows.n_rows(), Output::kPosterior, posterior);
      classes = classes_of(rows, posterior);
    } else {
      classes.resize(rows.n_rows());
      predictor().predict_classes_columns(rows.columns(), rows.n_rows(), classes);
    }
    text.clear();
    for (std::size_t row = 0; row < rows.n_rows(); ++row) {
      text += rows.kept(row);
      text += labels_[classes[row]];
      for (std::size_t c = 0; options_.probabilities && c < n_classes; ++c) {
        text += options_.delimiter;
        append_number(text, posterior[row * n_classes + c]);
      }
      text += '\n';
    }
  }

 private:
  using Output = tanager::Output;

  const Predictor& predictor() const { return limited_ ? *limited_ : model_.predictor(); }

  std::vector<std::string> probability_names() const {
    std::vector<std::string> found;
    if (options_.probabilities)
      for (const std::string& name : names_) found.push_back("P(" + name + ")");
    return found;
  }

  /// Column names of the result must be unique.
  void check_names() const {
    std::set<std::string> written{std::string(kPredicted)};
    for (const std::string& name : probability_names()) written.insert(name);
    for (const std::string& name : encoder_.kept_names())
      if (!written.insert(name).second)
        throw InvalidInput("cannot keep the column '" + name + "': the predictions have a column of that name");
  }

  /// The same classes as predict_classes_columns, without predicting all rows twice.
  std::vector<std::uint32_t> classes_of(const CsvRows& rows, std::span<const double> posterior) const {
    const std::size_t n_classes = model_.n_classes();
    std::vector<std::uint32_t> classes(rows.n_rows());
    std::vector<Code> codes(model_.n_features());
    for (std::size_t row = 0; row < rows.n_rows(); ++row) {
      const auto values = posterior.subspan(row * n_classes, n_classes);
      const auto best = std::max_element(values.begin(), values.end());
      const double near = *best * (1.0 - kNearlyEqual);
      if (std::count_if(values.begin(), values.end(), [&](double value) { return value >= near; }) > 1) {
        rows.copy_row(row, codes);
        classes[row] = predictor().predict_class(codes);
      } else {
        classes[row] = static_cast<std::uint32_t>(best - values.begin());
      }
    }
    return classes;
  }

  const Model& model_;
  const Options& options_;
  CsvEncoder encoder_;
  std::optional<NetworkPredictor> limited_;  // if --max-cells is set
  std::vector<std::string> names_;           // of the classes
  std::vector<std::string> labels_;          // the same, as CSV fields
};

/// A block and its result.
struct Piece {
  Block block;
  std::optional<CsvRows> rows;  // created when first needed
  std::string result;
  std::size_t n_lines = 0;
  std::exception_ptr failure;
};

/// Never throws: failures are reported in the order of the table, not in the order in which threads find them.
void work_on(const Plan& plan, char delimiter, Piece& piece) noexcept {
  try {
    piece.failure = nullptr;
    piece.result.clear();
    if (!piece.rows) piece.rows = plan.encoder().make_rows();
    CsvRecords records(piece.block.text, delimiter);
    plan.encoder().encode(records, *piece.rows);
    piece.n_lines = records.next_line();
    if (piece.block.is_cut) throw CsvError(piece.n_lines - 1, "the row is too long; check for an unclosed quote");
    plan.predict(*piece.rows, piece.result);
  } catch (...) {
    piece.failure = std::current_exception();
  }
}

/// Two rounds of pieces alternate: while the pieces of one are processed, one thread writes the results of the other
/// and reads the next part of the table into it.
class Job {
 public:
  Job(const Model& model, const Options& options, Input& input, predict::Output& output)
      : model_(model),
        options_(options),
        reader_(input, options.delimiter, block_size(model, options)),
        output_(output),
        team_(options.threads) {
    const std::size_t n_pieces = std::min(kBlocksPerThread * team_.size(), kMostBlocks);
    for (auto& round : rounds_) round.pieces.resize(n_pieces);
  }

  void run() {
    fill(rounds_[0], 1);  // read the header early, even if the table arrives slowly
    read_header();
    for (std::size_t turn = 0; rounds_[turn % 2].n > 0; ++turn) {
      Round& now = rounds_[turn % 2];
      Round& other = rounds_[(turn + 1) % 2];
      team_.run_items(now.n + 1, [&](std::size_t item, std::size_t) {
        if (item > 0) return work_on(*plan_, options_.delimiter, now.pieces[item - 1]);
        write(other);
        fill(other, other.pieces.size());
      });
    }
    // Write the last round; the other one is empty.
    for (Round& round : rounds_) write(round);
    output_.finish();
  }

 private:
  struct Round {
    std::vector<Piece> pieces;
    std::size_t n = 0;
  };

  void fill(Round& round, std::size_t most) {
    for (round.n = 0; round.n < most; ++round.n)
      if (!reader_.fill(round.pieces[round.n].block)) return;
  }

  void read_header() {
    Block& block = rounds_[0].pieces[0].block;
    check_is_text({block.text.data(), block.text.size()});
    for (; rounds_[0].n > 0; fill(rounds_[0], 1)) {
      CsvRecords records(block.text, options_.delimiter);
      const bool found = next_record(records);
      n_lines_ += records.next_line();
      if (!found) continue;  // a block of empty lines
      plan_.emplace(model_, options_, records.cells());
      output_.write(plan_->header());
      block.text = records.rest();
      return;
    }
    throw InvalidInput("the table is empty: expected a header with column names");
  }

  bool next_record(CsvRecords& records) const {
    try {
      return records.next();
    } catch (const CsvError& error) {
      throw at_line(error, n_lines_);
    }
  }

  /// Writes the results of a round in order, or reports the first failure in it.
  void write(Round& round) {
    for (std::size_t i = 0; i < round.n; ++i) {
      Piece& piece = round.pieces[i];
      if (piece.failure) report(piece.failure);
      output_.write(piece.result);
      n_lines_ += piece.n_lines;
    }
    round.n = 0;
  }

  [[noreturn]] void report(const std::exception_ptr& failure) const {
    try {
      std::rethrow_exception(failure);
    } catch (const CsvError& error) {
      throw at_line(error, n_lines_);
    } catch (const CliqueTooLarge& error) {
      std::string names;
      for (const std::size_t feature : error.features())
        names += (names.empty() ? "'" : ", '") + model_.features()[feature].name + "'";
      throw InvalidInput(join_text(error.what(), " (features ", names, ")"));
    }
  }

  static InvalidInput at_line(const CsvError& error, std::size_t before) {
    return InvalidInput(join_text("line ", before + error.line() + 1, " of the table: ", error.what()));
  }

  const Model& model_;
  const Options& options_;
  BlockReader reader_;
  predict::Output& output_;
  ThreadTeam team_;
  std::array<Round, 2> rounds_;
  std::optional<Plan> plan_;
  std::size_t n_lines_ = 0;  // of the table, up to what was written last
};

}  // namespace

void predict_table(const Model& model, const Options& options, Input& input, Output& output) {
  Job(model, options, input, output).run();
}

}  // namespace tanager::predict

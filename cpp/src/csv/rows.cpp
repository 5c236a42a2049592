#include "csv/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "model_file/labels.hpp"
#include "support/text.hpp"
#include "support/utf8.hpp"
#include "support/words.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
/// Cells of up to two words are remembered.
constexpr std::size_t kWord = sizeof(std::uint64_t);
/// Cells that one feature remembers: enough for features of some dozen labels, few enough for the nearest cache.
constexpr std::size_t kFewestMet = 8;
constexpr std::size_t kMostMet = 256;

/// A cell in an error message: what is too long to be read is cut.
std::string quoted(std::string_view cell) {
  constexpr std::size_t kMost = 60;
  if (cell.size() <= kMost) return "'" + std::string(cell) + "'";
  std::size_t cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(cell[cut]) & 0xC0) == 0x80) --cut;  // within a character of UTF-8
  return "'" + std::string(cell.substr(0, cut)) + "...'";
}

/// The first `size` bytes, at most 8, and zeros. A whole word must be readable.
std::uint64_t load(const char* data, std::size_t size) {
  return first_bytes<std::endian::native>(load8(data), size);
}

std::size_t slot(std::uint64_t first, std::uint64_t second, std::size_t size, unsigned shift) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;  // spreads neighbors over the upper bits
  return static_cast<std::size_t>((first ^ std::rotl(second, 29) ^ size) * kMix >> shift);
}

}  // namespace

void CsvRows::copy_row(std::size_t row, std::span<Code> out) const {
  for (std::size_t f = 0; f < features_.size(); ++f) {
    if (const auto* wide = std::get_if<std::vector<Code>>(&features_[f].codes)) {
      out[f] = (*wide)[row];
    } else {
      const std::uint8_t code = std::get<std::vector<std::uint8_t>>(features_[f].codes)[row];
      out[f] = code == kMissing8 ? kMissing : Code{code};
    }
  }
}

std::string_view CsvRows::kept(std::size_t row) const {
  if (kept_ends_.empty()) return {};
  const std::size_t begin = row == 0 ? 0 : kept_ends_[row - 1];
  return std::string_view(kept_).substr(begin, kept_ends_[row] - begin);
}

CsvEncoder::CsvEncoder(const Model& model, std::span<const std::string_view> names, CsvOptions options)
    : model_(model), options_(std::move(options)), names_(names.begin(), names.end()), by_name_(names_.size()) {
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(), [&](std::size_t a, std::size_t b) { return names_[a] < names_[b]; });
  check_features();
  for (const FeatureInfo& feature : model_.features()) feature_columns_.push_back(find_column(feature.name));
  if (options_.keep_all) {
    kept_columns_.resize(names_.size());
    std::iota(kept_columns_.begin(), kept_columns_.end(), std::size_t{0});
  } else {
    for (const std::string& name : options_.keep) {
      const std::size_t column = find_column(name);
      if (column == kNone) throw InvalidInput("--keep: the table has no column '" + name + "'");
      if (std::find(kept_columns_.begin(), kept_columns_.end(), column) == kept_columns_.end())
        kept_columns_.push_back(column);
    }
  }
  for (const std::size_t column : kept_columns_) kept_names_.push_back(names_[column]);
  a_number_is_missing_ = std::any_of(options_.missing.begin(), options_.missing.end(),
                                     [](const std::string& marker) { return !std::isnan(parse_number(marker)); });
}

std::size_t CsvEncoder::find_column(std::string_view name) const {
  const auto found =
      std::partition_point(by_name_.begin(), by_name_.end(), [&](std::size_t column) { return names_[column] < name; });
  if (found == by_name_.end() || names_[*found] != name) return kNone;
  if (found + 1 != by_name_.end() && names_[found[1]] == name)
    throw InvalidInput("the table has duplicate columns named '" + std::string(name) + "'");
  return *found;
}

void CsvEncoder::check_features() const {
  std::vector<std::string_view> lacking;
  for (const FeatureInfo& feature : model_.features())
    if (find_column(feature.name) == kNone) lacking.push_back(feature.name);
  if (lacking.empty()) return;
  constexpr std::size_t kShown = 5;
  std::string shown;
  for (std::size_t i = 0; i < std::min(lacking.size(), kShown); ++i)
    shown += (i == 0 ? "'" : ", '") + std::string(lacking[i]) + "'";
  const std::size_t more = lacking.size() - std::min(lacking.size(), kShown);
  throw InvalidInput(join_text("the table lacks the column", lacking.size() == 1 ? " " : "s ", shown,
                               more == 0 ? "" : join_text(" and ", more, " more"), " of the model"));
}

CsvRows CsvEncoder::make_rows() const {
  CsvRows rows;
  rows.columns_.resize(model_.n_features());
  rows.features_.resize(model_.n_features());
  for (std::size_t f = 0; f < model_.n_features(); ++f) {
    CsvRows::Feature& feature = rows.features_[f];
    if (model_.cardinalities()[f] > kMaxNarrowValues) feature.codes = std::vector<Code>();
    const std::size_t expected = 4 * model_.features()[f].labels.size();
    const std::size_t size = std::bit_ceil(std::clamp(expected, kFewestMet, kMostMet));
    feature.met.resize(size);
    feature.shift = static_cast<unsigned>(64 - std::countr_zero(size));
  }
  return rows;
}

bool CsvEncoder::is_missing(std::string_view cell) const {
  return std::find(options_.missing.begin(), options_.missing.end(), cell) != options_.missing.end();
}

Code CsvEncoder::encode_number(std::size_t feature, std::string_view cell, std::size_t line) const {
  if (a_number_is_missing_ && is_missing(cell)) return kMissing;
  const double number = parse_number(cell);
  if (!std::isnan(number)) return model_.encode(feature, number);
  if (!is_missing(cell) && !spells_nan(cell))
    throw CsvError(line,
                   "column '" + model_.features()[feature].name + "' must be numeric, but contains " + quoted(cell));
  return kMissing;
}

Code CsvEncoder::encode_category(std::size_t feature, std::string_view cell, std::size_t line) const {
  if (is_missing(cell)) return kMissing;
  const Code code = model_.encode(feature, cell);
  // Another encoding would make every such label one that was never seen.
  if (code == kMissing && !is_utf8(cell))
    throw CsvError(line, "column '" + model_.features()[feature].name + "' is not UTF-8 text");
  if (code == kMissing && options_.reject_unseen)
    throw CsvError(line,
                   "column '" + model_.features()[feature].name + "' contains the unknown category " + quoted(cell));
  return code;
}

template <class T>
void CsvEncoder::encode_column_cell(std::size_t feature, std::string_view cell, std::size_t line,
                                    CsvRows::Feature& known, std::vector<T>& codes) const {
  if (model_.features()[feature].is_interval) {
    codes.push_back(static_cast<T>(encode_number(feature, cell, line)));
    return;
  }
  if (cell.size() > 2 * kWord) {
    codes.push_back(static_cast<T>(encode_category(feature, cell, line)));
    return;
  }
  const std::uint64_t first = load(cell.data(), cell.size());
  const std::uint64_t second = cell.size() <= kWord ? 0 : load(cell.data() + kWord, cell.size() - kWord);
  CsvRows::Met& met = known.met[slot(first, second, cell.size(), known.shift)];
  if (met.first != first || met.second != second || met.size != cell.size())
    met = {first, second, static_cast<std::uint16_t>(cell.size()), encode_category(feature, cell, line)};
  codes.push_back(static_cast<T>(met.code));  // cut to 8 bits, kMissing is kMissing8
}

void CsvEncoder::encode_record(const CsvRecords& records, CsvRows& rows) const {
  const auto cells = records.cells();
  if (cells.size() != names_.size())
    throw CsvError(records.line(),
                   join_text("expected ", names_.size(), " fields as in the header, got ", cells.size()));
  for (std::size_t f = 0; f < feature_columns_.size(); ++f) {
    CsvRows::Feature& known = rows.features_[f];
    const std::string_view cell = cells[feature_columns_[f]];
    std::visit([&](auto& codes) { encode_column_cell(f, cell, records.line(), known, codes); }, known.codes);
  }
  if (kept_columns_.empty()) return;
  for (const std::size_t column : kept_columns_) {
    append_cell(rows.kept_, cells[column], options_.delimiter);
    rows.kept_ += options_.delimiter;
  }
  rows.kept_ends_.push_back(rows.kept_.size());
}

void CsvEncoder::encode(CsvRecords& records, CsvRows& rows) const {
  rows.n_rows_ = 0;
  rows.kept_.clear();
  rows.kept_ends_.clear();
  for (CsvRows::Feature& feature : rows.features_) std::visit([](auto& codes) { codes.clear(); }, feature.codes);
  for (; records.next(); ++rows.n_rows_) encode_record(records, rows);
  for (std::size_t f = 0; f < rows.features_.size(); ++f)
    rows.columns_[f] = std::visit([](const auto& codes) { return CodeColumn(codes.data()); }, rows.features_[f].codes);
}

}  // namespace tanager::internal

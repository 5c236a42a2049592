// Rows of a table as text to rows of codes of a model.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "csv/csv.hpp"
#include "tanager/model.hpp"

namespace tanager::internal {

struct CsvOptions {
  char delimiter = ',';
  /// Cells that are missing, compared as text; a label of the same text is never found.
  std::vector<std::string> missing{kMissingMarkers.begin(), kMissingMarkers.end()};
  /// Whether a category that the model does not know is rejected instead of being missing.
  bool reject_unseen = false;
  /// Names of columns to be copied to the output, or all of them.
  std::vector<std::string> keep;
  bool keep_all = false;
};

/// The rows of one block: codes of every feature, and the kept cells as they are to be written. Its memory, and what it
/// remembers of cells, serve the next block.
class CsvRows {
 public:
  std::size_t n_rows() const { return n_rows_; }
  /// One column of codes for every feature of the model.
  std::span<const CodeColumn> columns() const { return columns_; }
  /// A row as codes, into a buffer of n_features.
  void copy_row(std::size_t row, std::span<Code> out) const;
  /// The kept cells of a row, each followed by a delimiter.
  std::string_view kept(std::size_t row) const;

 private:
  friend class CsvEncoder;
  /// A short cell met before, and its code.
  struct Met {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::uint16_t size = 0xFFFF;
    Code code = kMissing;
  };
  struct Feature {
    std::variant<std::vector<std::uint8_t>, std::vector<Code>> codes;
    std::vector<Met> met;
    unsigned shift = 0;
  };

  std::size_t n_rows_ = 0;
  std::vector<CodeColumn> columns_;
  std::vector<Feature> features_;
  std::string kept_;
  std::vector<std::size_t> kept_ends_;
};

/// How the columns of one table belong to a model. Immutable; the model must outlive it.
class CsvEncoder {
 public:
  /// Throws InvalidInput if the table lacks a feature or a kept column, or has one of them twice.
  CsvEncoder(const Model& model, std::span<const std::string_view> names, CsvOptions options);

  /// Names of the kept columns, in the order of the output.
  const std::vector<std::string>& kept_names() const { return kept_names_; }
  CsvRows make_rows() const;
  /// Encodes all records that are left. Throws CsvError.
  void encode(CsvRecords& records, CsvRows& rows) const;

 private:
  std::size_t find_column(std::string_view name) const;
  void check_features() const;
  bool is_missing(std::string_view cell) const;
  Code encode_number(std::size_t feature, std::string_view cell, std::size_t line) const;
  Code encode_category(std::size_t feature, std::string_view cell, std::size_t line) const;
  template <class T>
  void encode_column_cell(std::size_t feature, std::string_view cell, std::size_t line, CsvRows::Feature& known,
                          std::vector<T>& codes) const;
  void encode_record(const CsvRecords& records, CsvRows& rows) const;

  const Model& model_;
  CsvOptions options_;
  std::vector<std::string> names_;
  std::vector<std::size_t> by_name_;  // the columns in the order of their names, to find one among very many
  std::vector<std::string> kept_names_;
  std::vector<std::size_t> feature_columns_;  // of every feature: its column in the table
  std::vector<std::size_t> kept_columns_;
  bool a_number_is_missing_ = false;  // whether a marker is a number, and so must be looked for before reading one
};

}  // namespace tanager::internal

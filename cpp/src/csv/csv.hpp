// Tables as text with separated cells (RFC 4180), read and written a block of whole records at a time, so that blocks
// can be shared out to threads and memory does not grow with the table.
//
// A cell that begins with a quote ends at the next quote that is not doubled, and may hold anything; elsewhere quotes
// are text like any other. A record ends with LF, CRLF or CR; empty lines are no records.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tanager/errors.hpp"

namespace tanager::internal {

/// Cells that count as missing unless the user names others: the usual part of what data frame libraries take so.
inline constexpr std::array<std::string_view, 10> kMissingMarkers = {"",     "?",   "#N/A", "N/A", "NA",
                                                                     "NULL", "NaN", "n/a",  "nan", "null"};

/// Bytes after a text that must be readable, whatever they hold: short cells are loaded as whole words.
inline constexpr std::size_t kCsvPadding = 16;

/// Something is wrong with a record. The message completes "line N: ".
class CsvError : public InvalidInput {
 public:
  CsvError(std::size_t line, const std::string& message) : InvalidInput(message), line_(line) {}
  /// The line where the record begins, the first of the text being 0.
  std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

/// How many of a text's first bytes are whole records, if more text may follow; 0 if not even one is whole.
std::size_t whole_records(std::string_view text, char delimiter);

/// The records of a text, one after the other.
class CsvRecords {
 public:
  /// The text must be empty or end with a line end, and have kCsvPadding readable bytes after it. Doubled quotes are
  /// replaced where they stand, which is why it must be writable.
  CsvRecords(std::span<char> text, char delimiter);

  /// Goes to the next record; false if there is none. Throws CsvError.
  bool next();
  /// The cells of the record, as long as the text lives.
  std::span<const std::string_view> cells() const { return {cells_.data(), n_cells_}; }
  /// The line where the record begins; after the last record, the number of lines.
  std::size_t line() const { return line_; }
  /// What follows the record.
  std::span<char> rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  /// The line where that begins.
  std::size_t next_line() const { return next_line_; }

 private:
  void skip_empty_lines();
  void read_quoted_cell();
  void end_line();
  void add(const char* begin, const char* end) {
    if (n_cells_ == cells_.size()) cells_.resize(2 * n_cells_);
    cells_[n_cells_++] = {begin, static_cast<std::size_t>(end - begin)};
  }

  char* at_;
  char* const end_;
  const char delimiter_;
  std::size_t line_ = 0;
  std::size_t next_line_ = 0;
  std::size_t n_cells_ = 0;
  std::vector<std::string_view> cells_;
  std::array<bool, 256> ends_cell_{};
};

/// Appends a cell, in quotes if it needs them.
void append_cell(std::string& out, std::string_view cell, char delimiter);
/// Appends the shortest text that reads back as the same number.
void append_number(std::string& out, double value);

}  // namespace tanager::internal

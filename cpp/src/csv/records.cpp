// Where records and their cells begin and end.
#include <algorithm>
#include <cstring>

#include "csv/csv.hpp"

namespace tanager::internal {
namespace {

/// The first quote of [begin, end) that closes a cell, that is, one that no other follows; `end` if there is none.
/// A quote at the very end closes: who reads a part of a text must know whether more follows.
const char* closing_quote(const char* begin, const char* end) {
  while (begin != end) {
    const auto* quote = static_cast<const char*>(std::memchr(begin, '"', static_cast<std::size_t>(end - begin)));
    if (quote == nullptr) return end;
    if (quote + 1 == end || quote[1] != '"') return quote;
    begin = quote + 2;
  }
  return end;
}

/// The end of the last line of a text without quotes, if that much is certain.
std::size_t last_line_end(std::string_view text) {
  const std::size_t feed = text.rfind('\n');
  if (feed != std::string_view::npos) return feed + 1;
  // A CR at the very end may be half of a CRLF.
  const std::size_t carriage = text.empty() ? text.npos : text.substr(0, text.size() - 1).rfind('\r');
  return carriage == std::string_view::npos ? 0 : carriage + 1;
}

}  // namespace

std::size_t whole_records(std::string_view text, char delimiter) {
  if (text.find('"') == std::string_view::npos) return last_line_end(text);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* whole = begin;
  for (const char* at = begin; at != end;) {
    if (*at == '"') {
      at = closing_quote(at + 1, end);
      if (at == end || at + 1 == end) break;
      ++at;
    }
    while (at != end && *at != delimiter && *at != '\n' && *at != '\r') ++at;
    if (at == end) break;
    const char stop = *at++;
    if (stop == delimiter) continue;
    if (stop == '\r') {
      if (at == end) break;
      if (*at == '\n') ++at;
    }
    whole = at;
  }
  return static_cast<std::size_t>(whole - begin);
}

CsvRecords::CsvRecords(std::span<char> text, char delimiter)
    : at_(text.data()), end_(text.data() + text.size()), delimiter_(delimiter), cells_(16) {
  for (const char c : {delimiter, '\n', '\r'}) ends_cell_[static_cast<unsigned char>(c)] = true;
}

void CsvRecords::end_line() {
  const bool returned = *at_ == '\r';
  ++at_;
  if (returned && at_ != end_ && *at_ == '\n') ++at_;
  ++next_line_;
}

void CsvRecords::skip_empty_lines() {
  while (at_ != end_ && (*at_ == '\n' || *at_ == '\r')) end_line();
}

void CsvRecords::read_quoted_cell() {
  char* const begin = at_ + 1;
  char* const close = begin + (closing_quote(begin, end_) - begin);
  if (close == end_) throw CsvError(line_, "unclosed quote");
  at_ = close + 1;
  if (!ends_cell_[static_cast<unsigned char>(*at_)])
    throw CsvError(line_, "text after a closing quote; double a quote that is part of the value");
  // Lines are counted as those who look for them in an editor see them.
  for (const char* c = begin; c != close; ++c)
    if (*c == '\n' || (*c == '\r' && c[1] != '\n')) ++next_line_;
  char* end = begin;
  for (const char* from = begin; from != close; ++end) {
    *end = *from;
    from += *from == '"' ? 2 : 1;
  }
  add(begin, end);
}

bool CsvRecords::next() {
  skip_empty_lines();
  line_ = next_line_;
  n_cells_ = 0;
  if (at_ == end_) return false;
  for (;;) {
    if (*at_ == '"') {
      read_quoted_cell();
    } else {
      char* const begin = at_;
      // The text ends with a line end, so that this stops within it.
      while (!ends_cell_[static_cast<unsigned char>(*at_)]) ++at_;
      add(begin, at_);
    }
    if (*at_ != delimiter_) break;
    ++at_;
  }
  end_line();
  return true;
}

}  // namespace tanager::internal

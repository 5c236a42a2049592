#include <algorithm>
#include <charconv>

#include "csv/csv.hpp"

namespace tanager::internal {

void append_cell(std::string& out, std::string_view cell, char delimiter) {
  const auto is_special = [&](char c) { return c == delimiter || c == '"' || c == '\n' || c == '\r'; };
  if (std::none_of(cell.begin(), cell.end(), is_special)) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_number(std::string& out, double value) {
  std::array<char, 32> text;  // the longest is -2.2250738585072014e-308
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), written.ptr);
}

}  // namespace tanager::internal

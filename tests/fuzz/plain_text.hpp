// Text as users write it, read the slow and plain way: what labels and cells are compared with.
#pragma once

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tanager/model.hpp"

namespace plain {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

inline std::string stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// A number without blanks around it and without a plus sign.
inline std::string bare(std::string_view text) {
  std::string found = stripped(text);
  if (found.size() > 1 && found[0] == '+' && found[1] != '+' && found[1] != '-') found.erase(0, 1);
  return found;
}

/// Digits with an optional point among or around them, and an optional exponent.
inline bool is_decimal(std::string_view text) {
  std::size_t at = 0, digits = 0;
  const auto pass_digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  digits += pass_digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    digits += pass_digits();
  }
  if (digits == 0) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return pass_digits() > 0 && at == text.size();
}

/// The number that a text spells, NaN if it spells none.
inline double number(std::string_view text) {
  const std::string found = bare(text);
  const bool negative = !found.empty() && found[0] == '-';
  const std::string magnitude = lower(negative ? found.substr(1) : found);
  const double sign = negative ? -1.0 : 1.0;
  if (magnitude == "inf" || magnitude == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (!is_decimal(magnitude)) return std::numeric_limits<double>::quiet_NaN();
  return sign * std::strtod(magnitude.c_str(), nullptr);
}

inline bool spells_nan(std::string_view text) {
  std::string found = lower(bare(text));
  if (!found.empty() && found[0] == '-') found.erase(0, 1);
  if (found == "nan") return true;
  if (found.size() < 5 || found.substr(0, 4) != "nan(" || found.back() != ')') return false;
  for (const char c : std::string_view(found).substr(4, found.size() - 5))
    if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '_') return false;
  return true;
}

/// A number of 64 bits, or nothing.
inline std::optional<long long> whole(std::string_view text) {
  const std::string found = bare(text);
  const std::size_t first = !found.empty() && found[0] == '-' ? 1 : 0;
  if (found.size() == first) return std::nullopt;
  for (std::size_t i = first; i < found.size(); ++i)
    if (!is_digit(found[i])) return std::nullopt;
  errno = 0;
  const long long value = std::strtoll(found.c_str(), nullptr, 10);
  if (errno != 0) return std::nullopt;
  return value;
}

/// A label as a number, without loss where a long double has 64 bits; nothing for text.
inline std::optional<long double> value_of(const tanager::Label& label) {
  if (const bool* flag = std::get_if<bool>(&label)) return *flag ? 1.0L : 0.0L;
  if (const auto* whole = std::get_if<std::int64_t>(&label)) return static_cast<long double>(*whole);
  if (const double* real = std::get_if<double>(&label)) return static_cast<long double>(*real);
  return std::nullopt;
}

inline tanager::Code find_value(std::span<const tanager::Label> labels, long double value) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (const auto known = value_of(labels[i]); known && *known == value) return static_cast<tanager::Code>(i);
  return tanager::kMissing;
}

/// The code of a text: a label of the same text, else the boolean or number that it spells.
inline tanager::Code find(std::span<const tanager::Label> labels, std::string_view text) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (const auto* known = std::get_if<std::string>(&labels[i]); known != nullptr && *known == text)
      return static_cast<tanager::Code>(i);
  const std::string word = stripped(text);
  for (const bool flag : {false, true})
    for (const char* spelled : {flag ? "true" : "false", flag ? "True" : "False", flag ? "TRUE" : "FALSE"}) {
      if (word != spelled) continue;
      const tanager::Code code = find_value(labels, flag ? 1.0L : 0.0L);
      return code != tanager::kMissing && std::holds_alternative<bool>(labels[code]) ? code : tanager::kMissing;
    }
  if (const auto value = whole(text)) return find_value(labels, static_cast<long double>(*value));
  const double value = number(text);
  return std::isnan(value) ? tanager::kMissing : find_value(labels, static_cast<long double>(value));
}

}  // namespace plain

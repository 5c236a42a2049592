#include "model_file/labels.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "support/utf8.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

/// A number without loss: whole numbers of 64 bits as such, all others as doubles. So 3 and 3.0 are one number, while
/// 2^53 and 2^53 + 1 stay two.
struct Number {
  bool is_whole = true;
  std::int64_t whole = 0;
  double real = 0.0;
};

Number to_number(double value) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (value >= -kTwoTo63 && value < kTwoTo63 && value == std::trunc(value))
    return {true, static_cast<std::int64_t>(value), 0.0};
  return {false, 0, value};
}

Number to_number(const Label& label) {
  if (const bool* flag = std::get_if<bool>(&label)) return {true, *flag ? 1 : 0, 0.0};
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&label)) return {true, *whole, 0.0};
  return to_number(std::get<double>(label));
}

bool less(const Number& a, const Number& b) {
  if (a.is_whole && b.is_whole) return a.whole < b.whole;
  if (!a.is_whole && !b.is_whole) return a.real < b.real;
  // One is whole; the other has a fraction or lies beyond 64 bits, so they differ and rounding down decides.
  constexpr double kTwoTo63 = 9223372036854775808.0;
  const double real = a.is_whole ? b.real : a.real;
  const std::int64_t whole = a.is_whole ? a.whole : b.whole;
  const bool whole_is_less =
      real >= kTwoTo63 || (real >= -kTwoTo63 && whole <= static_cast<std::int64_t>(std::floor(real)));
  return a.is_whole ? whole_is_less : !whole_is_less;
}

bool less(const Label& a, const Label& b) {
  const std::string* a_text = std::get_if<std::string>(&a);
  const std::string* b_text = std::get_if<std::string>(&b);
  if (a_text != nullptr && b_text != nullptr) return *a_text < *b_text;
  if (a_text != nullptr || b_text != nullptr) return b_text != nullptr;
  return less(to_number(a), to_number(b));
}

Code find(std::span<const Label> labels, std::span<const Code> order, const Number& value) {
  const auto at = std::partition_point(order.begin(), order.end(), [&](Code code) {
    return !std::holds_alternative<std::string>(labels[code]) && less(to_number(labels[code]), value);
  });
  if (at == order.end() || std::holds_alternative<std::string>(labels[*at])) return kMissing;
  return less(value, to_number(labels[*at])) ? kMissing : *at;
}

std::optional<bool> parse_flag(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return std::nullopt;
}

/// Reads what most numbers in tables are: up to 15 digits, perhaps with a sign and a point. Both the digits as a whole
/// number and the power of ten are exact as doubles, so that one division rounds correctly, as from_chars does in
/// several times the time. False for everything else.
bool parse_short(std::string_view text, double& value) {
  constexpr std::size_t kMostDigits = 15;
  constexpr std::array<double, kMostDigits + 1> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                           1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (FLT_EVAL_METHOD != 0) return false;  // wider registers would round twice
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.size() > kMostDigits + 1) return false;
  std::int64_t digits = 0;
  std::size_t n_digits = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = static_cast<unsigned>(text[i]) - '0';
    if (digit <= 9) {
      digits = 10 * digits + digit;
      ++n_digits;
    } else if (text[i] == '.' && point == text.size()) {
      point = i;
    } else {
      return false;
    }
  }
  if (n_digits == 0 || n_digits > kMostDigits) return false;
  const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
  const double magnitude = static_cast<double>(digits) / kPowers[decimals];
  value = negative ? -magnitude : magnitude;
  return true;
}

std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// A number as tables have them, without blanks around it and without a plus sign, neither of which from_chars takes.
std::string_view bare_number(std::string_view text) {
  text = without_blanks(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

/// What a number beyond the range of a double is nearest to: zero or an infinity.
double out_of_range(std::string_view text) {
  const double sign = text.front() == '-' ? -1.0 : 1.0;
  if (sign < 0.0) text.remove_prefix(1);
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, exponent_at);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_not_of("0."), digits.size());
  double magnitude = static_cast<double>(point) - static_cast<double>(first);
  if (exponent_at < text.size()) {
    std::string_view exponent = bare_number(text.substr(exponent_at + 1));
    const bool negative = exponent.front() == '-';
    std::int64_t value = 0;
    if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), value).ec != std::errc())
      return negative ? sign * 0.0 : sign * std::numeric_limits<double>::infinity();
    magnitude += static_cast<double>(value);
  }
  return magnitude > 0.0 ? sign * std::numeric_limits<double>::infinity() : sign * 0.0;
}

template <class T>
bool parse(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

template <class T>
std::string shortest_text(T value) {
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

void check_label(const Label& label, const std::string& owner) {
  if (const double* real = std::get_if<double>(&label); real != nullptr && std::isnan(*real))
    throw InvalidInput(owner + " has the label NaN, but NaN stands for a missing value");
  if (const std::string* text = std::get_if<std::string>(&label); text != nullptr && !is_utf8(*text))
    throw InvalidInput(owner + " has a label that is not UTF-8 text");
}

}  // namespace

std::vector<Code> label_order(std::span<const Label> labels, const std::string& owner) {
  if (labels.size() > kMaxValues)
    throw InvalidInput(owner + " has " + std::to_string(labels.size()) + " labels, but at most " +
                       std::to_string(kMaxValues) + " are possible");
  for (const Label& label : labels) check_label(label, owner);
  std::vector<Code> order(labels.size());
  std::iota(order.begin(), order.end(), Code{0});
  std::sort(order.begin(), order.end(), [&](Code a, Code b) { return less(labels[a], labels[b]); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Label& before = labels[order[i - 1]];
    const Label& label = labels[order[i]];
    if (!less(before, label))
      throw InvalidInput(owner + " has equal labels at " + std::to_string(std::min(order[i - 1], order[i])) + " and " +
                         std::to_string(std::max(order[i - 1], order[i])) + ": " + label_text(before) + " and " +
                         label_text(label));
  }
  return order;
}

Code find_number(std::span<const Label> labels, std::span<const Code> order, double value) {
  return std::isnan(value) ? kMissing : find(labels, order, to_number(value));
}

Code find_text(std::span<const Label> labels, std::span<const Code> order, std::string_view value) {
  const auto at = std::partition_point(order.begin(), order.end(), [&](Code code) {
    const std::string* text = std::get_if<std::string>(&labels[code]);
    return text == nullptr || *text < value;
  });
  if (at != order.end() && std::get<std::string>(labels[*at]) == value) return *at;
  if (order.empty() || std::holds_alternative<std::string>(labels[order.front()])) return kMissing;

  if (const auto flag = parse_flag(without_blanks(value))) {
    const Code code = find(labels, order, Number{true, *flag ? 1 : 0, 0.0});
    return code != kMissing && std::holds_alternative<bool>(labels[code]) ? code : kMissing;
  }
  if (std::int64_t whole = 0; parse(bare_number(value), whole)) return find(labels, order, Number{true, whole, 0.0});
  return find_number(labels, order, parse_number(value));
}

std::string label_text(const Label& label) {
  if (const bool* flag = std::get_if<bool>(&label)) return *flag ? "true" : "false";
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&label)) return shortest_text(*whole);
  if (const double* real = std::get_if<double>(&label)) return shortest_text(*real);
  return std::get<std::string>(label);
}

double parse_number(std::string_view text) {
  double value = 0.0;
  if (parse_short(text, value)) return value;
  text = bare_number(text);
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (rest != end || error == std::errc::invalid_argument) return std::numeric_limits<double>::quiet_NaN();
  return error == std::errc() ? value : out_of_range(text);
}

bool spells_nan(std::string_view text) {
  double value = 0.0;
  return parse(bare_number(text), value) && std::isnan(value);
}

}  // namespace tanager::internal

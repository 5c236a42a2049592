// Labels: their order, looking them up by number and by text, and numbers read from text and written as text.
#include <cfloat>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "csv/csv.hpp"
#include "fuzz.hpp"
#include "model_file/labels.hpp"
#include "plain_text.hpp"
#include "support/utf8.hpp"
#include "tanager/errors.hpp"

const int fuzz::kShortRuns = 40'000;
const std::size_t fuzz::kMaxLength = 512;

namespace {

using namespace tanager;
using namespace tanager::internal;

double read_double(fuzz::Input& input) {
  switch (input.number(0, 4)) {
    case 0:
      return static_cast<double>(input.number(0, 255)) - 128.0;
    case 1:
      return input.choose(
          {0.0, -0.0, 1.0, 0.5, 0.1, 1e15, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 5e-324, 1e308, HUGE_VAL, -HUGE_VAL});
    case 2:  // near the end of what 64 bits hold
      return std::ldexp(static_cast<double>(input.number(0, 0xFFFF)), static_cast<int>(input.number(36, 50)));
    default: {
      const std::uint64_t bits = input.number(0, UINT64_MAX);
      double value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
  }
}

std::int64_t read_whole(fuzz::Input& input) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kTwoTo53 = std::int64_t{1} << 53;
  switch (input.number(0, 3)) {
    case 0:
      return static_cast<std::int64_t>(input.number(0, 255)) - 128;
    case 1:
      return input.choose({kMost, kMost - 1, -kMost, -kMost - 1, kTwoTo53, kTwoTo53 + 1, kTwoTo53 - 1, -kTwoTo53 - 1});
    default:
      return static_cast<std::int64_t>(input.number(0, UINT64_MAX));
  }
}

std::string read_text(fuzz::Input& input) {
  switch (input.number(0, 4)) {
    case 0:
      return internal::label_text(read_double(input));
    case 1:
      return internal::label_text(read_whole(input));
    case 2:
      return input.choose<std::string>({"true", "True", "FALSE", " false ", "", "nan", "+inf", "-Infinity", "1e400",
                                        "-1e-400", "nan(1)", "+-1", ".", "1.", "\xC3\xA9", "0x1"});
    case 3: {  // digits and what stands between them
      std::string text;
      for (std::size_t left = input.size(0, 30); left > 0; --left) text += "0123456789+-.eE \t"[input.size(0, 16)];
      return text;
    }
    default:
      return input.text(20);
  }
}

Label read_label(fuzz::Input& input) {
  switch (input.number(0, 3)) {
    case 0:
      return input.flag();
    case 1:
      return read_whole(input);
    case 2:
      return read_double(input);
    default:
      return read_text(input);
  }
}

/// Whether labels can be told apart, and are what labels may be.
bool are_fine(const std::vector<Label>& labels) {
  std::set<std::string> texts;
  std::set<long double> values;
  for (const Label& label : labels) {
    const auto value = plain::value_of(label);
    if (value && (std::isnan(*value) || !values.insert(*value).second)) return false;
    if (value) continue;
    const std::string& text = std::get<std::string>(label);
    if (!internal::is_utf8(text) || !texts.insert(text).second) return false;
  }
  return true;
}

bool is_before(const Label& a, const Label& b) {
  const auto a_value = plain::value_of(a), b_value = plain::value_of(b);
  if (a_value && b_value) return *a_value < *b_value;
  if (a_value || b_value) return a_value.has_value();
  return std::get<std::string>(a) < std::get<std::string>(b);
}

void check_number(const std::string& text) {
  const double expected = plain::number(text);
  const double got = internal::parse_number(text);
  fuzz::require_same(got, expected, "the number that '" + text + "' spells");
  if (got == 0.0) fuzz::require_same(std::signbit(got), std::signbit(expected), "sign of zero");
  fuzz::require_same(internal::spells_nan(text), plain::spells_nan(text), "whether '" + text + "' spells NaN");
}

void check_written(double value) {
  std::string written;
  internal::append_number(written, value);
  fuzz::require_same(written, internal::label_text(value), "a number as text");
  if (std::isnan(value)) return;
  fuzz::require_same(std::strtod(written.c_str(), nullptr), value, "a number that was written");
  check_number(written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (LDBL_MANT_DIG < 64) return 0;  // what is compared with needs it
  fuzz::Input input(data, size);
  std::vector<Label> labels(input.size(0, 12));
  for (Label& label : labels) label = read_label(input);
  std::vector<Code> order;
  try {
    order = internal::label_order(labels, "x");
    fuzz::require(are_fine(labels), "labels that cannot be told apart, or are none, were taken");
  } catch (const InvalidInput&) {
    fuzz::require(!are_fine(labels), "labels were rejected");
    order.clear();
    labels.clear();
  }
  for (std::size_t i = 1; i < order.size(); ++i)
    fuzz::require(is_before(labels[order[i - 1]], labels[order[i]]), "labels are not in order");

  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string text = internal::label_text(labels[i]);
    fuzz::require_same(internal::find_text(labels, order, text), plain::find(labels, text),
                       "code of the label " + text);
    if (const auto* real = std::get_if<double>(&labels[i]))
      fuzz::require_same(internal::find_number(labels, order, *real), Code(i), "code of the number " + text);
  }
  while (!input.empty()) {
    const double value = read_double(input);
    check_written(value);
    fuzz::require_same(internal::find_number(labels, order, value),
                       std::isnan(value) ? kMissing : plain::find_value(labels, value), "code of a number");
    const std::string text = read_text(input);
    check_number(text);
    fuzz::require_same(internal::find_text(labels, order, text), plain::find(labels, text), "code of '" + text + "'");
  }
  return 0;
}

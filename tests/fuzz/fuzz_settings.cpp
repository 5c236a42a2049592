// Settings: a text found in JSON by walking over it, against parsing all of it.
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "model_file/settings.hpp"

const int fuzz::kShortRuns = 60'000;
const std::size_t fuzz::kMaxLength = 1024;

namespace {

constexpr std::size_t kDeepest = 50;

struct Value {
  enum class Kind { kText, kObject, kOther } kind = Kind::kOther;
  std::string text;
  std::vector<std::string> names;  // of an object, and their values
  std::vector<Value> members;
};

/// A strict parser; texts keep their escapes.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Value> parse() {
    auto value = this->value(0);
    skip();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    std::string found;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      found += text_[at_];
      if (text_[at_] != '\\') continue;
      if (++at_ == text_.size()) return std::nullopt;
      found += text_[at_];
    }
    if (at_ == text_.size()) return std::nullopt;
    ++at_;
    return found;
  }
  std::optional<Value> value(std::size_t depth) {
    if (depth > kDeepest) return std::nullopt;
    Value found;
    skip();
    if (at_ < text_.size() && text_[at_] == '"') {
      auto text = string();
      if (!text) return std::nullopt;
      found.kind = Value::Kind::kText;
      found.text = *text;
      return found;
    }
    if (take('{')) {
      found.kind = Value::Kind::kObject;
      if (take('}')) return found;
      do {
        auto key = string();
        if (!key || !take(':')) return std::nullopt;
        auto member = value(depth + 1);
        if (!member) return std::nullopt;
        found.names.push_back(*key);
        found.members.push_back(*member);
      } while (take(','));
      return take('}') ? std::optional(found) : std::nullopt;
    }
    if (take('[')) {
      if (take(']')) return found;
      do {
        if (!value(depth + 1)) return std::nullopt;
      } while (take(','));
      return take(']') ? std::optional(found) : std::nullopt;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  std::string_view("+-.").find(text_[at_]) != std::string_view::npos))
      ++at_;
    return at_ > begin ? std::optional(found) : std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The first member of every name is taken.
std::optional<std::string> find(const Value& value, std::span<const std::string_view> names) {
  if (names.empty()) return value.kind == Value::Kind::kText ? std::optional(value.text) : std::nullopt;
  for (std::size_t i = 0; i < value.names.size(); ++i)
    if (value.names[i] == names.front()) return find(value.members[i], names.subspan(1));
  return std::nullopt;
}

std::string read_name(fuzz::Input& input) {
  return input.choose<std::string>({"params", "unseen", "a", "", "\\\"", "\\\\", "error", "{", "\\u0041"});
}

std::string read_json(fuzz::Input& input, std::size_t depth) {
  const std::string space = input.choose<std::string>({"", " ", "\n\t"});
  switch (depth > 6 ? 0 : input.number(0, 3)) {
    case 0:
      return space + '"' + read_name(input) + '"';
    case 1:
      return space + input.choose<std::string>({"1", "-2.5e3", "true", "null", "NaN", "-Infinity"});
    case 2: {
      std::string text = "[";
      for (std::size_t left = input.size(0, 3); left > 0; --left)
        text += read_json(input, depth + 1) + (left > 1 ? "," : "");
      return text + space + "]";
    }
    default: {
      std::string text = "{";
      for (std::size_t left = input.size(0, 4); left > 0; --left)
        text +=
            space + '"' + read_name(input) + '"' + space + ":" + read_json(input, depth + 1) + (left > 1 ? "," : "");
      return text + space + "}";
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  std::vector<std::string> names(input.size(0, 3));
  for (std::string& name : names) name = read_name(input);
  const std::string json = input.flag() ? read_json(input, 0) : input.text(fuzz::kMaxLength);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto got = tanager::internal::setting_text(json, views);
  if (const auto parsed = Parser(json).parse()) {
    const auto expected = find(*parsed, views);
    fuzz::require_same(got.has_value(), expected.has_value(), "whether there is a text in " + json);
    if (got) fuzz::require_same(*got, *expected, "the text in " + json);
  }
  return 0;
}

#include "model_file/settings.hpp"

#include <algorithm>

namespace tanager::internal {
namespace {

/// Walks over JSON text. What it does not expect makes it fail for good, and no text makes it leave its bounds.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : text_(text) {}

  /// Enters the object that comes and stops at the value of that name; false if there is none.
  bool enter(std::string_view name) {
    if (!take('{')) return false;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return false;
      if (*key == name) return true;
      if (!skip_value()) return false;
      take(',');
    }
    return false;
  }

  /// The string that comes, its escapes as they are written; none if something else comes.
  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return std::nullopt;
    return std::string(text_.substr(begin, at_++ - begin));
  }

 private:
  bool take(char expected) {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  /// Passes over whatever value comes, counting brackets instead of calling itself: nested text needs no stack.
  bool skip_value() {
    std::size_t open = 0;
    do {
      if (string()) continue;
      if (take('{') || take('[')) {
        ++open;
      } else if (take('}') || take(']')) {
        if (open-- == 0) return false;
      } else if (!take(',') && !take(':') && !skip_word()) {
        return false;
      }
    } while (open > 0);
    return true;
  }

  /// A number, true, false, null, or what Python writes for numbers that JSON does not know.
  bool skip_word() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
    return at_ > begin;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> setting_text(std::string_view json, std::span<const std::string_view> names) {
  JsonWalk walk(json);
  for (const std::string_view name : names)
    if (!walk.enter(name)) return std::nullopt;
  return walk.string();
}

}  // namespace tanager::internal

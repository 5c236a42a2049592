// Building error messages.
#pragma once

#include <sstream>
#include <string>

namespace tanager {

/// All arguments as one text; numbers as the shortest text that a reader needs.
template <class... Parts>
std::string join_text(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

}  // namespace tanager

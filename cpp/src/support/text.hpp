// Building error messages.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace tanager::internal {

/// All arguments as one text; numbers as the shortest text that a reader needs.
template <class... Parts>
std::string join_text(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// A number of cells, which may exceed every integer: in full, or as a power of ten where nobody would count the
/// digits.
inline std::string number_of_cells(double cells) {
  return cells < 1e15 ? std::to_string(static_cast<std::uint64_t>(cells)) : join_text(cells);
}

}  // namespace tanager::internal

#pragma once

#include <string_view>

namespace tanager::internal {

/// Whether text is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
bool is_utf8(std::string_view text);

}  // namespace tanager::internal

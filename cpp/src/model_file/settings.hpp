// The settings in a model file, as far as prediction needs them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tanager::internal {

/// The text that stands in a JSON object under the given names, one object within the other. None if there is none, if
/// it is no text, or if the whole is not JSON: programs of other languages may keep what they like there.
std::optional<std::string> setting_text(std::string_view json, std::span<const std::string_view> names);

}  // namespace tanager::internal

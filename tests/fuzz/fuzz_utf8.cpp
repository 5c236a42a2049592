// UTF-8: what is well-formed, against decoding to numbers of characters and encoding them again.
#include <string>

#include "fuzz.hpp"
#include "support/utf8.hpp"

const int fuzz::kShortRuns = 300'000;
const std::size_t fuzz::kMaxLength = 64;

namespace {

std::string encoded(std::uint32_t number) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (number >> shift & 0x3F)); };
  if (number < 0x80) return {static_cast<char>(number)};
  if (number < 0x800) return {static_cast<char>(0xC0 | number >> 6), tail(0)};
  if (number < 0x10000) return {static_cast<char>(0xE0 | number >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | number >> 18), tail(12), tail(6), tail(0)};
}

/// Decodes as if all were well, then looks whether encoding gives the same bytes.
bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) {
      return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0;
    };
    const std::uint32_t lead = byte(at);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t number = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) number = number << 6 | (byte(at + i) & 0x3F);
    if (number > 0x10FFFF || (number >= 0xD800 && number < 0xE000)) return false;
    if (text.substr(at, length) != encoded(number)) return false;
    at += length;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::require_same(tanager::internal::is_utf8(text), is_utf8(text), "whether a text is UTF-8");
  return 0;
}

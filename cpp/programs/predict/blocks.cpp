#include "blocks.hpp"

#include <algorithm>
#include <string_view>

#include "csv/csv.hpp"

namespace tanager::predict {

using namespace internal;

namespace {

/// Longer records are taken for an unclosed quote.
constexpr std::size_t kLongestRecord = std::size_t{1} << 26;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool BlockReader::fill(Block& block) {
  block.is_cut = false;
  block.text = {};
  if (is_over_) return false;
  std::size_t filled = rest_.size();
  for (std::size_t wanted = std::max(block_size_, 2 * filled);; wanted *= 2) {
    // One more byte, for a line end that the table may lack.
    block.buffer.resize(std::max(block.buffer.size(), wanted + 1 + kCsvPadding));
    std::copy(rest_.begin(), rest_.end(), block.buffer.begin());
    rest_.clear();
    const std::size_t count = input_.read({block.buffer.data() + filled, wanted - filled});
    is_over_ = filled + count < wanted;
    filled += count;
    const std::string_view text(block.buffer.data(), filled);
    // Skipped first: a quote counts only at the start of a field, and the mark would precede it.
    const std::size_t begin = is_first_ && text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    std::size_t whole = is_over_ ? filled : begin + whole_records(text.substr(begin), delimiter_);
    if (whole == begin && !is_over_) {
      if (filled < kLongestRecord) continue;
      whole = filled;
      is_over_ = block.is_cut = true;
    }
    rest_.assign(text.begin() + static_cast<std::ptrdiff_t>(whole), text.end());
    finish(block, begin, whole);
    is_first_ = false;
    return !block.text.empty();
  }
}

void BlockReader::finish(Block& block, std::size_t begin, std::size_t end) {
  if (end > begin && block.buffer[end - 1] != '\n' && block.buffer[end - 1] != '\r') block.buffer[end++] = '\n';
  block.text = {block.buffer.data() + begin, end - begin};
}

}  // namespace tanager::predict

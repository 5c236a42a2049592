#include "data/encode_arrow.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "data/encode_strings.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

namespace tanager {
namespace {

[[noreturn]] void fail(ArrowArrayStream& stream, const char* doing) {
  const char* reason = stream.get_last_error(&stream);
  throw InvalidInput(std::string("a column of strings could not be read (") + doing +
                     "): " + (reason == nullptr ? "no reason given" : reason));
}

/// Strings that lie one after the other, with n + 1 offsets.
template <class Offset>
class OffsetReader {
 public:
  explicit OffsetReader(const ArrowArray& chunk)
      : offsets_(static_cast<const Offset*>(chunk.buffers[1]) + chunk.offset),
        text_(static_cast<const char*>(chunk.buffers[2])) {}
  std::string_view operator[](std::size_t i) const {
    const Offset begin = offsets_[i];
    const Offset end = offsets_[i + 1];
    // A column of empty strings may come without any text at all.
    return begin == end ? std::string_view() : std::string_view(text_ + begin, static_cast<std::size_t>(end - begin));
  }

 private:
  const Offset* offsets_;
  const char* text_;
};

/// Sixteen bytes per string: its length and, up to 12 bytes, the text itself, else where in which buffer the text is.
class ViewReader {
 public:
  explicit ViewReader(const ArrowArray& chunk)
      : views_(static_cast<const char*>(chunk.buffers[1]) + 16 * chunk.offset), buffers_(chunk.buffers + 2) {}
  std::string_view operator[](std::size_t i) const {
    const char* view = views_ + 16 * i;
    std::int32_t parts[4];  // length, first four bytes of the text, buffer, offset
    std::memcpy(parts, view, sizeof parts);
    const auto length = static_cast<std::size_t>(parts[0]);
    if (length <= 12) return {view + 4, length};
    return {static_cast<const char*>(buffers_[parts[2]]) + parts[3], length};
  }

 private:
  const char* views_;
  const void** buffers_;
};

template <class Reader>
void number_chunk(const ArrowArray& chunk, StringIndex& index, std::int32_t* numbers) {
  const Reader reader(chunk);
  const auto n = static_cast<std::size_t>(chunk.length);
  const auto* valid = chunk.null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(chunk.buffers[0]);
  if (valid == nullptr) {
    for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<std::int32_t>(index.insert(reader[i]));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t bit = i + static_cast<std::size_t>(chunk.offset);
    const bool present = ((valid[bit / 8] >> (bit % 8)) & 1) != 0;
    numbers[i] = present ? static_cast<std::int32_t>(index.insert(reader[i])) : -1;
  }
}

enum class Layout { kOffsets32, kOffsets64, kViews };

Layout read_layout(ArrowArrayStream& stream) {
  ArrowSchema schema;
  if (stream.get_schema(&stream, &schema) != 0) fail(stream, "schema");
  const std::string format = schema.dictionary == nullptr ? schema.format : "dictionary";
  schema.release(&schema);
  if (format == "u") return Layout::kOffsets32;
  if (format == "U") return Layout::kOffsets64;
  if (format == "vu") return Layout::kViews;
  throw InvalidInput("a column of strings was expected, but one of Arrow format '" + format + "' came");
}

}  // namespace

struct ArrowStrings::Chunks {
  explicit Chunks(ArrowArrayStream& source) : stream(source) {}
  ~Chunks() {
    for (auto& chunk : arrays) chunk.release(&chunk);
    if (stream.release != nullptr) stream.release(&stream);
  }
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;

  void read() {
    if (stream.release == nullptr) throw InvalidInput("an Arrow stream can be read only once");
    layout = read_layout(stream);
    while (true) {
      ArrowArray chunk;
      if (stream.get_next(&stream, &chunk) != 0) fail(stream, "chunk");
      if (chunk.release == nullptr) break;  // the end of the stream
      arrays.push_back(chunk);
      n_rows += static_cast<std::size_t>(chunk.length);
    }
  }

  ArrowArrayStream& stream;
  Layout layout = Layout::kOffsets32;
  std::vector<ArrowArray> arrays;
  std::size_t n_rows = 0;
};

ArrowStrings::ArrowStrings(ArrowArrayStream& stream) : chunks_(std::make_unique<Chunks>(stream)) {
  chunks_->read();
}

ArrowStrings::~ArrowStrings() = default;

std::size_t ArrowStrings::n_rows() const {
  return chunks_->n_rows;
}

std::vector<std::string_view> ArrowStrings::number(std::span<std::int32_t> numbers) const {
  if (numbers.size() != n_rows())
    throw InvalidInput("room for " + std::to_string(n_rows()) + " numbers was expected, but for " +
                       std::to_string(numbers.size()) + " came");
  StringIndex index;
  std::int32_t* out = numbers.data();
  for (const auto& chunk : chunks_->arrays) {
    if (chunk.length == 0) continue;
    switch (chunks_->layout) {
      case Layout::kOffsets32:
        number_chunk<OffsetReader<std::int32_t>>(chunk, index, out);
        break;
      case Layout::kOffsets64:
        number_chunk<OffsetReader<std::int64_t>>(chunk, index, out);
        break;
      case Layout::kViews:
        number_chunk<ViewReader>(chunk, index, out);
        break;
    }
    out += chunk.length;
  }
  return index.strings();
}

}  // namespace tanager

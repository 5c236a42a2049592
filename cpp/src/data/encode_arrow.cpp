#include "data/encode_arrow.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "data/encode_strings.hpp"
#include "support/check_stop.hpp"
#include "support/words.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

[[noreturn]] void fail(ArrowArrayStream& stream, const char* doing) {
  const char* reason = stream.get_last_error(&stream);
  throw InvalidInput(std::string("a column of strings could not be read (") + doing +
                     "): " + (reason == nullptr ? "no reason given" : reason));
}

/// A string of up to sixteen bytes as two words and its length, which together tell it from all others.
struct ShortKey {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t length = 0;

  bool operator==(const ShortKey&) const = default;
};

/// The words of a short string in memory that can be read for at least eight bytes.
ShortKey key_of(const char* p, std::size_t n) {
  if (n > 8) return {load8(p), load8(p + n - 8), n};
  return {first_bytes<std::endian::native>(load8(p), n), 0, n};
}

/// Strings that lie one after the other, with n + 1 offsets.
template <class Offset>
class OffsetReader {
 public:
  explicit OffsetReader(const ArrowArray& chunk)
      : offsets_(static_cast<const Offset*>(chunk.buffers[1]) + chunk.offset),
        text_(static_cast<const char*>(chunk.buffers[2])),
        end_(offsets_[chunk.length]) {}
  bool find_key(std::size_t i, ShortKey& key) const {
    const Offset begin = offsets_[i];
    const Offset n = offsets_[i + 1] - begin;
    if (n > 16 || end_ - begin < 8) return false;
    key = key_of(text_ + begin, static_cast<std::size_t>(n));
    return true;
  }
  std::string_view operator[](std::size_t i) const {
    const Offset begin = offsets_[i];
    const Offset end = offsets_[i + 1];
    // A column of empty strings may come without any text at all.
    return begin == end ? std::string_view() : std::string_view(text_ + begin, static_cast<std::size_t>(end - begin));
  }

 private:
  const Offset* offsets_;
  const char* text_;
  Offset end_;
};

/// Sixteen bytes per string: its length and, up to 12 bytes, the text itself, else where in which buffer the text is.
class ViewReader {
 public:
  explicit ViewReader(const ArrowArray& chunk)
      : views_(static_cast<const char*>(chunk.buffers[1]) + 16 * chunk.offset), buffers_(chunk.buffers + 2) {}
  bool find_key(std::size_t i, ShortKey& key) const {
    const char* view = views_ + 16 * i;
    std::int32_t length;
    std::memcpy(&length, view, sizeof length);
    if (length > 12) return false;
    key = {load8(view), load8(view + 8), 0};  // padded with zeros, and the length is in it
    return true;
  }
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

/// Numbers of short strings met before, by their words: most columns have few values, and comparing words takes no
/// branches that depend on how long strings are. A slot may be taken by another string; then the index is asked again.
class ShortStrings {
 public:
  template <class Reader>
  std::int32_t number(const Reader& reader, std::size_t i, StringIndex& index) {
    ShortKey key;
    if (!reader.find_key(i, key)) return static_cast<std::int32_t>(index.insert(reader[i]));
    const std::uint64_t mixed = (key.first ^ (key.last << 1) ^ (key.length << 56)) * 0x9E3779B97F4A7C15ULL;
    Slot& slot = slots_[static_cast<std::size_t>(mixed >> 56)];
    if (slot.number < 0 || slot.key != key) slot = {key, static_cast<std::int32_t>(index.insert(reader[i]))};
    return slot.number;
  }

 private:
  struct Slot {
    ShortKey key;
    std::int32_t number = -1;
  };
  std::array<Slot, 256> slots_;
};

template <class Reader>
void number_chunk(const ArrowArray& chunk, StringIndex& index, ShortStrings& met, std::int32_t* numbers) {
  const Reader reader(chunk);
  const auto n = static_cast<std::size_t>(chunk.length);
  const auto* valid = chunk.null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(chunk.buffers[0]);
  in_pieces(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t bit = i + static_cast<std::size_t>(chunk.offset);
      const bool present = valid == nullptr || ((valid[bit / 8] >> (bit % 8)) & 1) != 0;
      numbers[i] = present ? met.number(reader, i, index) : -1;
    }
  });
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
  throw InvalidInput("expected a column of strings, got one of Arrow format '" + format + "'");
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
    throw InvalidInput("expected room for " + std::to_string(n_rows()) + " numbers, got " +
                       std::to_string(numbers.size()));
  StringIndex index;
  ShortStrings met;
  std::int32_t* out = numbers.data();
  for (const auto& chunk : chunks_->arrays) {
    if (chunk.length == 0) continue;
    switch (chunks_->layout) {
      case Layout::kOffsets32:
        number_chunk<OffsetReader<std::int32_t>>(chunk, index, met, out);
        break;
      case Layout::kOffsets64:
        number_chunk<OffsetReader<std::int64_t>>(chunk, index, met, out);
        break;
      case Layout::kViews:
        number_chunk<ViewReader>(chunk, index, met, out);
        break;
    }
    out += chunk.length;
  }
  return index.keys();
}

}  // namespace tanager

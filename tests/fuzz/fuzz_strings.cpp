// Strings to numbers in the order of their first appearance: of a fixed size, and as Arrow hands them over.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/encode_arrow.hpp"
#include "fuzz.hpp"
#include "places.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"

const int fuzz::kShortRuns = 4000;
const std::size_t fuzz::kMaxLength = 100;

namespace {

using namespace tanager;

/// Strings of some few kinds: short ones, long ones, with zeros in them, that differ in the last byte.
std::vector<std::string> read_strings(fuzz::Input& input, std::size_t n, std::mt19937_64& random) {
  const std::size_t n_distinct = input.flag() ? input.size(1, 12) : input.size(1, 700);
  const std::size_t longest = input.choose<std::size_t>({0, 1, 4, 8, 9, 13, 16, 17, 24, 60});
  std::vector<std::string> words(n_distinct);
  for (std::string& word : words) {
    word.assign(longest == 0 ? 0 : random() % (longest + 1), 'a');
    for (char& c : word)
      if (random() % 3 == 0) c = static_cast<char>(random() % 4 == 0 ? 0 : 'a' + random() % 3);
  }
  std::vector<std::string> strings(n);
  for (std::string& text : strings) text = words[random() % n_distinct];
  return strings;
}

class Numbering {
 public:
  std::int32_t number(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, static_cast<std::int32_t>(order_.size()));
    if (is_new) order_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& order() const { return order_; }

 private:
  std::map<std::string, std::int32_t> numbers_;
  std::vector<std::string> order_;
};

void check_fixed_strings(fuzz::Input& input) {
  const std::size_t n_rows = fuzz::read_n_rows(input);
  const std::size_t size = input.edge_size(70) - 1;
  fuzz::Place place = fuzz::read_place(input, n_rows, 1, std::max<std::size_t>(size, 1));
  std::mt19937_64 random = input.random();
  const auto strings = read_strings(input, n_rows, random);
  for (std::size_t i = 0; i < n_rows; ++i)
    std::memcpy(place.at(i, 0), strings[i].data(), std::min(size, strings[i].size()));
  std::vector<std::int32_t> numbers(n_rows);
  const auto first_rows = number_fixed_strings(place.data(), place.row_stride, size, numbers);
  Numbering expected;
  std::vector<std::int64_t> expected_rows;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::string text(place.at(i, 0), size);
    fuzz::require_same(numbers[i], expected.number(text), "number of a string");
    if (expected.order().size() > expected_rows.size()) expected_rows.push_back(static_cast<std::int64_t>(i));
  }
  fuzz::require(first_rows == expected_rows, "rows where strings come first");
}

/// A chunk of a column of strings, as the Arrow C data interface has it; buffers are not a byte too large.
struct Chunk {
  std::vector<char> validity, offsets, text;
  std::vector<std::vector<char>> texts;  // of views
  std::vector<const void*> buffers;
  ArrowArray array{};
};

/// Hands out chunks, and counts what is released.
struct Source {
  std::string format;
  std::vector<std::unique_ptr<Chunk>> chunks;
  std::size_t next = 0;
  bool has_dictionary = false;
  std::optional<std::size_t> fails_at;
  static inline int open = 0;
};

void release_array(ArrowArray* array) {
  --Source::open;
  array->release = nullptr;
}
void release_schema(ArrowSchema* schema) {
  --Source::open;
  schema->release = nullptr;
}
void release_stream(ArrowArrayStream* stream) {
  --Source::open;
  stream->release = nullptr;
}

ArrowArrayStream stream_of(Source& source) {
  ++Source::open;
  ArrowArrayStream stream{};
  stream.private_data = &source;
  stream.release = release_stream;
  stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    auto& from = *static_cast<Source*>(self->private_data);
    static ArrowSchema dictionary{};
    *out = ArrowSchema{};
    out->format = from.format.c_str();
    out->dictionary = from.has_dictionary ? &dictionary : nullptr;
    out->release = release_schema;
    ++Source::open;
    return 0;
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    auto& from = *static_cast<Source*>(self->private_data);
    if (from.fails_at == from.next) return 5;
    *out = ArrowArray{};
    if (from.next == from.chunks.size()) return 0;
    *out = from.chunks[from.next++]->array;
    ++Source::open;
    return 0;
  };
  return stream;
}

void append(std::vector<char>& bytes, const void* from, std::size_t size) {
  bytes.insert(bytes.end(), static_cast<const char*>(from), static_cast<const char*>(from) + size);
}

template <class Offset>
void fill_offsets(Chunk& chunk, const std::vector<std::string>& slots, Offset start) {
  chunk.text.assign(static_cast<std::size_t>(start), 'z');
  append(chunk.offsets, &start, sizeof start);
  for (const std::string& text : slots) {
    append(chunk.text, text.data(), text.size());
    const Offset end = static_cast<Offset>(chunk.text.size());
    append(chunk.offsets, &end, sizeof end);
  }
  chunk.text.shrink_to_fit();
  chunk.buffers = {chunk.validity.data(), chunk.offsets.data(), chunk.text.empty() ? nullptr : chunk.text.data()};
}

void fill_views(Chunk& chunk, const std::vector<std::string>& slots, std::size_t n_buffers) {
  chunk.texts.resize(n_buffers);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto length = static_cast<std::int32_t>(slots[i].size());
    char view[16] = {};
    std::memcpy(view, &length, sizeof length);
    if (length <= 12) {
      std::copy(slots[i].begin(), slots[i].end(), view + 4);
    } else {
      const auto which = static_cast<std::int32_t>(i % n_buffers);
      const auto at = static_cast<std::int32_t>(chunk.texts[i % n_buffers].size());
      std::copy_n(slots[i].begin(), 4, view + 4);
      std::memcpy(view + 8, &which, sizeof which);
      std::memcpy(view + 12, &at, sizeof at);
      append(chunk.texts[i % n_buffers], slots[i].data(), slots[i].size());
    }
    append(chunk.offsets, view, sizeof view);
  }
  chunk.buffers = {chunk.validity.data(), chunk.offsets.data()};
  for (std::vector<char>& text : chunk.texts) {
    text.shrink_to_fit();
    chunk.buffers.push_back(text.data());
  }
}

void check_arrow(fuzz::Input& input) {
  Source source;
  source.format = input.choose<std::string>({"u", "u", "U", "U", "vu", "vu", "z", "i", ""});
  source.has_dictionary = input.number(0, 15) == 15;
  const bool is_known =
      !source.has_dictionary && (source.format == "u" || source.format == "U" || source.format == "vu");
  const std::size_t n_chunks = input.size(0, 3);
  if (input.number(0, 15) == 15) source.fails_at = input.size(0, n_chunks);
  std::mt19937_64 random = input.random();
  std::vector<std::optional<std::string>> rows;
  for (std::size_t c = 0; c < n_chunks; ++c) {
    source.chunks.push_back(std::make_unique<Chunk>());
    Chunk& chunk = *source.chunks.back();
    const std::size_t n = input.size(0, 120), offset = input.flag() ? 0 : input.size(0, 20), after = input.size(0, 3);
    const std::size_t nulls = input.choose<std::size_t>({0, 0, 3, 10});  // of ten
    const std::vector<std::string> slots = read_strings(input, offset + n + after, random);
    chunk.validity.assign((slots.size() + 7) / 8, 0);
    std::int64_t n_nulls = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool is_valid = random() % 10 >= nulls;
      if (is_valid) chunk.validity[i / 8] = static_cast<char>(chunk.validity[i / 8] | 1 << i % 8);
      if (i < offset || i >= offset + n) continue;
      n_nulls += is_valid ? 0 : 1;
      rows.push_back(is_valid ? std::optional(slots[i]) : std::nullopt);
    }
    if (source.format == "vu")
      fill_views(chunk, slots, input.size(1, 3));
    else if (source.format == "U")
      fill_offsets<std::int64_t>(chunk, slots, static_cast<std::int64_t>(input.size(0, 9)));
    else
      fill_offsets<std::int32_t>(chunk, slots, static_cast<std::int32_t>(input.size(0, 9)));
    if (nulls == 0 && input.flag()) chunk.buffers[0] = nullptr;
    chunk.array.length = static_cast<std::int64_t>(n);
    chunk.array.null_count = input.flag() ? -1 : n_nulls;
    chunk.array.offset = static_cast<std::int64_t>(offset);
    chunk.array.n_buffers = static_cast<std::int64_t>(chunk.buffers.size());
    chunk.array.buffers = chunk.buffers.data();
    chunk.array.release = release_array;
  }
  ArrowArrayStream stream = stream_of(source);
  try {
    const ArrowStrings strings(stream);
    fuzz::require(is_known && !source.fails_at, "a stream was taken that fails, or holds no strings");
    fuzz::require_same(strings.n_rows(), rows.size(), "rows");
    std::vector<std::int32_t> numbers(rows.size());
    const auto found = strings.number(numbers);
    Numbering expected;
    for (std::size_t i = 0; i < rows.size(); ++i)
      fuzz::require_same(numbers[i], rows[i] ? expected.number(*rows[i]) : -1, "number of a string");
    fuzz::require(std::equal(found.begin(), found.end(), expected.order().begin(), expected.order().end()), "strings");
  } catch (const InvalidInput&) {
    fuzz::require(!is_known || source.fails_at, "a column of strings was rejected");
  }
  fuzz::require_same(Source::open, 0, "parts of a stream that are not released");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  if (input.number(0, 3) == 0)
    check_fixed_strings(input);
  else
    check_arrow(input);
  return 0;
}

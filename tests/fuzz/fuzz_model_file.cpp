// Model files: any bytes are read or rejected, and what is read predicts, encodes, and comes back the same when
// written.
//
// The frame is repaired before reading (magic, lengths, checksum), so that what is tested lies behind it.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "model_file/bytes.hpp"
#include "model_file/format.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"

const int fuzz::kShortRuns = 12000;
const std::size_t fuzz::kMaxLength = 4096;

namespace {

using namespace tanager;
using namespace tanager::internal;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kFrame = internal::kHeaderSize + internal::kChecksumSize;

struct Section {
  std::uint32_t tag = 0;
  Bytes payload;
};

/// The version and the sections of a file, as far as they can be found: the last one ends where the file does.
struct File {
  std::uint32_t version = internal::kFormatVersion;
  std::vector<Section> sections;
};

File take_apart(std::span<const std::byte> bytes) {
  File file;
  if (bytes.size() < kFrame) return file;
  file.version = internal::load_little<std::uint32_t>(bytes.data() + internal::kMagic.size());
  std::span<const std::byte> rest = bytes.subspan(internal::kHeaderSize, bytes.size() - kFrame);
  while (rest.size() >= internal::kSectionHeaderSize) {
    const auto length = internal::load_little<std::uint64_t>(rest.data() + sizeof(std::uint32_t));
    const auto payload = rest.subspan(internal::kSectionHeaderSize);
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(length, payload.size()));
    file.sections.push_back(
        {internal::load_little<std::uint32_t>(rest.data()), {payload.begin(), payload.begin() + std::ptrdiff_t(size)}});
    rest = payload.subspan(size);
  }
  return file;
}

Bytes put_together(const File& file) {
  internal::ByteWriter out;
  out.raw(std::as_bytes(std::span(internal::kMagic)));
  out.number(file.version);
  const std::size_t length_at = out.size();
  out.number(std::uint64_t{0});
  for (const Section& section : file.sections) {
    out.number(section.tag);
    out.number(std::uint64_t{section.payload.size()});
    out.raw(section.payload);
  }
  out.number(std::uint64_t{0});
  out.patch(length_at, out.size());
  Bytes bytes = out.take();
  internal::seal(bytes);
  return bytes;
}

std::optional<Model> read(std::span<const std::byte> bytes) {
  try {
    return read_model(bytes);
  } catch (const ModelFileError&) {
    return std::nullopt;
  }
}

/// Sums over all that missing values can be, or over many trees, may take as long as the file asks for.
bool is_slow(const Model& model) {
  const auto* trees = std::get_if<Tbmatan>(&model.classifier());
  return trees != nullptr && (trees->options().max_assignments > 4096 || trees->options().n_trees > 20);
}

std::vector<Code> rows_of(const Model& model, std::uint64_t seed) {
  constexpr std::size_t kRows = 12;  // more than a predictor takes one by one
  std::mt19937_64 random(seed);
  std::vector<Code> rows;
  for (std::size_t row = 0; row < kRows; ++row)
    for (const std::uint32_t n_values : model.cardinalities()) {
      const bool is_missing = row % 3 == 1 && random() % 4 == 0 && !is_slow(model);
      rows.push_back(is_missing ? kMissing : static_cast<Code>(random() % n_values));
    }
  return rows;
}

/// Posterior probabilities, or nothing where exact inference rejects to hold so much.
std::vector<double> predict(const Model& model, std::span<const Code> rows) {
  const std::size_t n_rows = model.n_features() == 0 ? 0 : rows.size() / model.n_features();
  std::vector<double> posterior(n_rows * model.n_classes());
  std::vector<std::uint32_t> classes(n_rows);
  try {
    model.predict_proba(rows, posterior);
    model.predictor().predict_classes_rows(rows, classes);
  } catch (const CliqueTooLarge&) {
    return {};
  }
  for (std::size_t row = 0; row < n_rows; ++row) {
    double sum = 0;
    for (std::size_t c = 0; c < model.n_classes(); ++c) {
      const double p = posterior[row * model.n_classes() + c];
      fuzz::require(p >= 0 && p <= 1, "a posterior probability is " + std::to_string(p));
      sum += p;
    }
    fuzz::require_near(sum, 1.0, 1e-9, "sum of a posterior");
    fuzz::require(classes[row] < model.n_classes(), "there is no such class");
    (void)model.class_name(classes[row]);
  }
  return posterior;
}

void look_up(const Model& model) {
  for (std::size_t f = 0; f < model.n_features(); ++f) {
    const FeatureInfo& feature = model.features()[f];
    fuzz::require_same(model.feature_index(feature.name), f, "position of a feature");
    const auto check = [&](auto value) {
      const Code code = model.encode(f, value);
      fuzz::require(code == kMissing || code < model.cardinalities()[f], "a code beyond a feature's values");
      return code;
    };
    for (const char* text : {"", "a", "1", " +1.0", "true", "-0", "1e999", "nan", "\xff"})
      check(std::string_view(text));
    for (const double number : {0.0, -1.5, 1e300, -HUGE_VAL, std::nan("")}) check(number);
    for (std::size_t i = 0; i < feature.labels.size(); ++i)
      if (const std::string* text = std::get_if<std::string>(&feature.labels[i]))
        fuzz::require_same(check(std::string_view(*text)), Code(i), "code of a label");
    for (std::size_t i = 0; i < feature.cuts.size(); ++i)
      fuzz::require_same(check(feature.cuts[i]), Code(i), "code of a cut");
  }
}

}  // namespace

/// Changes one section as bytes, one number in it, or the list of sections.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (size < kFrame || random() % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  File file = take_apart(std::as_bytes(std::span(data, size)));
  if (file.sections.empty()) return LLVMFuzzerMutate(data, size, max_size);
  Section& section = file.sections[random() % file.sections.size()];
  switch (random() % 8) {
    case 0:
      if (random() % 8 == 0) file.version = random() % 6;
      section.tag = random() % 8 == 0 ? internal::kSkippable : 1 + random() % 8;
      break;
    case 1:
      if (random() % 2 == 0)
        file.sections.push_back(section);
      else
        std::swap(section, file.sections.back());
      break;
    case 2:
    case 3:
    case 4: {  // a number, mostly a whole one of 32 bits
      constexpr std::array<std::uint64_t, 18> kNumbers = {0,
                                                          1,
                                                          2,
                                                          3,
                                                          4,
                                                          254,
                                                          255,
                                                          256,
                                                          65534,
                                                          65535,
                                                          65536,
                                                          0x7FFFFFFF,
                                                          0xFFFFFFFF,
                                                          0x3FF0000000000000,
                                                          0x7FF0000000000000,
                                                          0x7FF8000000000000,
                                                          0x8000000000000000,
                                                          1};
      const std::size_t width = random() % 4 == 0 ? 8 : random() % 8 == 0 ? 1 : 4;
      if (section.payload.size() < width) break;
      std::byte* at = section.payload.data() + random() % (section.payload.size() - width + 1);
      const std::uint64_t number = kNumbers[random() % kNumbers.size()];
      if (width == 1)
        *at = static_cast<std::byte>(number);
      else if (width == 4)
        internal::store_little(static_cast<std::uint32_t>(number), at);
      else
        internal::store_little(number, at);
      break;
    }
    default: {
      std::vector<std::uint8_t> payload(section.payload.size());
      if (!payload.empty()) std::memcpy(payload.data(), section.payload.data(), payload.size());
      payload.resize(std::max<std::size_t>(payload.size() + 64, 64));
      payload.resize(LLVMFuzzerMutate(payload.data(), section.payload.size(), payload.size()));
      section.payload.resize(payload.size());
      if (!payload.empty()) std::memcpy(section.payload.data(), payload.data(), payload.size());
    }
  }
  const Bytes bytes = put_together(file);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> given = std::as_bytes(std::span(data, size));
  (void)read(given);
  const Bytes repaired = put_together(take_apart(given));
  const std::optional<Model> model = read(repaired);
  if (!model) return 0;

  look_up(*model);
  const std::vector<Code> rows = rows_of(*model, size);
  const std::vector<double> posterior = predict(*model, rows);
  const Bytes written = write_model(*model);
  const std::optional<Model> again = read(written);
  fuzz::require(again.has_value(), "a model that was read and written is not read again");
  fuzz::require(write_model(*again) == written, "a model changes when it is read and written");
  fuzz::require(predict(*again, rows) == posterior, "a model predicts otherwise after it is written and read");
  return 0;
}

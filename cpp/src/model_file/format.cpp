// The frame of a model file: header, list of sections, checksum.
#include "model_file/format.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "model_file/bytes.hpp"
#include "model_file/checksum.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

using enum ModelFileProblem;

void check_magic(std::span<const std::byte> start) {
  const auto matches = [&](std::size_t n) { return std::memcmp(start.data(), kMagic.data(), n) == 0; };
  if (matches(kMagic.size())) return;
  constexpr std::size_t kReadablePart = 4;
  if (matches(kReadablePart))
    throw ModelFileError(kDamaged, "its first bytes were changed, as copying it as text does; copy it as binary data");
  throw ModelFileError(kNotAModel, "it is not a tanager model file");
}

/// Returns the version.
std::uint32_t check_header(std::uint64_t file_size, const Fetch& fetch) {
  if (file_size == 0) throw ModelFileError(kNotAModel, "it is empty");
  std::array<std::byte, kHeaderSize> header{};
  fetch(0, std::span(header).first(static_cast<std::size_t>(std::min<std::uint64_t>(file_size, kHeaderSize))));
  if (file_size >= kMagic.size()) check_magic(header);
  const auto n_magic = static_cast<std::size_t>(std::min<std::uint64_t>(file_size, kMagic.size()));
  if (file_size < kHeaderSize)
    throw ModelFileError(
        std::memcmp(header.data(), kMagic.data(), n_magic) == 0 ? kDamaged : kNotAModel,
        "it is not a complete tanager model file: it has only " + std::to_string(file_size) + " bytes");
  const auto version = load_little<std::uint32_t>(header.data() + kMagic.size());
  if (version > kFormatVersion)
    throw ModelFileError(kTooNew, "it was written by a newer tanager: its format is " + std::to_string(version) +
                                      ", this one reads up to " + std::to_string(kFormatVersion));
  if (version == 0) throw ModelFileError(kDamaged, "its format number is 0, which does not exist");
  const auto length = load_little<std::uint64_t>(header.data() + kMagic.size() + sizeof(version));
  if (length != file_size)
    throw ModelFileError(kDamaged, "it should have " + std::to_string(length) + " bytes, but has " +
                                       std::to_string(file_size) + (length > file_size ? "; it is truncated" : ""));
  if (length < kHeaderSize + kChecksumSize)
    throw ModelFileError(kDamaged,
                         "it is too short to hold anything: it has only " + std::to_string(length) + " bytes");
  return version;
}

/// The sections met so far, in the order of their tags.
using Found = std::array<std::optional<Extent>, static_cast<std::size_t>(last_tag(kFormatVersion)) + 1>;

void note_section(Found& found, std::uint32_t version, std::uint32_t tag, const Extent& extent) {
  if ((tag & kSkippable) != 0) return;
  const auto last = static_cast<std::uint32_t>(last_tag(version));
  if (tag == 0 || tag > last)
    throw ModelFileError(kDamaged, "it has a section of the unknown kind " + std::to_string(tag) +
                                       ": it is damaged, or was written by a newer tanager");
  if (found[tag]) throw ModelFileError(kDamaged, "it has two sections of the kind " + std::to_string(tag));
  found[tag] = extent;
}

Extent required(const Found& found, Tag tag, const char* name) {
  const auto& extent = found[static_cast<std::size_t>(tag)];
  if (!extent) throw ModelFileError(kDamaged, std::string("it has no section of ") + name);
  return *extent;
}

/// The kind of the one section that holds a classifier.
Tag classifier_kind(const Found& found) {
  std::optional<Tag> kind;
  for (const Tag tag : {Tag::kNetwork, Tag::kAode, Tag::kTbmatan, Tag::kGeneralNetwork}) {
    if (!found[static_cast<std::size_t>(tag)]) continue;
    if (kind) throw ModelFileError(kDamaged, "it has two classifiers, but a model has one");
    kind = tag;
  }
  return kind.value_or(Tag::kNetwork);  // whose absence is then reported
}

}  // namespace

SectionTable read_section_table(std::uint64_t file_size, const Fetch& fetch) {
  const std::uint32_t version = check_header(file_size, fetch);
  const std::uint64_t end = file_size - kChecksumSize;
  Found found;
  std::size_t n_sections = 0;
  for (std::uint64_t at = kHeaderSize; at < end;) {
    if (++n_sections > kMaxSections)
      throw ModelFileError(kDamaged, "it has more than " + std::to_string(kMaxSections) + " sections");
    if (end - at < kSectionHeaderSize) throw ModelFileError(kDamaged, "its list of sections is truncated");
    std::array<std::byte, kSectionHeaderSize> header{};
    fetch(at, header);
    at += kSectionHeaderSize;
    const auto tag = load_little<std::uint32_t>(header.data());
    const auto length = load_little<std::uint64_t>(header.data() + sizeof(tag));
    if (length > end - at)
      throw ModelFileError(kDamaged, "a section needs " + std::to_string(length) + " bytes, but only " +
                                         std::to_string(end - at) + " remain");
    note_section(found, version, tag, {at, length});
    at += length;
  }
  const Tag kind = classifier_kind(found);
  return {version,
          kind,
          required(found, kind, "a classifier"),
          required(found, Tag::kFeatures, "features"),
          required(found, Tag::kClasses, "classes"),
          required(found, Tag::kSettings, "settings"),
          found[static_cast<std::size_t>(Tag::kCounts)]};
}

void seal(std::span<std::byte> file) {
  if (file.size() < kChecksumSize) return;
  const auto content = file.first(file.size() - kChecksumSize);
  store_little(crc64(content), file.data() + content.size());
}

}  // namespace tanager::internal

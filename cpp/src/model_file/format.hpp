// The layout of a model file (.tng), all numbers little-endian:
//
//     8 bytes    magic
//     u32        format version
//     u64        length of the whole file
//     sections   u32 tag, u64 length of the payload, payload; in any order, each at most once
//     u64        CRC-64 of everything before it
//
// A change that old readers must not misread gets a new version, or a new tag below kSkippable, which they reject. What
// they may do without gets a tag with the bit kSkippable, which they pass over. The payloads are described where they
// are written (writer.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tanager/model.hpp"

namespace tanager::internal {

/// Version 1 had networks of all features only; version 2 added networks that leave features out, and AODE; version 3
/// added the average over all TANs; version 4 added networks with the class anywhere.
inline constexpr std::uint32_t kFormatVersion = 4;

/// A byte above 127, both kinds of line end and the end-of-file character of old systems: a transfer that treats the
/// file as text changes at least one of them.
inline constexpr std::array<unsigned char, 8> kMagic = {0x89, 'T', 'N', 'G', '\r', '\n', 0x1A, '\n'};

inline constexpr std::size_t kHeaderSize = kMagic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);
inline constexpr std::size_t kSectionHeaderSize = sizeof(std::uint32_t) + sizeof(std::uint64_t);
inline constexpr std::size_t kChecksumSize = sizeof(std::uint64_t);
/// More sections than this are rejected, so that finding them is quick whatever the file.
inline constexpr std::size_t kMaxSections = 256;

/// A file has exactly one of the sections kNetwork, kAode, kTbmatan and kGeneralNetwork: its classifier.
enum class Tag : std::uint32_t {
  kNetwork = 1,
  kFeatures = 2,
  kClasses = 3,
  kSettings = 4,
  kCounts = 5,
  kAode = 6,
  kTbmatan = 7,
  kGeneralNetwork = 8
};
/// The last tag of a version.
inline constexpr Tag last_tag(std::uint32_t version) {
  constexpr std::array<Tag, kFormatVersion> last = {Tag::kCounts, Tag::kAode, Tag::kTbmatan, Tag::kGeneralNetwork};
  return last[version - 1];
}
inline constexpr std::uint32_t kSkippable = 0x8000'0000;

/// In place of a feature's number of parents: the network leaves the feature out.
inline constexpr std::uint32_t kAbsent = 0xFFFF'FFFF;

enum class FeatureKind : std::uint8_t { kCategories = 0, kIntervals = 1 };
enum class LabelKind : std::uint8_t { kBool = 0, kInteger = 1, kReal = 2, kText = 3 };

/// Where a section's payload lies in the file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct SectionTable {
  std::uint32_t version = 0;
  Tag kind = Tag::kNetwork;  ///< of the section that holds the classifier
  Extent classifier;
  Extent features;
  Extent classes;
  Extent settings;
  std::optional<Extent> counts;
};

/// Copies bytes of the file, from an offset on, into a buffer. Only called for bytes that exist.
using Fetch = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

/// Checks magic, version and length, and finds the sections, without reading their payloads: so a file that claims to
/// be huge is rejected before memory is asked for. Throws ModelFileError.
SectionTable read_section_table(std::uint64_t file_size, const Fetch& fetch);

/// Reads a whole file in memory. The message of a ModelFileError it throws completes "cannot read X: ".
Model parse_model(std::span<const std::byte> file);

/// Throws InvalidInput if a count is negative or not finite.
void check_counts(const CountSet& counts);

/// Writes the right checksum at the end of a file, whatever else is wrong with it.
void seal(std::span<std::byte> file);

}  // namespace tanager::internal

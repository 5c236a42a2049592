// The bytes of a model file: exact round trips, and no bytes, however broken or hostile, do harm.
#include <bit>
#include <cstring>
#include <functional>
#include <random>

#include "check.hpp"
#include "model_file/bytes.hpp"
#include "model_file/checksum.hpp"
#include "model_file/format.hpp"
#include "model_fixtures.hpp"
#include "support/utf8.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"

using namespace fixtures;

namespace {

/// The message with which read_model rejects these bytes; empty if it accepts them. Anything but ModelFileError
/// escapes.
std::string problem_of(const Bytes& bytes) {
  try {
    static_cast<void>(read_model(bytes));
  } catch (const ModelFileError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST(checksum_is_crc_64_xz_whatever_the_pieces) {
  const Bytes digits = as_bytes("123456789");
  CHECK_EQ(internal::crc64(digits), 0x995DC9BBDF1939FAULL);
  CHECK_EQ(internal::crc64({}), 0ULL);
  Bytes bytes(1000);
  std::mt19937 random(1);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  const std::uint64_t whole = internal::crc64(bytes);
  for (std::size_t cut = 0; cut <= 40; ++cut)
    CHECK_EQ(internal::crc64(std::span(bytes).subspan(cut), internal::crc64(std::span(bytes).first(cut))), whole);
}

TEST(utf8_is_distinguished_from_other_bytes) {
  for (const char* good : {"", "plain", "größe", "日本語", "🦜", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"})
    CHECK(internal::is_utf8(good));
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "a\xC3", "\xC3(", "\xE2\x28\xA1", "\xF0\x9F\xA6("})
    CHECK(!internal::is_utf8(bad));
}

TEST(a_model_comes_back_bit_by_bit) {
  for (const bool with_counts : {true, false}) {
    const Model model = rich_model(with_counts);
    const Bytes bytes = write_model(model);
    const Model again = read_model(bytes);
    check_same(model, again);
    CHECK(write_model(again) == bytes);
  }
  for (const Model& model :
       {small_model(), small_aode_model(), rich_aode_model(true), rich_aode_model(false), model_leaving_out(),
        small_tbmatan_model(), rich_tbmatan_model(true), rich_tbmatan_model(false), small_general_model(),
        rich_general_model(true), rich_general_model(false)}) {
    const Bytes bytes = write_model(model);
    check_same(model, read_model(bytes));
    CHECK(write_model(read_model(bytes)) == bytes);
  }
  const Model no_features(Network(Structure::naive(0), {}, {0.25, 0.75}, {}), {}, {true, false});
  check_same(no_features, read_model(write_model(no_features)));
  const Model averaging_nothing(Aode({}, {0.25, 0.75}, {}, {}, {}), {}, {true, false});
  check_same(averaging_nothing, read_model(write_model(averaging_nothing)));
}

TEST(every_truncation_and_every_extra_byte_is_rejected) {
  for (const Bytes& bytes : {write_model(small_model()), write_model(small_aode_model()),
                             write_model(small_tbmatan_model()), write_model(small_general_model())}) {
    int taken = 0;
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      CHECK(!problem_of(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length))).empty());
      // The same, had the writer believed that this is all.
      Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      if (length < internal::kHeaderSize) continue;
      internal::store_little<std::uint64_t>(length, cut.data() + 12);
      internal::seal(cut);
      taken += problem_of(cut).empty();
    }
    CHECK_EQ(taken, 1);  // where just the counts are gone, which a model may lack
    Bytes longer = bytes;
    longer.push_back(std::byte{0});
    CHECK(problem_of(longer).find("should have") != std::string::npos);
  }
}

TEST(every_flipped_bit_of_small_files_and_ten_thousand_of_rich_ones_are_rejected) {
  const auto check_flip = [](Bytes& bytes, std::size_t bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    CHECK(!problem_of(bytes).empty());
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
  };
  for (Bytes bytes : {write_model(small_model()), write_model(small_aode_model()), write_model(small_tbmatan_model()),
                      write_model(small_general_model())}) {
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) check_flip(bytes, bit);
    CHECK(problem_of(bytes).empty());
  }
  std::mt19937 random(11);
  for (Bytes bytes : {write_model(rich_model()), write_model(rich_aode_model()), write_model(model_leaving_out()),
                      write_model(rich_tbmatan_model()), write_model(rich_general_model())})
    for (int i = 0; i < 10000; ++i) check_flip(bytes, random() % (bytes.size() * 8));
}

/// Predicts with whatever was accepted, so sanitizers check the use of its tables.
void use(const Model& model) {
  std::vector<Code> row(model.n_features());
  std::vector<double> out(model.n_classes());
  model.predictor().predict(row, Output::kPosterior, out);
  for (std::size_t f = 0; f < row.size(); ++f) row[f] = model.encode(f, "x");
  try {
    model.predictor().predict(row, Output::kPosterior, out);
  } catch (const InvalidInput&) {  // sums that are too large are rejected
  }
  if (model.n_classes() > 0) static_cast<void>(model.class_name(0));
}

/// Damages a file, corrects its checksum and reads it: rejected, or accepted and usable. Returns whether it was
/// accepted.
bool survives(Bytes bytes, std::mt19937& random) {
  const auto spoil = [&](std::size_t at) {
    constexpr std::uint8_t kTelling[] = {0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF};
    const auto choice = random() % 3;
    if (choice == 0) bytes[at] ^= static_cast<std::byte>(1 << (random() % 8));
    if (choice == 1) bytes[at] = static_cast<std::byte>(random());
    if (choice == 2)
      for (std::size_t i = at; i < std::min(bytes.size(), at + 1 + random() % 8); ++i)
        bytes[i] = static_cast<std::byte>(kTelling[random() % std::size(kTelling)]);
  };
  for (auto n = 1 + random() % 3; n > 0; --n)
    spoil(internal::kHeaderSize + random() % (bytes.size() - internal::kHeaderSize));
  if (random() % 8 == 0) {  // cut a piece out, and let the header agree
    const std::size_t at = internal::kHeaderSize + random() % (bytes.size() - internal::kHeaderSize);
    const std::size_t n = std::min<std::size_t>(1 + random() % 64, bytes.size() - at);
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + n));
    internal::store_little<std::uint64_t>(bytes.size(), bytes.data() + 12);
  }
  internal::seal(bytes);
  try {
    const Model model = read_model(bytes);
    use(model);
    check_same(model, read_model(write_model(model)));
    return true;
  } catch (const ModelFileError&) {
    return false;
  }
}

TEST(hostile_files_with_right_checksums_are_rejected_or_valid) {
  std::mt19937 random(13);
  const auto try_often = [&](const Bytes& bytes, int tries) {
    int taken = 0;
    for (int i = 0; i < tries; ++i) taken += survives(bytes, random);
    CHECK(taken > 0 && taken < tries);  // both ends of the road are reached
  };
  for (const Bytes& bytes :
       {write_model(small_model()), write_model(rich_model()), write_model(rich_model(false)),
        write_model(small_aode_model()), write_model(rich_aode_model(false)), write_model(model_leaving_out()),
        write_model(small_general_model()), write_model(rich_general_model(false))})
    try_often(bytes, 10000);
  // A count that was made large takes its time.
  try_often(write_model(small_tbmatan_model()), 400);
  try_often(write_model(rich_tbmatan_model(false)), 400);
}

/// A file of sections written by hand.
class Forged {
 public:
  Forged& section(std::uint32_t tag, const Bytes& payload) {
    body_.number(tag);
    body_.number(static_cast<std::uint64_t>(payload.size()));
    body_.raw(payload);
    return *this;
  }
  Bytes file(std::uint32_t version = internal::kFormatVersion) {
    internal::ByteWriter out;
    out.raw(std::as_bytes(std::span(internal::kMagic)));
    out.number(version);
    const Bytes body = body_.take();
    out.number(static_cast<std::uint64_t>(internal::kHeaderSize + body.size() + internal::kChecksumSize));
    out.raw(body);
    out.number(std::uint64_t{0});
    Bytes file = out.take();
    internal::seal(file);
    return file;
  }

 private:
  internal::ByteWriter body_;
};

/// The sections of a small model, to be put together in other ways: by tag, the classifier first whatever its tag.
std::vector<Bytes> sections_of(const Model& model) {
  const Bytes bytes = write_model(model);
  const internal::SectionTable table = internal::read_section_table(
      bytes.size(),
      [&](std::uint64_t at, std::span<std::byte> out) { std::memcpy(out.data(), bytes.data() + at, out.size()); });
  std::vector<Bytes> sections{{}};
  for (const internal::Extent& extent :
       {table.classifier, table.features, table.classes, table.settings, *table.counts}) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(extent.offset);
    sections.emplace_back(first, first + static_cast<std::ptrdiff_t>(extent.length));
  }
  return sections;
}

std::vector<Bytes> small_sections() {
  return sections_of(small_model());
}

TEST(sections_come_in_any_order_and_skippable_ones_are_passed_over) {
  const auto s = small_sections();
  const Bytes shuffled = Forged()
                             .section(internal::kSkippable | 77, as_bytes("what a later version adds"))
                             .section(5, s[5])
                             .section(4, s[4])
                             .section(3, s[3])
                             .section(2, s[2])
                             .section(internal::kSkippable, {})
                             .section(1, s[1])
                             .file();
  check_same(read_model(shuffled), small_model());
}

TEST(wrong_frames_are_rejected_with_their_reason) {
  const auto s = small_sections();
  const auto rejected = [](const Bytes& bytes, const std::string& part) {
    const std::string message = problem_of(bytes);
    if (message.find(part) == std::string::npos) check::fail(__FILE__, __LINE__, message + " lacks " + part);
  };
  const auto whole = [&] { return Forged().section(1, s[1]).section(2, s[2]).section(3, s[3]).section(4, s[4]); };
  rejected({}, "it is empty");
  rejected(as_bytes("\x89TNG"), "only 4 bytes");
  rejected(as_bytes("name,age\nAda,36\n"), "not a tanager model file");
  rejected(as_bytes("\x89TNG\n\x1A\n and whatever else follows"), "copying it as text");
  rejected(whole().file(7), "written by a newer tanager: its format is 7, this one reads up to 4");
  rejected(whole().file(0), "format number is 0");
  rejected(whole().section(9, {}).file(), "unknown kind 9");
  rejected(whole().section(8, {}).file(3), "unknown kind 8");
  rejected(whole().section(7, {}).file(2), "unknown kind 7");
  rejected(whole().section(6, {}).file(1), "unknown kind 6");
  rejected(whole().section(6, sections_of(small_aode_model())[1]).file(), "two classifiers");
  rejected(whole().section(0, {}).file(), "unknown kind 0");
  rejected(whole().section(4, s[4]).file(), "two sections of the kind 4");
  rejected(Forged().section(1, s[1]).section(2, s[2]).section(4, s[4]).file(), "no section of classes");
  rejected(Forged().section(2, s[2]).section(3, s[3]).section(4, s[4]).file(), "no section of a classifier");
  Forged many = whole();
  for (std::size_t i = 0; i <= internal::kMaxSections; ++i) many.section(internal::kSkippable, {});
  rejected(many.file(), "more than 256 sections");
  Bytes damaged = write_model(small_model());
  damaged[damaged.size() - 20] ^= std::byte{1};
  rejected(damaged, "checksum does not match");
  for (std::size_t tag : {1, 2, 3, 5}) {
    auto longer = s;
    longer[tag].insert(longer[tag].end(), 8, std::byte{0});
    rejected(Forged()
                 .section(1, longer[1])
                 .section(2, longer[2])
                 .section(3, longer[3])
                 .section(4, s[4])
                 .section(5, longer[5])
                 .file(),
             tag == 5 ? "should hold 10 counts" : "8 bytes too many");
  }
}

TEST(a_file_of_the_first_format_is_read_as_such) {
  const auto s = small_sections();
  const auto file = [&](const Bytes& network, std::uint32_t version) {
    return Forged()
        .section(1, network)
        .section(2, s[2])
        .section(3, s[3])
        .section(4, s[4])
        .section(5, s[5])
        .file(version);
  };
  check_same(read_model(file(s[1], 1)), small_model());
  // What leaves the second feature out in a file of today is a wrong number of parents in an old one.
  Bytes network = s[1];
  constexpr std::size_t kSecondFeature = 8 + 2 * 8 + 2 * 4 + 4;
  internal::store_little<std::uint32_t>(internal::kAbsent, network.data() + kSecondFeature);
  CHECK(problem_of(file(network, 1)).find("announces 4294967295 items") != std::string::npos);
  network.erase(network.begin() + kSecondFeature + 4, network.begin() + kSecondFeature + 8);  // its parent
  network.erase(network.end() - 8 * 8, network.end());                                        // its table
  CHECK(read_model(file(network, 2)).network().structure().is_absent(1));
}

TEST(a_feature_that_is_left_out_has_neither_parents_nor_children) {
  const auto s = sections_of(describe_briefly(random_network({{}, {0}}, {2, 2}, 2, 3), CountScope::kSingles));
  Bytes network = s[1];
  internal::store_little<std::uint32_t>(internal::kAbsent, network.data() + 8 + 2 * 8 + 2 * 4);
  const std::string message =
      problem_of(Forged().section(1, network).section(2, s[2]).section(3, s[3]).section(4, s[4]).file());
  CHECK(message.find("inconsistent") != std::string::npos);
}

TEST(averaged_estimators_are_checked) {
  const auto s = sections_of(small_aode_model());
  constexpr std::size_t kCards = 8 + 2 * 8, kMinCount = kCards + 2 * 4, kSeen = kMinCount + 8, kSingles = kSeen + 4 * 8,
                        kPairs = kSingles + 8 * 8;
  const auto file = [&](const Bytes& payload) {
    return Forged().section(6, payload).section(2, s[2]).section(3, s[3]).section(4, s[4]).section(5, s[5]).file();
  };
  CHECK_EQ(s[1].size(), kPairs + 16 * 8);
  check_same(read_model(file(s[1])), small_aode_model());
  const auto rejected = [&](std::size_t at, auto number, const std::string& part) {
    Bytes payload = s[1];
    internal::store_little(number, payload.data() + at);
    const std::string message = problem_of(file(payload));
    if (message.find(part) == std::string::npos) check::fail(__FILE__, __LINE__, message + " lacks " + part);
  };
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  rejected(0, 0xFFFFFFFFU, "announces 4294967295 items");
  rejected(4, 0xFFFFFFFFU, "announces 4294967295 items");
  rejected(4, 40U, "averaged estimators");
  rejected(kCards, 0U, "gives a feature 0 values");
  rejected(kCards, 65535U, "gives a feature 65535 values");
  rejected(kCards, 65534U, "announces 65536 items");
  rejected(kCards, 1U, "bytes too many");
  rejected(kMinCount, bits(-1.0), "min_count: expected a finite number >= 0");
  rejected(kMinCount, bits(kNan), "min_count: expected a finite number >= 0");
  rejected(kSeen, bits(kInfinity), "counts of values must be finite");
  rejected(kSingles, bits(0.9), "expected probabilities that sum to 1");
  rejected(kPairs, bits(kNan), "expected probabilities, got");
  Bytes none = s[1];
  internal::store_little(0U, none.data());  // no class at all
  CHECK(!problem_of(file(none)).empty());
}

TEST(sizes_that_the_file_cannot_hold_are_rejected_without_allocating) {
  const auto s = small_sections();
  const auto with_network = [&](const std::function<void(internal::ByteWriter&)>& write) {
    internal::ByteWriter out;
    write(out);
    return problem_of(Forged().section(1, out.take()).section(2, s[2]).section(3, s[3]).section(4, s[4]).file());
  };
  const auto contains = [](const std::string& message, const std::string& part) {
    if (message.find(part) == std::string::npos) check::fail(__FILE__, __LINE__, message + " lacks " + part);
  };
  contains(with_network([](auto& out) { out.number(0xFFFFFFFFU); }), "announces 4294967295 items");
  contains(with_network([](auto& out) {
             out.number(2U);
             out.number(0xFFFFFFFFU);
             out.reals(std::vector<double>{0.5, 0.5});
           }),
           "announces 4294967295 items");
  // Twenty binary parents of a feature of 65,534 values: 2^36 cells announced by a few bytes.
  contains(with_network([](auto& out) {
             constexpr std::uint32_t n = 21;
             out.number(1U);
             out.number(n);
             out.real(1.0);
             for (std::uint32_t f = 0; f < n; ++f) out.number(f == 0 ? 65534U : 2U);
             out.number(n - 1);
             for (std::uint32_t p = 1; p < n; ++p) out.number(p);
             for (std::uint32_t f = 1; f < n; ++f) out.number(0U);
           }),
           "announces 68717379584 items");
  // So many parents that the number of cells overflows 64 bits.
  contains(with_network([](auto& out) {
             constexpr std::uint32_t n = 61;
             out.number(1U);
             out.number(n);
             out.real(1.0);
             for (std::uint32_t f = 0; f < n; ++f) out.number(3U);
             out.number(n - 1);
             for (std::uint32_t p = 1; p < n; ++p) out.number(p);
             for (std::uint32_t f = 1; f < n; ++f) out.number(0U);
           }),
           "announces 18446744073709551615 items");
  contains(with_network([](auto& out) {
             out.number(1U);
             out.number(2U);
             out.real(1.0);
             for (const std::uint32_t number : {1U, 1U, 1U, 1U, 1U, 0U}) out.number(number);
             out.reals(std::vector<double>{1.0, 1.0});
           }),
           "cycle");
  contains(with_network([](auto& out) {
             out.number(1U);
             out.number(1U);
             out.real(1.0);
             for (const std::uint32_t number : {1U, 1U, 5U}) out.number(number);
             out.real(1.0);
           }),
           "names feature 5, but there are 1");
  internal::ByteWriter classes;
  classes.number(100000U);
  classes.raw(Bytes(200000));
  contains(problem_of(Forged().section(1, s[1]).section(2, s[2]).section(3, classes.take()).section(4, s[4]).file()),
           "at most 65534 are possible");
}

TEST_MAIN

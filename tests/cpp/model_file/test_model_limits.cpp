// Small model files cannot ask for much: whatever a file of at most 1 MB holds, reading it, making its predictor and
// predicting a few rows takes less than 1 GB and 10 s. The files are forged, and sealed with the right checksum.
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "model_file/bytes.hpp"
#include "model_file/format.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
// Sanitizers make everything many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostSeconds = 100;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr double kMostSeconds = 100;
#else
constexpr double kMostSeconds = 10;
#endif
#else
constexpr double kMostSeconds = 10;
#endif
std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};  // also of rejected files

/// In front of every block, keeping its alignment.
constexpr std::size_t kFront = 64;

void* allocate(std::size_t size) {
  const std::size_t live = live_bytes += size;
  std::size_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  auto* block = live > 2 * kMostBytes
                    ? nullptr
                    : static_cast<char*>(std::aligned_alloc(kFront, (size + 2 * kFront - 1) / kFront * kFront));
  if (block == nullptr) {
    live_bytes -= size;
    throw std::bad_alloc();
  }
  *reinterpret_cast<std::size_t*>(block) = size;
  return block + kFront;
}

void release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  char* block = static_cast<char*>(pointer) - kFront;
  live_bytes -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new(std::size_t size, std::align_val_t) {
  return allocate(size);
}
void operator delete(void* pointer) noexcept {
  release(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
  release(pointer);
}
void operator delete(void* pointer, std::align_val_t) noexcept {
  release(pointer);
}
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
  release(pointer);
}

using namespace tanager;
using namespace tanager::internal;
using internal::ByteWriter;
using internal::Tag;

namespace {

struct Section {
  std::uint32_t tag;
  std::vector<std::byte> payload;
};

std::vector<std::byte> payload_of(const std::function<void(ByteWriter&)>& write) {
  ByteWriter out;
  write(out);
  return out.take();
}

std::vector<std::byte> sealed(const std::vector<Section>& sections) {
  ByteWriter out;
  out.raw(std::as_bytes(std::span(internal::kMagic)));
  out.number(internal::kFormatVersion);
  out.number(std::uint64_t{0});
  for (const Section& section : sections) {
    out.number(section.tag);
    out.number(std::uint64_t{section.payload.size()});
    out.raw(section.payload);
  }
  out.patch(12, out.size() + internal::kChecksumSize);
  out.number(std::uint64_t{0});
  auto file = out.take();
  internal::seal(file);
  return file;
}

/// A file with the classifier given, whose features are intervals named 0, 1, ..., and classes are integers.
std::vector<std::byte> forged(Tag tag, const std::vector<std::uint32_t>& cardinalities, std::uint32_t n_classes,
                              const std::function<void(ByteWriter&)>& classifier) {
  return sealed({{static_cast<std::uint32_t>(tag), payload_of(classifier)},
                 {static_cast<std::uint32_t>(Tag::kFeatures), payload_of([&](ByteWriter& out) {
                    for (std::size_t f = 0; f < cardinalities.size(); ++f) {
                      out.number(static_cast<std::uint8_t>(internal::FeatureKind::kIntervals));
                      out.text(std::to_string(f));
                      out.count(cardinalities[f] - 1);
                      for (std::uint32_t k = 1; k < cardinalities[f]; ++k) out.real(k);
                    }
                  })},
                 {static_cast<std::uint32_t>(Tag::kClasses), payload_of([&](ByteWriter& out) {
                    out.number(n_classes);
                    for (std::uint64_t c = 0; c < n_classes; ++c) {
                      out.number(static_cast<std::uint8_t>(internal::LabelKind::kInteger));
                      out.number(c);
                    }
                  })},
                 {static_cast<std::uint32_t>(Tag::kSettings), {}}});
}

/// Predicts a complete row, one without any value, one that lacks its first half, and all of them as a block.
void use(const Model& model) {
  const std::size_t n = model.n_features(), n_rows = 12;
  std::vector<Code> rows(n_rows * n, 0);
  std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(n), n + n / 2, kMissing);
  std::vector<double> out(n_rows * model.n_classes());
  for (std::size_t row = 0; row < 3; ++row)
    model.predictor().predict(std::span(rows).subspan(row * n, n), Output::kPosterior,
                              std::span(out).first(model.n_classes()));
  if (n > 0) model.predictor().predict_rows(std::span<const Code>(rows), Output::kPosterior, out);
}

/// Reads the file and uses what comes out, within the limits; returns the message if it is rejected.
std::string read_within_limits(const std::vector<std::byte>& file) {
  CHECK(file.size() <= 1 << 20);
  std::string rejection;
  const std::size_t before = live_bytes;
  peak_bytes = before;
  const std::clock_t start = std::clock();
  try {
    use(read_model(file));
  } catch (const Error& error) {
    rejection = error.what();
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const std::size_t bytes = peak_bytes - before;
  if (std::getenv("TANAGER_SHOW_LIMITS") != nullptr)
    std::printf("%zu bytes of file: %.1f MB, %.2f s %s\n", file.size(), static_cast<double>(bytes) / 1e6, seconds,
                rejection.c_str());
  CHECK(bytes < kMostBytes);
  CHECK(seconds < kMostSeconds);
  return rejection;
}

bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::printf("\"%s\" lacks \"%s\"\n", text.c_str(), part.c_str());
  return false;
}

/// An average over trees, all of whose counts are `count`.
std::vector<std::byte> tbmatan_file(const std::vector<std::uint32_t>& cardinalities, std::uint32_t n_classes,
                                    double count, std::uint64_t max_assignments = 4096, std::uint32_t n_trees = 200) {
  return forged(Tag::kTbmatan, cardinalities, n_classes, [&](ByteWriter& out) {
    out.number(n_classes);
    out.count(cardinalities.size());
    for (const std::uint32_t r : cardinalities) out.number(r);
    out.real(10);
    out.real(0);
    out.count(0);
    out.count(0);
    out.number(max_assignments);
    out.number(n_trees);
    out.number(std::uint8_t{1});
    out.count(0);
    const auto fill = [&](std::size_t cells) {
      for (std::size_t i = 0; i < cells; ++i) out.real(count);
    };
    fill(n_classes);
    for (const std::size_t r : cardinalities) fill(r * n_classes);
    for (std::size_t u = 0; u < cardinalities.size(); ++u)
      for (std::size_t v = u + 1; v < cardinalities.size() && n_classes > 0; ++v)
        fill(std::size_t{cardinalities[u]} * cardinalities[v] * n_classes);
  });
}

/// A network whose class is a parent of nothing; uniform tables.
std::vector<std::byte> general_file(const std::vector<std::uint32_t>& cardinalities, std::uint32_t n_classes,
                                    const std::vector<std::vector<std::uint32_t>>& parents) {
  return forged(Tag::kGeneralNetwork, cardinalities, n_classes, [&](ByteWriter& out) {
    out.number(n_classes);
    out.count(cardinalities.size());
    out.count(0);
    for (const std::uint32_t r : cardinalities) out.number(r);
    for (const auto& of_feature : parents) {
      out.count(of_feature.size());
      for (const std::uint32_t p : of_feature) out.number(p);
    }
    for (std::size_t f = 0; f < cardinalities.size(); ++f) out.number(std::uint8_t{0});
    for (std::uint32_t c = 0; c < n_classes; ++c) out.real(1.0 / n_classes);
    for (std::size_t f = 0; f < cardinalities.size(); ++f) {
      std::size_t cells = cardinalities[f];
      for (const std::uint32_t p : parents[f]) cells *= cardinalities[p];
      for (std::size_t i = 0; i < cells; ++i) out.real(1.0 / cardinalities[f]);
    }
  });
}

/// One-dependence estimators with uniform tables.
std::vector<std::byte> aode_file(const std::vector<std::uint32_t>& cardinalities, std::uint32_t n_classes) {
  return forged(Tag::kAode, cardinalities, n_classes, [&](ByteWriter& out) {
    out.number(n_classes);
    out.count(cardinalities.size());
    for (std::uint32_t c = 0; c < n_classes; ++c) out.real(1.0 / n_classes);
    std::size_t values = 0;
    for (const std::uint32_t r : cardinalities) {
      out.number(r);
      values += r;
    }
    out.real(0);
    for (std::size_t i = 0; i < values; ++i) out.real(1);
    const auto fill = [&](std::uint32_t r) {
      for (std::size_t i = 0; i < std::size_t{r} * n_classes; ++i) out.real(1.0 / r);
    };
    for (const std::uint32_t r : cardinalities) fill(r);
    for (std::size_t p = 0; p < cardinalities.size(); ++p)
      for (std::uint32_t value = 0; value < cardinalities[p]; ++value)
        for (std::size_t i = 0; i < cardinalities.size(); ++i)
          if (i != p) fill(cardinalities[i]);
  });
}

/// Naive Bayes with uniform tables.
std::vector<std::byte> naive_file(const std::vector<std::uint32_t>& cardinalities, std::uint32_t n_classes) {
  return forged(Tag::kNetwork, cardinalities, n_classes, [&](ByteWriter& out) {
    out.number(n_classes);
    out.count(cardinalities.size());
    for (std::uint32_t c = 0; c < n_classes; ++c) out.real(1.0 / n_classes);
    for (const std::uint32_t r : cardinalities) out.number(r);
    for (std::size_t f = 0; f < cardinalities.size(); ++f) out.count(0);
    for (const std::uint32_t r : cardinalities)
      for (std::size_t i = 0; i < std::size_t{r} * n_classes; ++i) out.real(1.0 / r);
  });
}

}  // namespace

TEST(models_of_every_shape) {
  using Shape = std::pair<std::vector<std::uint32_t>, std::uint32_t>;
  // Many features, many classes, many values; of several features, of which one has nearly all values.
  for (const auto& [cardinalities, n_classes] :
       {Shape{{}, 30000}, Shape{{1}, 30000}, Shape{std::vector<std::uint32_t>(300, 1), 1}, Shape{{1, 1, 1}, 9000},
        Shape{{20000}, 1}, Shape{{1, 20000}, 1}, Shape{{150, 150}, 1}, Shape{std::vector<std::uint32_t>(8, 30), 1}})
    CHECK_EQ(read_within_limits(aode_file(cardinalities, n_classes)), "");
  for (const auto& [cardinalities, n_classes] :
       {Shape{{}, 60000}, Shape{{1}, 40000}, Shape{std::vector<std::uint32_t>(25000, 1), 1}, Shape{{60000}, 1},
        Shape{std::vector<std::uint32_t>(6000, 2), 5}, Shape{std::vector<std::uint32_t>(15000, 2), 1}})
    CHECK_EQ(read_within_limits(naive_file(cardinalities, n_classes)), "");
  CHECK(has(read_within_limits(aode_file({1, 1}, 0)), "classes"));
  CHECK(has(read_within_limits(aode_file(std::vector<std::uint32_t>(20000, 2), 0)), "classes"));
  CHECK(has(read_within_limits(naive_file(std::vector<std::uint32_t>(30000, 1), 0)), "classes"));
}

TEST(an_average_over_trees_without_classes_is_rejected_before_its_pairs_are_read) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{30000}})
    CHECK(has(read_within_limits(tbmatan_file(std::vector<std::uint32_t>(n, 1), 0, 0)), "0 classes"));
}

TEST(many_features_and_many_sizes_of_tables_in_an_average_over_trees) {
  CHECK_EQ(read_within_limits(tbmatan_file(std::vector<std::uint32_t>(480, 1), 1, 1)), "");
  // Every number of cells has its own table of rising factorials.
  std::vector<std::uint32_t> different(27);
  std::iota(different.begin(), different.end(), 2U);
  CHECK_EQ(read_within_limits(tbmatan_file(different, 1, 1e6)), "");
}

TEST(sampled_trees_do_not_fill_the_memory) {
  // 100,000 trees that are all different, of 250 features: 30 GB.
  CHECK(has(read_within_limits(tbmatan_file(std::vector<std::uint32_t>(250, 2), 1, 1, 1, 100000)),
            "set n_trees to less"));
  CHECK_EQ(read_within_limits(tbmatan_file(std::vector<std::uint32_t>(250, 2), 1, 1, 1, 200)), "");
  CHECK_EQ(read_within_limits(tbmatan_file({2, 2, 2}, 2, 1, 1, 100000)), "");  // three different ones
}

TEST(tables_that_do_not_depend_on_the_class_are_not_repeated_without_end) {
  // 20,000 classes and 40,000 cells: 800 million if every class had its own.
  CHECK(has(read_within_limits(
                general_file(std::vector<std::uint32_t>(20, 2000), 20000, std::vector<std::vector<std::uint32_t>>(20))),
            "cells"));
  std::vector<std::vector<std::uint32_t>> parents(16);
  for (std::uint32_t p = 0; p < 15; ++p) parents[15].push_back(p);
  CHECK(has(read_within_limits(general_file(std::vector<std::uint32_t>(16, 2), 10000, parents)), "cells"));
}

TEST(features_of_one_value_do_not_make_inference_slow) {
  std::mt19937 random(1);
  for (const auto& [n_features, n_parents] : {std::pair{3000U, 60U}, std::pair{20000U, 3U}}) {
    std::vector<std::vector<std::uint32_t>> parents(n_features);
    for (std::uint32_t f = 1; f < n_features; ++f) {
      for (std::uint32_t i = 0; i < n_parents; ++i) parents[f].push_back(random() % f);
      std::ranges::sort(parents[f]);
      parents[f].erase(std::unique(parents[f].begin(), parents[f].end()), parents[f].end());
    }
    CHECK_EQ(read_within_limits(general_file(std::vector<std::uint32_t>(n_features, 1), 2, parents)), "");
  }
}

TEST(many_families_in_one_clique_count_as_well) {
  // Every pair of 22 features has observed children, 13 of them: few cells, but each family has to be found in them.
  const std::uint32_t n_tied = 22;
  std::vector<std::vector<std::uint32_t>> parents(n_tied);
  for (int times = 0; times < 13; ++times)
    for (std::uint32_t a = 0; a < n_tied; ++a)
      for (std::uint32_t b = a + 1; b < n_tied; ++b) parents.push_back({a, b});
  CHECK(has(read_within_limits(general_file(std::vector<std::uint32_t>(parents.size(), 2), 1, parents)), "max_cells"));
}

TEST(count_sets_check_their_size_before_they_ask_for_memory) {
  const std::size_t before = live_bytes;
  peak_bytes = before;
  CHECK_THROWS(InvalidInput, CountSet(std::vector<std::uint32_t>(100000, 2), 2, CountScope::kPairs),
               "100000 features and their pairs would have 40000000000 cells");
  CHECK_THROWS(InvalidInput, CountSet(std::vector<std::uint32_t>(3000000, 65534), 65534, CountScope::kPairs),
               "the count table of feature 0");
  // Without values or classes there are no cells, and nothing to keep for any pair.
  const CountSet no_values(std::vector<std::uint32_t>(100000, 0), 2, CountScope::kPairs);
  CHECK(no_values.pair(7, 99999).empty());
  const CountSet no_classes(std::vector<std::uint32_t>(100000, 3), 0, CountScope::kPairs);
  CHECK(no_classes.pair(99998, 99999).empty());
  CHECK(peak_bytes - before < kMostBytes / 16);
}

TEST_MAIN

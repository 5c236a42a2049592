// Runs a fuzz target without libFuzzer: over its seeds, over changed copies of them and over random bytes. The same
// inputs every time, so a failure can be repeated; the input that failed is left in a file.
//
//     fuzz_counts SEEDS          the short test: kShortRuns inputs
//     fuzz_counts SEEDS 100000   as many inputs as given
//     fuzz_counts FILE           one input, such as one that a fuzzer has left
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz.hpp"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

Bytes current;
std::string failure_file;

void keep_input(int signal_number) {
  if (std::FILE* file = std::fopen(failure_file.c_str(), "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
    std::fprintf(stderr, "the input is in %s\n", failure_file.c_str());
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(Bytes input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

/// Lengths spread over all orders of magnitude, for most decisions are made by the first bytes.
Bytes random_bytes(std::mt19937_64& random) {
  Bytes bytes(random() % ((fuzz::kMaxLength >> random() % 10) + 1));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

/// Changes bytes in up to eight places; `seeds` is not empty.
Bytes scrambled(Bytes bytes, const std::vector<Bytes>& seeds, std::mt19937_64& random) {
  for (std::size_t left = 1 + random() % 8; left > 0; --left) {
    const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t rest = bytes.size() - at;
    switch (random() % 6) {
      case 0:
        if (rest > 0) *place = static_cast<std::uint8_t>(*place ^ 1U << random() % 8);
        break;
      case 1:
        if (rest > 0) *place = static_cast<std::uint8_t>(random());
        break;
      case 2:
        bytes.insert(place, static_cast<std::uint8_t>(random()));
        break;
      case 3:
        bytes.erase(place, place + static_cast<std::ptrdiff_t>(std::min<std::size_t>(rest, 1 + random() % 16)));
        break;
      case 4: {
        const Bytes copy(place, place + static_cast<std::ptrdiff_t>(std::min<std::size_t>(rest, 1 + random() % 32)));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1)), copy.begin(),
                     copy.end());
        break;
      }
      default: {
        const Bytes& other = seeds[random() % seeds.size()];
        bytes.resize(at);
        if (!other.empty())
          bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(random() % other.size()), other.end());
      }
    }
  }
  return bytes;
}

/// What LLVMFuzzerMutate below draws from.
std::mt19937_64* random_of_mutator = nullptr;

/// A changed seed: by the target's own mutator, if it has one, else without regard to what the bytes mean.
Bytes changed(Bytes bytes, const std::vector<Bytes>& seeds, std::mt19937_64& random) {
#if defined(__GNUC__)  // which knows weak symbols
  const bool has_mutator = LLVMFuzzerCustomMutator != nullptr;
#else
  const bool has_mutator = false;
#endif
  if (has_mutator && !bytes.empty()) {
    random_of_mutator = &random;
    for (std::size_t left = 1 + random() % 4; left > 0; --left) {
      const std::size_t size = bytes.size();
      bytes.resize(std::max(size, fuzz::kMaxLength));
      bytes.resize(LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), static_cast<unsigned>(random())));
    }
  } else {
    bytes = scrambled(std::move(bytes), seeds, random);
  }
  if (bytes.size() > fuzz::kMaxLength) bytes.resize(fuzz::kMaxLength);
  return bytes;
}

}  // namespace

/// Stands in for libFuzzer's own, which mutators of targets call.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size) {
  const Bytes bytes(data, data + size);
  Bytes mutated = scrambled(bytes, {bytes}, *random_of_mutator);
  if (mutated.size() > max_size) mutated.resize(max_size);
  std::copy(mutated.begin(), mutated.end(), data);
  return mutated.size();
}

int main(int n_arguments, char** arguments) try {
  const std::string name = fs::path(arguments[0]).filename().string();
  failure_file = name + "-failure.bin";
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(number, keep_input);

  std::vector<Bytes> seeds;
  const fs::path source = n_arguments > 1 ? arguments[1] : "";
  if (fs::is_regular_file(source)) {
    run(read(source));
    std::printf("%s: one input passed\n", name.c_str());
    return EXIT_SUCCESS;
  }
  if (fs::is_directory(source)) {
    std::vector<fs::path> paths(fs::directory_iterator(source), fs::directory_iterator{});
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) seeds.push_back(read(path));
  }
  for (const Bytes& seed : seeds) run(seed);

  const long runs = n_arguments > 2 ? std::atol(arguments[2]) : fuzz::kShortRuns;
  std::mt19937_64 random(1);
  for (long k = 0; k < runs; ++k) {
    const bool from_seed = !seeds.empty() && random() % 4 != 0;
    run(from_seed ? changed(seeds[random() % seeds.size()], seeds, random) : random_bytes(random));
  }
  std::printf("%s: %zu seeds and %ld other inputs passed\n", name.c_str(), seeds.size(), runs);
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::fprintf(stderr, "FAILED: unexpected exception: %s\n", error.what());
  keep_input(SIGABRT);
}

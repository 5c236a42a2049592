// Times counting in the core, method by method, without Python.
//
//     cmake -S . -B build/benchmarks -DTANAGER_BUILD_BENCHMARKS=ON
//     cmake --build build/benchmarks --target benchmark_counting
//     build/benchmarks/benchmarks/programs/benchmark_counting [name of a shape] [repeats]
//
// One thread is timed by its own CPU time, the best of several repeats, so other load has little effect; the speed-up
// of two threads is by the wall clock and needs an idle machine. "x read" is relative to adding up the bytes of the
// data.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "counts/options.hpp"
#include "tanager/counts.hpp"

namespace {

using namespace tanager;
using namespace tanager::internal;

struct Shape {
  const char* name;
  std::size_t rows;
  std::size_t features;
  std::uint32_t values;
  std::uint32_t classes;
  CountScope scope;
  double missing = 0.0;
  bool weighted = false;
};

const Shape kShapes[] = {
    {"nb", 1'000'000, 30, 4, 2, CountScope::kSingles},
    {"nb-missing", 1'000'000, 30, 4, 2, CountScope::kSingles, 0.05},
    {"nb-letters", 20'000, 16, 16, 26, CountScope::kSingles},
    {"nb-weighted", 1'000'000, 30, 4, 2, CountScope::kSingles, 0.0, true},
    {"tan", 100'000, 50, 4, 3, CountScope::kPairs},
    {"tan-missing", 100'000, 50, 4, 3, CountScope::kPairs, 0.05},
    {"tan-binary", 100'000, 50, 2, 2, CountScope::kPairs},
    {"tan-large", 1'000'000, 30, 4, 2, CountScope::kPairs},
    {"tan-letters", 20'000, 16, 5, 26, CountScope::kPairs},
    {"tan-ten", 100'000, 30, 10, 5, CountScope::kPairs},
    {"tan-twenty", 100'000, 100, 20, 2, CountScope::kPairs},
    {"tan-wide", 10'000, 1000, 3, 2, CountScope::kPairs},
    {"tan-small", 300, 16, 4, 2, CountScope::kPairs},
    {"tan-medium", 1'000, 36, 4, 2, CountScope::kPairs},
    {"tan-weighted", 100'000, 50, 4, 3, CountScope::kPairs, 0.0, true},
};

Dataset make_data(const Shape& shape) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::vector<Column> columns;
  for (std::size_t f = 0; f < shape.features; ++f) {
    std::vector<std::uint8_t> codes(shape.rows);
    for (auto& code : codes)
      code = shape.missing > 0 && unit(random) < shape.missing ? kMissing8
                                                               : static_cast<std::uint8_t>(random() % shape.values);
    columns.emplace_back(std::move(codes), shape.values);
  }
  std::vector<std::uint8_t> classes(shape.rows);
  for (auto& code : classes) code = static_cast<std::uint8_t>(random() % shape.classes);
  std::vector<double> weights;
  if (shape.weighted)
    for (std::size_t r = 0; r < shape.rows; ++r) weights.push_back(unit(random));
  return Dataset(std::move(columns), Column(std::move(classes), shape.classes), std::move(weights));
}

double wall_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_ns() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
#else
  return wall_ns();
#endif
}

double best_of(int repeats, double (*clock)(), const std::function<void()>& body) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const double start = clock();
    body();
    best = std::min(best, clock() - start);
  }
  return best;
}

double read_bytes(const Dataset& data, int repeats) {
  volatile std::uint64_t sink = 0;
  return best_of(repeats, cpu_ns, [&] {
    std::uint64_t sum = 0;
    const auto add = [&](const Column& column) {
      const auto* words = reinterpret_cast<const std::uint64_t*>(column.narrow().data());
      for (std::size_t i = 0; i < column.size() / 8; ++i) sum += words[i];
    };
    for (const Column& column : data.features()) add(column);
    add(data.target());
    sink = sum;
  });
}

struct Way {
  std::string name;
  CountOptions options;
};

std::vector<Way> ways(const Shape& shape) {
  std::vector<Way> all{{"auto", {}}, {"histogram", {best_isa(), false, CountMethod::kHistogram, 0}}};
  if (shape.weighted) return all;
  const char* names[] = {"baseline", "avx2", "avx512"};
  for (int level = 0; level <= static_cast<int>(supported_isa()); ++level) {
    const auto isa = static_cast<Isa>(level);
    all.push_back({std::string("bits ") + names[level], {isa, has_fast_pext(), CountMethod::kBits, 0}});
    if (isa == Isa::kAvx2 && shape.scope == CountScope::kPairs)
      all.push_back({"bits avx2, gathered", {isa, false, CountMethod::kBits, 0}});
  }
  return all;
}

void run(const Shape& shape, int repeats) {
  const Dataset data = make_data(shape);
  const double codes = static_cast<double>(shape.rows * shape.features);
  const double unit = shape.scope == CountScope::kPairs ? codes * static_cast<double>(shape.features - 1) / 2 : codes;
  const double read = read_bytes(data, repeats);
  std::printf("%s: %zu rows x %zu features x %u values, %u classes%s%s; reading the bytes takes %.3f ms\n", shape.name,
              shape.rows, shape.features, shape.values, shape.classes, shape.missing > 0 ? ", some missing" : "",
              shape.weighted ? ", weighted" : "", read / 1e6);
  for (const Way& way : ways(shape)) {
    const auto time = [&](int threads, double (*clock)()) {
      return best_of(repeats, clock, [&] { count_with(data, shape.scope, {}, threads, way.options); });
    };
    const double one = time(1, cpu_ns);
    std::printf("  %-20s %9.3f ms  %8.4f ns per row and %s  %6.1f x read", way.name.c_str(), one / 1e6, one / unit,
                shape.scope == CountScope::kPairs ? "pair" : "feature", one / read);
    if (way.name == "auto") std::printf("  2 threads x%.2f", time(1, wall_ns) / time(2, wall_ns));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string chosen = argc > 1 ? argv[1] : "";
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 7;
  bool found = false;
  for (const Shape& shape : kShapes)
    if (chosen.empty() || chosen == shape.name) {
      run(shape, repeats);
      found = true;
    }
  if (!found) std::fprintf(stderr, "expected the name of a shape, got %s\n", chosen.c_str());
  return found ? EXIT_SUCCESS : EXIT_FAILURE;
}

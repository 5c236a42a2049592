// Wrapper searches in the core, without Python: for instruction counts, which do not depend on the load of the machine.
//
//     cmake -S . -B build/benchmarks -DTANAGER_BUILD_BENCHMARKS=ON
//     cmake --build build/benchmarks --target benchmark_search
//     valgrind --tool=callgrind '--toggle-collect=measured*' PROGRAM TABLE METHOD [THREADS]
//
// TABLE is a text file of integers: rows and features; then for every feature, and last for the class, the number
// of values and the code of every row. benchmarks/suites/structure.py writes such files and names the methods.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tanager/evaluation.hpp"
#include "tanager/learn_search.hpp"

#if defined(_MSC_VER)
#define NOT_INLINED __declspec(noinline)
#else
#define NOT_INLINED __attribute__((noinline))
#endif

using namespace tanager;

namespace {

std::size_t read_number(std::ifstream& file) {
  std::size_t number = 0;
  if (!(file >> number)) throw std::runtime_error("expected a file of integers, got too few or something else");
  return number;
}

Dataset read_table(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  const std::size_t rows = read_number(file), features = read_number(file);
  std::vector<Column> columns;
  for (std::size_t f = 0; f <= features; ++f) {
    const auto values = static_cast<std::uint32_t>(read_number(file));
    std::vector<std::uint8_t> codes(rows);
    for (auto& code : codes) code = static_cast<std::uint8_t>(read_number(file));
    columns.emplace_back(std::move(codes), values);
  }
  Column classes = std::move(columns.back());
  columns.pop_back();
  return Dataset(std::move(columns), std::move(classes));
}

SearchOptions options_of(const std::string& method) {
  const std::map<std::string, SearchMethod> methods{
      {"hill-climb", SearchMethod::kHillClimb},     {"hill-climb-symmetric", SearchMethod::kHillClimb},
      {"k-db", SearchMethod::kHillClimb},           {"super-parent", SearchMethod::kSuperParent},
      {"forward-join", SearchMethod::kForwardJoin}, {"backward-join", SearchMethod::kBackwardJoin}};
  const auto found = methods.find(method);
  if (found == methods.end()) throw std::runtime_error("expected a search method, got " + method);
  SearchOptions options;
  options.method = found->second;
  options.symmetric = method == "hill-climb-symmetric";
  options.max_parents = method == "k-db" ? 2 : 1;
  return options;
}

}  // namespace

// The measured function. It is not in the unnamed namespace and not inlined, so callgrind finds it by name.
NOT_INLINED SearchResult measured(const Dataset& data, const SearchOptions& options, int threads) {
  const auto folds = stratified_folds(data.target(), 5, 0);
  return search_structure(data, folds, options, threads);
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: benchmark_search TABLE METHOD [THREADS]\n");
    return EXIT_FAILURE;
  }
  try {
    const Dataset data = read_table(argv[1]);
    const auto start = std::chrono::steady_clock::now();
    const SearchResult result = measured(data, options_of(argv[2]), argc > 3 ? std::atoi(argv[3]) : 1);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    std::printf("%s: accuracy %.6f after %zu steps and %zu candidates in %.3f ms\n", argv[2], result.steps.back().score,
                result.steps.size() - 1, result.n_candidates, taken.count());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

// Times prediction in the core: one row at a time, and batches by rows and by columns.
//
//     cmake -S . -B build/benchmarks -DTANAGER_BUILD_BENCHMARKS=ON
//     cmake --build build/benchmarks --target benchmark_prediction
//     build/benchmarks/benchmarks/programs/benchmark_prediction
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <vector>

#include "tanager/network_predictor.hpp"

namespace {

using tanager::Code;
using tanager::Output;

double seconds(const auto& body, int repeats) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t start = std::clock();  // CPU time, without other programs
    body();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

tanager::Network make_network(std::mt19937_64& random, std::size_t n, std::uint32_t r, std::uint32_t s, bool tree) {
  std::vector<std::vector<std::size_t>> parents(n);
  std::vector<std::vector<double>> tables;
  for (std::size_t f = 0; f < n; ++f) {
    if (tree && f > 0) parents[f] = {random() % f};
    const std::size_t configurations = parents[f].empty() ? 1 : r;
    std::vector<double> table(configurations * r * s);
    for (std::size_t j = 0; j < configurations; ++j)
      for (std::size_t c = 0; c < s; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < r; ++k) sum += table[(j * r + k) * s + c] = 1.0 + static_cast<double>(random() % 9);
        for (std::size_t k = 0; k < r; ++k) table[(j * r + k) * s + c] /= sum;
      }
    tables.push_back(std::move(table));
  }
  return tanager::Network(tanager::Structure(parents), std::vector<std::uint32_t>(n, r),
                          std::vector<double>(s, 1.0 / s), tables);
}

void measure(const char* name, std::size_t n, std::uint32_t r, std::uint32_t s, bool tree) {
  std::mt19937_64 random(1);
  const tanager::NetworkPredictor predictor(make_network(random, n, r, s, tree));
  const std::size_t rows = 200000;
  std::vector<std::vector<std::uint8_t>> columns(n, std::vector<std::uint8_t>(rows));
  std::vector<Code> by_row(rows * n);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t f = 0; f < n; ++f) columns[f][i] = static_cast<std::uint8_t>(by_row[i * n + f] = random() % r);
  std::vector<tanager::CodeColumn> views;
  for (const auto& column : columns) views.emplace_back(column.data());
  std::vector<double> out(rows * s);
  std::vector<std::uint32_t> classes(rows);

  const double scale = 1e9 / static_cast<double>(rows);
  const double one = seconds(
      [&] {
        for (std::size_t i = 0; i < rows; ++i)
          predictor.predict({by_row.data() + i * n, n}, Output::kPosterior, {out.data() + i * s, s});
      },
      3);
  const double column = seconds([&] { predictor.predict_columns(views, rows, Output::kPosterior, out); }, 7);
  const double joint = seconds([&] { predictor.predict_columns(views, rows, Output::kLogJoint, out); }, 7);
  const double best = seconds([&] { predictor.predict_classes_columns(views, rows, classes); }, 7);
  const double row =
      seconds([&] { predictor.predict_rows(std::span<const Code>(by_row), Output::kPosterior, out); }, 5);
  std::printf("%-16s %8.1f %10.1f %10.1f %10.1f %10.1f\n", name, one * scale, column * scale, joint * scale,
              best * scale, row * scale);
}

}  // namespace

int main() {
  std::printf("ns per row       one row  posterior  log-joint      class   row-major\n");
  measure("NB 30,4,2", 30, 4, 2, false);
  measure("NB 20,4,26", 20, 4, 26, false);
  measure("TAN 20,4,2", 20, 4, 2, true);
  measure("TAN 50,4,3", 50, 4, 3, true);
  measure("TAN 20,4,10", 20, 4, 10, true);
  return 0;
}

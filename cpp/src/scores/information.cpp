// Entropy and mutual information of count tables, in nats. Sums run over the logarithms of ratios of counts, n ln(n n_z
// / (n_x n_y)), rather than over differences of n ln n, whose terms are larger than the result by many orders of
// magnitude. The logarithm of a ratio is the sum of those of the counts: most are known, and no product can leave the
// range of a double, however large or tiny weights are.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "scores/check_table.hpp"
#include "support/special.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/scores.hpp"

namespace tanager {

using namespace internal;

double entropy(std::span<const double> counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (total <= 0) return 0;
  double sum = 0;
  for (const double n : counts)
    if (n > 0) sum -= n * std::log(n / total);
  return std::max(0.0, sum / total);
}

double mutual_information(std::span<const double> table, std::size_t n_x, std::size_t n_y) {
  return conditional_mutual_information(table, n_x, n_y, 1);
}

double conditional_mutual_information(std::span<const double> table, std::size_t n_x, std::size_t n_y,
                                      std::size_t n_z) {
  if (!has_cells(table.size(), std::array{n_x, n_y, n_z}))
    throw InvalidInput(join_text("a table of ", n_x, " x ", n_y, " x ", n_z, " values must have ",
                                 static_cast<double>(n_x) * static_cast<double>(n_y) * static_cast<double>(n_z),
                                 " cells, got ", table.size()));
  if (table.empty()) return 0;
  std::vector<double> margins((n_x + n_y + 1) * n_z, 0.0);
  double* of_x = margins.data();
  double* of_y = of_x + n_x * n_z;
  double* of_z = of_y + n_y * n_z;
  for (std::size_t x = 0; x < n_x; ++x) {
    const double* cells = table.data() + x * n_y * n_z;
    for (std::size_t i = 0; i < n_y * n_z; ++i) of_y[i] += cells[i];
    for (std::size_t y = 0; y < n_y; ++y)
      for (std::size_t z = 0; z < n_z; ++z) of_x[x * n_z + z] += cells[y * n_z + z];
  }
  for (std::size_t x = 0; x < n_x; ++x)
    for (std::size_t z = 0; z < n_z; ++z) of_z[z] += of_x[x * n_z + z];
  const double total = std::accumulate(of_z, of_z + n_z, 0.0);
  if (!(total > 0)) return 0;
  const CountLogs log_of;
  for (double& margin : margins) margin = log_of(margin);
  for (double* y = of_y; y < of_z; y += n_z)
    for (std::size_t z = 0; z < n_z; ++z) y[z] = of_z[z] - y[z];
  double sum = 0;
  const double* cell = table.data();
  for (const double* x = of_x; x < of_y; x += n_z)
    for (const double* y = of_y; y < of_z; y += n_z)
      for (std::size_t z = 0; z < n_z; ++z, ++cell) sum += *cell * ((log_of(*cell) - x[z]) + y[z]);
  return std::max(0.0, sum / total);
}

}  // namespace tanager

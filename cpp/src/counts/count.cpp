#include <string>

#include "support/parallel.hpp"
#include "tanager/counts.hpp"

namespace tanager {
namespace {

void count_direct(const Dataset& data, const Family& family, std::span<double> cells) {
  const std::size_t s = data.n_classes();
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    std::size_t index = 0;
    bool observed = true;
    const auto append = [&](std::size_t f) {
      const Code code = data.feature(f)[row];
      observed &= code != kMissing;
      index = index * data.feature(f).n_values() + code;
    };
    for (const std::size_t parent : family.parents) append(parent);
    append(family.child);
    if (observed) cells[index * s + data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
  }
}

}  // namespace

CountSet count(const Dataset& data, CountScope scope, const std::vector<Family>& families, int threads) {
  CountSet counts(data.cardinalities(), data.n_classes(), scope, families);
  for (std::size_t row = 0; row < data.n_rows(); ++row)
    counts.class_counts()[data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
  parallel_for(data.n_features(), 1, threads, [&](std::size_t u, std::size_t) {
    count_direct(data, {u, {}}, counts.single(u));
    if (scope == CountScope::kPairs)
      for (std::size_t v = u + 1; v < data.n_features(); ++v) count_direct(data, {v, {u}}, counts.pair(u, v));
  });
  parallel_for(families.size(), 1, threads,
               [&](std::size_t i, std::size_t) { count_direct(data, families[i], counts.family(i)); });
  return counts;
}

CountTable count_family(const Dataset& data, const Family& family) {
  const std::vector<std::uint32_t> cardinalities = data.cardinalities();
  CountTable table{family, {}, data.n_classes(), {}};
  table.cells.assign(static_cast<std::size_t>(checked_table_size(family, cardinalities, data.n_classes())), 0.0);
  for (const std::size_t parent : family.parents) table.dims.push_back(cardinalities[parent]);
  table.dims.push_back(cardinalities[family.child]);
  count_direct(data, family, table.cells);
  return table;
}

}  // namespace tanager

// Counting: every method, instruction set and number of threads against a plain loop over the rows.
#include <string>
#include <utility>
#include <vector>

#include "counts/options.hpp"
#include "fuzz.hpp"
#include "reference.hpp"

const int fuzz::kShortRuns = 700;
const std::size_t fuzz::kMaxLength = 256;

namespace {

using namespace tanager;

constexpr std::size_t kMostCells = 200'000;  // in all tables together, so that an input takes milliseconds

void require_table(std::span<const double> got, const std::vector<double>& expected, const std::string& what) {
  fuzz::require_same(got.size(), expected.size(), "size of " + what);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (got[i] != expected[i]) fuzz::require_same(got[i], expected[i], what + ", entry " + std::to_string(i));
}

CountOptions read_options(fuzz::Input& input) {
  CountOptions options;
  const std::size_t best = static_cast<std::size_t>(best_isa());
  options.isa = static_cast<Isa>(input.size(0, best));
  options.fast_pext = input.flag() && has_fast_pext();
  options.method =
      input.choose({CountMethod::kAuto, CountMethod::kDirect, CountMethod::kHistogram, CountMethod::kBits});
  options.block_rows = input.choose<std::size_t>({0, 0, 64, 640, 4096});
  return options;
}

/// Widths that fit what is left of the budget of cells.
std::uint32_t read_n_values(fuzz::Input& input, std::size_t most) {
  return static_cast<std::uint32_t>(input.edge_size(std::max<std::size_t>(1, std::min<std::size_t>(most, kMaxValues))));
}

Dataset read_dataset(fuzz::Input& input) {
  const std::size_t n_rows = input.flag() ? input.size(0, 300) : input.edge_size(5000);
  const std::uint32_t n_classes = read_n_values(input, std::size_t{kMaxValues});
  const std::size_t n_features = input.size(0, 7);
  std::size_t widest = kMostCells / n_classes;
  std::vector<reference::ColumnSpec> features(n_features);
  for (reference::ColumnSpec& spec : features) {
    spec.n_values = input.flag() ? 1 : read_n_values(input, widest);
    spec.missing = input.choose({0.0, 0.0, 0.01, 0.5, 1.0});
    spec.skew = input.choose({0.0, 0.0, 0.9, 1.0});
    spec.wide = input.flag();
    // Tables of pairs hold the product of two widths.
    widest = std::max<std::size_t>(1, std::min(widest, kMostCells / n_classes / spec.n_values));
  }
  const reference::ColumnSpec target{n_classes, 0.0, input.choose({0.0, 0.0, 0.9}), input.flag()};
  const bool weighted = input.flag() && input.flag();
  return reference::random_dataset(features, target, n_rows, weighted, input.number(0, UINT64_MAX));
}

std::vector<Family> read_families(fuzz::Input& input, const Dataset& data) {
  std::vector<Family> families(data.n_features() == 0 ? 0 : input.size(0, 3));
  for (Family& family : families) {
    family.child = input.size(0, data.n_features() - 1);
    std::size_t cells = data.n_classes() * data.feature(family.child).n_values();
    for (std::size_t parent = 0; parent < data.n_features(); ++parent) {
      if (parent == family.child || !input.flag()) continue;
      cells *= data.feature(parent).n_values();
      if (cells > kMostCells) break;
      family.parents.push_back(parent);
    }
  }
  return families;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const Dataset data = read_dataset(input);
  const CountScope scope = input.flag() ? CountScope::kSingles : CountScope::kPairs;
  const std::vector<Family> families = read_families(input, data);
  const CountOptions options = read_options(input);
  const int threads = static_cast<int>(input.number(1, 3));
  const CountSet counts = count_with(data, scope, families, threads, options);

  std::vector<double> classes(data.n_classes(), 0.0);
  for (std::size_t row = 0; row < data.n_rows(); ++row)
    classes[data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
  require_table(counts.class_counts(), classes, "class counts");
  for (std::size_t v = 0; v < data.n_features(); ++v) {
    require_table(counts.single(v), reference::count_table(data, {v, {}}), "single " + std::to_string(v));
    for (std::size_t u = 0; scope == CountScope::kPairs && u < v; ++u)
      require_table(counts.pair(u, v), reference::count_table(data, {v, {u}}),
                    "pair " + std::to_string(u) + ", " + std::to_string(v));
  }
  for (std::size_t i = 0; i < families.size(); ++i)
    require_table(counts.family(i), reference::count_table(data, families[i]), "family " + std::to_string(i));

  return 0;
}

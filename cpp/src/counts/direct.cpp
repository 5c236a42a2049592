// Indices of a short run of rows are computed column by column, which vectorizes; then the cells are incremented row by
// row. Bit 31 of an index marks a row in which some feature of the family is missing (tables have at most 2^28 cells).
#include "counts/direct.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace tanager::internal {
namespace {

constexpr std::size_t kRun = 1024;
constexpr std::size_t kApart = 4;
constexpr std::uint32_t kUnobserved = std::uint32_t{1} << 31;
static_assert(kMaxTableCells < kUnobserved);

using Indices = std::array<std::uint32_t, kRun>;

template <bool kMayMiss, class T>
void add_codes(const T* codes, std::size_t n, std::uint32_t stride, T missing, Indices& indices) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t code = codes[i];
    if constexpr (kMayMiss) {
      const bool unobserved = codes[i] == missing;
      indices[i] = (indices[i] + (unobserved ? 0 : code * stride)) | (unobserved ? kUnobserved : 0);
    } else {
      indices[i] += code * stride;
    }
  }
}

void add_column(const Column& column, std::size_t begin, std::size_t n, std::uint32_t stride, Indices& indices) {
  column.visit([&]<class T>(std::span<const T> codes) {
    const T missing = std::numeric_limits<T>::max();
    if (column.has_missing())
      add_codes<true>(codes.data() + begin, n, stride, missing, indices);
    else
      add_codes<false>(codes.data() + begin, n, stride, missing, indices);
  });
}

}  // namespace

void count_direct(const Dataset& data, const Family& family, std::span<double> cells) {
  if (cells.empty()) return;
  Indices indices;
  // Whole counts go round robin into several tables, because incrementing one cell twice in a row waits for the first
  // store, unless the tables are so large that adding them up would take longer. They begin with what is there.
  const bool is_apart = !data.is_weighted() && kApart * cells.size() <= data.n_rows();
  std::vector<double> apart(is_apart ? kApart * cells.size() : 0);
  for (std::size_t begin = 0; begin < data.n_rows(); begin += kRun) {
    const std::size_t n = std::min(kRun, data.n_rows() - begin);
    std::fill_n(indices.begin(), n, 0);
    add_column(data.target(), begin, n, 1, indices);
    std::uint32_t stride = data.n_classes();
    const auto add_feature = [&](std::size_t f) {
      add_column(data.feature(f), begin, n, stride, indices);
      stride *= data.feature(f).n_values();
    };
    add_feature(family.child);
    for (std::size_t p = family.parents.size(); p-- > 0;) add_feature(family.parents[p]);

    const double* weights = data.is_weighted() ? data.weights().data() + begin : nullptr;
    if (is_apart) {
      for (std::size_t i = 0; i < n; ++i)
        if (indices[i] < kUnobserved) apart[i % kApart * cells.size() + indices[i]] += 1.0;
    } else {
      for (std::size_t i = 0; i < n; ++i)
        if (indices[i] < kUnobserved) cells[indices[i]] += weights != nullptr ? weights[i] : 1.0;
    }
  }
  for (std::size_t i = 0; i < apart.size(); ++i) cells[i % cells.size()] += apart[i];
}

}  // namespace tanager::internal

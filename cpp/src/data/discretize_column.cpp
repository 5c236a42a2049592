// Views of numbers, and the discretizers applied to all columns of a table.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "support/parallel.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

template <class T>
void read_strided(const std::byte* from, std::ptrdiff_t step, std::span<double> out) {
  for (double& value : out) {
    T number;
    std::memcpy(&number, from, sizeof(T));  // the address may be unaligned
    value = static_cast<double>(number);
    from += step;
  }
}

template <class Find>
std::vector<std::vector<double>> for_each_column(std::span<const NumberColumn> columns, int threads, Find find) {
  std::vector<std::vector<double>> cuts(columns.size());
  parallel_for(columns.size(), 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      try {
        cuts[i] = find(columns[i]);
      } catch (const InvalidInput& error) {
        throw InvalidInput("column " + std::to_string(i) + ": " + error.what());
      }
    }
  });
  return cuts;
}

}  // namespace

NumberColumn::NumberColumn(const double* first, std::ptrdiff_t step, std::size_t size)
    : first_(reinterpret_cast<const std::byte*>(first)), step_(step), size_(size), single_(false) {}
NumberColumn::NumberColumn(const float* first, std::ptrdiff_t step, std::size_t size)
    : first_(reinterpret_cast<const std::byte*>(first)), step_(step), size_(size), single_(true) {}
NumberColumn::NumberColumn(std::span<const double> values)
    : NumberColumn(values.data(), static_cast<std::ptrdiff_t>(sizeof(double)), values.size()) {}
NumberColumn::NumberColumn(std::span<const float> values)
    : NumberColumn(values.data(), static_cast<std::ptrdiff_t>(sizeof(float)), values.size()) {}

void NumberColumn::read(std::size_t begin, std::span<double> out) const {
  if (out.empty()) return;
  const std::byte* from = first_ + static_cast<std::ptrdiff_t>(begin) * step_;
  if (single_)
    read_strided<float>(from, step_, out);
  else if (step_ == static_cast<std::ptrdiff_t>(sizeof(double)))
    std::memcpy(out.data(), from, out.size_bytes());
  else
    read_strided<double>(from, step_, out);
}

std::vector<std::vector<double>> mdl_cuts(std::span<const NumberColumn> columns, const Column& classes,
                                          std::span<const double> weights, int threads) {
  return for_each_column(columns, threads, [&](const NumberColumn& x) { return mdl_cuts(x, classes, weights); });
}

std::vector<std::vector<double>> equal_frequency_cuts(std::span<const NumberColumn> columns, std::size_t bins,
                                                      std::span<const double> weights, int threads) {
  return for_each_column(columns, threads,
                         [&](const NumberColumn& x) { return equal_frequency_cuts(x, bins, weights); });
}

std::vector<std::vector<double>> equal_width_cuts(std::span<const NumberColumn> columns, std::size_t bins,
                                                  std::span<const double> weights, int threads) {
  return for_each_column(columns, threads, [&](const NumberColumn& x) { return equal_width_cuts(x, bins, weights); });
}

void check_cuts(std::span<const double> cuts) {
  if (cuts.size() > kMaxCuts)
    throw InvalidInput("a variable has at most " + std::to_string(kMaxCuts) + " cut points, but there are " +
                       std::to_string(cuts.size()));
  for (std::size_t i = 0; i < cuts.size(); ++i)
    if (std::isnan(cuts[i]) || (i > 0 && !(cuts[i - 1] < cuts[i])))
      throw InvalidInput("expected cut points in strictly increasing order, got " + std::to_string(cuts[i]) +
                         (i > 0 ? " after " + std::to_string(cuts[i - 1]) : ""));
}

}  // namespace tanager

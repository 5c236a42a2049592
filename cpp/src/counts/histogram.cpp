// A row's index into the work table [value of v][value of u][class] is v * (n_u * n_classes) + (u * n_classes + class):
// the second part is computed once per u and serves all its partners, and all arithmetic is on 16-bit lanes. A missing
// cell takes one more value, whose cells are dropped in the end, so no row needs a branch.
//
// Whole counts go round robin into four tables, because incrementing one cell twice in a row waits for the first store,
// unless the tables are so large that emptying them would take longer; weighted rows go into the tables of four
// partners at once instead, which keeps the order of the additions.
#include "counts/histogram.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tanager::internal {
namespace {

constexpr std::size_t kRun = 4096;                      // rows whose indices are held at a time
constexpr std::size_t kIndices = std::size_t{1} << 16;  // what 16 bits can tell apart
constexpr std::size_t kSubTables = 4;
constexpr std::size_t kMaxRows = std::size_t{1} << 31;  // 32-bit counts are emptied after this many rows
constexpr std::size_t kWorkBytes = std::size_t{1} << 18;

using Indices = std::array<std::uint16_t, kRun>;

/// Values a column shows in a work table: one more if cells are missing.
std::size_t slots(const Column& column) {
  return std::size_t{column.n_values()} + (column.has_missing() ? 1 : 0);
}

template <class T>
void scale_codes(const T* codes, std::size_t n, std::uint32_t last_slot, std::size_t stride, const Indices& base,
                 Indices& out) {
  const auto factor = static_cast<std::uint16_t>(stride);
  const auto last = static_cast<T>(last_slot);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<std::uint16_t>(base[i] + static_cast<std::uint16_t>(std::min(codes[i], last)) * factor);
}

/// out = base + code * stride, the missing code counting as the slot after the last value.
void scale_column(const Column& column, std::size_t begin, std::size_t n, std::size_t stride, const Indices& base,
                  Indices& out) {
  const auto last_slot = static_cast<std::uint32_t>(slots(column) - 1);
  column.visit([&](auto codes) { scale_codes(codes.data() + begin, n, last_slot, stride, base, out); });
}

void increment(const Indices& indices, std::size_t n, std::uint32_t* work, std::size_t cells, std::size_t copies) {
  std::uint32_t* const a = work;
  if (copies == 1) {
    for (std::size_t i = 0; i < n; ++i) ++a[indices[i]];
    return;
  }
  std::uint32_t* const b = a + cells;
  std::uint32_t* const c = b + cells;
  std::uint32_t* const d = c + cells;
  std::size_t i = 0;
  for (; i + kSubTables <= n; i += kSubTables) {
    ++a[indices[i]];
    ++b[indices[i + 1]];
    ++c[indices[i + 2]];
    ++d[indices[i + 3]];
  }
  for (; i < n; ++i) ++a[indices[i]];
}

class Histogram {
 public:
  Histogram(const Dataset& data, const HistogramTask& task, std::span<const std::span<double>> tables)
      : data_(data), task_(task), tables_(tables), u_slots_(task.u ? slots(data.feature(*task.u)) : 1) {}

  void run() {
    // Partners are taken in groups whose work tables stay in the second-level cache together.
    for (std::size_t begin = 0; begin < task_.features.size();) {
      std::size_t end = begin;
      for (std::size_t bytes = 0; end < task_.features.size(); ++end) {
        bytes += cells(end) * (data_.is_weighted() ? sizeof(double) : copies(end) * sizeof(std::uint32_t));
        if (end > begin && bytes > kWorkBytes) break;
      }
      if (data_.is_weighted())
        count_weighted(begin, end);
      else
        count_whole(begin, end);
      begin = end;
    }
  }

 private:
  const Column& partner(std::size_t i) const { return data_.feature(task_.features[i]); }
  std::size_t stride() const { return u_slots_ * data_.n_classes(); }
  std::size_t cells(std::size_t i) const { return slots(partner(i)) * stride(); }

  /// Into how many tables whole counts go.
  std::size_t copies(std::size_t i) const { return kSubTables * cells(i) > data_.n_rows() ? 1 : kSubTables; }

  std::vector<std::size_t> offsets(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> starts{0};
    for (std::size_t i = begin; i < end; ++i)
      starts.push_back(starts.back() + (data_.is_weighted() ? 1 : copies(i)) * cells(i));
    return starts;
  }

  /// u * n_classes + class of a run of rows
  void fill_base(std::size_t row, std::size_t n) {
    static constexpr Indices kZero{};
    if (!task_.u) {
      scale_column(data_.target(), row, n, 1, kZero, base_);
      return;
    }
    scale_column(data_.target(), row, n, 1, kZero, indices_[0]);
    scale_column(data_.feature(*task_.u), row, n, data_.n_classes(), indices_[0], base_);
  }

  void count_whole(std::size_t begin, std::size_t end) {
    const std::vector<std::size_t> start = offsets(begin, end);
    std::vector<std::uint32_t> work(start.back());
    std::size_t rows_held = 0;
    for (std::size_t row = 0; row < data_.n_rows(); row += kRun) {
      const std::size_t n = std::min(kRun, data_.n_rows() - row);
      fill_base(row, n);
      for (std::size_t i = begin; i < end; ++i) {
        scale_column(partner(i), row, n, stride(), base_, indices_[0]);
        increment(indices_[0], n, work.data() + start[i - begin], cells(i), copies(i));
      }
      rows_held += n;
      if (rows_held > kMaxRows || row + n == data_.n_rows()) {
        for (std::size_t i = begin; i < end; ++i)
          for (std::size_t t = 0; t < copies(i); ++t)
            exchange(i, work.data() + start[i - begin] + t * cells(i),
                     [](double& cell, std::uint32_t& held) { cell += static_cast<double>(held); });
        std::fill(work.begin(), work.end(), 0);
        rows_held = 0;
      }
    }
  }

  void count_weighted(std::size_t begin, std::size_t end) {
    const std::vector<std::size_t> start = offsets(begin, end);
    std::vector<double> work(start.back());
    // What the tables hold already goes before the first row: a sum of its own, added in the end, would round
    // otherwise.
    for (std::size_t i = begin; i < end; ++i)
      exchange(i, work.data() + start[i - begin], [](double& cell, double& held) { held = cell; });
    for (std::size_t row = 0; row < data_.n_rows(); row += kRun) {
      const std::size_t n = std::min(kRun, data_.n_rows() - row);
      const double* weights = data_.weights().data() + row;
      fill_base(row, n);
      for (std::size_t i = begin; i < end; i += kSubTables) {
        const std::size_t together = std::min(kSubTables, end - i);
        for (std::size_t k = 0; k < together; ++k) scale_column(partner(i + k), row, n, stride(), base_, indices_[k]);
        double* const first = work.data();
        if (together == kSubTables)
          add_four(weights, n, first + start[i - begin], first + start[i + 1 - begin], first + start[i + 2 - begin],
                   first + start[i + 3 - begin]);
        else
          for (std::size_t k = 0; k < together; ++k)
            for (std::size_t r = 0; r < n; ++r) first[start[i + k - begin] + indices_[k][r]] += weights[r];
      }
    }
    for (std::size_t i = begin; i < end; ++i)
      exchange(i, work.data() + start[i - begin], [](double& cell, double& held) { cell = held; });
  }

  void add_four(const double* weights, std::size_t n, double* a, double* b, double* c, double* d) const {
    for (std::size_t r = 0; r < n; ++r) {
      a[indices_[0][r]] += weights[r];
      b[indices_[1][r]] += weights[r];
      c[indices_[2][r]] += weights[r];
      d[indices_[3][r]] += weights[r];
    }
  }

  /// Calls move(cell of the table, cell of the work table [v][u][class]) for all but the slots of missing cells.
  template <class T, class Move>
  void exchange(std::size_t i, T* work, Move move) const {
    const std::size_t n_classes = data_.n_classes();
    const std::size_t n_v = partner(i).n_values();
    const std::size_t n_u = task_.u ? data_.feature(*task_.u).n_values() : 1;
    for (std::size_t v = 0; v < n_v; ++v)
      for (std::size_t u = 0; u < n_u; ++u) {
        T* held = work + (v * u_slots_ + u) * n_classes;
        double* cells = tables_[i].data() + (u * n_v + v) * n_classes;
        for (std::size_t c = 0; c < n_classes; ++c) move(cells[c], held[c]);
      }
  }

  const Dataset& data_;
  const HistogramTask& task_;
  std::span<const std::span<double>> tables_;
  std::size_t u_slots_;
  Indices base_;
  std::array<Indices, kSubTables> indices_;
};

}  // namespace

bool fits_histogram(const Dataset& data, std::optional<std::size_t> u, std::size_t v) {
  const std::size_t u_cells = (u ? slots(data.feature(*u)) : 1) * data.n_classes();
  return u_cells <= kIndices && slots(data.feature(v)) * u_cells <= kIndices;
}

void count_by_histogram(const Dataset& data, const HistogramTask& task, std::span<const std::span<double>> tables) {
  if (data.n_rows() > 0 && data.n_classes() > 0) Histogram(data, task, tables).run();
}

}  // namespace tanager::internal

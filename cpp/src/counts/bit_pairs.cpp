// Every feature has one bit row per value, but for the last value if none is missing; rows are in class order. For a
// pair and a class, the common ones of row i and row j are the count of (i, j); what belongs to the last values follows
// from the counts of single features by subtraction, after the last block.
#include "counts/bit_pairs.hpp"

#include <algorithm>
#include <memory>

#include "counts/match.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kTileBytes = std::size_t{12} << 10;  // two tiles fit a first-level cache of 32 KiB
constexpr std::size_t kFreeBytes = std::size_t{1} << 19;   // bit sets that nobody minds, however small the data
constexpr std::size_t kMinBlockRows = 4096;
constexpr std::size_t kLineWords = 8;

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

std::size_t table_bytes(const Dataset& data) {
  std::size_t bytes = 0;
  for (const Column& column : data.features()) bytes += column.size() * (column.is_wide() ? 2 : 1);
  return bytes;
}

/// Fills in the cells of the last values, if they were left out: everything observed minus all others.
void derive_last_values(std::span<double> pair, std::span<const double> single_u, std::span<const double> single_v,
                        bool u_complete, bool v_complete, std::size_t n_classes) {
  const std::size_t n_u = single_u.size() / n_classes;
  const std::size_t n_v = single_v.size() / n_classes;
  if (n_u == 0 || n_v == 0) return;
  const std::size_t known_u = u_complete ? n_u - 1 : n_u;
  if (v_complete)
    for (std::size_t u = 0; u < known_u; ++u) {
      double* row = pair.data() + u * n_v * n_classes;
      double* last = row + (n_v - 1) * n_classes;
      for (std::size_t c = 0; c < n_classes; ++c) last[c] = single_u[u * n_classes + c];
      for (std::size_t i = 0; i < (n_v - 1) * n_classes; i += n_classes)
        for (std::size_t c = 0; c < n_classes; ++c) last[c] -= row[i + c];
    }
  if (u_complete) {
    double* last = pair.data() + known_u * n_v * n_classes;
    std::copy(single_v.begin(), single_v.end(), last);
    for (std::size_t u = 0; u < known_u; ++u)
      for (std::size_t i = 0; i < n_v * n_classes; ++i) last[i] -= pair[u * n_v * n_classes + i];
  }
}

}  // namespace

BitPairs::BitPairs(const Dataset& data, const std::vector<std::size_t>& features, std::size_t max_product,
                   CountSet& counts, const CountOptions& options, std::size_t n_workers)
    : data_(data),
      counts_(counts),
      max_product_(max_product),
      isa_(options.isa),
      common_ones_(common_ones_kernel(options.isa)),
      scratch_(n_workers),
      common_(n_workers) {
  bool any_pext = false;
  bool any_gather = false;
  for (const std::size_t f : features) {
    Feature feature{f, bit_rows_of(data.feature(f)), 0, false};
    feature.by_pext = builds_by_pext(feature.n_rows, data.n_classes(), isa_, options.fast_pext);
    if (feature.n_rows > 0) (feature.by_pext ? any_pext : any_gather) = true;
    features_.push_back(feature);
  }
  std::ranges::stable_sort(features_, {}, &Feature::n_rows);
  for (Feature& feature : features_) {
    feature.first_row = n_bit_rows_;
    n_bit_rows_ += feature.n_rows;
  }
  choose_block_rows(options.block_rows);
  orders_.assign(2, ClassOrder(data.n_classes(), gram_granule(isa_), any_gather, any_pext));
  bits_ = std::make_unique<WordBuffer>(n_bit_rows_ * stride_);
  make_tiles();
}

void BitPairs::choose_block_rows(std::size_t requested) {
  const std::size_t n = data_.n_rows();
  std::size_t rows = requested;
  if (rows == 0) {
    const std::size_t budget = std::max(kFreeBytes, table_bytes(data_) / 5);
    rows = std::max(kMinBlockRows, budget * 8 / std::max<std::size_t>(n_bit_rows_, 1));
  }
  rows = std::min(rows, kMaxOrderedRows);
  // Blocks of equal size, rather than a short one in the end.
  n_blocks_ = (n + rows - 1) / rows;
  block_rows_ = n_blocks_ == 0 ? 0 : round_up((n + n_blocks_ - 1) / n_blocks_, kWordBits);
  if (block_rows_ > 0) n_blocks_ = (n + block_rows_ - 1) / block_rows_;
  const std::size_t words = block_rows_ / kWordBits + gram_granule(isa_) * data_.n_classes();
  // An odd number of cache lines, so that rows do not compete for the same places in the cache.
  stride_ = (round_up(words, kLineWords) / kLineWords | 1) * kLineWords;
}

void BitPairs::make_tiles() {
  const std::size_t row_bytes = stride_ * sizeof(std::uint64_t);
  for (std::size_t begin = 0; begin < features_.size();) {
    std::size_t bytes = 0;
    std::size_t end = begin;
    for (; end < features_.size(); ++end) {
      bytes += features_[end].n_rows * row_bytes;
      if (end > begin && bytes > kTileBytes) break;
    }
    tiles_.push_back({begin, end});
    begin = end;
  }
  // Features are in the order of their rows: if the smallest two of two tiles are too much together, all are.
  for (std::size_t i = 0; i < tiles_.size(); ++i)
    for (std::size_t j = i; j < tiles_.size(); ++j)
      if (features_[tiles_[i].begin].n_rows * features_[tiles_[j].begin].n_rows <= max_product_)
        tile_pairs_.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
}

void BitPairs::prepare(std::size_t block) {
  const std::size_t begin = block * block_rows_;
  order(block).assign(data_.target(), begin, std::min(block_rows_, data_.n_rows() - begin), isa_);
}

void BitPairs::append_phases(std::vector<Phase>& phases) {
  if (n_blocks_ == 0) return;
  phases.push_back({1, [this](std::size_t, std::size_t) { prepare(0); }});
  for (std::size_t block = 0; block < n_blocks_; ++block) {
    phases.push_back({features_.size(), [this, block](std::size_t item, std::size_t worker) {
                        // The largest first, so that no thread is left with one of them in the end.
                        build(block, features_[features_.size() - 1 - item], worker);
                      }});
    phases.push_back({tile_pairs_.size() + 1, [this, block](std::size_t item, std::size_t worker) {
                        if (item > 0)
                          count_tiles(block, tile_pairs_.size() - item, worker);
                        else if (!is_last(block))
                          prepare(block + 1);
                      }});
  }
}

void BitPairs::build(std::size_t block, const Feature& feature, std::size_t worker) {
  const Column& column = data_.feature(feature.index);
  const ClassOrder& order = this->order(block);
  std::uint64_t* rows = bits_->data() + feature.first_row * stride_;
  build_bit_rows(column, order, feature.by_pext, rows, stride_, scratch_[worker], isa_);

  const std::size_t n_classes = data_.n_classes();
  const std::span<double> single = counts_.single(feature.index);
  for (std::size_t v = 0; v < feature.n_rows; ++v)
    for (std::size_t c = 0; c < n_classes; ++c) {
      const std::uint64_t* row = rows + v * stride_ + order.word_begin(c);
      std::uint32_t ones = 0;
      common_ones_(row, 1, row, 1, stride_, order.word_begin(c + 1) - order.word_begin(c), &ones);
      single[v * n_classes + c] += ones;
    }
  if (!is_last(block) || feature.n_rows == column.n_values()) return;
  for (std::size_t c = 0; c < n_classes; ++c) {
    double rest = counts_.class_counts()[c];
    for (std::size_t v = 0; v < feature.n_rows; ++v) rest -= single[v * n_classes + c];
    single[feature.n_rows * n_classes + c] = rest;
  }
}

void BitPairs::count_tiles(std::size_t block, std::size_t item, std::size_t worker) {
  const auto [first, second] = tile_pairs_[item];
  for (std::size_t i = tiles_[first].begin; i < tiles_[first].end; ++i)
    for (std::size_t j = std::max(i + 1, tiles_[second].begin); j < tiles_[second].end; ++j) {
      if (features_[i].n_rows * features_[j].n_rows > max_product_) break;
      const bool in_order = features_[i].index < features_[j].index;
      count_pair(block, features_[in_order ? i : j], features_[in_order ? j : i], common_[worker]);
    }
}

void BitPairs::count_pair(std::size_t block, const Feature& a, const Feature& b, std::vector<std::uint32_t>& common) {
  const ClassOrder& order = this->order(block);
  const std::size_t n_classes = data_.n_classes();
  const std::size_t n_b = data_.feature(b.index).n_values();
  const std::span<double> cells = counts_.pair(a.index, b.index);
  if (a.n_rows > 0 && b.n_rows > 0) {
    common.resize(a.n_rows * b.n_rows);
    for (std::size_t c = 0; c < n_classes; ++c) {
      const std::size_t begin = order.word_begin(c);
      const std::size_t words = order.word_begin(c + 1) - begin;
      if (words == 0) continue;
      common_ones_(rows_of(a) + begin, a.n_rows, rows_of(b) + begin, b.n_rows, stride_, words, common.data());
      const std::uint32_t* next = common.data();
      for (std::size_t i = 0; i < a.n_rows; ++i)
        for (std::size_t j = 0; j < b.n_rows; ++j) cells[(i * n_b + j) * n_classes + c] += *next++;
    }
  }
  if (is_last(block))
    derive_last_values(cells, counts_.single(a.index), counts_.single(b.index),
                       a.n_rows < data_.feature(a.index).n_values(), b.n_rows < n_b, n_classes);
}

}  // namespace tanager::internal

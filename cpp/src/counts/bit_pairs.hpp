// Counting all pairs of features of few values: bit sets block by block, then the common ones of every two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "counts/bit_sets.hpp"
#include "counts/common_ones.hpp"
#include "counts/options.hpp"
#include "support/parallel.hpp"

namespace tanager::internal {

/// Counts the singles of some features and those of their pairs whose product of bit rows is small enough, into a count
/// set whose class counts are known. Every table has one owner at a time and receives whole numbers, so the result is
/// the same for any number of threads.
class BitPairs {
 public:
  /// features: of at most 254 values each, in any order; pairs are counted if (bit rows of u) * (of v) <= max_product.
  BitPairs(const Dataset& data, const std::vector<std::size_t>& features, std::size_t max_product, CountSet& counts,
           const CountOptions& options, std::size_t n_workers);

  /// Two phases per block. They refer to this object.
  void append_phases(std::vector<Phase>& phases);

 private:
  struct Feature {
    std::size_t index = 0;   // in the data set
    std::size_t n_rows = 0;  // bit rows
    std::size_t first_row = 0;
    bool by_pext = false;
  };
  /// Consecutive features whose bit rows stay in half of the first-level cache.
  struct Tile {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void choose_block_rows(std::size_t requested);
  void make_tiles();
  const std::uint64_t* rows_of(const Feature& feature) const { return bits_->data() + feature.first_row * stride_; }
  void build(std::size_t block, const Feature& feature, std::size_t worker);
  void count_tiles(std::size_t block, std::size_t item, std::size_t worker);
  void count_pair(std::size_t block, const Feature& a, const Feature& b, std::vector<std::uint32_t>& common);
  void prepare(std::size_t block);
  ClassOrder& order(std::size_t block) { return orders_[block % 2]; }
  bool is_last(std::size_t block) const { return block + 1 == n_blocks_; }

  const Dataset& data_;
  CountSet& counts_;
  std::size_t max_product_;
  Isa isa_;
  CountCommonOnes common_ones_;
  std::vector<Feature> features_;  // in the order of their number of bit rows
  std::vector<Tile> tiles_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> tile_pairs_;
  std::size_t n_bit_rows_ = 0;
  std::size_t block_rows_ = 0;
  std::size_t n_blocks_ = 0;
  std::size_t stride_ = 0;
  std::unique_ptr<WordBuffer> bits_;
  std::vector<ClassOrder> orders_;  // of this block and, prepared meanwhile, of the next
  std::vector<BuildScratch> scratch_;
  std::vector<std::vector<std::uint32_t>> common_;
};

}  // namespace tanager::internal

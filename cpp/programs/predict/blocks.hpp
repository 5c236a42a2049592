// Splits a table into blocks of complete records.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "files.hpp"

namespace tanager::predict {

/// Complete records of the table, with padding for readers that load whole words.
struct Block {
  std::vector<char> buffer;
  std::span<char> text;  // within the buffer
  bool is_cut = false;   // whether the last record is too long and incomplete
};

class BlockReader {
 public:
  /// Blocks have at least `block_size` bytes, except the last.
  BlockReader(Input& input, char delimiter, std::size_t block_size)
      : input_(input), delimiter_(delimiter), block_size_(block_size) {}

  /// Fills a block with complete records, terminated by a line end even if the table is not; false if none are left.
  /// Skips a byte order mark before the first record. Reads nothing after a record that is too long.
  bool fill(Block& block);

 private:
  void finish(Block& block, std::size_t begin, std::size_t end);

  Input& input_;
  const char delimiter_;
  const std::size_t block_size_;
  std::vector<char> rest_;  // what follows the last complete record
  bool is_first_ = true;
  bool is_over_ = false;
};

}  // namespace tanager::predict

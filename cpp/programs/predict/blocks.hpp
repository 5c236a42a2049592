// A table cut into blocks of whole records.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "files.hpp"

namespace tanager::predict {

/// Whole records of the table, with room after them for readers of whole words.
struct Block {
  std::vector<char> buffer;
  std::span<char> text;  // within the buffer
  bool is_cut = false;   // whether the last record is too long to be one and lacks its end
};

class BlockReader {
 public:
  /// Blocks are of at least `block_size` bytes, while there are so many.
  BlockReader(Input& input, char delimiter, std::size_t block_size)
      : input_(input), delimiter_(delimiter), block_size_(block_size) {}

  /// Fills a block with whole records, ended by a line end even if the table is not; false if none are left. A mark of
  /// the byte order before the first record is left out. Nothing is read after a record that is too long.
  bool fill(Block& block);

 private:
  void finish(Block& block, std::size_t begin, std::size_t end);

  Input& input_;
  const char delimiter_;
  const std::size_t block_size_;
  std::vector<char> rest_;  // what came after the last whole record
  bool is_first_ = true;
  bool is_over_ = false;
};

}  // namespace tanager::predict

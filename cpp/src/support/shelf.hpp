// Memory for things that come one by one and are freed all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

namespace tanager {

/// Hands out memory in the order in which it is asked for, neighbors beside each other. What is given back stays unused
/// until the shelf itself ends; destructors of what lies there need not run if all they own lies there, too.
class Shelf final : public std::pmr::memory_resource {
 public:
  /// How much more memory the shelf takes to have room for `bytes` in a row; none if it has it.
  std::size_t more_for(std::size_t bytes) const { return bytes <= room_ ? 0 : std::max(bytes, next_chunk_); }

  void make_room(std::size_t bytes) {
    const std::size_t size = more_for(bytes);
    if (size == 0) return;
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    free_ = chunks_.back().get();
    room_ = size;
    next_chunk_ = std::min(2 * next_chunk_, kLargestChunk);
  }

 private:
  static constexpr std::size_t kFirstChunk = std::size_t{1} << 10, kLargestChunk = std::size_t{16} << 10;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* place = free_;
    if (std::align(alignment, bytes, place, room_) == nullptr) {
      make_room(bytes + alignment);
      place = free_;
      std::align(alignment, bytes, place, room_);
    }
    free_ = static_cast<std::byte*>(place) + bytes;
    room_ -= bytes;
    return place;
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* free_ = nullptr;
  std::size_t room_ = 0;
  std::size_t next_chunk_ = kFirstChunk;
};

}  // namespace tanager

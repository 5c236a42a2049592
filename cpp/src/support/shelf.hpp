// Memory for things that come one by one and are freed all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

namespace tanager::internal {

/// Hands out memory in the order in which it is asked for, neighbors beside each other. What is given back stays unused
/// until the shelf itself ends; destructors of what lies there need not run if all they own lies there, too.
class Shelf final : public std::pmr::memory_resource {
 public:
  /// How much more memory the shelf takes to have room for `bytes` in a row; none if it has it.
  std::size_t more_for(std::size_t bytes) const {
    if (bytes <= std::max(now_.room, spare_.room)) return 0;
    return is_large(bytes) ? bytes : std::max(bytes, next_chunk_);
  }

  void make_room(std::size_t bytes) {
    if (bytes <= now_.room) return;
    // What is left of the larger one stays for small things.
    if (now_.room > spare_.room) std::swap(now_, spare_);
    if (bytes <= spare_.room) {
      std::swap(now_, spare_);
      return;
    }
    const std::size_t size = more_for(bytes);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    now_ = {chunks_.back().get(), size};
    if (!is_large(bytes)) next_chunk_ = std::min(2 * next_chunk_, kLargestChunk);
  }

 private:
  static constexpr std::size_t kFirstChunk = std::size_t{1} << 10, kLargestChunk = std::size_t{16} << 10;

  struct Room {
    std::byte* free = nullptr;
    std::size_t room = 0;
  };

  /// Has a chunk to itself, in which nothing would be left unused.
  static bool is_large(std::size_t bytes) { return bytes > kLargestChunk / 4; }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* place = now_.free;
    if (std::align(alignment, bytes, place, now_.room) == nullptr) {
      make_room(bytes + alignment);
      place = now_.free;
      std::align(alignment, bytes, place, now_.room);
    }
    now_.free = static_cast<std::byte*>(place) + bytes;
    now_.room -= bytes;
    return place;
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  Room now_, spare_;
  std::size_t next_chunk_ = kFirstChunk;
};

}  // namespace tanager::internal

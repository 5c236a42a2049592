// What many threads may need and only one should make.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

namespace tanager::internal {

/// A value that the first who asks for it makes, while others wait. If making it throws, the next who asks tries again.
/// (std::call_once promises the same, but some C libraries hang or abort at the second try.)
template <class T>
class Lazy {
 public:
  template <class Make>
  const T& get(Make make) const {
    if (!is_made_.load(std::memory_order_acquire)) {
      const std::lock_guard hold(lock_);
      if (!value_) value_.emplace(make());
      is_made_.store(true, std::memory_order_release);
    }
    return *value_;
  }

 private:
  mutable std::mutex lock_;
  mutable std::atomic<bool> is_made_ = false;
  mutable std::optional<T> value_;
};

}  // namespace tanager::internal

// A value that several threads use, one at a time.
#pragma once

#include <mutex>

namespace tanager::internal {

template <class T>
class Synchronized {
 public:
  /// Calls use(value) while nobody else does, and returns what it returns.
  template <class Use>
  auto with(Use use) {
    const std::scoped_lock hold(lock_);
    return use(value_);
  }

 private:
  std::mutex lock_;
  T value_;
};

}  // namespace tanager::internal

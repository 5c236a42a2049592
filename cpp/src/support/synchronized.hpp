// A value that several threads use, one at a time.
#pragma once

#include <mutex>

#include "support/pause.hpp"

namespace tanager::internal {

template <class T>
class Synchronized {
 public:
  /// Calls use(value) while nobody else does, and returns what it returns.
  template <class Use>
  auto with(Use use) {
    const std::unique_lock hold = take();
    return use(value_);
  }

 private:
  /// Values are used for moments only, and a thread that sleeps takes far longer to wake up.
  std::unique_lock<std::mutex> take() {
    std::unique_lock hold(lock_, std::try_to_lock);
    for (int looks = 0; !hold && looks < kLooks; ++looks) {
      pause_briefly();
      (void)hold.try_lock();
    }
    if (!hold) hold.lock();
    return hold;
  }

  static constexpr int kLooks = 128;
  std::mutex lock_;
  T value_;
};

}  // namespace tanager::internal

// Waiting for another thread: at first without sleeping, since what is waited for mostly comes soon.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "support/pause.hpp"

namespace tanager::internal {

/// Waits until the value is no longer `old`. To sleep and wake up takes about as long as a patient thread looks on
/// before it sleeps, so that waiting costs at most twice what it would if the future were known. Where threads
/// outnumber cores, looking on would only keep others from work.
inline void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old, bool patient) {
  constexpr std::chrono::microseconds kPatience{60};
  constexpr int kLooksPerTime = 16;
  if (patient) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    do {
      for (int i = 0; i < kLooksPerTime; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        pause_briefly();
      }
    } while (std::chrono::steady_clock::now() < end);
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace tanager::internal

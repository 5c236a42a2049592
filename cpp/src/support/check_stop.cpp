#include "support/check_stop.hpp"

#include <utility>

namespace tanager {

using namespace internal;

namespace {

constexpr std::chrono::milliseconds kBetweenChecks{50};

}  // namespace

StopCheck::StopCheck(std::function<void()> check)
    : check_(std::move(check)),
      next_(std::chrono::steady_clock::now() + kBetweenChecks),
      before_(std::exchange(this_threads_check, check_ ? this : nullptr)) {}

StopCheck::~StopCheck() {
  this_threads_check = before_;
}

void StopCheck::look() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kBetweenChecks;
  check_();
}

}  // namespace tanager

#pragma once

#include <chrono>
#include <functional>

#include "tanager/errors.hpp"

namespace tanager {

/// Work ended early, because whoever was asked whether to go on said no.
class Stopped : public Error {
 public:
  using Error::Error;
};

/// While it lives, long calls of this library on this thread call `check` about twenty times a second, on this thread
/// only, however many threads they use. What `check` throws ends the call and reaches its caller, such as a Ctrl-C.
/// Objects that the call was given keep their state. An object within the life of another one replaces it meanwhile;
/// one with an empty function has nothing called.
class StopCheck {
 public:
  explicit StopCheck(std::function<void()> check);
  ~StopCheck();
  StopCheck(const StopCheck&) = delete;
  StopCheck& operator=(const StopCheck&) = delete;

  /// Calls `check` if it is time to.
  void look();

 private:
  std::function<void()> check_;
  std::chrono::steady_clock::time_point next_;
  StopCheck* before_;
};

}  // namespace tanager

// Threads that stay for a moment when their work is done: the next work mostly comes soon, and to start a thread takes
// longer than many a call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tanager::internal {

/// A piece of work on another thread: one that has just done something else, or a new one. A thread for which nothing
/// comes within some milliseconds ends.
class LentThread {
 public:
  /// The work must not throw. Throws std::system_error or std::bad_alloc if the system gives no thread.
  explicit LentThread(std::function<void()> work);
  LentThread(LentThread&&) noexcept = default;
  LentThread& operator=(LentThread&&) noexcept = default;

  /// Returns when the work is done; if it has not begun yet, or this is a fork of the process where it was given, it
  /// never will. Must be called before what the work refers to ends.
  void wait(bool patient) const;

  /// How many forks lie between this process and the one that loaded the library. Threads do not come along: what
  /// another one was to do before a fork is never done after it.
  static std::uint32_t forks();

  struct Worker;

 private:
  std::shared_ptr<Worker> worker_;
  std::uint32_t number_;  // of this work among all that its thread has done
  std::uint32_t forks_;   // when it was given
};

}  // namespace tanager::internal

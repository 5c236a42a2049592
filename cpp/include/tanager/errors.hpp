#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tanager {

/// Base of everything tanager throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's data or settings cannot be used; the message says what was expected and what came.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

/// Exact inference would have to hold too many features together; the message names them by their indices.
class CliqueTooLarge : public InvalidInput {
 public:
  CliqueTooLarge(const std::string& message, std::vector<std::size_t> features)
      : InvalidInput(message), features_(std::move(features)) {}
  const std::vector<std::size_t>& features() const { return features_; }

 private:
  std::vector<std::size_t> features_;
};

/// A model file is broken, truncated, of an unknown version, or cannot be read or written.
class ModelFileError : public Error {
 public:
  using Error::Error;
};

/// The caller ended a call early: see StopCheck.
class Stopped : public Error {
 public:
  using Error::Error;
};

/// Ends long calls early, by one rule for the whole library. While a StopCheck lives, long calls on its thread call
/// `check` about twenty times a second. To end the call, `check` throws, Stopped or anything else, and the exception
/// reaches the caller:
///
///     const StopCheck check([&] { if (is_cancelled) throw Stopped("cancelled"); });
///
/// Functions whose result has a `stop` field take a KeepGoing besides; they return what they have, marked as
/// interrupted, instead of throwing Stopped. Both functions are called by the calling thread only, however many threads
/// work for it. The objects that a call was given keep their state.
///
/// A StopCheck within the life of another one on the same thread replaces it meanwhile; one with an empty function has
/// nothing called. Not safe to share between threads.
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

/// Is given the progress of a long-running learner; false ends it, and the learner returns what it has. Called after
/// every step and about twenty times a second, by the calling thread only. May be empty. What it throws reaches the
/// caller.
template <class Progress>
using KeepGoing = std::function<bool(const Progress&)>;

}  // namespace tanager

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

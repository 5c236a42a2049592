#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Exceptions are thrown by one library and caught in another, which hidden type information would prevent.
#if defined(__GNUC__)
#define TANAGER_EXCEPTION __attribute__((visibility("default")))
#else
#define TANAGER_EXCEPTION
#endif

namespace tanager {

/// Base of all exceptions that tanager throws itself.
class TANAGER_EXCEPTION Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's data or settings are invalid; the message states what was expected and what was given.
class TANAGER_EXCEPTION InvalidInput : public Error {
 public:
  using Error::Error;
};

/// Exact inference would need a clique of too many features; the message names them by their indices.
class TANAGER_EXCEPTION CliqueTooLarge : public InvalidInput {
 public:
  CliqueTooLarge(const std::string& message, std::vector<std::size_t> features)
      : InvalidInput(message), features_(std::move(features)) {}
  [[nodiscard]] const std::vector<std::size_t>& features() const { return features_; }

 private:
  std::vector<std::size_t> features_;
};

/// The reason why a model file cannot be read or written.
enum class ModelFileProblem {
  kNotFound,      ///< there is no such file, or, for saving, no such folder
  kNoPermission,  ///< the operating system denies access
  kNotAModel,     ///< it is something else: another kind of file, an empty file, a folder, a device
  kTooNew,        ///< a later version of tanager wrote it
  kDamaged,       ///< it is truncated, was changed, or its content is inconsistent
  kNoMemory,      ///< there is not enough memory for it
  kOther          ///< any other error of the operating system, such as a full disk
};

/// A model file cannot be read or written; the message is the reason for people, `problem` for programs.
class TANAGER_EXCEPTION ModelFileError : public Error {
 public:
  ModelFileError(ModelFileProblem problem, const std::string& message) : Error(message), problem_(problem) {}
  [[nodiscard]] ModelFileProblem problem() const { return problem_; }

 private:
  ModelFileProblem problem_;
};

/// The caller ended a call early: see StopCheck.
class TANAGER_EXCEPTION Stopped : public Error {
 public:
  using Error::Error;
};

/// Ends long calls early, by one rule for the whole library. During the lifetime of a StopCheck, long calls on its
/// thread call `check` about twenty times a second. To end the call, `check` throws, Stopped or anything else, and the
/// exception reaches the caller:
///
///     const StopCheck check([&] { if (is_cancelled) throw Stopped("cancelled"); });
///
/// Functions whose result has a `stop` field also take a KeepGoing; they return what they have, marked as
/// interrupted, instead of throwing Stopped. Both functions are called by the calling thread only, however many threads
/// work for it. The arguments of a call keep their state.
///
/// A StopCheck created during the lifetime of another one on the same thread replaces it until it is destroyed; with an
/// empty function nothing is called. Not safe to share between threads.
class StopCheck {
 public:
  explicit StopCheck(std::function<void()> check);
  ~StopCheck();
  StopCheck(const StopCheck&) = delete;
  StopCheck& operator=(const StopCheck&) = delete;

  /// Calls `check` unless less than a twentieth of a second has passed since the last time.
  void look();

 private:
  std::function<void()> check_;
  std::chrono::steady_clock::time_point next_;
  StopCheck* before_;
};

/// Gets the progress of a long-running learner; false stops it, and the learner returns what it has. Called after
/// every step and about twenty times a second, by the calling thread only. May be empty. Exceptions that it throws
/// reach the caller.
template <class Progress>
using KeepGoing = std::function<bool(const Progress&)>;

}  // namespace tanager

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

/// Base of everything tanager throws on purpose.
class TANAGER_EXCEPTION Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's data or settings cannot be used; the message says what was expected and what came.
class TANAGER_EXCEPTION InvalidInput : public Error {
 public:
  using Error::Error;
};

/// Exact inference would have to hold too many features together; the message names them by their indices.
class TANAGER_EXCEPTION CliqueTooLarge : public InvalidInput {
 public:
  CliqueTooLarge(const std::string& message, std::vector<std::size_t> features)
      : InvalidInput(message), features_(std::move(features)) {}
  [[nodiscard]] const std::vector<std::size_t>& features() const { return features_; }

 private:
  std::vector<std::size_t> features_;
};

/// What is wrong with a model file.
enum class ModelFileProblem {
  kNotFound,      ///< there is no such file, or, for saving, no such folder
  kNoPermission,  ///< the operating system denies access
  kNotAModel,     ///< it is something else: another kind of file, an empty file, a folder, a device
  kTooNew,        ///< a later version of tanager wrote it
  kDamaged,       ///< it is truncated, was changed, or its content is inconsistent
  kNoMemory,      ///< there is not enough memory for it
  kOther          ///< all else that the operating system reports, such as a full disk
};

/// A model file cannot be read or written; the message says why in a sentence, `problem` for programs.
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

// Reports the progress of an iterative learner to its caller, who may end it.
#pragma once

#include <optional>

#include "support/check_stop.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_rows.hpp"

namespace tanager::internal {

/// Calls keep_going, unless it is empty, with every report, and meanwhile by the rules of StopCheck with the last one.
/// Throws Stopped if it returns false. Belongs to the thread that made it.
class FitMonitor {
 public:
  FitMonitor(const KeepGoing<FitProgress>& keep_going, FitProgress first)
      : keep_going_(keep_going), progress_(first), outer_(this_threads_check) {
    if (!keep_going_) return;
    check_.emplace([this] {
      ask();
      if (outer_ != nullptr) outer_->look();
    });
  }

  void report(const FitProgress& progress) {
    progress_ = progress;
    ask();
  }

 private:
  void ask() const {
    if (keep_going_ && !keep_going_(progress_)) throw Stopped("keep_going ended the learner");
  }

  const KeepGoing<FitProgress>& keep_going_;
  FitProgress progress_;
  StopCheck* outer_;
  std::optional<StopCheck> check_;
};

}  // namespace tanager::internal

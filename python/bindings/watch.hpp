// Between a core call that lasts and Python: signals in, progress out.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "arrays.hpp"

namespace tanager::python {

/// Asks for signals and calls `report`, unless it is None; says whether to go on. What is raised there is kept and
/// stops the work. With `stop_quietly` Ctrl-C stops it as well, but is no failure: the call returns what it has.
///
/// Any thread may ask, but only the one that made the watch looks: signals reach no other thread that works for it, nor
/// does any of them have to wait for the lock of the interpreter. The others learn what it found.
class Watch {
 public:
  explicit Watch(py::object report, bool stop_quietly = false)
      : report_(std::move(report)), stop_quietly_(stop_quietly) {}

  template <class... Progress>
  bool operator()(const Progress&... progress) {
    if (std::this_thread::get_id() == caller_ && !stops_) {
      const AcquireGil acquire;
      try {
        raise_signals();
        if (!report_.is_none()) call(report_, py::make_tuple(progress...));
      } catch (py::error_already_set& error) {
        if (!stop_quietly_ || !error.matches(PyExc_KeyboardInterrupt)) failure_ = std::current_exception();
        stops_ = true;
      }
    }
    return !stops_;
  }
  /// To be called when the work has ended.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::thread::id caller_ = std::this_thread::get_id();
  py::object report_;
  bool stop_quietly_;
  std::exception_ptr failure_;  // the caller's alone
  std::atomic<bool> stops_{false};
};

}  // namespace tanager::python

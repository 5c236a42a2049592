// Between a long call of the core and Python: signals in, progress out.
#pragma once

#include <exception>
#include <utility>

#include "arrays.hpp"

namespace tanager::python {

/// A KeepGoing function: checks for signals and calls `report`, unless it is None. An exception that either raises is
/// kept and stops the work. With `stop_quietly` Ctrl-C stops it without an exception: the call returns what it has.
class Watch {
 public:
  explicit Watch(py::object report, bool stop_quietly = false)
      : report_(std::move(report)), stop_quietly_(stop_quietly) {}

  template <class... Progress>
  bool operator()(const Progress&... progress) {
    if (!stops_) {
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
  /// Raises the exception that was kept, if any; to be called when the work has ended.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  py::object report_;
  bool stop_quietly_;
  std::exception_ptr failure_;
  bool stops_ = false;
};

}  // namespace tanager::python

// Between a core call that lasts and Python: signals in, progress out.
#pragma once

#include <exception>
#include <utility>

#include "arrays.hpp"

namespace tanager::python {

/// Asks for signals and calls `report`, unless it is None; says whether to go on. What is raised there is kept and
/// stops the work. With `stop_quietly` Ctrl-C stops it as well, but is no failure: the call returns what it has.
class Watch {
 public:
  explicit Watch(py::object report, bool stop_quietly = false)
      : report_(std::move(report)), stop_quietly_(stop_quietly) {}

  template <class... Progress>
  bool operator()(const Progress&... progress) {
    const py::gil_scoped_acquire acquire;
    if (failure_) return false;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (!report_.is_none()) report_(progress...);
      return true;
    } catch (py::error_already_set& error) {
      if (!stop_quietly_ || !error.matches(PyExc_KeyboardInterrupt)) failure_ = std::current_exception();
      return false;
    }
  }
  /// To be called when the work has ended.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  py::object report_;
  bool stop_quietly_;
  std::exception_ptr failure_;
};

}  // namespace tanager::python

// The lock of the interpreter (GIL), released and acquired safely also while the interpreter ends. The bindings
// use these instead of py::gil_scoped_release and py::gil_scoped_acquire.
//
// A daemon thread that wants the lock while the interpreter ends never gets it. Python 3.14 has it wait forever; older
// ones end it by pthread_exit, which unwinds its stack as an exception does. Through C++ code with destructors, worker
// threads that refer to that stack, or catch (...), this ends in std::terminate. So such a thread waits here, as in
// Python 3.14, until the process is gone.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tanager/errors.hpp"

namespace tanager::python {

/// Never returns.
[[noreturn]] inline void wait_for_the_end() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// Set on the thread that ends the interpreter, if it calls the bindings meanwhile: it can still acquire the lock.
inline thread_local bool ends_interpreter = false;

inline bool interpreter_ends() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// Waits forever if the interpreter has ended, or ends and will not give this thread the lock any more.
inline void wait_if_too_late() {
  if (Py_IsInitialized() == 0) wait_for_the_end();
  if (interpreter_ends() && !ends_interpreter && PyGILState_Check() == 0) wait_for_the_end();
}

/// Calls a function of Python that may end this thread, such as any that takes the lock or runs Python code. It must
/// not throw, and nothing in it may need a destructor.
template <class Call>
auto unless_ended(const Call& call) noexcept {
  try {
    return call();
  } catch (...) {  // only the unwinding of pthread_exit, which must not go on
    wait_for_the_end();
  }
}

/// Calls a Python function; the lock must be held.
inline pybind11::object call(pybind11::handle function, const pybind11::tuple& arguments) {
  PyObject* result = unless_ended([&] { return PyObject_CallObject(function.ptr(), arguments.ptr()); });
  if (result == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(result);
}

/// A Python function that is also called now and then during long calls; null if there is none.
inline std::atomic<PyObject*> asked_besides{nullptr};

/// Raises pending exceptions, such as that of Ctrl-C; the lock must be held.
inline void raise_signals() {
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  if (PyObject* function = asked_besides.load()) call(function, pybind11::make_tuple());
}

/// Releases the lock during its lifetime, in which long calls check for signals.
class ReleaseGil {
 public:
  ReleaseGil() : check_(&look) {
    if (interpreter_ends()) ends_interpreter = true;  // no other thread has the lock then
    state_ = PyEval_SaveThread();
  }
  ~ReleaseGil() {
    wait_if_too_late();
    unless_ended([this] { PyEval_RestoreThread(state_); });
  }
  /// For long loops of the bindings themselves.
  void check_signals() { check_.look(); }

  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  static void look();

  StopCheck check_;
  PyThreadState* state_;
};

/// Holds the lock during its lifetime, on any thread.
class AcquireGil {
 public:
  AcquireGil() {
    wait_if_too_late();
    state_ = unless_ended([] { return PyGILState_Ensure(); });
  }
  ~AcquireGil() { PyGILState_Release(state_); }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

inline void ReleaseGil::look() {
  const AcquireGil acquire;
  raise_signals();
}

}  // namespace tanager::python

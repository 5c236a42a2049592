// The extension module tanager._core: only calls bind_*, one file per concept. Documentation lives in Python.
#include <pybind11/pybind11.h>

#include <exception>

#include "bindings.hpp"
#include "gil.hpp"
#include "tanager/errors.hpp"
#include "tanager/version.hpp"

namespace py = pybind11;

namespace {

const char* name_of(tanager::ModelFileProblem problem) {
  using enum tanager::ModelFileProblem;
  switch (problem) {
    case kNotFound:
      return "not found";
    case kNoPermission:
      return "no permission";
    case kNotAModel:
      return "not a model";
    case kTooNew:
      return "too new";
    case kDamaged:
      return "damaged";
    case kNoMemory:
      return "no memory";
    case kOther:
      break;
  }
  return "other";
}

}  // namespace

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
  m.attr("__version__") = TANAGER_VERSION;
  // Bad input is a plain ValueError, as everywhere in Python.
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const tanager::InvalidInput& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });
  // Messages hold paths, which need not be UTF-8; Python escapes other bytes, as it does in paths.
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> model_file_error;
  model_file_error.call_once_and_store_result([&]() {
    py::exception<tanager::ModelFileError> type(m, "ModelFileError", PyExc_ValueError);
    type.attr("problem") = name_of(tanager::ModelFileProblem::kOther);  // of those that Python code raises
    return type;
  });
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const tanager::ModelFileError& e) {
      const auto message = py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(e.what()));
      if (!message) return;
      const py::object& type = model_file_error.get_stored();
      const py::object raised = type(message);
      raised.attr("problem") = name_of(e.problem());
      PyErr_SetObject(type.ptr(), raised.ptr());
    }
  });

  // Called now and then during long calls on any Python thread; an exception that it raises ends them. Never released.
  m.def(
      "ask_besides", [](py::function function) { tanager::python::asked_besides = function.release().ptr(); },
      py::arg("function"));

  tanager::python::bind_data(m);
  tanager::python::bind_counts(m);
  tanager::python::bind_network(m);
  tanager::python::bind_inference(m);
  tanager::python::bind_aode(m);
  tanager::python::bind_tbmatan(m);
  tanager::python::bind_model_file(m);
  tanager::python::bind_learning(m);
  tanager::python::bind_parameters(m);
  tanager::python::bind_weights(m);
  tanager::python::bind_rows(m);
  tanager::python::bind_discretize(m);
  tanager::python::bind_encoding(m);
  tanager::python::bind_objects(m);
  tanager::python::bind_evaluation(m);
  tanager::python::bind_search(m);
  tanager::python::bind_acll(m);
  tanager::python::bind_constraint(m);
  tanager::python::bind_graph(m);
  tanager::python::bind_text(m);
}

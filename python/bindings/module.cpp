// The extension module tanager._core: only calls bind_*, one file per concept. Documentation lives in Python.
#include <pybind11/pybind11.h>

#include <exception>

#include "bindings.hpp"
#include "tanager/errors.hpp"
#include "tanager/version.hpp"

namespace py = pybind11;

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
  py::register_exception<tanager::ModelFileError>(m, "ModelFileError", PyExc_ValueError);

  tanager::python::bind_data(m);
  tanager::python::bind_counts(m);
  tanager::python::bind_network(m);
  tanager::python::bind_inference(m);
  tanager::python::bind_averaging(m);
  tanager::python::bind_tbmatan(m);
  tanager::python::bind_model(m);
  tanager::python::bind_learning(m);
  tanager::python::bind_parameters(m);
  tanager::python::bind_feature_weights(m);
  tanager::python::bind_incomplete(m);
  tanager::python::bind_discretize(m);
  tanager::python::bind_encoding(m);
  tanager::python::bind_objects(m);
  tanager::python::bind_evaluation(m);
  tanager::python::bind_search(m);
  tanager::python::bind_acll(m);
  tanager::python::bind_constraint(m);
  tanager::python::bind_tree_sums(m);
  tanager::python::bind_text(m);
}

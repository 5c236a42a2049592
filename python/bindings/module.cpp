// The extension module tanager._core: only calls bind_*, one file per concept. Documentation lives in Python.
#include <pybind11/pybind11.h>

#include "bindings.hpp"
#include "tanager/errors.hpp"
#include "tanager/version.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
  m.attr("__version__") = TANAGER_VERSION;
  py::register_exception<tanager::InvalidInput>(m, "InvalidInput", PyExc_ValueError);
  py::register_exception<tanager::ModelFileError>(m, "ModelFileError", PyExc_ValueError);

  tanager::python::bind_data(m);
  tanager::python::bind_counts(m);
  tanager::python::bind_discretize(m);
}

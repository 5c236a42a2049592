// tanager._core.Model: the content of a model file, to and from bytes and files.
#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"

namespace tanager::python {
namespace {

std::string type_name(const py::handle& object) {
  return py::str(py::type::handle_of(object).attr("__name__"));
}

/// UTF-8 of a Python string. Half a surrogate pair has none.
std::string to_text(const py::handle& text, const std::string& what) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (utf8 == nullptr) {
    PyErr_Clear();
    throw InvalidInput(what + " cannot be written as UTF-8 text");
  }
  return {utf8, static_cast<std::size_t>(size)};
}

Label to_label(const py::handle& value, const std::string& owner) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (PyLong_Check(value.ptr())) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0)
      throw InvalidInput(owner + " has the label " + std::string(py::str(value)) +
                         ", but integers must fit 64 bits; use text for such labels");
    return std::int64_t{whole};
  }
  if (PyFloat_Check(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
  if (PyUnicode_Check(value.ptr())) return to_text(value, "a label of " + owner);
  throw py::type_error(owner + " has a label of type " + type_name(value) +
                       ", but labels must be of type bool, int, float or str");
}

std::vector<Label> to_labels(const py::list& values, const std::string& owner) {
  std::vector<Label> labels;
  labels.reserve(values.size());
  for (const auto& value : values) labels.push_back(to_label(value, owner));
  return labels;
}

py::list from_labels(const std::vector<Label>& labels) {
  py::list list(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    list[i] = std::visit([](const auto& value) { return py::object(py::cast(value)); }, labels[i]);
  return list;
}

/// A feature given as (name, labels, None) or (name, None, cuts).
FeatureInfo to_feature(const py::handle& description) {
  if (!py::isinstance<py::tuple>(description) || py::len(description) != 3)
    throw py::type_error("a feature must be described by a tuple (name, labels or None, cuts or None)");
  const auto parts = py::reinterpret_borrow<py::tuple>(description);
  if (!py::isinstance<py::str>(parts[0]))
    throw py::type_error("the name of a feature must be a str, but is of type " + type_name(parts[0]));
  FeatureInfo feature;
  feature.name = to_text(parts[0], "the name of a feature");
  const std::string owner = "feature '" + feature.name + "'";
  if (parts[1].is_none() == parts[2].is_none())
    throw InvalidInput(owner + " must have either labels or cut points, and the other None");
  if (parts[2].is_none()) {
    if (!py::isinstance<py::list>(parts[1]))
      throw py::type_error("the labels of " + owner + " must be a list, but are of type " + type_name(parts[1]));
    feature.labels = to_labels(py::reinterpret_borrow<py::list>(parts[1]), owner);
    return feature;
  }
  if (!py::isinstance<Array<double>>(parts[2]) || py::reinterpret_borrow<Array<double>>(parts[2]).ndim() != 1)
    throw py::type_error("the cut points of " + owner + " must be a contiguous float64 array of one dimension");
  const auto array = py::reinterpret_borrow<Array<double>>(parts[2]);
  const auto cuts = as_span(array);
  feature.cuts.assign(cuts.begin(), cuts.end());
  feature.is_interval = true;
  return feature;
}

py::list from_features(const Model& model) {
  py::list list(model.n_features());
  for (std::size_t f = 0; f < model.n_features(); ++f) {
    const FeatureInfo& feature = model.features()[f];
    if (feature.is_interval)
      list[f] = py::make_tuple(feature.name, py::none(), copy_array(std::span<const double>(feature.cuts)));
    else
      list[f] = py::make_tuple(feature.name, from_labels(feature.labels), py::none());
  }
  return list;
}

template <class C>
Model build(const C& classifier, const py::list& descriptions, const py::list& class_labels,
            const py::str& settings_text, const CountSet* counts) {
  std::vector<FeatureInfo> features;
  features.reserve(descriptions.size());
  for (const auto& description : descriptions) features.push_back(to_feature(description));
  std::vector<Label> classes = to_labels(class_labels, "the class");
  std::string settings = to_text(settings_text, "the text of the settings");
  const ReleaseGil nogil;
  return Model(classifier, std::move(features), std::move(classes), std::move(settings),
               counts == nullptr ? std::nullopt : std::optional<CountSet>(*counts));
}

py::bytes to_bytes(const Model& model) {
  std::vector<std::byte> bytes;
  {
    const ReleaseGil nogil;
    bytes = write_model(model);
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Model from_bytes(const py::bytes& data) {
  const std::string_view view = data;
  const ReleaseGil nogil;
  return read_model(std::as_bytes(std::span(view)));
}

/// The path in the encoding of the operating system: any str, bytes or os.PathLike that Python itself would open.
std::string to_path(const py::object& path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), static_cast<void*>(&encoded)) == 0) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(encoded);
}

void save(const Model& model, const py::object& path) {
  const std::string name = to_path(path);
  const ReleaseGil nogil;
  save_model(model, name);
}

Model load(const py::object& path) {
  const std::string name = to_path(path);
  const ReleaseGil nogil;
  return load_model(name);
}

/// Overloads cannot distinguish text from numbers: pybind11 converts an int to neither.
Code encode(const Model& model, std::size_t feature, const py::object& value) {
  if (py::isinstance<py::str>(value)) return model.encode(feature, std::string_view(to_text(value, "the value")));
  return model.encode(feature, py::cast<double>(value));
}

/// The classifier of the model, by its kind.
py::object classifier(const py::object& self) {
  const auto find = [&](const auto& found) {
    return py::cast(&found, py::return_value_policy::reference_internal, self);
  };
  return std::visit(find, py::cast<const Model&>(self).classifier());
}

}  // namespace

void bind_model_file(py::module_& m) {
  py::class_<Model>(m, "Model")
      .def_static("build", &build<Network>, py::arg("classifier"), py::arg("features"), py::arg("classes"),
                  py::arg("settings") = py::str(""), py::arg("counts") = py::none())
      .def_static("build", &build<Aode>, py::arg("classifier"), py::arg("features"), py::arg("classes"),
                  py::arg("settings") = py::str(""), py::arg("counts") = py::none())
      .def_static("build", &build<Tbmatan>, py::arg("classifier"), py::arg("features"), py::arg("classes"),
                  py::arg("settings") = py::str(""), py::arg("counts") = py::none())
      .def_property_readonly("classifier", &classifier)
      .def_property_readonly("network", &Model::network, py::return_value_policy::reference_internal)
      .def_property_readonly("predictor", &Model::predictor, py::return_value_policy::reference_internal)
      .def_property_readonly("features", &from_features)
      .def_property_readonly("classes", [](const Model& model) { return from_labels(model.classes()); })
      .def_property_readonly("settings", &Model::settings)
      // A copy, since Python can add to a CountSet in place and a model never changes.
      .def_property_readonly("counts", &Model::counts, py::return_value_policy::copy)
      .def("encode", &encode, py::arg("feature"), py::arg("value"))
      .def("class_name", &Model::class_name, py::arg("index"))
      .def("to_bytes", &to_bytes)
      .def_static("from_bytes", &from_bytes, py::arg("data"))
      .def("save", &save, py::arg("path"))
      .def_static("load", &load, py::arg("path"));
}

}  // namespace tanager::python

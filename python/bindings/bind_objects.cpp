// Arrays of Python objects: numbers equal objects alike, as a dict would. Needs the GIL throughout.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"

namespace tanager::python {
namespace {

bool is_nan(PyObject* object) {
  return PyFloat_Check(object) && std::isnan(PyFloat_AS_DOUBLE(object));
}

/// Whether an object means missing: one that differs from itself (NaN of any type, NaT), or
/// pandas.NA.
bool means_missing(PyObject* object) {
  if (PyUnicode_CheckExact(object) || PyLong_Check(object)) return false;
  const auto differs =
      py::reinterpret_steal<py::object>(unless_ended([&] { return PyObject_RichCompare(object, object, Py_NE); }));
  const int truth = differs ? unless_ended([&] { return PyObject_IsTrue(differs.ptr()); }) : -1;
  if (truth >= 0) return truth == 1;
  PyErr_Clear();
  return std::string_view(Py_TYPE(object)->tp_name).ends_with("NAType");
}

bool same_text(PyObject* a, PyObject* b) {
  const auto length = PyUnicode_GET_LENGTH(a);
  return length == PyUnicode_GET_LENGTH(b) && PyUnicode_KIND(a) == PyUnicode_KIND(b) &&
         std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), static_cast<std::size_t>(length) * PyUnicode_KIND(a)) == 0;
}

/// Numbers objects 0, 1, 2, ... by equality, in the order of their first appearance.
class ObjectIndex {
 public:
  ObjectIndex() : slots_(256), seen_(kCacheSize) {}

  /// The number of an object, or -1 if it means missing. Throws TypeError for unhashable objects.
  std::int32_t number(PyObject* object) {
    if (object == nullptr || object == Py_None) return -1;
    // Most tables hold few distinct objects, each many times: the same address is the same object.
    Seen& seen = seen_[cache_slot(object)];
    if (seen.object == object) return seen.number;
    if (is_nan(object)) return -1;
    const auto held = py::reinterpret_borrow<py::object>(object);
    seen = {object, insert(object)};
    return seen.number;
  }

  py::list objects() const {
    py::list all;
    for (const auto& object : objects_) all.append(object);
    return all;
  }

 private:
  struct Slot {
    Py_hash_t hash = 0;
    std::int32_t position = -1;
  };
  struct Seen {
    PyObject* object = nullptr;
    std::int32_t number = -1;
  };
  static constexpr std::size_t kCacheSize = 1024;

  static std::size_t cache_slot(PyObject* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object) >> 4;
    return (address ^ (address >> 10)) % kCacheSize;
  }

  std::int32_t insert(PyObject* object) {
    const Py_hash_t hash = unless_ended([&] { return PyObject_Hash(object); });
    if (hash == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw py::type_error(std::string("argument must be a string, a number or another hashable value, not '") +
                           Py_TYPE(object)->tp_name + "'");
    }
    // Equality may run Python code, but only this thread's, and it cannot reach this table.
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = spread(hash) & mask;
    for (; slots_[at].position >= 0; at = (at + 1) & mask)
      if (slots_[at].hash == hash && equal(objects_[static_cast<std::size_t>(slots_[at].position)].ptr(), object))
        return slots_[at].position;
    if (means_missing(object)) return -1;
    const auto position = static_cast<std::int32_t>(objects_.size());
    slots_[at] = {hash, position};
    objects_.push_back(py::reinterpret_borrow<py::object>(object));
    if (2 * objects_.size() > slots_.size()) grow();
    return position;
  }

  static std::size_t spread(Py_hash_t hash) {
    // Hashes of integers are the integers themselves: multiples of a power of two would share few slots.
    return static_cast<std::size_t>((static_cast<std::uint64_t>(hash) * 0x9E3779B97F4A7C15ULL) >> 20);
  }

  static bool equal(PyObject* a, PyObject* b) {
    if (a == b) return true;
    if (PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b)) return same_text(a, b);
    const int result = unless_ended([&] { return PyObject_RichCompareBool(a, b, Py_EQ); });
    if (result < 0) PyErr_Clear();  // what cannot be compared is not equal
    return result == 1;
  }

  void grow() {
    std::vector<Slot> larger(4 * slots_.size());
    const std::size_t mask = larger.size() - 1;
    for (const auto& slot : slots_) {
      if (slot.position < 0) continue;
      std::size_t at = spread(slot.hash) & mask;
      while (larger[at].position >= 0) at = (at + 1) & mask;
      larger[at] = slot;
    }
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::vector<py::object> objects_;
  std::vector<Seen> seen_;
};

/// Objects between two checks for signals.
constexpr std::size_t kObjectsPerLook = std::size_t{1} << 14;

struct ObjectColumn {
  explicit ObjectColumn(const py::array& array)
      : data(static_cast<const char*>(array.data())),
        stride(array.strides(0)),
        n_rows(static_cast<std::size_t>(array.shape(0))) {
    if (array.dtype().kind() != 'O') throw py::type_error("expected an array of objects");
  }
  PyObject* operator[](std::size_t row) const {
    return *reinterpret_cast<PyObject* const*>(data + static_cast<py::ssize_t>(row) * stride);
  }

  const char* data;
  py::ssize_t stride;
  std::size_t n_rows;
};

py::tuple number_objects(const py::array& array) {
  if (array.ndim() != 1) throw py::type_error("expected an array of 1 dimension");
  const ObjectColumn column(array);
  Array<std::int32_t> numbers(array.shape(0));
  const auto out = as_mutable_span(numbers);
  ObjectIndex index;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % kObjectsPerLook == 0) raise_signals();
    out[i] = index.number(column[i]);
  }
  return py::make_tuple(std::move(numbers), index.objects());
}

/// Python's and NumPy's numbers; decimals, fractions and the like remain objects.
bool is_number_type(PyTypeObject* type) {
  if (PyType_IsSubtype(type, &PyFloat_Type) || PyType_IsSubtype(type, &PyLong_Type)) return true;
  const std::string_view name(type->tp_name);
  for (const auto* prefix : {"numpy.float", "numpy.int", "numpy.uint", "numpy.bool", "numpy.longdouble"})
    if (name.starts_with(prefix)) return true;
  return false;
}

/// The objects as floats, NaN where missing, and whether any is not an integer; None if not all of them are
/// numbers.
py::object object_floats(const py::array& array) {
  if (array.ndim() != 1) throw py::type_error("expected an array of 1 dimension");
  const ObjectColumn column(array);
  Array<double> floats(array.shape(0));
  const auto out = as_mutable_span(floats);
  bool fraction = false;
  PyTypeObject* number_type = nullptr;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % kObjectsPerLook == 0) raise_signals();
    PyObject* object = column[i];
    out[i] = std::numeric_limits<double>::quiet_NaN();
    if (object == nullptr || object == Py_None) continue;
    if (PyFloat_CheckExact(object)) {
      out[i] = PyFloat_AS_DOUBLE(object);
    } else {
      if (Py_TYPE(object) != number_type && !is_number_type(Py_TYPE(object))) {
        if (!means_missing(object)) return py::none();
        continue;
      }
      number_type = Py_TYPE(object);
      out[i] = unless_ended([&] { return PyFloat_AsDouble(object); });
      if (out[i] == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return py::none();
      }
    }
    fraction |= !std::isnan(out[i]) && (std::isinf(out[i]) || out[i] != std::floor(out[i]));
  }
  return py::make_tuple(std::move(floats), fraction);
}

}  // namespace

void bind_objects(py::module_& m) {
  m.def("number_objects", &number_objects, py::arg("objects"));
  m.def("object_floats", &object_floats, py::arg("objects"));
}

}  // namespace tanager::python

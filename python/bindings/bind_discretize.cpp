#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

namespace tanager::python {
namespace {

/// An array of exactly this type with any strides.
template <class T>
using AnyArray = py::array_t<T, 0>;
using Weights = std::optional<Array<double>>;

void check_dimensions(const py::array& array, py::ssize_t expected) {
  if (array.ndim() != expected)
    throw InvalidInput("expected an array of " + std::to_string(expected) + " dimension" + (expected > 1 ? "s" : "") +
                       ", got one of " + std::to_string(array.ndim()));
}

template <class T>
std::vector<NumberColumn> columns_of(const AnyArray<T>& table) {
  check_dimensions(table, 2);
  std::vector<NumberColumn> columns;
  columns.reserve(static_cast<std::size_t>(table.shape(1)));
  const auto* first = reinterpret_cast<const std::byte*>(table.data());
  for (py::ssize_t i = 0; i < table.shape(1); ++i)
    columns.emplace_back(reinterpret_cast<const T*>(first + i * table.strides(1)), table.strides(0),
                         static_cast<std::size_t>(table.shape(0)));
  return columns;
}

std::span<const double> weights_of(const Weights& weights) {
  if (!weights) return {};
  check_dimensions(*weights, 1);
  return as_span(*weights);
}

py::list to_list(std::vector<std::vector<double>>&& cuts) {
  py::list list;
  for (auto& column : cuts) list.append(to_array(std::move(column)));
  return list;
}

template <class T, class C>
py::list mdl_cuts_of_table(const AnyArray<T>& table, const Array<C>& classes, std::uint32_t n_classes,
                           const Weights& weights, int threads) {
  const std::vector<NumberColumn> columns = columns_of(table);
  check_dimensions(classes, 1);
  const std::span<const C> codes = as_span(classes);
  const std::span<const double> row_weights = weights_of(weights);
  std::vector<std::vector<double>> cuts;
  {
    const ReleaseGil nogil;
    cuts = mdl_cuts(columns, Column(codes, n_classes, nullptr), row_weights, threads);
  }
  return to_list(std::move(cuts));
}

template <class T, auto find_cuts>
py::list unsupervised_cuts_of_table(const AnyArray<T>& table, std::size_t bins, const Weights& weights, int threads) {
  const std::vector<NumberColumn> columns = columns_of(table);
  const std::span<const double> row_weights = weights_of(weights);
  std::vector<std::vector<double>> cuts;
  {
    const ReleaseGil nogil;
    cuts = find_cuts(columns, bins, row_weights, threads);
  }
  return to_list(std::move(cuts));
}

template <class Out>
py::array coded(const NumberColumn& x, std::span<const double> cuts) {
  Array<Out> codes(static_cast<py::ssize_t>(x.size()));
  const std::span<Out> out = as_mutable_span(codes);
  {
    const ReleaseGil nogil;
    apply_cuts(x, cuts, out);
  }
  return codes;
}

template <class T>
py::array apply_cuts_to_array(const AnyArray<T>& x, const Array<double>& cuts) {
  check_dimensions(x, 1);
  check_dimensions(cuts, 1);
  const NumberColumn column(x.data(), x.strides(0), static_cast<std::size_t>(x.shape(0)));
  const std::span<const double> points = as_span(cuts);
  return points.size() < kMaxNarrowValues ? coded<std::uint8_t>(column, points) : coded<std::uint16_t>(column, points);
}

constexpr auto kEqualFrequency = static_cast<std::vector<std::vector<double>> (*)(
    std::span<const NumberColumn>, std::size_t, std::span<const double>, int)>(equal_frequency_cuts);
constexpr auto kEqualWidth = static_cast<std::vector<std::vector<double>> (*)(
    std::span<const NumberColumn>, std::size_t, std::span<const double>, int)>(equal_width_cuts);

template <class T>
void bind_for_numbers_of_type(py::module_& m) {
  const auto x = py::arg("x").noconvert();
  const auto classes = py::arg("classes").noconvert();
  const auto weights = py::arg("weights").noconvert().none(true) = py::none();
  const auto threads = py::arg("threads") = 1;
  m.def("mdl_cuts", mdl_cuts_of_table<T, std::uint8_t>, x, classes, py::arg("n_classes"), weights, threads);
  m.def("mdl_cuts", mdl_cuts_of_table<T, std::uint16_t>, x, classes, py::arg("n_classes"), weights, threads);
  m.def("equal_frequency_cuts", unsupervised_cuts_of_table<T, kEqualFrequency>, x, py::arg("bins"), weights, threads);
  m.def("equal_width_cuts", unsupervised_cuts_of_table<T, kEqualWidth>, x, py::arg("bins"), weights, threads);
  m.def("apply_cuts", apply_cuts_to_array<T>, x, py::arg("cuts").noconvert());
}

}  // namespace

void bind_discretize(py::module_& m) {
  bind_for_numbers_of_type<double>(m);
  bind_for_numbers_of_type<float>(m);
}

}  // namespace tanager::python

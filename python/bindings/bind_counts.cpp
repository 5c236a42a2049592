// tanager._core.CountSet: counting, arithmetic, and raw cells for serialization.
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "families.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

namespace tanager::python {
namespace {

/// The class counts and then the cells of every table: the order of serialization.
Array<double> all_cells(const CountSet& counts) {
  std::vector<double> cells(counts.class_counts().begin(), counts.class_counts().end());
  cells.insert(cells.end(), counts.cells().begin(), counts.cells().end());
  return to_array(std::move(cells));
}

CountSet from_cells(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes, const std::string& scope,
                    const FamilyPairs& families, const Array<double>& cells) {
  CountSet counts(std::move(cardinalities), n_classes, to_scope(scope), to_families(families));
  const std::size_t needed = counts.class_counts().size() + counts.cells().size();
  const auto source = as_span(cells);
  if (cells.ndim() != 1 || source.size() != needed)
    throw InvalidInput("expected " + std::to_string(needed) + " cells in one dimension, got " +
                       std::to_string(source.size()));
  std::ranges::copy(source.first(counts.class_counts().size()), counts.class_counts().begin());
  std::ranges::copy(source.subspan(counts.class_counts().size()), counts.cells().begin());
  return counts;
}

bool same(const CountSet& a, const CountSet& b) {
  return std::ranges::equal(a.cardinalities(), b.cardinalities()) && a.n_classes() == b.n_classes() &&
         a.scope() == b.scope() && a.families() == b.families() &&
         std::ranges::equal(a.class_counts(), b.class_counts()) && std::ranges::equal(a.cells(), b.cells());
}

py::ssize_t extent(std::size_t n) {
  return static_cast<py::ssize_t>(n);
}

Array<double> single(const CountSet& counts, std::size_t f) {
  const auto cells = counts.single(f);
  return copy_array(cells, {extent(counts.cardinalities()[f]), extent(counts.n_classes())});
}

Array<double> table(const CountSet& counts, std::size_t child, std::vector<std::size_t> parents) {
  CountTable found = counts.table({child, std::move(parents)});
  std::vector<py::ssize_t> shape(found.dims.begin(), found.dims.end());
  shape.push_back(extent(found.n_classes));
  return to_array(std::move(found.cells), std::move(shape));
}

Array<double> pair(const CountSet& counts, std::size_t u, std::size_t v) {
  const auto cells = counts.pair(u, v);
  return copy_array(cells,
                    {extent(counts.cardinalities()[u]), extent(counts.cardinalities()[v]), extent(counts.n_classes())});
}

Recoding to_recoding(const Array<Code>& codes) {
  const auto view = as_span(codes);
  return Recoding(view.begin(), view.end());
}

CountSet recoded(const CountSet& counts, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                 const std::vector<Array<Code>>& features, const Array<Code>& classes) {
  std::vector<Recoding> recodings;
  recodings.reserve(features.size());
  for (const auto& codes : features) recodings.push_back(to_recoding(codes));
  const Recoding of_class = to_recoding(classes);
  const ReleaseGil nogil;
  return counts.recoded(std::move(cardinalities), n_classes, recodings, of_class);
}

CountSet count_dataset(const Dataset& data, const std::string& scope, const FamilyPairs& families, int threads) {
  const CountScope tables = to_scope(scope);
  const std::vector<Family> chosen = to_families(families);
  const ReleaseGil nogil;
  return count(data, tables, chosen, threads);
}

CountSet count_other_families(const CountSet& counts, const Dataset& data, const FamilyPairs& families, int threads) {
  const std::vector<Family> chosen = to_families(families);
  const ReleaseGil nogil;
  return count_families(data, counts, chosen, threads);
}

void add_dataset(CountSet& counts, const Dataset& data, int threads) {
  const ReleaseGil nogil;
  count_into(data, counts, threads);
}

FamilyPairs family_pairs(const CountSet& counts) {
  FamilyPairs pairs;
  for (const Family& family : counts.families()) pairs.emplace_back(family.child, family.parents);
  return pairs;
}

}  // namespace

void bind_counts(py::module_& m) {
  m.attr("MAX_TABLE_CELLS") = kMaxTableCells;
  py::class_<CountSet>(m, "CountSet")
      .def(py::init([](std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes, const std::string& scope,
                       const FamilyPairs& families) {
             return CountSet(std::move(cardinalities), n_classes, to_scope(scope), to_families(families));
           }),
           py::arg("cardinalities"), py::arg("n_classes"), py::arg("scope"), py::arg("families") = FamilyPairs{})
      .def_static("count", &count_dataset, py::arg("dataset"), py::arg("scope"), py::arg("families") = FamilyPairs{},
                  py::arg("threads") = 1)
      .def_static("from_cells", &from_cells, py::arg("cardinalities"), py::arg("n_classes"), py::arg("scope"),
                  py::arg("families"), py::arg("cells").noconvert())
      .def_property_readonly("n_rows", &CountSet::n_rows)
      .def_property_readonly("n_features", &CountSet::n_features)
      .def_property_readonly("n_classes", &CountSet::n_classes)
      .def_property_readonly("cardinalities",
                             [](const CountSet& counts) {
                               const auto all = counts.cardinalities();
                               return std::vector<std::uint32_t>(all.begin(), all.end());
                             })
      .def_property_readonly(
          "scope", [](const CountSet& counts) { return counts.scope() == CountScope::kPairs ? "pairs" : "singles"; })
      .def_property_readonly("families", &family_pairs)
      .def_property_readonly("class_counts", [](const CountSet& counts) { return copy_array(counts.class_counts()); })
      .def("single", &single, py::arg("f"))
      .def("pair", &pair, py::arg("u"), py::arg("v"))
      .def("table", &table, py::arg("child"), py::arg("parents"))
      .def(
          "can_answer",
          [](const CountSet& counts, std::size_t child, std::vector<std::size_t> parents) {
            return counts.can_answer({child, std::move(parents)});
          },
          py::arg("child"), py::arg("parents"))
      .def("recoded", &recoded, py::arg("cardinalities"), py::arg("n_classes"), py::arg("features").noconvert(),
           py::arg("classes").noconvert())
      .def("with_families", &count_other_families, py::arg("dataset"), py::arg("families"), py::arg("threads") = 1)
      .def("add_rows", &add_dataset, py::arg("dataset"), py::arg("threads") = 1)
      .def("cells", &all_cells)
      .def(py::self += py::self)
      .def(py::self -= py::self)
      .def(
          "__add__", [](CountSet a, const CountSet& b) { return a += b; }, py::is_operator())
      .def(
          "__sub__", [](CountSet a, const CountSet& b) { return a -= b; }, py::is_operator())
      .def("__eq__", &same, py::is_operator());
}

}  // namespace tanager::python

// Queries of a network.
#include <pybind11/stl.h>

#include <optional>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "tanager/errors.hpp"
#include "tanager/queries.hpp"

namespace tanager::python {
namespace {

Evidence evidence_of(const Array<Code>& codes, std::optional<std::uint32_t> target) {
  const auto span = as_span(codes);
  return {{span.begin(), span.end()}, target};
}

double log_probability(const Queries& queries, const Array<Code>& codes, std::optional<std::uint32_t> target) {
  const Evidence evidence = evidence_of(codes, target);
  const ReleaseGil nogil;
  return queries.log_probability(evidence);
}

Array<double> posterior(const Queries& queries, const Array<Code>& codes, std::optional<std::uint32_t> target,
                        const std::vector<std::size_t>& variables) {
  const Evidence evidence = evidence_of(codes, target);
  JointTable table;
  {
    const ReleaseGil nogil;
    table = queries.posterior(evidence, variables);
  }
  return to_array(std::move(table.probabilities), {table.dims.begin(), table.dims.end()});
}

std::tuple<Array<Code>, std::uint32_t, double> most_probable(const Queries& queries, const Array<Code>& codes,
                                                             std::optional<std::uint32_t> target) {
  const Evidence evidence = evidence_of(codes, target);
  Explanation found;
  {
    const ReleaseGil nogil;
    found = queries.most_probable(evidence);
  }
  return {to_array(std::move(found.features)), found.target, found.log_probability};
}

Array<Code> sample(const Queries& queries, const Array<Code>& codes, std::optional<std::uint32_t> target,
                   std::size_t n_cases, std::uint64_t seed, int threads) {
  const Evidence evidence = evidence_of(codes, target);
  Array<Code> out({static_cast<py::ssize_t>(codes.size() + 1), static_cast<py::ssize_t>(n_cases)});
  const auto span = as_mutable_span(out);
  {
    const ReleaseGil nogil;
    queries.sample(evidence, seed, span, threads);
  }
  return out;
}

}  // namespace

void bind_inference(py::module_& m) {
  // A ValueError with the indices of the features of the clique, which Python translates to names.
  py::register_exception<CliqueTooLarge>(m, "CliqueTooLarge", PyExc_ValueError);
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const CliqueTooLarge& e) {
      const py::object type = py::module_::import("tanager._core").attr("CliqueTooLarge");
      const py::object raised = type(e.what());
      raised.attr("features") = e.features();
      PyErr_SetObject(type.ptr(), raised.ptr());
    }
  });

  py::class_<Queries>(m, "Queries")
      .def(py::init<const Network&, std::uint64_t>(), py::arg("network"), py::arg("max_cells") = kMaxCliqueCells)
      .def("log_probability", &log_probability, py::arg("codes").noconvert(), py::arg("target"))
      .def("posterior", &posterior, py::arg("codes").noconvert(), py::arg("target"), py::arg("variables"))
      .def("most_probable", &most_probable, py::arg("codes").noconvert(), py::arg("target"))
      .def("sample", &sample, py::arg("codes").noconvert(), py::arg("target"), py::arg("n_cases"), py::arg("seed"),
           py::arg("threads") = 1);
}

}  // namespace tanager::python

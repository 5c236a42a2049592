// Parameter learners that work from counts: the tables of a given structure.
#include <optional>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "choices.hpp"
#include "structures.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_parameters.hpp"

namespace tanager::python {
namespace {

Degrees degrees_of(const std::string& name) {
  return chosen<Degrees>("degrees", name, {{"log", Degrees::kLog}, {"linear", Degrees::kLinear}});
}

Network dirichlet(const Parents& parents, const CountSet& counts, double alpha,
                  std::optional<double> equivalent_sample_size, std::vector<double> class_prior) {
  const ReleaseGil nogil;
  return estimate_dirichlet(to_structure(parents), counts, {alpha, equivalent_sample_size, std::move(class_prior)});
}

Network data_temperature(const Parents& parents, const CountSet& counts, const std::string& degrees,
                         std::optional<double> n_c, double added_frequency, std::vector<double> class_prior) {
  const ReleaseGil nogil;
  return estimate_data_temperature(to_structure(parents), counts,
                                   {degrees_of(degrees), n_c, added_frequency, std::move(class_prior)});
}

Network softened(const Parents& parents, const CountSet& counts, double n0, std::vector<double> class_prior) {
  const ReleaseGil nogil;
  return estimate_softened(to_structure(parents), counts, {n0, std::move(class_prior)});
}

std::pair<Network, Array<double>> model_averaged(const Parents& parents, const CountSet& counts,
                                                 std::vector<double> arc_prior, double alpha,
                                                 std::vector<double> class_prior) {
  const auto estimate = [&] {
    const ReleaseGil nogil;
    return estimate_model_averaged(to_structure(parents), counts,
                                   {std::move(arc_prior), alpha, std::move(class_prior)});
  };
  ModelAverage made = estimate();
  return {std::move(made.network), to_array(std::move(made.arc_probabilities))};
}

}  // namespace

void bind_parameters(py::module_& m) {
  const std::vector<double> none;
  m.def("estimate_dirichlet", &dirichlet, py::arg("parents"), py::arg("counts"), py::arg("alpha") = 1.0,
        py::arg("equivalent_sample_size") = py::none(), py::arg("class_prior") = none);
  m.def("estimate_data_temperature", &data_temperature, py::arg("parents"), py::arg("counts"),
        py::arg("degrees") = "log", py::arg("n_c") = py::none(), py::arg("added_frequency") = 1e-4,
        py::arg("class_prior") = none);
  m.def("estimate_softened", &softened, py::arg("parents"), py::arg("counts"), py::arg("n0") = 5.0,
        py::arg("class_prior") = none);
  m.def("estimate_model_averaged", &model_averaged, py::arg("parents"), py::arg("counts"),
        py::arg("arc_prior") = std::vector<double>{0.5}, py::arg("alpha") = 1.0, py::arg("class_prior") = none);
}

}  // namespace tanager::python

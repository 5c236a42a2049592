#pragma once

#include <pybind11/pybind11.h>

namespace tanager::python {

void bind_data(pybind11::module_& m);
void bind_counts(pybind11::module_& m);
void bind_network(pybind11::module_& m);
void bind_inference(pybind11::module_& m);
void bind_aode(pybind11::module_& m);
void bind_tbmatan(pybind11::module_& m);
void bind_model_file(pybind11::module_& m);
void bind_learning(pybind11::module_& m);
void bind_parameters(pybind11::module_& m);
void bind_weights(pybind11::module_& m);
void bind_rows(pybind11::module_& m);
void bind_discretize(pybind11::module_& m);
void bind_encoding(pybind11::module_& m);
void bind_objects(pybind11::module_& m);
void bind_evaluation(pybind11::module_& m);
void bind_search(pybind11::module_& m);
void bind_acll(pybind11::module_& m);
void bind_constraint(pybind11::module_& m);
void bind_graph(pybind11::module_& m);
void bind_text(pybind11::module_& m);

}  // namespace tanager::python

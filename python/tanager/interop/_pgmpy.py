"""Conversion from and to pgmpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.optional import import_optional
from .._utils.typing import Floats
from ._variables import Variable, check_parents, checked_table


def pgmpy_model(variables: Sequence[Variable]) -> Any:
    """Return a pgmpy network; its states are the labels."""
    models = import_optional("pgmpy.models", "to_pgmpy")
    factors = import_optional("pgmpy.factors.discrete", "to_pgmpy")
    # The class has another name in older versions.
    model = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork
    by_name = {v.name: v for v in variables}
    made = model()
    made.add_nodes_from(by_name)
    made.add_edges_from([(parent, v.name) for v in variables for parent in v.parents])
    for v in variables:
        size = v.table.shape[-1]
        made.add_cpds(
            factors.TabularCPD(
                v.name,
                size,
                np.moveaxis(v.table, -1, 0).reshape(size, -1),
                evidence=v.parents,
                evidence_card=list(v.table.shape[:-1]),
                state_names={name: list(by_name[name].labels) for name in [v.name, *v.parents]},
            )
        )
    return made


def variables_of_pgmpy(model: Any) -> list[Variable]:
    """Return the variables of a pgmpy network."""
    for needed in ("nodes", "get_cpds", "get_parents"):
        if not hasattr(model, needed):
            raise TypeError(f"model: expected a discrete Bayesian network of pgmpy, got {type(model).__name__}")
    cpds = {name: model.get_cpds(name) for name in model.nodes}
    for name, cpd in cpds.items():
        if not isinstance(name, str):
            raise TypeError(f"names of variables: expected strings, got {name!r}")
        if cpd is None:
            raise ValueError(f"the variable {name!r} has no table")
    labels = {name: list(cpd.state_names[name]) for name, cpd in cpds.items()}
    found = []
    for name, cpd in cpds.items():
        parents = list(cpd.variables[1:])
        if sorted(parents) != sorted(model.get_parents(name)):
            raise ValueError(f"the table of {name!r} is over {parents}, but its parents are {model.get_parents(name)}")
        check_parents(name, parents, cpds, "")
        table = np.array(cpd.values, dtype=np.float64)
        for axis, variable in enumerate([name, *parents]):  # every table may order states differently
            table = _ordered(table, axis, list(cpd.state_names[variable]), labels[variable], name, variable)
        table = np.ascontiguousarray(np.moveaxis(table, 0, -1))
        table = checked_table(name, table, [labels[p] for p in parents], "")
        found.append(Variable(name, labels[name], parents, table))
    return found


def _ordered(table: Floats, axis: int, have: list[Any], want: list[Any], name: str, variable: str) -> Floats:
    if have == want:
        return table
    if len(have) != len(want) or set(have) != set(want):
        raise ValueError(f"the table of {name!r} has the values {have} for {variable!r}, but these are {want}")
    return np.take(table, [have.index(label) for label in want], axis=axis)

"""Networks as objects of pgmpy, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.typing import Floats
from ._variables import Variable, check_parents, checked_table, imported


def pgmpy_model(variables: Sequence[Variable]) -> Any:
    """Make pgmpy's network; its states are the labels themselves."""
    models = imported("pgmpy.models", "pgmpy", "to_pgmpy")
    factors = imported("pgmpy.factors.discrete", "pgmpy", "to_pgmpy")
    # Older versions call it by another name.
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
    """Read pgmpy's network."""
    for needed in ("nodes", "get_cpds", "get_parents"):
        if not hasattr(model, needed):
            raise TypeError(f"model must be a discrete Bayesian network of pgmpy, but is a {type(model).__name__}")
    cpds = {name: model.get_cpds(name) for name in model.nodes}
    for name, cpd in cpds.items():
        if not isinstance(name, str):
            raise TypeError(f"variables must have strings as names, but one is {name!r}")
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
        for axis, variable in enumerate([name, *parents]):  # each table may have its states in an order of its own
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

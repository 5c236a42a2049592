"""Conversion from and to pyAgrum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.optional import import_optional
from ._variables import Variable, checked_table


def pyagrum_network(variables: Sequence[Variable]) -> Any:
    """Return a pyAgrum network; labels become strings."""
    gum = import_optional("pyagrum", "to_pyagrum")
    made = gum.BayesNet()
    for v in variables:
        made.add(gum.LabelizedVariable(v.name, v.name, _texts(v)))
    for v in variables:
        for parent in v.parents:
            made.addArc(parent, v.name)
    for v in variables:
        # The variable itself changes fastest, then its first parent, and so on.
        axes = [*reversed(range(len(v.parents))), len(v.parents)]
        made.cpt(v.name).fillWith(np.transpose(v.table, axes).reshape(-1).tolist())
    return made


def _texts(variable: Variable) -> list[str]:
    texts = [str(label) for label in variable.labels]
    if len(set(texts)) < len(texts):
        raise ValueError(
            f"pyAgrum identifies values by their text, but two values of {variable.name!r} have the same text"
        )
    return texts


def variables_of_pyagrum(model: Any) -> list[Variable]:
    """Return the variables of a pyAgrum network."""
    for needed in ("nodes", "cpt", "variable"):
        if not hasattr(model, needed):
            raise TypeError(f"model: expected a Bayesian network of pyAgrum, got {type(model).__name__}")
    labels = {model.variable(node).name(): list(model.variable(node).labels()) for node in model.nodes()}
    found = []
    for node in model.nodes():
        name = model.variable(node).name()
        cpt = model.cpt(node)
        parents = [cpt.variable(i).name() for i in range(1, cpt.nbrDim())]
        # The axes of the array are reversed: the last parent first, and the variable itself last.
        axes = [*reversed(range(len(parents))), len(parents)]
        table = np.ascontiguousarray(np.transpose(np.array(cpt.toarray(), dtype=np.float64), axes))
        table = checked_table(name, table, [labels[p] for p in parents], "")
        found.append(Variable(name, labels[name], parents, table))
    return found

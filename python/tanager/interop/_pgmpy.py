"""Networks as objects of other libraries, and back: pgmpy, pyAgrum, networkx."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.typing import Floats
from ..network._strengths import arc_strength
from ._variables import Variable, check_parents, checked_table

if TYPE_CHECKING:
    from ..network import Network


def imported(module: str, package: str, purpose: str) -> Any:
    """Return a module of a library that is not required, or say what needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        wanted = "'tanager[onnx]'" if package == "onnx" else package
        raise ImportError(f"{purpose} needs {package}, which cannot be imported: pip install {wanted}") from error


# -- pgmpy


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
        found.append(_variable(name, labels[name], parents, table, [labels[p] for p in parents]))
    return found


def _ordered(table: Floats, axis: int, have: list[Any], want: list[Any], name: str, variable: str) -> Floats:
    if have == want:
        return table
    if len(have) != len(want) or set(have) != set(want):
        raise ValueError(f"the table of {name!r} has the values {have} for {variable!r}, but these are {want}")
    return np.take(table, [have.index(label) for label in want], axis=axis)


def _variable(name: str, labels: list[Any], parents: list[str], table: Floats, given: list[list[Any]]) -> Variable:
    return Variable(name, labels, parents, checked_table(name, table, given, ""))


# -- pyAgrum


def pyagrum_network(variables: Sequence[Variable]) -> Any:
    """Make pyAgrum's network; its labels are texts, so numbers become such."""
    gum = imported("pyagrum", "pyagrum", "to_pyagrum")
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
        raise ValueError(f"pyAgrum tells values by their text, but those of {variable.name!r} are not all different")
    return texts


def variables_of_pyagrum(model: Any) -> list[Variable]:
    """Read pyAgrum's network."""
    for needed in ("nodes", "cpt", "variable"):
        if not hasattr(model, needed):
            raise TypeError(f"model must be a Bayesian network of pyAgrum, but is a {type(model).__name__}")
    labels = {model.variable(node).name(): list(model.variable(node).labels()) for node in model.nodes()}
    found = []
    for node in model.nodes():
        name = model.variable(node).name()
        cpt = model.cpt(node)
        parents = [cpt.variable(i).name() for i in range(1, cpt.nbrDim())]
        # The array has its axes the other way round: the last parent first, and the variable itself last.
        axes = [*reversed(range(len(parents))), len(parents)]
        table = np.ascontiguousarray(np.transpose(np.array(cpt.toarray(), dtype=np.float64), axes))
        found.append(_variable(name, labels[name], parents, table, [labels[p] for p in parents]))
    return found


# -- networkx


def networkx_graph(network: Network, strengths: bool) -> Any:
    """Make a directed graph of networkx."""
    nx = imported("networkx", "networkx", "to_networkx")
    graph = nx.DiGraph(class_name=network.class_name)
    for name in [*network.features, network.class_name]:
        cpt = network.cpt(name)
        kind = "class" if name == network.class_name else "feature"
        graph.add_node(name, kind=kind, labels=list(cpt.labels[cpt.names.index(name)]), table=cpt)
    for parent, child in network.arcs:
        graph.add_edge(parent, child, **({"strength": arc_strength(network, parent, child)} if strengths else {}))
    return graph

"""The form in which networks travel: one variable after another, as every format and tool of the field has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.column_encoder import MAX_VALUES, ColumnEncoder, category_array
from .._encoding.encoder import Encoder
from .._utils.graphs import topological_order
from .._utils.typing import Floats
from ..network import Network
from ..network._network import LazyPredictor

#: How far the probabilities of a distribution may be from one together: files print as few as two digits.
LOOSE = 0.01 + 1e-9
#: A table has an axis for each of them, and one more; NumPy 1 has at most 32.
MAX_PARENTS = 31
#: Up to here they are taken as they stand, so that what was written exactly is read exactly.
EXACT = 1e-9


@dataclass(frozen=True)
class Variable:
    """A variable with its values, its parents, and P(variable | parents).

    Attributes
    ----------
    name : str
    labels : list
        Its values; ``[None]`` if none is known.
    parents : list of str
    table : ndarray
        An axis for every parent, in their order, and the variable's own axis last.
    cuts : ndarray or None
        Where a column of numbers was cut, if the values are intervals.
    where : str
        Where it was read, for messages: such as "line 3: ".
    """

    name: str
    labels: list[Any]
    parents: list[str]
    table: Floats
    cuts: Floats | None = None
    where: str = field(default="", compare=False)


def variables_of(network: Network) -> list[Variable]:
    """Return the variables of a network: the features that it has, in their order, and then the class."""
    found = []
    for name in [*network.features, network.class_name]:
        cpt = network.cpt(name)
        own = cpt.names.index(name)
        table = np.ascontiguousarray(np.moveaxis(cpt.values, own, -1))
        column = None if name == network.class_name else network._encoder.columns[network._position[name]]
        cuts = None if column is None else column.cuts
        found.append(Variable(name, cpt.labels[own], [n for n in cpt.names if n != name], table, cuts))
    return found


def make_network(variables: Sequence[Variable], class_name: str) -> Network:
    """Make a network of its variables, all of them checked; one is the class, all others are features in their order."""
    _check(variables)
    by_name = {v.name: v for v in variables}
    if class_name not in by_name:
        raise ValueError(f"class_name is {class_name!r}, but the variables are {listed(by_name)}")
    target = by_name.pop(class_name)
    if target.labels == [None]:
        raise ValueError(f"{class_name!r} has no values, so that it cannot be the class")
    features = list(by_name.values())
    position = {v.name: i for i, v in enumerate(features)}
    tables = [_in_order(v, [*(p for p in v.parents if p != class_name), v.name], class_name) for v in features]
    of_class = sorted(target.parents, key=position.__getitem__)
    structure = _core.Structure(
        [[position[p] for p in v.parents if p != class_name] for v in features],
        [class_name in v.parents for v in features],
        [position[p] for p in of_class],
    )
    class_table = _in_order(target, [*of_class, class_name], class_name)
    core = _core.Network(structure, [v.table.shape[-1] for v in features], class_table, tables)
    encoder = Encoder([_column(v) for v in features], list(position))
    return Network(core, LazyPredictor(core), encoder, list(position), class_name, _class_array(target.labels))


def _in_order(variable: Variable, axes: list[str], class_name: str) -> Floats:
    """Return a table with its axes as the core has them: feature parents, the variable, and the class innermost."""
    if class_name in variable.parents:
        axes = [*axes, class_name]
    now = [*variable.parents, variable.name]
    return np.ascontiguousarray(np.transpose(variable.table, [now.index(name) for name in axes]))


def _column(variable: Variable) -> ColumnEncoder:
    if variable.cuts is not None:
        return ColumnEncoder("interval", cuts=variable.cuts)
    labels = [] if variable.labels == [None] else variable.labels
    return ColumnEncoder("category", categories=category_array(labels), order="declared" if labels else "sorted")


def _class_array(labels: list[Any]) -> npt.NDArray[Any]:
    if all(isinstance(label, str) and not label.endswith("\0") for label in labels):
        return np.array(labels)  # as after fit; NumPy would take zeros off the end
    return category_array(labels)


def _check(variables: Sequence[Variable]) -> None:
    seen: dict[str, Variable] = {}
    for v in variables:
        if v.name in seen:
            raise ValueError(f"{v.where}there are two variables {v.name!r}")
        seen[v.name] = v
        if not 1 <= len(v.labels) <= MAX_VALUES:
            raise ValueError(
                f"{v.where}the variable {v.name!r} must have 1 to {MAX_VALUES} values, but has {len(v.labels)}"
            )
        twice = first_twice(v.labels)
        if twice is not None:
            raise ValueError(f"{v.where}the variable {v.name!r} has the value {v.labels[twice]!r} twice")
    for v in variables:
        check_parents(v.name, v.parents, seen, v.where)
    check_cycles({v.name: v.parents for v in variables})


def check_parents(name: str, parents: Sequence[str], known: Mapping[str, Any], where: str) -> None:
    """Refuse parents that are not there, or there twice."""
    for parent in parents:
        if parent not in known:
            raise ValueError(f"{where}{name!r} has the parent {shortened(parent)!r}, but there is no such variable")
    twice = first_twice(parents)
    if twice is not None:
        raise ValueError(f"{where}{name!r} has the parent {parents[twice]!r} twice")


def check_cycles(parents: Mapping[str, Sequence[str]]) -> None:
    """Refuse arcs that form a cycle, and name it."""
    names = list(parents)
    position = {name: i for i, name in enumerate(names)}
    free = topological_order([[position[parent] for parent in parents[name]] for name in names])
    left = dict.fromkeys(names)
    for i in free:
        del left[names[i]]
    if not left:
        return
    # Each of the rest has a parent among the rest: following them must come back to where it was.
    path: dict[str, None] = {}
    name = next(iter(left))
    while name not in path:
        path[name] = None
        name = next(p for p in parents[name] if p in left)
    found = list(path)
    cycle = [*found[found.index(name) :], name][::-1]
    raise ValueError(f"the arcs {shortened(' -> '.join(map(repr, cycle)), 200)} form a cycle")


def table_cells(name: str, sizes: Sequence[int], where: str, limit: int = _core.MAX_TABLE_CELLS) -> int:
    """Return the size of a table, or refuse it before anything is allocated."""
    cells = math.prod(sizes)
    if cells > limit:
        raise ValueError(
            f"{where}the table of {name!r} would have {cells:.3g} cells, but at most {limit:,} are possible"
        )
    return cells


def check_axes(name: str, n_parents: int, where: str) -> None:
    """Refuse a table with more axes than every version of NumPy has; only parents of one value can be so many."""
    if n_parents > MAX_PARENTS:
        raise ValueError(f"{where}{name!r} has {n_parents:,} parents, but at most {MAX_PARENTS} are possible")


def checked_table(name: str, table: Floats, labels: Sequence[Sequence[Any]], where: str) -> Floats:
    """Check that a table's last axis holds distributions, and make them sum to one where few digits were printed.

    Parameters
    ----------
    name : str
    table : ndarray
        The variable's own axis last.
    labels : sequence of sequences
        The values of the parents, to name the distribution that is wrong.
    where : str
        Where it was read.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        sums = table.sum(axis=-1)
        wrong = ~((table >= 0).all(axis=-1) & (np.abs(sums - 1) <= LOOSE))
    if wrong.any():
        index = np.unravel_index(int(np.argmax(wrong)), wrong.shape) if wrong.ndim else ()
        given = ", ".join(repr(known[int(i)]) for known, i in zip(labels, index, strict=True))
        place = f" given ({shortened(given, 100)})" if given else ""
        row = table[index]
        found = f"sum to {row.sum():.6g}" if np.isfinite(row).all() and (row >= 0).all() else f"hold {_odd(row):g}"
        raise ValueError(
            f"{where}the probabilities of {name!r}{place} must be at least 0 and sum to one, but they {found}"
        )
    loose = np.abs(sums - 1) > EXACT
    if loose.any():
        table = np.where(loose[..., None], table / sums[..., None], table)
    return table


def _odd(row: Floats) -> float:
    return float(next(p for p in row.tolist() if not (math.isfinite(p) and p >= 0)))


def first_twice(values: Sequence[Any]) -> int | None:
    """Return where a value stands that stood before, or None."""
    seen = set()
    for i, value in enumerate(values):
        if value in seen:
            return i
        seen.add(value)
    return None


def shortened(text: str, length: int = 60) -> str:
    """Cut a text that would not fit into a message."""
    return text if len(text) <= length else text[: length - 3] + "..."


def listed(names: Sequence[str] | Mapping[str, Any], most: int = 10) -> str:
    """Name the first of many."""
    found = list(names)
    return ", ".join(shortened(repr(name)) for name in found[:most]) + (", ..." if len(found) > most else "")


def imported(module: str, package: str, purpose: str) -> Any:
    """Return a module of a library that is not required, or say what needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        wanted = "'tanager[onnx]'" if package == "onnx" else package
        raise ImportError(f"{purpose} needs {package}, which cannot be imported: pip install {wanted}") from error

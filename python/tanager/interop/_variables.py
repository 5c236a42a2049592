"""Variables: the neutral form of networks behind every import and export, and its checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.column_encoder import MAX_VALUES, ColumnEncoder, category_array
from .._encoding.encoder import Encoder
from .._utils.graphs import check_cycles
from .._utils.text import join_names, shortened
from .._utils.typing import Floats
from ..network import Network
from ..network._network import LazyPredictor

#: Maximum distance of the sum of a distribution from one: files may contain as few as two digits.
LOOSE = 0.01 + 1e-9
#: A table has one axis per parent and one more; NumPy 1 supports at most 32.
MAX_PARENTS = 31
#: Distributions closer to a sum of one are not normalized, so exact files are read exactly.
EXACT = 1e-9


@dataclass(frozen=True)
class Variable:
    """A variable with its values, parents, and P(variable | parents).

    Attributes
    ----------
    name : str
    labels : list
        Values; ``[None]`` if none is known.
    parents : list of str
    table : ndarray
        One axis per parent, in their order; the axis of the variable itself is last.
    cuts : ndarray or None
        Cut points, if the values are intervals of a numeric column.
    where : str
        Position in the source for messages, such as "line 3: ".
    """

    name: str
    labels: list[Any]
    parents: list[str]
    table: Floats
    cuts: Floats | None = None
    where: str = field(default="", compare=False)


def variables_of(network: Network) -> list[Variable]:
    """Return the variables of a network: its features in order, then the class."""
    if not isinstance(network, Network):
        raise TypeError(f"network: expected a Network, got {type(network).__name__}")
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
    """Check variables and return a network of them; one is the class, all others are features in their order."""
    _check(variables)
    by_name = {v.name: v for v in variables}
    if class_name not in by_name:
        raise ValueError(
            f"class_name: expected one of the variables {join_names(map(shortened, by_name))}, got {class_name!r}"
        )
    target = by_name.pop(class_name)
    if target.labels == [None]:
        raise ValueError(f"{class_name!r} has no values and cannot be the class")
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
    """Return a table in the axis order of the core: feature parents, the variable, and the class innermost."""
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
        return np.array(labels)  # as after fit; NumPy would strip trailing null characters
    return category_array(labels)


def _check(variables: Sequence[Variable]) -> None:
    seen: dict[str, Variable] = {}
    for v in variables:
        if v.name in seen:
            raise ValueError(f"{v.where}duplicate variable {v.name!r}")
        seen[v.name] = v
        if not 1 <= len(v.labels) <= MAX_VALUES:
            raise ValueError(
                f"{v.where}the variable {v.name!r} must have 1 to {MAX_VALUES} values, got {len(v.labels)}"
            )
        twice = first_twice(v.labels)
        if twice is not None:
            raise ValueError(f"{v.where}the variable {v.name!r} has the value {v.labels[twice]!r} twice")
    for v in variables:
        check_parents(v.name, v.parents, seen, v.where)
    check_cycles({v.name: v.parents for v in variables})


def check_parents(name: str, parents: Sequence[str], known: Mapping[str, Any], where: str) -> None:
    """Raise an error for unknown or duplicate parents."""
    for parent in parents:
        if parent not in known:
            raise ValueError(f"{where}{name!r} has the unknown parent {shortened(parent)!r}")
    twice = first_twice(parents)
    if twice is not None:
        raise ValueError(f"{where}{name!r} has the parent {parents[twice]!r} twice")


def table_cells(name: str, sizes: Sequence[int], where: str, limit: int = _core.MAX_TABLE_CELLS) -> int:
    """Return the number of entries of a table, or raise an error before anything is allocated."""
    cells = math.prod(sizes)
    if cells > limit:
        raise ValueError(
            f"{where}the table of {name!r} would have {cells:.3g} entries, more than the limit of {limit:,}"
        )
    return cells


def check_axes(name: str, n_parents: int, where: str) -> None:
    """Raise an error for more parents than NumPy has axes; only parents with one value can be so many."""
    if n_parents > MAX_PARENTS:
        raise ValueError(f"{where}{name!r} has {n_parents:,} parents, more than the limit of {MAX_PARENTS}")


def checked_table(name: str, table: Floats, labels: Sequence[Sequence[Any]], where: str) -> Floats:
    """Check that the last axis of a table holds distributions, and normalize them if they have few digits.

    Parameters
    ----------
    name : str
    table : ndarray
        The axis of the variable itself is last.
    labels : sequence of sequences
        Values of the parents, for messages.
    where : str
        Position in the source, for messages.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        sums = table.sum(axis=-1)
        wrong = ~((table >= 0).all(axis=-1) & (np.abs(sums - 1) <= LOOSE))
    if wrong.any():
        index = np.unravel_index(int(np.argmax(wrong)), wrong.shape) if wrong.ndim else ()
        given = ", ".join(repr(known[int(i)]) for known, i in zip(labels, index, strict=True))
        place = f" given ({shortened(given, 100)})" if given else ""
        row = table[index]
        found = f"sum to {row.sum():.6g}" if np.isfinite(row).all() and (row >= 0).all() else f"contain {_odd(row):g}"
        raise ValueError(
            f"{where}the probabilities of {name!r}{place} must be non-negative and sum to one, but they {found}"
        )
    loose = np.abs(sums - 1) > EXACT
    if loose.any():
        table = np.where(loose[..., None], table / sums[..., None], table)
    return table


def _odd(row: Floats) -> float:
    return float(next(p for p in row.tolist() if not (math.isfinite(p) and p >= 0)))


def first_twice(values: Sequence[Any]) -> int | None:
    """Return the position of the first duplicate value, or None."""
    seen = set()
    for i, value in enumerate(values):
        if value in seen:
            return i
        seen.add(value)
    return None

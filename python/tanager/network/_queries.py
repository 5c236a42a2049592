"""Questions to a network: probabilities of anything given anything, most probable cases, samples."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.columns import is_missing
from .._encoding.matching import OtherTypes, meaning
from .._learning.names import naming_features
from .._utils.random import draw_seed
from .._utils.typing import MISSING_CODE, Codes
from .._utils.validation import is_integer
from ._tables import Distribution

if TYPE_CHECKING:
    from .._encoding.column_encoder import ColumnEncoder


class NetworkQueries:
    """Turns names and labels into codes, asks the core, and turns its answers back.

    Parameters
    ----------
    core : _core.Network
    columns : sequence of ColumnEncoder
        What is known of every column, those left out included.
    feature_names : sequence of str
    left_out : sequence of str
        Columns that the network does without.
    class_name : str
    classes : ndarray
    max_cells : int
        The limit of what an answer may need.
    """

    def __init__(
        self, core: _core.Network, columns: Sequence[ColumnEncoder], feature_names: Sequence[str],
        left_out: Sequence[str], class_name: str, classes: npt.NDArray[Any], max_cells: int,
    ):  # fmt: skip
        self.max_cells = max_cells
        self._core = _core.Queries(core, max_cells)
        self._columns = columns
        self._names = list(feature_names)
        self._position = {name: i for i, name in enumerate(feature_names)}
        self._left_out = frozenset(left_out)
        self._class_name = class_name
        self._classes: list[Any] = classes.tolist()
        self._labels: dict[int, list[Any]] = {}

    def log_probability(self, evidence: Mapping[str, Any] | None) -> float:
        """Return ln P(evidence)."""
        with naming_features(self._names):
            return self._core.log_probability(*self._codes(evidence))

    def posterior(self, evidence: Mapping[str, Any] | None, query: str | Sequence[str] | None) -> Distribution:
        """Return P(query | evidence)."""
        if not isinstance(query, Iterable) and query is not None:
            raise TypeError(f"query must be a name or a list of names, but is a {type(query).__name__}")
        names = [self._class_name] if query is None else [query] if isinstance(query, str) else list(query)
        if not names:
            raise ValueError("query must name at least one variable, but is empty")
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise ValueError(f"query must name every variable once, but has {twice[0]!r} more than once")
        variables = [self._variable(name) for name in names]
        codes, target = self._codes(evidence)
        with naming_features(self._names):
            values = self._core.posterior(codes, target, variables)
        return Distribution(tuple(names), tuple(self._labels_of(v) for v in variables), values)

    def most_probable(self, evidence: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the most probable values of all variables."""
        with naming_features(self._names):
            codes, target, _ = self._core.most_probable(*self._codes(evidence))
        found = {name: self._labels_of(i)[codes[i]] for i, name in enumerate(self._names) if name not in self._left_out}
        return {**found, self._class_name: self._classes[target]}

    def sample(
        self, n: int, evidence: Mapping[str, Any] | None, random_state: Any, threads: int
    ) -> dict[str, npt.NDArray[Any]]:
        """Return an array of drawn labels for every variable."""
        if not is_integer(n) or n < 0:
            raise ValueError(f"the number of cases must be a whole number of at least 0, but is {n!r}")
        most = sys.maxsize // (2 * (len(self._names) + 1))  # codes take two bytes
        if n > most:
            raise MemoryError(f"{n} cases were asked for, but no memory can hold more than {most} of this network")
        codes, target = self._codes(evidence)
        with naming_features(self._names):
            drawn = self._core.sample(codes, target, int(n), draw_seed(random_state), threads)
        found = {
            name: _label_array(self._labels_of(i))[drawn[i]]
            for i, name in enumerate(self._names)
            if name not in self._left_out
        }
        return {**found, self._class_name: _label_array(self._classes)[drawn[-1]]}

    def _codes(self, evidence: Mapping[str, Any] | None) -> tuple[Codes, int | None]:
        codes = np.full(len(self._names), MISSING_CODE, dtype=np.uint16)
        target = None
        if evidence is None:
            return codes, target
        if not isinstance(evidence, Mapping):
            raise TypeError(f"evidence must be a dict of names and labels, but is a {type(evidence).__name__}")
        for name, value in evidence.items():
            if name in self._left_out and name != self._class_name:
                continue  # prediction does not look at it either
            variable = self._variable(name)
            if is_missing(value):
                continue
            if variable == len(self._names):
                target = self._code_of(name, value, self._classes)
            elif self._columns[variable].cuts is not None:
                codes[variable] = self._interval_of(name, value, variable)
            else:
                codes[variable] = self._code_of(name, value, self._labels_of(variable))
        return codes, target

    def _variable(self, name: Any) -> int:
        if name == self._class_name:
            return len(self._names)
        if name in self._left_out or name not in self._position:
            features = ", ".join(n for n in self._names if n not in self._left_out)
            raise KeyError(
                f"the network has no variable {name!r}; its features are {features}, and its class is {self._class_name}"
            )
        return self._position[name]

    def _interval_of(self, name: str, value: Any, variable: int) -> int:
        """Return the interval that a number falls into, or that a text as in tables and samples means."""
        column = self._columns[variable]
        assert column.cuts is not None
        labels = self._labels_of(variable)
        if isinstance(value, str):
            meant = None if value in labels else meaning(value)
            if meant is None or isinstance(meant, bool):
                return self._code_of(name, value, labels)
            value = meant
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"{name!r} was cut into intervals, so that evidence of it must be a number, but it is {value!r}"
            ) from None
        return int(_core.apply_cuts(np.array([number]), column.cuts)[0])

    def _code_of(self, name: str, value: Any, labels: list[Any]) -> int:
        try:
            return labels.index(value)
        except ValueError:
            plain = value.item() if isinstance(value, np.generic) else value
            code = OtherTypes({label: i for i, label in enumerate(labels)}).find(plain)
            if code is not None:
                return code
            known = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")
            raise ValueError(f"the evidence has {value!r} for {name!r}, whose values are {known}") from None

    def _labels_of(self, variable: int) -> list[Any]:
        if variable == len(self._names):
            return self._classes
        if variable not in self._labels:
            self._labels[variable] = self._columns[variable].labels()
        return self._labels[variable]


def _label_array(labels: list[Any]) -> npt.NDArray[Any]:
    """Return labels as an array of their own kind if it is one, else of objects."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        found = np.array(labels)
        if kinds == {float} or found.dtype.kind != "f":  # which integers beyond 64 bits become
            return found
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array

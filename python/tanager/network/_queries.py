"""Exact queries by variable name and label: posteriors, most probable explanations, samples."""

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
from .._utils.text import join_names
from .._utils.typing import MISSING_CODE, Codes
from .._utils.validation import check_int
from ._tables import Distribution

if TYPE_CHECKING:
    from .._encoding.column_encoder import ColumnEncoder


class NetworkQueries:
    """Exact queries to a network: translates names and labels to the codes of the core and back.

    Parameters
    ----------
    core : _core.Network
    columns : sequence of ColumnEncoder
        The encoders of all columns, including those that are left out of the network.
    feature_names : sequence of str
    left_out : sequence of str
        Columns that are not in the network.
    class_name : str
    classes : ndarray
    max_cells : int
        The limit of exact inference.
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
            raise TypeError(f"query: expected a name or a list of names, got {type(query).__name__}")
        names = [self._class_name] if query is None else [query] if isinstance(query, str) else list(query)
        if not names:
            raise ValueError("query: expected at least one variable, got an empty list")
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise ValueError(f"query: expected distinct variables, got {twice[0]!r} more than once")
        variables = [self._variable(name) for name in names]
        codes, target = self._codes(evidence)
        with naming_features(self._names):
            values = self._core.posterior(codes, target, variables)
        return Distribution(tuple(names), tuple(self._labels_of(v) for v in variables), values)

    def most_probable(self, evidence: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the most probable joint values of all variables given evidence."""
        with naming_features(self._names):
            codes, target, _ = self._core.most_probable(*self._codes(evidence))
        labels = {
            name: self._labels_of(i)[codes[i]] for i, name in enumerate(self._names) if name not in self._left_out
        }
        return {**labels, self._class_name: self._classes[target]}

    def sample(
        self, n: int, evidence: Mapping[str, Any] | None, random_state: Any, threads: int
    ) -> dict[str, npt.NDArray[Any]]:
        """Return an array of sampled labels for each variable."""
        n = check_int(n, "n", minimum=0)
        max_samples = sys.maxsize // (2 * (len(self._names) + 1))  # codes take two bytes
        if n > max_samples:
            raise MemoryError(f"n: expected at most {max_samples:,} samples of this network, got {n}")
        codes, target = self._codes(evidence)
        with naming_features(self._names):
            drawn = self._core.sample(codes, target, n, draw_seed(random_state), threads)
        columns = {
            name: _label_array(self._labels_of(i))[drawn[i]]
            for i, name in enumerate(self._names)
            if name not in self._left_out
        }
        return {**columns, self._class_name: _label_array(self._classes)[drawn[-1]]}

    def _codes(self, evidence: Mapping[str, Any] | None) -> tuple[Codes, int | None]:
        codes = np.full(len(self._names), MISSING_CODE, dtype=np.uint16)
        target = None
        if evidence is None:
            return codes, target
        if not isinstance(evidence, Mapping):
            raise TypeError(f"evidence: expected a dict of variable names and labels, got {type(evidence).__name__}")
        for name, value in evidence.items():
            if name in self._left_out and name != self._class_name:
                continue  # predictions ignore it, too
            variable = self._variable(name)
            if is_missing(value):
                continue
            if variable == len(self._names):
                target = self._code_of(name, value, self._classes)
            elif self._columns[variable].cuts is not None:
                codes[variable] = self._bin_of(name, value, variable)
            else:
                codes[variable] = self._code_of(name, value, self._labels_of(variable))
        return codes, target

    def _variable(self, name: Any) -> int:
        if name == self._class_name:
            return len(self._names)
        if name in self._left_out or name not in self._position:
            features = join_names(n for n in self._names if n not in self._left_out)
            raise KeyError(
                f"the network has no variable {name!r}; its features are {features}, and its class is {self._class_name!r}"
            )
        return self._position[name]

    def _bin_of(self, name: str, value: Any, variable: int) -> int:
        """Return the bin of a number, of a text that means a number, or of the label of a bin."""
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
                f"evidence: expected a number for the discretized feature {name!r}, got {value!r}"
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
            raise ValueError(
                f"evidence: expected one of the values of {name!r}, {join_names(labels)}, got {value!r}"
            ) from None

    def _labels_of(self, variable: int) -> list[Any]:
        if variable == len(self._names):
            return self._classes
        if variable not in self._labels:
            self._labels[variable] = self._columns[variable].labels()
        return self._labels[variable]


def _label_array(labels: list[Any]) -> npt.NDArray[Any]:
    """Return labels as a typed array if they are all bool, int or float, else as an array of objects."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        typed = np.array(labels)
        if kinds == {float} or typed.dtype.kind != "f":  # integers beyond 64 bits become floats
            return typed
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array

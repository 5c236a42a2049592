"""Arrays whose axes are variables and whose places along an axis are labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._utils.optional import import_optional
from .._utils.text import display_label, distinct_labels
from ._html import table_html

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class ConditionalTable:
    """Probabilities of a variable for every configuration of its parents.

    Attributes
    ----------
    variable : str
        The variable the distribution is of.
    names : tuple of str
        What each axis of `values` stands for: feature parents, the variable itself, the class if it is a parent.
    labels : tuple of list
        The values along each axis.
    values : ndarray
        The probabilities; they sum to one along the variable's axis.
    """

    variable: str
    names: tuple[str, ...]
    labels: tuple[list[Any], ...]
    values: Floats

    def __getitem__(self, key: Mapping[str, Any]) -> float | Floats:
        """Look up by labels, such as ``table[{"safety": "high", "class": "acc"}]``; axes not named are kept."""
        if not isinstance(key, Mapping):
            raise TypeError(f"a table is looked up by a dict of names and labels, but a {type(key).__name__} came")
        return look_up(self.values, self.names, self.labels, key, f"the table of {self.variable!r}")

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per configuration of the parents and a column per value."""
        pd = import_optional("pandas", "to_frame")
        axis = self.names.index(self.variable)
        values = np.moveaxis(self.values, axis, -1)
        others = [i for i in range(len(self.names)) if i != axis]
        columns = pd.Index(self.labels[axis], name=self.variable, tupleize_cols=False)
        if not others:
            return pd.DataFrame(values[None, :], columns=columns)
        rows = pd.MultiIndex.from_product([self.labels[i] for i in others], names=[self.names[i] for i in others])
        return pd.DataFrame(values.reshape(len(rows), -1), index=rows, columns=columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype) if copy is not False else np.asarray(self.values, dtype=dtype)

    def _repr_html_(self) -> str:
        return table_html(self)

    def __repr__(self) -> str:
        axis = self.names.index(self.variable)
        given = [display_label(name) for name in self.names if name != self.variable]
        head = f"P({display_label(self.variable)}{' | ' + ', '.join(given) if given else ''})"
        values = np.moveaxis(self.values, axis, -1).reshape(-1, len(self.labels[axis]))
        if values.size > 200:
            return f"{head}: {values.shape[0]} distributions over {values.shape[1]} values"
        others = [distinct_labels(labels) for i, labels in enumerate(self.labels) if i != axis]
        lines = [[*given, *distinct_labels(self.labels[axis])]]
        for index, row in zip(np.ndindex(*map(len, others)), values, strict=True):
            lines.append([*(o[i] for o, i in zip(others, index, strict=True)), *(f"{p:.4g}" for p in row)])
        return f"{head}\n{aligned(lines)}"


@dataclass(frozen=True, repr=False, eq=False)
class Distribution:
    """Probabilities of the joint values of some variables.

    Attributes
    ----------
    names : tuple of str
        The variables, one for each axis of `values`.
    labels : tuple of list
        The values of each variable, along its axis.
    values : ndarray
        The probabilities; all of them sum to one.
    """

    names: tuple[str, ...]
    labels: tuple[list[Any], ...]
    values: Floats

    def __getitem__(self, key: Any) -> float | Floats:
        """Look up by labels: ``p[{"safety": "high", "class": "acc"}]``, or ``p["acc"]`` if there is one variable.

        Variables that are not named are kept as axes.
        """
        if not isinstance(key, Mapping):
            if len(self.names) > 1:
                raise TypeError(
                    f"a distribution of {len(self.names)} variables is looked up by a dict of names and labels, but a "
                    f"{type(key).__name__} came"
                )
            key = {self.names[0]: key}
        return look_up(self.values, self.names, self.labels, key, "the distribution")

    def to_dict(self) -> dict[Any, float]:
        """Return the probability of every label, or of every tuple of labels if there are several variables."""
        if len(self.names) == 1:
            return dict(zip(self.labels[0], self.values.tolist(), strict=True))
        return {
            tuple(labels[i] for labels, i in zip(self.labels, index, strict=True)): float(p)
            for index, p in np.ndenumerate(self.values)
        }

    def to_series(self) -> pd.Series[float]:
        """Return a pandas series with the labels as its index."""
        pd = import_optional("pandas", "to_series")
        if len(self.names) == 1:
            index = pd.Index(self.labels[0], name=self.names[0], tupleize_cols=False)
        else:
            index = pd.MultiIndex.from_product(self.labels, names=self.names)
        return pd.Series(self.values.reshape(-1), index=index, name="probability")

    def __repr__(self) -> str:
        names, labels = [*map(display_label, self.names)], [*map(distinct_labels, self.labels)]
        head = f"P({', '.join(names)})"
        if self.values.size > 100:
            return f"{head}: {self.values.size} joint values"
        lines = [[*names, ""]]
        for index, p in np.ndenumerate(self.values):
            lines.append([*(texts[i] for texts, i in zip(labels, index, strict=True)), f"{p:.4g}"])
        return f"{head}\n{aligned(lines)}"


def look_up(
    values: Floats, names: Sequence[str], labels: Sequence[list[Any]], key: Mapping[str, Any], what: str
) -> float | Floats:
    """Look up by labels; axes that the key does not name are kept.

    Parameters
    ----------
    values : ndarray
    names, labels
        What the axes stand for, and the labels along each of them.
    key : mapping
        From names to labels.
    what : str
        What the array is called in messages.
    """
    unknown = [name for name in key if name not in names]
    if unknown:
        raise KeyError(f"{what} is over {', '.join(names)}, not {unknown[0]!r}")
    index: list[int | slice] = []
    for name, known in zip(names, labels, strict=True):
        if name not in key:
            index.append(slice(None))
        elif key[name] in known:
            index.append(known.index(key[name]))
        else:
            raise KeyError(f"{name!r} has no value {key[name]!r}")
    result = values[tuple(index)]
    return float(result) if result.ndim == 0 else result


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as text, every column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)).rstrip() for line in lines)

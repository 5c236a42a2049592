"""Conditional probability tables and distributions: arrays whose axes are variables and whose indices are labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._utils.optional import import_optional
from .._utils.text import display_label, distinct_labels, join_names, text_table
from .._utils.typing import Floats
from ._html import table_html

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class ConditionalTable:
    """Conditional probability table (CPT) of a variable given its parents.

    Attributes
    ----------
    variable : str
        The variable.
    names : tuple of str
        The variables along the axes of `values`: feature parents, the variable itself, the class if it is a parent.
    labels : tuple of list
        The labels along each axis.
    values : ndarray
        The probabilities; they sum to one along the axis of the variable.
    """

    variable: str
    names: tuple[str, ...]
    labels: tuple[list[Any], ...]
    values: Floats

    def __getitem__(self, key: Mapping[str, Any]) -> float | Floats:
        """Look up by labels: ``table[{"safety": "high", "class": "acc"}]``; the other axes are kept."""
        if not isinstance(key, Mapping):
            raise TypeError(f"expected a dict of variable names and labels as the index, got {type(key).__name__}")
        return look_up(self.values, self.names, self.labels, key, f"the table of {self.variable!r}")

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per parent configuration and one column per value."""
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
        rows = [[*given, *distinct_labels(self.labels[axis])]]
        for index, row in zip(np.ndindex(*map(len, others)), values, strict=True):
            rows.append([*(o[i] for o, i in zip(others, index, strict=True)), *(f"{p:.4g}" for p in row)])
        return f"{head}\n{text_table(rows)}"


@dataclass(frozen=True, repr=False, eq=False)
class Distribution:
    """Joint distribution of one or more variables.

    Attributes
    ----------
    names : tuple of str
        The variables, one per axis of `values`.
    labels : tuple of list
        The labels along each axis.
    values : ndarray
        The probabilities; they sum to one.
    """

    names: tuple[str, ...]
    labels: tuple[list[Any], ...]
    values: Floats

    def __getitem__(self, key: Any) -> float | Floats:
        """Look up by labels: ``p[{"safety": "high", "class": "acc"}]``, or ``p["acc"]`` if there is one variable.

        The axes of other variables are kept.
        """
        if not isinstance(key, Mapping):
            if len(self.names) > 1:
                raise TypeError(
                    f"expected a dict of variable names and labels as the index of {len(self.names)} variables, got "
                    f"{type(key).__name__}"
                )
            key = {self.names[0]: key}
        return look_up(self.values, self.names, self.labels, key, "the distribution")

    def to_dict(self) -> dict[Any, float]:
        """Return the probability of each label, or of each tuple of labels if there are several variables."""
        if len(self.names) == 1:
            return dict(zip(self.labels[0], self.values.tolist(), strict=True))
        return {
            tuple(labels[i] for labels, i in zip(self.labels, index, strict=True)): float(p)
            for index, p in np.ndenumerate(self.values)
        }

    def to_series(self) -> pd.Series[float]:
        """Return a pandas Series with the labels as its index."""
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
        rows = [[*names, ""]]
        for index, p in np.ndenumerate(self.values):
            rows.append([*(texts[i] for texts, i in zip(labels, index, strict=True)), f"{p:.4g}"])
        return f"{head}\n{text_table(rows)}"


def look_up(
    values: Floats, names: Sequence[str], labels: Sequence[list[Any]], key: Mapping[str, Any], what: str
) -> float | Floats:
    """Return the entries at the labels of `key`, by variable name; the other axes are kept. `what` is for messages."""
    unknown = [name for name in key if name not in names]
    if unknown:
        raise KeyError(f"{what} has no axis {unknown[0]!r}; its variables are {', '.join(names)}")
    index: list[int | slice] = []
    for name, known in zip(names, labels, strict=True):
        if name not in key:
            index.append(slice(None))
        elif key[name] in known:
            index.append(known.index(key[name]))
        else:
            raise KeyError(f"{name!r} has no value {key[name]!r}; its values are {join_names(known)}")
    result = values[tuple(index)]
    return float(result) if result.ndim == 0 else result

"""Columns of a table, independent of the library they come from.

There are three types. `NumberColumn` holds numbers. `CodedColumn` holds distinct values and, for every row, the position of
its value; strings and categoricals are read as such. `ObjectColumn` holds Python objects, which may turn out to be numbers.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import Floats

#: Integers up to here are exact as float64.
EXACT = 2**53


class NumberColumn:
    """Integers, booleans or floats.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        In native byte order and aligned, with any stride.
    missing : ndarray of bool, default=None
        Marks missing values; NaN is always missing.
    """

    def __init__(self, values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None) -> None:
        self.values = values
        self.missing = missing
        self.is_float = values.dtype.kind == "f"
        self.is_integer = values.dtype.kind in "iu"

    def floats(self, label: str) -> npt.NDArray[Any]:  # noqa: ARG002
        """Return the numbers as float32 or float64, NaN where missing."""
        values = self.values if self.is_float else self.values.astype(np.float64)
        return values if self.missing is None else np.where(self.missing, np.nan, values)

    def coded(self, label: str) -> CodedColumn:  # noqa: ARG002
        """Return the column as distinct values in ascending order and their positions."""
        values, codes = np.unique(self.values, return_inverse=True)
        codes = codes.reshape(-1).astype(np.int64)
        absent = np.zeros(len(codes), dtype=bool) if self.missing is None else self.missing.copy()
        if self.is_float:
            absent |= np.isnan(self.values)
        codes[absent] = -1
        present = np.zeros(len(values), dtype=bool)
        present[codes[codes >= 0]] = True
        table = np.where(present, np.cumsum(present) - 1, -1)
        return CodedColumn(np.where(codes >= 0, table[codes], -1), values[present].tolist())


class CodedColumn:
    """Distinct values, and for every row the position of its value.

    Parameters
    ----------
    codes : ndarray of integers
        Positions in `values`; -1 where missing.
    values : sequence
        The distinct values; None and NaN among them mean missing.
    has_order : bool, default=False
        Whether the column's type lists the values in an order, whether they occur or not (pandas Categorical, polars Enum).
    dtype : NumPy dtype, default=None
        The type of the array that the values come from, if any.
    """

    is_float = False
    is_integer = False

    def __init__(
        self, codes: npt.NDArray[Any], values: Sequence[Any], *, has_order: bool = False, dtype: Any = None
    ) -> None:
        self.codes = codes
        self.values = [value.item() if isinstance(value, np.generic) else value for value in values]
        self.has_order = has_order
        self.dtype = dtype

    def floats(self, label: str) -> Floats:
        """Return the values as numbers, NaN where missing."""
        for value in self.values:
            if not (is_missing(value) or isinstance(value, (int, float))):
                raise ValueError(f"{label} must be numeric, but contains {value!r}")
        numbers = np.array([np.nan if is_missing(v) else float(v) for v in self.values] + [np.nan])
        return np.asarray(numbers[self.codes], dtype=np.float64)

    def coded(self, label: str) -> CodedColumn:
        """Return the column itself; raise if it has values that cannot be categories."""
        for value in self.values:
            if isinstance(value, complex):
                raise ValueError(f"Complex data not supported: {label} contains {value!r}")  # noqa: TRY004
            if isinstance(value, (dt.date, dt.time, dt.timedelta)):
                raise TypeError(unsupported(label, f"{type(value).__name__} values such as {value!r}"))
        return self

    def used(self) -> npt.NDArray[np.bool_]:
        """Return which values occur."""
        found = np.zeros(len(self.values) + 1, dtype=bool)
        found[self.codes] = True  # -1 is the entry at the end
        return found[:-1]


class ObjectColumn:
    """Python objects of any type."""

    def __init__(self, objects: npt.NDArray[Any]) -> None:
        self.objects = objects
        numbers = _core.object_floats(objects)
        self._numbers: Floats | None = None if numbers is None else numbers[0]
        self.holds_numbers = numbers is not None
        # Objects without fractional numbers are categories, as integers are.
        self.is_float = numbers is not None and numbers[1]

    @property
    def is_integer(self) -> bool:
        """Whether all objects are integers or missing; booleans are not integers."""
        if self._numbers is None or self.is_float or np.isnan(self._numbers).all():
            return False
        return {bool, np.bool_}.isdisjoint(map(type, self.objects))

    def floats(self, label: str) -> Floats:
        """Return the objects as numbers, NaN where missing."""
        return self.coded(label).floats(label) if self._numbers is None else self._numbers

    def coded(self, label: str) -> CodedColumn:
        """Return distinct objects and their positions; objects that are equal are one value, as in a dict."""
        try:
            codes, values = _core.number_objects(self.objects)
        except TypeError as error:
            raise TypeError(f"{label}: {error}") from None
        return CodedColumn(codes, values).coded(label)

    def coded_apart(self, label: str) -> CodedColumn:
        """Return the same as `coded`, except that True and False are different from 1 and 0."""
        coded = self.coded(label)
        kinds = set(map(type, self.objects))
        if kinds.isdisjoint({bool, np.bool_}) or kinds <= {bool, np.bool_, str, type(None)}:
            return coded  # no boolean equals a number here
        codes, values = coded.codes.copy(), list(coded.values)
        for number, value in enumerate(coded.values):
            if not isinstance(value, (int, float, Decimal, Fraction)) or value not in (0, 1):
                continue
            is_truth = isinstance(value, bool)
            rows = np.flatnonzero(coded.codes == number)
            others = [row for row in rows if isinstance(self.objects[row], (bool, np.bool_)) != is_truth]
            if others:
                codes[others] = len(values)
                values.append(int(value) if is_truth else bool(value))
        return CodedColumn(codes, values)


Column = NumberColumn | CodedColumn | ObjectColumn


def unsupported(label: str, what: str) -> str:
    """Return the message for a column of an unsupported type."""
    return f"{label} contains {what}; expected strings, categories, booleans, integers or floats: convert or drop the column"


def is_missing(value: Any) -> bool:
    """Return whether a value is missing (None, NaN, NaT, pandas.NA)."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"

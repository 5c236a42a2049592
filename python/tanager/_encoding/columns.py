"""Columns of a table as the encoder sees them, whatever library they come from.

Three kinds are enough. `NumberColumn` holds numbers as they are. `CodedColumn` holds distinct values and, for every row,
the number of its value: that is what strings, categoricals and other objects become at once, in the core or in the
library that owns them. `ObjectColumn` holds Python objects until it is known whether they are numbers.
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
        In native byte order and aligned; of any stride.
    missing : ndarray of bool, default=None
        Where cells are missing; NaN is missing in any case.
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
        """Return the column as distinct values, ascending, with their numbers."""
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
    """Distinct values, and the number of the value of every row.

    Parameters
    ----------
    codes : ndarray of integers
        Numbers of values; -1 where missing.
    values : sequence
        The values, by number; those that mean missing (None, NaN) may be among them.
    declared : bool, default=False
        Whether the column's type lists the values in an order of its own, used or not.
    dtype : NumPy dtype, default=None
        What an array of the values should be of, if it was an array before.
    """

    is_float = False
    is_integer = False

    def __init__(
        self, codes: npt.NDArray[Any], values: Sequence[Any], *, declared: bool = False, dtype: Any = None
    ) -> None:
        self.codes = codes
        self.values = [value.item() if isinstance(value, np.generic) else value for value in values]
        self.declared = declared
        self.dtype = dtype

    def floats(self, label: str) -> Floats:
        """Return the values as numbers, NaN where missing."""
        for value in self.values:
            if not (is_missing(value) or isinstance(value, (int, float))):
                raise ValueError(f"{label} is to be read as numbers, but holds {value!r}")
        numbers = np.array([np.nan if is_missing(v) else float(v) for v in self.values] + [np.nan])
        return np.asarray(numbers[self.codes], dtype=np.float64)

    def coded(self, label: str) -> CodedColumn:
        """Return the column itself, after a look at its values."""
        for value in self.values:
            if isinstance(value, complex):
                raise ValueError(f"Complex data not supported: {label} holds {value!r}")  # noqa: TRY004
            if isinstance(value, (dt.date, dt.time, dt.timedelta)):
                raise TypeError(unsupported(label, f"{type(value).__name__} values such as {value!r}"))
        return self

    def used(self) -> npt.NDArray[np.bool_]:
        """Return which values occur."""
        found = np.zeros(len(self.values) + 1, dtype=bool)
        found[self.codes] = True  # -1 is the entry at the end
        return found[:-1]


class ObjectColumn:
    """Python objects of any kind."""

    def __init__(self, objects: npt.NDArray[Any]) -> None:
        self.objects = objects
        numbers = _core.object_floats(objects)
        self._numbers: Floats | None = None if numbers is None else numbers[0]
        self.holds_numbers = numbers is not None
        # Whole numbers among objects are categories, just as integers are.
        self.is_float = numbers is not None and numbers[1]

    @property
    def is_integer(self) -> bool:
        """Whether all objects are whole numbers, apart from missing ones; booleans are none."""
        if self._numbers is None or self.is_float or np.isnan(self._numbers).all():
            return False
        return {bool, np.bool_}.isdisjoint(map(type, self.objects))

    def floats(self, label: str) -> Floats:
        """Return the objects as numbers, NaN where missing."""
        return self.coded(label).floats(label) if self._numbers is None else self._numbers

    def coded(self, label: str) -> CodedColumn:
        """Return the objects numbered by equality, as a dict would."""
        try:
            codes, values = _core.number_objects(self.objects)
        except TypeError as error:
            raise TypeError(f"{label}: {error}") from None
        return CodedColumn(codes, values).coded(label)

    def coded_apart(self, label: str) -> CodedColumn:
        """Return the objects numbered by equality, but True and False apart from 1 and 0."""
        coded = self.coded(label)
        kinds = set(map(type, self.objects))
        if kinds.isdisjoint({bool, np.bool_}) or kinds <= {bool, np.bool_, str, type(None)}:
            return coded  # nothing was taken for its equal of another type
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
    """Say that a column cannot be used."""
    return (
        f"{label} holds {what}, but a feature must hold strings, categories, booleans, integers or floats; "
        "convert or drop the column"
    )


def is_missing(value: Any) -> bool:
    """Tell whether a value is one of the many ways to say nothing."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"

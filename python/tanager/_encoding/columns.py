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
from functools import partial
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


def array_column(values: npt.NDArray[Any], label: str) -> Column:
    """Return a column for a one-dimensional array of any type."""
    kind = values.dtype.kind
    if exceeds_int64(values):
        return ObjectColumn(values.astype(object))
    if kind in "biuf":
        return NumberColumn(native(values))
    if kind == "O":
        return ObjectColumn(values)
    if kind == "T":  # NumPy's strings of variable width
        return ObjectColumn(values.astype(object))
    if kind in "US":
        values = native(values)
        codes, first_rows = _core.number_fixed_strings(values)
        return CodedColumn(codes, values[first_rows].tolist(), dtype=values.dtype)
    if kind == "c":
        raise ValueError(f"Complex data not supported: {label} holds {values.dtype}")
    raise TypeError(unsupported(label, f"{values.dtype} values"))


def exceeds_int64(values: npt.NDArray[Any]) -> bool:
    """Tell whether an array holds integers of 2^63 or more, which the core does not know."""
    dtype = values.dtype
    return bool(dtype.kind == "u" and dtype.itemsize == 8 and values.size and values.max() > np.iinfo(np.int64).max)


def nullable_numbers(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> Column:
    """Return a column of numbers some of which are missing, whatever stands in their places."""
    if not exceeds_int64(values):
        return NumberColumn(native(values), missing)
    objects = values.astype(object)
    objects[missing] = None
    return ObjectColumn(objects)


def native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array in a layout that the core reads: native byte order, aligned, floats of 32 or 64 bits."""
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in {4, 8}:
        return values.astype(np.float32 if dtype.itemsize == 2 else np.float64)
    if not dtype.isnative:
        values = values.astype(dtype.newbyteorder("="))
    return values if values.flags.aligned else values.copy()


def pandas_column(series: Any, label: str) -> Column:
    """Return a column for a pandas Series."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_column(series.to_numpy(), label)
    if isinstance(dtype, pd.CategoricalDtype):
        return CodedColumn(series.cat.codes.to_numpy(), series.cat.categories.tolist(), declared=True).coded(label)
    if isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage != "python"):
        return arrow_column(series.array.__arrow_array__(), label)
    if isinstance(dtype, pd.SparseDtype):
        return pandas_column(series.sparse.to_dense(), label)
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and numpy_dtype.kind in "biuf":  # the nullable numbers
        missing = series.isna().to_numpy(dtype=bool)
        if not missing.any():
            return array_column(series.to_numpy(dtype=numpy_dtype), label)
        return nullable_numbers(series.to_numpy(dtype=numpy_dtype, na_value=numpy_dtype.type(0)), missing)
    if isinstance(dtype, (pd.DatetimeTZDtype, pd.PeriodDtype)):
        raise TypeError(unsupported(label, f"{dtype} values"))
    return ObjectColumn(series.to_numpy(dtype=object))


def polars_column(series: Any, label: str) -> Column:
    """Return a column for a polars Series."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String:
        return CodedColumn(*_core.number_arrow_strings(series.__arrow_c_stream__(None)))
    if dtype == pl.Enum:
        return CodedColumn(_polars_codes(series), dtype.categories.to_list(), declared=True)
    if dtype == pl.Categorical:
        # Which number a category has depends on all that the process has seen before, so only those here matter.
        distinct = series.drop_nulls().unique()
        book = _core.CodeBooks([_core.CodeBook(distinct.to_physical().to_numpy().astype(np.int64))])
        codes = book.encode(_polars_codes(series))[0][0].astype(np.int32)
        codes[series.is_null().to_numpy()] = -1
        return CodedColumn(codes, distinct.cast(pl.String).to_list())
    if dtype == pl.Decimal:
        series, dtype = series.cast(pl.Float64), pl.Float64
    if dtype == pl.Null:
        return CodedColumn(np.full(len(series), -1), [])
    if dtype == pl.Boolean or (dtype.is_numeric() and dtype not in _wide_polars_types(pl)):
        if series.null_count() == 0:
            return array_column(series.to_numpy(), label)
        filled = series.fill_null(value=False if dtype == pl.Boolean else 0).to_numpy()
        return nullable_numbers(filled, series.is_null().to_numpy())
    if dtype in (pl.Object, pl.Binary) or dtype.is_numeric():
        return ObjectColumn(_object_array(series.to_list()))
    raise TypeError(unsupported(label, f"{dtype} values"))


def _wide_polars_types(pl: Any) -> list[Any]:
    return [getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name)]


def _polars_codes(series: Any) -> npt.NDArray[np.int64]:
    codes: npt.NDArray[np.int64] = series.to_physical().cast(int).fill_null(-1).to_numpy()
    return codes


def arrow_column(column: Any, label: str) -> Column:
    """Return a column for a pyarrow Array or ChunkedArray."""
    import pyarrow as pa

    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if _is_arrow_type(column.type, "decimal"):
        column = column.cast(pa.float64())
    kind = partial(_is_arrow_type, column.type)
    if kind("string", "large_string", "string_view") and hasattr(column, "__arrow_c_stream__"):
        return CodedColumn(*_core.number_arrow_strings(column.__arrow_c_stream__(None)))
    if kind("dictionary") and column.num_chunks > 1 and any(c.dictionary.null_count for c in column.chunks):
        return arrow_column(column.cast(column.type.value_type), label)  # Arrow cannot unify dictionaries with nulls
    if kind("dictionary"):
        chunks = column.unify_dictionaries().chunks if column.num_chunks > 1 else column.chunks
        codes = _joined([_arrow_codes(chunk.indices) for chunk in chunks])
        return CodedColumn(codes, chunks[0].dictionary.to_pylist(), declared=True).coded(label)
    if kind("null"):
        return CodedColumn(np.full(len(column), -1), [])
    if kind("boolean", "integer", "floating"):
        values = _joined([_arrow_numbers(chunk) for chunk in column.chunks])
        if column.null_count == 0:
            return array_column(values, label)
        return nullable_numbers(values, _joined([_arrow_missing(chunk) for chunk in column.chunks]))
    if kind("string", "large_string", "string_view", "binary", "large_binary", "fixed_size_binary"):
        return ObjectColumn(_object_array(column.to_pylist()))
    raise TypeError(unsupported(label, f"{column.type} values"))


def _arrow_numbers(array: Any) -> npt.NDArray[Any]:
    """Return the cells of an Arrow array of numbers or booleans; where they are null, whatever stands there."""
    import pyarrow as pa

    if pa.types.is_boolean(array.type):
        return _arrow_bits(array.buffers()[1], array)
    cells = np.frombuffer(array.buffers()[1], dtype=array.type.to_pandas_dtype())
    return cells[array.offset : array.offset + len(array)]


def _arrow_missing(array: Any) -> npt.NDArray[np.bool_]:
    valid = array.buffers()[0]
    return np.zeros(len(array), dtype=bool) if valid is None else ~_arrow_bits(valid, array)


def _arrow_bits(bits: Any, array: Any) -> npt.NDArray[np.bool_]:
    first, last = array.offset // 8, (array.offset + len(array) + 7) // 8
    found = np.unpackbits(np.frombuffer(bits, dtype=np.uint8)[first:last], bitorder="little").view(np.bool_)
    begin = array.offset - 8 * first
    return found[begin : begin + len(array)]


def _arrow_codes(indices: Any) -> npt.NDArray[Any]:
    """Return indices into a dictionary, -1 where they are null."""
    codes = _arrow_numbers(indices)
    if indices.null_count == 0:
        return codes
    signed = codes if codes.dtype.kind == "i" else codes.astype(np.int64)
    return np.where(_arrow_missing(indices), signed.dtype.type(-1), signed)


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _is_arrow_type(arrow_type: Any, *names: str) -> bool:
    import pyarrow as pa

    tests = [getattr(pa.types, f"is_{name}", None) for name in names]  # older versions know fewer types
    return any(test(arrow_type) for test in tests if test is not None)


def _object_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Make an array of objects, one per value even if they are sequences themselves."""
    return np.fromiter(values, dtype=object, count=len(values))

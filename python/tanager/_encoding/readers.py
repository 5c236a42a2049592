"""Readers of columns: NumPy arrays, pandas and polars Series, and Arrow arrays become the types of `columns`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.arrays import native
from .columns import CodedColumn, Column, NumberColumn, ObjectColumn, unsupported


def array_column(values: npt.NDArray[Any], label: str) -> Column:
    """Read a one-dimensional array of any type."""
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
        raise ValueError(f"Complex data not supported: {label} has type {values.dtype}")
    raise TypeError(unsupported(label, f"{values.dtype} values"))


def exceeds_int64(values: npt.NDArray[Any]) -> bool:
    """Return whether an array has integers of 2^63 or more, which the core does not support."""
    dtype = values.dtype
    return bool(dtype.kind == "u" and dtype.itemsize == 8 and values.size and values.max() > np.iinfo(np.int64).max)


def nullable_numbers(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> Column:
    """Read numbers with a mask of missing values, whose placeholders are arbitrary."""
    if not exceeds_int64(values):
        return NumberColumn(native(values), missing)
    objects = values.astype(object)
    objects[missing] = None
    return ObjectColumn(objects)


def pandas_column(series: Any, label: str) -> Column:
    """Read a pandas Series."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_column(series.to_numpy(), label)
    if isinstance(dtype, pd.CategoricalDtype):
        return CodedColumn(series.cat.codes.to_numpy(), series.cat.categories.tolist(), has_order=True).coded(label)
    if isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage != "python"):
        return arrow_column(series.array.__arrow_array__(), label)
    if isinstance(dtype, pd.SparseDtype):
        return pandas_column(series.sparse.to_dense(), label)
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and numpy_dtype.kind in "biuf":  # nullable numbers
        missing = series.isna().to_numpy(dtype=bool)
        if not missing.any():
            return array_column(series.to_numpy(dtype=numpy_dtype), label)
        return nullable_numbers(series.to_numpy(dtype=numpy_dtype, na_value=numpy_dtype.type(0)), missing)
    if isinstance(dtype, (pd.DatetimeTZDtype, pd.PeriodDtype)):
        raise TypeError(unsupported(label, f"{dtype} values"))
    return ObjectColumn(series.to_numpy(dtype=object))


def polars_column(series: Any, label: str) -> Column:
    """Read a polars Series."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String:
        return CodedColumn(*_core.number_arrow_strings(series.__arrow_c_stream__(None)))
    if dtype == pl.Enum:
        return CodedColumn(_polars_codes(series), dtype.categories.to_list(), has_order=True)
    if dtype == pl.Categorical:
        # The physical codes depend on all categories in the process, so only those of this column are used.
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
    """Read a pyarrow Array or ChunkedArray."""
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
        return CodedColumn(codes, chunks[0].dictionary.to_pylist(), has_order=True).coded(label)
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
    """Return the values of an Arrow array of numbers or booleans; those of nulls are arbitrary."""
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
    """Return dictionary indices, -1 for nulls."""
    codes = _arrow_numbers(indices)
    if indices.null_count == 0:
        return codes
    signed = codes if codes.dtype.kind == "i" else codes.astype(np.int64)
    return np.where(_arrow_missing(indices), signed.dtype.type(-1), signed)


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _is_arrow_type(arrow_type: Any, *names: str) -> bool:
    import pyarrow as pa

    tests = [getattr(pa.types, f"is_{name}", None) for name in names]  # older versions have fewer types
    return any(test(arrow_type) for test in tests if test is not None)


def _object_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return an array of objects, one per value, even if the values are sequences."""
    return np.fromiter(values, dtype=object, count=len(values))

"""Encoding of class labels of any hashable type."""

from __future__ import annotations

from collections import UserList, deque
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import column_or_1d

from .. import _core
from .._utils.arrays import native
from .._utils.text import join_names
from .._utils.typing import MISSING_CODE, Codes
from .._utils.warnings import warn_user
from .column_encoder import category_array, check_n_values, sorted_values
from .columns import CodedColumn, Column, is_missing
from .readers import arrow_column, pandas_column, polars_column

_LISTS = (list, tuple, deque, UserList)


def encode_labels(y: Any, classes: Any = None, *, first_row: int = 0) -> tuple[npt.NDArray[Any], Codes]:
    """Encode class labels.

    Parameters
    ----------
    y : sequence, array or Series of shape (n_rows,)
        Labels of any hashable type, none missing.
    classes : sequence, default=None
        All labels that may occur; by default those that do.
    first_row : int, default=0
        The number of the first row in messages.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Sorted.
    codes : ndarray of uint8 or uint16
        The position of each label in `classes`.
    """
    numbered = _number_text(y, first_row)
    if numbered is None:
        labels = label_array(y, first_row)
        if labels.dtype.kind == "f":
            _check_float_labels(labels, first_row)
        numbered = _number_labels(labels, first_row)
    coded, values = numbered
    known = values if classes is None else _known_classes(classes)
    check_n_values(len(known), "y")
    if coded.codes.dtype.kind == "u" and coded.values == known.tolist():
        return known, coded.codes  # integers are sorted already, with codes of the smallest type
    index = {value: code for code, value in enumerate(known.tolist())}
    table = np.array([index.get(value, MISSING_CODE) for value in coded.values], dtype=np.uint16)
    if classes is not None and (table == MISSING_CODE).any():
        unknown = [value for value, code in zip(coded.values, table, strict=True) if code == MISSING_CODE]
        raise ValueError(f"y contains {join_names(unknown)}, but the classes are {join_names(known.tolist())}")
    return known, _core.recode(coded.codes, table, len(known))


def _number_text(y: Any, first_row: int) -> tuple[CodedColumn, npt.NDArray[Any]] | None:
    """Return string labels of a data frame without a Python object per row; None for other labels."""
    column = _text_column(y)
    if column is None or not len(column.codes):
        return None
    codes = column.codes
    if codes.min() < 0:
        raise ValueError(_no_label(codes < 0, first_row))
    used = column.used()
    values = [value for value, there in zip(column.values, used, strict=True) if there]
    if not all(isinstance(value, str) for value in values):
        return None
    if not used.all():
        codes = (np.cumsum(used) - 1)[codes]
    distinct = list(dict.fromkeys(values))  # dictionaries of Arrow may contain a value twice
    return CodedColumn(codes, values), category_array(sorted_values(distinct), object)


def _text_column(y: Any) -> CodedColumn | None:
    """Read a column of strings or categories; None for other labels."""
    if isinstance(y, np.ndarray):
        return None

    from narwhals import dependencies

    column: Column
    if hasattr(y, "to_pylist") and hasattr(y, "null_count"):  # Arrow's arrays, of one chunk or several
        import pyarrow as pa

        kind = y.type.value_type if pa.types.is_dictionary(y.type) else y.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return None
        column = arrow_column(y, "y")
    elif dependencies.is_pandas_series(y) and type(y.dtype).__name__ in {"StringDtype", "CategoricalDtype"}:
        column = pandas_column(y, "y")
    elif dependencies.is_polars_series(y) and str(y.dtype) == "String":
        column = polars_column(y, "y")
    else:
        return None
    return column if isinstance(column, CodedColumn) else None


def label_array(y: Any, first_row: int = 0) -> npt.NDArray[Any]:
    """Return labels as a one-dimensional array without changing their values."""
    if y is None:
        raise ValueError("y should be a 1d array, got None instead.")
    if issparse(y):
        raise TypeError("sparse y is not supported; pass a dense array, such as y.toarray().ravel()")
    if np.ma.is_masked(y):
        raise ValueError(_no_label(np.ma.getmaskarray(y), first_row))
    labels = _exact_array(list(y)) if isinstance(y, _LISTS) else np.asarray(_plain(y))
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y contains complex numbers")
    if labels.dtype.kind == "V":
        raise TypeError(f"y: expected one label per row, got a structured array of type {labels.dtype}")
    if labels.ndim != 1 or len(labels) == 0:
        if labels.ndim == 2 and labels.shape[1] == 1:
            message = "A column-vector y was passed when a 1d array was expected; pass y.ravel()"
            warn_user(message, DataConversionWarning)
        labels = column_or_1d(labels)
    if len(labels) == 0:
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required: y is empty.")
    return labels


def _plain(y: Any) -> Any:
    """Convert a Series of polars or pyarrow without turning integers into floats."""
    if hasattr(y, "to_pylist") and hasattr(y, "null_count"):
        return _object_list(y.to_pylist()) if y.null_count else y.to_numpy(zero_copy_only=False)
    if hasattr(y, "null_count") and callable(y.null_count) and hasattr(y, "to_list"):
        wide = str(y.dtype) in {"Int128", "UInt128"}  # NumPy has no such integers
        return _object_list(y.to_list()) if wide or y.null_count() else y
    return y


def _exact_array(values: list[Any]) -> npt.NDArray[Any]:
    """Return the array that NumPy makes of a list, or an array of objects if that would change a value.

    NumPy converts large integers next to floats into floats, booleans next to numbers into numbers, numbers next to strings
    into strings and tuples into rows of a table; and it drops null characters at the end of strings.
    """
    types = set(map(type, values))
    if any(issubclass(kind, tuple) for kind in types):
        return _object_list(values)
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biufSU":
        return array
    if len({issubclass(kind, (bool, np.bool_)) for kind in types}) > 1:
        return _object_list(values)
    if types == {str}:
        return _object_list(values) if any(text.endswith("\0") for text in set(values)) else array
    if any(issubclass(kind, np.generic) for kind in types):
        values = [v.item() if isinstance(v, np.generic) else v for v in values]
    return array if array.tolist() == values else _object_list(values)


def _object_list(values: Any) -> npt.NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _no_label(missing: npt.NDArray[np.bool_], first_row: int) -> str:
    return f"Input y contains NaN. Row {first_row + int(np.argmax(missing))} has no label."


def _check_float_labels(labels: npt.NDArray[Any], first_row: int = 0) -> None:
    if np.isnan(labels).any():
        raise ValueError(_no_label(np.isnan(labels), first_row))
    if np.isinf(labels).any():
        raise ValueError(f"Input y contains infinity or a value too large for {labels.dtype!r}.")
    if (labels != np.floor(labels)).any():
        raise ValueError(_continuous())


def _continuous() -> str:
    return (
        "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes, on a "
        "regression target with continuous values."
    )


def _number_labels(labels: npt.NDArray[Any], first_row: int) -> tuple[CodedColumn, npt.NDArray[Any]]:
    """Return the labels as distinct values and positions, and the distinct labels as a sorted array."""
    kind = labels.dtype.kind
    if kind in "biu" and labels.dtype != np.uint64:
        (keys,), (found,) = _core.learn_integers(native(labels))
        check_n_values(len(keys), "y")
        values = keys.astype(labels.dtype)
        return CodedColumn(found, values.tolist()), values
    if kind == "f" and float(abs(labels).max()) < 2**62:  # without a fraction, as was checked
        numbered, values = _number_labels(labels.astype(np.int64), first_row)
        values = values.astype(labels.dtype)
        return CodedColumn(numbered.codes, values.tolist()), values
    if kind == "O":
        return _number_objects(labels, first_row)
    if kind in "US":
        labels = native(labels)
        numbers, first_rows = _core.number_fixed_strings(labels)
        distinct = labels[first_rows]
        return CodedColumn(numbers, distinct.tolist()), np.sort(distinct)
    values, codes = np.unique(labels, return_inverse=True)
    if kind in "mM" and np.isnat(values).any():
        raise ValueError(_no_label(np.isnat(labels), first_row))
    return CodedColumn(codes.reshape(-1), values.tolist()), values


def _number_objects(labels: npt.NDArray[Any], first_row: int) -> tuple[CodedColumn, npt.NDArray[Any]]:
    try:
        codes, values = _core.number_objects(labels)
    except TypeError as error:
        raise TypeError(f"y: {error}") from None
    if codes.min() < 0:
        raise ValueError(_no_label(codes < 0, first_row))
    check_n_values(len(values), "y")  # before sorting, which is slow for millions of labels
    coded = CodedColumn(codes, values)
    if all(isinstance(v, (int, float)) for v in coded.values) and any(v % 1 for v in coded.values):
        raise ValueError(_continuous())
    return coded, category_array(sorted_values(coded.values), object)


def _known_classes(classes: Any) -> npt.NDArray[Any]:
    known = label_array(classes)
    if known.dtype.kind == "O":
        values = [v.item() if isinstance(v, np.generic) else v for v in known]
        if any(map(is_missing, values)):
            raise ValueError("classes: expected labels, got a missing value")
        return category_array(sorted_values(list(dict.fromkeys(values))), object)
    if known.dtype.kind == "f":
        _check_float_labels(known)
    return np.unique(known)


def class_name(y: Any, feature_names: list[str]) -> str:
    """Return the name of the labels, or "class"; with underscores added if a feature has the same name."""
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else "class"
    while name in feature_names:
        name += "_"
    return name

"""Class labels of any hashable kind to codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import column_or_1d

from . import _core
from ._categories import MISSING, category_array, check_number, sorted_values
from ._columns import CodedColumn, is_missing, native

Codes = npt.NDArray[Any]


def encode_labels(y: Any, classes: Any = None) -> tuple[npt.NDArray[Any], Codes]:
    """Encode class labels.

    Parameters
    ----------
    y : sequence, array or Series of shape (n_rows,)
        Labels of any hashable kind, none missing.
    classes : sequence, default=None
        All labels that may occur; by default those that do.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Sorted.
    codes : ndarray of uint8 or uint16
        For every row, the position of its label in `classes`.
    """
    labels = _label_array(y)
    if labels.dtype.kind == "f":
        _check_float_labels(labels)
    coded, values = _number_labels(labels)
    known = values if classes is None else _known_classes(classes)
    check_number(len(known), "y")
    index = {value: code for code, value in enumerate(known.tolist())}
    table = np.array([index.get(value, MISSING) for value in coded.values], dtype=np.uint16)
    if classes is not None and (table == MISSING).any():
        strangers = [value for value, code in zip(coded.values, table, strict=True) if code == MISSING]
        shown = ", ".join(map(repr, strangers[:5])) + (", ..." if len(strangers) > 5 else "")
        raise ValueError(f"y holds {shown}, but the classes are {known.tolist()}")
    if coded.codes.dtype.kind == "u" and table.tolist() == list(range(len(known))):
        return known, coded.codes  # integers come sorted, with codes as small as they can be
    return known, _core.recode(coded.codes, table, len(known))


def _label_array(y: Any) -> npt.NDArray[Any]:
    """Return the labels as a one-dimensional array."""
    if y is None:
        raise ValueError("y should be a 1d array, got None instead.")
    if issparse(y):
        raise TypeError("sparse y is not supported; pass a dense array, such as y.toarray().ravel()")
    if np.ma.is_masked(y):
        raise ValueError(f"Input y contains NaN. Row {int(np.argmax(np.ma.getmaskarray(y)))} has no label.")
    labels = _object_list(y) if _holds_mixed_types(y) else np.asarray(_plain(y))
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers")
    if labels.dtype.kind == "V":
        raise TypeError(f"y must hold one label per row, but is a structured array of {labels.dtype}")
    if labels.ndim != 1 or len(labels) == 0:
        labels = column_or_1d(labels, warn=True)
    if len(labels) == 0:
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required: y is empty.")
    return labels


def _plain(y: Any) -> Any:
    """Unwrap a Series of polars or pyarrow without turning integers with missing cells into floats."""
    if hasattr(y, "to_pylist") and hasattr(y, "null_count"):
        return _object_list(y.to_pylist()) if y.null_count else y.to_numpy(zero_copy_only=False)
    if hasattr(y, "null_count") and callable(y.null_count) and hasattr(y, "to_list") and y.null_count():
        return _object_list(y.to_list())
    return y


def _holds_mixed_types(y: Any) -> bool:
    # NumPy would turn the numbers beside strings into strings, and a list of tuples into a table.
    if not isinstance(y, (list, tuple)) or not y:
        return False
    if all(isinstance(v, tuple) for v in y):
        return True
    return any(isinstance(v, str) for v in y) and not all(isinstance(v, str) for v in y)


def _object_list(values: Any) -> npt.NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _check_float_labels(labels: npt.NDArray[Any]) -> None:
    if np.isnan(labels).any():
        raise ValueError(f"Input y contains NaN. Row {int(np.argmax(np.isnan(labels)))} has no label.")
    if np.isinf(labels).any():
        raise ValueError(f"Input y contains infinity or a value too large for {labels.dtype!r}.")
    if (labels != np.floor(labels)).any():
        raise ValueError(_continuous())


def _continuous() -> str:
    return (
        "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes, on a "
        "regression target with continuous values."
    )


def _number_labels(labels: npt.NDArray[Any]) -> tuple[CodedColumn, npt.NDArray[Any]]:
    """Return the labels by number, and the distinct ones as a sorted array."""
    kind = labels.dtype.kind
    if kind in "biu" and labels.dtype != np.uint64:
        (keys,), (found,) = _core.learn_integers(native(labels))
        check_number(len(keys), "y")
        values = keys.astype(labels.dtype)
        return CodedColumn(found, values.tolist()), values
    if kind == "O":
        return _number_objects(labels)
    if kind in "US":
        labels = native(labels)
        numbers, first_rows = _core.number_fixed_strings(labels)
        distinct = labels[first_rows]
        return CodedColumn(numbers, distinct.tolist()), np.sort(distinct)
    values, codes = np.unique(labels, return_inverse=True)
    if kind in "mM" and np.isnat(values).any():
        raise ValueError(f"Input y contains NaN. Row {int(np.argmax(np.isnat(labels)))} has no label.")
    return CodedColumn(codes.reshape(-1), values.tolist()), values


def _number_objects(labels: npt.NDArray[Any]) -> tuple[CodedColumn, npt.NDArray[Any]]:
    try:
        codes, values = _core.number_objects(labels)
    except TypeError as error:
        raise TypeError(f"y: {error}") from None
    if codes.min() < 0:
        raise ValueError(f"Input y contains NaN. Row {int(np.argmax(codes < 0))} has no label.")
    coded = CodedColumn(codes, values)
    if all(isinstance(v, (int, float)) for v in coded.values) and any(v % 1 for v in coded.values):
        raise ValueError(_continuous())
    return coded, category_array(sorted_values(coded.values), object)


def _known_classes(classes: Any) -> npt.NDArray[Any]:
    known = _label_array(classes)
    if known.dtype.kind == "O":
        values = [v.item() if isinstance(v, np.generic) else v for v in known]
        if any(map(is_missing, values)):
            raise ValueError("classes must not hold a missing value")
        return category_array(sorted_values(list(dict.fromkeys(values))), object)
    if known.dtype.kind == "f":
        _check_float_labels(known)
    return np.unique(known)

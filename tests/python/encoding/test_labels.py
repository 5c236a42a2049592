"""Class labels of any kind."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tanager._encoding.encoder import encode_labels


def labels_of(y, classes=None):
    known, codes = encode_labels(y, classes)
    assert codes.dtype == (np.uint8 if len(known) <= 254 else np.uint16)
    return known.tolist(), codes.tolist()


def test_labels_of_any_kind():
    assert labels_of(["b", "a", "b"]) == (["a", "b"], [1, 0, 1])
    assert labels_of([3, 1, 3]) == ([1, 3], [1, 0, 1])
    assert labels_of(np.array([True, False])) == ([False, True], [1, 0])
    assert labels_of(np.array([2.0, 1.0])) == ([1.0, 2.0], [1, 0])
    assert labels_of(["a", 1, "b"]) == ([1, "a", "b"], [1, 0, 2])
    pairs = np.empty(2, dtype=object)
    pairs[:] = [(1, 2), (0, 3)]
    assert labels_of(pairs) == ([(0, 3), (1, 2)], [1, 0])
    assert labels_of(pd.Series([(1, 2), (0, 3)])) == ([(0, 3), (1, 2)], [1, 0])
    assert labels_of(np.array([2**63 + 1, 5], dtype=np.uint64)) == ([5, 2**63 + 1], [1, 0])
    for series in (
        pd.Series(["x", "w"]),
        pd.Series(["x", "w"], dtype=object),
        pd.Series(["x", "w"], dtype="category"),
        pl.Series(["x", "w"]),
        pa.array(["x", "w"]),
        pa.chunked_array([["x"], ["w"]]),
    ):
        assert labels_of(series) == (["w", "x"], [1, 0])
    assert labels_of(np.arange(300)[::-1]) == (list(range(300)), list(range(300))[::-1])


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64, np.float16, bool, "U3", object])
def test_classes_keep_the_type(dtype):
    y = np.array([1, 0, 1]).astype(dtype)
    classes, codes = encode_labels(y)
    assert classes.dtype == y.dtype
    np.testing.assert_array_equal(classes[codes], y)


def test_dictionaries_that_hold_a_label_twice():
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["y", "x", "x", "a", "x"]))
    assert labels_of(labels) == (["a", "x", "y"], [2, 1, 1, 0])


def test_column_vectors_warn():
    from sklearn.exceptions import DataConversionWarning

    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert labels_of(np.array([[1], [0]])) == ([0, 1], [1, 0])
    with pytest.raises(ValueError, match="y should be a 1d array"), warnings.catch_warnings():
        encode_labels(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="y should be a 1d array, got None"):
        encode_labels(None)


def test_missing_labels():
    for y in (
        ["a", None, "b"],
        pd.Series(["a", None]),
        pd.Series([1, None], dtype="Int64"),
        pl.Series([1, None]),
        pl.Series(["a", None]),
        pa.array([1, None]),
        np.array([1.0, np.nan]),
        np.array([1, np.nan], dtype=object),
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        pd.Series(["a", pd.NA], dtype="string"),
    ):
        with pytest.raises(ValueError, match=r"Input y contains NaN\. Row 1 has no label"):
            encode_labels(y)


def test_labels_that_are_no_classes():
    with pytest.raises(ValueError, match=r"Input y contains infinity or a value too large for dtype\('float64'\)\."):
        encode_labels(np.array([np.inf, 1]))
    for y in (np.array([0.5, 1.0]), np.array([0.5, 1], dtype=object)):
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            encode_labels(y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        encode_labels(np.array([1j]))
    with pytest.raises(ValueError, match="0 sample"):
        encode_labels([])
    with pytest.raises(TypeError, match="y: argument must be"):
        encode_labels(np.array([{}], dtype=object))
    with pytest.raises(TypeError, match="structured"):
        encode_labels(np.zeros(2, dtype=[("a", int)]))
    with pytest.raises(TypeError, match="sparse"):
        encode_labels(sparse.csr_matrix(np.eye(2)))


def test_labels_of_given_classes():
    assert labels_of(["b", "b"], ["c", "b", "a"]) == (["a", "b", "c"], [1, 1])
    assert labels_of(np.array([2], dtype=np.int8), np.array([3, 2, 3])) == ([2, 3], [0])
    assert labels_of([1.0, 2.0], [1, 2]) == ([1, 2], [0, 1])
    with pytest.raises(ValueError, match=r"y contains 'q', 'r', but the classes are 'a', 'b'"):
        encode_labels(["a", "q", "r"], ["a", "b"])
    with pytest.raises(ValueError, match=r"y contains 5, 6, 7, 8, .*, but the classes"):
        encode_labels(range(20), range(5))


def test_tuples_beside_other_labels():
    assert labels_of([(1, 2), 0, (1, 2), "a"]) == ([0, "a", (1, 2)], [2, 0, 2, 1])

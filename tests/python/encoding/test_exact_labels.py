"""Labels and categories stay apart, and stay what they are, however nearly equal they look."""

from __future__ import annotations

import itertools
import pickle
from collections import UserList, deque

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tanager as tg
from tanager._encoding.encoder import encode_labels

# Values that NumPy makes one if they stand in one list.
TRAPS = [
    [2**63, 2**63 + 1, 5],
    [2**53, 2**53 + 1, 0.0],
    [2**64 - 1, 0],
    [2**64, 2**64 + 1, 1],
    [-(2**63) - 1, -(2**63), 0],
    ["a", "a\0", "a\0\0", "", "\0"],
    [b"a", b"a\0"],
    [np.uint64(2**63), np.int64(5), np.uint64(2**63 + 1)],
    [np.int64(2**53 + 1), np.float64(2**53)],
    [True, 2, 0.0],
    ["1", 1],
    [(1, "a"), (1, "a\0")],
]


def same(found, expected):
    """Whether values are equal and of one family: 1 and 1.0 are, 1 and True or "1" are not."""

    def plain(value):
        return value.item() if isinstance(value, np.generic) else value

    def family(value):
        return float if type(value) is int else type(value)

    found, expected = [plain(v) for v in found], [plain(v) for v in expected]
    return found == expected and [family(v) for v in found] == [family(v) for v in expected]


def containers(values):
    yield list(values)
    yield tuple(values)
    yield deque(values)
    yield UserList(values)
    yield np.fromiter(values, dtype=object, count=len(values))
    yield pd.Series(values, dtype=object)


@pytest.mark.parametrize("values", TRAPS, ids=repr)
def test_labels_stay_apart(values):
    for y in containers(values):
        classes, codes = encode_labels(y)
        assert len(classes) == len(values)
        assert same(classes[codes], values), (type(y), classes)
        declared, codes = encode_labels(y, classes=list(reversed(values)))
        assert same(declared[codes], values)


def test_random_labels_match_a_set_of_python_values():
    rng = np.random.default_rng(5)
    pool = [0, 1, 1.0, True, False, "1", "1\0", "", "\0", b"", b"\0", 2**53, 2**53 + 1, float(2**53), 2**63, 2**63 - 1]
    pool += [-(2**63), -(2**63) - 1, 2**64 - 1, 2**64, float(2**64), -1, np.int8(-1), np.uint64(2**64 - 1), "é", "é\0"]
    for _ in range(500):
        values = [pool[i] for i in rng.integers(len(pool), size=rng.integers(1, 7))]
        for y in containers(values):
            classes, codes = encode_labels(y)
            plain = [v.item() if isinstance(v, np.generic) else v for v in values]
            assert set(classes.tolist()) == set(plain), values
            assert classes[codes].tolist() == plain, values
            assert [isinstance(v, str) for v in classes[codes].tolist()] == [isinstance(v, str) for v in plain]


def test_lists_of_one_kind_keep_its_type():
    for values, kind in (
        ([1, 0], np.int64),
        ([1.0, 0], np.float64),
        ([True, False], np.bool_),
        (["ab", "a"], "<U2"),
        ([np.int8(1), np.int8(2)], np.int8),
        ([np.float32(1), np.float32(2)], np.float32),
    ):
        assert encode_labels(values)[0].dtype == kind


def test_series_of_wide_integers():
    newer = []  # what the oldest polars and NumPy do not have
    if hasattr(pl, "Int128"):
        newer.append(pl.Series([2**64, 2**64 + 1, 0], dtype=pl.Int128))
    if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
        newer.append(np.array(["a", "a\0", ""], dtype=np.dtypes.StringDType()))
    for series in (
        *newer,
        pl.Series([2**63, 2**63 + 1, 5], dtype=pl.UInt64),
        pd.Series(pd.array(["9223372036854775808", "9223372036854775809", "5"]).astype("UInt64")),
        pa.array([2**63, 2**63 + 1, 5], pa.uint64()),
        pa.array(["a", "a\0", ""]),
        pl.Series(["a", "a\0", ""]),
        pl.Series(["a", "a\0", ""], dtype=pl.Categorical),
        pd.Series(["a", "a\0", ""]),
        pd.Series(["a", "a\0", ""], dtype="string"),
        pd.Series(["a", "a\0", ""], dtype="category"),
    ):
        classes, codes = encode_labels(series)
        values = list(series.to_pylist() if hasattr(series, "to_pylist") else series)
        assert same(classes[codes], values)
        assert len(classes) == len(set(values))  # pandas 2.0 itself merges categories that differ in a trailing NUL


@pytest.mark.parametrize("values", TRAPS, ids=repr)
def test_predicted_labels_are_those_given(values, tmp_path):
    n = len(values)
    X = np.repeat(np.arange(n), 20)[:, None]
    y = [value for value in values for _ in range(20)]
    expected = [value for value in values for _ in range(20)]
    clf = tg.NaiveBayesClassifier().fit(X, y)
    parts = tg.NaiveBayesClassifier()
    for part in range(n):
        rows = slice(20 * part, 20 * part + 20)
        parts.partial_fit(X[rows], y[rows], classes=values)
    grown = tg.NaiveBayesClassifier()
    for part in range(n):
        rows = slice(20 * part, 20 * part + 20)
        grown.partial_fit(X[rows], y[rows])
    models = [clf, parts, grown, pickle.loads(pickle.dumps(clf))]
    if len({isinstance(v, str) for v in values}) == 1:
        models.append(tg.NaiveBayesClassifier().fit_stream([(X[i::3], y[i::3]) for i in range(3)]))
        models.append(
            tg.NaiveBayesClassifier().fit(X[:20], y[:20]).merge(tg.NaiveBayesClassifier().fit(X[20:], y[20:]))
        )
    if all(isinstance(v, (str, bool, int)) and (isinstance(v, str) or abs(v) < 2**63) for v in values):
        clf.save(tmp_path / "m.tng")
        models.append(tg.load(tmp_path / "m.tng"))
    for model in models:
        assert same(model.predict(X), expected)
    assert tg.evaluation.accuracy(y, clf.predict_proba(X), clf.classes_) == 1
    assert tg.evaluation.accuracy(y, clf.predict_proba(X), list(clf.classes_)) == 1
    assert tg.evaluation.accuracy(y, clf.predict_proba(X)) == 1
    assert tg.evaluation.cross_validate(clf, X, y, cv=4)["accuracy"].tolist() == [1] * 4
    assert tg.evaluation.cross_validate(clf, X, deque(y), cv=4)["accuracy"].tolist() == [1] * 4


@pytest.mark.parametrize("values", TRAPS, ids=repr)
def test_categories_stay_apart(values):
    y = list(range(len(values)))
    rows = [[value] for value in values]
    tables = [rows, pd.DataFrame({"a": pd.Series(values, dtype=object)})]
    tables.append(np.fromiter(values, dtype=object, count=len(values))[:, None])
    for X in tables:
        if isinstance(values[0], tuple) and X is rows:
            continue  # a table of three dimensions
        for clf in (
            tg.NaiveBayesClassifier(discretizer=None),
            tg.NaiveBayesClassifier(discretizer=None, categories=[values]),
        ):
            clf.fit(X, y)
            assert len(clf.categories_[0]) == len(values)
            assert clf.predict(X).tolist() == y
            assert pickle.loads(pickle.dumps(clf)).predict(X).tolist() == y


def test_rows_with_wide_integers_beside_fractions():
    rows = [[2**53, 0.5], [2**53 + 1, 0.25], [2**53, 0.5], [2**53 + 1, 0.25]]
    clf = tg.NaiveBayesClassifier().fit(rows, ["a", "b", "a", "b"])
    assert clf.categories_[0].tolist() == [2**53, 2**53 + 1]
    assert clf.predict(rows).tolist() == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    "labels", [["9223372036854775808", "9223372036854775809"], ["9007199254740993", "9007199254740992", "0.0"]]
)
def test_classes_of_csv_files(labels, tmp_path, run):
    lines = [f"v{i},{label}" for i, label in enumerate(labels) for _ in range(5)]
    for order in itertools.permutations(range(len(labels))):
        data = tmp_path / "data.csv"
        rows = [line for i in order for line in lines[5 * i : 5 * i + 5]]
        data.write_text("\n".join(["x,label", *rows]) + "\n")
        run.well("fit", data, "--class", "label", "--output", tmp_path / "m.tng")
        clf = tg.load(tmp_path / "m.tng")
        assert sorted(clf.classes_.tolist()) == sorted(labels)
        written = run.well("predict", tmp_path / "m.tng", data, "--without-probabilities", "--keep", "label")
        assert [line.split(",") for line in written.split()[1:]] == [[row.split(",")[1]] * 2 for row in rows]


@pytest.mark.parametrize("values", TRAPS, ids=repr)
def test_samples_hold_the_labels(values):
    clf = tg.NaiveBayesClassifier(discretizer=None).fit([[i] for i in range(len(values))], values)
    drawn = clf.network_.sample(50, random_state=1)["class"]
    assert all(any(same([value], [label]) for label in clf.classes_.tolist()) for value in drawn.tolist())

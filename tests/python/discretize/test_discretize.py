from __future__ import annotations

import importlib.util
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from tanager import _core
from tanager.discretize import (
    EqualFrequencyDiscretizer,
    EqualWidthDiscretizer,
    MDLPDiscretizer,
    interval_labels,
)

ALL = [MDLPDiscretizer(), EqualFrequencyDiscretizer(), EqualWidthDiscretizer()]
BINNED = [EqualFrequencyDiscretizer, EqualWidthDiscretizer]


@parametrize_with_checks(ALL)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ straightforward versions to compare with


def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return -np.sum(p * np.log2(p))


def reference_mdl(x, y, w):
    """Recursive minimal-entropy partition, every cut tried, every entropy from scratch."""
    keep = ~np.isnan(x) & (w > 0)
    x, y, w = x[keep], y[keep], w[keep]
    order = np.argsort(x, kind="stable")
    x, y, w = x[order], y[order], w[order]

    def counts(lo, hi):
        return np.bincount(y[lo:hi], w[lo:hi], minlength=5)

    def split(lo, hi):
        edges = [i for i in range(lo + 1, hi) if x[i - 1] < x[i]]
        if not edges:
            return []
        whole = counts(lo, hi)
        n = whole.sum()
        after = [
            (counts(lo, i).sum() * entropy(counts(lo, i)) + counts(i, hi).sum() * entropy(counts(i, hi))) / n
            for i in edges
        ]
        at = next(i for i, e in zip(edges, after, strict=True) if e <= min(after) + 1e-13)
        left, right = counts(lo, at), counts(at, hi)
        delta = math.log2(3.0 ** np.count_nonzero(whole) - 2) - sum(
            sign * np.count_nonzero(part) * entropy(part) for sign, part in ((1, whole), (-1, left), (-1, right))
        )
        if entropy(whole) - min(after) <= (math.log2(max(n - 1, 1)) + delta) / n:
            return []
        return [*split(lo, at), (x[at - 1] + x[at]) / 2, *split(at, hi)]

    return np.array(split(0, len(x)))


def reference_equal_frequency(x, bins, w):
    keep = ~np.isnan(x) & (w > 0)
    x, w = x[keep], w[keep]
    values = np.unique(x)
    below = np.array([w[x <= v].sum() for v in values[:-1]])
    middles = (values[:-1] + values[1:]) / 2
    chosen = {int(np.argmin(np.abs(below - k * w.sum() / bins))) for k in range(1, bins)} if len(below) else set()
    return middles[sorted(chosen)]


tables = st.integers(0, 60).flatmap(
    lambda n: st.tuples(
        hnp.arrays(np.float64, n, elements=st.integers(-12, 12).map(lambda v: math.nan if v == -12 else v / 4)),
        hnp.arrays(np.uint8, n, elements=st.integers(0, 4)),
        hnp.arrays(np.float64, n, elements=st.integers(0, 3)),
    )
)
sorted_classes = st.booleans()


@given(tables, sorted_classes)
@settings(deadline=None, max_examples=200)
@pytest.mark.slow
def test_mdl_cuts_equal_the_reference(table, related):
    x, y, w = table
    if related:  # classes that follow the numbers, to have cut points
        y = np.where(np.isnan(x), y, np.clip(np.nan_to_num(x) + 2, 0, 4)).astype(np.uint8)
    for weights in (np.ones(len(x)), w, w / 3):
        expected = reference_mdl(x, y, weights)
        np.testing.assert_array_equal(_core.mdl_cuts(x[:, None], y, 5, weights)[0], expected)
    np.testing.assert_array_equal(_core.mdl_cuts(x[:, None], y, 5)[0], reference_mdl(x, y, np.ones(len(x))))


@given(tables, st.integers(2, 9))
@settings(deadline=None, max_examples=200)
@pytest.mark.slow
def test_equal_frequency_cuts_equal_the_reference(table, bins):
    x, _, w = table
    for weights in (None, w):
        expected = reference_equal_frequency(x, bins, np.ones(len(x)) if weights is None else weights)
        np.testing.assert_array_equal(_core.equal_frequency_cuts(x[:, None], bins, weights)[0], expected)


@given(
    hnp.arrays(np.float64, st.integers(0, 2100), elements=st.floats(width=64)),
    st.lists(st.floats(allow_nan=False), max_size=300, unique=True),
)
@settings(deadline=None, max_examples=100)
def test_apply_cuts_is_a_sorted_search(x, cuts):
    cuts = np.sort(np.array(cuts, dtype=np.float64))
    codes = _core.apply_cuts(x, cuts)
    wide = len(cuts) > 253
    assert codes.dtype == (np.uint16 if wide else np.uint8)
    expected = np.where(np.isnan(x), 65535 if wide else 255, np.searchsorted(cuts, x))
    np.testing.assert_array_equal(codes, expected)


@given(hnp.arrays(np.float64, st.integers(2, 40), elements=st.floats(allow_nan=False, allow_infinity=False)))
@settings(deadline=None)
def test_every_cut_separates_its_two_values(x):
    x = np.unique(x)
    y = (np.arange(len(x)) % 2).astype(np.uint8)
    for method in (
        _core.mdl_cuts(x[:, None], y, 2),
        _core.equal_frequency_cuts(x[:, None], 65534),
        _core.equal_width_cuts(x[:, None], 7),
    ):
        (cuts,) = method
        codes = _core.apply_cuts(x, cuts)
        assert codes[0] == 0
        assert codes[-1] == len(cuts)
        assert (np.diff(codes.astype(int)) >= 0).all()
    # As many bins as values, one for each.
    (cuts,) = _core.equal_frequency_cuts(x[:, None], len(x))
    assert len(set(_core.apply_cuts(x, cuts))) == len(x)


# ------------------------------------------------------------------ known results


def test_cuts_of_iris():
    X, y = load_iris(return_X_y=True)
    found = MDLPDiscretizer().fit(X, y).cut_points_
    for cuts, expected in zip(found, [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]], strict=True):
        np.testing.assert_allclose(cuts, expected, rtol=1e-12)


def test_cuts_of_all_reference_tables(shared):
    spec = importlib.util.spec_from_file_location("prepare", shared / "data" / "prepare.py")
    prepare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(prepare)
    columns = 0
    for name in prepare.manifest():
        if name in {"adult", "letter", "shuttle"}:  # the reference takes long on these
            continue
        table = prepare.load(name)
        numeric = [c for c in table.columns if table[c].dtype.kind == "f"]
        if not numeric:
            continue
        y = table["class"].cat.codes.to_numpy()
        X = table[numeric].to_numpy()
        mdlp = MDLPDiscretizer(n_jobs=2).fit(X, y)
        fives = EqualFrequencyDiscretizer().fit(X)
        for j in range(len(numeric)):
            np.testing.assert_array_equal(mdlp.cut_points_[j], prepare.mdl_cuts(X[:, j], y), err_msg=name)
            np.testing.assert_array_equal(fives.cut_points_[j], prepare.equal_frequency_cuts(X[:, j]), err_msg=name)
        columns += len(numeric)
    assert columns > 150


@pytest.mark.parametrize(
    "x", [[5.0], [1.0, 1.0], [3.0] * 9, [math.nan] * 4, [-0.0, 0.0, -0.0], [math.nan, 2.0, math.nan]]
)
@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_columns_with_nothing_to_cut(estimator, x):
    X = np.array(x)[:, None]
    y = np.arange(len(x)) % 2
    codes = clone(estimator).fit(X, y).transform(X)
    np.testing.assert_array_equal(codes, np.where(np.isnan(X), np.nan, 0.0))


def test_one_class_gives_no_cuts():
    X = np.arange(20.0)[:, None]
    assert len(MDLPDiscretizer().fit(X, ["a"] * 20).cut_points_[0]) == 0


# ------------------------------------------------------------------ the transformers


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_codes_are_floats_and_missing_values_stay(estimator):
    X, y = load_iris(return_X_y=True)
    X[3, 1] = np.nan
    codes = clone(estimator).fit_transform(X, y)
    assert codes.dtype == np.float64
    assert np.isnan(codes[3, 1])
    assert np.isnan(codes).sum() == 1
    for j, cuts in enumerate(clone(estimator).fit(X, y).cut_points_):
        seen = codes[~np.isnan(codes[:, j]), j]
        assert set(seen) <= set(range(len(cuts) + 1))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_threads_layout_and_width_change_nothing(estimator):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    X = (rng.normal(size=(2000, 9)) + y[:, None]).astype(np.float32)
    weights = rng.random(2000)
    expected = clone(estimator).fit(X.astype(np.float64), y, weights)
    padded = np.zeros((4000, 18))
    padded[::2, ::2] = X
    read_only = np.asfortranarray(X)
    read_only.flags.writeable = False
    for n_jobs in (1, 2, 7, -1):
        for table in (X, read_only, padded[::2, ::2], padded[::2, ::2][::-1][::-1]):
            other = clone(estimator).set_params(n_jobs=n_jobs).fit(table, y, weights)
            for a, b in zip(other.cut_points_, expected.cut_points_, strict=True):
                np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(other.transform(table), expected.transform(X))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_names_frames_and_pickle(estimator):
    frame = load_iris(as_frame=True)
    fitted = clone(estimator).fit(frame.data, frame.target)
    np.testing.assert_array_equal(fitted.get_feature_names_out(), frame.data.columns)
    coded = clone(estimator).set_output(transform="pandas").fit(frame.data, frame.target).transform(frame.data)
    assert isinstance(coded, pd.DataFrame)
    assert list(coded.columns) == list(frame.data.columns)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(frame.data), coded.to_numpy())
    chained = make_pipeline(clone(estimator)).fit(frame.data, frame.target)
    np.testing.assert_array_equal(chained.transform(frame.data), coded.to_numpy())


def test_interval_labels():
    frame = load_iris(as_frame=True)
    mdlp = MDLPDiscretizer().fit(frame.data, frame.target)
    expected = ["(-inf, 2.45]", "(2.45, 4.75]", "(4.75, inf)"]
    assert mdlp.interval_labels("petal length (cm)") == expected
    assert mdlp.interval_labels(2) == expected
    assert interval_labels([]) == ["(-inf, inf)"]
    for cuts in (3.0, [[1.0]], [2.0, 1.0], [1.0, 1.0], [float("nan")]):
        with pytest.raises(ValueError, match="cuts: expected numbers in strictly increasing order, got"):
            interval_labels(cuts)
    assert interval_labels([1.0, np.nextafter(1.0, 2)]) == [
        "(-inf, 1]",
        "(1, 1.0000000000000002]",
        "(1.0000000000000002, inf)",
    ]
    with pytest.raises(ValueError, match="there is no feature 'petal'"):
        mdlp.interval_labels("petal")
    with pytest.raises(ValueError, match="expected an integer from 0 to 3, got 4"):
        mdlp.interval_labels(4)


def test_cuts_of_one_column_for_the_encoder():
    x = np.array([1.0, 2.0, np.nan, 3.0, 4.0])
    y = np.array([0, 0, 1, 1, 1], dtype=np.uint8)
    assert MDLPDiscretizer()._find_cuts(x, y, 2, np.full(5, 3.0)).tolist() == [2.5]
    assert MDLPDiscretizer()._find_cuts(np.repeat(x, 2)[::2], y.astype(np.uint16), 2, np.full(5, 3.0)).tolist() == [2.5]
    assert EqualFrequencyDiscretizer(2)._find_cuts(x, None, 1, None).tolist() == [2.5]
    assert EqualWidthDiscretizer(3)._find_cuts(x.astype(np.float32), None, 1, None).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="row 1 is infinite"):
        EqualWidthDiscretizer()._find_cuts(np.array([0.0, np.inf]), None, 1, None)
    with pytest.raises(ValueError, match="requires the class of every row"):
        MDLPDiscretizer()._find_cuts(x, None, 2, None)


@pytest.mark.parametrize("n_bins", [1, 0, -3, 2.5, "5", True, None, 65535])
@pytest.mark.parametrize("kind", BINNED)
def test_bins_that_make_no_sense(kind, n_bins):
    with pytest.raises(ValueError, match="n_bins: expected an integer from 2 to 65,534"):
        kind(n_bins).fit([[1.0], [2.0]])


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_invalid_input_is_rejected(estimator):
    X, y = np.arange(6.0)[:, None], [0, 1] * 3
    with pytest.raises(ValueError, match="infinity"):
        clone(estimator).fit([[1.0], [np.inf]], [0, 1])
    with pytest.raises(ValueError, match=r"expected shape \(6,\).* got \(2,\)"):
        clone(estimator).fit(X, y, [1.0, 2.0])
    with pytest.raises(ValueError, match="non-negative weights, got -1 in row 2"):
        clone(estimator).fit(X, y, [1, 1, -1, 1, 1, 1])
    with pytest.raises(ValueError, match="got only zeros"):
        clone(estimator).fit(X, y, np.zeros(6))
    with pytest.raises(NotFittedError):
        clone(estimator).transform(X)
    fitted = clone(estimator).fit(X, y)
    with pytest.raises(ValueError, match="expecting 1 features"):
        fitted.transform(np.ones((2, 2)))
    with pytest.raises(ValueError, match="infinity"):
        fitted.transform([[np.inf]])


def test_classes_that_cannot_be_used():
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="requires y to be passed"):
        MDLPDiscretizer().fit(X)
    with pytest.raises(ValueError, match="Unknown label type"):
        MDLPDiscretizer().fit(X, np.linspace(0, 1, 6))
    many = np.tile(np.arange(65_535), 3)
    with pytest.raises(ValueError, match="at most 65,534 classes, got 65,535"):
        MDLPDiscretizer().fit(many[:, None].astype(float), np.char.add("c", many.astype(str)))


def test_the_core_says_what_it_expects():
    x, cuts = np.zeros(3), np.zeros(1)
    with pytest.raises(ValueError, match="expected an array of 1 dimension, got one of 2"):
        _core.apply_cuts(np.zeros((3, 1)), cuts)
    with pytest.raises(ValueError, match="expected an array of 2 dimensions, got one of 1"):
        _core.equal_width_cuts(x, 3)
    with pytest.raises(ValueError, match="strictly increasing order, got 0"):
        _core.apply_cuts(x, np.zeros(2))
    with pytest.raises(ValueError, match="at most 65533 cut points, but there are 65534"):
        _core.apply_cuts(x, np.arange(65_534.0))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.apply_cuts(np.zeros(3, dtype=int), cuts)

"""k-dependence classifiers against NumPy versions that work from the rows alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st

MISSING = 255


def random_codes(seed, rows=200, features=6, values=3, classes=3, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    X = rng.integers(values, size=(rows, features))
    X[:, 1] = (X[:, 0] + y + (rng.random(rows) < 0.3)) % values
    X[:, 2] = np.where(rng.random(rows) < 0.6, (X[:, 1] + X[:, 0]) % values, X[:, 2])
    X[rng.random(X.shape) < missing] = MISSING
    return X.astype(np.uint8), y.astype(np.uint8)


def information(a, b, given_, weights):
    """I(A;B|G) of columns in nats, from probabilities; rounded, so noise breaks no ties."""
    seen = (a != MISSING) & (b != MISSING)
    a, b, g, w = a[seen], b[seen], given_[seen], weights[seen]
    total = w.sum()
    result = 0.0
    for value in np.unique(g):
        for x in np.unique(a):
            for y in np.unique(b):
                p = w[(a == x) & (b == y) & (g == value)].sum()
                if p > 0:
                    p_x, p_y = w[(a == x) & (g == value)].sum(), w[(b == y) & (g == value)].sum()
                    result += p / total * np.log(p * w[g == value].sum() / (p_x * p_y))
    return round(result, 10)


def slow_parents(X, y, k, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    features = range(X.shape[1])
    about_class = [information(X[:, f], y, np.zeros(len(y)), weights) for f in features]
    ranking = sorted(features, key=lambda f: (-about_class[f], f))
    parents = [[] for _ in features]
    for i, child in enumerate(ranking):
        shared = {p: information(X[:, child], X[:, p], y, weights) for p in ranking[:i]}
        parents[child] = sorted(sorted(ranking[:i], key=lambda p: (-shared[p], ranking.index(p)))[:k])
    return parents


def as_objects(X):
    table = X.astype(object)
    table[X == MISSING] = None
    return table


def parents_of(clf):
    network = clf.network_
    names = network.feature_names
    return [sorted(names.index(p) for p in network.parents(name)[:-1]) for name in names]


@pytest.mark.parametrize("k", [0, 1, 2, 3, 5, 50])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_structure_by_brute_force(k, missing):
    X, y = random_codes(k, missing=missing)
    clf = tg.KDBClassifier(k=k).fit(as_objects(X), y)
    assert parents_of(clf) == slow_parents(X, y, k)
    assert clf.network_.is_naive == (k == 0)


def test_structure_of_weighted_rows():
    X, y = random_codes(3)
    weights = np.random.default_rng(3).integers(0, 4, len(y)).astype(float)
    clf = tg.KDBClassifier().fit(X, y, sample_weight=weights)
    assert parents_of(clf) == slow_parents(X, y, 2, weights)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    again = tg.KDBClassifier().fit(X[repeated], y[repeated])
    np.testing.assert_allclose(clf.predict_proba(X), again.predict_proba(X), rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(hs.integers(0, 2**32 - 1), hs.integers(1, 4), hs.booleans())
def test_structure_of_any_table(seed, k, missing):
    # Few rows: ties abound.
    X, y = random_codes(seed, rows=12, features=5, values=2, classes=2, missing=0.2 * missing)
    dataset = _core.Dataset(list(np.ascontiguousarray(X.T)), [2] * 5, y, 2)
    counts = _core.CountSet.count(dataset, "pairs")
    assert _core.learn_kdb(counts, k) == slow_parents(X, y, k)


def test_tables_are_those_of_the_rows():
    X, y = random_codes(5, missing=0.1)
    clf = tg.KDBClassifier(parameters=pr.Dirichlet(alpha=0.5)).fit(as_objects(X), y)
    for child, parents in enumerate(parents_of(clf)):
        table = clf.network_.cpt(f"x{child}")
        for values in np.ndindex(*[3] * len(parents), 3):
            names = [*(f"x{p}" for p in parents), "class"]
            given_ = (y == values[-1]) & (X[:, child] != MISSING)
            for parent, value in zip(parents, values, strict=False):
                given_ &= X[:, parent] == value
            counts = np.array([(given_ & (X[:, child] == v)).sum() for v in range(3)])
            found = [table[dict(zip(names, values, strict=True)) | {f"x{child}": v}] for v in range(3)]
            np.testing.assert_allclose(found, (counts + 0.5) / (counts.sum() + 1.5), rtol=1e-13)


def test_posteriors_are_those_of_the_same_structure_given():
    X, y = random_codes(6, missing=0.1)
    table = as_objects(X)
    clf = tg.KDBClassifier(k=3).fit(table, y)
    arcs = [(p, child) for child, parents in enumerate(parents_of(clf)) for p in parents]
    given_ = tg.BayesNetClassifier(structure=st.FixedStructure(arcs)).fit(table, y)
    np.testing.assert_array_equal(clf.predict_proba(table), given_.predict_proba(table))


def test_ties_go_to_the_first():
    # A full factorial whose class is the sum of its features: all features are equally informative, and so are all pairs.
    X = np.array(np.meshgrid(*[[0, 1]] * 4, indexing="ij")).reshape(4, -1).T
    X[:, 2] = 1 - X[:, 2]
    y = X[:, [0, 1, 3]].sum(axis=1) - X[:, 2]
    assert parents_of(tg.KDBClassifier(k=1).fit(X, y)) == [[], [0], [0], [0]]
    assert parents_of(tg.KDBClassifier(k=2).fit(X, y)) == [[], [0], [0, 1], [0, 1]]


def test_small_k_are_known_classifiers():
    X, y = random_codes(8)
    naive = tg.NaiveBayesClassifier().fit(X, y)
    np.testing.assert_array_equal(tg.KDBClassifier(k=0).fit(X, y).predict_proba(X), naive.predict_proba(X))
    complete = tg.KDBClassifier(k=5).fit(X, y).network_
    assert complete.is_semi_naive
    assert len(complete.feature_arcs) == 15


def test_wrong_settings_are_named_before_parts_are_rejected():
    X, y = random_codes(11)
    with pytest.raises(ValueError, match="k: expected an integer"):
        tg.KDBClassifier(k="many").partial_fit(X, y)
    with pytest.raises(ValueError, match="structure: expected one of"):
        tg.BayesNetClassifier(structure="kbd").partial_fit(X, y)


def test_tables_too_large_are_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.permutation(np.arange(600) % 300) for name in ("a", "b", "c", "d")})
    with pytest.raises(ValueError, match=r"the table of '[abcd]' given '[abcd]', '[abcd]', '[abcd]', the class would"):
        tg.KDBClassifier(k=3).fit(frame, np.arange(600) % 2)
    with pytest.raises(ValueError, match="65 parents, but at most 64"):
        tg.KDBClassifier(k=99).fit(np.zeros((4, 70), dtype=int), [0, 1, 0, 1])


@pytest.mark.parametrize("k", [-1, 1.5, "2", None, True])
def test_k_is_checked(k):
    X, y = random_codes(12)
    with pytest.raises(ValueError, match="k: expected an integer >= 0, got"):
        tg.KDBClassifier(k=k).fit(X, y)


def test_integers_of_numpy_are_settings_of_files(tmp_path):
    X, y = random_codes(13)
    clf = tg.KDBClassifier(k=np.int64(3)).fit(X, y)
    clf.save(tmp_path / "model.tng")
    assert tg.load(tmp_path / "model.tng").k == 3

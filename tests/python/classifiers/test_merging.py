"""Fitted parts that become the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from dependent_tables import learned_alike, make_table
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tanager as tg

RNG = np.random.default_rng(11)


CLASSIFIERS = [
    tg.NaiveBayesClassifier(),
    tg.TANClassifier(),
    tg.AODEClassifier(),
    tg.TBMATANClassifier(),
    tg.BayesNetClassifier(tg.structure.FixedStructure([(0, 1), (2, 1)])),
]


@pytest.mark.parametrize("clf", CLASSIFIERS, ids=lambda clf: type(clf).__name__)
def test_merged_parts_are_the_whole(clf):
    X, y = make_table(200, missing=0.1)
    X, y = X.assign(number=RNG.integers(5, size=200)), y.copy()
    X.iloc[:120, 3] = np.where(X.iloc[:120, 3] == "v0", "v3", X.iloc[:120, 3])  # v0 only in the last part
    X.iloc[60:, 1] = np.where(X.iloc[60:, 1] == "v2", "v1", X.iloc[60:, 1])  # v2 only in the first
    X.iloc[:60, 0] = None  # nothing at first
    y[60:120] = np.where(y[60:120] == "a", "d", y[60:120])
    parts = [slice(0, 60), slice(60, 120), slice(120, 200)]
    models = [clone(clf).fit(X[part], y[part]) for part in parts]
    before = [model.predict_proba(X) for model in models]
    merged = models[0].merge(*models[1:])
    assert type(merged) is type(clf)
    learned_alike(merged, clone(clf).fit(X, y), X)
    learned_alike(models[2].merge(models[0]).merge(models[1]), merged, X)
    learned_alike(models[0].merge(), models[0], X)
    for model, proba in zip(models, before, strict=True):
        np.testing.assert_array_equal(model.predict_proba(X), proba)
    learned_alike(merged.partial_fit(X, y), clone(clf).fit(pd.concat([X, X]), np.concatenate([y, y])), X)


def test_models_of_numbers_merge_if_their_cut_points_are_equal():
    X, y = make_table(200)
    X = X.assign(size=np.where(y == "a", 0.0, 3.0) + RNG.normal(size=200))
    first = tg.TANClassifier().fit(X, y)
    second = tg.TANClassifier().fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="column 'size' has different cut points"):
        first.merge(second)
    assert first.merge(first).counts_.n_rows == 400
    with pytest.raises(ValueError, match="column 'size' is discretized in only one of them"):
        first.merge(tg.TANClassifier(discretizer=None).fit(X, y))


def test_models_that_cannot_be_merged(tmp_path):
    X, y = make_table(50)
    clf = tg.TBMATANClassifier().fit(X, y)
    with pytest.raises(TypeError, match="expected models of the same type, got TBMATANClassifier and AODEClassifier"):
        clf.merge(tg.AODEClassifier().fit(X, y))
    with pytest.raises(NotFittedError):
        clf.merge(tg.TBMATANClassifier())
    with pytest.raises(NotFittedError):
        tg.TBMATANClassifier().merge(clf)
    with pytest.raises(ValueError, match="cannot merge models of different columns"):
        clf.merge(tg.TBMATANClassifier().fit(X.drop(columns="f0"), y))
    fixed = tg.BayesNetClassifier(tg.structure.FixedStructure([(0, 1), (2, 1)])).fit(X, y)
    with pytest.raises(ValueError, match="they count tables of different features"):
        fixed.merge(tg.BayesNetClassifier(tg.structure.FixedStructure([(0, 2), (1, 2)])).fit(X, y))
    naive = tg.NaiveBayesClassifier().fit(X, y)
    naive.save(tmp_path / "naive.tng")
    with pytest.raises(ValueError, match="saved without counts and cannot be merged"):
        naive.merge(tg.load(tmp_path / "naive.tng"))
    assert not hasattr(tg.BayesNetClassifier("hill-climb"), "merge")
    declared = tg.TANClassifier(categories={"f0": ["v0", "v1"]}).fit(X, y)
    other = tg.TANClassifier(categories={"f0": ["v0", "v1", "w"]}).fit(X, y)
    with pytest.raises(ValueError, match="contains 'w', which is not among the categories declared for it"):
        declared.merge(other)

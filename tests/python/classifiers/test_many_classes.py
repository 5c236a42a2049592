"""Columns of one value beside more classes than 8 bits hold: every way to count agrees with the plain one."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import tanager as tg
from tanager.evaluation import accuracy, cross_validate, log_loss

CLASSIFIERS = [tg.TANClassifier(), tg.AODEClassifier(), tg.KDBClassifier(k=2)]


def named(classifier):
    return type(classifier).__name__


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=named)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n_classes", [255, 256, 257, 1000])
def test_fit_agrees_with_unit_weights(classifier, n_classes, missing):
    # Weighted rows are counted by another kernel.
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 3, size=(3000, 6)).astype(object)
    X[:, 3] = 7
    if missing:
        X[rng.random(X.shape) < 0.1] = None
        X[:, 2] = 1
    y = np.arange(3000) % n_classes
    fast = clone(classifier).fit(X, y).predict_proba(X[:100])
    plain = clone(classifier).fit(X, y, sample_weight=np.ones(3000)).predict_proba(X[:100])
    np.testing.assert_array_equal(fast, plain)


@pytest.fixture(scope="module")
def letters():
    """26 classes, five columns of numbers with few bins, and two of noise that are discretized to one bin."""
    rng = np.random.default_rng(26)
    y = rng.permutation(np.arange(3900) % 26)
    X = rng.normal(scale=0.2, size=(len(y), 7))
    X[:, :5] += y[:, None] >> np.arange(5) & 1
    letter = pd.Series([chr(ord("A") + k) for k in y], name="letter")
    return pd.DataFrame(X, columns=["a", "b", "c", "d", "e", "noise", "more noise"]), letter


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=named)
def test_cross_validation_of_26_classes_in_10_folds_is_the_plain_loop(classifier, letters):
    X, y = letters
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    found = cross_validate(classifier, X, y, cv=splits)
    for k, (train, test) in enumerate(splits):
        fitted = clone(classifier).fit(X.iloc[train], y.iloc[train])
        assert [len(values) for values in fitted.categories_[-2:]] == [1, 1]
        proba = fitted.predict_proba(X.iloc[test])
        assert found["accuracy"][k] == accuracy(y.iloc[test], proba, fitted.classes_)
        assert found["log_loss"][k] == log_loss(y.iloc[test], proba, fitted.classes_)


def test_compare_succeeds_for_every_method(run, letters, tmp_path):
    X, y = letters
    path = tmp_path / "letters.csv"
    X.assign(letter=y).to_csv(path, index=False)
    methods = ("naive", "tan", "tan-bic", "aode", "tbmatan")
    shown = run.well("compare", path, "--class", "letter", "--numeric", "number", "--methods", *methods, "--json")
    found = {trial["method"]: trial for trial in json.loads(shown)}
    assert set(found) == set(methods)
    for trial in found.values():
        assert "failure" not in trial, trial
        assert all(trial[score]["mean"] is not None for score in ("accuracy", "log_loss")), trial

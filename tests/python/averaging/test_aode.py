"""AODE against what R's bnclassify computes, and against the definition written out."""

from __future__ import annotations

import csv
import itertools
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import tanager as tg
from tanager import _core

COMPLETE = ["car", "voting_complete", "soybean_complete"]
TOLERANCE = 1e-10


# -- against R


@pytest.fixture(scope="module")
def golden(shared):
    cache = {}

    def read(name):
        if name not in cache:
            found = json.loads((shared / "goldens" / f"{name}.json").read_text())
            levels = json.loads((shared / "goldens" / found["levels"]).read_text())["levels"]
            with (shared / "goldens" / found["csv"]).open(newline="") as file:
                rows = list(csv.DictReader(file))
            target = found["class"]
            X = pd.DataFrame(
                {c: pd.Categorical([row[c] for row in rows], categories=v) for c, v in levels.items() if c != target}
            )
            cache[name] = found["aode"], X, np.array([row[target] for row in rows]), levels[target]
        return cache[name]

    return read


@pytest.mark.parametrize("alpha", ["0", "0.01", "1"])
@pytest.mark.parametrize("name", COMPLETE)
def test_goldens(golden, name, alpha):
    found, X, y, classes = golden(name)
    expected = found[alpha]
    clf = tg.AODEClassifier(alpha=float(alpha)).partial_fit(X, y, classes=classes)
    assert expected["superparents"] == list(X.columns)
    order = [list(clf.classes_).index(c) for c in expected["predict"]["classes"]]
    rows = np.array(expected["predict"]["rows_1based"]) - 1
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba[rows][:, order], expected["predict"]["posterior"], atol=TOLERANCE, rtol=0)
    truth = [list(clf.classes_).index(label) for label in y]
    cloglik = clf.predict_log_proba(X)[np.arange(len(y)), truth].sum()
    assert cloglik == pytest.approx(expected["cloglik"], rel=TOLERANCE, abs=TOLERANCE)
    assert expected["predict"]["rows_within_maxcol_tie_tol_1based"] == []
    np.testing.assert_array_equal(proba[:, order].argmax(axis=1), expected["predict"]["argmax_all_0based"])
    assert np.mean(clf.predict(X) == y) == pytest.approx(expected["predict"]["accuracy_argmax_first"])


@pytest.mark.parametrize("name", COMPLETE)
def test_golden_tables(golden, name):
    found, X, y, classes = golden(name)
    clf = tg.AODEClassifier().partial_fit(X, y, classes=classes)
    names, core = list(X.columns), clf._core_model
    order = [list(clf.classes_).index(c) for c in classes]
    assert found["1"]["spode_cpts"]
    for parent, cpts in found["1"]["spode_cpts"].items():
        for cpt in cpts.values():
            family = cpt["family"] if isinstance(cpt["family"], list) else [cpt["family"]]
            values = np.array(cpt["values"]).reshape(cpt["dim"], order="F")
            features = [v for v in family if v in names]
            if not features:
                ours = core.class_probabilities[order]
            elif features == [parent]:
                ours = core.single(names.index(parent))[:, order]
            else:
                assert features[0] != parent  # the child stands first in R's families
                assert features[1] == parent
                ours = core.pair(names.index(parent), names.index(features[0]))[:, :, order].transpose(1, 0, 2)
            np.testing.assert_allclose(ours, values, atol=TOLERANCE, rtol=0)


# -- against the definition


def slow_joint(X, y, row, n_values, n_classes, alpha, min_count, weights):
    """P(class, row): the average over super-parents of sums over all completions, from available cases."""

    def share(rows, fitting, n):
        total = weights[rows].sum() + n * alpha
        return (weights[rows & fitting].sum() + alpha) / total if total > 0 else 1 / n

    def probability(p, complete, c):
        """One model, or naive Bayes if p is None; a child whose value is missing is skipped (None)."""
        result = share(np.ones(len(y), dtype=bool), y == c, n_classes)
        for i, value in enumerate(complete):
            if value is None:
                continue
            rows = (y == c) & (X[:, i] >= 0)
            if p is not None and i != p:
                rows &= X[:, p] == complete[p]
            result *= share(rows, X[:, i] == value, n_values[i])
        return result

    cells = [None if value < 0 else int(value) for value in row]
    joint = np.zeros(n_classes)
    n_models = 0
    for p, value in enumerate(cells):
        if min_count > 0 and (value is None or weights[X[:, p] == value].sum() < min_count):
            continue
        n_models += 1
        for v in range(n_values[p]) if value is None else [value]:
            complete = [*cells[:p], v, *cells[p + 1 :]]
            joint += [probability(p, complete, c) for c in range(n_classes)]
    if n_models == 0:
        return np.array([probability(None, cells, c) for c in range(n_classes)])
    return joint / n_models


@hs.composite
def problems(draw):
    n_features, n_rows = draw(hs.integers(1, 4)), draw(hs.integers(1, 12))
    n_values = draw(hs.lists(hs.integers(1, 3), min_size=n_features, max_size=n_features))
    n_classes = draw(hs.integers(1, 3))
    cells = [hs.integers(-1, r - 1) for r in n_values]
    X = np.array(draw(hs.lists(hs.tuples(*cells), min_size=n_rows, max_size=n_rows)))
    new = np.array(draw(hs.lists(hs.tuples(*cells), min_size=1, max_size=4)))
    y = np.array(draw(hs.lists(hs.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows)))
    weights = draw(hs.none() | hs.lists(hs.sampled_from([0.5, 1.0, 3.0]), min_size=n_rows, max_size=n_rows))
    return (
        X,
        y,
        new,
        n_values,
        n_classes,
        draw(hs.sampled_from([0.0, 0.3, 1.0])),
        draw(hs.sampled_from([0, 1, 2.5])),
        weights,
    )


def as_table(codes, n_values):
    return pd.DataFrame(
        {f"f{i}": pd.Categorical.from_codes(codes[:, i], categories=range(r)) for i, r in enumerate(n_values)}
    )


@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_definition(problem):
    X, y, new, n_values, n_classes, alpha, min_count, weights = problem
    clf = tg.AODEClassifier(alpha=alpha, min_count=min_count)
    clf.partial_fit(as_table(X, n_values), y, classes=range(n_classes), sample_weight=weights)
    weights = np.ones(len(y)) if weights is None else np.array(weights)
    table = as_table(new, n_values)
    joint = clf.predict_joint_log_proba(table)
    proba = clf.predict_proba(table)
    for i, row in enumerate(new):
        expected = slow_joint(X, y, row, n_values, n_classes, alpha, min_count, weights)
        np.testing.assert_allclose(np.exp(joint[i]), expected, rtol=1e-12, atol=0)
        total = expected.sum()
        np.testing.assert_allclose(proba[i], expected / total if total > 0 else 1 / n_classes, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(table)), proba, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(clf.predict(table), proba.argmax(axis=1))


def test_all_completions_of_a_row_sum_to_the_row_with_gaps():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 4))
    clf = tg.AODEClassifier().fit(X, rng.integers(0, 2, 60))
    complete = np.array([(a, b, 1, c) for a, b, c in itertools.product(range(3), repeat=3)])
    with_gap = np.array([[np.nan, np.nan, 1, np.nan]])
    columns = [np.full(1, 255, np.uint8)] * 2 + [np.ones(1, np.uint8), np.full(1, 255, np.uint8)]
    expected = np.exp(clf.predict_joint_log_proba(complete)).sum(axis=0)
    np.testing.assert_allclose(np.exp(clf._predictor.predict(columns, 1, "log_joint"))[0], expected, rtol=1e-12)
    np.testing.assert_allclose(clf.predict_proba(with_gap)[0], expected / expected.sum(), rtol=1e-12)


# -- behavior


def make_table(n_rows=300, n_features=6, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    X = np.where(rng.random((n_rows, n_features)) < 0.5, y[:, None], rng.integers(0, 4, (n_rows, n_features)))
    return pd.DataFrame(X, columns=[f"c{i}" for i in range(n_features)]).astype(str), np.array(["a", "b", "c"])[y]


def test_one_feature_is_naive_bayes():
    X, y = make_table(n_features=1)
    expected = tg.NaiveBayesClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(tg.AODEClassifier().fit(X, y).predict_proba(X), expected, rtol=1e-13)


def test_a_high_minimum_is_naive_bayes():
    X, y = make_table()
    X.iloc[::7, 2] = None
    expected = tg.NaiveBayesClassifier().fit(X, y)
    clf = tg.AODEClassifier(min_count=1000).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), expected.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), expected.predict_joint_log_proba(X), rtol=1e-12)


def test_class_prior_is_not_smoothed():
    X, y = make_table()
    clf = tg.AODEClassifier(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_array_equal(clf._core_model.class_probabilities, [0.2, 0.3, 0.5])
    plain = tg.AODEClassifier().fit(X, y)
    ratio = clf.predict_proba(X) / plain.predict_proba(X)
    ratio /= np.array([0.2, 0.3, 0.5]) / plain._core_model.class_probabilities
    np.testing.assert_allclose(ratio / ratio[:, :1], 1, rtol=1e-12)


@pytest.mark.parametrize("with_counts", [False, True])
def test_files_and_pickles_predict_the_same_bits(tmp_path, with_counts):
    X, y = make_table()
    X["number"] = np.random.default_rng(5).normal(size=300) + (y == "a")
    X.iloc[::9, 0] = None
    clf = tg.AODEClassifier(alpha=0.5, min_count=3).fit(X, y)
    expected = clf.predict_proba(X)
    clf.save(tmp_path / "model.tng", with_counts=with_counts)
    loaded = tg.load(tmp_path / "model.tng")
    assert isinstance(loaded, tg.AODEClassifier)
    assert loaded.get_params() == clf.get_params()
    for copy in (loaded, pickle.loads(pickle.dumps(clf)), pickle.loads(pickle.dumps(loaded))):
        np.testing.assert_array_equal(copy.predict_proba(X), expected)
        assert copy.n_parameters_ == clf.n_parameters_
        assert list(copy.classes_) == list(clf.classes_)
    if with_counts:
        loaded.partial_fit(X, y)
        np.testing.assert_array_equal(loaded.predict_proba(X), clf.partial_fit(X, y).predict_proba(X))
    else:
        with pytest.raises(ValueError, match="without counts"):
            loaded.partial_fit(X, y)


def test_a_file_whose_settings_name_another_classifier_is_rejected(tmp_path):
    X, y = make_table()
    for clf, other in [(tg.AODEClassifier(), "TANClassifier"), (tg.NaiveBayesClassifier(), "AODEClassifier")]:
        clf.fit(X, y).save(tmp_path / "model.tng")
        model = _core.Model.load(str(tmp_path / "model.tng"))
        parameters = json.loads(model.settings) | {"estimator": other, "params": {}}
        forged = _core.Model.build(model.classifier, model.features, model.classes, json.dumps(parameters))
        forged.save(str(tmp_path / "forged.tng"))
        with pytest.raises(tg.ModelFileError, match=f"a {other} cannot predict with"):
            tg.load(tmp_path / "forged.tng")


def test_many_features_neither_underflow_nor_overflow():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 500)
    X = (rng.random((500, 1200)) < 0.4 + 0.1 * y[:, None]).astype(np.int8)
    clf = tg.AODEClassifier().fit(X[:250], y[:250])
    proba, joint = clf.predict_proba(X[250:]), clf.predict_joint_log_proba(X[250:])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-14)
    assert (joint.max(axis=1) < -700).all()  # the probability itself is below what a double can express
    assert np.isfinite(joint).all()
    assert np.mean(clf.predict(X[250:]) == y[250:]) > 0.95
    np.testing.assert_allclose(
        clf.predict_log_proba(X[250:])[:, 0], -np.logaddexp(0, joint[:, 1] - joint[:, 0]), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("min_count", [0, 2])
def test_degenerate_tables(alpha, min_count):
    clf = tg.AODEClassifier(alpha=alpha, min_count=min_count)
    one_row = clf.fit([["a", "b"]], ["only"])
    assert one_row.predict([["a", "b"], ["c", None]]).tolist() == ["only", "only"]
    np.testing.assert_array_equal(one_row.predict_proba([["a", "b"], [None, None]]), [[1.0], [1.0]])
    constant = clf.fit([["a", 1], ["a", 1], ["a", 1]], [0, 1, 1])
    prior = np.array([1 + alpha, 2 + alpha]) / (3 + 2 * alpha)
    np.testing.assert_allclose(constant.predict_proba([["a", 1]])[0], prior, rtol=1e-14)
    frame = pd.DataFrame({"empty": [None] * 4, "x": ["u", "v", "u", "v"]})
    gone = clf.fit(frame, [0, 1, 0, 1])
    proba = gone.predict_proba(frame)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (gone.predict(frame) == [0, 1, 0, 1]).all()


def test_a_row_impossible_in_all_models_gets_the_uniform_posterior():
    clf = tg.AODEClassifier(alpha=0).fit([["a", "b"], ["c", "d"]] * 2, [0, 1] * 2)
    np.testing.assert_array_equal(clf.predict_proba([["a", "d"]]), [[0.5, 0.5]])
    np.testing.assert_array_equal(clf.predict_joint_log_proba([["a", "d"]]), [[-math.inf, -math.inf]])


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"alpha": -1}, ValueError, "alpha: expected a finite number >= 0"),
        ({"alpha": "1"}, TypeError, "alpha: expected a number, got '1'"),
        ({"min_count": -1}, ValueError, "min_count: expected a finite number >= 0, got -1"),
        ({"min_count": math.nan}, ValueError, "min_count: expected a finite number >= 0, got nan"),
        ({"min_count": None}, TypeError, "min_count: expected a number, got None"),
        ({"class_prior": [1.0]}, ValueError, "class_prior: expected 3 probabilities"),
    ],
)
def test_wrong_settings(wrong, error, message):
    X, y = make_table()
    with pytest.raises(error, match=message):
        tg.AODEClassifier(**wrong).fit(X, y)


def test_tables_that_are_too_large_are_rejected():
    X = np.arange(60_000).reshape(-1, 1).repeat(2, axis=1)
    with pytest.raises(ValueError, match=r"the table of 'x0' given 'x1', the class would have [\d,]+ cells"):
        tg.AODEClassifier().fit(X, np.zeros(60_000, dtype=int))

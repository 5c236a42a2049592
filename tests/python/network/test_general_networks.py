"""Networks with the class at any position: given, learned, evaluated, saved."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st

ARCS = [("a", "class"), ("b", "class"), ("class", "c"), ("a", "c"), ("d", "e")]


def make_table(n_rows=300, missing=0.0, seed=0):
    """Rows of a network whose class has the parents a and b and the child c; d and e have nothing to do with it."""
    rng = np.random.default_rng(seed)
    a, b, d = (rng.integers(size, size=n_rows) for size in (2, 3, 2))
    y = (a + b + (rng.random(n_rows) < 0.2)) % 3
    c = np.where(rng.random(n_rows) < 0.8, (y + a) % 2, rng.integers(2, size=n_rows))
    e = np.where(rng.random(n_rows) < 0.7, d, 1 - d)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e}).astype("str")
    return frame.mask(rng.random(frame.shape) < missing), np.array(["x", "y", "z"])[y]


def general(**settings):
    return tg.BayesNetClassifier(st.FixedStructure(ARCS, class_arcs="listed"), **settings)


def joint(frame, row, arcs, alpha=1.0):
    """P(row) with every table counted anew; `row` has a value of every column of the frame."""
    p = 1.0
    for variable in frame.columns:
        given = [parent for parent, child in arcs if child == variable]
        rows = frame[np.all([frame[g] == row[g] for g in given], axis=0)] if given else frame
        p *= ((rows[variable] == row[variable]).sum() + alpha) / (len(rows) + alpha * frame[variable].nunique())
    return p


def test_prediction_is_that_of_the_joint_distribution():
    X, y = make_table()
    clf = general().fit(X, y)
    frame = X.assign(**{"class": y})
    some = X[:15]
    expected = [[joint(frame, {**row, "class": c}, ARCS) for c in clf.classes_] for row in some.to_dict("records")]
    np.testing.assert_allclose(np.exp(clf.predict_joint_log_proba(some)), expected, rtol=1e-12)
    np.testing.assert_allclose(
        clf.predict_proba(some), np.array(expected) / np.sum(expected, axis=1, keepdims=True), rtol=1e-12
    )


def test_missing_values_are_marginalized():
    X, y = make_table()
    clf = general().fit(X, y)
    frame = X.assign(**{"class": y})
    gaps = pd.DataFrame([[None, "1", "0", "1", None], ["0", None, None, None, "1"], [None] * 5], columns=X.columns)
    for gap in range(len(gaps)):
        observed = gaps.iloc[gap].dropna().to_dict()
        free = [name for name in X.columns if name not in observed]
        values = [sorted(X[name].unique()) for name in free]
        rows = [
            {**observed, **dict(zip(free, v, strict=True))}
            for v in np.array(np.meshgrid(*values)).T.reshape(-1, len(free))
        ]
        expected = [sum(joint(frame, {**row, "class": c}, ARCS) for row in rows) for c in clf.classes_]
        np.testing.assert_allclose(np.exp(clf.predict_joint_log_proba(gaps[gap : gap + 1]))[0], expected, rtol=1e-12)


def test_what_a_network_shows():
    X, y = make_table()
    network = general().fit(X, y).network_
    assert sorted(network.arcs) == sorted(ARCS)
    assert network.parents("class") == ["a", "b"]
    assert network.parents("c") == ["a", "class"]
    assert network.parents("e") == ["d"]
    assert network.markov_blanket == ["a", "b", "c"]
    assert not network.is_naive
    assert not network.is_one_dependence
    assert network.n_parameters == 1 + 2 + 6 * 2 + 6 + 1 + 2
    table = network.cpt("class")
    assert table.names == ("a", "b", "class")
    assert table.values.shape == (2, 3, 3)
    np.testing.assert_allclose(table.values.sum(axis=-1), 1)
    assert network.cpt("d").names == ("d",)
    assert network.cpt("e").names == ("d", "e")
    assert network.cpt("c").to_frame().shape == (6, 2)
    assert network.log_likelihood(X, y) == pytest.approx(general().fit(X, y).network_.log_likelihood(X, y))


def test_naive_markov_blanket():
    X, y = make_table()
    assert tg.TANClassifier().fit(X, y).network_.markov_blanket == list(X.columns)


@pytest.mark.parametrize("parameters", ["dirichlet", "maximum-likelihood", "softened", "data-temperature"])
def test_cross_validation_is_the_plain_loop(parameters):
    X, y = make_table(missing=0.1)
    clf = general(parameters=parameters)
    folds = np.arange(len(y)) % 4
    found = tg.evaluation.cross_validate(clf, X, y, cv=folds, scoring=("accuracy", "log_loss"))
    for fold in range(4):
        fitted = general(parameters=parameters).fit(X[folds != fold], y[folds != fold])
        test = folds == fold
        assert found["accuracy"][fold] == fitted.score(X[test], y[test])
    kept = tg.evaluation.cross_validate(clf, X, y, cv=folds, refit_structure=False)
    np.testing.assert_array_equal(kept["accuracy"], found["accuracy"])


def test_structures_can_be_copied():
    structure = _core.Structure([[], [0], None], [False, True, False], [0])
    for again in (copy.deepcopy(structure), pickle.loads(pickle.dumps(structure))):
        assert again == structure
        assert (again.parents, again.class_parents, again.class_children) == (
            [[], [0], None],
            [0],
            [False, True, False],
        )
    assert structure != _core.Structure([[], [0], None], [False, True, False], [])


def test_a_class_with_parents_and_no_children():
    X, y = make_table()
    clf = tg.BayesNetClassifier(st.FixedStructure([("a", "class"), ("b", "class")], class_arcs="listed")).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X[:1])[0], clf.network_.cpt("class")[X.iloc[0][["a", "b"]].to_dict()])


@pytest.mark.parametrize(
    ("arcs", "leave_out", "message"),
    [
        ([("a", "class"), ("class", "a")], None, "the arcs 'a' -> 'class' -> 'a' form a cycle"),
        ([("b", "a"), ("a", "b")], None, "the arcs 'a' -> 'b' -> 'a' form a cycle"),
        ([("a", "b"), (0, 1)], None, r"arcs: expected every arc once, got \('a', 'b'\) twice"),
        ([("a", "a")], None, r"arcs: expected arcs between two variables, got \('a', 'a'\) from a feature to itself"),
        ([("a", "class"), ("a", "class")], None, r"arcs: expected every arc once, got \('a', 'class'\) twice"),
        ([("class", "class")], None, "from the class to itself"),
        ([("class", "a")], ["a"], "leave_out: 'a' cannot be left out, because it has arcs"),
        ([("b", "class")], ["b"], "leave_out: 'b' cannot be left out, because it has arcs"),
        ([("class", "q")], None, "arcs: expected one of the features"),
    ],
)
def test_bad_structures(arcs, leave_out, message):
    X, y = make_table()
    with pytest.raises(ValueError, match=message):
        tg.BayesNetClassifier(st.FixedStructure(arcs, leave_out, class_arcs="listed")).fit(X, y)


def test_arcs_to_the_class_must_be_announced():
    X, y = make_table()
    with pytest.raises(ValueError, match="arcs: expected no arcs to the class"):
        tg.BayesNetClassifier(st.FixedStructure([("a", "class")])).fit(X, y)
    with pytest.raises(ValueError, match="class_arcs: expected one of 'all', 'listed', got 'some'"):
        tg.BayesNetClassifier(st.FixedStructure([], class_arcs="some")).fit(X, y)


def test_learners_that_need_the_usual_class_say_so():
    X, y = make_table()
    for parameters in (pr.ModelAveraged(), pr.AcllOptimal(), pr.Wanbia()):
        with pytest.raises(ValueError, match=r"class|arcs"):
            general(parameters=parameters).fit(X, y)
    with pytest.raises(ValueError, match="class probabilities cannot be given where the class depends on features"):
        general(class_prior=[0.2, 0.3, 0.5]).fit(X, y)

"""The average over all TANs against many digits, all trees and the rows themselves."""

from __future__ import annotations

import itertools
import math
import pickle
import signal
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from dependent_tables import learned_alike, make_table
from sklearn.base import clone
from tree_references import all_trees

import tanager as tg
from tanager import _core
from tanager.averaging import EdgeProbabilities, TreePosterior
from tanager.averaging._mp import log_joint_mp

RNG = np.random.default_rng(11)


def codes_of(clf, X):
    columns = clf._encode(X)[0]
    return np.stack([np.where(c == np.iinfo(c.dtype).max, -1, c.astype(int)) for c in columns], axis=1)


def exact_joint(clf, X):
    core = clf._core_model
    prior = None if clf.class_prior is None else core.class_probabilities
    return log_joint_mp(
        clf.counts_,
        codes_of(clf, X),
        core.equivalent_sample_size,
        core.edge_beliefs,
        core.stubbornness,
        class_prior=prior,
    )


def posterior_of(joint):
    shifted = np.array([[float(v - max(row)) for v in row] for row in joint])
    return np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)


BELIEFS = {("f0", "f3"): 50.0, ("f1", "f2"): 0.0}


@pytest.mark.parametrize(
    "clf",
    [
        tg.TBMATANClassifier(),
        tg.TBMATANClassifier(0.3),
        tg.TBMATANClassifier(1e-100),
        tg.TBMATANClassifier(1e100),
        tg.TBMATANClassifier(stubbornness=5),
        tg.TBMATANClassifier(stubbornness=0.5, edge_beliefs=BELIEFS),
        tg.TBMATANClassifier(edge_beliefs=BELIEFS, class_prior=[0.2, 0.5, 0.3]),
    ],
    ids=str,
)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_many_digits_say_the_same(clf, missing):
    X, y = make_table(400, missing=missing)
    clf = clone(clf).fit(X, y)
    some = X[:4]
    joint = exact_joint(clf, some)
    np.testing.assert_allclose(clf.predict_proba(some), posterior_of(joint), rtol=0, atol=1e-12)
    np.testing.assert_allclose(clf.predict_joint_log_proba(some), joint.astype(float), rtol=1e-13, atol=1e-12)


def test_many_digits_and_weighted_rows():
    X, y = make_table(150, seed=3)
    clf = tg.TBMATANClassifier().fit(X, y, sample_weight=RNG.exponential(2.0, 150))
    np.testing.assert_allclose(clf.predict_proba(X[:4]), posterior_of(exact_joint(clf, X[:4])), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "n_rows"), [("vote", 3), ("nursery", 6)])
def test_many_digits_on_published_tables(shared, name, n_rows):
    table = pd.read_csv(shared / "data" / f"{name}.csv", dtype=str, keep_default_na=False)
    X, y = table.iloc[:, :-1], table.iloc[:, -1]
    clf = tg.TBMATANClassifier().fit(X, y)
    some = X.sample(n_rows, random_state=1)
    np.testing.assert_allclose(clf.predict_proba(some), posterior_of(exact_joint(clf, some)), rtol=0, atol=1e-12)


def test_the_average_of_all_trees_one_by_one():
    X, y = make_table(60, sizes=(2, 3, 2, 2))
    clf = tg.TBMATANClassifier(4.0, edge_beliefs={("f0", "f1"): 3.0}).fit(X, y)
    mantissas, exponents = clf._core_model.edge_weights
    log_weights = np.log(np.where(mantissas > 0, mantissas, 1)) + exponents * math.log(2)
    trees = all_trees(4)
    logs = np.array([sum(log_weights[e] for e in tree) for tree in trees])
    shares = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    columns, n_rows = clf._encode(X)
    expected = np.zeros((n_rows, 3))
    for tree, share in zip(trees, shares, strict=True):
        predictor = _core.NetworkPredictor(clf._core_model.network_of(tree))
        expected += share * np.exp(predictor.predict(columns, n_rows, "log_joint"))
    np.testing.assert_allclose(np.exp(clf.predict_joint_log_proba(X)), expected, rtol=1e-12)

    posterior = clf.posterior_
    best = int(np.argmax(shares))
    assert posterior.map_edges == [(f"f{u}", f"f{v}") for u, v in sorted(trees[best])]
    assert posterior.map_probability == pytest.approx(shares[best], rel=1e-12)
    assert posterior.log_map_probability == pytest.approx(math.log(shares[best]), rel=1e-11)
    assert posterior.entropy == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-11)
    assert posterior.n_effective_trees == pytest.approx(math.exp(posterior.entropy))
    for u, v in itertools.combinations(range(4), 2):
        there = sum(share for tree, share in zip(trees, shares, strict=True) if (u, v) in tree)
        assert posterior.edge_probabilities[f"f{u}", f"f{v}"] == pytest.approx(there, rel=1e-12)


# -- the posterior over trees


def test_the_posterior_can_be_read():
    X, y = make_table(300)
    clf = tg.TBMATANClassifier().fit(X, y)
    posterior = clf.posterior_
    assert isinstance(posterior, TreePosterior)
    edges = posterior.edge_probabilities
    assert isinstance(edges, EdgeProbabilities)
    assert edges is posterior.edge_probabilities  # computed once
    assert edges["f0", "f1"] == edges["f1", "f0"]
    np.testing.assert_array_equal(np.asarray(edges), edges.to_frame().to_numpy())
    assert np.triu(edges.values).sum() == pytest.approx(4, abs=1e-12)
    ranked = edges.most_probable()
    assert [p for *_, p in ranked] == sorted((p for *_, p in ranked), reverse=True)
    assert len(ranked) == 10
    assert repr(edges).splitlines()[1].split() == ["f0", "-", *(f"{p:.3f}" for p in edges.values[0, 1:])]
    tree = posterior.map_tree
    assert tree.is_tan
    assert {frozenset(arc) for arc in tree.feature_arcs} == {frozenset(edge) for edge in posterior.map_edges}
    expected = tg.BayesNetClassifier(
        tg.structure.FixedStructure(tree.feature_arcs), tg.parameters.Dirichlet(equivalent_sample_size=10.0)
    ).fit(X, y)
    for name in X.columns:
        np.testing.assert_allclose(tree.cpt(name).values, expected.network_.cpt(name).values, rtol=1e-14)
    assert "probability" in repr(posterior)
    with pytest.raises(KeyError, match="there is no feature 'nobody'; the features are 'f0', 'f1', 'f2', 'f3', 'f4'"):
        edges["f0", "nobody"]
    with pytest.raises(TypeError, match=r"expected the names of two features, .* got 'f0'"):
        edges["f0"]


def test_sampled_trees_have_the_edges_that_are_probable():
    X, y = make_table(60)
    posterior = tg.TBMATANClassifier(stubbornness=1).fit(X, y).posterior_
    trees = posterior.sample_trees(4000, random_state=1)
    assert trees[:7] == posterior.sample_trees(7, random_state=1)
    for u, v in itertools.combinations(X.columns, 2):
        share = sum((u, v) in tree for tree in trees) / 4000
        p = posterior.edge_probabilities[u, v]
        assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / 4000) + 1e-9


def test_one_feature_has_one_tree():
    clf = tg.TBMATANClassifier().fit([["a"], ["b"], ["a"]], [0, 1, 0])
    posterior = clf.posterior_
    assert (posterior.map_probability, posterior.entropy, posterior.map_edges) == (1.0, 0.0, [])
    assert posterior.sample_trees(2) == [[], []]
    assert math.copysign(1, tg.TBMATANClassifier().fit([["a", "b"]], [0]).posterior_.entropy) == 1  # not minus zero
    naive = tg.BayesNetClassifier(parameters=tg.parameters.Dirichlet(equivalent_sample_size=10.0))
    expected = naive.fit([["a"], ["b"], ["a"]], [0, 1, 0]).predict_proba([["a"], ["b"]])
    np.testing.assert_allclose(clf.predict_proba([["a"], ["b"]]), expected, rtol=1e-15)


def test_beliefs_change_what_is_probable():
    X, y = make_table(100)
    plain = tg.TBMATANClassifier().fit(X, y).posterior_.edge_probabilities
    matrix = np.ones((5, 5))
    matrix[0, 3] = matrix[3, 0] = 50.0
    matrix[1, 2] = matrix[2, 1] = 0.0
    given = tg.TBMATANClassifier(edge_beliefs=matrix).fit(X, y)
    named = tg.TBMATANClassifier(edge_beliefs=BELIEFS).fit(X, y)
    np.testing.assert_array_equal(given.predict_proba(X), named.predict_proba(X))
    believed = given.posterior_.edge_probabilities
    assert believed["f1", "f2"] == 0
    assert believed["f0", "f3"] > plain["f0", "f3"]


@pytest.mark.parametrize(
    ("beliefs", "error", "message"),
    [
        (np.ones((4, 4)), ValueError, r"for each of the 5 features, got shape \(4, 4\)"),
        ([["x"]], ValueError, "a matrix of numbers, got values of another type"),
        (np.triu(np.ones((5, 5))), ValueError, "expected a symmetric matrix, got 1 from 'f0' to 'f1' and 0 back"),
        (np.full((5, 5), -1.0), ValueError, "non-negative numbers, got -1 for the edge between 'f0' and 'f1'"),
        ({("f0", "f1"): math.nan}, ValueError, "non-negative numbers, got nan for the edge between 'f0' and 'f1'"),
        ({("f0", "f1"): "much"}, TypeError, r"edge_beliefs of \('f0', 'f1'\): expected a number"),
        ({("f0", "f9"): 1.0}, ValueError, "names 'f9', but the features are 'f0', 'f1', 'f2', 'f3', 'f4'"),
        ({("f0", "f0"): 1.0}, ValueError, "expected pairs of different features, got 'f0' twice"),
        ({"f0": 1.0}, TypeError, "expected pairs of names as keys, got 'f0'"),
        (
            {("f0", "f1"): 1.0, ("f1", "f0"): 2.0},
            ValueError,
            "two different weights for the edge between 'f1' and 'f0'",
        ),
        ({("f0", f"f{v}"): 0.0 for v in range(1, 5)}, ValueError, "allow no tree over all features"),
    ],
)
def test_beliefs_that_make_no_sense(beliefs, error, message):
    X, y = make_table(30)
    with pytest.raises(error, match=message):
        tg.TBMATANClassifier(edge_beliefs=beliefs).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"equivalent_sample_size": 0}, ValueError, "equivalent_sample_size: expected a finite number > 0, got 0"),
        ({"equivalent_sample_size": math.inf}, ValueError, "expected a finite number > 0, got inf"),
        ({"equivalent_sample_size": "10"}, TypeError, "equivalent_sample_size: expected a number, got '10'"),
        ({"stubbornness": 0}, ValueError, "stubbornness: expected a number > 0 and <= 300, got 0"),
        ({"max_assignments": 0}, ValueError, "max_assignments: expected an integer from 1 to 4,194,304, got 0"),
        ({"n_trees": 1.5}, ValueError, "n_trees: expected an integer from 1 to 100,000, got 1.5"),
    ],
)
def test_settings_that_make_no_sense(settings, error, message):
    with pytest.raises(error, match=message):
        tg.TBMATANClassifier(**settings).fit(*make_table(10))


def test_beliefs_may_be_as_large_or_small_as_numbers_are():
    X, y = make_table(60)
    expected = tg.TBMATANClassifier().fit(X, y)
    for belief in (5e-324, np.finfo(np.float64).max):  # what all edges share cancels
        clf = tg.TBMATANClassifier(edge_beliefs=np.full((5, 5), belief)).fit(X, y)
        np.testing.assert_allclose(clf.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-14)
        assert clf.posterior_.map_probability == pytest.approx(expected.posterior_.map_probability, rel=1e-13)


def test_a_feature_of_very_many_values_takes_no_time():
    values = np.arange(65534)[:, None]
    y = np.arange(65534) % 4
    start = time.process_time()
    clf = tg.TBMATANClassifier().fit(values, y)
    assert time.process_time() - start < 5  # it took a minute when every value summed up all others
    share = np.array([1 + 10 / 4 / 65534, *[10 / 4 / 65534] * 3]) / (np.bincount(y) + 10 / 4) * (np.bincount(y) + 2.5)
    np.testing.assert_allclose(clf.predict_proba(values[:1])[0], share / share.sum(), rtol=1e-13)


def test_rows_of_huge_weight_take_no_time():
    X, y = make_table(40, sizes=(2, 3, 2))
    start = time.process_time()
    clf = tg.TBMATANClassifier().fit(X, y, sample_weight=np.full(40, 2.5e6))
    assert time.process_time() - start < 1  # it took half a minute when all factors were multiplied
    assert clf.posterior_.log_map_probability == 0  # one tree is all that is left
    best = _core.NetworkPredictor(clf._core_model.network_of([tuple(e) for e in clf.posterior_._best.edges.tolist()]))
    np.testing.assert_allclose(clf.predict_proba(X), best.predict(*clf._encode(X), "posterior"), rtol=0, atol=1e-13)


# -- missing values


def test_missing_values_are_marginalized_or_estimated():
    X, y = make_table(300)
    gaps = X[:20].copy()
    gaps.iloc[:12, [1, 3, 4]] = None  # 36 assignments
    gaps.iloc[12:, 0] = None
    exact = tg.TBMATANClassifier(stubbornness=2).fit(X, y)
    sampled = tg.TBMATANClassifier(stubbornness=2, max_assignments=35, n_trees=3000).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = exact.predict_proba(gaps)
    message = (
        r"12 of 20 rows have missing values with more than max_assignments=35 possible combinations; .* averages over 3,000 "
        r"sampled trees\. Increase max_assignments"
    )
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        with pytest.warns(tg.EstimateWarning, match=message) as caught:
            found = getattr(sampled, method)(gaps)
        assert [w.filename for w in caught] == [__file__]
        if method == "predict_proba":
            np.testing.assert_array_equal(found[12:], expected[12:])
            assert not np.array_equal(found[:12], expected[:12])
            np.testing.assert_allclose(found[:12], expected[:12], atol=0.01)
    predictor = sampled._predictor
    assert predictor.is_estimate([1, 3, 4])
    assert not predictor.is_estimate([0])
    unseen = X[:1].assign(f1="?", f3="?", f4="?")
    with pytest.warns(tg.EstimateWarning, match="1 of 1 rows"):
        np.testing.assert_array_equal(sampled.predict_proba(unseen), sampled.predict_proba(gaps[:1]))


def test_cross_validation_warns_of_estimates():
    X, y = make_table(60, missing=0.3)
    with pytest.warns(tg.EstimateWarning, match="sampled trees"):
        tg.evaluation.cross_validate(tg.TBMATANClassifier(max_assignments=2), X, y, cv=3)


# -- learning in parts, merging, files


@pytest.mark.parametrize("beliefs", [None, BELIEFS, np.ones((5, 5))], ids=["none", "dict", "matrix"])
def test_a_file_holds_all_that_is_needed_to_go_on(beliefs, tmp_path):
    X, y = make_table(200, missing=0.1)
    clf = tg.TBMATANClassifier(3.0, 4.0, edge_beliefs=beliefs, max_assignments=50, n_trees=9).fit(X[:150], y[:150])
    clf.save(tmp_path / "model.tng")
    clf.save(tmp_path / "with.tng", with_counts=True)
    assert (tmp_path / "model.tng").read_bytes() == (tmp_path / "with.tng").read_bytes()
    expected = clf.posterior_.sample_trees(3, random_state=1), clf.posterior_.edge_probabilities.values
    whole = clone(clf).fit(X, y)
    for copy in (tg.load(tmp_path / "model.tng"), pickle.loads(pickle.dumps(clf))):
        learned_alike(copy, clf, X)
        assert copy.posterior_.sample_trees(3, random_state=1) == expected[0]
        np.testing.assert_array_equal(copy.posterior_.edge_probabilities.values, expected[1])
        assert copy.posterior_.map_tree.cpt("f0").labels == clf.posterior_.map_tree.cpt("f0").labels
        if not isinstance(beliefs, np.ndarray):
            assert copy.get_params() == clf.get_params()
        learned_alike(copy.partial_fit(X[150:], y[150:]), whole, X)
        learned_alike(copy.merge(clf), whole.merge(clf), X)


# -- outside the proven range


@pytest.mark.parametrize(("size", "near"), [(1e-150, 1e-119), (1e200, 1e119)])
def test_extreme_priors_fall_back(size, near, tmp_path):
    X, y = make_table(80, sizes=(2, 3, 2), missing=0.1)
    with pytest.warns(
        tg.FallbackWarning, match=r"outside the range from 1e-120 to 1e\+120 .* falling back to mpmath"
    ) as caught:
        clf = tg.TBMATANClassifier(size).fit(X, y)
    assert [w.filename for w in caught] == [__file__]
    fast = tg.TBMATANClassifier(near).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X[:6]), fast.predict_proba(X[:6]), atol=1e-12)
    np.testing.assert_allclose(clf.predict_log_proba(X[:6]), np.log(clf.predict_proba(X[:6])), atol=1e-12)
    assert clf.predict(X[:6]).tolist() == clf.classes_[clf.predict_proba(X[:6]).argmax(axis=1)].tolist()
    assert clf.posterior_.edge_probabilities.values == pytest.approx(
        fast.posterior_.edge_probabilities.values, abs=1e-9
    )
    assert clf.posterior_.map_tree.is_tan
    copy = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(copy.predict_joint_log_proba(X[:6]), clf.predict_joint_log_proba(X[:6]))
    with pytest.raises(ValueError, match="a model file cannot store a model with equivalent_sample_size"):
        clf.save(tmp_path / "model.tng")
    with pytest.warns(tg.FallbackWarning):
        copy.partial_fit(X, y)
    assert copy.counts_.n_rows == 160


def test_extreme_priors_with_too_many_missing_values():
    X, y = make_table(30, sizes=(2, 3, 2))
    with pytest.warns(tg.FallbackWarning):
        clf = tg.TBMATANClassifier(1e200, max_assignments=5).fit(X, y)
    with pytest.raises(ValueError, match=r"missing values with 6 combinations; .* at most max_assignments=5"):
        clf.predict(X[:1].assign(f0=None, f1=None))


@pytest.mark.parametrize("size", [1e-320, 1e308])
def test_the_best_tree_of_extreme_priors(size):
    X, y = make_table(30, sizes=(2, 3, 2))
    with pytest.warns(tg.FallbackWarning):
        clf = tg.TBMATANClassifier(size).fit(X, y)
    for name in X.columns:
        table = clf.posterior_.map_tree.cpt(name).values
        assert ((table >= 0) & (table <= 1)).all()
        if size > 1:
            np.testing.assert_allclose(table, 1 / table.shape[-2 if table.ndim > 2 else 0], rtol=1e-12)


# -- threads, signals and processor state


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX systems")
@pytest.mark.parametrize("loaded", [False, True])
def test_ctrl_c_ends_long_predictions(loaded, tmp_path):
    X, y = make_table(60, sizes=(4,) * 11)
    clf = tg.TBMATANClassifier(max_assignments=2**22, n_jobs=2).fit(X, y)
    if loaded:
        clf.save(tmp_path / "model.tng")
        clf = tg.load(tmp_path / "model.tng")
    gaps = pd.DataFrame({name: [None] for name in X.columns}, dtype=object)
    signal.setitimer(signal.ITIMER_REAL, 0.2)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            clf.predict_proba(gaps)
        assert time.process_time() - start < 1  # of many
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_subnormal_numbers_are_still_numbers_afterwards():
    X, y = make_table(500)
    clf = tg.TBMATANClassifier(n_jobs=2).fit(X, y)
    clf.predict_proba(X)
    tiny = np.full(8, np.finfo(np.float64).tiny)
    assert (tiny / 4 > 0).all()  # would be flushed to zero
    assert (tiny / 4 * 4 == tiny).all()  # would be taken for zero


# -- plots


# Old versions of matplotlib call new versions of their parser by old names.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_plots():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, y = make_table(200, sizes=(2, 3, 2, 4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2))
    posterior = tg.TBMATANClassifier().fit(X, y).posterior_
    try:
        edges = posterior.plot_edges()
        assert [label.get_text() for label in edges.get_xticklabels()] == list(X.columns)
        shown = edges.images[0].get_array()
        np.testing.assert_array_equal(shown.filled(0), posterior.edge_probabilities.values)
        for make in (lambda: None, lambda: plt.subplots(figsize=(2.5, 2))[1]):
            tree = posterior.plot_map_tree(make())
            tree.figure.canvas.draw()
            names = [text for text in tree.texts if text.get_text() in X.columns]
            assert len(names) == len(X.columns)
            boxes = [text.get_window_extent() for text in names]
            assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
            widths = [patch.get_linewidth() for patch in tree.patches]
            assert len(widths) == len(X.columns) - 1
        alone = tg.TBMATANClassifier().fit([["a"], ["b"]], [0, 1]).posterior_
        alone.plot_edges().figure.canvas.draw()
        assert not alone.plot_map_tree().patches
        ax = plt.subplots()[1]
        assert posterior.plot_edges(ax) is ax
    finally:
        plt.close("all")


def test_plots_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    X, y = make_table(20)
    with pytest.raises(ImportError, match=r"plotting needs matplotlib; install it with: pip install 'tanager\[plot"):
        tg.TBMATANClassifier().fit(X, y).posterior_.plot_edges()

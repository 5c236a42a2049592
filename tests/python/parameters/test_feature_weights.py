"""Weights of features from trees and by WANBIA: goldens of R's bnclassify, definitions, optima, errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from goldens import COMPLETE, TOLERANCE, assert_cpts
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st
from tanager.network import Network
from tanager.parameters import _weights

LEARNERS = {
    "trees": pr.AttributeWeighted(n_trees=5),
    "wanbia": pr.Wanbia(),
    "renormalized": pr.Wanbia(renormalize=True),
    "squares": pr.Wanbia(objective="mse"),
}


def draw_table(n=400, seed=0, missing=0.0):
    """A copied feature, a helpful one, one that says nothing, and a column of numbers."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n, p=[0.6, 0.4])
    truth = y == "yes"
    first = np.where(rng.random(n) < 0.75, truth, rng.random(n) < 0.5)
    frame = pd.DataFrame(
        {
            "first": np.where(first, "a", "b"),
            "copy": np.where(first, "c", "d"),
            "helpful": np.where(rng.random(n) < 0.4, np.where(truth, "u", "v"), rng.choice(["u", "v", "w"], n)),
            "noise": rng.choice(list("pqrs"), n),
            "number": rng.normal(truth.astype(float)),
        }
    )
    return frame.mask(rng.random(frame.shape) < missing), y


def encode(data):
    """The golden's rows as the core knows them, with all classes that are declared."""
    columns = [data.X[name].cat.codes.to_numpy() for name in data.X]
    cards = [len(data.X[name].cat.categories) for name in data.X]
    narrow = [np.where(codes < 0, 255, codes).astype(np.uint8) for codes in columns]
    target = np.array([data.classes.index(label) for label in data.y], dtype=np.uint8)
    dataset = _core.Dataset(narrow, cards, target, len(data.classes))
    return dataset, _core.CountSet.count(dataset, "singles", [])


def naive(data):
    return [[] for _ in data.X]


# -- goldens


@pytest.mark.parametrize("run", ["seed=1,trees=10,bootstrap=0.5", "seed=2,trees=5,bootstrap=1"])
@pytest.mark.parametrize("name", COMPLETE)
def test_attribute_weighted_goldens(load, name, run):
    data = load(name)
    golden = data.golden["awnb"][run]
    depths = [[tree.get(f, 0) for f in data.X] for tree in golden["min_depths_per_tree"]]
    weights = _core.weights_from_depths(np.array(depths, dtype=np.uint32))
    np.testing.assert_allclose(weights, [golden["weights"][f] for f in data.X], atol=TOLERANCE, rtol=0)
    clf = tg.BayesNetClassifier().partial_fit(data.X, pd.Series(data.y, name=data.target), classes=data.classes)
    core = _core.estimate_weighted(naive(data), clf.counts_, weights, golden["smooth"])
    clf._predictor, clf._core_model = _core.NetworkPredictor(core), core
    clf.network_ = Network(core, clf._predictor, clf._encoder, list(data.X), data.target, clf.classes_)
    clf._golden_classes = data.classes
    assert_cpts(clf, golden["cpts"], data.target)
    assert clf.network_.log_likelihood(data.X, data.y) == pytest.approx(golden["loglik"], rel=TOLERANCE)
    assert clf.network_.conditional_log_likelihood(data.X, data.y) == pytest.approx(golden["cloglik"], rel=TOLERANCE)
    rows = np.array(golden["predict"]["rows_1based"]) - 1
    order = [list(clf.classes_).index(c) for c in golden["predict"]["classes"]]
    proba = clf.predict_proba(data.X.iloc[rows])[:, order]
    np.testing.assert_allclose(proba, golden["predict"]["posterior"], atol=TOLERANCE)


@pytest.mark.parametrize("name", COMPLETE)
def test_our_trees_find_what_those_of_r_find(load, name):
    # Other trees, by the Gini index, from other rows: the same features matter.
    data = load(name)
    golden = data.golden["awnb"]["seed=1,trees=10,bootstrap=0.5"]["weights"]
    clf = tg.BayesNetClassifier(parameters=pr.AttributeWeighted(n_trees=50), random_state=0).fit(data.X, data.y)
    theirs = np.array([golden[f] for f in data.X])
    assert np.corrcoef(clf.feature_weights_, theirs)[0, 1] > 0.9


@pytest.mark.parametrize("name", COMPLETE)
def test_wanbia_objective_goldens(load, name):
    data = load(name)
    golden = data.golden["wanbia"]
    dataset, counts = encode(data)
    objective = _core.WanbiaObjective(naive(data), dataset, counts, alpha=golden["smooth"], renormalize=True)
    found = np.array([golden["weights"][f] for f in data.X], dtype=float)
    for weights, expected in [
        (found, golden["neg_cll"]),
        (np.ones(len(found)), golden["objective_at_ones"]),
        (np.full(len(found), 0.5), golden["objective_at_half"]),
    ]:
        assert objective.evaluate(weights)[0] == pytest.approx(expected, abs=TOLERANCE)
    core = objective.network(found)
    for f, feature in enumerate(data.X):
        cpt = golden["cpts"][feature]
        theirs = np.array(cpt["values"]).reshape(cpt["dim"], order="F")
        np.testing.assert_allclose(core.table(f).reshape(theirs.shape), theirs, atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("name", COMPLETE)
def test_wanbia_is_at_least_as_good_as_that_of_r(load, name, renormalize):
    data = load(name)
    golden = data.golden["wanbia"]
    clf = tg.BayesNetClassifier(parameters=pr.Wanbia(renormalize=renormalize)).fit(data.X, data.y)
    ours = clf.network_.conditional_log_likelihood(data.X, data.y)
    assert ours >= -golden["neg_cll"] - TOLERANCE
    if name != "car":  # where all weights are one
        assert ours > -golden["neg_cll"] + 0.05


# -- definitions


def log_posteriors(X, y_codes, n_classes, cards, weights, renormalize, alpha=1.0, prior=None):
    """A plain implementation of naive Bayes with weights; X holds codes, -1 for missing values."""
    counts = np.bincount(y_codes, minlength=n_classes) + alpha
    prior = counts / counts.sum() if prior is None else np.asarray(prior)
    joint = np.tile(np.log(prior), (len(X), 1))
    for f, r in enumerate(cards):
        seen = X[:, f] >= 0
        table = np.full((r, n_classes), alpha)
        np.add.at(table, (X[seen, f], y_codes[seen]), 1.0)
        theta = table / table.sum(axis=0)
        powers = weights[f] * np.log(theta)
        if renormalize:
            powers -= logsumexp(powers, axis=0)
        elif not seen.all():
            share = theta @ prior
            powers = powers + (1 - weights[f]) * np.log(share)[:, None]
            joint[~seen] += logsumexp(powers, axis=0)
        joint[seen] += powers[X[seen, f]]
    return joint - logsumexp(joint, axis=1, keepdims=True)


def objective_of(X, y, n_classes, cards, **options):
    columns = [np.where(X[:, f] < 0, 255, X[:, f]).astype(np.uint8) for f in range(X.shape[1])]
    dataset = _core.Dataset(columns, cards, y.astype(np.uint8), n_classes)
    counts = _core.CountSet.count(dataset, "singles", [])
    return _core.WanbiaObjective([[] for _ in cards], dataset, counts, **options), dataset, columns


@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("prior", [None, [0.2, 0.3, 0.5]])
def test_objective_and_model_are_their_definition(renormalize, missing, prior):
    rng = np.random.default_rng(3)
    cards, n = [2, 3, 5, 1, 4], 200
    X = np.stack([rng.integers(0, r, n) for r in cards], axis=1)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, n)) % 3
    X[rng.random(X.shape) < missing] = -1
    weights = np.array([0.8, 0.3, 0.0, 0.5, 1.0])
    expected = log_posteriors(X, y, 3, cards, weights, renormalize, 0.5, prior)
    own = np.arange(n), y
    given = {"alpha": 0.5, "class_prior": prior or [], "renormalize": renormalize}
    for loss, value in [
        ("cll", -expected[own].sum()),
        ("mse", 0.5 * ((np.exp(expected) - np.eye(3)[y]) ** 2).sum()),
    ]:
        objective, _, columns = objective_of(X, y, 3, cards, objective=loss, **given)
        assert objective.evaluate(weights)[0] == pytest.approx(value, rel=1e-12)
        predictor = _core.NetworkPredictor(objective.network(weights))
        np.testing.assert_allclose(predictor.predict(columns, n, "log_posterior"), expected, atol=1e-11)


@pytest.mark.parametrize("learner", ["wanbia", "renormalized", "squares"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_weights_are_a_constrained_optimum(learner, missing):
    X, y = draw_table(missing=missing)
    clf = tg.BayesNetClassifier(parameters=LEARNERS[learner]).fit(X, y)
    weights = clf.feature_weights_
    assert ((weights >= 0) & (weights <= 1)).all()
    dataset = _core.Dataset(clf._encode(X)[0], clf._encoder.cardinalities, (y == "yes").astype(np.uint8), 2)
    settings = {"objective": LEARNERS[learner].objective, "renormalize": LEARNERS[learner].renormalize}
    objective = _core.WanbiaObjective([[]] * 5, dataset, clf.counts_, **settings)
    value, gradient = objective.evaluate(weights)
    # No feasible direction descends.
    slopes = np.where(weights == 0, np.minimum(gradient, 0), np.where(weights == 1, np.maximum(gradient, 0), gradient))
    assert np.abs(slopes).max() < 1e-5 * len(y)
    if settings["objective"] == "cll":
        assert -value == pytest.approx(clf.network_.conditional_log_likelihood(X, y), rel=1e-12)
    if learner == "wanbia" and not missing:  # concave: nothing is better
        rng = np.random.default_rng(0)
        tried = [objective.evaluate(rng.random(5))[0] for _ in range(200)]
        assert min(tried) >= value


def test_copies_share_their_weight():
    X, y = draw_table(2000)
    first, copy, *_ = tg.BayesNetClassifier(parameters="wanbia").fit(X, y).feature_weights_
    assert first == pytest.approx(copy, abs=1e-5)
    assert 0.4 < first < 0.6


@pytest.mark.parametrize("renormalize", [False, True])
def test_squared_errors_are_not_left_where_naive_bayes_is_certain_and_wrong(renormalize):
    # Hundreds of copies make naive Bayes certain of every row, where squared errors have no slope.
    rng = np.random.default_rng(0)
    y = (rng.random(1000) < 0.05).astype(int)
    X = np.repeat(np.where(rng.random(1000) < 0.2, 1 - y, y)[:, None], 400, axis=1)

    def squared_error(objective):
        clf = tg.BayesNetClassifier(parameters=pr.Wanbia(objective=objective, renormalize=renormalize)).fit(X, y)
        return np.mean((clf.predict_proba(X)[:, 1] - y) ** 2)

    assert squared_error("mse") <= squared_error("cll") < 0.05


def test_weights_of_one_are_naive_bayes():
    X, y = draw_table()
    plain = tg.NaiveBayesClassifier().fit(X, y)
    core = _core.estimate_weighted([[]] * 5, plain.counts_, np.ones(5))
    for f in range(5):
        np.testing.assert_array_equal(core.table(f), plain._core_model.table(f))


# -- what all parameter learners can do


@pytest.mark.parametrize("learner", LEARNERS)
def test_features_left_out(learner):
    X, y = draw_table()
    structure = st.FixedStructure([], leave_out=["noise", "first"])
    clf = tg.BayesNetClassifier(structure, LEARNERS[learner], random_state=1).fit(X, y)
    assert np.isnan(clf.feature_weights_).tolist() == [True, False, False, True, False]
    fewer = tg.BayesNetClassifier(parameters=LEARNERS[learner], random_state=1)
    fewer.fit(X.drop(columns=["noise", "first"]), y)
    np.testing.assert_allclose(clf.feature_weights_[[1, 2, 4]], fewer.feature_weights_, rtol=1e-12)
    np.testing.assert_allclose(
        clf.predict_proba(X), fewer.predict_proba(X.drop(columns=["noise", "first"])), rtol=1e-12
    )


def test_trees_are_drawn_by_weight_and_seed():
    rng = np.random.default_rng(2)
    X, y, drawn = rng.integers(0, 4, (100, 10)), rng.integers(0, 2, 100), rng.random(100)  # no tree is like another
    clf = tg.BayesNetClassifier(parameters=pr.AttributeWeighted(n_trees=3), random_state=0)

    def found(weights, seed=0):
        return clone(clf).set_params(random_state=seed).fit(X, y, sample_weight=weights).feature_weights_.tolist()

    assert found(np.ones(100)) == found(np.full(100, 7.5)) == found(None)
    assert found(drawn) == found(8 * drawn)
    assert len({tuple(w) for w in (found(drawn), found(1 - drawn), found(None), found(None, seed=1))}) == 4


def test_class_prior_is_the_factor_of_the_classes():
    X, y = draw_table()
    for learner in LEARNERS.values():
        clf = tg.BayesNetClassifier(parameters=learner, class_prior=[0.9, 0.1], random_state=0).fit(X, y)
        if getattr(learner, "renormalize", True):
            np.testing.assert_array_equal(clf.network_.cpt("class").values, [0.9, 0.1])
    certain = tg.BayesNetClassifier(parameters="wanbia", class_prior=[1.0, 0.0]).fit(X, y)
    np.testing.assert_array_equal(certain.predict_proba(X), [[1.0, 0.0]] * len(y))


def test_trees_weight_any_structure():
    X, y = draw_table()
    clf = tg.BayesNetClassifier("tan", pr.AttributeWeighted(alpha=0.5), random_state=0).fit(X, y)
    plain = tg.BayesNetClassifier("tan", pr.Dirichlet(0.5)).fit(X, y)
    for f, name in enumerate(X):
        powers = plain.network_.cpt(name).values ** clf.feature_weights_[f]
        axis = -2  # the values of the feature; the class comes last
        expected = powers / powers.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(clf.network_.cpt(name).values, expected, rtol=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
def test_tables_with_little_in_them(learner):
    make = tg.BayesNetClassifier(parameters=LEARNERS[learner], random_state=0)
    for X, y in [
        ([["a"]], [1]),  # one row, one class
        ([["a", None], ["b", None]], [0, 1]),  # a column without values
        ([["a"], ["a"], ["a"]], [0, 1, 1]),
        (np.arange(600).reshape(300, 2) % 299, np.arange(300) % 3),  # nearly every value once
    ]:
        clf = clone(make).fit(np.array(X, dtype=object), y)
        assert np.isfinite(clf.feature_weights_).all()
        np.testing.assert_allclose(clf.predict_proba(np.array(X, dtype=object)).sum(axis=1), 1.0)


@pytest.mark.parametrize("renormalize", [False, True])
def test_alpha_next_to_nothing(renormalize):
    X, y = draw_table(60)
    clf = tg.BayesNetClassifier(parameters=pr.Wanbia(alpha=5e-324, renormalize=renormalize)).fit(X, y)
    assert np.isfinite(clf.feature_weights_).all()
    near = tg.BayesNetClassifier(parameters=pr.Wanbia(alpha=1e-300, renormalize=renormalize)).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), near.predict_proba(X), atol=1e-3)


def test_thousands_of_features():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = (y[:, None] ^ (rng.random((80, 3000)) < 0.3)).astype(np.int64)
    for learner in LEARNERS.values():
        clf = tg.BayesNetClassifier(parameters=learner, random_state=0).fit(X, y)
        assert np.isfinite(clf.predict_log_proba(X)[np.arange(80), y]).all()
        assert clf.score(X, y) > 0.9


# -- limits and errors


def test_insufficient_iterations_are_reported():
    X, y = draw_table()
    clf = tg.BayesNetClassifier(parameters=pr.Wanbia(max_iter=1))
    with pytest.warns(ConvergenceWarning, match="Wanbia did not converge within 1 iteration "):
        clf.fit(X, y)
    better = tg.BayesNetClassifier(parameters="wanbia").fit(X, y)
    scores = [c.network_.conditional_log_likelihood(X, y) for c in (clf, better)]
    assert scores[0] < scores[1]


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        (pr.AttributeWeighted(n_trees=0), ValueError, "n_trees: expected an integer from 1 to 1,000,000, got 0"),
        (pr.AttributeWeighted(n_trees=2.5), ValueError, "n_trees: expected an integer"),
        (
            pr.AttributeWeighted(n_trees=10**400),
            ValueError,
            "n_trees: expected an integer from 1 to 1,000,000, got 1000",
        ),
        (pr.AttributeWeighted(bootstrap=0.0), ValueError, "bootstrap: expected a number > 0 and <= 1, got 0"),
        (pr.AttributeWeighted(bootstrap=1.5), ValueError, "bootstrap: expected a number > 0 and <= 1, got 1.5"),
        (pr.AttributeWeighted(bootstrap="half"), TypeError, "bootstrap: expected a number, got 'half'"),
        (pr.AttributeWeighted(alpha=-1), ValueError, "alpha: expected a number >= 0"),
        (pr.AttributeWeighted(max_depth=0), ValueError, "max_depth: expected None or an integer >= 1, got 0"),
        (pr.Wanbia(alpha=0), ValueError, "alpha: expected a number > 0"),
        (pr.Wanbia(objective="accuracy"), ValueError, "objective: expected one of 'cll', 'mse', got 'accuracy'"),
        (pr.Wanbia(objective=["cll"]), ValueError, r"objective: expected one of 'cll', 'mse', got \['cll'\]"),
        (pr.Wanbia(renormalize=None), TypeError, "renormalize: expected True or False, got None"),
        (pr.Wanbia(tol=-1.0), ValueError, "tol: expected a finite number >= 0, got -1.0"),
        (pr.Wanbia(tol=float("nan")), ValueError, "tol: expected a finite number >= 0, got nan"),
        (pr.Wanbia(max_iter=0), ValueError, "max_iter: expected an integer >= 1, got 0"),
    ],
)
def test_settings_without_meaning(parameters, error, message):
    X, y = draw_table(30)
    with pytest.raises(error, match=message):
        tg.BayesNetClassifier(parameters=parameters).fit(X, y)


def test_wanbia_needs_a_naive_structure():
    X, y = draw_table(30)
    with pytest.raises(ValueError, match="Wanbia needs a structure without arcs between features"):
        tg.BayesNetClassifier("tan", "wanbia").fit(X, y)


def test_blas_gets_its_threads_back():
    before = [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]
    with _weights._one_blas_thread():
        with _weights._one_blas_thread():
            pass
        inside = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        assert set(inside) <= {1}
    assert [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()] == before

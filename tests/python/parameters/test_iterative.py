"""EM, APN and ELR from Python: results, traces and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st

LEARNERS = {
    "em": pr.EM(),
    "apn": pr.APN(optimizer="lbfgs"),
    "elr": pr.ELR(max_iter=20),
    "elr, not tuned": pr.ELR(tune_by=None, optimizer="lbfgs", max_iter=500, l2=0.1),
}


def draw_table(n=300, missing=0.0, seed=0, n_classes=3):
    """Features that depend on the class and on each other; no structure separates the classes without error."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.empty((n, 5), dtype=object)
    before = y
    for f in range(5):
        before = np.where(rng.random(n) < 0.5, before, rng.integers(0, 3, n))
        X[:, f] = before
    X[rng.random(X.shape) < missing] = None
    return X, y


def fitted(parameters, X, y, structure="tan", **settings):
    return tg.BayesNetClassifier(structure, parameters, random_state=0, **settings).fit(X, y)


def read_table(shared, name):
    table = pd.read_csv(shared / "data" / f"{name}.csv")
    return table.iloc[:, :-1].to_numpy(), table.iloc[:, -1].to_numpy()


@pytest.fixture(scope="module", params=["mdlp", "three intervals"])
def pima(request, shared):
    X, y = read_table(shared, "pima")
    cuts = tg.MDLPDiscretizer() if request.param == "mdlp" else tg.EqualFrequencyDiscretizer(3)
    return np.asarray(cuts.fit(X, y).transform(X)).astype(int), y


def to_the_end(X, y, structure, optimizer):
    clf = fitted(pr.ELR(tune_by=None, optimizer=optimizer, max_iter=5000, tol=1e-9), X, y, structure)
    trace = clf.parameter_trace_
    assert trace.stopped == "converged"
    found = clf.network_.conditional_log_likelihood(X, y)
    assert found == pytest.approx(trace.training[trace.n_iter], rel=1e-9)
    return found


def check_logistic_regression(X, y):
    hot = OneHotEncoder(sparse_output=False).fit_transform(X)
    rival = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(hot, y)
    truth = np.searchsorted(rival.classes_, y)
    expected = rival.predict_log_proba(hot)[np.arange(len(y)), truth].sum()
    for optimizer in ("cg", "lbfgs"):
        assert to_the_end(X, y, "naive", optimizer) == pytest.approx(expected, rel=1e-6)


def test_naive_elr_is_logistic_regression():
    check_logistic_regression(*draw_table(600))


def test_naive_elr_is_logistic_regression_on_pima(pima):
    check_logistic_regression(*pima)


def check_both_optimizers(X, y):
    naive, tree = to_the_end(X, y, "naive", "lbfgs"), to_the_end(X, y, "tan", "lbfgs")
    assert to_the_end(X, y, "tan", "cg") == pytest.approx(tree, rel=1e-6)
    assert tree > naive + 1  # so that it is not the same task again


def test_both_optimizers_reach_the_same_value_on_trees():
    check_both_optimizers(*draw_table(600, n_classes=2))


def test_both_optimizers_reach_the_same_value_on_trees_over_pima(pima):
    check_both_optimizers(*pima)


@pytest.mark.parametrize("structure", ["naive", "tan"])
@pytest.mark.parametrize("optimizer", ["cg", "lbfgs"])
def test_nearly_separable_chess_ends_cleanly(shared, structure, optimizer):
    X, y = read_table(shared, "chess")
    clf = fitted(pr.ELR(tune_by=None, optimizer=optimizer, max_iter=100_000), X, y, structure)
    assert clf.parameter_trace_.stopped == "converged"
    assert (np.diff(clf.parameter_trace_.training) > 0).all()
    assert np.isfinite(clf.predict_log_proba(X)).all()
    assert clf.score(X, y) > 0.975


def test_gradients_are_finite_differences_where_the_class_stands_anywhere():
    X, y = draw_table(80, missing=0.2)
    columns = [np.array([255 if v is None else v for v in column], dtype=np.uint8) for column in X.T]
    dataset = _core.Dataset(columns, [3] * 5, y.astype(np.uint8), 3)
    structure = _core.Structure([[], [0], [0, 1], [2], []], [False, False, False, True, True], [0, 2])
    rows = _core.RowLikelihood(structure, dataset, goal="conditional")
    point = np.random.default_rng(0).normal(size=rows.n_parameters)
    gradient = rows.evaluate(point)[2]
    for i in range(0, len(point), 7):
        step = np.zeros_like(point)
        step[i] = 1e-5
        slope = (rows.evaluate(point + step)[0] - rows.evaluate(point - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-5)


def test_em_never_falls_and_apn_ends_at_the_same_height():
    X, y = draw_table(400, missing=0.25)
    em = fitted(pr.EM(tol=1e-10, max_iter=2000), X, y).parameter_trace_
    apn = fitted(pr.APN(tol=1e-9, max_iter=2000), X, y).parameter_trace_
    assert em.stopped == apn.stopped == "converged"
    assert (np.diff(em.training) >= -1e-9).all()
    assert apn.training[-1] == pytest.approx(em.training[-1], rel=1e-7)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_em_of_naive_bayes_is_that_of_available_cases(alpha):
    X, y = draw_table(missing=0.3)
    plain = fitted(pr.Dirichlet(alpha=alpha), X, y, "naive").network_
    em = fitted(pr.EM(alpha=alpha), X, y, "naive").network_
    apn = fitted(pr.APN(alpha=alpha, tol=1e-10), X, y, "naive").network_
    for name in plain.feature_names:
        np.testing.assert_allclose(em.cpt(name).values, plain.cpt(name).values, rtol=1e-14)
        np.testing.assert_allclose(apn.cpt(name).values, plain.cpt(name).values, rtol=1e-5)


def test_em_fills_in_what_available_cases_leave_out():
    # Half of the parents are missing; rows without them still contain information about the child.
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 4000)
    b = np.where(rng.random(4000) < 0.9, a, 1 - a)
    X = np.stack([np.where(rng.random(4000) < 0.5, None, a.astype(object)), b], axis=1)
    structure = st.FixedStructure([(0, 1)])
    em = fitted(pr.EM(), X, np.zeros(4000, dtype=int), structure).network_
    plain = fitted(None, X, np.zeros(4000, dtype=int), structure).network_
    y = np.zeros(4000, dtype=int)
    assert em.log_likelihood(X, y) > plain.log_likelihood(X, y)


def test_separable_rows_stop_cleanly():
    X = np.repeat([[0, 1], [1, 1], [0, 0]], 20, axis=0)
    y = np.repeat([0, 1, 0], 20)
    for optimizer in ("cg", "lbfgs"):
        clf = fitted(pr.ELR(tune_by=None, optimizer=optimizer, max_iter=100_000, tol=0.0), X, y)
        assert clf.parameter_trace_.stopped == "converged"
        assert np.isfinite(clf.predict_log_proba(X)).all()
        assert clf.score(X, y) == 1.0


def best_of_equal(errors):
    """Return the start if nothing is better, else the last of equally good iterations."""
    least = np.flatnonzero(errors == errors.min())
    return 0 if least[0] == 0 else int(least[-1])


def end_of(values):
    """Return where the curve of a fold ends that reached its optimum: from there on values stay the same."""
    return len(values) - int(np.argmax(values[::-1] != values[-1])) + 1


def test_iterations_that_are_equally_wrong():
    # A copy of the only useful feature makes the start overconfident, and what iterations mend is flat for a while.
    rng = np.random.default_rng(4)
    y = (rng.random(400) < 0.9).astype(int)
    useful = np.where(rng.random(400) < 0.2, y, 1 - y)
    X = np.column_stack([*[useful] * 4, np.where(rng.random(400) < 0.2, y, 1 - y)])
    trace = fitted(pr.ELR(tune_by="error"), X, y, "naive").parameter_trace_
    ties = np.flatnonzero(trace.held_out_error == trace.held_out_error.min())
    assert len(ties) > 1
    assert ties[0] > 0
    assert trace.n_iter == ties[-1] or (trace.n_iter > ties[0] and trace.stopped == "converged")
    # Weights are no reason to take another one, although sums of them may round.
    rng = np.random.default_rng(21)
    y = (rng.random(200) < 0.85).astype(int)
    useful = np.where(rng.random(200) < 0.25, y, 1 - y)
    X = np.column_stack([*[useful] * 3, np.where(rng.random(200) < 0.3, y, 1 - y), rng.integers(0, 3, 200)])
    learner = pr.ELR(tune_by="error", cv=np.arange(200) % 5)
    clf = tg.BayesNetClassifier("naive", learner, random_state=0).fit(X, y, sample_weight=np.full(200, 0.1))
    errors = clf.parameter_trace_.held_out_error
    ties = np.flatnonzero(errors <= errors.min() + 1e-12)
    assert len(set(errors[ties])) > 1  # otherwise this tests nothing
    assert clf.parameter_trace_.n_iter > ties[0]
    # Where the class is a coin and the start is as good as anything else, it stays.
    X, y = np.zeros((60, 2), int), np.tile([0, 1, 1], 20)
    trace = fitted(pr.ELR(tune_by="error"), X, y, "naive").parameter_trace_
    assert trace.held_out_error[0] == trace.held_out_error.min()
    assert trace.n_iter == 0


def test_tuning_shows_what_it_chose_by():
    X, y = draw_table(200, missing=0.1)
    trace = fitted(pr.ELR(tune_by="error"), X, y).parameter_trace_
    assert trace.stopped == "tuned"
    assert trace.n_iter == best_of_equal(trace.held_out_error)
    assert np.isfinite(trace.training[: trace.n_iter + 1]).all()
    assert np.isnan(trace.training[trace.n_iter + 1 :]).all()
    assert trace.fold_error.shape == (5, len(trace))
    np.testing.assert_allclose(trace.fold_error.mean(axis=0), trace.held_out_error)  # folds of the same size
    likely = fitted(pr.ELR(tune_by="cll"), X, y).parameter_trace_
    assert likely.n_iter == int(np.argmax(likely.held_out))
    steps = [int(np.argmax(curve)) for curve in likely.fold_held_out]
    median = fitted(pr.ELR(tune_by="error", tune_rule="median"), X, y).parameter_trace_
    votes = zip(median.fold_error, median.fold_held_out, strict=True)
    assert median.n_iter == sorted(best_of_equal(curve[: end_of(likely)]) for curve, likely in votes)[2]
    median = fitted(pr.ELR(tune_by="cll", tune_rule="median"), X, y).parameter_trace_
    assert median.n_iter == sorted(steps)[2]
    assert f"{trace.n_iter} iterations; stopped: tuned" in repr(trace)
    assert trace[0].training == trace.training[0]
    assert trace[-1].held_out == trace.held_out[-1]
    assert [step.held_out for step in trace[:2]] == trace.held_out[:2].tolist()
    assert len(trace.to_frame()) == len(trace)
    with pytest.raises(IndexError):
        trace[len(trace)]


def test_folds_may_be_given():
    X, y = draw_table(200)
    folds = np.arange(200) % 4
    trace = fitted(pr.ELR(cv=folds), X, y).parameter_trace_
    assert trace.fold_error.shape[0] == 4
    weights = np.where(np.arange(200) < 20, 0.0, 1.0)
    clf = tg.BayesNetClassifier("tan", pr.ELR(cv=folds)).fit(X, y, sample_weight=weights)
    without = tg.BayesNetClassifier("tan", pr.ELR(cv=folds[20:])).fit(X[20:], y[20:])
    assert clf.parameter_trace_ == without.parameter_trace_


def test_a_search_keeps_its_own_trace():
    X, y = draw_table()
    clf = fitted(pr.ELR(max_iter=3), X, y, st.HillClimb(max_steps=1))
    assert clf.search_trace_.objective == "accuracy"
    assert clf.parameter_trace_.n_iter <= 3
    again = pickle.loads(pickle.dumps(clf))
    assert again.search_trace_ == clf.search_trace_
    assert again.parameter_trace_ == clf.parameter_trace_
    assert not hasattr(clf.set_params(parameters=None, structure="naive").fit(X, y), "parameter_trace_")


@pytest.mark.parametrize("name", LEARNERS)
def test_a_given_class_prior_is_kept(name):
    X, y = draw_table(missing=0.1)
    prior = [0.5, 0.25, 0.25]
    clf = fitted(clone(LEARNERS[name]), X, y, class_prior=prior)
    np.testing.assert_array_equal(clf.network_.cpt("class").values.ravel(), prior)


@pytest.mark.parametrize("name", LEARNERS)
def test_features_may_be_left_out(name):
    X, y = draw_table(missing=0.1)
    clf = fitted(clone(LEARNERS[name]), X, y, st.FixedStructure([(0, 1)], leave_out=[2]))
    other = X.copy()
    other[:, 2] = None
    np.testing.assert_array_equal(clf.predict_proba(X), clf.predict_proba(other))


def test_too_few_iterations_are_reported():
    X, y = draw_table(missing=0.3)
    for learner in (pr.EM(max_iter=1), pr.APN(max_iter=1), pr.ELR(tune_by=None, max_iter=1, l2=0.01)):
        with pytest.warns(ConvergenceWarning, match="did not converge within max_iter=1 iterations"):
            fitted(learner, X, y)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (pr.EM(alpha=-1.0), "alpha: expected a number >= 0"),
        (pr.EM(tol=-1.0), "tol: expected a number >= 0"),
        (pr.EM(max_iter=2.5), "max_iter: expected an integer >= 0, got 2.5"),
        (pr.APN(optimizer="newton"), "optimizer: expected one of 'cg', 'lbfgs', got 'newton'"),
        (pr.ELR(alpha=0.0), "alpha: expected a number > 0"),
        (pr.ELR(l2=-1.0), "l2: expected a finite number >= 0"),
        (pr.ELR(tune_by="accuracy"), "tune_by: expected one of 'cll', 'error', got 'accuracy'"),
        (pr.ELR(tune_rule="mode"), "tune_rule: expected one of 'mean', 'median', got 'mode'"),
        (pr.ELR(patience=-1), "patience: expected an integer >= 0, got -1"),
        (pr.ELR(cv=1), "cv: expected from 2 folds to the number of rows"),
    ],
)
def test_settings_are_checked(learner, message):
    X, y = draw_table(40)
    with pytest.raises(ValueError, match=message):
        fitted(learner, X, y)

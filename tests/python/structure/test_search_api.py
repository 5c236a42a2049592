"""Wrapper searches as users meet them: interruptions, errors, odd data, scikit-learn, files."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from interrupts import interrupted
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold

import tanager as tg
from tanager import evaluation
from tanager import structure as st
from tanager.structure import _search

LEARNERS = [st.HillClimb, st.SuperParent, st.ForwardJoin, st.BackwardJoin]
NAMES = ["hill-climb", "super-parent", "forward-join", "backward-join"]
learners = pytest.mark.parametrize("make", LEARNERS)


def parity(n_rows: int = 200, n_features: int = 5, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """The class is whether two of the features differ; the others say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_features))
    y = np.where(X[:, 1] != X[:, 2], "different", "same")
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(n_features)]), y


def fitted(structure, X=None, y=None, **settings) -> tg.BayesNetClassifier:
    if X is None:
        X, y = parity()
    return tg.BayesNetClassifier(structure=structure, random_state=0, **settings).fit(X, y)


# -- results


@learners
def test_an_interaction_is_found(make):
    # Neither feature is informative alone, so a search that adds features one by one needs a push.
    search = make(epsilon=0.0, start=[("f1", "f2")]) if make is st.ForwardJoin else make(epsilon=0.05)
    clf = fitted(search)
    assert clf.score(*parity()) == 1
    assert {frozenset(arc) for arc in clf.network_.feature_arcs} >= {frozenset(("f1", "f2"))}
    assert clf.search_trace_.stopped == "perfect"


def test_the_trace_shows_what_happened():
    trace = fitted(st.BackwardJoin(epsilon=0.05)).search_trace_
    assert next(step.change for step in trace) == "initial structure"
    assert [step.change for step in trace][-1] == "f2 -> f1"
    assert trace[0].n_candidates == 0
    assert trace[-1].score == trace.scores[-1] == 1
    assert trace.n_candidates == sum(step.n_candidates for step in trace)
    assert trace.fold_scores.shape == (len(trace), 5)
    np.testing.assert_allclose(trace.fold_scores.mean(axis=1), trace.scores)
    times = [step.seconds for step in trace]
    assert times == sorted(times)
    assert times[-1] <= trace.seconds
    frame = trace.to_frame()
    assert frame["change"].tolist() == [step.change for step in trace]
    assert frame["accuracy"].tolist() == trace.scores.tolist()
    assert frame[[f"fold {i}" for i in range(5)]].to_numpy().tolist() == trace.fold_scores.tolist()
    text = repr(trace)
    assert "f2 -> f1" in text
    assert "stopped: perfect" in text
    assert len(trace[1:]) == len(trace) - 1


def test_the_trace_goes_with_a_fit_that_does_not_search():
    clf = fitted("hill-climb")
    assert hasattr(clf, "search_trace_")
    clf.set_params(structure="naive").fit(*parity())
    assert not hasattr(clf, "search_trace_")


def test_folds_follow_the_seed():
    X, y = parity(n_rows=60, seed=3)
    noisy = np.where(np.random.default_rng(1).random(60) < 0.3, "same", y)
    runs = [
        tg.BayesNetClassifier("hill-climb", random_state=seed).fit(X, noisy).search_trace_.fold_scores[0].tolist()
        for seed in (0, 0, 1)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_folds_may_come_as_labels_or_splitter():
    X, y = parity()
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    folds = np.zeros(len(y), dtype=int)
    for number, (_, test) in enumerate(splitter.split(X, y)):
        folds[test] = number
    plain = fitted(st.HillClimb(cv=folds)).search_trace_.fold_scores.tolist()
    assert len(plain[0]) == 4
    assert fitted(st.HillClimb(cv=splitter)).search_trace_.fold_scores.tolist() == plain
    assert fitted(st.HillClimb(cv=[f"fold {f}" for f in folds])).search_trace_.fold_scores.tolist() == plain


@learners
def test_a_row_that_weighs_two_is_a_row_that_comes_twice(make):
    rng = np.random.default_rng(4)
    X, y = parity(n_rows=80, seed=4)
    y = np.where(rng.random(80) < 0.2, "same", y)
    weights, folds = rng.integers(1, 4, 80), np.arange(80) % 4
    again = np.repeat(np.arange(80), weights)
    for objective in ("accuracy", "cll"):
        weighted = tg.BayesNetClassifier(make(cv=folds, objective=objective)).fit(X, y, sample_weight=weights)
        repeated = tg.BayesNetClassifier(make(cv=folds[again], objective=objective)).fit(X.iloc[again], y[again])
        np.testing.assert_allclose(weighted.search_trace_.fold_scores, repeated.search_trace_.fold_scores, rtol=1e-12)
        assert weighted.network_.arcs == repeated.network_.arcs


@learners
def test_folds_of_rows_may_include_rows_of_weight_zero(make):
    X, y = parity(n_rows=80, seed=4)
    weights, folds = np.random.default_rng(4).integers(0, 3, 80), np.arange(80) % 4
    kept = weights > 0
    plain = tg.BayesNetClassifier(make(cv=folds[kept])).fit(X[kept], y[kept], sample_weight=weights[kept])
    pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    for cv in (folds, folds.tolist(), [f"fold {k}" for k in folds], pairs):
        clf = tg.BayesNetClassifier(make(cv=cv)).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(clf.search_trace_.fold_scores, plain.search_trace_.fold_scores)
        assert clf.network_.arcs == plain.network_.arcs
    assert len(tg.BayesNetClassifier(make(cv=KFold(3))).fit(X, y, weights).search_trace_[0].fold_scores) == 3
    with pytest.raises(ValueError, match="got all rows of non-zero weight in fold 2"):
        tg.BayesNetClassifier(make(cv=folds)).fit(X, y, sample_weight=(folds == 2).astype(float))
    with pytest.raises(ValueError, match="the fold of each of the 80 rows, got 79 folds"):
        tg.BayesNetClassifier(make(cv=folds[1:])).fit(X, y, sample_weight=weights)


# -- stopping

LONG = """
import signal, sys, threading, time, warnings
import numpy as np, tanager as tg
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs in the background without it
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, (3000, 150)), rng.integers(0, 2, 3000)
search = tg.structure.HillClimb(epsilon=0.0, max_parents=3, objective="cll")
threading.Timer(float(sys.argv[1]), signal.raise_signal, [signal.SIGINT]).start()
began = time.monotonic()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    clf = tg.BayesNetClassifier(structure=search, random_state=0).fit(X, y)
print(time.monotonic() - began, clf.search_trace_.stopped, [w.category.__name__ for w in caught], len(clf.predict(X)))
"""


@pytest.mark.slow
def test_ctrl_c_returns_the_best_so_far():
    run = subprocess.run([sys.executable, "-c", LONG, "1"], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    seconds, rest = run.stdout.strip().split(" ", 1)
    assert rest == "interrupted ['ConvergenceWarning'] 3000"
    assert float(seconds) < 30  # alone it would take minutes


THREADED = """
import signal
import numpy as np, tanager as tg
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, (3000, 150)), rng.integers(0, 2, 3000)
clf = tg.BayesNetClassifier(tg.structure.HillClimb(epsilon=0.0, max_parents=3, objective="cll"), random_state=0)
print("ready", flush=True)
tg.evaluation.cross_validate(clf, X, y, cv=4, n_jobs=2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a single process")
@pytest.mark.slow
def test_ctrl_c_reaches_searches_in_other_threads():
    assert interrupted(THREADED, after=2) == "KeyboardInterrupt"


@pytest.mark.slow
def test_a_small_memory_limit_holds_for_the_sums_of_super_parents():
    code = """
import resource, numpy as np, tanager as tg
rng = np.random.default_rng(0)
X, y = rng.integers(0, 2, (20_000, 60)), rng.integers(0, 20, 20_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tg.BayesNetClassifier(tg.structure.SuperParent(memory_limit=10**6, epsilon=0.0, max_steps=2)).fit(X, y)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    pytest.importorskip("resource")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) * (1 if sys.platform == "darwin" else 1024) < 80 * 2**20  # all sums would be 192 MB


@learners
def test_a_time_limit_returns_the_best_so_far(make):
    with pytest.warns(ConvergenceWarning, match=r"stopped early \(time limit\) after 0 steps"):
        clf = fitted(make(time_limit=0))
    assert clf.search_trace_.stopped == "time limit"
    assert len(clf.search_trace_) == 1
    assert clf.network_.feature_arcs == []
    assert len(clf.predict(parity()[0])) == 200


def test_a_generous_time_limit_does_not_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted(st.HillClimb(time_limit=1e6)).search_trace_.stopped == "perfect"


@learners
def test_a_step_limit(make):
    clf = fitted(make(max_steps=0))
    assert clf.search_trace_.stopped == "step limit"
    assert len(clf.search_trace_) == 1
    options = {"start": [("f1", "f3")]} if make is st.ForwardJoin else {}
    assert len(fitted(make(max_steps=np.int64(1), epsilon=0.0, **options)).search_trace_) == 2


class Bell(Exception):
    pass


def test_what_progress_raises_comes_through(monkeypatch):
    def fail(self, show):
        def report(*_):
            raise Bell("rang")

        return report

    monkeypatch.setattr(_search.WrapperSearch, "_reporter", fail)
    clf = tg.BayesNetClassifier("hill-climb", verbose=1)
    with pytest.raises(Bell, match="rang"):
        clf.fit(*parity())
    assert not hasattr(clf, "network_")


def test_progress_is_shown(capsys):
    fitted(st.HillClimb(), verbose=1)
    shown = capsys.readouterr()
    assert "HillClimb: step" in shown.err
    assert "accuracy" in shown.err
    assert not shown.out


# -- settings that cannot be

X5, Y5 = parity()
ERRORS = [
    (st.HillClimb(objective="auc"), ValueError, "objective: expected one of 'accuracy', 'cll', got 'auc'"),
    (st.HillClimb(epsilon=float("nan")), ValueError, "epsilon: expected a finite number >= 0, got nan"),
    (st.HillClimb(epsilon=-0.1), ValueError, "epsilon: expected a finite number >= 0, got -0.1"),
    (st.HillClimb(epsilon=float("inf")), ValueError, "epsilon: expected a finite number >= 0, got inf"),
    (st.HillClimb(epsilon="0.01"), TypeError, "epsilon: expected a number, got '0.01'"),
    (st.SuperParent(alpha=-1), ValueError, "alpha: expected a number >= 0"),
    (st.SuperParent(alpha=float("nan")), ValueError, "alpha: expected a number >= 0"),
    (st.SuperParent(alpha=True), TypeError, "alpha: expected a number, got True"),
    (st.HillClimb(max_parents=0), ValueError, "max_parents: expected an integer >= 1, got 0"),
    (st.HillClimb(max_parents=1.5), ValueError, "max_parents: expected an integer >= 1, got 1.5"),
    (st.HillClimb(max_parents=True), ValueError, "max_parents: expected an integer >= 1, got True"),
    (st.HillClimb(max_parents=10**6), ValueError, "max_parents: expected an integer from 1 to 64, got 1000000"),
    (st.HillClimb(symmetric="yes"), TypeError, "symmetric: expected True or False, got 'yes'"),
    (st.HillClimb(max_steps=-1), ValueError, "max_steps: expected None or an integer >= 0, got"),
    (st.HillClimb(max_steps=1.0), ValueError, "max_steps: expected None or an integer >= 0, got"),
    (st.HillClimb(time_limit=-1), ValueError, "time_limit: expected a number >= 0, got -1"),
    (st.HillClimb(time_limit="1"), TypeError, "time_limit: expected a number, got '1'"),
    (st.HillClimb(memory_limit=-1), ValueError, "memory_limit: expected an integer >= 0, got -1"),
    (st.HillClimb(memory_limit=1e9), ValueError, "memory_limit: expected an integer >= 0, got 1000000000.0"),
    (st.HillClimb(cv=[0, 1, 0]), ValueError, "cv: expected the fold of each of the 200 rows, got 3 folds"),
    (st.HillClimb(cv=1), ValueError, "cv: expected from 2 folds to the number of rows, which is 200, got 1"),
    (st.HillClimb(cv=201), ValueError, "to the number of rows, which is 200, got 201"),
    (st.HillClimb(cv=[3] * 200), ValueError, "cv: expected at least 2 folds, got all rows in fold 3"),
    (st.HillClimb(cv=None), TypeError, "cv: expected a number of folds"),
    (st.HillClimb(cv="5"), TypeError, "cv: expected a number of folds"),
    (st.HillClimb(cv=ShuffleSplit(3, random_state=0)), ValueError, "expected every row in the test set of exactly one fold"),
    (st.HillClimb(cv=[([0, 1], list(range(2, 200)))]), ValueError, "expected every row in the test set of exactly one fold, got row 0 in none of the 1 test sets"),
    (st.HillClimb(forbidden=[(0, 1)], required=[("f0", "f1")]), ValueError, "is both required and forbidden"),
    (st.HillClimb(forbidden=[(0, 1)], start=[(0, 1)]), ValueError, "the initial structure has the arc from 0 to 1, which is forbidden"),
    (st.HillClimb(required=[(0, 1), (1, 0)]), ValueError, "cycle"),
    (st.HillClimb(required=[(0, 1)], start=[(1, 0)]), ValueError, "cycle"),
    (st.HillClimb(required=[(0, 0)]), ValueError, "required: expected arcs between two variables, got (0, 0)"),
    (st.HillClimb(required=[(0, 2), (1, 2)]), ValueError, "give a feature 2 feature parents, but at most 1 are allowed"),
    (st.SuperParent(start=[(0, 2), (1, 2)]), ValueError, "give a feature 2 feature parents, but at most 1 are allowed"),
    (st.BackwardJoin(start=[(0, 1), (1, 2)]), ValueError, "must form fully connected groups of features"),
    (st.ForwardJoin(required=[(0, 1), (0, 2)]), ValueError, "must form fully connected groups of features"),
    (st.HillClimb(required=[("f0", "f9")]), ValueError, "required: expected one of the features 'f0', 'f1'"),
    (st.HillClimb(forbidden=[(7, 0)]), ValueError, "forbidden: expected a feature name or a position below 5, got 7"),
    (st.HillClimb(start=[("f0", "class")]), ValueError, "start: expected no arcs to the class"),
    (st.HillClimb(start="f0"), TypeError, "start: expected a list of pairs (parent, child), got str"),
    (st.HillClimb(start=[("f0",)]), ValueError, "start: expected pairs (parent, child), got ('f0',)"),
]  # fmt: skip


@pytest.mark.parametrize(("search", "error", "text"), ERRORS, ids=lambda value: repr(value)[:60])
def test_what_cannot_be_is_said(search, error, text):
    clf = tg.BayesNetClassifier(search)
    with pytest.raises(error) as caught:
        clf.fit(X5, Y5)
    said = str(caught.value)
    assert text in said, said
    assert "\n" not in said
    assert not said.endswith(".")
    assert not hasattr(clf, "network_")


@learners
def test_required_arcs_stay_and_forbidden_ones_do_not_come(make):
    clf = fitted(make(epsilon=0.0, required=[("f3", "f4")], forbidden=[("f1", "f2"), ("f2", "f1")]))
    arcs = {frozenset(arc) for arc in clf.network_.feature_arcs}
    assert frozenset(("f3", "f4")) in arcs
    assert frozenset(("f1", "f2")) not in arcs


# -- odd data


@learners
def test_one_class(make):
    X, _ = parity()
    clf = fitted(make(), X, ["only"] * 200)
    assert clf.search_trace_.stopped == "perfect"
    assert set(clf.predict(X)) == {"only"}
    log = fitted(make(objective="cll"), X, ["only"] * 200)
    assert log.search_trace_.scores.tolist() == [0.0]


@learners
def test_one_feature(make):
    X, _ = parity(n_features=3)
    clf = fitted(make(), X[["f0"]], X["f0"].to_numpy())
    assert clf.score(X[["f0"]], X["f0"]) == 1
    assert clf.search_trace_.stopped == "perfect"


@learners
def test_one_row_has_no_folds(make):
    with pytest.raises(ValueError, match="needs at least two rows for its folds, got one sample"):
        fitted(make(), [["a", "b"]], ["x"])
    assert fitted(make(cv=2), [["a", "b"], ["a", "c"]], ["x", "y"]).predict([["a", "c"]]) in ("x", "y")


@learners
def test_features_that_say_nothing(make):
    X, y = parity(n_features=6)
    X["f3"] = "always"
    X["f4"] = None
    X["f5"] = pd.Categorical([None] * 200, categories=["a", "b"])
    clf = fitted(make(epsilon=0.001, objective="cll"), X, y)
    assert np.isfinite(clf.search_trace_.fold_scores).all()
    assert np.isfinite(clf.predict_proba(X)).all()


@learners
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_with_a_single_row(make, alpha):
    X, y = parity()
    y = y.astype(object)
    y[17] = "rare"
    clf = fitted(make(alpha=alpha), X, y)
    assert clf.classes_.tolist() == ["different", "rare", "same"]
    assert clf.search_trace_.scores[-1] >= clf.search_trace_.scores[0] > 0
    # The row is impossible for tables that have never seen its class, and nothing can make it possible.
    log = fitted(make(alpha=alpha, objective="cll"), X, y).search_trace_
    assert np.isneginf(log.scores[-1]) == (alpha == 0)


@learners
def test_hundreds_of_categories(make):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 300, (600, 3))
    X = pd.DataFrame({f"f{i}": [f"value {v}" for v in codes[:, i]] for i in range(3)})
    y = codes[:, 0] % 2
    clf = fitted(make(max_steps=3, epsilon=0.0), X, y)
    assert max(map(len, clf.categories_)) > 254
    assert np.isfinite(clf.search_trace_.fold_scores).all()


# -- scikit-learn and files


@pytest.mark.parametrize(("make", "name"), list(zip(LEARNERS, NAMES, strict=True)))
def test_settings_objects(make, name):
    search = make(epsilon=0.02, forbidden=[("a", "b")])
    copy = clone(search)
    assert copy is not search
    assert copy.get_params() == search.get_params()
    assert copy.set_params(epsilon=0.5).epsilon == 0.5
    assert search.epsilon == 0.02
    assert repr(make()) == f"{make.__name__}()"
    assert "epsilon=0.02" in repr(search)
    clf = tg.BayesNetClassifier(structure=make())
    assert clf.get_params()["structure__epsilon"] == 0.01
    assert clone(clf.set_params(structure__epsilon=0.3)).structure.epsilon == 0.3
    assert type(tg.BayesNetClassifier(name)._structure_learner()) is make


def test_a_grid_search_over_epsilon():
    X, y = parity()
    grid = GridSearchCV(
        tg.BayesNetClassifier(st.BackwardJoin(), random_state=0),
        {"structure__epsilon": [0.9, 0.01], "structure__objective": ["accuracy"]}, cv=3, n_jobs=1,
    ).fit(X, y)  # fmt: skip
    assert grid.best_params_["structure__epsilon"] == 0.01
    assert grid.best_score_ == 1


@pytest.mark.parametrize("what", ["start", "required"])
@learners
def test_too_large_tables_of_the_initial_structure_are_rejected_early(make, what):
    values = [f"v{i}" for i in range(20_000)]
    codes = np.random.default_rng(0).integers(-1, 20_000, (60, 2))  # with missing values, which need full tables
    X = pd.DataFrame({f"f{i}": pd.Categorical.from_codes(codes[:, i], values) for i in range(2)})
    with pytest.raises(ValueError, match="the table of 'f1' given 'f0', the class would have 800,000,000 cells"):
        fitted(make(**{what: [("f0", "f1")]}), X, np.arange(60) % 2)


@learners
def test_limits_may_be_as_large_as_one_likes(make):
    plain = fitted(make())
    free = fitted(make(max_steps=10**30, memory_limit=10**30))
    assert free.network_.arcs == plain.network_.arcs


def leaving_out() -> tuple[tg.BayesNetClassifier, pd.DataFrame]:
    X, y = parity()
    clf = fitted(st.ForwardJoin(epsilon=0.0, start=[("f1", "f2")]), X, y)
    assert clf.network_.left_out == ["f0", "f3", "f4"]
    return clf, X


def test_pickles_keep_everything():
    clf, X = leaving_out()
    copy = pickle.loads(pickle.dumps(clf))
    assert copy.get_params()["structure"].get_params() == clf.structure.get_params()
    assert copy.search_trace_ == clf.search_trace_
    assert repr(copy.search_trace_) == repr(clf.search_trace_)
    assert copy.network_.left_out == clf.network_.left_out
    assert copy.network_.features == ["f1", "f2"]
    np.testing.assert_array_equal(copy.predict_proba(X), clf.predict_proba(X))


def test_model_files_keep_what_predicts(tmp_path):
    clf, X = leaving_out()
    clf.save(tmp_path / "model.tng")
    copy = tg.load(tmp_path / "model.tng")
    assert copy.network_.left_out == clf.network_.left_out
    assert copy.network_.families == clf.network_.families
    np.testing.assert_array_equal(copy.predict_proba(X), clf.predict_proba(X))


@pytest.mark.filterwarnings("ignore::tanager.UnseenWarning")
def test_what_is_left_out_does_not_matter():
    clf, X = leaving_out()
    plain = clf.predict_joint_log_proba(X)
    for odd in (None, "never seen"):
        changed = X.astype(object)
        changed[["f0", "f3", "f4"]] = odd
        np.testing.assert_array_equal(clf.predict_joint_log_proba(changed), plain)
    alone = tg.BayesNetClassifier(st.FixedStructure([("f1", "f2")])).fit(X[["f1", "f2"]], parity()[1])
    np.testing.assert_allclose(alone.predict_joint_log_proba(X[["f1", "f2"]]), plain, rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_cross_validation_equals_the_plain_loop(name):
    X, y = parity(n_rows=120, seed=5)
    y = np.where(np.random.default_rng(6).random(120) < 0.2, "same", y)
    clf = tg.BayesNetClassifier(name, random_state=3)
    splitter = KFold(4, shuffle=True, random_state=0)
    found = evaluation.cross_validate(clf, X, y, cv=splitter)
    plain = [
        accuracy_score(y[test], clone(clf).fit(X.iloc[train], y[train]).predict(X.iloc[test]))
        for train, test in splitter.split(X, y)
    ]
    assert found["accuracy"].tolist() == plain

"""What every structure learner, parameter learner and average must do alike, whatever it learns."""

from __future__ import annotations

import pickle
import sys
import warnings
from threading import Event

import numpy as np
import pandas as pd
import pytest
from dependent_tables import make_table
from paths import ROOT
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tanager as tg
from tanager import parameters as pr
from tanager import structure as st
from tanager._utils.progress import stopping

sys.path.insert(0, str(ROOT))

from docs.make_reference.abilities import all_methods

SEED = {"random_state": 0}
GENERAL = st.FixedStructure([("f0", "class"), ("class", "f1"), ("f1", "f2"), ("class", "f2")], class_arcs="listed")
#: Further settings that lead through other code, and the classes for common combinations.
MORE = {
    "NaiveBayesClassifier": tg.NaiveBayesClassifier(),
    "TANClassifier, bic": tg.TANClassifier("bic"),
    "KDBClassifier, k=3": tg.KDBClassifier(k=3),
    "AODEClassifier, min_count": tg.AODEClassifier(alpha=0.5, min_count=20),
    "general network": tg.BayesNetClassifier(GENERAL),
    "hill climb, 2 parents": tg.BayesNetClassifier(st.HillClimb(max_parents=2, cv=3), **SEED),
    "G tests": tg.BayesNetClassifier(st.ThreePhase(test="g2")),
    "aCLL tree and parameters": tg.BayesNetClassifier("acll-tree", "acll-optimal"),
    "WANBIA, squared error": tg.BayesNetClassifier(parameters=pr.Wanbia(objective="mse")),
    "WANBIA, renormalized": tg.BayesNetClassifier(parameters=pr.Wanbia(renormalize=True)),
    "weighted TAN": tg.BayesNetClassifier("tan", pr.AttributeWeighted(n_trees=3, max_depth=2), **SEED),
    "TAN, EM": tg.BayesNetClassifier("tan", "em"),
    "TAN, APN": tg.BayesNetClassifier("tan", pr.APN(optimizer="lbfgs")),
    "TAN, ELR": tg.BayesNetClassifier("tan", pr.ELR(max_iter=20), **SEED),
    "TAN, ELR, not tuned": tg.BayesNetClassifier("tan", pr.ELR(tune_by=None, optimizer="lbfgs", l2=0.1, max_iter=500)),
}
METHODS = {name.strip("`"): clf for name, clf in all_methods().items()} | MORE
METHODS["FixedStructure(arcs)"] = tg.BayesNetClassifier(st.FixedStructure([("f0", "f1")]))  # features of the table here
every_method = pytest.mark.parametrize("name", METHODS)

#: Learners that go over the rows several times, and look for a request to stop meanwhile. The others count once.
SEARCHES = (st.HillClimb, st.SuperParent, st.ForwardJoin, st.BackwardJoin)
OPTIMIZERS = (pr.Wanbia, pr.EM, pr.APN, pr.ELR)
ROW_LEARNERS = (*SEARCHES, st.ConstraintAugmented, st.ThreePhase, pr.AttributeWeighted, *OPTIMIZERS)
#: Learners that draw folds or samples of rows: a row of weight two is drawn otherwise than a row that occurs twice.
DRAWING = (*SEARCHES, pr.AttributeWeighted)
#: What a fit may leave beside the model.
ATTRIBUTES = ("search_trace_", "parameter_trace_", "feature_weights_", "arc_probabilities_", "dependence_threshold_")


def table(n_rows: int = 200, missing: float = 0.1) -> tuple[pd.DataFrame, pd.Series]:
    """Strings with missing values, integers, and numbers that are discretized."""
    X, y = make_table(n_rows, missing=missing)
    rng = np.random.default_rng(1)
    columns = {"number": rng.integers(4, size=n_rows), "real": (y == "a") + rng.normal(size=n_rows)}
    return X.assign(**columns), pd.Series(y, name="class")


def countable_table() -> tuple[pd.DataFrame, pd.Series]:
    """The table without the numbers whose cut points need all rows."""
    X, y = table()
    return X.drop(columns="real"), y


def learners(clf: object) -> tuple[object, object]:
    """The structure and the parameter learner of a classifier, where it has them."""
    structure = st.resolve_structure(clf.structure) if hasattr(clf, "structure") else None
    parameters = pr.resolve_parameters(clf.parameters) if hasattr(clf, "parameters") else None
    return structure, parameters


def uses(clf: object, kinds: tuple[type, ...]) -> bool:
    return any(isinstance(learner, kinds) for learner in learners(clf))


@pytest.fixture(scope="module")
def fitted():
    """Every method fitted to the table, with what it predicts; made when first asked for."""
    made: dict[str, tuple[object, np.ndarray]] = {}

    def get(name: str) -> tuple[object, np.ndarray]:
        if name not in made:
            X, y = table()
            clf = clone(METHODS[name]).fit(X, y)
            made[name] = clf, clf.predict_joint_log_proba(X)
        return made[name]

    return get


def assert_alike(a: object, b: object, attributes: tuple[str, ...] = ATTRIBUTES) -> None:
    """Two fitted classifiers are the same to the last bit."""
    X = table()[0][list(b.feature_names_in_)]
    np.testing.assert_array_equal(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert a.classes_.tolist() == b.classes_.tolist()
    if hasattr(a, "network_"):
        assert a.network_.families == b.network_.families
        assert a.network_.left_out == b.network_.left_out
    if hasattr(a, "posterior_"):
        np.testing.assert_array_equal(a.posterior_.edge_probabilities.values, b.posterior_.edge_probabilities.values)
        assert a.posterior_.entropy == b.posterior_.entropy
    for name in attributes:
        assert hasattr(a, name) == hasattr(b, name), name
        if hasattr(a, name):
            np.testing.assert_equal(without_times(getattr(a, name)), without_times(getattr(b, name)), name)


def without_times(found: object) -> object:
    """A fitted attribute, of a search all but how long its steps took."""
    if not isinstance(found, st.SearchTrace):
        return found
    return found.stopped, [(step.change, step.score, step.fold_scores, step.n_candidates) for step in found]


def test_every_learner_is_here():
    """A new learner must be in the tables of names, and so in these tests."""
    found = {type(learner) for clf in METHODS.values() for learner in learners(clf)}
    for base, module in ((st.StructureLearner, st), (pr.ParameterLearner, pr)):
        public = {getattr(module, name) for name in module.__all__ if isinstance(getattr(module, name), type)}
        wanted = {kind for kind in public if issubclass(kind, base) and kind is not base}
        assert len(wanted) >= 8
        assert wanted <= found
    assert {tg.AODEClassifier, tg.TBMATANClassifier, tg.KDBClassifier} <= {type(clf) for clf in METHODS.values()}


@pytest.mark.parametrize(("setting", "names"), [("structure", st.BY_NAME), ("parameters", pr.BY_NAME)])
def test_names_stand_for_learners(setting, names):
    X, y = table(60)
    for name, make in names.items():
        by_name = tg.BayesNetClassifier(**{setting: name}, **SEED).fit(X, y)
        by_object = tg.BayesNetClassifier(**{setting: make()}, **SEED).fit(X, y)
        np.testing.assert_array_equal(by_name.predict_proba(X), by_object.predict_proba(X), err_msg=name)


@every_method
def test_fits_repeat_and_threads_change_nothing(name, fitted):
    clf, _ = fitted(name)
    assert_alike(clone(clf).fit(*table()), clf)
    X, y = table(3000)  # with fewer rows one thread would do it all
    many = pd.concat([X] * 4, ignore_index=True)
    one, three = (clone(clf).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3))
    assert_alike(three, one)
    np.testing.assert_array_equal(three.predict_proba(many), one.predict_proba(many))


@every_method
def test_single_rows_get_the_same_bits(name, fitted):
    clf, joint = fitted(name)
    X, _ = table()
    for i in range(0, len(X), 23):
        np.testing.assert_array_equal(clf.predict_joint_log_proba(X[i : i + 1])[0], joint[i])


@every_method
def test_pickles_keep_everything(name, fitted):
    clf, _ = fitted(name)
    again = pickle.loads(pickle.dumps(clf))
    assert type(again) is type(clf)
    assert repr(again) == repr(clf)
    assert_alike(again, clf)
    assert_alike(again.fit(*table()), clf)


@every_method
def test_model_files_keep_what_predicts(name, fitted, tmp_path):
    clf, _ = fitted(name)
    clf.save(tmp_path / "model.tng")
    again = tg.load(tmp_path / "model.tng")
    assert type(again) is type(clf)
    assert_alike(again, clf, ("feature_weights_", "arc_probabilities_", "dependence_threshold_"))
    assert_alike(again.fit(*table()), clf)  # its settings are there, too


@pytest.fixture(scope="module")
def long_table():
    """Rows enough that learners which go over them look for a request to stop, which they do every 50 milliseconds."""
    X, y = table(40_000)
    return pd.concat(
        [X, X.sample(frac=1, random_state=0, ignore_index=True).set_axis([f"{c} shuffled" for c in X], axis=1)], axis=1
    ), y


@pytest.mark.parametrize("name", [name for name, clf in METHODS.items() if uses(clf, ROW_LEARNERS)])
def test_a_request_to_stop_interrupts_what_lasts(name, long_table):
    X, y = long_table
    clf = clone(METHODS[name])
    if uses(clf, (pr.AttributeWeighted,)):
        clf.set_params(parameters=pr.AttributeWeighted(n_trees=100_000))
    stop = Event()
    stop.set()
    token = stopping.set(stop)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf.fit(X, y)
    except KeyboardInterrupt:
        assert not hasattr(clf, "classes_")
    else:  # searches that have begun keep the best structure so far
        assert uses(clf, SEARCHES)
        assert clf.search_trace_.stopped == "interrupted"
        assert [warning.category for warning in caught] == [ConvergenceWarning]
    finally:
        stopping.reset(token)


@every_method
def test_parts_are_the_whole_or_are_rejected(name):
    X, y = countable_table()
    clf = clone(METHODS[name])
    whole = clone(clf).fit(X, y)
    cuts = [slice(0, 70), slice(70, 71), slice(71, 200)]
    if hasattr(clf, "partial_fit"):
        parts = clone(clf)
        for part in cuts:
            parts.partial_fit(X[part], y[part], classes=["a", "b", "c"])
        assert_alike(parts, whole)
        first, *rest = [clone(clf).fit(X[part], y[part]) for part in cuts]
        assert_alike(first.merge(*rest), whole)
    else:
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as caught:
            clf.partial_fit(X, y)
        assert "needs all rows at once" in str(caught.value.__cause__)


@every_method
def test_streams_are_the_whole_or_are_rejected(name):
    X, y = countable_table()
    clf = clone(METHODS[name])
    batches = [(X[i : i + 60], y[i : i + 60]) for i in range(0, len(X), 60)]
    if uses(clf, ROW_LEARNERS):
        with pytest.raises(ValueError, match=r"stream.*use fit"):
            clf.fit_stream(batches)
        assert not hasattr(clf, "classes_")
    else:
        assert_alike(clf.fit_stream(batches), clone(clf).fit(X, y))


@every_method
def test_rows_of_weight_zero_are_absent(name):
    X, y = table()
    weights = np.arange(len(X)) % 5 > 0
    weighted = clone(METHODS[name]).fit(X, y, sample_weight=weights.astype(float))
    without = clone(METHODS[name]).fit(X[weights], y[weights])
    np.testing.assert_allclose(weighted.predict_proba(X), without.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("name", [name for name, clf in METHODS.items() if not uses(clf, DRAWING)])
def test_a_weight_of_two_is_a_row_that_occurs_twice(name):
    X, y = table(120)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    clf = clone(METHODS[name])
    if isinstance(learners(clf)[1], pr.ELR):  # the folds that it tunes by would spread repetitions
        clf.set_params(parameters=pr.ELR(tune_by=None, optimizer="lbfgs", l2=0.1, max_iter=500))
    weighted = clone(clf).fit(X, y, sample_weight=times)
    repeated = clone(clf).fit(X.loc[X.index.repeat(times)], y.repeat(times))
    # Where an optimizer stops depends on the order in which rows are added up.
    tolerance = 1e-4 if uses(clf, OPTIMIZERS) else 1e-10
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=tolerance, rtol=tolerance)


# With min_count, the values of a row decide which features are parents in the average, and so what is summed.
@pytest.mark.filterwarnings("ignore::tanager.UnseenWarning")
@pytest.mark.parametrize("name", [name for name in METHODS if "min_count" not in name])
def test_missing_values_are_summed_out(name, fitted):
    clf, joint = fitted(name)
    X, _ = table()
    assert np.isfinite(joint).all()
    rows = X[X.notna().all(axis=1)][:10]
    completions = [clf.predict_joint_log_proba(rows.assign(f1=value)) for value in X["f1"].dropna().unique()]
    without = clf.predict_joint_log_proba(rows.assign(f1=None))
    np.testing.assert_allclose(without, np.logaddexp.reduce(completions), rtol=1e-9)
    np.testing.assert_array_equal(clf.predict_joint_log_proba(rows.assign(f1="never seen")), without)


@pytest.mark.filterwarnings("ignore::tanager.EstimateWarning")
@every_method
def test_a_class_prior_is_what_a_row_without_values_gets(name):
    X, y = table()
    prior = [0.8, 0.15, 0.05]
    clf = clone(METHODS[name]).set_params(class_prior=prior)
    if uses(METHODS[name], (st.ThreePhase,)) or name == "general network":
        with pytest.raises(ValueError, match="where the class depends on features"):
            clf.fit(X, y)
        return
    nothing = pd.DataFrame({column: [None] for column in X}, dtype=object)
    # The average over trees samples where much is missing; tables of WANBIA do not sum to one.
    is_near = isinstance(clf, tg.TBMATANClassifier) or uses(clf, (pr.Wanbia,))
    tolerance = 0.01 if is_near else 1e-12
    np.testing.assert_allclose(clf.fit(X, y).predict_proba(nothing), [prior], rtol=tolerance, atol=tolerance)


@every_method
def test_explanations_add_up(name, fitted):
    clf, _ = fitted(name)
    explanation = clf.explain(table()[0][:20])
    sums = explanation.base + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(sums, explanation.log_odds, atol=1e-10)


@every_method
def test_cross_validation_is_the_plain_loop(name):
    X, y = table(90)
    folds = np.arange(90) % 3
    found = tg.evaluation.cross_validate(METHODS[name], X, y, cv=folds)["accuracy"]
    plain = []
    for fold in range(3):
        test = folds == fold
        clf = clone(METHODS[name]).fit(X[~test], y[~test])
        plain.append(np.mean(clf.predict(X[test]) == y[test]))
    np.testing.assert_allclose(found, plain, rtol=1e-12)

"""Cross-validation against a plain loop of fit and predict, to the last bit."""

from __future__ import annotations

import warnings
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC

import tanager as tg
from tanager import parameters as pr
from tanager import structure as st
from tanager._learning.contract import FittedStructure
from tanager.evaluation import _counted_folds, accuracy, auc, conditional_log_likelihood, cross_validate, log_loss

SCORES = {"accuracy": accuracy, "log_loss": log_loss, "cll": conditional_log_likelihood, "auc": auc}


def take(values, rows):
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, list):
        return [values[i] for i in rows]
    if isinstance(values, (pa.Table, pa.ChunkedArray)):
        return values.take(rows)
    return values[rows]


def plain_loop(clf, X, y, splits, sample_weight=None):
    """What cross_validate must return, written as anybody would."""
    found = {name: [] for name in SCORES}
    for train, test in splits:
        fitted = clone(clf)
        given = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[train]}
        fitted.fit(take(X, train), take(y, train), **given)
        proba, labels = fitted.predict_proba(take(X, test)), np.asarray(take(y, test))
        right = np.asarray(fitted.predict(take(X, test))) == labels
        found["accuracy"].append(right.sum() / len(right))
        for name in ("log_loss", "cll", "auc"):
            found[name].append(SCORES[name](labels, proba, fitted.classes_))
    return found


def splits_of(folds):
    folds = np.asarray(folds)
    return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in np.unique(folds)]


@pytest.fixture
def counted(monkeypatch):
    """Fail if a fold is fitted on its own where it should be learned from counts."""

    def reject(*args, **kwargs):
        raise AssertionError("a fold was fitted on its own")

    monkeypatch.setattr(_counted_folds, "plain_fold", reject)
    monkeypatch.setattr("tanager.evaluation._cross_validate.refit_folds", reject)


def check(clf, X, y, cv, splits, **options):
    result = cross_validate({"clf": clf}, X, y, cv=cv, scoring=list(SCORES), **options)
    expected = plain_loop(clf, X, y, splits, options.get("sample_weight"))
    for name, scores in expected.items():
        np.testing.assert_array_equal(result.scores["clf"][name], scores, err_msg=name)
    return result


N = 240


def draw_tables():
    """Data with rare categories and classes, numbers and missing values, in every supported container."""
    rng = np.random.default_rng(5)
    y = rng.choice(["ant", "bee", "cow"], N, p=[0.5, 0.3, 0.2])
    y[:2] = "dog"
    strength = (y == "bee") + 2 * (y == "cow")
    color = np.array(["red", "green", "blue", "gray"], dtype=object)[(rng.integers(0, 3, N) + strength) % 4]
    color[7] = "only here"
    color[rng.random(N) < 0.1] = None
    size = rng.normal(strength, 1.0)
    size[rng.random(N) < 0.1] = np.nan
    weight = rng.exponential(1 + strength).astype(np.float32)
    count = rng.integers(0, 4, N) * (1 + strength)
    flag = rng.random(N) < 0.3 + 0.2 * strength
    frame = pd.DataFrame(
        {
            "color": pd.Series(color, dtype=object),
            "size": size,
            "weight": weight,
            "count": count,
            "flag": flag,
            "grade": pd.Categorical(rng.choice(["a", "b"], N), categories=["b", "never", "a"]),
            "nullable": pd.array(np.where(rng.random(N) < 0.2, None, count % 3), dtype="Int8"),
            "empty": np.full(N, None, dtype=object),
        }
    )
    return frame, y


FRAME, Y = draw_tables()
FOLDS = np.random.default_rng(0).integers(0, 4, N)
FOLDS[:2] = 3  # which knows no dogs
INTEGERS = np.stack([pd.factorize(FRAME[c])[0] for c in ("color", "count", "flag", "nullable")], axis=1)


def classifiers():
    return {
        "naive": tg.NaiveBayesClassifier(),
        "tan": tg.TANClassifier(),
        "tan-bic": tg.TANClassifier(structure_score="bic"),
        "kdb": tg.KDBClassifier(k=2),
        "aode": tg.AODEClassifier(),
        "aode, frequent parents": tg.AODEClassifier(min_count=30, alpha=0.5),
        "all trees": tg.TBMATANClassifier(),
        "all trees, stubborn": tg.TBMATANClassifier(1.0, 5.0, class_prior=None, n_trees=7),
        "maximum likelihood": tg.BayesNetClassifier("tan", pr.MaximumLikelihood()),
        "bdeu": tg.BayesNetClassifier("tan-aic", pr.Dirichlet(equivalent_sample_size=10)),
        "temperature": tg.BayesNetClassifier("tan", pr.DataTemperature()),
        "linear temperature": tg.BayesNetClassifier("naive", pr.DataTemperature("linear", added_frequency=0.01)),
        "softened": tg.BayesNetClassifier("tan-bic", pr.Softened()),
        "averaged": tg.BayesNetClassifier("naive", pr.ModelAveraged(arc_prior=0.3)),
        "trees": tg.BayesNetClassifier("tan", pr.AttributeWeighted(n_trees=3), random_state=5),
        "wanbia": tg.BayesNetClassifier("naive", "wanbia"),
        "em": tg.BayesNetClassifier("tan", "em"),
        "apn": tg.BayesNetClassifier("tan", pr.APN(optimizer="lbfgs")),
        "elr": tg.BayesNetClassifier("tan", pr.ELR(max_iter=5), random_state=5),
        "acll": tg.BayesNetClassifier(st.AcllTree(), pr.AcllOptimal()),
        "uniform acll": tg.BayesNetClassifier(
            st.AcllTree("uniform", root=1), pr.AcllOptimal("uniform", pseudo_counts=1)
        ),
        "fixed": tg.BayesNetClassifier(st.FixedStructure([(0, 1), (1, 2), (0, 2)])),
        "pc": tg.BayesNetClassifier(st.ConstraintAugmented(min_rows=1)),
        "three phases": tg.BayesNetClassifier(st.ThreePhase(threshold=0.05, max_parents=None)),
        "width": tg.TANClassifier(discretizer="equal-width"),
        "frequency": tg.TANClassifier(discretizer=tg.EqualFrequencyDiscretizer(3)),
        "no cuts": tg.NaiveBayesClassifier(discretizer=None),
        "all numbers": tg.TANClassifier(numeric_features="number"),
    }


@pytest.mark.filterwarnings("ignore::tanager.UnseenWarning")  # of numbers that are all different
@pytest.mark.parametrize("name", classifiers())
@pytest.mark.parametrize("kind", ["pandas", "polars", "integers", "floats"])
def test_every_classifier_equals_the_plain_loop(name, kind, counted):
    X = {
        "pandas": FRAME,
        "polars": pl.from_pandas(FRAME.drop(columns="empty")).with_columns(pl.col("color").cast(pl.Categorical)),
        "integers": INTEGERS,
        "floats": FRAME[["size", "weight", "count"]].to_numpy(dtype=float),
    }[kind]
    check(classifiers()[name], X, Y, FOLDS, splits_of(FOLDS))


@pytest.mark.parametrize(
    "make",
    [
        lambda: INTEGERS.astype(np.int8),
        lambda: INTEGERS.astype(str),
        FRAME[["color"]].to_numpy,
        lambda: np.ma.MaskedArray(INTEGERS, INTEGERS == 2),
        lambda: FRAME[["color", "count"]].astype({"color": "category"}),
        lambda: FRAME[["color", "size"]].astype({"color": "string"}),
        lambda: pa.Table.from_pandas(FRAME[["color", "size", "grade"]]),
        lambda: pl.DataFrame({"a": FRAME["color"].to_list(), "b": FRAME["count"].to_list()}),
    ],
    ids=["int8", "strings", "objects", "masked", "categories", "string type", "arrow", "polars strings"],
)
def test_tables_of_all_kinds_are_counted_once(make, counted):
    check(tg.TANClassifier(), make(), Y, FOLDS, splits_of(FOLDS))


@pytest.mark.parametrize(
    "make",
    [
        lambda: [[int(v) for v in row] for row in INTEGERS],
        lambda: [["x" if v else 1.5 for v in row] for row in INTEGERS],
        lambda: np.where(INTEGERS[:, :2] == 1, 0.5, INTEGERS[:, :2].astype(object)),  # floats in some rows only
        lambda: np.where(INTEGERS[:, :2] == 1, "one", INTEGERS[:, :2].astype(object)),
        lambda: np.where(INTEGERS == 3, 2**63 + 1, INTEGERS + 1).astype(np.uint64),
        lambda: pa.table(
            {"a": pa.chunked_array([pa.array(["x", "y"] * 60).dictionary_encode(), pa.array(["z", "x"] * 60).dictionary_encode()])}
        ),
    ],
    ids=["list", "mixed list", "mixed numbers", "mixed objects", "huge integers", "chunked dictionaries"],
)  # fmt: skip
def test_tables_that_folds_may_read_otherwise_are_fitted_fold_by_fold(make):
    for clf in (tg.TANClassifier(), tg.NaiveBayesClassifier(numeric_features="number")):
        check(clf, make(), Y, FOLDS, splits_of(FOLDS))


def test_a_column_without_numbers_in_a_fold_equals_the_plain_loop(counted):
    X = np.column_stack([np.where(FOLDS == 0, np.linspace(0, 1, N), np.nan), FRAME["size"]])
    check(tg.TANClassifier(), X, Y, FOLDS, splits_of(FOLDS))


@pytest.mark.parametrize("cut", ["mdlp", "equal-frequency"])
def test_a_column_of_many_cuts_equals_the_plain_loop(cut, counted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    folds = rng.integers(0, 5, 300)
    discretizer = tg.EqualFrequencyDiscretizer(20) if cut == "equal-frequency" else cut
    check(tg.TANClassifier(discretizer=discretizer), X, y, folds, splits_of(folds))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "clf",
    [
        tg.TANClassifier(),
        tg.NaiveBayesClassifier(),
        tg.KDBClassifier(),
        tg.AODEClassifier(),
        tg.BayesNetClassifier("acll-tree", "acll-optimal"),
    ],
    ids=repr,
)
def test_weights_equal_the_plain_loop(clf, whole, counted):
    weights = np.random.default_rng(3).exponential(size=N)
    weights = np.floor(2 * weights) if whole else weights * (weights > 0.3)
    assert (weights == 0).any()
    check(clf, FRAME, Y, FOLDS, splits_of(FOLDS), sample_weight=weights)
    check(clf, INTEGERS, Y, FOLDS, splits_of(FOLDS), sample_weight=weights)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(
    "cv",
    [
        StratifiedKFold(5, shuffle=True, random_state=1),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1),
        ShuffleSplit(4, test_size=0.3, train_size=0.4, random_state=1),
        LeaveOneOut(),
        [(np.arange(0, 200), np.arange(150, 240)), (np.arange(240) % 2 == 0, np.arange(240) % 3 == 0)],
        [(np.repeat(np.arange(200), 2), np.arange(200, 240)), ([5, 3, 200, 100, 9, 9], [0, 1])],
    ],
    ids=["stratified", "repeated", "shuffle", "leave one out", "overlapping", "bootstrap"],
)
def test_splitters_and_pairs(cv, counted):
    n = 80 if isinstance(cv, LeaveOneOut) else N  # the plain loop fits once for every fold
    X, y = FRAME[:n], Y[:n]
    pairs = list(cv.split(X, y)) if hasattr(cv, "split") else cv
    pairs = [[np.flatnonzero(p) if np.asarray(p).dtype == bool else np.asarray(p) for p in pair] for pair in pairs]
    for clf in (tg.TANClassifier(), tg.KDBClassifier()):
        check(clf, X, y, cv, pairs)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("clf", [tg.TANClassifier(), tg.AODEClassifier(), BernoulliNB()], ids=repr)
def test_accuracies_are_those_of_the_loop_of_scikit_learn(clf):
    cv = StratifiedKFold(6, shuffle=True, random_state=2)
    ours = cross_validate(clf, INTEGERS, Y, cv=cv, scoring="accuracy")["accuracy"]
    np.testing.assert_array_equal(ours, cross_val_score(clf, INTEGERS, Y, cv=cv))


def test_drawn_folds_give_the_same_as_given_ones():
    drawn = cross_validate(tg.TANClassifier(), FRAME, Y, cv=4, random_state=7)
    codes = np.unique(Y, return_inverse=True)[1].astype(np.uint8)
    folds = tg._core.stratified_folds(codes, 4, 4, 7)
    np.testing.assert_array_equal(drawn["accuracy"], cross_validate(tg.TANClassifier(), FRAME, Y, cv=folds)["accuracy"])


@pytest.mark.parametrize("labels", [np.int64, float, bool, object, "polars", "arrow", "series", list])
def test_labels_of_all_kinds(labels, counted):
    y = (Y == "bee").astype(int) + (0 if labels is bool else (Y == "cow"))
    y = {
        "polars": lambda: pl.Series("size", y),
        "arrow": lambda: pa.chunked_array([pa.array(y)]),
        "series": lambda: pd.Series(y, index=np.arange(N)[::-1], name="size"),
        object: lambda: np.array(["abc"[i] for i in y], dtype=object),
        list: y.tolist,
    }.get(labels, lambda: y.astype(labels))()
    check(tg.TANClassifier(), FRAME, y, FOLDS, splits_of(FOLDS))


def test_labels_of_mixed_types_are_fitted_fold_by_fold():
    y = np.array(["1" if v == "dog" else 1 if v == "bee" else 0 for v in Y], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cross_validate(tg.TANClassifier(), FRAME, y, cv=FOLDS)
    assert result["accuracy"].mean() > 0.5


def test_several_classifiers_are_evaluated_as_each_alone(counted):
    together = cross_validate(classifiers(), FRAME, Y, cv=FOLDS, scoring=list(SCORES))
    for name, clf in classifiers().items():
        alone = cross_validate(clf, FRAME, Y, cv=FOLDS, scoring=list(SCORES))
        for score in SCORES:
            np.testing.assert_array_equal(together[name][score], alone[score])


@pytest.mark.parametrize("n_jobs", [2, -1])
@pytest.mark.slow
def test_threads_and_processes_change_nothing(n_jobs):
    clfs = {"tan": tg.TANClassifier(n_jobs=2), "bernoulli": BernoulliNB()}
    one, many = (cross_validate(clfs, INTEGERS, Y, cv=FOLDS, scoring=list(SCORES), n_jobs=n) for n in (None, n_jobs))
    for name in clfs:
        for score in SCORES:
            np.testing.assert_array_equal(one[name][score], many[name][score])


def test_any_classifier_of_scikit_learn():
    check(BernoulliNB(), INTEGERS, Y, FOLDS, splits_of(FOLDS))
    accuracies = cross_validate(LinearSVC(random_state=0), INTEGERS, Y, cv=FOLDS, scoring="accuracy")["accuracy"]
    assert accuracies.shape == (4,)  # it has no predict_proba, and needs none


def test_a_subclass_that_predicts_its_own_way_is_fitted():
    class Sure(tg.NaiveBayesClassifier):
        def predict_proba(self, X):
            return 0.9 * super().predict_proba(X) + 0.1 / len(self.classes_)

    check(Sure(), INTEGERS, Y, FOLDS, splits_of(FOLDS))


SEARCHES = {
    "hill climb": st.HillClimb(cv=3, epsilon=0.0),
    "k-DB": st.HillClimb(max_parents=2, cv=StratifiedKFold(3), objective="cll"),
    "super-parent": st.SuperParent(cv=3, epsilon=0.0),
    "forward": st.ForwardJoin(cv=3, epsilon=0.02),
    "backward": st.BackwardJoin(cv=3, epsilon=0.0),
}


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", SEARCHES)
def test_searches_equal_the_plain_loop(name, counted):
    clf = tg.BayesNetClassifier(SEARCHES[name], random_state=1)
    check(clf, INTEGERS, Y, FOLDS, splits_of(FOLDS))
    check(clf, FRAME[["color", "size", "flag", "nullable"]], Y, FOLDS, splits_of(FOLDS))


def kept_structures():
    return {
        "tan": tg.TANClassifier(),
        "kdb": tg.KDBClassifier(),
        "naive": tg.NaiveBayesClassifier(),
        **{name: tg.BayesNetClassifier(search, random_state=1) for name, search in SEARCHES.items()},
    }


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", kept_structures())
def test_a_kept_structure_equals_the_plain_loop_with_it(name, counted):
    clf = kept_structures()[name]
    kept = cross_validate(clf, FRAME, Y, cv=FOLDS, refit_structure=False, scoring=list(SCORES))
    fitted = clone(clf).fit(FRAME, Y)
    absent = [i for i, parents in enumerate(fitted._core_model.parents) if parents is None]
    assert name != "forward" or absent
    fixed = tg.BayesNetClassifier(st.FixedStructure(fitted.network_.feature_arcs, leave_out=absent))
    for score, scores in plain_loop(fixed, FRAME, Y, splits_of(FOLDS)).items():
        np.testing.assert_array_equal(kept[score], scores)


def test_a_kept_structure_is_another_model():
    relearned = cross_validate(tg.TANClassifier(), FRAME, Y, cv=FOLDS)
    kept = cross_validate(tg.TANClassifier(), FRAME, Y, cv=FOLDS, refit_structure=False)
    assert (relearned["log_loss"] != kept["log_loss"]).any()


@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_a_class_that_was_never_trained_has_probability_zero(alpha, counted):
    X = np.arange(12).reshape(-1, 1) % 3
    y = np.array(["a", "b"] * 5 + ["rare", "rare"])
    folds = np.repeat([0, 1], [10, 2])
    clf = tg.NaiveBayesClassifier(parameters=pr.Dirichlet(alpha=alpha))
    result = cross_validate(clf, X, y, cv=[(folds == 0, folds == 1)], scoring=list(SCORES))
    assert result["accuracy"] == [0.0]
    assert result["log_loss"] == [np.inf]
    assert result["cll"] == [-np.inf]
    assert "inf" in repr(result)


def test_one_class_in_training(counted):
    X, y = np.arange(8).reshape(-1, 1) % 2, np.array([0] * 6 + [1] * 2)
    result = check(tg.TANClassifier(), X, y, np.repeat([0, 1], [6, 2]), splits_of(np.repeat([0, 1], [6, 2])))
    assert result["clf"]["accuracy"].tolist() == [0.0, 0.0]


def test_probabilities_too_small_for_a_float_have_logarithms(counted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.repeat((y ^ (rng.random(60) < 0.1))[:, None], 2000, axis=1)
    result = cross_validate(tg.NaiveBayesClassifier(), X, y, cv=3, random_state=0, scoring=("log_loss", "cll"))
    assert np.isfinite(result["log_loss"]).all()
    assert result["log_loss"].max() > 100
    for (train, test), cll in zip(
        splits_of(tg._core.stratified_folds(y.astype(np.uint8), 2, 3, 0)), result["cll"], strict=True
    ):
        logs = tg.NaiveBayesClassifier().fit(X[train], y[train]).predict_log_proba(X[test])
        assert logs[np.arange(len(test)), y[test]].sum() == pytest.approx(cll, rel=1e-12)


def test_unseen_categories_are_an_error_where_they_are_to_be():
    clf = tg.NaiveBayesClassifier(unseen="error")
    with pytest.raises(ValueError, match="column 'color' contains the unknown category 'only here'"):
        cross_validate(clf, FRAME, Y, cv=FOLDS)
    result = cross_validate(clf, FRAME[["flag"]], Y, cv=FOLDS)
    expected = cross_validate(tg.NaiveBayesClassifier(), FRAME[["flag"]], Y, cv=FOLDS)
    np.testing.assert_array_equal(result["log_loss"], expected["log_loss"])


def test_errors_are_those_of_fitting():
    with pytest.raises(ValueError, match="class_prior: expected 3 probabilities"):
        cross_validate(tg.TANClassifier(class_prior=[0.25] * 4), INTEGERS, Y, cv=FOLDS)
    with pytest.raises(ValueError, match="contains infinity"):
        cross_validate(tg.TANClassifier(), np.where(INTEGERS == 1, np.inf, 0.5), Y, cv=FOLDS)
    with pytest.raises(ValueError, match="not among the categories declared for it"):
        cross_validate(tg.TANClassifier(categories={"color": ["red"]}), FRAME, Y, cv=FOLDS)
    with pytest.raises(ValueError, match="got only zeros"):
        cross_validate(tg.TANClassifier(), INTEGERS, Y, cv=FOLDS, sample_weight=(FOLDS == 1) * 1.0)
    with pytest.raises(ValueError, match="structure: expected one of"):
        cross_validate(tg.BayesNetClassifier("no such"), INTEGERS, Y, cv=FOLDS)


def test_declared_categories_and_class_priors(counted):
    colors = sorted({c for c in FRAME["color"] if c is not None})
    clf = tg.TANClassifier(categories={"color": [*colors, "unknown"]})
    check(clf, FRAME, Y, FOLDS, splits_of(FOLDS))
    clf = tg.TANClassifier(class_prior=[0.7, 0.2, 0.1])
    kept = Y != "dog"
    check(clf, FRAME[kept], Y[kept], FOLDS[kept], splits_of(FOLDS[kept]))


class Interrupted(st.NaiveBayes):
    def _learn(self, context):
        found = super()._learn(context)
        trace = st.SearchTrace([], "accuracy", "interrupted", 0, 0.0)
        return type(found)(found.parents, trace)


@pytest.mark.parametrize("X", [INTEGERS, INTEGERS.tolist()], ids=["counted", "fitted"])
@pytest.mark.parametrize("refit_structure", [True, False])
def test_an_interrupted_search_interrupts(X, refit_structure):
    with pytest.raises(KeyboardInterrupt):
        cross_validate(tg.BayesNetClassifier(Interrupted()), X, Y, cv=FOLDS, refit_structure=refit_structure)


class Seeded(st.StructureLearner):
    """A structure drawn at random, from the rows."""

    def _requirements(self, feature_names, class_name):
        return "singles", []

    def _learn(self, context):
        assert context.require_rows(self).n_rows == context.counts.n_rows
        assert context.require_rows(self).cardinalities == context.counts.cardinalities
        rng = np.random.default_rng(context.draw_seed())
        order = rng.permutation(len(context.feature_names)).tolist()
        parents = [[] for _ in order]
        for parent, child in pairwise(order):
            parents[child] = [parent]
        return FittedStructure(parents)


@pytest.mark.parametrize("seed", [3, np.random.RandomState(3)], ids=["int", "RandomState"])
def test_learners_get_rows_and_the_same_seed_in_every_fold(seed, counted):
    clf = tg.BayesNetClassifier(Seeded(), random_state=seed)
    check(clf, FRAME, Y, FOLDS, splits_of(FOLDS))
    drawn = np.random.RandomState(3).randint(2**31 - 1)
    assert isinstance(seed, int) or seed.randint(2**31 - 1) == drawn  # the user's generator was not touched


@pytest.mark.filterwarnings("ignore::tanager.UnseenWarning")
def test_subtracted_and_direct_counts(counted):
    """Many rows for few cells are subtracted, few rows for many cells counted; the core's tests compare both."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (2000, 5))
    y = rng.integers(0, 3, 2000)
    folds = rng.integers(0, 10, 2000)
    X[folds == 4, 2] = 3
    check(tg.TANClassifier(), X, y, folds, splits_of(folds))
    wide = rng.integers(0, 300, (400, 3))
    check(tg.TANClassifier(), wide, y[:400], folds[:400], splits_of(folds[:400]))
    cuts = rng.normal(size=(2000, 3)) + y[:, None]
    check(tg.TANClassifier(), cuts, y, folds, splits_of(folds))


def test_an_inference_that_is_too_large_names_features():
    rng = np.random.default_rng(0)
    pairs = list(combinations(range(5), 2))
    names = [f"p{i}" for i in range(5)] + [f"c{i}{j}" for i, j in pairs]
    X = pd.DataFrame(
        np.column_stack([rng.integers(0, 60, (300, 5)), rng.integers(0, 2, (300, len(pairs)))]),
        columns=names,
        dtype=object,
    )
    X.iloc[0, :5] = None  # the parents of observed children: a clique of 60**5 cells
    arcs = [(f"p{p}", f"c{i}{j}") for i, j in pairs for p in (i, j)]
    clf = tg.BayesNetClassifier(st.FixedStructure(arcs))
    with pytest.raises(ValueError, match="the features 'p0', 'p1', 'p2', 'p3', 'p4' have to be held together"):
        cross_validate(clf, X, rng.integers(0, 2, 300), cv=2)

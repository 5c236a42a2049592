"""The classifiers as their users meet them: messy tables in, right numbers or one clear sentence out."""

from __future__ import annotations

import pickle
from itertools import product

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline

import tanager as tg
from tanager import parameters as pr
from tanager import structure as st

CLASSIFIERS = [tg.NaiveBayesClassifier, tg.TANClassifier]


def random_table(seed=0, rows=300, features=6, values=4, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    X = rng.integers(values, size=(rows, features))
    X[:, 1] = (X[:, 0] + y + (rng.random(rows) < 0.2)) % values
    X[:, 2] = np.where(rng.random(rows) < 0.7, y % values, X[:, 2])
    return X, y


def joint_by_hand(clf, row):
    """ln P(class, row) from the labeled tables alone, summing over every value of a missing feature."""
    network = clf.network_
    names = network.feature_names
    tables = {name: network.cpt(name) for name in names}
    choices = [
        [value] if value is not None and value in tables[name].labels[-2] else tables[name].labels[-2]
        for name, value in zip(names, row, strict=True)
    ]
    total = np.zeros(len(clf.classes_))
    for complete in product(*choices):
        cells = dict(zip(names, complete, strict=True))
        p = network.cpt(network.class_name).values.copy()
        for name in names:
            p *= tables[name][{n: cells[n] for n in tables[name].names[:-1]}]
        total += p
    return np.log(total)


def test_naive_bayes_is_categorical_nb():
    X, y = random_table()
    ours, theirs = tg.NaiveBayesClassifier().fit(X, y), CategoricalNB().fit(X, y)
    # scikit-learn does not smooth the classes.
    ours.set_params(class_prior=np.exp(theirs.class_log_prior_)).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-13)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), atol=1e-12)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_prediction_by_hand_with_missing_and_unseen_values(make):
    X, y = random_table(rows=120, features=4, values=3)
    table = X.astype(object)
    rng = np.random.default_rng(1)
    table[rng.random(table.shape) < 0.1] = None
    clf = make().fit(table, y)
    test = table[:40].copy()
    test[rng.random(test.shape) < 0.2] = None
    test[0] = 77  # never seen, in every column
    test[1] = None
    expected = np.array([joint_by_hand(clf, row) for row in test])
    np.testing.assert_allclose(clf.predict_joint_log_proba(test), expected, atol=1e-12)
    posterior = np.exp(expected - np.logaddexp.reduce(expected, axis=1, keepdims=True))
    np.testing.assert_allclose(clf.predict_proba(test), posterior, atol=1e-13)
    np.testing.assert_allclose(clf.predict_log_proba(test), np.log(posterior), atol=1e-12)
    np.testing.assert_array_equal(clf.predict(test), clf.classes_[posterior.argmax(axis=1)])
    prior = clf.network_.cpt("class").values
    np.testing.assert_allclose(clf.predict_proba(test[:2]), [prior, prior], atol=1e-15)


def test_unseen_categories_can_be_errors():
    clf = tg.TANClassifier(unseen="error").fit(pd.DataFrame({"color": ["red", "blue"], "n": [1, 2]}), [0, 1])
    with pytest.raises(ValueError, match=r"color.*green"):
        clf.predict(pd.DataFrame({"color": ["green"], "n": [1]}))


def test_the_same_table_from_every_library():
    X, y = random_table(rows=50)
    words = np.array(["one", "two", "three", "four"])[X]
    names = [f"c{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(words, columns=names)
    frame.iloc[3, 2] = None
    clf = tg.TANClassifier().fit(frame, y)
    expected = clf.predict_proba(frame)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.astype("category"), frame.astype(object)):
        np.testing.assert_array_equal(tg.TANClassifier().fit(table, y).predict_proba(table), expected)
        np.testing.assert_array_equal(clf.predict_proba(table), expected)
        assert list(tg.TANClassifier().fit(table, y).feature_names_in_) == names
    array = frame.to_numpy(dtype=object)
    np.testing.assert_array_equal(tg.TANClassifier().fit(array, y).predict_proba(array), expected)
    np.testing.assert_array_equal(tg.TANClassifier().fit(array.tolist(), y).predict_proba(array.tolist()), expected)


def test_a_messy_frame():
    rng = np.random.default_rng(0)
    n = 200
    y = np.where(rng.random(n) < 0.4, "ja", "nein")
    frame = pd.DataFrame(
        {
            "größe": np.where(y == "ja", rng.normal(3, 1, n), rng.normal(0, 1, n)),
            "farbe": pd.Categorical(rng.choice(["rot", "grün"], n), categories=["grün", "rot", "blau"]),
            "zahl": pd.array(rng.integers(3, size=n), dtype="Int64"),
            "wahr": rng.random(n) < 0.5,
            "text": rng.choice(["ä", "b", ""], n),
            "leer": [None] * n,
            "fest": "immer",
        }
    )
    frame.loc[::7, "größe"] = np.nan
    frame.loc[::5, "zahl"] = pd.NA
    frame.loc[::9, "text"] = None
    for make in CLASSIFIERS:
        clf = make().fit(frame, pd.Series(y, name="antwort"))
        assert clf.score(frame, y) > 0.85
        np.testing.assert_allclose(clf.predict_proba(frame).sum(axis=1), 1, atol=1e-15)
        assert clf.network_.class_name == "antwort"
        assert clf.network_.cpt("farbe").labels[-2] == ["grün", "rot", "blau"]
        assert clf.categories_[4].tolist() == ["", "b", "ä"]
        assert clf.network_.cpt("größe").labels[-2][0].startswith("(-inf, ")


def test_labels_of_any_kind():
    X = np.array([[0], [1], [0], [1]])
    tuples = np.empty(4, dtype=object)
    tuples[:] = [("a", 1), ("b", 2), ("a", 1), ("b", 2)]
    for y in (
        [True, False, True, False],
        ["é", "ü", "é", "ü"],
        [3, -1, 3, -1],
        [1.0, 2.0, 1.0, 2.0],
        np.array(["x", 1, "x", 1], dtype=object),
        tuples,
        pd.Series(["p", "q", "p", "q"], dtype="category"),
    ):
        clf = tg.NaiveBayesClassifier().fit(X, y)
        expected = np.asarray(y, dtype=object) if not isinstance(y, np.ndarray) else y
        assert list(clf.predict(X)) == list(expected)
        again = pickle.loads(pickle.dumps(clf))
        assert list(again.classes_) == list(clf.classes_)
        assert again.classes_.dtype == clf.classes_.dtype
        np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("make", CLASSIFIERS)
@pytest.mark.parametrize("categories", [1, 2, 254, 255, 300, 40_000])
def test_numbers_of_categories(make, categories):
    rng = np.random.default_rng(0)
    rows = max(2 * categories, 50)
    X = np.column_stack([np.arange(rows) % categories, rng.integers(3, size=rows)])
    y = (X[:, 0] % 2 == 0).astype(int)
    clf = make().fit(X, y)
    assert clf.network_.cpt("x0").values.shape[-2] == categories
    if categories > 1:
        assert clf.score(X, y) == 1.0


def test_too_many_categories_and_too_large_tables():
    X = np.arange(65_535)[:, None]
    with pytest.raises(ValueError, match=r"65,?535"):
        tg.NaiveBayesClassifier().fit(X, np.zeros(len(X), dtype=int))
    wide = pd.DataFrame({"street": np.arange(40_000), "city": np.arange(40_000)})
    with pytest.raises(ValueError, match=r"table of 'street' given 'city', the class would have 1,600,000,000 cells"):
        tg.TANClassifier().fit(wide, np.zeros(len(wide), dtype=int))
    arcs = st.FixedStructure([("street", "city")])
    with pytest.raises(ValueError, match=r"table of 'city' given 'street', the class would have 1,600,000,000 cells"):
        tg.BayesNetClassifier(arcs).fit(wide, np.zeros(len(wide), dtype=int))
    tg.NaiveBayesClassifier().fit(wide, np.zeros(len(wide), dtype=int))


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_degenerate_tables_work(make):
    one = make().fit([["a", 1.5]], ["only"])
    assert one.predict_proba([["b", 0.5]]).tolist() == [[1.0]]
    assert make().fit([["a"], ["b"]], [1, 1]).predict([["a"]]).tolist() == [1]
    rare = make().fit([["a"], ["a"], ["b"]], [0, 0, 1])
    assert rare.predict([["b"], ["a"]]).tolist() == [1, 0]
    missing = make().fit([["a", None], ["b", None]], [0, 1])
    np.testing.assert_allclose(missing.predict_proba([["a", None]]), missing.predict_proba([["a", "z"]]))
    constant = make().fit([["a", "k"], ["b", "k"]], [0, 1])
    np.testing.assert_allclose(constant.predict_proba([["a", "k"]]), [[2 / 3, 1 / 3]])


@pytest.mark.parametrize("make", CLASSIFIERS)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.empty((0, 2), dtype=int), [], "0 sample"),
        (np.empty((3, 0), dtype=int), [0, 1, 0], "0 feature"),
        ([[1], [2]], [0, 1, 0], "X has 2 rows, but y has 3"),
        ([1, 2], [0, 1], "Expected 2D array"),
        (np.zeros((2, 2, 2)), [0, 1], "dim|2D"),
        ([[1], [2]], [0, None], "row 1|missing|NaN"),
        ([[1], [2]], [0.0, np.nan], "NaN"),
        ([[1], [2]], [0.5, 1.25], "Unknown label type"),
        ([[1], [2]], None, "requires y"),
        (np.array([[1.0], [np.inf]]), [0, 1], "infinity"),
        (np.array([[1 + 2j], [1j]]), [0, 1], "Complex"),
        (np.array([["2020-01-01"], ["2021-01-01"]], dtype="datetime64[D]"), [0, 1], "date|time"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), [0], "a"),
    ],
)
def test_bad_tables_get_one_clear_sentence(make, X, y, message):
    clf = make()
    with pytest.raises((ValueError, TypeError), match=message) as error:
        clf.fit(X, y)
    assert "\n\n" not in str(error.value)
    assert not hasattr(clf, "network_")


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"structure": "tann"}, "structure: expected one of"),
        ({"structure": st.NaiveBayes}, "call it"),
        ({"structure": 3}, "structure: expected a name, a learner from tanager.structure or None, got int"),
        ({"structure": st.ChowLiu(score="mdl")}, "score: expected one of"),
        ({"structure": st.ChowLiu(root="z")}, "root: expected one of the features"),
        ({"structure": st.ChowLiu(root=9)}, "root: expected a feature name or a position below"),
        ({"structure": st.FixedStructure([("x0", "x1"), ("x1", "x0")])}, "cycle"),
        ({"structure": st.FixedStructure(["x0"])}, "pair"),
        ({"structure": st.FixedStructure([("x0", "class")])}, "expected no arcs to the class"),
        ({"parameters": pr.Dirichlet(alpha=-1)}, "alpha: expected a number >= 0"),
        ({"parameters": pr.Dirichlet(alpha="1")}, "alpha: expected a number"),
        ({"parameters": pr.Dirichlet(alpha=float("nan"))}, "alpha: expected a number >= 0"),
        ({"parameters": pr.Dirichlet(alpha=1e308)}, r"alpha: expected a number >= 0 and <= 1e\+200, got 1e\+308"),
        ({"parameters": pr.Dirichlet(alpha=10**400)}, "finite"),
        ({"parameters": pr.Dirichlet(equivalent_sample_size=0)}, "equivalent_sample_size: expected a number > 0"),
        ({"parameters": "bayes"}, "parameters: expected one of"),
        ({"discretizer": "chi"}, "discretizer: expected"),
        ({"unseen": "ignore"}, "unseen: expected"),
        ({"class_prior": [1.0]}, "2 probabilities"),
        ({"class_prior": [0.5, 0.6]}, "sum to 1"),
        ({"n_jobs": 0}, "n_jobs: expected"),
        ({"numeric_features": "ints"}, "numeric_features"),
        ({"categories": {"nope": [1]}}, "nope"),
    ],
)
def test_bad_settings_get_one_clear_sentence(settings_, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tg.BayesNetClassifier(**settings_).fit([[1, 2], [3, 4]], [0, 1])


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], [0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]]]
)
def test_bad_weights(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        tg.NaiveBayesClassifier().fit([[1], [2]], [0, 1], sample_weight=weights)


def test_prediction_errors():
    with pytest.raises(NotFittedError):
        tg.TANClassifier().predict([[1]])
    clf = tg.TANClassifier().fit([[1, 2], [3, 4]], [0, 1])
    with pytest.raises(ValueError, match="X has 3 features, but TANClassifier is expecting 2"):
        clf.predict([[1, 2, 3]])
    with pytest.raises(ValueError, match="0 sample"):
        clf.predict(np.empty((0, 2), dtype=int))
    named = tg.TANClassifier().fit(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), [0, 1])
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(pd.DataFrame({"b": [1, 2], "a": [1, 2]}))


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_arrays_of_every_layout(make):
    X, y = random_table(rows=80)
    clf = make().fit(X, y)
    expected = clf.predict_proba(X)
    readonly = X.copy()
    readonly.setflags(write=False)
    wide = np.zeros((160, 12), dtype=X.dtype)
    wide[::2, ::2] = X
    for table in (
        readonly,
        np.asfortranarray(X),
        wide[::2, ::2],
        X[::-1][::-1],
        X.astype(np.int8),
        X.astype(np.uint64),
    ):
        np.testing.assert_array_equal(clf.predict_proba(table), expected)
        np.testing.assert_array_equal(make().fit(table, y).predict_proba(table), expected)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_threads_change_nothing(make):
    X, y = random_table(rows=20_000, features=12)
    table = X.astype(object)
    table[np.random.default_rng(0).random(X.shape) < 0.02] = None
    weights = np.random.default_rng(1).random(len(y))
    for data, weight in [(X, None), (table, None), (X, weights), (table, weights)]:
        results = []
        for jobs in (1, 2, 7):
            clf = make(n_jobs=jobs).fit(data, y, sample_weight=weight)
            results.append((clf.network_.arcs, clf.counts_.cells(), clf.predict_proba(data)))
        for arcs, cells, proba in results[1:]:
            assert arcs == results[0][0]
            np.testing.assert_array_equal(cells, results[0][1])
            np.testing.assert_array_equal(proba, results[0][2])


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_weights_repeat_rows(make):
    X, y = random_table()
    weights = np.random.default_rng(0).integers(4, size=len(y))
    weighted = make().fit(X, y, sample_weight=weights)
    repeated = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.counts_.cells(), repeated.counts_.cells())
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_rows_of_weight_zero_are_absent_whatever_the_table():
    frame = pd.DataFrame({"a": ["x", "y", "never", "x"], "b": [1.0, 2.0, 99.0, 1.5]})
    y, weights = [0, 1, 1, 0], [1, 2, 0, 1]
    kept = [0, 1, 3]
    expected = tg.NaiveBayesClassifier().fit(frame.iloc[kept], [0, 1, 0], sample_weight=[1, 2, 1])
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.to_numpy(dtype=object).tolist()):
        clf = tg.NaiveBayesClassifier().fit(table, y, sample_weight=weights)
        assert [list(c) for c in clf.categories_] == [list(c) for c in expected.categories_]


def same_model(a, b, X):
    assert list(a.classes_) == list(b.classes_)
    assert [list(c) for c in a.categories_] == [list(c) for c in b.categories_]
    assert a.network_.arcs == b.network_.arcs
    np.testing.assert_array_equal(a.counts_.cells(), b.counts_.cells())
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


@settings(deadline=None, max_examples=40)
@given(data=hs.data())
@pytest.mark.slow
def test_parts_equal_the_whole(data):
    rows = data.draw(hs.integers(2, 60))
    features = data.draw(hs.integers(1, 4))
    values = hs.sampled_from([None, "a", "b", "c", "dd", "ä"])
    X = np.array([[data.draw(values) for _ in range(features)] for _ in range(rows)], dtype=object)
    y = np.array([data.draw(hs.sampled_from(["no", "yes", "maybe"])) for _ in range(rows)])
    cut = data.draw(hs.integers(1, rows - 1))
    for make in CLASSIFIERS:
        whole = make().fit(X, y)
        parts = make().partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
        same_model(whole, parts, X)


@pytest.mark.slow
def test_parts_equal_the_whole_at_size():
    X, y = random_table(rows=5_000, features=4, values=300)  # more values than a byte can hold
    whole = tg.TANClassifier().fit(X, y)
    parts = tg.TANClassifier()
    for rows in np.array_split(np.arange(len(y)), 7):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    same_model(whole, parts, X)
    resumed = pickle.loads(pickle.dumps(tg.TANClassifier().partial_fit(X[:1000], y[:1000])))
    same_model(whole, resumed.partial_fit(X[1000:], y[1000:]), X)


def test_classes_and_categories_declared_first():
    clf = tg.TANClassifier(categories=[["a", "b", "c"], ["x", "y"]])
    clf.partial_fit([["a", "x"]], ["p"], classes=["p", "q"])
    assert clf.classes_.tolist() == ["p", "q"]
    assert clf.network_.cpt("x0").values.shape == (3, 2) or clf.network_.cpt("x0").values.shape[-2] == 3
    clf.partial_fit([["c", "y"]], ["q"])
    assert clf.counts_.n_rows == 2
    with pytest.raises(ValueError, match="z"):
        clf.partial_fit([["c", "y"]], ["z"], classes=["p", "q"])
    assert clf.counts_.n_rows == 2  # nothing half done
    with pytest.raises(ValueError, match="d"):
        tg.TANClassifier(categories=[["a"], ["x"]]).fit([["d", "x"]], [0])


def test_class_prior():
    X, y = random_table()
    clf = tg.NaiveBayesClassifier(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_array_equal(clf.network_.cpt("class").values, [0.2, 0.3, 0.5])
    np.testing.assert_allclose(clf.predict_proba(np.full((1, 6), 99)), [[0.2, 0.3, 0.5]])


def test_numbers_are_discretized():
    data = tg.datasets.load("iris")
    clf = tg.NaiveBayesClassifier().fit(data.X, data.y)
    cuts = [clf._encoder.columns[i].cuts for i in range(4)]
    np.testing.assert_allclose(cuts[2], [2.45, 4.75])
    np.testing.assert_allclose(cuts[3], [0.8, 1.75])
    assert clf.score(data.X, data.y) > 0.9
    integers = (data.X * 10).round().astype(int)
    assert tg.NaiveBayesClassifier(numeric_features="number").fit(integers, data.y).categories_[2].tolist() == [
        "(-inf, 24.5]", "(24.5, 47.5]", "(47.5, inf)",
    ]  # fmt: skip
    some = tg.NaiveBayesClassifier(numeric_features=[2]).fit(integers, data.y)
    assert len(some.categories_[2]) == 3
    assert len(some.categories_[0]) > 20
    by_value = tg.NaiveBayesClassifier(discretizer=None).fit(data.X, data.y)
    assert len(by_value.categories_[0]) == len(np.unique(data.X[:, 0]))
    five = tg.NaiveBayesClassifier(discretizer=tg.EqualFrequencyDiscretizer(n_bins=5)).fit(data.X, data.y)
    assert max(map(len, five.categories_)) == 5
    assert np.isfinite(clf.predict_log_proba([[np.inf, -np.inf, 1e300, np.nan]])).all()


def test_pipelines_and_searches():
    X, y = random_table()
    search = GridSearchCV(
        tg.BayesNetClassifier(structure=st.ChowLiu(), parameters=pr.Dirichlet()),
        {"structure__score": ["loglik", "bic"], "parameters__alpha": [0.1, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_.keys() == {"structure__score", "parameters__alpha"}
    assert cross_val_score(make_pipeline(tg.TANClassifier()), X, y, cv=3).mean() > 0.6


@pytest.mark.slow
def test_a_million_rows():
    X, y = random_table(rows=1000, features=5)
    clf = tg.TANClassifier(n_jobs=-1).fit(np.tile(X.astype(np.int8), (1000, 1)), np.tile(y, 1000))
    weighted = tg.TANClassifier().fit(X, y, sample_weight=np.full(1000, 1000))
    assert clf.counts_.n_rows == 1_000_000
    np.testing.assert_array_equal(clf.counts_.cells(), weighted.counts_.cells())
    assert clf.network_.arcs == weighted.network_.arcs
    proba = clf.predict_proba(np.tile(X.astype(np.int8), (1000, 1)))
    np.testing.assert_array_equal(proba, np.tile(weighted.predict_proba(X), (1000, 1)))


def test_impossible_rows_get_the_uniform_posterior():
    clf = tg.BayesNetClassifier(parameters=pr.MaximumLikelihood()).fit([["a", "x"], ["b", "y"]], [0, 1])
    np.testing.assert_array_equal(clf.predict_proba([["a", "y"]]), [[0.5, 0.5]])
    assert clf.predict_joint_log_proba([["a", "y"]]).tolist() == [[-np.inf, -np.inf]]
    assert clf.predict([["a", "y"]]).tolist() == [0]


def test_saving_and_loading(tmp_path):
    frame = pd.DataFrame({"a": ["x", "ü", None], "b": [1.5, 2.5, 3.5], "c": [True, False, True], "d": [10, 20, 10]})
    for y in (["p", "q", "p"], [1, 2, 1], [True, False, True], [0.0, 1.0, 0.0]):
        for clf in (
            tg.TANClassifier(structure_score="bic", root="d"),
            tg.NaiveBayesClassifier(discretizer=tg.EqualWidthDiscretizer(n_bins=3), class_prior=(0.25, 0.75)),
            tg.BayesNetClassifier(st.FixedStructure([("a", "b")]), pr.Dirichlet(alpha=0.3)),
        ):
            clf.fit(frame, pd.Series(y, name="target"))
            clf.save(tmp_path / "model.tng")
            again = tg.load(tmp_path / "model.tng")
            assert type(again) is type(clf)
            assert repr(again).replace("[", "(").replace("]", ")") == repr(clf).replace("[", "(").replace("]", ")")
            assert again.classes_.dtype == clf.classes_.dtype
            np.testing.assert_array_equal(again.predict(frame), clf.predict(frame))
            np.testing.assert_array_equal(again.predict_proba(frame), clf.predict_proba(frame))
            assert again.network_.arcs == clf.network_.arcs
            assert again.network_.class_name == "target"
            with pytest.raises(ValueError, match="without counts"):
                again.partial_fit(frame, y)
            clf.save(tmp_path / "model.tng", with_counts=True)
            same_model(tg.load(tmp_path / "model.tng").partial_fit(frame, y), clf.partial_fit(frame, y), frame)


def test_files_of_every_way(tmp_path):
    X, y = random_table()
    clf = tg.TANClassifier().fit(X, y)
    joblib.dump(clf, tmp_path / "model.joblib")
    same_model(joblib.load(tmp_path / "model.joblib"), clf, X)
    with pytest.raises(tg.ModelFileError, match=r"none\.tng"):
        tg.load(tmp_path / "none.tng")
    with pytest.raises(tg.ModelFileError, match="nowhere"):
        clf.save(tmp_path / "nowhere" / "model.tng")
    with pytest.raises(NotFittedError):
        tg.TANClassifier().save(tmp_path / "model.tng")
    tuples = np.empty(2, dtype=object)
    tuples[:] = [("a",), ("b",)]
    with pytest.raises(ValueError, match="tuple"):
        tg.TANClassifier().fit([[0], [1]], tuples).save(tmp_path / "model.tng")
    with pytest.raises(ValueError, match="random_state"):
        tg.TANClassifier(random_state=np.random.RandomState(0)).fit(X, y).save(tmp_path / "model.tng")
    assert not (tmp_path / "model.tng").exists()


def test_an_unfitted_classifier_pickles():
    clf = pickle.loads(pickle.dumps(tg.TANClassifier(structure_score="aic")))
    assert clf.structure_score == "aic"
    assert not hasattr(clf, "classes_")


def test_the_name_of_a_column_is_not_taken_for_classes():
    frame = pd.DataFrame({"sky": ["sun", "rain"] * 3, "play": ["yes", "no"] * 3})
    with pytest.raises(TypeError, match=r"got the string 'play'; .*pass y=X\['play'\]"):
        tg.TANClassifier().fit(frame, "play")
    streamed = tg.TANClassifier().fit_stream([frame], "play")  # as the message says
    fitted = tg.TANClassifier().fit(frame[["sky"]], frame["play"])
    assert (streamed.predict_proba(frame[["sky"]]) == fitted.predict_proba(frame[["sky"]])).all()

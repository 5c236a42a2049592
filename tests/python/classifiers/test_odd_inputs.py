"""Data and calls that a careful author does not think of at first."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tanager as tg
from tanager import _core
from tanager import structure as st

A = np.array(["x", "y", "x", "z", "y", "x"] * 5)
B = np.arange(30) % 3
Y = (A == "x").astype(int)


def test_names_count_in_every_kind_of_table():
    tables = [
        pd.DataFrame({"a": A, "b": B}),
        pl.DataFrame({"a": A, "b": B}),
        pa.table({"a": A, "b": B}),
        pa.record_batch({"a": pa.array(A), "b": pa.array(B)}),
    ]
    for table in tables:
        clf = tg.TANClassifier(root="b").fit(table, Y)
        assert list(clf.feature_names_in_) == ["a", "b"]
        for other in (
            pd.DataFrame({"b": B, "a": A}),
            pa.record_batch({"b": pa.array(B), "a": pa.array(A)}),
            pl.DataFrame({"a": A, "c": B}),
        ):
            with pytest.raises(ValueError, match="feature names should match"):
                clf.predict(other)
            with pytest.raises(ValueError, match="in this order"):
                clf.network_.log_likelihood(other, Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(np.column_stack([A.astype(object), B]))
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        tg.TANClassifier().fit(np.column_stack([A, A]), Y).predict(pd.DataFrame({"a": A, "b": A}))


def test_a_fit_that_fails_changes_nothing():
    frame = pd.DataFrame({"a": A, "b": B})
    clf = tg.TANClassifier().fit(frame, Y)
    before = clf.predict_proba(frame)
    for bad, message in (
        (lambda: clf.fit(pd.DataFrame({"x": A, "y": B}), Y, sample_weight=-np.ones(30)), "sample_weight"),
        (lambda: clf.fit(np.full((30, 3), np.inf), Y), "infinity"),
        (lambda: clf.partial_fit(frame, Y, classes=[5]), "classes"),
        (lambda: clf.partial_fit(pd.DataFrame({"a": A}), Y), "feature"),
    ):
        with pytest.raises(ValueError, match=message):
            bad()
        assert list(clf.feature_names_in_) == ["a", "b"]
        np.testing.assert_array_equal(clf.predict_proba(frame), before)
        assert pickle.loads(pickle.dumps(clf)).n_features_in_ == 2
    fresh = tg.TANClassifier()
    with pytest.raises(ValueError, match="infinity"):
        fresh.partial_fit(np.full((30, 3), np.inf), Y)
    assert not hasattr(fresh, "n_features_in_")
    assert not hasattr(clf.fit(np.column_stack([A, A]), Y), "feature_names_in_")


def test_rows_of_weight_zero_do_not_change_the_others():
    weights = np.ones(30)
    weights[0] = 0
    masked = np.ma.array(B[:, None], mask=B[:, None] == 0)
    assert tg.NaiveBayesClassifier().fit(masked, Y, weights).categories_[0].tolist() == [1, 2]
    rows = tuple((int(b), a) for a, b in zip(A, B, strict=True))
    assert tg.NaiveBayesClassifier().fit(rows, Y, weights).categories_[0].tolist() == [0, 1, 2]
    batch = pa.record_batch({"b": pa.array(B)})
    assert tg.NaiveBayesClassifier().fit(batch, Y, weights).counts_.n_rows == 29
    assert tg.NaiveBayesClassifier().fit(B[:, None], Y, np.float64(2.0)).counts_.n_rows == 60


def test_masked_labels_and_weights_are_missing():
    with pytest.raises(ValueError, match="Row 1 has no label"):
        tg.NaiveBayesClassifier().fit(B[:, None], np.ma.array(Y, mask=np.arange(30) == 1))
    with pytest.raises(ValueError, match="masked"):
        tg.NaiveBayesClassifier().fit(B[:, None], Y, np.ma.array(np.ones(30), mask=Y == 0))
    assert tg.scores.entropy(np.ma.array([0, 1, 2], mask=[0, 0, 1])) == pytest.approx(np.log(2))


def test_arcs_and_columns_given_once_only_are_rejected():
    arcs = st.FixedStructure(arc for arc in [(0, 1)])
    with pytest.raises(TypeError, match="arcs: expected a list"):
        tg.BayesNetClassifier(arcs).fit(np.column_stack([B, B]), Y)
    with pytest.raises(ValueError, match="numeric_features: expected"):
        tg.NaiveBayesClassifier(numeric_features=(i for i in [0])).fit(B[:, None], Y)
    for bad in (None, 5, [5], [(None, 1)], [(True, 1)], [(float("nan"), 1)], [(0, 1, 2)]):
        with pytest.raises((TypeError, ValueError), match=r"arc|parent"):
            tg.BayesNetClassifier(st.FixedStructure(bad)).fit(np.column_stack([B, B]), Y)
    names = np.array([["x0", "x1"]])  # an array of pairs is fine
    assert tg.BayesNetClassifier(st.FixedStructure(names)).fit(np.column_stack([B, B]), Y).network_.feature_arcs


@pytest.mark.parametrize("scale", [1e-200, 0.5 / 2000, 1 / 2000, 1.0, 1e150, 1e200])
def test_structures_do_not_depend_on_the_scale_of_weights_by_accident(scale):
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(2000, 4)), rng.integers(2, size=2000)
    X[:, 3] = X[:, 2]
    weights = np.full(2000, scale)
    tree = tg.TANClassifier().fit(X, y, weights).network_
    assert tree.feature_arcs == tg.TANClassifier().fit(X, y).network_.feature_arcs
    forest = tg.TANClassifier(structure_score="aic").fit(X, y, weights).network_
    assert set(forest.feature_arcs) <= ({("x2", "x3")} if scale <= 1 else set(tree.feature_arcs))


def test_penalties_never_become_rewards():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(2000, 6)), rng.integers(2, size=2000)
    assert tg.TANClassifier(structure_score="bic").fit(X, y).network_.is_naive
    light = tg.TANClassifier(structure_score="bic").fit(X, y, np.full(2000, 0.25 / 2000))
    weights = _core.chow_liu_weights(light.counts_, "bic")
    assert (weights < 1).all()  # at most N I(X;Y|C), which is below N = 0.25


def test_weights_that_add_up_to_infinity():
    with pytest.raises(ValueError, match="finite sum"):
        tg.NaiveBayesClassifier().fit([[1], [2]], [0, 1], [1e308, 1e308])
    for weights in (["a", "b"], [1j, 1], [pd.NA, 1.0]):
        with pytest.raises(ValueError, match="sample_weight: expected numbers"):
            tg.NaiveBayesClassifier().fit([[1], [2]], [0, 1], weights)


def test_values_outside_declared_categories_are_errors_in_every_part():
    clf = tg.NaiveBayesClassifier(categories=[["a", "b"]]).partial_fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match="zz"):
        clf.partial_fit([["zz"], ["b"]], [0, 1])
    assert clf.counts_.n_rows == 2


@pytest.mark.parametrize("later", [["a", "b"] * 15, [True, False] * 15, [b"a", b"b"] * 15, [0.0, 7.0] * 15])
def test_classes_of_another_kind_may_follow(later):
    clf = tg.NaiveBayesClassifier().partial_fit(B[:, None], Y).partial_fit(B[:, None], later)
    assert set(clf.classes_.tolist()) == set(Y.tolist()) | set(np.asarray(later).tolist())
    assert clf.counts_.n_rows == 60


def test_labels_that_are_tuples():
    y = [("a", 1), ("b", 2)] * 15
    clf = tg.NaiveBayesClassifier().fit(B[:, None], y)
    assert clf.classes_.tolist() == [("a", 1), ("b", 2)]
    tuples = np.empty((30, 1), dtype=object)
    tuples[:, 0] = y
    clf = tg.NaiveBayesClassifier().fit(tuples, Y)
    assert clf.categories_[0].tolist() == [("a", 1), ("b", 2)]
    assert clf.network_.cpt("x0").to_frame().shape == (2, 2)


def test_what_a_model_file_cannot_hold_is_said_before_it_is_written(tmp_path):
    class Mine(tg.NaiveBayesClassifier):
        pass

    path = tmp_path / "model.tng"
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")[Y]
    for clf, message in [
        (tg.NaiveBayesClassifier().fit(B[:, None], dates), "datetime64"),
        (Mine().fit(B[:, None], Y), "Mine"),
    ]:
        with pytest.raises(ValueError, match=message):
            clf.save(path)
        assert not path.exists()
    tg.NaiveBayesClassifier().fit(B[:, None], Y).save(path)
    with pytest.raises(ValueError, match="without counts"):
        tg.load(path).save(path, with_counts=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: "[" * 100_000,
        lambda s: "null",
        lambda s: "{",
        lambda s: json.dumps({**s, "estimator": "os.system"}),
        lambda s: json.dumps({**s, "params": {"nonsense": 1}}),
        lambda s: json.dumps({**s, "params": {**s["params"], "n_jobs": 10**30}}).replace("1" + "0" * 30, '"many"'),
        lambda s: json.dumps({**s, "params": {**s["params"], "unseen": "maybe"}}),
        lambda s: json.dumps({**s, "params": {**s["params"], "parameters": {"object": "Popen", "params": {}}}}),
        lambda s: json.dumps({**s, "class_type": "<U100000000"}),
        lambda s: json.dumps({**s, "class_type": "|b1"}),
        lambda s: json.dumps({**s, "class_type": "<M8[ns]"}),
        lambda s: json.dumps({**s, "class_type": "nonsense"}),
        lambda s: json.dumps({**s, "category_types": ["|i1"]}),
        lambda s: json.dumps({**s, "category_types": ["<i8", "<i8"]}),
        lambda s: json.dumps({**s, "category_types": None}),
        lambda s: json.dumps({**s, "declared": ["hostile"]}),
    ],
)
def test_settings_that_nobody_wrote(change, tmp_path):
    clf = tg.NaiveBayesClassifier().fit(np.array([[300], [-1]] * 15), Y)
    clf.save(tmp_path / "model.tng")
    model = _core.Model.load(str(tmp_path / "model.tng"))
    settings = json.loads(model.settings)
    forged = _core.Model.build(model.network, model.features, model.classes, change(settings), None)
    forged.save(str(tmp_path / "forged.tng"))
    with pytest.raises(tg.ModelFileError, match="settings in the model file"):
        tg.load(tmp_path / "forged.tng")


def test_strings_of_arrays_with_room_for_longer_ones_come_back(tmp_path):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 3).astype(str)  # room for every integer
    y = np.array(["a", "b", "b", ""] * 3, dtype="<U40")
    clf = tg.NaiveBayesClassifier().fit(X, y)
    clf.save(tmp_path / "model.tng")
    loaded = tg.load(tmp_path / "model.tng")
    assert loaded.classes_.tolist() == ["", "a", "b"]
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


def test_names_that_are_no_unicode_still_pickle():
    frame = pd.DataFrame(B[:, None], columns=pd.Index(["a\ud800"], dtype=object))
    clf = pickle.loads(pickle.dumps(tg.NaiveBayesClassifier().fit(frame, Y)))
    assert clf.predict(frame).shape == (30,)


def test_arrow_dictionaries_with_nulls_and_large_integers():
    chunk = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0, 1]), pa.array(["p", None, "q"]))
    table = pa.table({"a": pa.chunked_array([chunk] * 6)})
    clf = tg.NaiveBayesClassifier().fit(table, Y)
    assert sorted(clf.categories_[0].tolist()) == ["p", "q"]
    large = [2**63 + 5, None, 7] * 10
    for frame in (
        pa.table({"a": pa.array(large, pa.uint64())}),
        pl.DataFrame({"a": pl.Series(large, dtype=pl.UInt64)}),
        pd.DataFrame({"a": pd.array(large, dtype="UInt64")}),
    ):
        assert tg.NaiveBayesClassifier().fit(frame, Y).categories_[0].tolist() == [7, 2**63 + 5]
    with pytest.raises((TypeError, ValueError), match="y"):
        tg.NaiveBayesClassifier().fit(B[:, None], pa.table({"y": pa.array(Y), "z": pa.array(Y)}))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tg.NaiveBayesClassifier(n_jobs="a").fit([[1]], [0]), "n_jobs"),
        (lambda: tg.NaiveBayesClassifier(n_jobs=float("nan")).fit([[1]], [0]), "n_jobs"),
        (lambda: tg.NaiveBayesClassifier(n_jobs=True).fit([[1]], [0]), "n_jobs"),
        (lambda: tg.NaiveBayesClassifier(unseen=["x"]).fit([[1]], [0]), "unseen"),
        (lambda: tg.TANClassifier(structure_score=["bic"]).fit([[1]], [0]), "structure_score"),
        (lambda: tg.TANClassifier(root=True).fit([[1]], [0]), "root"),
        (lambda: tg.NaiveBayesClassifier(numeric_features=None).fit([[1]], [0]), "numeric_features"),
        (lambda: tg.NaiveBayesClassifier(categories=5).fit([[1]], [0]), "categories"),
        (lambda: tg.NaiveBayesClassifier(categories={7: [1]}).fit([[1]], [0]), "categories"),
        (lambda: tg.NaiveBayesClassifier(class_prior="ab").fit([[1], [2]], [0, 1]), "class_prior"),
        (lambda: tg.scores.family_score([[1], [2]], [0, 1], 0, score=None), "score: expected one of"),
        (lambda: tg.scores.family_score([[1], [2]], [0, 1], 0, equivalent_sample_size="a"), "expected a number"),
        (lambda: tg.scores.family_score([[1], [2]], [0, 1], None), "child"),
        (lambda: tg.scores.mutual_information(range(60_000), range(60_000)), "cells"),
        (lambda: tg.NaiveBayesClassifier().fit([[1]], [0]).network_.cpt("x0")[0], "dict"),
    ],
)
def test_messages_are_ours(call, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call()
    assert "incompatible function arguments" not in str(error.value)


def test_settings_changed_after_fit_are_checked():
    clf = tg.NaiveBayesClassifier().fit(B[:, None], Y).set_params(unseen="bogus")
    with pytest.raises(ValueError, match="unseen: expected"):
        clf.predict(B[:, None])
    assert tg.NaiveBayesClassifier(n_jobs=2**40).fit(B[:, None], Y).predict(B[:, None]).shape == (30,)


def test_a_string_is_a_sequence_of_letters():
    assert tg.scores.entropy("aab") == tg.scores.entropy(["a", "a", "b"])


def test_marginal_likelihoods_under_strong_priors():
    # The stronger the prior, the nearer to 100 ln(1/2).
    X, y = np.repeat([0, 1], [60, 40])[:, None], np.zeros(100, dtype=int)
    for size in (1e8, 1e10, 1e12, 1e15, 1e40, 1e150):
        score = tg.scores.family_score(X, y, 0, score="bdeu", equivalent_sample_size=size)
        assert score == pytest.approx(100 * np.log(0.5), abs=1e-4 if size < 1e10 else 1e-6)


def test_fitting_leaves_the_global_generator_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    tg.TANClassifier().fit(np.column_stack([B, B]), Y)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


FORKS = """
import os, threading, warnings, numpy as np, tanager as tg
warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks beside threads
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, (1_000, 8)), rng.integers(0, 2, 1_000)
learn = lambda: tg.BayesNetClassifier("backward-join", n_jobs=2, random_state=0).fit(X, y).predict_proba(X)
expected, over = learn(), threading.Event()
other = threading.Thread(target=lambda: [learn() for _ in iter(over.is_set, True)])
other.start()
for _ in range(8):
    learn()
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(learn(), expected) else 1)
    print(os.waitpid(child, 0)[1])
over.set()
other.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.slow
def test_forked_processes_have_their_own_threads():
    run = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout.split() == ["0"] * 8, run.stderr


@pytest.mark.slow
def test_a_process_may_end_right_after_a_call_with_threads():
    code = """
import numpy as np, tanager as tg
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, (20_000, 30)), rng.integers(0, 2, 20_000)
tg.TANClassifier(n_jobs=4).fit(X, y).predict(X)
print("done")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "done", "")


def test_codes_of_a_dataset_cannot_be_changed_after_they_were_checked():
    codes, target = np.zeros(1000, dtype=np.uint8), np.zeros(1000, dtype=np.uint8)
    whole = np.zeros((2, 1000), dtype=np.uint8)
    dataset = _core.Dataset([codes, whole[0]], [2, 2], target, 2)
    for array in (codes, whole, target):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 200
    assert _core.CountSet.count(dataset, "pairs", [], 1).single(1).tolist() == [[1000, 0], [0, 0]]

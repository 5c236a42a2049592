"""Learning and predicting on a cluster: the model of the whole table, whatever the partitions and whoever is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone

import tanager as tg
import tanager.dask as tgd
from tanager import parameters as pr
from tanager import structure as sr

# Some tests run in this process while a cluster waits for others, which older versions of Dask warn of.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two worker processes; a job that is not theirs runs in this one."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as connected,
    ):
        yield connected


def make_frame(n: int = 900, seed: int = 0) -> pd.DataFrame:
    """Strings, integers and missing values; a category and a class appear in few rows only."""
    random = np.random.default_rng(seed)
    color = random.choice(["red", "green", "blue"], n).astype(object)
    color[random.random(n) < 0.1] = None
    color[-3:] = "ultraviolet"
    size = random.integers(0, 4, n)
    shape = np.where(random.random(n) < 0.8, size % 2, 1 - size % 2)
    label = np.where(random.random(n) < 0.7, np.where(size > 1, "big", "small"), "odd").astype(object)
    label[:2] = "rare"
    return pd.DataFrame({"color": color, "size": size, "shape": shape, "label": label})


def split(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    return frame.drop(columns="label"), frame["label"]


def state(clf: Any) -> dict[str, Any]:
    """All that makes a fitted classifier: the bytes of the model with its counts, and what the codes mean."""
    kept = clf.__getstate__()
    columns = [(c.kind, c.order, c.labels(), c.categories.dtype, c.cuts) for c in kept["_encoder"].columns]
    return {"model": kept["_model"], "schema": kept["_schema"], "columns": repr(columns), "classes": repr(clf.classes_)}


def spread(frame: pd.DataFrame, partitions: int) -> Any:
    return dd.from_pandas(frame, npartitions=partitions, sort=False)


CLASSIFIERS = [
    tg.NaiveBayesClassifier(),
    tg.BayesNetClassifier(structure=sr.ChowLiu(score="bic"), parameters=pr.DataTemperature()),
    tg.BayesNetClassifier(structure=sr.NaiveBayes(), parameters=pr.ModelAveraged()),
    tg.KDBClassifier(k=2),
    tg.AODEClassifier(),
    tg.TBMATANClassifier(),
]


@pytest.mark.parametrize("clf", CLASSIFIERS, ids=str)
def test_the_model_is_that_of_the_whole_table(clf: Any) -> None:
    frame = make_frame()
    whole = clone(clf).fit(*split(frame))
    with dask.config.set(scheduler="synchronous"):
        for partitions in (1, 20):  # more than are added up at once
            assert tgd.fit(clf, spread(frame, partitions), "label") is clf
            assert state(clf) == state(whole)


def test_two_processes_learn_and_predict(client: Client) -> None:
    frame = make_frame()
    whole = tg.TANClassifier().fit(*split(frame))
    table = spread(frame, 5)
    clf = tgd.fit(tg.TANClassifier(), table, "label")
    assert state(clf) == state(whole)
    X = split(frame)[0]
    for function, expected in (
        (tgd.predict_proba, whole.predict_proba(X)),
        (tgd.predict_log_proba, whole.predict_log_proba(X)),
        (tgd.predict, whole.predict(X)),
    ):
        lazy = function(clf, table)
        assert lazy.npartitions == 5
        found = lazy.compute()
        np.testing.assert_array_equal(found.to_numpy(), expected)
        assert found.index.equals(frame.index)
    assert tgd.predict_proba(clf, table).columns.tolist() == whole.classes_.tolist()
    assert tgd.predict(clf, table).name == "label"


def test_a_worker_that_is_killed_changes_nothing(client: Client, tmp_path: Path) -> None:
    frame = make_frame()
    whole = tg.TANClassifier().fit(*split(frame))
    killed = tmp_path / "killed"

    @dask.delayed
    def part(number: int) -> pd.DataFrame:
        if number == 6 and not killed.exists():
            killed.touch()
            time.sleep(0.3)  # what this worker has counted meanwhile is lost with it
            os.kill(os.getpid(), signal.SIGKILL)
        return frame[100 * number : 100 * (number + 1)]

    clf = tgd.fit(tg.TANClassifier(), [part(i) for i in range(9)], "label")
    assert killed.exists()
    assert state(clf) == state(whole)


def test_cut_points_come_from_all_partitions() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"x": random.normal(size=600), "z": random.normal(size=600)})
    frame["label"] = np.where(frame["x"] + random.normal(size=600) / 3 > 0.2, "high", "low")
    for discretizer in ("mdlp", "equal-frequency", "equal-width"):
        clf = tg.BayesNetClassifier(discretizer=discretizer, random_state=3)
        whole = clone(clf).fit(*split(frame))
        with dask.config.set(scheduler="synchronous"):
            tgd.fit(clf, spread(frame, 4), "label")
        assert state(clf) == state(whole)


def test_classes_and_weights_beside_the_table() -> None:
    frame = make_frame()
    X, y = split(frame)
    weights = pd.Series(np.arange(len(frame)) % 3, index=frame.index, name="w")
    whole = tg.TANClassifier().fit(X, y, sample_weight=weights)
    with dask.config.set(scheduler="synchronous"):
        beside = tgd.fit(
            tg.TANClassifier(), spread(X, 4), spread(y, 4), sample_weight=dd.from_pandas(weights, npartitions=4)
        )
        within = tgd.fit(tg.TANClassifier(), spread(frame.assign(w=weights), 4), "label", sample_weight="w")
    assert state(beside) == state(whole)
    assert state(within) == state(whole)


def test_arrays() -> None:
    random = np.random.default_rng(2)
    X, y = random.integers(0, 3, (500, 4)), random.integers(0, 2, 500)
    whole = tg.TANClassifier().fit(X, y)
    blocks = da.from_array(X, chunks=(120, 2))
    with dask.config.set(scheduler="synchronous"):
        clf = tgd.fit(tg.TANClassifier(), blocks, da.from_array(y, chunks=200))
        assert state(clf) == state(whole)
        proba, predicted = tgd.predict_proba(clf, blocks), tgd.predict(clf, blocks)
        assert proba.shape == (500, 2)
        np.testing.assert_array_equal(proba.compute(), whole.predict_proba(X))
        np.testing.assert_array_equal(predicted.compute(), whole.predict(X))


def test_empty_partitions() -> None:
    frame = make_frame(40)
    table = spread(frame, 4)
    table = table[table["size"] == 2]
    chosen = frame[frame["size"] == 2]
    whole = tg.NaiveBayesClassifier().fit(*split(chosen))
    nothing = table[table["size"] > 5]
    with dask.config.set(scheduler="synchronous"):
        clf = tgd.fit(tg.NaiveBayesClassifier(), dd.concat([nothing, table]), "label")
        assert state(clf) == state(whole)
        assert tgd.predict_proba(clf, nothing).compute().shape == (0, len(clf.classes_))
        with pytest.raises(ValueError, match="the stream has no rows"):
            tgd.fit(tg.NaiveBayesClassifier(), nothing, "label")


@pytest.mark.parametrize(
    ("X", "y", "sample_weight", "error", "message"),
    [
        (
            make_frame(),
            "label",
            None,
            TypeError,
            "dask DataFrame, a dask Array or a sequence of Delayed tables, got",
        ),
        (
            spread(make_frame(), 3),
            "outcome",
            None,
            ValueError,
            "partition [0-2]: the class column 'outcome' is not among",
        ),
        (
            spread(make_frame(), 3),
            None,
            None,
            ValueError,
            "expected the name of the class column or the classes, got None",
        ),
        (spread(make_frame(), 3), make_frame()["label"], None, TypeError, "y: expected the name of a column or a dask"),
        (
            spread(make_frame(), 3),
            spread(make_frame()["label"], 2),
            None,
            ValueError,
            "y: expected the 3 partitions of X, got 2",
        ),
        (
            spread(make_frame(), 3),
            "label",
            spread(make_frame()["size"], 2),
            ValueError,
            "sample_weight: expected the 3 partitions of X, got 2",
        ),
        (
            spread(make_frame(), 3),
            spread(make_frame()["label"], 3),
            "size",
            TypeError,
            "expected a dask Series since y",
        ),
        (da.zeros((4, 2)), da.zeros(3), None, ValueError, "X has 4 rows, but y has 3"),
        (da.zeros((4, 2)), np.zeros(4), None, TypeError, "y: expected a one-dimensional dask Array"),
        (da.zeros(4), da.zeros(4), None, ValueError, "X: expected two dimensions, got 1"),
        ([], "label", None, ValueError, "no partitions"),
    ],
)
def test_what_cannot_be_learned_from(X: Any, y: Any, sample_weight: Any, error: type[Exception], message: str) -> None:
    clf = tg.NaiveBayesClassifier()
    with dask.config.set(scheduler="synchronous"), pytest.raises(error, match=message):
        tgd.fit(clf, X, y, sample_weight=sample_weight)
    assert not hasattr(clf, "classes_")


def test_learners_that_need_rows_say_so() -> None:
    with pytest.raises(ValueError, match="HillClimb"):
        tgd.fit(tg.BayesNetClassifier(structure=sr.HillClimb()), spread(make_frame(), 2), "label")


def test_missing_classes_name_partition_and_row() -> None:
    frame = make_frame(60)
    frame.loc[35, "label"] = None
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=r"partition 2: .*Row 5 has no label"),
    ):
        tgd.fit(tg.NaiveBayesClassifier(), spread(frame, 4), "label")


def test_prediction_needs_a_dask_table() -> None:
    frame = make_frame(60)
    clf = tg.NaiveBayesClassifier().fit(*split(frame))
    with pytest.raises(TypeError, match=r"use clf.predict_proba for in-memory data"):
        tgd.predict_proba(clf, frame)

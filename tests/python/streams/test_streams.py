"""Streams: the model of the batches is that of the whole, predictions come in order, and errors say where."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from dependent_tables import learned_alike, make_table
from pyarrow import csv
from sklearn.base import clone
from stream_tables import cut, growing_table, numbers_table

import tanager as tg
from tanager._streams import cuts, sketches
from tanager._streams.counts import CountedPart
from tanager._streams.cuts import CutPart

RNG = np.random.default_rng(5)

LEARNERS = {
    "naive": tg.NaiveBayesClassifier(),
    "tan": tg.TANClassifier(n_jobs=2),
    "tan-bic": tg.TANClassifier("bic", parameters="softened"),
    "kdb": tg.KDBClassifier(k=2),
    "kdb-1": tg.KDBClassifier(k=1),
    "aode": tg.AODEClassifier(min_count=3),
    "tbmatan": tg.TBMATANClassifier(),
    "fixed": tg.BayesNetClassifier(tg.structure.FixedStructure([(0, 1), (2, 1)])),
    "acll": tg.BayesNetClassifier("acll-tree", "acll-optimal"),
    "manb": tg.NaiveBayesClassifier(parameters="model-averaged"),
    "temperature": tg.TANClassifier(parameters="data-temperature"),
    "bdeu": tg.TANClassifier(parameters=tg.parameters.Dirichlet(equivalent_sample_size=10)),
    "likelihood": tg.BayesNetClassifier("tan", "maximum-likelihood"),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_batches_give_what_the_whole_gives(name):
    X, y = growing_table()
    whole = clone(LEARNERS[name]).fit(X, y)
    table = X.assign(outcome=y)
    for batches in (cut(table, 1, 90, 90, 200), cut(table), [table[i : i + 7] for i in range(0, 300, 7)]):
        clf = clone(LEARNERS[name])
        assert clf.fit_stream(batches, "outcome") is clf
        learned_alike(clf, whole, X)
    assert clf.feature_names_in_.tolist() == list(X.columns)
    assert clf._schema.class_name == "outcome"
    if hasattr(whole, "network_"):
        assert clf.network_.feature_arcs == whole.network_.feature_arcs


@pytest.mark.parametrize("weights", ["whole", "fractions", "zeros"])
@pytest.mark.parametrize("name", ["tan", "kdb", "naive"])
def test_weights_add_up_to_the_last_bit(name, weights):
    X, y = growing_table()
    w = RNG.integers(1, 5, size=300).astype(float) if weights == "whole" else RNG.random(300)
    if weights == "zeros":
        w[:100] = 0
        w[150:250:3] = 0
        y[40] = "only here"
    whole = clone(LEARNERS[name]).fit(X, y, w)
    table = X.assign(outcome=y, heavy=w)
    named = clone(LEARNERS[name]).fit_stream(cut(table, 60, 61, 170), "outcome", sample_weight="heavy")
    learned_alike(named, whole, X)
    triples = [(a, b, c) for a, b, c in zip(cut(X, 60, 140), cut(y, 60, 140), cut(w, 60, 140), strict=True)]
    learned_alike(clone(LEARNERS[name]).fit_stream(triples), whole, X)


def test_all_kinds_of_tables_and_sources(tmp_path):
    X, y = growing_table()
    table = X.assign(outcome=y)
    arrow = pa.Table.from_pandas(table)
    whole = tg.TANClassifier().fit(X, y)
    pq.write_table(arrow, tmp_path / "all.parquet", row_group_size=50)
    (tmp_path / "parts").mkdir()
    for i, part in enumerate(cut(arrow.to_pandas(), 100, 200)):
        pq.write_table(pa.Table.from_pandas(part, schema=arrow.schema), tmp_path / "parts" / f"{i}.parquet")
    sources = {
        "reader": arrow.to_reader(max_chunksize=40),
        "record batches": arrow.to_batches(max_chunksize=40),
        "arrow tables": [arrow.slice(0, 30), arrow.slice(30)],
        "polars": cut(pl.from_arrow(arrow), 30, 150),
        "dataset": ds.dataset(tmp_path / "parts"),
        "scanner": ds.dataset(tmp_path / "parts").scanner(batch_size=64),
        "Parquet file": pq.ParquetFile(tmp_path / "all.parquet"),
        "function": lambda: iter(cut(table, 77)),
        "function of a dataset": lambda: ds.dataset(tmp_path / "all.parquet"),
        "generator": (batch for batch in cut(table, 77)),
    }
    for source in sources.values():
        learned_alike(tg.TANClassifier().fit_stream(source, "outcome"), whole, X)


def test_datasets_of_other_files_folders_and_rows(tmp_path):
    X, y = growing_table()
    X = X.drop(columns=["f0", "flag"])
    arrow = pa.Table.from_pandas(X.assign(outcome=y), preserve_index=False)
    ds.write_dataset(
        arrow,
        tmp_path / "hive",
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("f1", pa.string())]), flavor="hive"),
    )
    hive = ds.dataset(tmp_path / "hive", partitioning="hive")
    csv.write_csv(arrow, tmp_path / "table.csv")
    types = csv.ConvertOptions(strings_can_be_null=True, column_types={"number": pa.int64()})
    datasets = {
        "folders": hive,
        "some rows": hive.filter(ds.field("number") > 0),
        "CSV": ds.dataset(tmp_path / "table.csv", format=ds.CsvFileFormat(convert_options=types)),
        "memory": ds.dataset(arrow),
    }
    for name, dataset in datasets.items():
        table = dataset.to_table()
        features = table.drop_columns(["outcome"])
        clf = tg.TANClassifier().fit_stream(dataset, "outcome")
        learned_alike(clf, tg.TANClassifier().fit(features, table["outcome"]), features)
        assert clf.counts_.n_rows == table.num_rows, name
        np.testing.assert_array_equal(np.concatenate(list(clf.predict_stream(dataset))), clf.predict_proba(features))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells")
def test_memory_is_that_of_a_few_batches():
    rows, y = 200_000, pa.array(RNG.integers(0, 2, size=200_000, dtype=np.int8))
    drawn = RNG.integers(0, 4, size=(20, rows), dtype=np.int8)

    def batches():
        for i in range(50):  # 4 MB each
            columns = [pa.array(np.roll(column, i)) for column in drawn]
            yield pa.RecordBatch.from_arrays([*columns, y], [*(f"f{k}" for k in range(20)), "y"])

    def peak():
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024

    next(batches())
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    clf = tg.TANClassifier().fit_stream(batches(), "y")
    assert clf.counts_.n_rows == 50 * rows
    assert sum(len(proba) for proba in clf.predict_stream(batches())) == 50 * rows
    assert peak() - before < 80  # all rows are 200 MB, and their probabilities 160


def test_arrays_in_batches():
    X, y = RNG.integers(0, 4, size=(200, 5)), RNG.integers(0, 3, size=200)
    X[150:, 2] += 300
    X[:, 3] *= 100
    for dtype in (np.int8, np.int64, np.uint16, bool):
        table = X.astype(dtype)
        clf = tg.TANClassifier().fit_stream(zip(cut(table, 50, 51), cut(y, 50, 51), strict=True))
        learned_alike(clf, tg.TANClassifier().fit(table, y), table)
    assert not hasattr(clf, "feature_names_in_")
    words = np.array(["a", "bb", "ccc", "dddd"])[X % 4]
    clf = tg.TANClassifier().fit_stream(zip(cut(words, 50), cut(y.astype(str), 50), strict=True))
    learned_alike(clf, tg.TANClassifier().fit(words, y.astype(str)), words)
    assert clf.classes_.dtype == y.astype(str).dtype


@pytest.mark.parametrize("values", [[True, False], [3, 1], ["b", "a"]])
def test_categories_keep_their_type_after_batches_without_any(values):
    column = pd.Series([None, None, *values]).convert_dtypes()
    table = pd.DataFrame({"x": column, "y": [0, 1, 0, 1]})
    clf = tg.NaiveBayesClassifier().fit_stream(cut(table, 2), "y")
    whole = tg.NaiveBayesClassifier().fit(table[["x"]], table["y"])
    learned_alike(clf, whole, table[["x"]])
    assert clf._encoder.columns[0].categories.dtype == whole._encoder.columns[0].categories.dtype


def test_dictionaries_that_differ_by_batch():
    y = pa.array(["p", "q", "p", "q", "q", "r"]).dictionary_encode()
    parts = [["z", "a", None], ["m"], ["a", "k"]]
    arrays = [pa.array(part).dictionary_encode() for part in parts]
    unused = pa.DictionaryArray.from_arrays(pa.array([1], pa.int8()), pa.array(["never", "m"]))
    arrays[1] = unused.cast(arrays[0].type)
    batches = [
        pa.RecordBatch.from_arrays([a, y.slice(start, len(a))], ["x", "y"])
        for a, start in zip(arrays, [0, 3, 4], strict=True)
    ]
    clf = tg.NaiveBayesClassifier().fit_stream(batches, "y")
    whole = pa.Table.from_batches(batches)
    learned_alike(clf, tg.NaiveBayesClassifier().fit(whole.select(["x"]), whole["y"]), whole.select(["x"]))
    assert clf.categories_[0].tolist() == ["z", "a", "never", "m", "k"]
    assert clf.classes_.tolist() == ["p", "q", "r"]


def test_declared_categories_and_classes():
    X, y = growing_table()
    table = X.assign(outcome=y)
    settings = {"categories": {"f3": ["v3", "v0", "v1", "v2", "never"]}}
    clf = tg.TANClassifier(**settings).fit_stream(cut(table, 100), "outcome", classes=["d", "c", "b", "a"])
    assert clf.classes_.tolist() == ["a", "b", "c", "d"]
    assert clf.categories_[3].tolist() == ["v3", "v0", "v1", "v2", "never"]
    once = tg.TANClassifier(**settings).partial_fit(X, y, classes=["a", "b", "c", "d"])
    learned_alike(clf, once, X)
    with pytest.raises(ValueError, match=r"y contains 'a', but the classes are 'b', 'c'"):
        tg.TANClassifier().fit_stream(cut(table, 100), "outcome", classes=["b", "c"])
    with pytest.raises(ValueError, match="column 'f3' contains 'v0', which is not among the categories declared"):
        tg.TANClassifier(categories={"f3": ["v1", "v2", "v3"]}).fit_stream(cut(table, 100), "outcome")


# -- numbers


@pytest.mark.parametrize("discretizer", ["mdlp", "equal-width", "equal-frequency", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_are_discretized_as_by_fit(discretizer, weighted):
    X, y = numbers_table()
    w = RNG.integers(0, 4, size=len(y)).astype(float) if weighted else np.ones(len(y))
    settings = {"discretizer": discretizer, "numeric_features": "float"}
    whole = tg.TANClassifier(**settings).fit(X, y, w)
    table = X.assign(outcome=y, w=w)
    clf = tg.TANClassifier(**settings).fit_stream(cut(table, 90, 91, 300), "outcome", sample_weight="w")
    learned_alike(clf, whole, X)
    assert [c.kind for c in clf._encoder.columns] == [c.kind for c in whole._encoder.columns]


def test_integers_are_discretized_on_request():
    X, y = RNG.integers(0, 50, size=(300, 3)), RNG.integers(0, 2, size=300)
    for features in ("number", [1]):
        settings = {"discretizer": "equal-frequency", "numeric_features": features}
        clf = tg.TANClassifier(**settings).fit_stream(list(zip(cut(X, 100), cut(y, 100), strict=True)))
        learned_alike(clf, tg.TANClassifier(**settings).fit(X, y), X)


def test_many_rows_are_discretized_nearly_as_by_fit(monkeypatch):
    monkeypatch.setattr(sketches, "CAPACITY", 256)
    monkeypatch.setattr(cuts, "SAMPLE_ROWS", 5000)
    rng, n_rows = np.random.default_rng(8), 60_000
    y = rng.integers(0, 2, size=n_rows)
    X = pd.DataFrame({"x": rng.normal(size=n_rows) + 2 * y, "few": np.round(rng.random(n_rows), 2)})
    table = X.assign(y=y)
    found = {}
    for discretizer in ("equal-frequency", "mdlp", "equal-width"):
        batches = [table[i : i + 7000] for i in range(0, n_rows, 7000)]
        clf = tg.NaiveBayesClassifier(discretizer=discretizer).fit_stream(batches, "y")
        again = tg.NaiveBayesClassifier(discretizer=discretizer).fit_stream(cut(table, 1, 30_000), "y")
        learned_alike(clf, again, X[:100])  # where batches end makes no difference
        found[discretizer] = [c.cuts for c in clf._encoder.columns]
    shares = np.searchsorted(np.sort(X["x"]), found["equal-frequency"][0]) / n_rows
    np.testing.assert_allclose(shares, [0.2, 0.4, 0.6, 0.8], atol=8 / 512)
    whole = {d: tg.NaiveBayesClassifier(discretizer=d).fit(X, y) for d in found}
    # A column of few distinct numbers is known exactly, and so are the smallest and the largest number.
    np.testing.assert_array_equal(found["equal-frequency"][1], whole["equal-frequency"]._encoder.columns[1].cuts)
    for position in (0, 1):
        np.testing.assert_array_equal(
            found["equal-width"][position], whole["equal-width"]._encoder.columns[position].cuts
        )
    sampled = tg.NaiveBayesClassifier().fit_stream([table], "y")
    assert len(sampled._encoder.columns[0].cuts) > 1
    assert abs(sampled.score(X, y) - whole["mdlp"].score(X, y)) < 0.01
    other = tg.NaiveBayesClassifier(random_state=1).fit_stream([table], "y")
    assert not np.array_equal(other._encoder.columns[0].cuts, found["mdlp"][0])


def test_ranks_of_more_numbers_than_are_kept(monkeypatch):
    monkeypatch.setattr(sketches, "CAPACITY", 64)
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=20_000)
    weights = rng.integers(1, 4, size=20_000).astype(float)
    summaries = []
    for part, some in zip(np.array_split(numbers, 3), np.array_split(weights, 3), strict=True):
        summaries.append(sketches.QuantileSummary())
        summaries[-1].add(part, some)
    for other in summaries[1:]:
        summaries[0].merge(other)
    values, held = summaries[0].points()
    assert len(values) < 1000
    assert held.sum() == weights.sum()
    order = np.argsort(numbers)
    ranks = np.concatenate([[0], np.cumsum(weights[order])])[np.searchsorted(numbers[order], values, "right")]
    assert np.abs(np.cumsum(held) - ranks).max() < weights.sum() * 10 / 128  # ten levels


# -- parts, for clusters


@pytest.mark.parametrize("name", ["naive", "tan", "aode"])
def test_parts_merge_to_the_whole(name):
    X, y = growing_table()
    table = X.assign(outcome=y)
    parts = []
    for batch in [table[:0], *cut(table, 100, 190, 230)]:
        part = CountedPart(LEARNERS[name]._stream_plan(), "outcome")
        part.add(batch)
        parts.append(pickle.loads(pickle.dumps(part)))
    before = [None if part.schema is None else part.result().counts.cells() for part in parts]
    left, right = parts[0].merge(parts[1]).merge(parts[2]), parts[3].merge(parts[4])
    clf = clone(LEARNERS[name])
    clf._fit_counts(left.merge(right).result())
    learned_alike(clf, clone(LEARNERS[name]).fit(X, y), X)
    for part, cells in zip(parts[1:], before[1:], strict=True):
        np.testing.assert_array_equal(part.result().counts.cells(), cells)  # merging does not change parts


@pytest.mark.parametrize("discretizer", ["mdlp", "equal-width", "equal-frequency"])
def test_cuts_merge_to_those_of_the_whole(discretizer):
    X, y = numbers_table()
    table = X.assign(outcome=y)
    clf = tg.TANClassifier(discretizer=discretizer)
    parts = []
    for i, batch in enumerate(cut(table, 90, 91, 300)):
        parts.append(CutPart(clf._stream_plan(), "outcome", part=i))
        parts[-1].add(batch)
    parts = pickle.loads(pickle.dumps(parts))
    cuts = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3])).cuts()
    counted = CountedPart(clf._stream_plan(), "outcome", cuts=cuts)
    counted.add(table)
    clf._fit_counts(counted.result())
    learned_alike(clf, tg.TANClassifier(discretizer=discretizer).fit(X, y), X)


def test_parts_of_different_columns_or_types_do_not_merge():
    def part(**columns):
        made = CountedPart(tg.TANClassifier()._stream_plan(), "y")
        made.add(pd.DataFrame({**columns, "y": ["p", "q"]}))
        return made

    with pytest.raises(ValueError, match="all parts must have the same columns"):
        part(a=[1, 2]).merge(part(b=[1, 2]))
    with pytest.raises(
        ValueError, match="column 'a' contains integers in the batches so far, but strings in another part"
    ):
        part(a=[1, 2]).merge(part(a=["u", "v"]))
    assert part(a=[None, None]).merge(part(a=["u", "v"])).result().encoder.columns[0].categories.tolist() == ["u", "v"]


# -- prediction


@pytest.mark.parametrize("name", ["naive", "tan", "kdb", "aode", "tbmatan"])
def test_predictions_of_batches(name):
    X, y = growing_table()
    clf = clone(LEARNERS[name]).fit(X, y)
    batches = cut(X, 100, 100, 101)
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        found = list(clf.predict_stream(iter(batches), method))
        assert [len(part) for part in found] == [100, 0, 1, 199]
        np.testing.assert_array_equal(np.concatenate(found), getattr(clf, method)(X))
        assert found[1].dtype == found[0].dtype
    both = list(clf.predict_stream(batches, ["predict", "predict_proba"]))
    np.testing.assert_array_equal(np.concatenate([part[0] for part in both]), clf.predict(X))
    np.testing.assert_array_equal(np.concatenate([part[1] for part in both]), clf.predict_proba(X))


def test_predictions_from_files_with_more_columns(tmp_path):
    X, y = growing_table()
    clf = tg.TANClassifier().fit(X, y)
    table = X[reversed(X.columns)].assign(outcome=y, moment=pd.Timestamp("2001-02-03"))  # no feature could be a time
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "all.parquet")
    expected = clf.predict_proba(X)
    for source in (
        ds.dataset(tmp_path),
        pq.ParquetFile(tmp_path / "all.parquet"),
        [table],
        cut(pl.from_pandas(table), 9),
    ):
        np.testing.assert_array_equal(np.concatenate(list(clf.predict_stream(source))), expected)


def test_predictions_take_no_more_batches_than_needed():
    X, y = make_table(100)
    clf = tg.TANClassifier().fit(X, y)
    taken = []
    results = clf.predict_stream(taken.append(i) or X for i in range(10))
    assert not taken
    next(results)
    assert len(taken) == 2
    next(results)
    assert len(taken) == 3
    threads = set()
    list(clf.predict_stream(threads.add(threading.get_ident()) or X for _ in range(3)))
    assert threads == {threading.get_ident()}

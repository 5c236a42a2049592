"""Streams: the model of the batches is that of the whole, predictions come in order, and errors say where."""

from __future__ import annotations

import pickle
import threading
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from dependent_tables import learned_alike, make_table
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tanager as tg
from tanager import _quantiles, _stream_cuts
from tanager._stream_counts import CountedPart
from tanager._stream_cuts import CutPart

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


def growing_table(n_rows=300):
    """Categories and a class that only some batches have, and columns that begin with nothing."""
    X, y = make_table(n_rows, missing=0.1)
    X, y = X.assign(number=RNG.integers(-2, 3, size=n_rows), flag=RNG.random(n_rows) < 0.5), y.copy()
    X.iloc[:200, 3] = np.where(X.iloc[:200, 3] == "v0", "v3", X.iloc[:200, 3])
    X.iloc[100:, 1] = np.where(X.iloc[100:, 1] == "v2", "v1", X.iloc[100:, 1])
    X.iloc[:120, 0] = None
    X.loc[250, "number"] = 1000
    y[:220] = np.where(y[:220] == "a", "c", y[:220])
    return X, y


def cut(table, *ends):
    """Rows in batches that end before the given rows."""
    bounds = [0, *ends, len(table)]
    return [table[a:b] for a, b in pairwise(bounds)]


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
    with pytest.raises(ValueError, match=r"y holds 'a', but the classes are \['b', 'c'\]"):
        tg.TANClassifier().fit_stream(cut(table, 100), "outcome", classes=["b", "c"])
    with pytest.raises(ValueError, match="column 'f3' holds 'v0', which is none of the categories declared"):
        tg.TANClassifier(categories={"f3": ["v1", "v2", "v3"]}).fit_stream(cut(table, 100), "outcome")


# -- numbers


def numbers_table(n_rows=400):
    X, y = make_table(n_rows)
    size = np.where(y == "a", 0.0, 3.0) + RNG.normal(size=n_rows)
    size[RNG.random(n_rows) < 0.1] = np.nan
    X = X.assign(size=size.astype(np.float32), age=np.round(RNG.normal(size=n_rows) * 10 + (y == "b") * 20))
    X.loc[:99, "age"] = np.nan  # nothing at first
    return X.assign(nothing=np.nan), y


@pytest.mark.parametrize("discretizer", ["mdlp", "equal-width", "equal-frequency", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_are_cut_as_by_fit(discretizer, weighted):
    X, y = numbers_table()
    w = RNG.integers(0, 4, size=len(y)).astype(float) if weighted else np.ones(len(y))
    settings = {"discretizer": discretizer, "numeric_features": "float"}
    whole = tg.TANClassifier(**settings).fit(X, y, w)
    table = X.assign(outcome=y, w=w)
    clf = tg.TANClassifier(**settings).fit_stream(cut(table, 90, 91, 300), "outcome", sample_weight="w")
    learned_alike(clf, whole, X)
    assert [c.kind for c in clf._encoder.columns] == [c.kind for c in whole._encoder.columns]


def test_integers_are_cut_where_asked():
    X, y = RNG.integers(0, 50, size=(300, 3)), RNG.integers(0, 2, size=300)
    for features in ("number", [1]):
        settings = {"discretizer": "equal-frequency", "numeric_features": features}
        clf = tg.TANClassifier(**settings).fit_stream(list(zip(cut(X, 100), cut(y, 100), strict=True)))
        learned_alike(clf, tg.TANClassifier(**settings).fit(X, y), X)


def test_many_rows_are_cut_nearly_as_by_fit(monkeypatch):
    monkeypatch.setattr(_quantiles, "CAPACITY", 256)
    monkeypatch.setattr(_stream_cuts, "SAMPLE_ROWS", 5000)
    n_rows = 60_000
    y = RNG.integers(0, 2, size=n_rows)
    X = pd.DataFrame({"x": RNG.normal(size=n_rows) + 2 * y, "few": np.round(RNG.random(n_rows), 2)})
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
    main = [cuts[np.argmin(abs(cuts - 1))] for cuts in (found["mdlp"][0], whole["mdlp"]._encoder.columns[0].cuts)]
    assert abs(main[0] - main[1]) < 0.2
    other = tg.NaiveBayesClassifier(random_state=1).fit_stream([table], "y")
    assert not np.array_equal(other._encoder.columns[0].cuts, found["mdlp"][0])


def test_one_pass_is_not_enough_for_cuts_and_deep_tables():
    X, y = numbers_table()
    table = X.assign(outcome=y)
    with pytest.raises(
        ValueError, match="column 'size' holds numbers to be cut into intervals, which takes a pass over"
    ):
        tg.TANClassifier().fit_stream(iter([table]), "outcome")
    tg.TANClassifier(discretizer=None).fit_stream(iter([table]), "outcome")
    taken = []
    with pytest.raises(
        ValueError, match="KDB counts pairs of features first and its tables in a second pass, but an iter"
    ):
        tg.KDBClassifier().fit_stream((taken.append(1) or table for _ in range(3)), "outcome")
    assert not taken
    once = iter(cut(table, 100))
    with pytest.raises(ValueError, match="every pass over the batches must give the same rows, but one gave"):
        tg.TANClassifier().fit_stream(lambda: once, "outcome")
    X, y = growing_table()
    once = iter(cut(X.assign(outcome=y), 100))
    with pytest.raises(ValueError, match="must give the same rows, but one gave 300 and the next 0"):
        tg.KDBClassifier().fit_stream(lambda: once, "outcome")


def test_infinity_is_refused():
    X = pd.DataFrame({"x": [0.5, np.inf], "y": [0, 1]})
    with pytest.raises(ValueError, match="contains infinity or a value too large to be cut into intervals: column 'x'"):
        tg.TANClassifier().fit_stream([X], "y")


# -- parts, for clusters


@pytest.mark.parametrize("name", ["naive", "tan", "aode"])
def test_parts_merge_to_the_whole(name):
    X, y = growing_table()
    table = X.assign(outcome=y)
    parts = []
    for batch in [table[:0], *cut(table, 100, 190, 230)]:
        part = CountedPart(LEARNERS[name], "outcome")
        part.add(batch)
        parts.append(pickle.loads(pickle.dumps(part)))
    left, right = parts[0].merge(parts[1]).merge(parts[2]), parts[3].merge(parts[4])
    clf = clone(LEARNERS[name])
    clf._learn_counted(left.merge(right).result())
    learned_alike(clf, clone(LEARNERS[name]).fit(X, y), X)


@pytest.mark.parametrize("discretizer", ["mdlp", "equal-width", "equal-frequency"])
def test_cuts_merge_to_those_of_the_whole(discretizer):
    X, y = numbers_table()
    table = X.assign(outcome=y)
    clf = tg.TANClassifier(discretizer=discretizer)
    parts = []
    for i, batch in enumerate(cut(table, 90, 91, 300)):
        parts.append(CutPart(clf, "outcome", part=i))
        parts[-1].add(batch)
    parts = pickle.loads(pickle.dumps(parts))
    cuts = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3])).cuts()
    counted = CountedPart(clf, "outcome", cuts=cuts)
    counted.add(table)
    clf._learn_counted(counted.result())
    learned_alike(clf, tg.TANClassifier(discretizer=discretizer).fit(X, y), X)


def test_parts_of_different_columns_or_types_do_not_merge():
    def part(**columns):
        made = CountedPart(tg.TANClassifier(), "y")
        made.add(pd.DataFrame({**columns, "y": ["p", "q"]}))
        return made

    with pytest.raises(ValueError, match="all parts must have the same columns"):
        part(a=[1, 2]).merge(part(b=[1, 2]))
    with pytest.raises(
        ValueError, match="column 'a' holds integers in the batches so far, but strings in another part"
    ):
        part(a=[1, 2]).merge(part(a=["u", "v"]))
    assert part(a=[None, None]).merge(part(a=["u", "v"])).result().encoder.columns[0].categories.tolist() == ["u", "v"]


# -- errors


def test_batches_that_do_not_fit_together():
    X, y = make_table(100)
    table = X.assign(outcome=y)
    fit = tg.TANClassifier().fit_stream
    with pytest.raises(ValueError, match="but the batch at row 60 lacks 'f1' and has 'g' beyond them"):
        fit([table[:60], table[60:].rename(columns={"f1": "g"})], "outcome")
    with pytest.raises(
        ValueError, match="class column 'outcome' is not among the columns of the batch at row 60: 'f0', "
    ):
        fit([table[:60], X[60:]], "outcome")
    with pytest.raises(ValueError, match="column of weights 'w' is not among the columns of the batch at row 0"):
        fit([table], "outcome", sample_weight="w")
    with pytest.raises(ValueError, match="the stream holds no rows"):
        fit([], "outcome")
    with pytest.raises(ValueError, match="the stream holds no rows"):
        fit([table[:0], table[:0]], "outcome")
    with pytest.raises(ValueError, match="has 4 columns of features, but those before have 5"):
        fit([(X.to_numpy()[:50], y[:50]), (X.to_numpy()[50:, 1:], y[50:])])
    with pytest.raises(ValueError, match="all name their columns or none, but that at row 50 differs"):
        fit([(X[:50], y[:50]), (X.to_numpy()[50:], y[50:])])
    with pytest.raises(ValueError, match="the batch at row 50 has 50 rows, but 49 labels"):
        fit([(X[:50], y[:50]), (X[50:], y[51:])])
    reordered = table[[*reversed(X.columns), "outcome"]]
    learned_alike(
        tg.TANClassifier().fit_stream([table[:60], reordered[60:]], "outcome"), tg.TANClassifier().fit(X, y), X
    )


def test_a_column_has_one_type_in_all_batches():
    def fit(*columns):
        tables = [pd.DataFrame({"x": column, "y": ["p", "q"][: len(column)] * 1}) for column in columns]
        return tg.NaiveBayesClassifier().fit_stream(tables, "y")

    with pytest.raises(
        ValueError, match="column 'x' holds integers in the batches so far, but strings from row 2 on: give"
    ):
        fit([1, 2], ["a", "b"])
    with pytest.raises(ValueError, match="holds integers in the batches so far, but floats from row 2 on"):
        fit([1, 2], [1.5, 2.0])
    with pytest.raises(ValueError, match="holds strings in the batches so far, but categories from row 2 on"):
        fit(["a", "b"], pd.Categorical(["a", "b"]))
    assert fit([np.nan, np.nan], ["a", "b"], [None, None]).categories_[0].tolist() == ["a", "b"]
    mixed = [pd.Series(values, dtype=object) for values in (["a", "b"], [1, "b"])]
    assert fit(*mixed).categories_[0].tolist() == [1, "a", "b"]
    with pytest.raises(ValueError, match="the class column holds strings in the batches so far, but other labels than"):
        tg.NaiveBayesClassifier().fit_stream([([[1], [2]], ["p", "q"]), ([[1], [2]], [0, 1])])


def test_rows_without_a_label_are_counted_from_the_first_batch():
    X, y = make_table(100)
    y = y.astype(object)
    y[77] = None
    table = X.assign(outcome=y)
    kinds = [table, pl.from_pandas(table), pa.Table.from_pandas(table), table.astype({"outcome": "category"})]
    for kind in kinds:
        batches = [kind.slice(0, 60), kind.slice(60)] if hasattr(kind, "slice") else [kind[:60], kind[60:]]
        with pytest.raises(ValueError, match="Row 77 has no label"):
            tg.TANClassifier().fit_stream(batches, "outcome")
    numbers = X.assign(outcome=np.where(np.arange(100) == 77, np.nan, 1.0))
    with pytest.raises(ValueError, match="Row 77 has no label"):
        tg.TANClassifier().fit_stream(cut(numbers, 60), "outcome")
    with pytest.raises(ValueError, match="but row 61 has -1"):
        tg.TANClassifier().fit_stream(
            cut(X.assign(y=0, w=np.where(np.arange(100) == 61, -1, 1)), 50), "y", sample_weight="w"
        )
    with pytest.raises(ValueError, match="must have a weight above zero, but all are zero"):
        tg.TANClassifier().fit_stream(cut(X.assign(y=0, w=0), 50), "y", sample_weight="w")


def test_arguments_that_are_no_streams():
    X, y = make_table(20)
    table = X.assign(outcome=y)
    fit = tg.TANClassifier().fit_stream
    for single in (
        table,
        pl.from_pandas(table),
        pa.Table.from_pandas(table),
        pa.RecordBatch.from_pandas(table),
        X.to_numpy(),
    ):
        with pytest.raises(TypeError, match="must be an iterable of tables, but is a single"):
            fit(single, "outcome")
    with pytest.raises(TypeError, match="but is a path: open it first"):
        fit("table.parquet", "outcome")
    with pytest.raises(TypeError, match="but is of type int"):
        fit(3, "outcome")
    with pytest.raises(TypeError, match="y must be the name of the class column"):
        fit([table], y)
    with pytest.raises(TypeError, match="sample_weight must be the name of a column"):
        fit([table], "outcome", sample_weight=np.ones(20))
    with pytest.raises(ValueError, match="sample_weight names a column beside the class column"):
        fit([(X, y)], sample_weight="f0")
    with pytest.raises(
        ValueError, match=r"batches must be tuples \(X, y\) or \(X, y, weights\), but one is of type DataFrame"
    ):
        fit([table])
    with pytest.raises(ValueError, match="so that batches must be tables, but one is a tuple"):
        fit([(X, y)], "outcome")
    with pytest.raises(ValueError, match="is a ndarray without names of columns: pass tuples"):
        fit([X.to_numpy()], "outcome")
    with pytest.raises(TypeError, match="batches must be tables, but that at row 0 is of type int"):
        fit([1, 2], "outcome")


@pytest.mark.parametrize(
    ("clf", "name"),
    [
        (tg.BayesNetClassifier("hill-climb"), "HillClimb"),
        (tg.BayesNetClassifier("pc"), "ConstraintAugmented"),
        (tg.TANClassifier(parameters="elr"), "ELR"),
        (tg.NaiveBayesClassifier(parameters="wanbia"), "Wanbia"),
        (tg.NaiveBayesClassifier(parameters="em"), "EM"),
    ],
)
def test_learners_that_need_rows_say_so(clf, name):
    X, y = make_table(20)
    with pytest.raises(
        ValueError, match=f"{name} goes through the rows again and again, so that it cannot learn from a str"
    ):
        clf.fit_stream([X.assign(y=y)], "y")


def test_what_fails_leaves_the_model_and_no_thread():
    X, y = make_table(100)
    clf = tg.TANClassifier().fit(X, y)
    before = clf.predict_proba(X)

    def failing(error):
        yield X[:50].assign(y=y[:50])
        yield X[50:].assign(y=y[50:])
        raise error

    for error in (RuntimeError("the disk is gone"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            clf.fit_stream(failing(error), "y")
        results = clf.predict_stream(failing(error))
        assert next(results).shape == (50, 3)
        with pytest.raises(type(error)):
            list(results)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    stopped = clf.predict_stream([X] * 100)
    next(stopped)
    stopped.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tanager")]


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


def test_predictions_that_cannot_be():
    X, y = make_table(50)
    with pytest.raises(NotFittedError):
        tg.TANClassifier().predict_stream([X])
    clf = tg.TANClassifier(unseen="error").fit(X, y)
    with pytest.raises(ValueError, match="method must be one of predict, predict_proba"):
        clf.predict_stream([X], "score")
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        list(clf.predict_stream([X, X.drop(columns="f1")]))
    with pytest.raises(ValueError, match="column 'f0' holds 'new', which is none of the known categories"):
        list(clf.predict_stream([X, X.assign(f0="new")]))
    with pytest.raises(TypeError, match="batches must be tables, but one is of type int"):
        list(clf.predict_stream([1]))
    assert list(clf.predict_stream([])) == []

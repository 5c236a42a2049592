"""Streams that cannot be learned from or predicted: errors say what is wrong and at which row of the stream."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from dependent_tables import learned_alike, make_table
from sklearn.exceptions import NotFittedError
from stream_tables import cut, growing_table, numbers_table

import tanager as tg


def test_one_pass_is_not_enough_for_cuts_and_deep_tables():
    X, y = numbers_table()
    table = X.assign(outcome=y)
    with pytest.raises(ValueError, match="column 'size' is to be discretized, which takes an additional pass over"):
        tg.TANClassifier().fit_stream(iter([table]), "outcome")
    tg.TANClassifier(discretizer=None).fit_stream(iter([table]), "outcome")
    taken = []
    with pytest.raises(ValueError, match="KDB needs two passes over the batches, but an iter"):
        tg.KDBClassifier().fit_stream((taken.append(1) or table for _ in range(3)), "outcome")
    assert not taken
    once = iter(cut(table, 100))
    with pytest.raises(ValueError, match="every pass over the batches must give the same rows, but one gave"):
        tg.TANClassifier().fit_stream(lambda: once, "outcome")
    X, y = growing_table()
    once = iter(cut(X.assign(outcome=y), 100))
    with pytest.raises(ValueError, match="must give the same rows, but one gave 300 and the next 0"):
        tg.KDBClassifier().fit_stream(lambda: once, "outcome")


def test_infinity_is_rejected():
    X = pd.DataFrame({"x": [0.5, np.inf], "y": [0, 1]})
    with pytest.raises(ValueError, match="contains infinity or a value too large to be discretized: column 'x'"):
        tg.TANClassifier().fit_stream([X], "y")


def test_batches_that_do_not_fit_together():
    X, y = make_table(100)
    table = X.assign(outcome=y)
    fit = tg.TANClassifier().fit_stream
    with pytest.raises(ValueError, match="but the batch at row 60 lacks 'f1' and also has 'g'"):
        fit([table[:60], table[60:].rename(columns={"f1": "g"})], "outcome")
    with pytest.raises(
        ValueError, match="class column 'outcome' is not among the columns of the batch at row 60: 'f0', "
    ):
        fit([table[:60], X[60:]], "outcome")
    with pytest.raises(ValueError, match="weight column 'w' is not among the columns of the batch at row 0"):
        fit([table], "outcome", sample_weight="w")
    with pytest.raises(ValueError, match="the stream has no rows"):
        fit([], "outcome")
    with pytest.raises(ValueError, match="the stream has no rows"):
        fit([table[:0], table[:0]], "outcome")
    with pytest.raises(ValueError, match="has 4 features, but earlier batches have 5"):
        fit([(X.to_numpy()[:50], y[:50]), (X.to_numpy()[50:, 1:], y[50:])])
    with pytest.raises(
        ValueError, match="either all batches or none must have column names; the batch at row 50 differs"
    ):
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
        ValueError, match="column 'x' contains integers in the batches so far, but strings from row 2 on; use"
    ):
        fit([1, 2], ["a", "b"])
    with pytest.raises(ValueError, match="contains integers in the batches so far, but floats from row 2 on"):
        fit([1, 2], [1.5, 2.0])
    with pytest.raises(ValueError, match="contains strings in the batches so far, but categories from row 2 on"):
        fit(["a", "b"], pd.Categorical(["a", "b"]))
    assert fit([np.nan, np.nan], ["a", "b"], [None, None]).categories_[0].tolist() == ["a", "b"]
    mixed = [pd.Series(values, dtype=object) for values in (["a", "b"], [1, "b"])]
    assert fit(*mixed).categories_[0].tolist() == [1, "a", "b"]
    with pytest.raises(
        ValueError, match="the class column contains strings in the batches so far, but labels other than"
    ):
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
    with pytest.raises(ValueError, match="got -1 in row 61"):
        tg.TANClassifier().fit_stream(
            cut(X.assign(y=0, w=np.where(np.arange(100) == 61, -1, 1)), 50), "y", sample_weight="w"
        )
    with pytest.raises(ValueError, match="expected at least one positive weight, got only zeros"):
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
        with pytest.raises(TypeError, match="expected an iterable of tables, got a single"):
            fit(single, "outcome")
    with pytest.raises(TypeError, match="got a path; open it first"):
        fit("table.parquet", "outcome")
    with pytest.raises(TypeError, match="got an object of type int"):
        fit(3, "outcome")
    with pytest.raises(TypeError, match="y: expected the name of the class column"):
        fit([table], y)
    with pytest.raises(TypeError, match="sample_weight: expected the name of a column"):
        fit([table], "outcome", sample_weight=np.ones(20))
    with pytest.raises(ValueError, match="so y must name another column with the classes"):
        fit([(X, y)], sample_weight="f0")
    with pytest.raises(ValueError, match=r"batches must be tuples \(X, y\) or \(X, y, weights\), got a DataFrame"):
        fit([table])
    with pytest.raises(ValueError, match="so batches must be tables, got a tuple"):
        fit([(X, y)], "outcome")
    with pytest.raises(ValueError, match="is a ndarray without column names; pass tuples"):
        fit([X.to_numpy()], "outcome")
    with pytest.raises(TypeError, match="batches: expected tables, got an object of type int at row 0"):
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
    with pytest.raises(ValueError, match=f"{name} needs several passes over the data and does not support fit_stream"):
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


def test_columns_that_come_twice():
    table = pd.DataFrame([[1, 2, 0], [2, 2, 1]], columns=["a", "a", "y"])
    for batch in (table, pa.table([[1], [2], [0]], names=["a", "a", "y"])):
        with pytest.raises(ValueError, match="column names must be unique, but 'a' occurs more than once"):
            tg.NaiveBayesClassifier().fit_stream([batch], "y")


def test_files_without_the_columns_of_the_model(tmp_path):
    X, y = make_table(50)
    clf = tg.TANClassifier().fit(X, y)
    for name, kept in (("some.parquet", ["f1"]), ("none.parquet", [])):
        pq.write_table(pa.table({"other": list(y), **{column: X[column] for column in kept}}), tmp_path / name)
        for source in (ds.dataset(tmp_path / name), pq.ParquetFile(tmp_path / name)):
            with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
                list(clf.predict_stream(source))


def test_predictions_that_cannot_be():
    X, y = make_table(50)
    with pytest.raises(NotFittedError):
        tg.TANClassifier().predict_stream([X])
    clf = tg.TANClassifier(unseen="error").fit(X, y)
    with pytest.raises(ValueError, match="method: expected one of 'predict', 'predict_proba'"):
        clf.predict_stream([X], "score")
    with pytest.raises(ValueError, match=r"or a list of them, got \[\]"):
        clf.predict_stream([X], [])
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        list(clf.predict_stream([X, X.drop(columns="f1")]))
    with pytest.raises(ValueError, match="column 'f0' contains the unknown category 'new'"):
        list(clf.predict_stream([X, X.assign(f0="new")]))
    with pytest.raises(TypeError, match="batches: expected tables, got an object of type int"):
        list(clf.predict_stream([1]))
    assert list(clf.predict_stream([])) == []


def test_whole_floats_among_objects_are_named():
    batches = [(np.array([[0.5], [1.0]], dtype=object), [0, 1]), (np.array([[1.0], [2.0]], dtype=object), [0, 1])]
    with pytest.raises(
        ValueError, match="column 0 contains floats in the batches so far, but integral floats from row 2 on"
    ):
        tg.NaiveBayesClassifier().fit_stream(batches)

"""Values to predict from that equal what was fitted but for their type, and columns that hold nothing known."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tanager as tg
from tanager._encoding.matching import OtherTypes, meaning

FITTED = {
    "integers": [1, 2, 3],
    "floats": [1.0, 2.0, 3.0],
    "strings": ["1", "2", "3"],
    "decimal strings": ["1.0", "2.0", "3.0"],
    "codes": ["001", "002", "003"],
}


def fitted(values, **settings):
    table = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    y = list(range(len(values)))
    return tg.NaiveBayesClassifier(discretizer=None, **settings).fit(table, y)


def given_tables():
    """The numbers 1, 2, 3 in every container and type."""
    whole = [1, 2, 3]
    for values in (whole, [1.0, 2.0, 3.0], ["1", "2", "3"]):
        yield [[v] for v in values]
        yield np.array(values)[:, None]
        yield np.array(values, dtype=object)[:, None]
        yield pd.DataFrame({"a": values})
        yield pd.DataFrame({"a": pd.Series(values, dtype="category")})
        yield pl.DataFrame({"a": values})
        yield pa.table({"a": values})
        yield pa.table({"a": pa.array(values).dictionary_encode()})
    for dtype in ("Int64", "Float64", "UInt8", "int8", "float32", "string", "int64[pyarrow]", "double[pyarrow]"):
        yield pd.DataFrame({"a": pd.Series(whole).astype(dtype)})
    yield pd.DataFrame({"a": pd.Series([np.int8(1), np.float64(2), np.str_("3")], dtype=object)})
    yield pd.DataFrame({"a": pd.Series([Decimal(1), Fraction(2), 3], dtype=object)})
    yield pl.DataFrame({"a": pl.Series([Decimal("1.0"), Decimal("2.0"), Decimal("3.0")])})
    if hasattr(np.dtypes, "StringDType"):  # since NumPy 2.0
        yield np.array(["1", "2", "3"], dtype=np.dtypes.StringDType())[:, None]


@pytest.mark.parametrize("kind", FITTED)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_numbers_and_their_texts_match(kind):
    clf = fitted(FITTED[kind])
    strict = fitted(FITTED[kind], unseen="error")
    for X in given_tables():
        texts = [v for row in np.asarray(X, dtype=object).tolist() for v in row if isinstance(v, str)]
        if set(texts) - set(FITTED[kind]) and isinstance(FITTED[kind][0], str):
            continue  # text is matched with text unchanged
        assert clf.predict(X).tolist() == [0, 1, 2], X
        assert strict.predict(X).tolist() == [0, 1, 2], X
        assert clf.explain(X).prediction.tolist() == [0, 1, 2]
        if not isinstance(X, (list, np.ndarray)):
            assert np.concatenate(list(clf.predict_stream([X], "predict"))).tolist() == [0, 1, 2]


def test_text_is_never_taken_for_other_text():
    clf = fitted(["1.0", "2.0"], unseen="error")
    for text in ("1", "1.00", " 1.0", "+1.0"):
        with pytest.raises(ValueError, match="contains the unknown category"):
            clf.predict(pd.DataFrame({"a": [text]}))


def test_truth_values():
    flags = fitted([False, True])
    for values in (["False", "True"], ["false", "true"], ["FALSE", "TRUE"], ["0", "1"], [0, 1], [0.0, 1.0]):
        assert flags.predict(pd.DataFrame({"a": values})).tolist() == [0, 1]
    for values in (["False", "True"], ["false", "true"], ["0", "1"], ["0.0", "1.0"]):
        clf = fitted(values, unseen="error")
        for dtype in (bool, "boolean", "bool[pyarrow]", object):
            assert clf.predict(pd.DataFrame({"a": pd.Series([False, True]).astype(dtype)})).tolist() == [0, 1]
    words = fitted(["False", "True"], unseen="error")
    with pytest.raises(ValueError, match="contains the unknown category 1"):
        words.predict(pd.DataFrame({"a": [1]}))
    numbers = fitted([0, 1], unseen="error")
    with pytest.raises(ValueError, match="contains the unknown category 'True'"):
        numbers.predict(pd.DataFrame({"a": ["True"]}))


@pytest.mark.filterwarnings("ignore::tanager.UnseenWarning")
def test_truth_values_beside_numbers_do_not_depend_on_the_rows_before():
    clf = fitted(["True", "False", "1", "x"])
    values = [True, 1, False, 0, 1.0, np.True_, Decimal(1), 0.0]
    alone = [clf.predict_proba(pd.DataFrame({"a": pd.Series([v], dtype=object)}))[0].tolist() for v in values]
    for order in (range(8), reversed(range(8))):
        rows = list(order)
        table = pd.DataFrame({"a": pd.Series([values[i] for i in rows], dtype=object)})
        assert clf.predict_proba(table).tolist() == [alone[i] for i in rows]
    words = fitted(["False", "True"])
    for given, expected in (([True, 1], [1, 255]), ([1, True], [255, 1]), ([0, 0.0, False], [255, 255, 0])):
        codes = words._encoder.columns[0].encode(clf_column(given), "a", match=True).codes
        assert codes.tolist() == expected


def test_exact_matches_go_first_and_several_are_none():
    clf = fitted([1, "1", "01", 2, "x"])
    assert clf.predict(pd.DataFrame({"a": pd.Series([1, "1", "01", "2", 1.0], dtype=object)})).tolist() == [
        0,
        1,
        2,
        3,
        0,
    ]
    unclear = fitted(["1", "01", "2", "true", "TRUE"], unseen="error")
    for value in (1, 1.0, True):
        with pytest.raises(ValueError, match="contains the unknown category"):
            unclear.predict(pd.DataFrame({"a": [value]}))
    assert unclear.predict(pd.DataFrame({"a": [2]})).tolist() == [2]


def test_large_numbers_are_compared_exactly():
    clf = fitted([2**53, 2**53 + 1, 2**64, 2**64 + 1], unseen="error")
    texts = [str(v) for v in (2**53, 2**53 + 1, 2**64, 2**64 + 1)]
    assert clf.predict(pd.DataFrame({"a": texts})).tolist() == [0, 1, 2, 3]
    assert clf._encoder.columns[0].encode(clf_column([str(2**64 + 2)]), "a", match=True).codes.tolist() == [255]
    back = fitted(texts, unseen="error")
    given = pd.Series([2**53, 2**53 + 1, 2**64, 2**64 + 1], dtype=object)
    assert back.predict(pd.DataFrame({"a": given})).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="contains the unknown category"):
        fitted(["9007199254740993"], unseen="error").predict(pd.DataFrame({"a": [float(2**53)]}))


@pytest.mark.parametrize(
    "labels", [[1, 2, 0, -5, 1000], [1.5, 0.1, 2.0, 1e20, 1e300], [True, False], [1, "1", "x"], ["1", "a"]]
)
def test_text_means_what_it_means_to_cpp_programs(labels, tmp_path):
    clf = fitted(labels)
    clf.save(tmp_path / "m.tng")
    core = tg._core.Model.load(str(tmp_path / "m.tng"))
    texts = [
        "1",
        "+1",
        "-1",
        "1.0",
        "1.",
        "01",
        " 1",
        "1 ",
        "\t1",
        "1e0",
        "1E+0",
        "1_0",
        "１",
        "true",
        "True",
        "tRUE",
        " TRUE",
    ]
    texts += [
        "",
        " ",
        "+",
        "+-1",
        "0x1",
        ".5",
        "1.5",
        "0.1",
        "0.10",
        "1e3",
        "1e999",
        "inf",
        "-0",
        "0",
        "false",
        "a",
        "x",
        "nan",
    ]
    texts += ["1e300", "-5", "-5.0", "1000", "1,000", "1" * 50, "2", "2.0"]
    texts += ["100000000000000000000", "100000000000000000001", "-100000000000000000001", "9" * 21]
    found = clf._encoder.columns[0].encode(clf_column(texts), "a", match=True).codes.tolist()
    expected = [core.encode(0, text) for text in texts]
    assert [255 if code == 65535 else code for code in expected] == found


def clf_column(texts):
    from tanager._encoding.readers import array_column

    return array_column(np.array([*texts, None], dtype=object)[:-1], "a")


def test_meaning_takes_no_time_for_long_texts():
    assert meaning("9" * 100_000) == float("inf")
    assert meaning("1" + "0" * 30) == 10**30
    assert OtherTypes({"x": 0}).find((1,)) is None


def test_numbers_to_be_discretized_may_be_text():
    X = pd.DataFrame({"a": [0.5, 1.5, 2.5, 3.5] * 10})
    clf = tg.NaiveBayesClassifier().fit(X, [0, 0, 1, 1] * 10)
    expected = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X.astype(str)), expected)
    np.testing.assert_array_equal(clf.predict_proba(pl.DataFrame({"a": X["a"].astype(str).tolist()})), expected)
    with pytest.raises(ValueError, match="column 'a' must be numeric, but contains 'much'"):
        clf.predict(pd.DataFrame({"a": ["0.5", "much"]}))


def test_evidence_matches():
    network = fitted(["1", "2"]).network_
    assert network.posterior({"a": 1}).values.tolist() == network.posterior({"a": "1"}).values.tolist()
    assert network.posterior({"a": np.int8(1), "class": "0"}, "a")[{"a": "1"}] == 1
    numbers = tg.NaiveBayesClassifier().fit([[0.5], [1.5], [2.5], [3.5]] * 10, [0, 0, 1, 1] * 10).network_
    name = numbers.feature_names[0]
    assert numbers.posterior({name: "3.5"}).values.tolist() == numbers.posterior({name: 3.5}).values.tolist()
    with pytest.raises(ValueError, match="expected one of the values of 'a', '1', '2', got 3"):
        network.posterior({"a": 3})


def test_learning_does_not_match():
    with pytest.raises(ValueError, match="column 'a' contains 1, which is not among the categories declared for it"):
        tg.NaiveBayesClassifier(categories={"a": ["1", "2"]}).fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
    clf = fitted(["1", "2"]).partial_fit(pd.DataFrame({"a": pd.Series([1, 2], dtype=object)}), [0, 1])
    assert clf.categories_[0].tolist() == [1, 2, "1", "2"]
    declared = tg.NaiveBayesClassifier(categories={"a": ["1", "2"]}).fit(pd.DataFrame({"a": ["1", "2"]}), [0, 1])
    with pytest.raises(ValueError, match="contains the unknown category 1"):
        declared.partial_fit(pd.DataFrame({"a": [1]}), [0])
    assert declared.predict(pd.DataFrame({"a": [1, 2]})).tolist() == [0, 1]


# -- columns without any known value


@pytest.mark.parametrize(
    ("known", "given", "said"),
    [
        (["a", "b"], [7, 8], "fitted on strings such as 'a', but got integers such as 7"),
        ([1, 2], ["x", "y"], "fitted on integers such as 1, but got strings such as 'x'"),
        ([1, 2], [1.5, 2.5], "fitted on integers such as 1, but got floats such as 1.5"),
        (["a", "b"], [True, False], "fitted on strings such as 'a', but got booleans such as False"),
        (["a", "b"], ["c", "d"], "fitted on strings such as 'a', but got strings such as 'c'"),
        ([1, 2], [3, 4], "fitted on integers such as 1, but got integers such as 3"),
        (["a", "b"], [7, None], "fitted on strings such as 'a', but got "),
    ],
)
def test_a_column_without_any_known_value_warns_once(known, given, said):
    clf = fitted(known)
    tables = [pd.DataFrame({"a": given}), pl.DataFrame({"a": given}), pa.table({"a": given})]
    message = f"every value of column 'a' is unseen, so it is treated as missing: the model was {said}"
    for X in tables:
        for method in (clf.predict, clf.predict_proba, clf.predict_log_proba, clf.predict_joint_log_proba, clf.explain):
            with pytest.warns(tg.UnseenWarning) as caught:
                method(X)
            assert len(caught) == 1
            assert str(caught[0].message).startswith(message)
            assert caught[0].filename == __file__
        with pytest.warns(tg.UnseenWarning) as caught:
            list(clf.predict_stream([X, X]))
        assert len(caught) == 1
        with pytest.warns(tg.UnseenWarning):
            clf.network_.log_likelihood(X, [0] * len(given))


def test_arrays_warn_too():
    for known, given in (
        (np.array([[1, 1], [2, 2]]), np.array([[1, 7], [2, 8]])),
        ([["a", "x"], ["b", "y"]], [["a", 1], ["b", 2]]),
    ):
        clf = tg.NaiveBayesClassifier(discretizer=None).fit(known, [0, 1])
        with pytest.warns(tg.UnseenWarning, match="every value of column 1 is unseen"):
            clf.predict(given)


def test_many_columns_are_one_warning():
    clf = tg.NaiveBayesClassifier().fit(np.zeros((4, 6), dtype=int), [0, 1, 0, 1])
    with pytest.warns(
        tg.UnseenWarning, match=r"column 0 .*column 1 .*column 2 .*; and so on, 6 columns in all$"
    ) as caught:
        clf.predict(np.ones((4, 6), dtype=int))
    assert len(caught) == 1


def test_what_does_not_warn():
    clf = fitted(["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in (["c"], ["c", "a"], [None, None], ["c", None]):  # a new category, or nothing
            clf.predict(pd.DataFrame({"a": pd.Series(given, dtype=object)}))
        fitted([1, 2]).predict(pd.DataFrame({"a": ["7"]}))
        empty = tg.NaiveBayesClassifier().fit(pd.DataFrame({"a": [None, None], "b": [1, 2]}), [0, 1])
        empty.predict(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))  # nothing was fitted, so nothing is lost
    with pytest.raises(ValueError, match="contains the unknown category"):
        fitted(["a", "b"], unseen="error").predict(pd.DataFrame({"a": ["c", "d"]}))


def test_cross_validation_does_not_warn_of_columns_that_name_rows():
    X = pd.DataFrame({"id": [f"row {i}" for i in range(20)], "a": [0, 1] * 10})
    y = [0, 1] * 10
    for clf in (tg.NaiveBayesClassifier(), tg.BayesNetClassifier("hill-climb", random_state=0)):
        tg.evaluation.cross_validate(clf, X, y, cv=2, random_state=0)
    tg.evaluation.cross_validate(tg.NaiveBayesClassifier(), X.to_numpy().tolist(), y, cv=2, random_state=0)


def test_the_command_line_warns_and_matches(tmp_path, run):
    fitted(["1", "2"]).save(tmp_path / "text.tng")
    fitted([1, 2]).save(tmp_path / "whole.tng")
    pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(tmp_path / "floats.parquet")
    pl.DataFrame({"a": ["1", "2"]}).write_parquet(tmp_path / "text.parquet")
    (tmp_path / "text.csv").write_text("a\n1\n2\n")
    for model, data in (
        ("text", "floats.parquet"),
        ("whole", "text.parquet"),
        ("whole", "text.csv"),
        ("text", "text.csv"),
    ):
        written = run.well("predict", tmp_path / f"{model}.tng", tmp_path / data, "--without-probabilities")
        assert written.split() == ["predicted", "0", "1"]
    (tmp_path / "other.csv").write_text("a\nx\ny\n")
    for model in ("text", "whole"):
        done = run("predict", tmp_path / f"{model}.tng", tmp_path / "other.csv")
        assert done.code == 0
        assert done.err.count("every value of column 'a' is unseen, so it is treated as missing") == 1

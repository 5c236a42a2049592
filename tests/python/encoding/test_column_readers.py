"""Tables of every library and kind, read alike."""

from __future__ import annotations

import pickle
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding_helpers import as_list, learn, learned
from scipy import sparse

import tanager as tg
from tanager._encoding.encoder import read_table

# -- strings and other objects


def test_lists_of_rows_keep_their_types():
    assert learned([["a", 1], ["b", 2], [None, 1]]) == ([["a", "b"], [1, 2]], [[0, 1, None], [0, 1, 0]])
    assert learned([[1, 2], [3, 4]]) == ([[1, 3], [2, 4]], [[0, 1], [0, 1]])
    assert learned((("x",), ("y",)))[0] == [["x", "y"]]


def test_fixed_width_strings_and_bytes():
    X = np.array([["b", "ä"], ["a", "日本"], ["b", ""]])
    assert learned(X) == ([["a", "b"], ["", "ä", "日本"]], [[1, 0, 1], [1, 2, 0]])
    assert learned(X[::-1, ::-1]) == ([["", "ä", "日本"], ["a", "b"]], [[0, 2, 1], [1, 0, 1]])
    assert learned(X.astype(">U9")) == learned(X)
    assert learned(np.array([[b"q"], [b"p"]]))[0] == [[b"p", b"q"]]
    if hasattr(np.dtypes, "StringDType"):
        assert learned(X.astype(np.dtypes.StringDType())) == learned(X)
    encoder, _ = learn(X)
    assert encoder.columns[1].categories.dtype.kind == "U"
    assert as_list(encoder.encode(read_table(np.array([["a", "日本語"], ["z", "ä"]])))[1]) == [None, 1]


def test_every_way_to_say_missing():
    cells = [
        None,
        np.nan,
        float("nan"),
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "s"),
        Decimal("nan"),
        "x",
    ]
    X = np.empty((len(cells), 1), dtype=object)
    X[:, 0] = cells
    assert learned(X) == ([["x"]], [[None] * (len(cells) - 1) + [0]])


def test_objects_that_are_numbers():
    whole = np.array([[1], [2.0], [None], [np.int8(1)]], dtype=object)
    assert learned(whole) == ([[1, 2]], [[0, 1, None, 0]])
    fractions = np.array([[1], [2.5], [None], [np.float32(0.5)]], dtype=object)
    encoder, codes = learn(fractions)
    assert encoder.columns[0].kind == "interval"
    assert as_list(codes[0]) == [0, 1, None, 0]
    assert learned(np.array([[True], [None], [False]], dtype=object)) == ([[False, True]], [[1, None, 0]])
    assert learned(np.array([[10**30], [-1]], dtype=object)) == ([[-1, 10**30]], [[1, 0]])
    assert learned(np.array([[Decimal("0.5")], [Decimal(2)]], dtype=object))[0] == [[Decimal("0.5"), Decimal(2)]]


def test_mixed_types_are_sorted_by_type_then_value():
    X = np.empty((5, 1), dtype=object)
    X[:, 0] = ["b", 2, (1, 2), "a", 1]
    assert learned(X)[0] == [[1, 2, "a", "b", (1, 2)]]
    X = np.empty((2, 1), dtype=object)
    X[:, 0] = [2j.imag, "s"]
    assert learned(X)[0] == [[2.0, "s"]]
    first, second = object(), object()
    X[:, 0] = [first, second]
    assert learned(X)[0] == [[first, second]]


def test_equal_values_share_a_category():
    encoder, _ = learn(np.array([["1"], ["2"]], dtype=object))
    assert as_list(encoder.encode(read_table(np.array([[1], [2]])))[0]) == [None, None]
    assert as_list(encoder.encode(read_table(np.array([[1.0], [2.0]])))[0]) == [None, None]
    assert as_list(encoder.encode(read_table(np.array([[np.str_("2")]], dtype=object)))[0]) == [1]
    integers, _ = learn(np.array([[1], [2], [300]]))
    for same in (
        [[1], [300]],
        [[1.0], [300.0]],
        np.array([[1], [300]], dtype=object),
        np.array([[1], [300]], np.uint16),
    ):
        assert as_list(integers.encode(read_table(same))[0]) == [0, 2]
    assert as_list(integers.encode(read_table([[2.0], [np.nan], [2.5], [1e300]]))[0]) == [1, None, None, None]
    assert as_list(integers.encode(read_table([["1"], ["2"]]))[0]) == [None, None]
    assert as_list(integers.encode(read_table(np.array([[True], [False]])))[0]) == [0, None]
    mixed, _ = learn(np.array([["a"], [1], [None]], dtype=object))
    assert as_list(mixed.encode(read_table(np.array([[1], [2]])))[0]) == [0, None]
    assert as_list(mixed.encode(read_table(np.array([[1.0], [np.nan]])))[0]) == [0, None]


@pytest.mark.parametrize("bad", [{"foo": "bar"}, ["nested"], np.zeros(2), {1}])
def test_unhashable_objects(bad):
    X = np.random.default_rng(0).uniform(size=(4, 2)).astype(object)
    X[2, 1] = bad
    with pytest.raises(TypeError, match=r"column 1: argument must be .* string.* number.*" + type(bad).__name__):
        learn(X)


def test_what_is_not_a_category():
    for cells in ([date(2020, 1, 1)], [datetime(2020, 1, 1)], [pd.Timestamp(0)]):
        with pytest.raises(TypeError, match="column 0 contains"):
            learn(np.array([cells], dtype=object))
    with pytest.raises(ValueError, match="Complex data not supported"):
        learn(np.array([[1j]]))
    with pytest.raises(ValueError, match="Complex data not supported"):
        learn(np.array([[1j]], dtype=object))
    with pytest.raises(TypeError, match="datetime64"):
        learn(np.array([["2020-01-01"]], dtype="M8[D]"))
    with pytest.raises(TypeError, match="expected strings, categories, booleans"):
        learn(np.zeros((2, 2), dtype=[("a", int)]))
    frames = [
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}),
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01"]).tz_localize("UTC")}),
        pd.DataFrame({"when": pd.period_range("2020", periods=1, freq="D")}),
        pl.DataFrame({"when": [date(2020, 1, 1)]}),
        pl.DataFrame({"when": [[1, 2]]}),
        pl.DataFrame({"when": [{"a": 1}]}),
        pa.table({"when": pa.array([datetime(2020, 1, 1)])}),
        pa.table({"when": pa.array([[1]])}),
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}).astype("category"),
    ]
    for frame in frames:
        with pytest.raises(TypeError, match="column 'when' contains"):
            learn(frame)


# -- data frames

TEXTS = ["pear", None, "apple", "pear", "fig", "äöü 日本"]
FRAME = {
    "text": TEXTS,
    "level": ["lo", "hi", "lo", None, "hi", "lo"],
    "number": [3, 1, 2, 3, 1, 2],
    "holes": [5, None, 4, 5, None, 4],
    "real": [0.5, 1.5, None, 2.5, 3.5, 4.5],
    "flag": [True, False, None, True, False, True],
    "empty": [None] * 6,
}
LEVELS = ["none", "lo", "hi"]


def pandas_frame(strings):
    frame = pd.DataFrame(
        {
            "text": pd.Series(TEXTS, dtype=strings),
            "level": pd.Categorical(FRAME["level"], categories=LEVELS),
            "number": FRAME["number"],
            "holes": pd.array(FRAME["holes"], dtype="Int64"),
            "real": np.array(FRAME["real"], dtype=float),
            "flag": pd.array(FRAME["flag"], dtype="boolean"),
            "empty": pd.Series(FRAME["empty"], dtype=object),
        }
    )
    assert frame["text"].isna().sum() == 1
    return frame


def polars_frame():
    return pl.DataFrame(FRAME, schema_overrides={"level": pl.Enum(LEVELS)})


def arrow_table(text=None, chunks=False):
    arrays = {name: pa.array(values) for name, values in FRAME.items()}
    if text is not None:
        arrays["text"] = arrays["text"].cast(text)
    indices = pa.array([None if v is None else LEVELS.index(v) for v in FRAME["level"]], pa.int8())
    arrays["level"] = pa.DictionaryArray.from_arrays(indices, pa.array(LEVELS))
    table = pa.table(arrays)
    return pa.concat_tables([table.slice(0, 2), table.slice(2, 0), table.slice(2)]) if chunks else table


FRAMES = {
    "pandas str": lambda: pandas_frame("str"),
    "pandas object": lambda: pandas_frame(object),
    "pandas string[python]": lambda: pandas_frame(pd.StringDtype("python")),
    "pandas string[pyarrow]": lambda: pandas_frame(pd.StringDtype("pyarrow")),
    "pandas arrow": lambda: (
        pandas_frame("str")
        .convert_dtypes(dtype_backend="pyarrow")
        .astype({"level": pandas_frame("str")["level"].dtype})
    ),
    "polars": polars_frame,
    "polars chunks": lambda: pl.concat([polars_frame()[:2], polars_frame()[2:]], rechunk=False),
    "arrow": arrow_table,
    "arrow large": lambda: arrow_table(pa.large_string()),
    "arrow view": lambda: arrow_table(pa.string_view()),
    "arrow chunks": lambda: arrow_table(chunks=True),
    "record batch": lambda: arrow_table().to_batches()[0],
    "sliced": lambda: pa.concat_tables([arrow_table(), arrow_table()]).combine_chunks().slice(6),
}


@pytest.mark.parametrize("name", FRAMES)
def test_all_frames_give_the_same_codes(name):
    frame = FRAMES[name]()
    table = read_table(frame)
    assert table.names == list(FRAME)
    assert (table.n_rows, table.n_features) == (6, 7)
    labels, codes = learned(frame)
    assert labels == [
        ["apple", "fig", "pear", "äöü 日本"], ["none", "lo", "hi"], [1, 2, 3], [4, 5], ["(-inf, 2.5]", "(2.5, inf)"],
        [False, True], [None],
    ]  # fmt: skip
    assert codes == [
        [2, None, 0, 2, 1, 3], [1, 2, 1, None, 2, 1], [2, 0, 1, 2, 0, 1], [1, None, 0, 1, None, 0], [0, 0, None, 0, 1, 1],
        [1, 0, None, 1, 0, 1], [None] * 6,
    ]  # fmt: skip


@pytest.mark.parametrize("fitted", FRAMES)
@pytest.mark.parametrize("given_later", ["pandas str", "pandas object", "polars", "arrow"])
def test_frames_of_one_library_encode_those_of_another(fitted, given_later):
    encoder, codes = learn(FRAMES[fitted]())
    for a, b in zip(codes, encoder.encode(read_table(FRAMES[given_later]()), "error"), strict=True):
        np.testing.assert_array_equal(a, b)


def test_polars_categoricals_are_strings():
    pl.Series(["noise", "from", "elsewhere"], dtype=pl.Categorical)
    frame = pl.DataFrame({"c": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical)})
    assert learned(frame) == ([["a", "b"]], [[1, None, 0, 1]])
    assert learned(pl.DataFrame({"c": pl.Series([None, None], dtype=pl.Categorical)}))[1] == [[None, None]]


def test_declared_categories_keep_order_and_unused_ones():
    for ordered in (False, True):
        series = pd.Categorical(["b", None, "a"], categories=["z", "b", "a"], ordered=ordered)
        assert learned(pd.DataFrame({"c": series})) == ([["z", "b", "a"]], [[1, None, 2]])
    numbers = pd.DataFrame({"c": pd.Categorical([3, 1, 3], categories=[3, 2, 1])})
    encoder, codes = learn(numbers)
    assert encoder.columns[0].order == "dtype"
    assert as_list(codes[0]) == [0, 2, 0]
    assert as_list(encoder.encode(read_table(np.array([[1], [2], [7]])))[0]) == [2, 1, None]
    other = pd.DataFrame({"c": pd.Categorical([1, 3], categories=[1, 9, 3])})
    assert as_list(encoder.encode(read_table(other), "error")[0]) == [2, 0]
    intervals = pd.DataFrame({"c": pd.cut(pd.Series([1.0, 5.0, np.nan]), [0, 2, 6])})
    assert learned(intervals)[1] == [[0, 1, None]]


def test_further_kinds_of_columns():
    frame = pd.DataFrame(
        {
            "sparse": pd.arrays.SparseArray([0, 0, 7]),
            "nullable": pd.array([0.5, None, 2.5], dtype="Float64"),
            "small": pd.array([1, 2, 1], dtype="Int8"),
        }
    )
    assert learned(frame) == ([[0, 7], ["(-inf, 1.5]", "(1.5, inf)"], [1, 2]], [[0, 0, 1], [0, None, 1], [0, 1, 0]])
    polars = pl.DataFrame(
        {
            "decimal": pl.Series([Decimal("0.5"), None, Decimal("2.5")]),
            "bytes": [b"x", None, b"y"],
            "null": [None, None, None],
            "bits": [True, None, False],
        }
    )
    assert learned(polars)[1] == [[0, None, 1], [0, None, 1], [None] * 3, [1, None, 0]]
    arrow = pa.table(
        {
            "decimal": pa.array([Decimal("0.5"), None, Decimal("2.5")]),
            "bytes": pa.array([b"x", None, b"y"]),
            "half": pa.array(np.array([1, 2, 3], np.float16)),
            "dictionary of numbers": pa.array([7, 5, None]).dictionary_encode(),
        }
    )
    assert learned(arrow)[1] == [[0, None, 1], [0, None, 1], [0, 0, 1], [0, 1, None]]


def test_column_names():
    assert read_table(pd.DataFrame(np.ones((2, 2)))).names is None
    assert read_table(np.ones((2, 2))).names is None
    assert read_table(pd.DataFrame(np.ones((1, 2)), columns=pd.MultiIndex.from_tuples([(1, 2), (1, 3)]))).names is None
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        read_table(pd.DataFrame({"a": [1], 2: [3]}))
    with pytest.raises(ValueError, match="must be unique, but 'a' occurs more than once"):
        read_table(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))
    with pytest.raises(ValueError, match="'a' occurs more than once"):
        read_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))


def test_pickle_keeps_all_and_only_what_is_known():
    encoder, codes = learn(FRAMES["pandas str"]())
    encoder.encode(read_table(FRAMES["arrow"]()))
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.names == encoder.names
    assert copy.cardinalities == encoder.cardinalities
    for a, b in zip(codes, copy.encode(read_table(FRAMES["polars"]())), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="read-only"):
        copy.columns[0].categories[0] = "x"


# -- what is no table


class NotAnArray:
    def __init__(self, data):
        self.data = np.asarray(data)

    def __array__(self, dtype=None, copy=None):
        return self.data

    def __array_function__(self, *args):
        raise TypeError("not for NumPy's functions")


def test_anything_with_an_array_inside(tmp_path):
    assert learned(NotAnArray([[1, 2], [3, 4]]))[1] == [[0, 1], [0, 1]]
    mapped = np.memmap(tmp_path / "x", dtype=np.int8, mode="w+", shape=(3, 2))
    mapped[:] = [[1, 2], [3, 4], [1, 4]]
    assert learned(mapped)[1] == [[0, 1, 0], [0, 1, 1]]
    assert learned(np.ma.array([[1, 2], [3, 4]]))[1] == [[0, 1], [0, 1]]


def test_masked_values_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    assert learned(X) == ([[3], [2, 4]], [[None, 0], [0, 1]])
    assert learned(X.astype(float))[1] == [[None, 0], [0, 1]]
    assert learned(X.astype(str)) == ([["3"], ["2", "4"]], [[None, 0], [0, 1]])


def test_wrong_shapes_and_types():
    for flat in (np.arange(3), [1, 2, 3], pd.Series([1, 2]), pl.Series([1, 2])):
        with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got 1D array instead.*Reshape your data"):
            read_table(flat)
    with pytest.raises(ValueError, match="got scalar array instead"):
        read_table(3)
    with pytest.raises(ValueError, match="Found array with dim 3"):
        read_table(np.zeros((2, 2, 2)))
    for wrong in ("text", {"a": [1]}, None):
        with pytest.raises(ValueError, match=f"got {type(wrong).__name__} instead"):
            read_table(wrong)
    with pytest.raises(ValueError, match="rows of equal length"):
        read_table([[1, 2], [3]])
    for container in (sparse.csr_matrix, sparse.csr_array):
        with pytest.raises(TypeError, match=r"sparse input is not supported.*toarray"):
            read_table(container(np.eye(2)))
    with pytest.raises(TypeError, match="got a lazy LazyFrame"):
        read_table(pl.LazyFrame({"a": [1]}))


def test_empty_tables():
    for empty in (np.empty((0, 3)), pd.DataFrame({c: [] for c in "abc"}), pl.DataFrame({c: [] for c in "abc"})):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"):
            read_table(empty)
    for empty in (np.empty((3, 0)), pd.DataFrame(index=range(3))):
        with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required."):
            read_table(empty)


def test_integers_with_missing_values_are_discretized_in_any_container():
    y, values = ["low", "low", "high"] * 10, [1, None, 5] * 10
    objects = np.array(values, dtype=object)[:, None]
    frame = pl.DataFrame({"x": values})
    columns = {"x": pd.Series(values, dtype="Int64")}
    for X in (objects, [[v] for v in values], pd.DataFrame(objects), frame, frame.to_arrow(), pd.DataFrame(columns)):
        clf = tg.NaiveBayesClassifier(numeric_features="number").fit(X, y)
        assert clf.categories_[0].tolist() == ["(-inf, 3]", "(3, inf)"]
        streamed = tg.NaiveBayesClassifier(numeric_features="number").fit_stream([(X, y)])
        assert streamed.categories_[0].tolist() == ["(-inf, 3]", "(3, inf)"]
    truths = np.array([True, False, None] * 10, dtype=object)[:, None]
    clf = tg.NaiveBayesClassifier(numeric_features="number").fit(truths, y)
    assert clf.categories_[0].tolist() == [False, True]

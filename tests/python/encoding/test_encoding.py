"""Columns to codes and back: numbers, numbers of categories, unseen, declared and growing categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding_helpers import as_list, learn, learned
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import _core
from tanager._encoding.encoder import ColumnEncoder, Encoder, encode_labels, read_table


def decode(encoder, codes):
    return [
        [None if c is None else column.labels()[c] for c in as_list(found)]
        for column, found in zip(encoder.columns, codes, strict=True)
    ]


# -- arrays of numbers

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("layout", ["C", "F", "view", "reversed", "read-only", "swapped", "unaligned"])
def test_integer_arrays_in_any_layout(dtype, layout):
    rng = np.random.default_rng(0)
    plain = rng.integers(0, 5, (500, 21)).astype(dtype)
    plain[:, 3] *= 7
    plain[:, 4] += 100
    if layout == "C":
        X = plain
    elif layout == "F":
        X = np.asfortranarray(plain)
    elif layout == "view":
        wide = np.zeros((1000, 30), dtype)
        X = wide[::2, 5:26]
        X[:] = plain
    elif layout == "reversed":
        X = np.ascontiguousarray(plain[::-1, ::-1])[::-1, ::-1]
    elif layout == "read-only":
        X = plain.copy()
        X.setflags(write=False)
    elif layout == "swapped":
        X = plain.astype(plain.dtype.newbyteorder())
    else:
        X = np.frombuffer(b"x" + plain.tobytes(), dtype, offset=1).reshape(plain.shape)
    labels, codes = learned(X)
    for j in range(X.shape[1]):
        values, expected = np.unique(plain[:, j], return_inverse=True)
        assert labels[j] == values.tolist()
        assert codes[j] == expected.tolist()


def test_categories_keep_the_type_of_the_array():
    encoder, _ = learn(np.array([[1, 2], [3, 4]], dtype=np.int16))
    assert encoder.columns[0].categories.dtype == np.int16
    encoder, _ = learn(np.array([[True, False], [True, True]]))
    assert encoder.columns[0].categories.dtype == bool
    assert encoder.columns[1].labels() == [False, True]


def test_rare_values_that_a_sample_misses():
    X = np.zeros((50_001, 3), dtype=np.int64)
    X[:, 1] = np.arange(len(X)) % 7
    X[33_333, 0] = -5
    X[44_444, 1] = 10**12
    labels, codes = learned(X)
    assert labels == [[-5, 0], [*range(7), 10**12], [0]]
    assert codes[0].count(0) == 1
    assert codes[1][44_444] == 7
    assert set(codes[2]) == {0}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
@pytest.mark.parametrize("n_rare", [1, 2, 15])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rare_values_in_few_columns_and_in_many(dtype, n_rare, order):
    X = np.zeros((20_001, 16), dtype=dtype, order=order)
    X[:, 0] = np.arange(len(X)) % 5
    for j in range(1, 1 + n_rare):
        X[7_003 + j, j] = 100 + j
    labels, codes = learned(X)
    for j in range(16):
        values, expected = np.unique(X[:, j], return_inverse=True)
        assert labels[j] == values.tolist()
        assert codes[j] == expected.tolist()


def test_categories_of_integers_cannot_be_changed():
    X = np.array([[1, 2], [3, 2]], dtype=np.int8)
    encoder, _ = learn(X)
    assert not any(column.categories.flags.writeable for column in encoder.columns)
    X[:] = 9
    assert [column.labels() for column in encoder.columns] == [[1, 3], [2]]
    view = np.array([5, 6, 7])[:2]
    view.flags.writeable = False
    by_hand = ColumnEncoder("category", categories=view)
    view.base[0] = 0  # it was writable, so it was copied
    assert by_hand.labels() == [5, 6]


@pytest.mark.parametrize("threads", [2, 7])
def test_threads_change_nothing(threads):
    rng = np.random.default_rng(1)
    for X in (
        rng.integers(-3, 4, (40_000, 9)).astype(np.int8),
        rng.integers(0, 300, (40_000, 9)),
        rng.normal(size=(40_000, 5)),
    ):
        encoder, codes = learn(X)
        other, more = learn(X, threads=threads)
        assert encoder.cardinalities == other.cardinalities
        for a, b, c in zip(codes, more, encoder.encode(read_table(X), threads=threads), strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)


def test_integers_beyond_int64():
    X = np.array([[2**63 + 5, 1], [3, 2], [2**63 + 5, 1]], dtype=np.uint64)
    assert learned(X) == ([[3, 2**63 + 5], [1, 2]], [[1, 0, 1], [0, 1, 0]])
    encoder, _ = learn(np.array([[-(2**63) + 5], [7]]))
    assert as_list(encoder.encode(read_table(np.array([[2**63 + 5], [7]], dtype=np.uint64)))[0]) == [None, 1]


def test_float_arrays_are_discretized():
    X = np.array([[0.0, 5], [1, np.nan], [2, 6], [3, 7]])
    for array in (
        X,
        X.astype(np.float32),
        np.asfortranarray(X),
        X.astype(">f8"),
        X.astype(np.float16),
        X.astype(np.longdouble),
    ):
        assert learned(array)[1] == [[0, 0, 1, 1], [0, None, 0, 1]]
    encoder, _ = learn(X)
    assert [c.kind for c in encoder.columns] == ["interval", "interval"]
    assert as_list(encoder.encode(read_table(np.array([[-np.inf, np.inf], [9, 6]])))[0]) == [0, 1]
    assert [as_list(c) for c in encoder.encode(read_table(np.array([[1, 6], [2, 7]])))] == [[0, 1], [0, 1]]
    assert [as_list(c) for c in encoder.encode(read_table([[None, 6.5]]))] == [[None], [1]]


def test_many_rows_of_floats_are_discretized_alike():
    X = np.random.default_rng(2).normal(size=(10_000, 4))
    encoder, _ = learn(X)
    for array in (X, np.asfortranarray(X), X.astype(np.float32)):
        for j, codes in enumerate(encoder.encode(read_table(array))):
            np.testing.assert_array_equal(codes, array[:, j] > encoder.columns[j].cuts[0])


def test_infinity_is_rejected_where_numbers_are_discretized():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, -np.inf]})
    with pytest.raises(ValueError, match=r"contains infinity.*'b'"):
        learn(frame)
    assert learned(frame, discretizer=None)[0] == [[1.0, 2.0], [-np.inf, 1.0]]


def test_floats_by_value_without_discretizer():
    X = np.array([[0.5, -0.0], [np.nan, 0.0], [0.25, 3.0]])
    assert learned(X, discretizer=None) == ([[0.25, 0.5], [0.0, 3.0]], [[1, None, 0], [0, 0, 1]])
    encoder, _ = learn(X, discretizer=None)
    assert as_list(encoder.encode(read_table(np.array([[1, 0], [1, 3], [1, 4]])))[1]) == [0, 1, None]
    large = np.array([[2.0**60], [2.0**61]])
    encoder, _ = learn(large, discretizer=None)
    assert as_list(encoder.encode(read_table(np.array([[2**60], [2**60 + 1]])))[0]) == [0, None]


def test_numeric_features():
    frame = pd.DataFrame({"i": [1, 2, 3, 4], "f": [0.1, 0.2, 0.3, 0.4], "b": [True, False, True, False]})
    kinds = {}
    for choice in ("float", "number"), ("number",), (["i"],), ([1],), ([],), (np.array([0, 1]),):
        encoder, _ = learn(frame, numeric_features=choice[0])
        kinds[str(choice[0])] = [c.kind[0] for c in encoder.columns]
    assert kinds == {
        "float": ["c", "i", "c"], "number": ["i", "i", "c"], "['i']": ["i", "c", "c"], "[1]": ["c", "i", "c"],
        "[]": ["c", "c", "c"], "[0 1]": ["i", "i", "c"],
    }  # fmt: skip
    assert [c.kind for c in learn(frame.to_numpy(dtype=int), numeric_features=[1])[0].columns][1] == "interval"
    for wrong, error, text in [
        ("floats", ValueError, "'floats'"),
        (["z"], ValueError, "'z'"),
        ([3], ValueError, "positions from 0 to 2, got 3"),
        ([-1], ValueError, "got -1"),
        ([1.5], TypeError, "1.5"),
        ([True], TypeError, "True"),
    ]:
        with pytest.raises(error, match=text):
            learn(frame, numeric_features=wrong)
    with pytest.raises(ValueError, match="column 's' must be numeric, but contains 'x'"):
        learn(pd.DataFrame({"s": ["x", "y"]}), numeric_features=["s"])


# -- how many values


@pytest.mark.parametrize("n", [254, 255, 300, 40_000, 65_534])
@pytest.mark.parametrize("kind", ["int", "far", "str", "object", "float"])
def test_numbers_of_categories(n, kind):
    values = np.random.default_rng(n).permutation(n)
    X = {
        "int": lambda: values[:, None],
        "far": lambda: values[:, None] * 10**9,
        "str": lambda: pd.DataFrame({"s": [f"{v:06}" for v in values]}),
        "object": lambda: np.array([[f"{v:06}"] for v in values], dtype=object),
        "float": lambda: values[:, None] + 0.5,
    }[kind]()
    encoder, codes = learn(X, discretizer=None)
    assert encoder.cardinalities == [n]
    assert codes[0].dtype == (np.uint8 if n == 254 else np.uint16)
    np.testing.assert_array_equal(codes[0], values)
    np.testing.assert_array_equal(encoder.encode(read_table(X), "error")[0], values)


def test_too_many_categories():
    values = np.arange(65_535)
    for X in (
        values[:, None],
        np.c_[values, values],
        values[:, None] + 0.5,
        pd.DataFrame({"column": values.astype(str)}),
    ):
        with pytest.raises(ValueError, match=r"column (0|'column') has 65,535 distinct values.* at most 65,534"):
            learn(X, discretizer=None)
    with pytest.raises(ValueError, match="y has 65,535 distinct values"):
        encode_labels(values)


def test_columns_without_any_value():
    X = np.array([[None, "a"], [None, "b"]], dtype=object)
    encoder, codes = learn(X)
    assert encoder.cardinalities == [1, 2]
    assert len(encoder.columns[0].categories) == 0
    assert as_list(codes[0]) == [None, None]
    assert as_list(encoder.encode(read_table([["new", "a"]]))[0]) == [None]
    assert as_list(encoder.encode(read_table(np.array([[1, 2]])))[0]) == [None]
    nothing, codes = learn(np.full((3, 1), np.nan))
    assert nothing.cardinalities == [1]
    assert nothing.columns[0].kind == "interval"
    assert as_list(codes[0]) == [None] * 3


# -- unseen, declared and growing categories


def test_unseen_categories():
    encoder, _ = learn(pd.DataFrame({"s": ["a", "b"], "i": [1, 2], "c": pd.Categorical(["x", "y"])}))
    new = pd.DataFrame({"s": ["b", "q"], "i": [9, 1], "c": pd.Categorical(["y", "y"], categories=["unused", "y"])})
    assert [as_list(c) for c in encoder.encode(read_table(new))] == [[1, None], [None, 0], [1, 1]]
    with pytest.raises(ValueError, match="column 's' contains the unknown category 'q'"):
        encoder.encode(read_table(new), "error")
    with pytest.raises(ValueError, match="column 'i' contains the unknown category 9"):
        encoder.encode(read_table(new.assign(s="a")), "error")
    encoder.encode(read_table(new.assign(s="a", i=1)), "error")
    with pytest.raises(ValueError, match=r"column 'i' contains the unknown category 2.5"):
        encoder.encode(read_table(new.assign(s="a", i=[np.nan, 2.5])), "error")
    integers, _ = learn(np.array([[1, 2], [3, 4]]))
    with pytest.raises(ValueError, match="column 1 contains the unknown category 7"):
        integers.encode(read_table(np.array([[1, 2], [1, 7]])), "error")
    with pytest.raises(ValueError, match="expected a table with 2 columns, got 3"):
        integers.encode(read_table(np.ones((1, 3), dtype=int)))
    with pytest.raises(ValueError, match="column 0 must be numeric, but contains 'x'"):
        learn(np.array([[0.5], [1.5]]))[0].encode(read_table([["x"]]))


def test_declared_by_the_user():
    X = np.array([["b", 2], ["a", 1]], dtype=object)
    encoder, codes = learn(X, categories=[["c", "b", "a"], None])
    assert [c.labels() for c in encoder.columns] == [["c", "b", "a"], [1, 2]]
    assert as_list(codes[0]) == [1, 2]
    assert [c.order for c in encoder.columns] == ["declared", "sorted"]
    frame = pd.DataFrame({"x": [1, 2], "y": [0.5, 1.5]})
    encoder, codes = learn(frame, categories={"y": [1.5, 0.5], "x": range(3)})
    assert as_list(codes[1]) == [1, 0]
    assert encoder.cardinalities == [3, 2]
    for categories, text in [
        ({"x": [1]}, "column 'x' contains 2, which is not among the categories declared for it"),
        ({"z": [1]}, "'z'"),
        ([[1, 2]], "2 columns, got 1"),
        ({"x": [1, 2, 2]}, "contain 2 more than once"),
        ({"x": [1, 2, None]}, "contain a missing value"),
        ({"x": range(65_535)}, "65,535 distinct values"),
    ]:
        with pytest.raises(ValueError, match=text):
            learn(frame, categories=categories)


def recoded(codes, recoding):
    return [None if c is None else int(recoding[c]) for c in as_list(codes)]


@pytest.mark.parametrize("make", [
    lambda rows: np.array([[r[1], r[1] + 1] for r in rows], dtype=np.int8),
    lambda rows: np.array([[r[0], str(r[1])] for r in rows]),
    lambda rows: np.array(rows, dtype=object),
    lambda rows: pd.DataFrame(rows, columns=["s", "i"]),
    lambda rows: pl.DataFrame(rows, schema=["s", "i"], orient="row"),
    lambda rows: pa.Table.from_pandas(pd.DataFrame(rows, columns=["s", "i"])),
], ids=["int8", "U", "object", "pandas", "polars", "arrow"])  # fmt: skip
def test_extending_equals_learning_from_all(make):
    first = [("d", 5), ("b", 9), ("d", 5)]
    second = [("a", 7), ("d", 100), ("ccc", 5)]
    encoder, codes = learn(make(first))
    grown, recodings = encoder.extended(read_table(make(second)))
    whole, all_codes = learn(make(first + second))
    assert [c.labels() for c in grown.columns] == [c.labels() for c in whole.columns]
    assert [c.categories.dtype for c in grown.columns] == [c.categories.dtype for c in whole.columns]
    later = grown.encode(read_table(make(second)), "error")
    for old, recoding, new, expected in zip(codes, recodings, later, all_codes, strict=True):
        assert recoding.dtype == np.uint16
        assert recoded(old, recoding) + as_list(new) == as_list(expected)


def test_extending_keeps_what_must_not_grow():
    X = pd.DataFrame(
        {
            "real": [0.5, 1.5],
            "given": ["a", "b"],
            "dtype": pd.Categorical(["y", "x"], categories=["y", "x"]),
            "none": pd.Series([None, None], dtype=object),
        }
    )
    encoder, _ = learn(X, categories={"given": ["b", "a"]})
    new = pd.DataFrame(
        {
            "real": [100.0, -5.0],
            "given": ["q", "a"],
            "none": ["k", "j"],
            "dtype": pd.Categorical(["w", "x"], categories=["w", "x", "v"]),
        }
    )[list(X.columns)]
    grown, recodings = encoder.extended(read_table(new))
    assert [c.labels() for c in grown.columns] == [
        ["(-inf, 1]", "(1, inf)"],
        ["b", "a"],
        ["y", "x", "w", "v"],
        ["j", "k"],
    ]
    assert [r.tolist() for r in recodings] == [[0, 1], [0, 1], [0, 1], [0]]
    assert encoder.cardinalities == [2, 2, 2, 1]
    same, recodings = grown.extended(read_table(new))
    assert all(a is b for a, b in zip(same.columns, grown.columns, strict=True))
    assert [r.tolist() for r in recodings] == [[0, 1], [0, 1], [0, 1, 2, 3], [0, 1]]


def test_extending_from_narrow_to_wide():
    encoder, codes = learn(np.arange(1, 501, 2)[:, None])
    assert codes[0].dtype == np.uint8
    grown, (recoding,) = encoder.extended(read_table(np.arange(500)[:, None]))
    assert grown.cardinalities == [500]
    np.testing.assert_array_equal(recoding, np.arange(1, 501, 2)[:250])


def test_extending_integers_by_floats_and_missing():
    encoder, _ = learn(pd.DataFrame({"i": [3, 1]}))
    grown, (recoding,) = encoder.extended(read_table(pd.DataFrame({"i": [2.0, np.nan, 3.0]})))
    assert grown.columns[0].labels() == [1, 2, 3]
    assert recoding.tolist() == [0, 2]
    grown, _ = encoder.extended(read_table(pd.DataFrame({"i": pd.array([7, None], dtype="Int64")})))
    assert grown.columns[0].labels() == [1, 3, 7]


# -- the encoder itself


def test_column_encoders_made_by_hand():
    categories = np.array(["b", "a"], dtype=object)
    encoder = Encoder(
        [ColumnEncoder("category", categories=categories), ColumnEncoder("interval", cuts=np.array([1.0]))], ["p", "q"]
    )
    categories[0] = "changed"
    assert encoder.cardinalities == [2, 2]
    frame = pd.DataFrame({"p": ["a", "b"], "q": [1.0, 1.5]})
    assert [as_list(c) for c in encoder.encode(read_table(frame))] == [[1, 0], [0, 1]]


CELLS = {
    "text": st.one_of(st.none(), st.text(max_size=5)),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "small": st.integers(-128, 127),
    "flag": st.one_of(st.none(), st.booleans()),
    "any": st.one_of(st.none(), st.text(max_size=2), st.integers(), st.booleans(), st.tuples(st.integers(0, 2))),
}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_decoding_gives_the_table_back(data):
    n_rows = data.draw(st.integers(1, 30))
    kinds = data.draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    columns = [data.draw(st.lists(CELLS[kind], min_size=n_rows, max_size=n_rows)) for kind in kinds]
    X = np.empty((n_rows, len(kinds)), dtype=object)
    for j, column in enumerate(columns):
        X[:, j] = np.fromiter(column, dtype=object, count=n_rows)
    encoder, codes = learn(X, discretizer=None)
    assert decode(encoder, codes) == columns
    assert decode(encoder, encoder.encode(read_table(X), "error")) == columns


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(INTEGERS), st.integers(1, 40), st.integers(1, 20), st.data())
def test_decoding_arrays_of_integers(dtype, n_rows, n_columns, data):
    info = np.iinfo(dtype)
    cells = data.draw(st.lists(st.integers(int(info.min), int(info.max)), min_size=1, max_size=6))
    seed = data.draw(st.integers(0, 2**32 - 1))
    X = np.random.default_rng(seed).choice(np.array(cells, dtype=dtype), (n_rows, n_columns))
    encoder, codes = learn(X)
    assert decode(encoder, codes) == X.T.tolist()
    assert decode(encoder, encoder.encode(read_table(np.asfortranarray(X)), "error")) == X.T.tolist()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)),
        min_size=1,
        max_size=50,
    )
)
def test_strings_of_all_libraries_decode(texts):
    for frame in (
        pl.DataFrame({"s": pl.Series(texts, dtype=pl.String)}),
        pa.table({"s": pa.array(texts, pa.string())}),
        pd.DataFrame({"s": pd.Series(texts, dtype="str")}),
    ):
        encoder, codes = learn(frame)
        assert encoder.columns[0].labels() == (sorted({t for t in texts if t is not None}) or [None])
        assert decode(encoder, codes) == [texts]


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_arrow_strings_of_any_length(kind):
    rng = np.random.default_rng(3)
    # Strings that differ in one place only, or in length only, with zero bytes among them.
    texts = ["", *("a" * n for n in range(1, 40)), *("a" * (n - 1) + "b" for n in range(1, 40))]
    texts += ["\0" * n for n in range(1, 20)] + ["b" + "a" * n for n in range(1, 20)] + ["ä" * n for n in range(1, 10)]
    for repeats in (1, 50):
        rows = [texts[i] for i in rng.permutation(np.repeat(np.arange(len(texts)), repeats))]
        rows = [None if rng.random() < 0.05 else text for text in rows]
        array = pa.array(rows, getattr(pa, kind)())
        chunks = pa.chunked_array([array[:7], array[7:7], array[7:].slice(0)])
        numbers, values = _core.number_arrow_strings(chunks.__arrow_c_stream__(None))
        assert [None if number < 0 else values[number] for number in numbers] == rows
        assert values == list(dict.fromkeys(text for text in rows if text is not None))

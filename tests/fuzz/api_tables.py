"""Random tables for the fuzzer: columns of any kind, labels and weights, in any container.

A `Schema` fixes container, kinds and pools of values for one run, and makes `Batch`es of rows. A batch holds plain Python
values, from which both the native table and the reference are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from reference_encoding import NUMBERS, Coding, Undecided, find_cuts, learn_categories

FRAMES = ("pandas", "polars", "arrow")
ARRAYS = ("numpy", "numpy-objects", "list")
WORDS = ["a", "b", "A", "", " ", "é", "1", "1.0", "nan", "None", "a,b", 'q"', "\U0001f600", "x" * 40, "True", "0", "-1"]
LABELS = {
    "int": [0, 1, 2, 5, -3, 2**40, 7, 11],
    "str": ["no", "yes", "", "1", "maybe so", "ß", "0", "z"],
    "bool": [False, True],
    "float": [0.0, 1.0, 2.0, -1.0, 1e15, 3.0, 4.0, 5.0],
    "long": [2**53, 2**53 + 1, 2**63, 2**63 + 1, 5, -1, "a", "a\0"],
    "mixed": [0, "0", 1, "one", 2, (1, 2), "", 3],
}


@dataclass
class Schema:
    """What all tables of a run have in common."""

    container: str
    kinds: list[str]
    pools: list[list]
    named: bool
    label_kind: str
    labels: list
    missing: float
    weights: str
    variant: int

    @property
    def names(self) -> list[str] | None:
        return [f"f {i}" for i in range(len(self.kinds))] if self.container in FRAMES else None


@dataclass
class Batch:
    """Rows: columns of values (None is missing), labels, and weights or None."""

    columns: list[list]
    y: list
    w: list[float] | None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def take(self, rows) -> Batch:
        w = None if self.w is None else [self.w[i] for i in rows]
        return Batch([[column[i] for i in rows] for column in self.columns], [self.y[i] for i in rows], w)

    def joined(self, other) -> Batch:
        columns = [a + b for a, b in zip(self.columns, other.columns, strict=True)]
        if self.w is None and other.w is None:
            return Batch(columns, self.y + other.y, None)
        return Batch(columns, self.y + other.y, [*self.all_weights(), *other.all_weights()])

    def all_weights(self) -> list[float]:
        return [1.0] * self.n_rows if self.w is None else self.w

    def weighted(self) -> Batch:
        """Without the rows of weight zero, which say nothing but the names of their classes."""
        return self.take([i for i, w in enumerate(self.all_weights()) if w > 0])


def pool_of(rng, kind, n_columns) -> list:
    r = int(rng.choice([1, 2, 2, 3, 3, 4, 6]))
    if n_columns == 1 and kind == "category" and rng.random() < 0.5:
        return [f"v{i}" for i in rng.permutation(300)]  # codes of 16 bits
    if kind == "int":
        base = int(rng.choice([0, -2, 100, 2**33, -(2**50), 250]))
        return [base + int(k) for k in rng.permutation(2 * r)[:r]]
    if kind == "bool":
        return [False, True][: min(r, 2)]
    if kind in ("float", "float32"):
        values = [0.0, -0.0, 0.5, 1.0, 1.5, -3.25, 2.0, 1e6, 3.5, 4.0]
        values += [] if kind == "float32" else [1e300, 1e-310, 0.1]
        return [values[i] for i in rng.permutation(len(values))[: r + 2]]
    words = [WORDS[i] for i in rng.permutation(len(WORDS))[:r]]
    if kind == "object":
        others = [0, 1, True, 2.5, -7, 2**62]
        return [pair[int(rng.integers(2))] for pair in zip(words, others, strict=False)]
    return words


def make_schema(rng) -> Schema:
    container = str(rng.choice([*FRAMES, *FRAMES, *ARRAYS]))
    n = int(rng.integers(1, 5))
    if container == "numpy":
        kinds = [str(rng.choice(["int", "bool", "float", "float32", "str"]))] * n
    else:
        choices = ["int", "bool", "str", "float"]
        choices += ["category", "float32"] if container in FRAMES else []
        choices += ["object"] if container in ("pandas", "numpy-objects", "list") else []
        kinds = [str(k) for k in rng.choice(choices, n)]
    label_kind = str(rng.choice(list(LABELS)))
    pool = LABELS[label_kind]
    n_classes = min(len(pool), int(rng.choice([1, 2, 2, 2, 3, 3, 5, 8])))
    return Schema(
        container,
        kinds,
        [pool_of(rng, kind, n) for kind in kinds],
        bool(rng.integers(2)),
        label_kind,
        [pool[i] for i in rng.permutation(len(pool))[:n_classes]],
        float(rng.choice([0.0, 0.0, 0.2, 0.6])),
        str(rng.choice(["none", "none", "whole", "real", "wild"])),
        int(rng.integers(8)),
    )


def can_miss(schema, kind) -> bool:
    return not (schema.container == "numpy" and kind in ("int", "bool", "str"))


def make_batch(rng, schema: Schema, n_rows, unseen=False) -> Batch:
    """Rows whose columns depend on the class now and then; with unseen values, if wanted."""
    y = [schema.labels[i] for i in rng.integers(len(schema.labels), size=n_rows)]
    columns = []
    for kind, given in zip(schema.kinds, schema.pools, strict=True):
        pool = given
        if unseen and kind in ("int", "str", "object"):
            pool = [*given, 99 if kind == "int" else "never seen"]
        shift = int(rng.integers(2))
        places = rng.integers(len(pool), size=n_rows)
        places = [(p + shift * schema.labels.index(c)) % len(pool) if shift and p % 2 else p for p, c in zip(places, y)]  # noqa: B905
        gone = rng.random(n_rows) < (schema.missing if can_miss(schema, kind) else 0)
        if schema.missing and can_miss(schema, kind) and rng.random() < 0.05:
            gone[:] = True
        columns.append([None if g else pool[p] for g, p in zip(gone, places, strict=True)])
    return Batch(columns, y, make_weights(rng, schema.weights, n_rows))


def make_weights(rng, kind, n_rows) -> list[float] | None:
    if kind == "none":
        return None
    if kind == "whole":
        w = rng.integers(0, 4, n_rows).astype(float)
    elif kind == "real":
        w = rng.random(n_rows) * 3
    else:
        w = rng.choice([0.0, 1.0, 1e-3, 250.0, 1e6], n_rows)
    if not w.any():
        w[0] = 1.0
    return w.tolist()


# -- native tables


def native_labels(schema: Schema, y):
    variant = schema.variant % 4
    if variant == 0 or schema.label_kind in ("long", "mixed"):
        return list(y)
    if variant == 1 and schema.label_kind == "str":
        return pd.Series(y, dtype="category", name="class")
    if variant == 2:
        return pl.Series("class", y) if schema.label_kind != "float" else pd.Series(y)
    return np.array(y)


def native_table(schema: Schema, columns, container=None):
    container = container or schema.container
    if container == "pandas":
        return pd.DataFrame(
            {n: pandas_series(schema, i, c) for i, (n, c) in enumerate(zip(schema.names, columns, strict=True))}
        )
    if container == "polars":
        return pl.DataFrame([polars_series(schema, i, c) for i, c in enumerate(columns)])
    if container == "arrow":
        return pa.table([arrow_array(schema, i, c) for i, c in enumerate(columns)], names=schema.names)
    rows = [list(row) for row in zip(*columns, strict=True)]
    if container == "list":
        return rows if schema.variant % 2 else [tuple(row) for row in rows]
    if container == "numpy-objects":
        table = np.empty((len(rows), len(columns)), dtype=object)
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                table[i, j] = value
        return table
    dtype = {"int": np.int64, "bool": bool, "float": np.float64, "float32": np.float32, "str": str}[schema.kinds[0]]
    if dtype in (np.float64, np.float32):
        rows = [[np.nan if value is None else value for value in row] for row in rows]
    table = np.array(rows, dtype=dtype).reshape(len(rows), len(columns))
    if schema.variant % 3 == 1:
        return np.asfortranarray(table)
    if schema.variant % 3 == 2:  # every second row and column of a larger one
        wide = np.repeat(np.repeat(table, 2, axis=0), 2, axis=1)
        return wide[::2, ::2]
    return table


def pandas_series(schema, i, values):
    kind, variant = schema.kinds[i], schema.variant
    if kind == "category":
        return pd.Series(pd.Categorical(values, categories=schema.pools[i]))
    if kind == "object":
        return pd.Series(np.fromiter(values, dtype=object, count=len(values)), dtype=object)
    gaps = any(v is None for v in values)
    if kind == "int":
        return pd.Series(values, dtype="Int64" if gaps or variant % 2 else "int64")
    if kind == "bool":
        return pd.Series(values, dtype="boolean" if gaps or variant % 2 else "bool")
    if kind == "str":
        dtype = ("object", "string", pd.ArrowDtype(pa.string()), "string[pyarrow]")[variant % 4]
        return pd.Series(values, dtype=dtype)
    if kind == "float32":
        return pd.Series([np.nan if v is None else v for v in values], dtype="float32")
    return pd.Series(values, dtype="Float64" if variant % 2 else "float64")


def polars_series(schema, i, values):
    kind, name = schema.kinds[i], schema.names[i]
    if kind == "category":
        return pl.Series(name, values, dtype=pl.Enum(schema.pools[i]))
    if kind == "str":
        return pl.Series(name, values, dtype=pl.Categorical if schema.variant % 2 else pl.String)
    return pl.Series(
        name, values, dtype={"int": pl.Int64, "bool": pl.Boolean, "float": pl.Float64, "float32": pl.Float32}[kind]
    )


def arrow_array(schema, i, values):
    kind = schema.kinds[i]
    if kind == "category":
        places = [None if v is None else schema.pools[i].index(v) for v in values]
        return pa.DictionaryArray.from_arrays(pa.array(places, pa.int16()), pa.array(schema.pools[i], pa.string()))
    types = {"int": pa.int64(), "bool": pa.bool_(), "float": pa.float64(), "float32": pa.float32(), "str": pa.string()}
    if schema.variant % 2 and len(values) > 1:  # two chunks, the second one a slice
        half = len(values) // 2
        second = pa.array([None, *values[half:]], types[kind]).slice(1)
        return pa.chunked_array([pa.array(values[:half], types[kind]), second])
    return pa.array(values, types[kind])


# -- what the rules make of a column


def is_cut(schema: Schema, columns, i, numeric="float") -> bool:
    """Whether a column is one of floats (or of any numbers), as docs/getting-started.md and the containers have it."""
    if not isinstance(numeric, str):
        return i in numeric
    if schema.container not in ("list", "numpy-objects") and schema.kinds[i] != "object":
        return schema.kinds[i] in ("float", "float32") or (numeric == "number" and schema.kinds[i] == "int")
    cells = [value for column in columns for value in column]
    if schema.container == "list" and all(isinstance(v, NUMBERS) for v in cells):  # NumPy makes one array of it
        types = {type(v) for v in cells}
        return float in types or (numeric == "number" and int in types)
    known = [value for value in columns[i] if value is not None]
    if not known or not all(isinstance(v, NUMBERS) for v in known):
        return False
    whole = not any(v % 1 for v in known)
    return not whole or (numeric == "number" and not any(isinstance(v, bool) for v in known))


def learn_coding(schema: Schema, batch: Batch, i, clf, y) -> Coding:
    values, discretizer = batch.columns[i], clf.discretizer
    is_declared = clf.categories is not None and clf.categories[i] is not None
    if not is_declared and discretizer is not None and is_cut(schema, batch.columns, i, clf.numeric_features):
        if all(v is None for v in values):
            return Coding(cuts=[])
        return Coding(cuts=find_cuts(discretizer, values, y, batch.all_weights()))
    if is_declared:
        return Coding(list(clf.categories[i]), None, declared=True)
    if schema.kinds[i] == "category":
        return Coding(list(schema.pools[i]), None, declared=True)
    return learn_categories(values)


__all__ = ["Batch", "Schema", "Undecided", "learn_coding", "make_batch", "make_schema", "native_labels", "native_table"]

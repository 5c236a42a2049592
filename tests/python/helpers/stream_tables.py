"""Tables for streams: what some batches have and others have not, and how to cut them into batches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from dependent_tables import make_table

RNG = np.random.default_rng(5)


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


def numbers_table(n_rows=400):
    X, y = make_table(n_rows)
    size = np.where(y == "a", 0.0, 3.0) + RNG.normal(size=n_rows)
    size[RNG.random(n_rows) < 0.1] = np.nan
    X = X.assign(size=size.astype(np.float32), age=np.round(RNG.normal(size=n_rows) * 10 + (y == "b") * 20))
    X.loc[:99, "age"] = np.nan  # nothing at first
    return X.assign(nothing=np.nan), y

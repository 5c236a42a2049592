"""Tables whose columns depend on the class and on each other, and what two classifiers learned from them."""

from __future__ import annotations

import numpy as np
import pandas as pd


def make_table(n_rows, sizes=(2, 3, 2, 4, 3), missing=0.0, seed=0):
    """Strings that depend on the class and on the previous feature, with missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    columns, before = {}, y
    for f, size in enumerate(sizes):
        codes = np.where(rng.random(n_rows) < 0.6, before, rng.integers(size, size=n_rows)) % size
        before = (codes + y) % 5
        cells = np.array([f"v{k}" for k in range(size)], dtype=object)[codes]
        cells[rng.random(n_rows) < missing] = None
        columns[f"f{f}"] = cells
    return pd.DataFrame(columns), np.array(["a", "b", "c"])[y]


def learned_alike(a, b, X):
    assert a.counts_ == b.counts_
    assert a.classes_.tolist() == b.classes_.tolist()
    assert [c.tolist() for c in a.categories_] == [c.tolist() for c in b.categories_]
    np.testing.assert_array_equal(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X))

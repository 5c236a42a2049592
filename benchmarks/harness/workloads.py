"""The synthetic datasets: sampled from a known network, the same rows in every process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Workload:
    """Shape of a dataset, and whether its features form a tree or are independent given the class."""

    rows: int
    features: int
    values: int
    classes: int
    tree: bool
    seed: int = 20

    def __str__(self) -> str:
        return f"{self.rows:,} x {self.features} x {self.values} values, {self.classes} classes"

    def with_rows(self, rows: int) -> Workload:
        return replace(self, rows=rows)


NAIVE_BAYES = Workload(rows=1_000_000, features=30, values=4, classes=2, tree=False)
TAN = Workload(rows=100_000, features=50, values=4, classes=3, tree=True)
AODE = Workload(rows=100_000, features=30, values=4, classes=2, tree=True)
# The DataFrame of strings: as many values as a dataset of a few hundred megabytes, with a typical number of categories.
STRINGS = Workload(rows=200_000, features=20, values=8, classes=2, tree=False)

#: Workloads of quick runs; also with fewer features, because the cost of some libraries hardly depends on the rows.
QUICK = {
    NAIVE_BAYES: replace(NAIVE_BAYES, rows=50_000),
    TAN: replace(TAN, rows=10_000, features=20),
    AODE: replace(AODE, rows=10_000),
    STRINGS: replace(STRINGS, rows=10_000),
}


def sample(work: Workload, dtype: Any = np.int8) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sample the dataset of a workload: C-ordered codes and class labels, both of the given integer type.

    Features depend on the class and, in a tree, on an earlier feature, strongly enough that the best tree is the same on
    any sample of some thousand rows. So contenders that learn the same model can be compared answer by answer.
    """
    rng = np.random.default_rng(work.seed)
    n_given = work.classes * (work.values if work.tree else 1)
    # Conditional distributions first: they must not depend on the number of rows.
    parents = [int(rng.integers(0, max(f, 1))) for f in range(work.features)]
    tables = rng.dirichlet(np.full(work.values, 2.0), size=(work.features, n_given))
    limits = tables.cumsum(axis=2)[:, :, :-1].astype(np.float32)

    y = rng.integers(0, work.classes, work.rows, dtype=np.int8)
    columns = np.zeros((work.features, work.rows), dtype=np.int8)
    for f in range(work.features):
        given = y
        if work.tree:
            parent = columns[parents[f]] if f > 0 else np.zeros(work.rows, dtype=np.int8)
            given = y * np.int8(work.values) + parent
        u = rng.random(work.rows, dtype=np.float32)
        for v in range(work.values - 1):
            columns[f] += u > limits[f, :, v][given]
    return np.ascontiguousarray(columns.T).astype(dtype, copy=False), y.astype(dtype, copy=False)


def words(n_values: int) -> NDArray[Any]:
    """Return category names of different lengths, as in real data, sorted in the order of the codes."""
    stems = ("amber", "birch", "cobalt", "dandelion", "elm", "fig", "granite hill", "hazel", "iris", "juniper")
    return np.array([f"{stems[v % len(stems)]}-{v // len(stems)}" for v in range(n_values)], dtype=object)

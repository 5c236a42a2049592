"""How long pictures of networks take, drawn and saved: ``python -m benchmarks.pictures``.

The best of three, since other programs only add to it. The first picture of a process also loads matplotlib and its fonts.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

import tanager as tg

SIZES = (40, 100)


def make_table(n_features: int, n_rows: int = 2000) -> tuple[pd.DataFrame, np.ndarray]:
    """A table in which every feature depends on the class and on one of those before it."""
    draw = np.random.RandomState(0)
    y = draw.randint(0, 2, n_rows)
    columns: list[np.ndarray] = []
    for i in range(n_features):
        fresh = (y + draw.randint(0, 3, n_rows)) % 3
        before = columns[draw.randint(i)] if i else fresh
        columns.append(np.where(draw.random_sample(n_rows) < 0.6, before, fresh))
    return pd.DataFrame({f"feature {i}": column for i, column in enumerate(columns)}).astype(str), y


def seconds(draw: Callable[[], Any]) -> float:
    import matplotlib.pyplot as plt

    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        draw().figure.savefig(io.BytesIO(), format="png")
        best = min(best, time.perf_counter() - start)
        plt.close("all")
    return best


def main() -> None:
    mpl.use("Agg")
    seconds(tg.TANClassifier().fit(*make_table(3)).network_.plot)
    print("| picture | " + " | ".join(f"{n} features" for n in SIZES) + " |\n|---|" + "---|" * len(SIZES))
    tables = [make_table(n) for n in SIZES]
    for name, clf in {
        "naive Bayes": tg.NaiveBayesClassifier(),
        "TAN": tg.TANClassifier(),
        "KDB, k = 2": tg.KDBClassifier(2),
        "TBMATAN": tg.TBMATANClassifier(),
    }.items():
        for bars in (False, True):
            times = []
            for X, y in tables:
                fitted = clf.fit(X, y)
                times.append(seconds(lambda fitted=fitted, bars=bars: tg.plotting.plot_network(fitted, tables=bars)))
            print(f"| {name}{', with tables' if bars else ''} | " + " | ".join(f"{t:.2f} s" for t in times) + " |")


if __name__ == "__main__":
    main()

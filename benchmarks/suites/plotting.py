"""Times to plot and save networks."""

from __future__ import annotations

import importlib.util
import io
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, Row
from benchmarks.harness.timing import best_of

SIZES = (40, 100)


def make_table(n_features: int, n_rows: int = 2000) -> tuple[Any, np.ndarray]:
    """Return a dataset in which every feature depends on the class and on an earlier feature."""
    import pandas as pd

    draw = np.random.RandomState(0)
    y = draw.randint(0, 2, n_rows)
    columns: list[np.ndarray] = []
    for i in range(n_features):
        fresh = (y + draw.randint(0, 3, n_rows)) % 3
        before = columns[draw.randint(i)] if i else fresh
        columns.append(np.where(draw.random_sample(n_rows) < 0.6, before, fresh))
    return pd.DataFrame({f"feature {i}": column for i, column in enumerate(columns)}).astype(str), y


def networks(report: Report, options: Options) -> None:
    """Networks of several kinds and sizes, without and with their tables."""
    if missing := [name for name in ("matplotlib", "pandas") if importlib.util.find_spec(name) is None]:
        report.begin("plotting", f"skipped: {' and '.join(missing)} cannot be imported")
        return
    import matplotlib as mpl

    import tanager as tg

    mpl.use("Agg")
    sizes = SIZES[:1] if options.quick else SIZES
    report.begin("plotting", "networks plotted and saved as PNG")
    tables = {n: make_table(n) for n in sizes}
    _save(tg.TANClassifier().fit(*make_table(3)), bars=False)  # loads matplotlib's fonts
    kinds: dict[str, Any] = {
        "naive Bayes": tg.NaiveBayesClassifier(),
        "TAN": tg.TANClassifier(),
        "KDB, k = 2": tg.KDBClassifier(2),
        "TBMATAN": tg.TBMATANClassifier(),
    }
    for n, (X, y) in tables.items():
        rows = []
        for name, clf in kinds.items():
            clf.fit(X, y)
            for bars in (False, True):
                # The minimum, because other programs only add to it.
                timing = best_of(partial(_save, clf, bars), 3, warm_up=False)
                rows.append(Row(f"{name}{', with tables' if bars else ''}", timing))
        report.table(f"{n} features", rows)


def _save(clf: Any, bars: bool) -> None:
    import matplotlib.pyplot as plt

    import tanager as tg

    tg.plotting.plot_network(clf, tables=bars).figure.savefig(io.BytesIO(), format="png")
    plt.close("all")


BENCHMARKS = {"networks": networks}

"""Plots by their hash: 16 by 16 shades of gray.

Coarse enough for other versions of matplotlib and FreeType to give nearly the same, and fine enough to distinguish plots.
``python tests/python/helpers/picture_hashes.py`` writes the current hashes to tests/data/picture_hashes.json: look at the plots first.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from paths import DATA

import tanager as tg

HASHES = DATA / "picture_hashes.json"
_CELLS = 16


def shades(ax) -> np.ndarray:
    """Draw a figure and return how much ink is in every cell of a grid, from 0 to 15, relative to the fullest."""
    figure = ax.figure
    figure.set_dpi(80)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float).mean(axis=2)
    ink = 255 - pixels
    rows = np.array_split(np.arange(ink.shape[0]), _CELLS)
    columns = np.array_split(np.arange(ink.shape[1]), _CELLS)
    cells = np.array([[ink[r[0] : r[-1] + 1, c[0] : c[-1] + 1].mean() for c in columns] for r in rows])
    return np.round(15 * cells / cells.max()).astype(int)


def as_text(cells: np.ndarray) -> list[str]:
    return ["".join(f"{cell:x}" for cell in row) for row in cells]


def from_text(lines: list[str]) -> np.ndarray:
    return np.array([[int(cell, 16) for cell in line] for line in lines])


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The mean difference of two plots in shades; a shift by one cell counts little, since text moves by pixels."""
    return float((_smooth(a) - _smooth(b)).__abs__().mean())


def _smooth(cells: np.ndarray) -> np.ndarray:
    wide = np.pad(cells.astype(float), 1, mode="edge")
    return (4 * wide[1:-1, 1:-1] + wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]) / 8


def table(n_features, n_rows=400, n_values=3, n_classes=2, seed=0):
    """A table in which every feature depends on the class and on one of those before it."""
    draw = np.random.RandomState(seed)
    y = draw.randint(0, n_classes, n_rows)
    columns = []
    for i in range(n_features):
        fresh = (y + draw.randint(0, n_values, n_rows) * draw.randint(0, 2, n_rows)) % n_values
        before = columns[draw.randint(max(0, i - 6), i)] if i else fresh
        columns.append(np.where(draw.random_sample(n_rows) < 0.55, before, fresh))
    labels = np.array([f"v{i}" for i in range(n_values)])
    frame = pd.DataFrame({f"feature {i + 1}": labels[column] for i, column in enumerate(columns)})
    return frame, np.array([f"c{i}" for i in range(n_classes)])[y]


def general_network():
    X, y = table(9)
    arcs = [
        *(("feature 1", "class"), ("feature 2", "class"), ("class", "feature 3"), ("class", "feature 4")),
        *(("feature 3", "feature 5"), ("feature 4", "feature 5"), ("feature 6", "feature 1")),
    ]
    return tg.BayesNetClassifier(tg.structure.FixedStructure(arcs, class_arcs="listed")).fit(X, y)


def half(clf):
    """A classifier that learned from one half of a table, and the other half."""
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    return clf.fit(data.X[::2], data.y[::2]), data.X[1::2], data.y[1::2]


def many_classes():
    X, y = table(6, 1200, 4, n_classes=9)
    return tg.NaiveBayesClassifier().fit(X[:800], y[:800]), X[800:], y[800:]


def searched():
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    return tg.BayesNetClassifier(tg.structure.HillClimb(cv=4), random_state=0).fit(data.X, data.y)


PLOT = tg.plotting
PICTURES = {
    "tree": lambda: PLOT.plot_network(tg.TANClassifier().fit(*table(9))),
    "tree with tables": lambda: PLOT.plot_network(tg.TANClassifier().fit(*table(9)), tables=True),
    "forty features": lambda: PLOT.plot_network(tg.TANClassifier().fit(*table(40))),
    "two parents": lambda: PLOT.plot_network(tg.KDBClassifier(2).fit(*table(16))),
    "naive": lambda: PLOT.plot_network(tg.NaiveBayesClassifier().fit(*table(12)), tables=True),
    "arcs of the class": lambda: PLOT.plot_network(tg.NaiveBayesClassifier().fit(*table(12)), class_arcs=True),
    "general": lambda: general_network().network_.plot(tables=True),
    "many values": lambda: PLOT.plot_network(tg.TANClassifier().fit(*table(4, n_values=12, n_classes=9)), tables=True),
    "average": lambda: PLOT.plot_network(tg.TBMATANClassifier().fit(*table(7, 100, seed=3))),
    "edges": lambda: PLOT.plot_edges(tg.TBMATANClassifier().fit(*table(9)).posterior_),
    "map tree": lambda: PLOT.plot_map_tree(tg.TBMATANClassifier().fit(*table(9)).posterior_),
    "explanation": lambda: tg.TANClassifier().fit(*table(9)).explain(table(9)[0][:1]).plot(),
    "search": lambda: PLOT.plot_search(searched()),
    "iterations": lambda: PLOT.plot_search(
        tg.BayesNetClassifier("naive", tg.parameters.ELR(max_iter=6), random_state=0).fit(*table(5)).parameter_trace_
    ),
    "reliability": lambda: PLOT.plot_reliability(*half(tg.TANClassifier())),
    "reliability of many": lambda: PLOT.plot_reliability(*many_classes()),
    "roc": lambda: PLOT.plot_roc(
        {"TAN": half(tg.TANClassifier())[0], "naive": half(tg.NaiveBayesClassifier())[0]}, *half(tg.TANClassifier())[1:]
    ),
    "roc of many": lambda: PLOT.plot_roc(*many_classes()),
    "scores": lambda: PLOT.plot_scores(
        tg.evaluation.cross_validate(
            {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}, *table(9), random_state=0
        )
    ),
    "learning curve": lambda: PLOT.plot_learning_curve(
        {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}, *table(9), n_splits=4, random_state=0
    ),
}


def main() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    found = {name: as_text(shades(draw())) for name, draw in PICTURES.items()}
    HASHES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

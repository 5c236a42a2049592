"""One style for all figures: page width, small but readable type, colors for all kinds of color vision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 7.2  # inches
#: Okabe and Ito's colors.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00"),
    *("#CC79A7", "#56B4E9", "#000000"),
)
COLORS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, BLACK)
MARKERS = "o^svDPX"
#: Indices of color and marker for parameter learners that several figures show.
LOOKS = {"OFE": 0, "EM": 0, "ELR": 1, "APN": 5}
SETTINGS = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7,
    "figure.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "svg.hashsalt": "tanager",
}

Floats = NDArray[np.float64]


def panels(n: int, columns: int = 2, height: float = 2.6, **rest: Any) -> tuple[Any, list[Any]]:
    """Return a figure of page width and its panels; unused panels are hidden."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({**mpl.rcParamsDefault, "backend": "agg", **SETTINGS})
    n_lines = -(-n // columns)
    figure, grid = plt.subplots(
        n_lines, columns, figsize=(WIDTH, 0.3 + height * n_lines), layout="constrained", squeeze=False, **rest
    )
    for axes in grid.flat[n:]:
        axes.set_visible(False)
    return figure, list(grid.flat[:n])


def curves(
    axes: Any,
    points: Sequence[Any],
    lines: Mapping[str, Floats],
    *,
    spread: bool = True,
    looks: Mapping[str, int] | None = None,
) -> None:
    """Plot the mean of every method at every point, with standard errors; rows of `lines` are points, columns splits.

    `looks` gives the indices of colors and markers, to keep those of a method the same in every panel.
    """
    places = np.arange(len(points), dtype=float)
    for k, (name, values) in enumerate(lines.items()):
        n = values.shape[1]
        errors = values.std(axis=1, ddof=1) / np.sqrt(n) if spread and n > 1 else None
        shift = 0.06 * (k - (len(lines) - 1) / 2) if errors is not None else 0.0  # error bars must not hide each other
        look = k if looks is None else looks[name]
        color, marker = COLORS[look % len(COLORS)], MARKERS[look % len(MARKERS)]
        axes.errorbar(places + shift, values.mean(axis=1), errors, color=color, marker=marker, capsize=2, label=name)
    axes.set_xticks(places, [f"{point:g}" if isinstance(point, float) else str(point) for point in points])


def scatter(
    axes: Any, x: Floats, y: Floats, x_errors: Floats | None, y_errors: Floats | None, names: tuple[str, str]
) -> None:
    """Plot datasets as points, with the diagonal; below it the method of the y axis is better."""
    low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    margin = 0.05 * max(high - low, 1.0)
    limits = (low - margin, min(high + margin, 100 + margin))
    axes.plot(limits, limits, color=BLACK, lw=0.8, ls="--", zorder=1)
    axes.errorbar(
        x, y, y_errors, x_errors, fmt="o", color=BLUE, ecolor=SKY, ms=3.5, elinewidth=0.7, capsize=0, zorder=2
    )
    axes.set_xlim(limits)
    axes.set_ylim(limits)
    axes.set_aspect("equal")
    axes.set_xlabel(f"error of {names[0]} in percent")
    axes.set_ylabel(f"error of {names[1]} in percent")

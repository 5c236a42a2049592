"""Plots of a posterior over trees: the matrix of edge probabilities, and the most probable tree."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..averaging._posterior import TreePosterior
from ..classifiers._base import BaseClassifier
from ._style import (
    FONT_SIZE,
    INCH,
    LINE,
    POINTS_PER_INCH,
    check_matplotlib,
    distinct,
    draw_key,
    fitting_size,
    gray,
    is_dark,
    new_axes,
    shade,
    text_width,
    thickness,
    write,
)

#: Gap between the columns of a tree, in font sizes.
_GAP = 4.0


def _posterior_of(source: Any) -> TreePosterior:
    posterior = source._describe().posterior if isinstance(source, BaseClassifier) else source
    if isinstance(posterior, TreePosterior):
        return posterior
    raise TypeError(f"posterior: expected a TBMATANClassifier or a TreePosterior, got {type(source).__name__}")


def plot_edges(posterior: Any, ax: Any = None) -> Any:
    """Plot the posterior probabilities of all edges between features as a heat map.

    Parameters
    ----------
    posterior : TreePosterior or TBMATANClassifier
        A fitted `TBMATANClassifier`, or its ``posterior_``.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure of suitable size.

    Returns
    -------
    matplotlib Axes
    """
    check_matplotlib()
    posterior = _posterior_of(posterior)
    names, values = distinct(posterior.feature_names), posterior.edge_probabilities.values
    n = len(names)
    if ax is None:
        side = max(2.0, n * LINE * INCH) + max(map(text_width, names)) * INCH
        ax = new_axes(side + 1.2, side)
    # The diagonal has no edges and stays empty.
    shown = np.ma.masked_array(values, mask=np.eye(n, dtype=bool))
    dark = is_dark(ax)
    ax.set_facecolor(gray(ax, 0.92))
    image = ax.imshow(shown, cmap="Blues_r" if dark else "Blues", vmin=0, vmax=1, interpolation="nearest")
    height = ax.get_window_extent().height / ax.figure.dpi * POINTS_PER_INCH
    size = min(FONT_SIZE, height / n / 1.1)
    ax.set_xticks(range(n), names, rotation=90, fontsize=size)
    ax.set_yticks(range(n), names, fontsize=size)
    for tick in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        tick.set_parse_math(False)
    ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    ax.grid(which="minor", color=gray(ax, 0.9, outside=True), linewidth=0.5)
    ax.tick_params(which="both", length=0)
    for spine in ax.spines.values():
        spine.set_color(gray(ax, 0.8, outside=True))
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03, label="probability of the edge")
    bar.outline.set_edgecolor(gray(ax, 0.8, outside=True))
    return ax


def plot_map_tree(posterior: Any, ax: Any = None) -> Any:
    """Plot the most probable tree between the features; the width of an edge shows its posterior probability.

    The root is on the left. Edges have no direction: any feature could be the root, and a central one is chosen.

    Parameters
    ----------
    posterior : TreePosterior or TBMATANClassifier
        A fitted `TBMATANClassifier`, or its ``posterior_``.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure of suitable size. In small axes the font shrinks, so names never
        overlap.

    Returns
    -------
    matplotlib Axes
    """
    check_matplotlib()
    posterior = _posterior_of(posterior)
    place = {name: i for i, name in enumerate(posterior.feature_names)}
    names = distinct(posterior.feature_names)
    parents = _rooted([(place[u], place[v]) for u, v in posterior.map_edges], len(names))
    rows, columns = _layout(parents)
    lefts, width = _column_places(names, columns)
    height = (max(rows) + 3) * LINE
    size = FONT_SIZE if ax is None else fitting_size(ax, width + 0.5, height)
    if ax is None:
        ax = new_axes(width * INCH + 0.2, height * INCH + 0.4)
    # One unit is at least one font size, in both directions.
    ax.set_xlim(-0.5, width)
    ax.set_ylim(height - LINE, -LINE)
    ax.set_axis_off()
    probabilities = posterior.edge_probabilities.values
    for child, parent in enumerate(parents):
        x, y = lefts[columns[child]], rows[child] * LINE
        write(ax, x, y, names[child], fontsize=size, zorder=2)
        if parent is not None:
            start = lefts[columns[parent]] + text_width(names[parent]) + 0.4
            _draw_edge(ax, (start, rows[parent] * LINE), (x - 0.4, y), probabilities[parent, child], size / FONT_SIZE)
    draw_key(ax, (max(rows) + 1.25) * LINE, size, [(p, f"{p:g}") for p in (1.0, 0.5, 0.1)])
    title = f"most probable tree, probability {posterior.display_probability()}"
    ax.set_title(title, fontsize=size + 1, loc="left")
    return ax


def _draw_edge(ax: Any, start: tuple[float, float], end: tuple[float, float], probability: float, scale: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    middle = max((start[0] + end[0]) / 2, end[0] - _GAP / 2)
    path = Path(
        [start, (middle, start[1]), (middle, end[1]), end], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    )
    width = thickness(probability) * scale
    ax.add_patch(
        PathPatch(path, fill=False, edgecolor=shade(ax, probability), linewidth=width, capstyle="butt", zorder=1)
    )


def _rooted(edges: list[tuple[int, int]], n: int) -> list[int | None]:
    """Return the parent of every node; the root is in the middle of the tree, so it has few columns."""
    neighbors: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        neighbors[u].append(v)
        neighbors[v].append(u)
    far = _walk(neighbors, 0)[0][-1]
    order, parents = _walk(neighbors, far)
    path = [order[-1]]
    while (parent := parents[path[-1]]) is not None:
        path.append(parent)
    return _walk(neighbors, path[len(path) // 2])[1]


def _walk(neighbors: list[list[int]], start: int) -> tuple[list[int], list[int | None]]:
    """Return all nodes ordered by distance, and the parent of each (breadth-first search)."""
    parents: list[int | None] = [None] * len(neighbors)
    order, waiting = [], deque([start])
    while waiting:
        node = waiting.popleft()
        order.append(node)
        for other in neighbors[node]:
            if other != parents[node]:
                parents[other] = node
                waiting.append(other)
    return order, parents


def _layout(parents: list[int | None]) -> tuple[list[float], list[int]]:
    """Return row and column of every node: leaves have a row each, other nodes are centered on their children."""
    children: list[list[int]] = [[] for _ in parents]
    for child, parent in enumerate(parents):
        if parent is not None:
            children[parent].append(child)
    order, waiting = [], [parents.index(None)]
    columns = [0] * len(parents)
    while waiting:
        node = waiting.pop()
        order.append(node)
        for child in reversed(children[node]):
            columns[child] = columns[node] + 1
            waiting.append(child)
    rows, n_leaves = [0.0] * len(parents), 0
    for node in order:
        if not children[node]:
            rows[node] = float(n_leaves)
            n_leaves += 1
    for node in reversed(order):
        if children[node]:
            rows[node] = (rows[children[node][0]] + rows[children[node][-1]]) / 2
    return rows, columns


def _column_places(names: list[str], columns: list[int]) -> tuple[list[float], float]:
    """Return the left edge of every column, and the total width, in font sizes."""
    places, x = [], 0.0
    for column in range(max(columns) + 1):
        places.append(x)
        x += max(text_width(name) for name, c in zip(names, columns, strict=True) if c == column) + _GAP
    return places, max(x - _GAP + 0.5, 16.0)

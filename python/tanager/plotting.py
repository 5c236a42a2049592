"""Pictures of what was learned, with matplotlib (``pip install tanager[plot]``)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from ._explanation_text import signed, sorted_contributions
from ._shown import shown

if TYPE_CHECKING:
    from ._tree_posterior import TreePosterior
    from .explain import Explanation

__all__ = ["plot_edges", "plot_explanation", "plot_map_tree"]

#: Height of a line, relative to the font size.
_LINE = 1.75
#: Between the columns of a tree, relative to the font size.
_GAP = 4.0
_FONT_SIZE = 9.0
_POINTS_PER_INCH = 72
#: Thickness of edges of probability zero and one, in points.
_THIN, _THICK = 0.4, 6.0
#: What speaks for a class, what against it, and sums.
_FOR, _AGAINST, _SUM = "#215a9e", "#c4623b", "0.45"


def plot_edges(posterior: TreePosterior, ax: Any = None) -> Any:
    """Draw the posterior probabilities of all edges between features as a matrix of shades.

    Parameters
    ----------
    posterior : TreePosterior
        ``posterior_`` of a fitted `TBMATANClassifier`.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default a new figure that is large enough for all names.

    Returns
    -------
    matplotlib Axes
    """
    _check_matplotlib()
    names, values = posterior.feature_names, posterior.edge_probabilities.values
    n = len(names)
    if ax is None:
        longest = max(map(_width, names)) * _FONT_SIZE / _POINTS_PER_INCH
        side = max(2.0, n * _LINE * _FONT_SIZE / _POINTS_PER_INCH) + longest
        ax = _new_axes(side + 1.2, side)
    # The diagonal is no edge, and stays empty.
    shown = np.ma.masked_array(values, mask=np.eye(n, dtype=bool))
    ax.set_facecolor("0.92")
    image = ax.imshow(shown, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    height = ax.get_window_extent().height / ax.figure.dpi * _POINTS_PER_INCH
    size = min(_FONT_SIZE, height / n / 1.1)
    ax.set_xticks(range(n), names, rotation=90, fontsize=size)
    ax.set_yticks(range(n), names, fontsize=size)
    ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="0.9", linewidth=0.5)
    ax.tick_params(which="both", length=0)
    for spine in ax.spines.values():
        spine.set_color("0.8")
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03, label="probability of the edge")
    bar.outline.set_edgecolor("0.8")
    return ax


def plot_map_tree(posterior: TreePosterior, ax: Any = None) -> Any:
    """Draw the most probable tree between the features, with edges as thick as they are probable.

    The tree grows from a feature in its middle to the right. Trees have no direction: any feature could be the root.

    Parameters
    ----------
    posterior : TreePosterior
        ``posterior_`` of a fitted `TBMATANClassifier`.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default a new figure that is large enough. In small axes the names are small, but never overlap.

    Returns
    -------
    matplotlib Axes
    """
    _check_matplotlib()
    names = posterior.feature_names
    parents = _rooted([(names.index(u), names.index(v)) for u, v in posterior.map_edges], len(names))
    rows, columns = _layout(parents)
    lefts, width = _column_places(names, columns)
    height = (max(rows) + 3) * _LINE
    if ax is None:
        inch = _FONT_SIZE / _POINTS_PER_INCH
        ax = _new_axes(width * inch + 0.2, height * inch + 0.4)
    # One unit is one font size, in both directions, or more where there is room.
    ax.set_xlim(-0.5, width)
    ax.set_ylim(height - _LINE, -_LINE)
    ax.set_axis_off()
    extent = ax.get_window_extent()
    to_points = _POINTS_PER_INCH / ax.figure.dpi
    size = min(_FONT_SIZE, extent.width * to_points / (width + 0.5), extent.height * to_points / height)
    probabilities = posterior.edge_probabilities.values
    for child, parent in enumerate(parents):
        x, y = lefts[columns[child]], rows[child] * _LINE
        ax.text(x, y, names[child], fontsize=size, va="center", ha="left", zorder=2)
        if parent is not None:
            start = lefts[columns[parent]] + _width(names[parent]) + 0.4
            _draw_edge(ax, (start, rows[parent] * _LINE), (x - 0.4, y), probabilities[parent, child], size / _FONT_SIZE)
    _draw_key(ax, (max(rows) + 1.25) * _LINE, size)
    title = f"most probable tree, of probability {posterior._shown_probability()}"
    ax.set_title(title, fontsize=size + 1, loc="left")
    return ax


def plot_explanation(explanation: Explanation, of: Any = None, max_features: int = 20, ax: Any = None) -> Any:
    """Draw the prediction of one row as a waterfall: from what a class has before any feature, feature by feature, to its log-odds.

    Bars to the right speak for the class, bars to the left against it; the largest come first. The sum does not depend on
    that, though contributions are those of features in the explanation's own order. Missing features have no bar.

    Parameters
    ----------
    explanation : Explanation
        Of one row: ``clf.explain(X)[0]``.
    of : class label or None, default=None
        The class; by default that which is predicted.
    max_features : int, default=20
        More features than so many are drawn as one bar, those that contribute least.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default a new figure that is large enough.

    Returns
    -------
    matplotlib Axes
    """
    _check_matplotlib()
    if len(explanation) != 1:
        raise ValueError(f"a waterfall shows one row, such as explanation[0], but there are {len(explanation)}")
    if max_features < 1:
        raise ValueError(f"max_features must be at least 1, but is {max_features!r}")
    code = int(explanation.class_codes(of)[0])
    labels, sizes, gone = _waterfall_bars(explanation, code, max_features)
    starts, drawn = _waterfall_places(sizes)
    if ax is None:
        inch = _FONT_SIZE / _POINTS_PER_INCH
        ax = _new_axes(max(map(_width, labels)) * inch + 4.5, len(labels) * _LINE * inch + 1.0)
    for y, (start, size, is_gone) in enumerate(zip(starts, sizes, gone, strict=True)):
        is_sum = y in {0, len(sizes) - 1}
        color = _SUM if is_sum else _FOR if size > 0 else _AGAINST
        ax.barh(y, drawn[y], left=start, height=0.62, color=color, zorder=2)
        if y < len(sizes) - 1:  # the sum so far, down to the next bar
            ax.plot([start + drawn[y]] * 2, [y - 0.31, y + 1.31], color="0.7", linewidth=0.6, zorder=1)
        if not is_gone:
            _draw_amount(ax, y, start, drawn[y], signed(size))
    ends = [0.0, *starts, *np.add(starts, drawn).tolist()]
    room = 0.16 * (max(ends) - min(ends) or 1.0)  # for the numbers
    ax.set_xlim(min(ends) - room, max(ends) + room)
    _finish_waterfall(ax, explanation, code, labels, gone)
    return ax


def _waterfall_bars(explanation: Explanation, code: int, most: int) -> tuple[list[str], list[float], list[bool]]:
    """Return what every bar is called, how long it is, and whether it stands for a missing feature; sums at both ends."""
    found = sorted_contributions(explanation, 0, code)
    known, missing = [item for item in found if not item[3]], [item for item in found if item[3]]
    rest = known[most:]
    labels = [f"{_short(name)} = {_short(value)}" for name, value, _, _ in known[:most]]
    sizes = [size for _, _, size, _ in known[:most]]
    if rest:
        labels.append(f"{len(rest)} other feature{'s' if len(rest) > 1 else ''}")
        sizes.append(float(np.sum([size for _, _, size, _ in rest])))
    if len(missing) > 5:
        missing_labels = [f"{len(missing)} features missing"]
    else:
        missing_labels = [f"{_short(name)} missing" for name, *_ in missing]
    gone = [False] * (len(labels) + 1) + [True] * len(missing_labels) + [False]
    labels = ["before any feature", *labels, *missing_labels, "sum"]
    sizes = [float(explanation.base[0, code]), *sizes, *[0.0] * len(missing_labels)]
    return labels, [*sizes, float(explanation.log_odds[0, code])], gone


def _waterfall_places(sizes: list[float]) -> tuple[list[float], list[float]]:
    """Return where every bar begins, and how far it goes: infinite ones beyond all others."""
    finite = [abs(size) for size in sizes if np.isfinite(size)]
    beyond = 1.5 * max(sum(finite[:-1]), 1.0)
    drawn = [float(size) if np.isfinite(size) else float(np.nan_to_num(np.sign(size)) * beyond) for size in sizes[:-1]]
    starts = [0.0, *np.cumsum(drawn).tolist()]
    return [*starts[:-1], 0.0], [*drawn, 0.0 if np.isnan(sizes[-1]) else starts[-1]]


def _draw_amount(ax: Any, y: float, start: float, size: float, text: str) -> None:
    """Write a number at the end of its bar."""
    right = size >= 0
    offset = (3, 0) if right else (-3, 0)
    ax.annotate(
        text, (start + size, y), xytext=offset, textcoords="offset points", fontsize=_FONT_SIZE * 0.85, va="center",
        ha="left" if right else "right", color="0.25",
    )  # fmt: skip


def _finish_waterfall(ax: Any, explanation: Explanation, code: int, labels: list[str], gone: list[bool]) -> None:
    ax.axvline(0, color="0.5", linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(labels)), labels, fontsize=_FONT_SIZE)
    for tick, is_gone in zip(ax.get_yticklabels(), gone, strict=True):
        tick.set_color("0.6" if is_gone else "0.1")
        tick.set_parse_math(False)  # labels may have dollar signs
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=_FONT_SIZE * 0.9, colors="0.35")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color("0.8")
    own, rival = _short(shown(explanation.classes[code])), _short(shown(explanation.rivals[0, code]))
    ax.set_xlabel(f"log-odds of {own} against {rival}", fontsize=_FONT_SIZE, color="0.35", parse_math=False)
    probability = explanation.probabilities[0, code]
    name = _short(shown(explanation.class_name))
    title = f"row {explanation.rows[0]}: {name} = {own} with probability {probability:.3g}"
    ax.set_title(title, fontsize=_FONT_SIZE + 1, loc="left", parse_math=False)


def _short(text: str, most: int = 32) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _draw_edge(ax: Any, start: tuple[float, float], end: tuple[float, float], probability: float, scale: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    middle = max((start[0] + end[0]) / 2, end[0] - _GAP / 2)
    path = Path(
        [start, (middle, start[1]), (middle, end[1]), end], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    )
    thickness = (_THIN + (_THICK - _THIN) * probability) * scale
    ax.add_patch(
        PathPatch(path, fill=False, edgecolor=_shade(probability), linewidth=thickness, capstyle="butt", zorder=1)
    )


def _shade(probability: float) -> tuple[float, float, float]:
    """From light gray to dark blue, so that edges nobody believes in can be seen, too."""
    light, dark = np.array([0.75, 0.78, 0.82]), np.array([0.13, 0.35, 0.62])
    red, green, blue = light + (dark - light) * float(probability)
    return red, green, blue


def _draw_key(ax: Any, y: float, size: float) -> None:
    x = 0.0
    for probability in (1.0, 0.5, 0.1):
        thickness = (_THIN + (_THICK - _THIN) * probability) * size / _FONT_SIZE
        ax.plot([x, x + 2], [y, y], color=_shade(probability), linewidth=thickness, solid_capstyle="butt")
        ax.text(x + 2.6, y, f"{probability:g}", fontsize=size * 0.9, va="center", ha="left", color="0.35")
        x += 5.5


def _rooted(edges: list[tuple[int, int]], n: int) -> list[int | None]:
    """Return the parent of every node, from a root in the middle of the tree, so that it has few columns."""
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
    """Return all nodes by their distance, and the parent of each."""
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
    """Return row and column of every node: leaves have a row each, others the middle of their children's."""
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
    """Return where the names of every column begin, and the width of all, in font sizes."""
    places, x = [], 0.0
    for column in range(max(columns) + 1):
        places.append(x)
        x += max(_width(name) for name, c in zip(names, columns, strict=True) if c == column) + _GAP
    return places, max(x - _GAP + 0.5, 16.0)


def _width(name: str) -> float:
    """Return the width of a text in font sizes."""
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), name, size=10).get_extents().x1) / 10 if name.strip() else 1.0


def _check_matplotlib() -> None:
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ImportError("drawing needs matplotlib, which is not installed: pip install tanager[plot]") from error


def _new_axes(width: float, height: float) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]

"""Boxes of variables in network plots, with or without their distributions as small bars."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.typing import Floats
from ..network import Network
from ..network._strengths import Joint, given_class
from ._style import COLORS, FOR, OTHERS, background, distinct, gray, hue, text_width, write

#: In font sizes: heights of a name, of a row of bars and of the space below them; width of a column of bars; gaps.
_HEAD, _ROW, _FOOT, _COLUMN, _GAP, _MARGIN = 2.0, 1.2, 0.5, 2.6, 0.35, 0.7
#: Maximum width of a column, which grows with the name.
_WIDEST = 6.0
#: Font size of rows relative to names.
_SMALL = 0.8
_MAX_LABEL = 18


class Box(NamedTuple):
    """Content of a box: a name and, if there are bars, a row per value and a column per class.

    `bars` holds lengths from 0 to 1, and `colors` the color of each bar; it is empty for several classes combined.
    """

    name: str
    is_class: bool
    labels: list[str]
    bars: Floats
    colors: list[list[str]]

    @property
    def label_width(self) -> float:
        """Width of the labels, in font sizes."""
        return max(map(text_width, self.labels), default=0.0) * _SMALL

    @property
    def width(self) -> float:
        """Width in font sizes."""
        head = text_width(self.name) + 2 * _MARGIN
        if not self.labels:
            return head
        columns = int(self.bars.shape[1]) * (_COLUMN + _GAP)
        return max(head, self.label_width + columns + 2 * _MARGIN)

    @property
    def height(self) -> float:
        """Height in font sizes."""
        return _HEAD + (len(self.labels) * _ROW + _FOOT if self.labels else 0.0)


class Groups(NamedTuple):
    """The columns of bars: one per class; the last one may combine several classes.

    `weights` has a row per column with the probabilities of the classes given that the class is one of the column.
    """

    labels: list[str]
    probabilities: Floats
    weights: Floats
    colors: list[str]


def groups_of_classes(network: Network, prior: Floats, most: int) -> Groups:
    """Return the columns of bars: all classes, or the most probable ones and the others combined."""
    members, rest = _most_probable(prior, min(most, len(COLORS)))
    rows = [*([m] for m in members), *([rest] if rest else [])]
    weights = np.zeros((len(rows), len(prior)))
    for row, group in zip(weights, rows, strict=True):
        share = prior[group].sum()
        row[group] = prior[group] / share if share > 0 else 1 / len(group)
    labels = distinct([network.classes.tolist()[m] for m in members], _MAX_LABEL)
    colors = [*COLORS[: len(members)], *([""] if rest else [])]
    probabilities = np.array([prior[group].sum() for group in rows])
    return Groups([*labels, *([f"{len(rest)} others"] if rest else [])], probabilities, weights, colors)


def _most_probable(probabilities: npt.NDArray[Any], most: int) -> tuple[list[int], list[int]]:
    """Return the positions of all, or of the `most` - 1 most probable in increasing order, and those of the others."""
    if len(probabilities) <= most:
        return list(range(len(probabilities))), []
    best = sorted(np.argsort(-probabilities, kind="stable")[: most - 1].tolist())
    return best, [i for i in range(len(probabilities)) if i not in best]


def class_box(title: str, groups: Groups | None) -> Box:
    """Return the box of the class; its bars have the colors of the classes."""
    if groups is None:
        return Box(title, True, [], np.zeros((0, 0)), [])
    return Box(title, True, groups.labels, groups.probabilities[:, None], [[color] for color in groups.colors])


def feature_box(network: Network, name: str, title: str, groups: Groups | None, joint: Joint, max_values: int) -> Box:
    """Return the box of a feature; without bars if they would take too long to compute."""
    found = None if groups is None else given_class(network, name, joint)
    if groups is None or found is None:
        return Box(title, False, [], np.zeros((0, 0)), [])
    shares = groups.weights @ found  # a row per column of bars
    kept, rest = _most_probable(groups.probabilities @ shares, max_values)
    cpt = network.cpt(name)
    values = cpt.labels[cpt.names.index(name)]
    labels = [*distinct([values[i] for i in kept], _MAX_LABEL), *([f"{len(rest)} others"] if rest else [])]
    bars = [*(shares[:, i] for i in kept), *([shares[:, rest].sum(axis=1)] if rest else [])]
    return Box(title, False, labels, np.array(bars), [groups.colors] * len(labels))


def draw_box(ax: Any, box: Box, x: float, y: float, size: float) -> None:
    """Plot a box around its center."""
    from matplotlib.patches import FancyBboxPatch

    left, top = x - box.width / 2, y - box.height / 2
    own, filled = hue(ax, FOR), box.is_class and not box.labels
    face, edge = own if filled else background(ax), own if box.is_class else gray(ax, 0.65)
    ax.add_artist(  # faster than add_patch, which updates the limits
        FancyBboxPatch(
            (left, top), box.width, box.height, boxstyle="round,pad=0,rounding_size=0.45", facecolor=face,
            edgecolor=edge, linewidth=1.4 if box.is_class else 0.7, zorder=2, gid="class" if box.is_class else "feature",
        )
    )  # fmt: skip
    ink = background(ax) if filled else own if box.is_class else gray(ax, 0.1)
    write(ax, x, top + _HEAD / 2, box.name, fontsize=size, ha="center", color=ink, zorder=4)
    if box.labels:
        _draw_bars(ax, box, left, top + _HEAD, size)


def _draw_bars(ax: Any, box: Box, left: float, top: float, size: float) -> None:
    """Plot the bars of a box in columns of equal width; the gray background is probability one."""
    from matplotlib.collections import PolyCollection

    room = box.width - 2 * _MARGIN - box.label_width
    column = min(room / box.bars.shape[1] - _GAP, _WIDEST)
    first = left + box.width - _MARGIN + _GAP - box.bars.shape[1] * (column + _GAP)
    tracks, bars, colors = [], [], []
    for i, label in enumerate(box.labels):
        y = top + (i + 0.5) * _ROW
        write(ax, left + _MARGIN, y, label, fontsize=size * _SMALL, color=gray(ax, 0.3), zorder=4)
        for j, share in enumerate(box.bars[i]):
            start = first + j * (column + _GAP)
            tracks.append(_rectangle(start, y, column))
            bars.append(_rectangle(start, y, column * float(share)))
            color = box.colors[i][j]
            colors.append(hue(ax, color) if color else gray(ax, OTHERS))
    ax.add_collection(PolyCollection(tracks, facecolors=[gray(ax, 0.93)], edgecolors="none", zorder=3), autolim=False)
    ax.add_collection(PolyCollection(bars, facecolors=colors, edgecolors="none", zorder=3.5), autolim=False)


def _rectangle(left: float, middle: float, width: float) -> list[tuple[float, float]]:
    half = 0.36 * _ROW
    return [
        (left, middle - half),
        (left + width, middle - half),
        (left + width, middle + half),
        (left, middle + half),
    ]

"""Network plots: parents above their children, arc widths by strength, distributions as small bars."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._layout import Layout, Point, layered_layout
from .._utils.validation import check_int
from ..averaging._posterior import TreePosterior
from ..classifiers._base import BaseClassifier
from ..network import Network
from ..network._strengths import arc_strength, quick_joint
from ..network._summary import one_line
from ._boxes import Box, class_box, draw_box, feature_box, groups_of_classes
from ._style import (
    FONT_SIZE,
    INCH,
    check_matplotlib,
    distinct,
    draw_key,
    fitting_size,
    gray,
    new_axes,
    shade,
    shape_of,
    text_width,
    thickness,
    titled,
    write,
)

#: Gaps between the class and the features below it, and above and below the key; in font sizes.
_CLASS_GAP, _KEY_GAP = 2.0, 1.6
_ARROW = 0.7
_MAX_NAME = 28
#: Aspect ratio (width / height) of a new figure.
_PAGE = 1.5
#: Smaller strengths are rounding errors.
_NOTHING = 1e-9
_IMPLIED = "→ every feature"


def plot_network(
    network: Any,
    ax: Any = None,
    *,
    tables: bool = False,
    class_arcs: bool | None = None,
    max_values: int = 6,
    max_classes: int = 4,
) -> Any:
    """Plot a network, with parents above their children.

    The width of an arc shows its strength: the mutual information of parent and child given the child's other parents, in
    nats, exact under the network's distribution. If the class is a parent of all features, this is the conditional mutual
    information given the class (and other parents). Arcs whose strength would take too long to compute are dashed. For a
    `TBMATANClassifier`, the most probable tree is plotted, and the width of an edge shows its posterior probability.

    Parameters
    ----------
    network : Network, fitted classifier or TreePosterior
        The network to plot.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure of suitable size. In small axes the font shrinks, so boxes never
        overlap.
    tables : bool, default=False
        Whether to show P(value | class) of every feature as bars: a row per value, a column per class; a full bar is
        probability one. The box of the class shows P(class) and the colors of the columns.
    class_arcs : bool or None, default=None
        Whether to plot arcs from and to the class. None plots them only if the class has parents or is not a parent of
        every feature.
    max_values, max_classes : int, default=6 and 4
        Maximum number of values and classes to show; the least probable ones are combined into one.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1", as_frame=True)
    >>> clf = tg.TANClassifier().fit(data.X, data.y)
    >>> ax = tg.plotting.plot_network(clf, tables=True)
    >>> print(ax.get_title(loc="left"))
    tree-augmented naive Bayes (TAN)
    6 features, 2 classes, 5 arcs between features, 59 parameters
    """
    check_matplotlib()
    for name, value in (("max_values", max_values), ("max_classes", max_classes)):
        check_int(value, name, minimum=2)
    drawn, found = _resolve(network)
    with_class = _shows_class_arcs(drawn, class_arcs)
    arcs = _arcs(drawn, with_class, found)
    boxes = _boxes(drawn, bool(tables), int(max_values), int(max_classes))
    page = _laid_out(drawn, boxes, with_class, _PAGE if ax is None else shape_of(ax))
    title = one_line(drawn) if found is None else f"most probable tree, probability {found.display_probability()}"
    scale = (FONT_SIZE + 1) / FONT_SIZE
    if text_width(title) * scale > page.width:
        title = title.replace(", ", "\n", 1)
    width = max(page.width, arcs.key_width, text_width(title) * scale)
    height = page.height + (2 * _KEY_GAP if arcs.marks else 0.0)
    size = FONT_SIZE
    if ax is None:
        ax = new_axes((width + 1) * INCH + 0.15, (height + 1) * INCH + 0.45 + 0.15 * title.count("\n"))
    else:  # the aspect ratio is kept, so part of the axes may stay empty
        width, height = max(width, (height + 1) * shape_of(ax) - 1), max(height, (width + 1) / shape_of(ax) - 1)
        size = fitting_size(ax, width + 1, height + 1)
    ax.set_xlim(-0.5, width + 0.5)
    ax.set_ylim(height + 0.5, -0.5)
    ax.set_axis_off()
    left = (width - page.width) / 2
    names = [*drawn.features, drawn.class_name]
    shares = {(u, v): arcs.shares[names[u], names[v]] for u, v in page.routes}
    for arc in sorted(shares, key=lambda arc: np.nan_to_num(shares[arc], nan=-1.0)):  # strong arcs on top
        _draw_arc(ax, [(x + left, y) for x, y in page.routes[arc]], shares[arc], size / FONT_SIZE)
    for name, (x, y) in zip(names, page.centers, strict=True):
        draw_box(ax, boxes[name], x + left, y, size)
    if not with_class and drawn.features:
        x, y = page.centers[-1]
        write(ax, x + left + boxes[names[-1]].width / 2 + 0.6, y, _IMPLIED, fontsize=size * 0.9, color=gray(ax, 0.45))
    draw_key(ax, page.height + _KEY_GAP, size, arcs.marks, arcs.what)
    titled(ax, title, size=size + 1)
    return ax


def _resolve(network: Any) -> tuple[Network, TreePosterior | None]:
    """Return the network to plot, and the posterior over trees that it comes from, if any."""
    if isinstance(network, Network):
        return network, None
    if isinstance(network, TreePosterior):
        return network.map_tree, network
    kind = type(network).__name__
    if not isinstance(network, BaseClassifier):
        raise TypeError(f"network: expected a Network, a fitted classifier or a TreePosterior, got {kind}")
    description = network._describe()
    if description.shown_network is None:
        raise TypeError(f"network: {kind} averages over many networks and has no single one to plot")
    return description.shown_network, description.posterior


def _shows_class_arcs(network: Network, class_arcs: bool | None) -> bool:
    if class_arcs is not None:
        return bool(class_arcs)
    name = network.class_name
    return bool(network.parents(name)) or any(name not in network.parents(f) for f in network.features)


class _Arcs(NamedTuple):
    """Strengths of the plotted arcs relative to the strongest, entries of the key, and what a strength is."""

    shares: dict[tuple[str, str], float]
    marks: list[tuple[float, str]]
    what: str

    @property
    def key_width(self) -> float:
        return sum(4.5 + text_width(text) for _, text in self.marks) + text_width(self.what)


def _arcs(network: Network, with_class: bool, posterior: TreePosterior | None) -> _Arcs:
    arcs = network.arcs if with_class else network.feature_arcs
    if posterior is not None:
        edges, between = posterior.edge_probabilities, set(network.feature_arcs)
        found = {arc: edges[arc] if arc in between else 1.0 for arc in arcs}  # arcs of the class are certain
        return _Arcs(found, [(p, f"{p:g}") for p in (1.0, 0.5, 0.1)] if arcs else [], "probability of the edge")
    joint = quick_joint(network)
    found = {(parent, child): arc_strength(network, parent, child, joint) for parent, child in arcs}
    most = max((s for s in found.values() if not math.isnan(s)), default=0.0)
    if most < _NOTHING:
        return _Arcs({arc: s * 0.0 for arc, s in found.items()}, [], "")
    marks = [(share, f"{share * most:.2g}") for share in (1.0, 0.5, 0.1)]
    return _Arcs({arc: s / most for arc, s in found.items()}, marks, "nats of conditional mutual information")


def _boxes(network: Network, tables: bool, max_values: int, max_classes: int) -> dict[str, Box]:
    """Return the boxes of all variables, the class first."""
    joint = quick_joint(network)
    prior = joint([network.class_name]) if tables else None
    groups = None if prior is None else groups_of_classes(network, prior, max_classes)
    titles = distinct([network.class_name, *network.features], _MAX_NAME)
    boxes = {network.class_name: class_box(titles[0], groups)}
    for name, title in zip(network.features, titles[1:], strict=True):
        boxes[name] = feature_box(network, name, title, groups, joint, max_values)
    return boxes


def _laid_out(network: Network, boxes: dict[str, Box], with_class: bool, aspect: float) -> Layout:
    """Lay out features and class; a class without plotted arcs is placed above all features."""
    names = [*network.features, network.class_name] if with_class else network.features
    place = {name: i for i, name in enumerate(names)}
    parents = [[place[p] for p in network.parents(name) if p in place] for name in names]
    widths, heights = [boxes[name].width for name in names], [boxes[name].height for name in names]
    layout = layered_layout(names, parents, widths, heights, aspect=aspect)
    if with_class:
        return layout
    box = boxes[network.class_name]
    width = max(layout.width, box.width + (2 * text_width(_IMPLIED) + 2 if network.features else 0))
    down, right = box.height + _CLASS_GAP if names else box.height, (width - layout.width) / 2
    centers = [(x + right, y + down) for x, y in layout.centers]
    routes = {arc: [(x + right, y + down) for x, y in points] for arc, points in layout.routes.items()}
    return Layout([*centers, (width / 2, box.height / 2)], width, layout.height + down, routes)


def _draw_arc(ax: Any, points: list[Point], share: float, scale: float) -> None:
    """Plot an arc with its head; it passes through the points and ends vertically."""
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    unknown = math.isnan(share)
    color, width = (shade(ax, 0.4), 1.0) if unknown else (shade(ax, share), thickness(share))
    (x, end), head = points[-1], _ARROW + 0.06 * width
    points = [*points[:-1], (x, end - 0.8 * head)]
    vertices, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        vertices += [(x0, middle), (x1, middle), (x1, y1)]
        codes += [Path.CURVE4] * 3
    style = {"edgecolor": color, "linewidth": width * scale, "linestyle": (0, (3, 2)) if unknown else "solid"}
    ax.add_artist(PathPatch(Path(vertices, codes), fill=False, capstyle="butt", zorder=1, **style))
    half = 0.3 * _ARROW + 0.06 * width
    triangle = [(x - half, end - head), (x + half, end - head), (x, end)]
    ax.add_artist(Polygon(triangle, closed=True, facecolor=color, edgecolor="none", zorder=1))

"""The picture of a network: parents above their children, arcs as thick as they are strong, tables as small bars."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._layout import Layout, Point, layered_layout
from .._utils.validation import is_integer
from ..averaging._posterior import TreePosterior
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

#: Between the class and the features below it, and above and below the key; in font sizes.
_CLASS_GAP, _KEY_GAP = 2.0, 1.6
_ARROW = 0.7
_LONGEST_NAME = 28
#: Width over height of a new picture.
_PAGE = 1.5
#: Strengths below are rounding errors.
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
    """Draw a network: parents above their children, in layers that are wrapped to the shape of a page.

    An arc is as thick as it is strong. The strength is the mutual information of parent and child given the child's other
    parents, in nats, exact under the network's own distribution: where the class is a parent of all features, the
    conditional mutual information given the class (and other parents). An arc whose strength would take long is dashed.
    Of a `TBMATANClassifier` the most probable tree is drawn, and an edge is as thick as it is probable over all trees.

    Parameters
    ----------
    network : Network, fitted classifier or TreePosterior
        What to draw.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default a new figure that is large enough. In small axes everything is small, but never overlaps.
    tables : bool, default=False
        Whether every feature shows P(value | class), all other variables summed out, as bars: a row per value, a column per
        class, a full column being probability one. The class shows the colors of the columns, and P(class).
    class_arcs : bool or None, default=None
        Whether arcs from and to the class are drawn. None draws them only where they tell something: where the class has
        parents, or is not a parent of every feature.
    max_values, max_classes : int, default=6 and 4
        Of more values or classes, the most probable are shown and the others together.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1", as_frame=True)
    >>> clf = tg.TANClassifier().fit(data.X, data.y)
    >>> ax = tg.plotting.plot_network(clf, tables=True)
    >>> ax.get_title(loc="left")
    'TAN, 6 features, 2 classes, 5 arcs between features, 59 parameters'
    """
    check_matplotlib()
    for name, value in (("max_values", max_values), ("max_classes", max_classes)):
        if not is_integer(value) or value < 2:
            raise ValueError(f"{name} must be a whole number of at least 2, but is {value!r}")
    drawn, found = _resolve(network)
    with_class = _shows_class_arcs(drawn, class_arcs)
    arcs = _arcs(drawn, with_class, found)
    boxes = _boxes(drawn, bool(tables), int(max_values), int(max_classes))
    page = _laid_out(drawn, boxes, with_class, _PAGE if ax is None else shape_of(ax))
    title = one_line(drawn) if found is None else f"most probable tree, of probability {found._shown_probability()}"
    width = max(page.width, arcs.key_width, text_width(title) * (FONT_SIZE + 1) / FONT_SIZE)
    height = page.height + (2 * _KEY_GAP if arcs.marks else 0.0)
    size = FONT_SIZE
    if ax is None:
        ax = new_axes((width + 1) * INCH + 0.15, (height + 1) * INCH + 0.45)
    else:  # where the axes have another shape, some of their width or height stays empty
        width, height = max(width, (height + 1) * shape_of(ax) - 1), max(height, (width + 1) / shape_of(ax) - 1)
        size = fitting_size(ax, width + 1, height + 1)
    ax.set_xlim(-0.5, width + 0.5)
    ax.set_ylim(height + 0.5, -0.5)
    ax.set_axis_off()
    left = (width - page.width) / 2
    names = [*drawn.features, drawn.class_name]
    shares = {(u, v): arcs.shares[names[u], names[v]] for u, v in page.routes}
    for arc in sorted(shares, key=lambda arc: np.nan_to_num(shares[arc], nan=-1.0)):  # strong ones above weak ones
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
    """Return the network to draw, and the average over trees that it comes from, if any."""
    posterior = getattr(network, "posterior_", network)
    if isinstance(posterior, TreePosterior):
        return posterior.map_tree, posterior
    found = getattr(network, "network_", network)
    if isinstance(found, Network):
        return found, None
    kind = type(network).__name__
    if hasattr(network, "fit") and hasattr(network, "predict"):
        check_is_fitted(network)
        raise TypeError(f"{kind} has no single network that could be drawn")
    raise TypeError(f"a network or a fitted classifier can be drawn, but a {kind} came")


def _shows_class_arcs(network: Network, class_arcs: bool | None) -> bool:
    if class_arcs is not None:
        return bool(class_arcs)
    name = network.class_name
    return bool(network.parents(name)) or any(name not in network.parents(f) for f in network.features)


class _Arcs(NamedTuple):
    """The strengths of the arcs that are drawn, as shares of the strongest; which of them the key shows; what they are."""

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
        found = {arc: edges[arc] if arc in between else 1.0 for arc in arcs}  # the class is always a parent
        return _Arcs(found, [(p, f"{p:g}") for p in (1.0, 0.5, 0.1)] if arcs else [], "probability of the edge")
    joint = quick_joint(network)
    found = {(parent, child): arc_strength(network, parent, child, joint) for parent, child in arcs}
    most = max((s for s in found.values() if not math.isnan(s)), default=0.0)
    if most < _NOTHING:
        return _Arcs({arc: s * 0.0 for arc, s in found.items()}, [], "")
    marks = [(share, f"{share * most:.2g}") for share in (1.0, 0.5, 0.1)]
    return _Arcs({arc: s / most for arc, s in found.items()}, marks, "nats of conditional mutual information")


def _boxes(network: Network, tables: bool, max_values: int, max_classes: int) -> dict[str, Box]:
    """Return the box of every variable, the class first."""
    joint = quick_joint(network)
    prior = joint([network.class_name]) if tables else None
    groups = None if prior is None else groups_of_classes(network, prior, max_classes)
    titles = distinct([network.class_name, *network.features], _LONGEST_NAME)
    boxes = {network.class_name: class_box(titles[0], groups)}
    for name, title in zip(network.features, titles[1:], strict=True):
        boxes[name] = feature_box(network, name, title, groups, joint, max_values)
    return boxes


def _laid_out(network: Network, boxes: dict[str, Box], with_class: bool, aspect: float) -> Layout:
    """Lay out features and class; a class whose arcs are not drawn stands above all features."""
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
    """Draw an arc through its points, with vertical ends, and its head."""
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

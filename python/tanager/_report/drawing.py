"""The network plot of the page: positions of nodes and paths of arcs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._layout import Layout, layered_layout
from .._utils.graphs import maximum_spanning_tree
from .._utils.text import display_label
from ..classifiers._base import BaseClassifier
from ..network import Network
from ..network._strengths import Joint, arc_strength, quick_joint
from .inference import Absent

#: Maximum number of nodes of a readable plot.
MAX_NODES = 250
#: Pixels per font size, the unit of layouts; maximum number of characters of a name.
_EM, _MAX_CHARACTERS = 15.0, 22
_HEIGHT, _CLASS_GAP, _MARGIN, _ARROW = 3.0, 3.2, 1.6, 0.65
#: Difference in width, in pixels, between the strongest and the weakest line.
_WIDEST, _WIDEST_OTHER = 4.4, 1.4
#: Minimum probability, or share of the largest dependence, of plotted edges outside the tree.
_MIN_PROBABILITY, _MIN_SHARE = 0.1, 0.3

Pairs = dict[tuple[int, int], float]


def drawing_of(clf: BaseClassifier) -> dict[str, Any]:
    """Return nodes, arcs and a note; the class has the number after those of the features.

    Raises
    ------
    Absent
        If there are too many nodes.
    """
    if clf.n_features_in_ + 1 > MAX_NODES:
        raise Absent(
            f"the network is not plotted: it has {clf.n_features_in_:,} features, more than the limit of {MAX_NODES - 1:,}"
        )
    names = [*clf._schema.feature_names, clf._schema.class_name]
    description = clf._describe()
    if description.posterior is not None:
        return _trees(description.posterior, names)
    if description.network is not None:
        return _network(description.network, names)
    return _pairs(clf._core_model, names)


def _network(network: Network, names: list[str]) -> dict[str, Any]:
    of_class = len(names) - 1
    parents: list[list[int]] = [list(found or []) for found in network._parents]
    placed = [f for f, found in enumerate(network._parents) if found is not None]
    joint = quick_joint(network)
    strengths = {
        (p, child): _strength(network, joint, names[p], names[child]) for child in placed for p in parents[child]
    }
    if network._core.structure.is_augmented_naive and strengths:
        drawing = _Drawing(names, placed, parents, arrows=True, with_class=False)
        drawing.add_routes(strengths, "conditional mutual information", "nats")
        drawing.add_class(of_class, placed)
        return drawing.finished()
    # Arcs of the class are informative here, so they are routed, too: an arc that runs behind a node seems to start there.
    class_children = [f for f in placed if network._class_children[f]]
    parents = [[*found, *([of_class] if f in class_children else [])] for f, found in enumerate(parents)]
    parents.append(list(network._class_parents))
    strengths |= {(of_class, f): _strength(network, joint, names[of_class], names[f]) for f in class_children}
    strengths |= {(p, of_class): _strength(network, joint, names[p], names[of_class]) for p in network._class_parents}
    drawing = _Drawing(names, [*placed, of_class], parents, arrows=True, with_class=True)
    drawing.add_routes(strengths, "conditional mutual information", "nats")
    return drawing.finished()


def _strength(network: Network, joint: Joint, parent: str, child: str) -> float | None:
    found = arc_strength(network, parent, child, joint)
    return None if math.isnan(found) else found  # it would take too long to compute


def _trees(posterior: Any, names: list[str]) -> dict[str, Any]:
    features = list(range(len(names) - 1))
    parents = [list(found or []) for found in posterior.map_tree._parents]
    probabilities = np.asarray(posterior.edge_probabilities.values)
    tree = {(p, child): float(probabilities[p, child]) for child in features for p in parents[child]}
    drawing = _Drawing(names, features, parents, arrows=False, with_class=False)
    drawing.add_routes(dict(tree), "posterior probability", "", largest=1.0)
    others = _others(probabilities, tree, _MIN_PROBABILITY)
    drawing.add_lines(others, "posterior probability", "", largest=1.0)
    drawing.add_class(len(features), features)
    found = drawing.finished()
    found["note"] = (
        "Solid lines: the most probable tree. Thin dashed lines: other edges with a posterior probability of at least "
        f"{_MIN_PROBABILITY:g}. Line width: posterior probability. Predictions average over all trees."
    )
    return found


def _pairs(core: _core.Aode, names: list[str]) -> dict[str, Any]:
    n = core.n_features
    dependence = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            if u != v:
                dependence[u, v] += _dependence(core, u, v) / 2  # the models of both features, which may differ
                dependence[v, u] = dependence[u, v]
    edges = maximum_spanning_tree(dependence)
    parents: list[list[int]] = [[] for _ in range(n)]
    for parent, child in edges:
        parents[child].append(parent)
    tree = {(parent, child): float(dependence[parent, child]) for parent, child in sorted(edges, key=lambda e: e[1])}
    drawing = _Drawing(names, list(range(n)), parents, arrows=False, with_class=False)
    drawing.add_routes(dict(tree), "mutual information given the class", "nats")
    most = max(tree.values(), default=0.0)
    others = _others(dependence, tree, _MIN_SHARE * most)
    drawing.add_lines(others, "mutual information given the class", "nats", most)
    drawing.add_class(n, list(range(n)))
    found = drawing.finished()
    found["note"] = (
        "The model averages over one network per feature. Solid lines: the maximum spanning tree of the features by mutual "
        "information given the class. Thin dashed lines: other strong pairs. Line width: mutual information given the class."
    )
    return found


def _dependence(core: _core.Aode, u: int, v: int) -> float:
    """Return I(u; v | class) in the model where u is the super-parent."""
    joint = core.class_probabilities * core.single(u)[:, None, :] * core.pair(u, v)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint * joint.sum(axis=(0, 1)) / apart), 0.0)
    return max(0.0, float(terms.sum()))


def _others(values: Any, tree: Pairs, least: float) -> Pairs:
    """Return the strongest pairs outside the tree, at most as many as nodes."""
    n = len(values)
    pairs = [(float(values[u, v]), u, v) for u in range(n) for v in range(u + 1, n)]
    found = [(x, u, v) for x, u, v in pairs if x > 0 and x >= least and (u, v) not in tree and (v, u) not in tree]
    return {(u, v): x for x, u, v in sorted(found, key=lambda item: (-item[0], item[1:]))[:n]}


class _Drawing:
    """Nodes at the positions of a layout and lines between them, in pixels."""

    def __init__(
        self, names: list[str], placed: Sequence[int], parents: list[list[int]], *, arrows: bool, with_class: bool
    ) -> None:
        self._names, self._arrows = names, arrows
        self._arcs: list[dict[str, Any]] = []
        self._texts = {v: _short(names[v]) for v in [*placed, len(names) - 1]}
        self._widths = {v: max(5.6, 0.58 * len(text) + 1.8) for v, text in self._texts.items()}
        position = {v: i for i, v in enumerate(placed)}
        self._layout: Layout = layered_layout(
            [names[v] for v in placed],
            [[position[p] for p in parents[v]] for v in placed],
            [self._widths[v] for v in placed],
            _HEIGHT,
        )
        self._top = 0.0 if with_class else _HEIGHT + _CLASS_GAP
        self._width = max(self._layout.width, 0.0 if with_class else self._widths[len(names) - 1])
        left = (self._width - self._layout.width) / 2
        self._corner = left + _MARGIN, self._top + _MARGIN
        self._centers = {v: self._moved(self._layout.centers[i]) for v, i in position.items()}
        self._position = position

    def _moved(self, point: tuple[float, float]) -> tuple[float, float]:
        return point[0] + self._corner[0], point[1] + self._corner[1]

    def add_routes(self, values: Any, what: str, unit: str, largest: float | None = None) -> None:
        """Add lines along the routes of the layout."""
        routes = {
            arc: [self._moved(p) for p in self._layout.routes[self._position[arc[0]], self._position[arc[1]]]]
            for arc in values
        }
        paths = {arc: _smooth(points, _ARROW if self._arrows else 0.0) for arc, points in routes.items()}
        self._add(values, paths, what, unit, largest, "arc")

    def add_lines(self, values: Pairs, what: str, unit: str, largest: float | None = None) -> None:
        """Add direct lines between nodes."""
        paths = {arc: _bent(self._centers[arc[0]], self._centers[arc[1]]) for arc in values}
        self._add(values, paths, what, unit, largest, "other")

    def _add(self, values: Any, paths: Any, what: str, unit: str, largest: float | None, kind: str) -> None:
        known = [x for x in values.values() if x is not None]
        most = largest or max(known, default=0.0) or 1.0
        wide = _WIDEST if kind == "arc" else _WIDEST_OTHER
        for (start, end), value in values.items():
            width = 1.5 if value is None else 1.1 + wide * min(1.0, value / most)
            ends = {"from": start, "to": end, "path": paths[start, end], "kind": kind, "width": round(width, 2)}
            self._arcs.append({**ends, "value": value, "what": what, "unit": unit})

    def add_class(self, number: int, children: Sequence[int]) -> None:
        """Add the class above all features, with arcs to its children."""
        center = self._width / 2 + _MARGIN, _HEIGHT / 2 + _MARGIN
        self._centers[number] = center
        bottom = center[0], center[1] + _HEIGHT / 2
        for child in children:
            x, y = self._centers[child]
            path = _smooth([bottom, (x, y - _HEIGHT / 2)], _ARROW)
            self._arcs.append({"from": number, "to": child, "path": path, "kind": "class", "width": 1.2})

    def finished(self) -> dict[str, Any]:
        """Return the plot as plain values."""
        n = len(self._names) - 1
        nodes = [
            {
                "id": v,
                "text": self._texts[v],
                "x": round(_EM * x, 1),
                "y": round(_EM * y, 1),
                "width": round(_EM * self._widths[v], 1),
                "height": _EM * _HEIGHT,
                "isClass": v == n,
            }
            for v, (x, y) in sorted(self._centers.items(), key=lambda item: (item[1][1], item[1][0]))
        ]
        width, height = self._width + 2 * _MARGIN, self._layout.height + self._top + 2 * _MARGIN
        size = {"width": round(_EM * width, 1), "height": round(_EM * height, 1)}
        return {**size, "nodes": nodes, "arcs": self._arcs, "arrows": self._arrows, "note": ""}


def _short(name: str) -> str:
    text = display_label(name)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def _number(x: float) -> str:
    return f"{_EM * x:.1f}"


def _smooth(points: Sequence[tuple[float, float]], room: float) -> str:
    """Return a path through points from top to bottom, with vertical ends of every piece and room for an arrow head."""
    (x, y), *others = points
    others[-1] = others[-1][0], others[-1][1] - room
    parts = [f"M{_number(x)} {_number(y)}"]
    for to_x, to_y in others:
        middle = _number((y + to_y) / 2)
        if to_x == x:
            parts.append(f"V{_number(to_y)}")
        else:
            parts.append(f"C{_number(x)} {middle} {_number(to_x)} {middle} {_number(to_x)} {_number(to_y)}")
        x, y = to_x, to_y
    return "".join(parts)


def _bent(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a slightly bent path, so it does not cover a straight one."""
    (x, y), (to_x, to_y) = start, end
    middle = (x + to_x) / 2 + 0.12 * (to_y - y), (y + to_y) / 2 - 0.12 * (to_x - x)
    return f"M{_number(x)} {_number(y)}Q{_number(middle[0])} {_number(middle[1])} {_number(to_x)} {_number(to_y)}"

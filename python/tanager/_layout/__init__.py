"""Where the variables of a network go on a page: in rows, parents above their children, with room for every arc.

The layout of Sugiyama, Tagawa and Toda (1981): nodes are put in layers, layers are ordered so that few arcs cross, and
places along them are chosen so that arcs are steep. Two things differ, since networks of classifiers are flat and wide: a
layer holds no more than fits the page, so what does not goes to a later one; and arcs that pass layers go through lanes
that are kept free for them, one for all arcs of a parent. So no arc runs through a node, however long it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._utils.graphs import topological_order
from .layers import Layered, children_of, count_lanes, split_into_layers, with_lanes
from .order import ordered_layers
from .places import LANE, LANE_GAP, NODE_GAP, places_along

Point = tuple[float, float]

#: Between layers: at least so much, and more where arcs go far to the side, up to so much; and between parts of a network.
_LEAST_GAP, _USUAL_GAP, _MOST_GAP, _STEEPNESS = 2.5, 3.2, 7.0, 0.1
_PART_GAP = 2.5
#: How far apart the arcs into one node end.
_PORT_GAP = 1.2
#: What a lane per node costs, beside a page of half the width or height that is aimed at.
_LANES_COST = 0.7


class Layout(NamedTuple):
    """Places on a page whose corner at the top left is (0, 0), with y downwards.

    Attributes
    ----------
    centers : list of (float, float)
        The middle of every node.
    width, height : float
        The size of the page.
    routes : dict of (int, int) to list of (float, float)
        For every arc (parent, child) the points that it goes through, from the lower side of the parent to the upper side
        of the child, each below that before. Between two of them it is to be drawn with vertical ends: a cubic curve whose
        inner control points are at half the height, and a line where both are above each other. Then it touches no node.
    """

    centers: list[Point]
    width: float
    height: float
    routes: dict[tuple[int, int], list[Point]]


def layered_layout(
    names: Sequence[str],
    parents: Sequence[Sequence[int]],
    widths: Sequence[float],
    heights: Sequence[float] | float = 2.0,
    *,
    aspect: float = 1.5,
) -> Layout:
    """Lay out a directed graph without cycles; the same graph always gets the same layout.

    Parameters
    ----------
    names : sequence of str
        What the nodes are called in messages.
    parents : sequence of sequence of int
        The positions of the parents of every node.
    widths : sequence of float
        How wide every node is, in font sizes: other lengths are chosen to go with that.
    heights : sequence of float or float, default=2.0
        How high every node is, or all of them are.
    aspect : float, default=1.5
        The width of the page, relative to its height, that is aimed at.

    Returns
    -------
    Layout

    Examples
    --------
    >>> from tanager._layout import layered_layout
    >>> layout = layered_layout(["a", "b", "c"], [[], [0], [0]], [2.0, 2.0, 2.0])
    >>> layout.centers
    [(2.75, 1.0), (1.0, 5.5), (4.5, 5.5)]
    """
    n = len(names)
    tall = [float(heights)] * n if isinstance(heights, (int, float)) else [float(h) for h in heights]
    _check(names, parents, widths, tall)
    if n == 0:
        return Layout([], 0.0, 0.0, {})
    parts = [_part(nodes, parents, widths, tall) for nodes in _connected(parents)]
    wrapping = _best_wrapping(parts, aspect)
    return _packed(n, parts, [_draw_part(part, wrapping) for part in parts], wrapping.limit)


class _Part(NamedTuple):
    """A connected part of the graph: its nodes, and what belongs to each, by position among them."""

    nodes: list[int]
    parents: list[list[int]]
    widths: list[float]
    heights: list[float]


def _part(
    nodes: list[int], parents: Sequence[Sequence[int]], widths: Sequence[float], heights: Sequence[float]
) -> _Part:
    place = {v: i for i, v in enumerate(nodes)}
    own = [[place[p] for p in parents[v]] for v in nodes]
    return _Part(nodes, own, [float(widths[v]) for v in nodes], [heights[v] for v in nodes])


def _check(
    names: Sequence[str], parents: Sequence[Sequence[int]], widths: Sequence[float], heights: Sequence[float]
) -> None:
    n = len(names)
    if not len(parents) == len(widths) == len(heights) == n:
        raise ValueError(
            f"there are {n} names, but parents of {len(parents)}, widths of {len(widths)} and heights of {len(heights)}"
        )
    for child, found in enumerate(parents):
        wrong = [p for p in found if not 0 <= p < n]
        if wrong:
            raise ValueError(f"the parents of {names[child]!r} must be from 0 to {n - 1}, but one is {wrong[0]}")
        if len(set(found)) < len(found):
            raise ValueError(f"the parents of {names[child]!r} must differ, but are {list(found)}")
    free = set(topological_order(parents))
    if len(free) < n:
        caught = next(v for v in range(n) if v not in free)
        raise ValueError(f"arcs must not form cycles, but one leads to {names[caught]!r}")


def _connected(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the nodes of every connected part, in order."""
    children = children_of(parents)
    seen = [False] * len(parents)
    parts = []
    for start in range(len(parents)):
        if seen[start]:
            continue
        seen[start] = True
        part = [start]
        for v in part:  # grows
            for other in [*parents[v], *children[v]]:
                if not seen[other]:
                    seen[other] = True
                    part.append(other)
        parts.append(sorted(part))
    return parts


class _Wrapping(NamedTuple):
    """How layers are wrapped: their width, and how many leaves of a parent stand beside each other (None: any number)."""

    limit: float
    stack: int | None


def _best_wrapping(parts: list[_Part], aspect: float) -> _Wrapping:
    """Return how layers are wrapped such that the page has about the shape that is aimed at, and few lanes."""
    n_nodes = sum(len(part.nodes) for part in parts)
    total = sum(sum(part.widths) + NODE_GAP * len(part.widths) for part in parts)
    factor = 1.15 if n_nodes <= 100 else 1.3
    least, found = float("inf"), _Wrapping(total, None)
    for stack in (None, 1, 2, 3, 5):
        limit = max(max(part.widths) for part in parts)
        while limit < total * factor:
            wrapping = _Wrapping(min(limit, total), stack)
            sizes, lanes = zip(*(_estimated_size(part, wrapping) for part in parts), strict=True)
            _, width, height = _shelves(list(sizes), wrapping.limit)
            shape = max(width / height / aspect, height / width * aspect)
            cost = shape * (1 + _LANES_COST * sum(lanes) / n_nodes)
            if cost < least - 1e-9:
                least, found = cost, wrapping
            limit *= factor
    return found


def _estimated_size(part: _Part, wrapping: _Wrapping) -> tuple[Point, int]:
    """Return width and height of a part before its layers are ordered, and how many lanes it has."""
    if len(part.nodes) == 1:
        return (part.widths[0], part.heights[0]), 0
    layer_of = split_into_layers(part.parents, part.widths, *wrapping)
    lanes = count_lanes(layer_of, part.parents)
    rows = [n * (LANE + LANE_GAP) - NODE_GAP for n in lanes]
    tall = [0.0] * len(rows)
    for layer, width, height in zip(layer_of, part.widths, part.heights, strict=True):
        rows[layer] += width + NODE_GAP
        tall[layer] = max(tall[layer], height)
    return (max(rows), sum(tall) + (len(rows) - 1) * _USUAL_GAP), sum(lanes)


def _shelves(boxes: list[Point], limit: float) -> tuple[list[Point], float, float]:
    """Put boxes on shelves, high ones first; return where the corner of each goes, and the width and height of all."""
    corners: list[Point] = [(0.0, 0.0)] * len(boxes)
    x = y = width = height = 0.0
    # Boxes that are wider than the page have a shelf of their own.
    for i in sorted(range(len(boxes)), key=lambda i: (-boxes[i][1], i)):
        wide, high = boxes[i]
        gap = NODE_GAP if high == height else _PART_GAP
        if x and x + gap + wide > limit + 1e-9:
            x, y, height = 0.0, y + height + (NODE_GAP if high == height else _PART_GAP), 0.0
        x = x + gap if x else 0.0
        corners[i] = x, y
        x, height = x + wide, max(height, high)
        width = max(width, x)
    return corners, width, y + height


def _draw_part(part: _Part, wrapping: _Wrapping) -> Layout:
    """Lay out one connected part; lanes are numbered after its nodes."""
    if len(part.nodes) == 1:
        return Layout([(part.widths[0] / 2, part.heights[0] / 2)], part.widths[0], part.heights[0], {})
    layered = with_lanes(split_into_layers(part.parents, part.widths, *wrapping), part.parents)
    layers = ordered_layers(layered)
    x, width = places_along(layers, layered, part.widths)
    tops, bottoms = _rows(layers, layered, x, part.heights)
    layer_of = layered.layer_of
    middles = [(tops[layer] + bottoms[layer]) / 2 for layer in layer_of[: layered.n_nodes]]
    ends = _ports(layered, x, part.widths)
    routes = {}
    for (parent, child), lanes in layered.lanes.items():
        points = [(x[parent], middles[parent] + part.heights[parent] / 2), (x[parent], bottoms[layer_of[parent]])]
        for lane in lanes:
            points += [(x[lane], tops[layer_of[lane]]), (x[lane], bottoms[layer_of[lane]])]
        end = ends[parent, child]
        points += [(end, tops[layer_of[child]]), (end, middles[child] - part.heights[child] / 2)]
        routes[part.nodes[parent], part.nodes[child]] = [
            point for i, point in enumerate(points) if i == 0 or point[1] > points[i - 1][1] + 1e-9
        ]
    return Layout(list(zip(x[: layered.n_nodes], middles, strict=True)), width, bottoms[-1], routes)


def _rows(
    layers: list[list[int]], layered: Layered, x: list[float], heights: list[float]
) -> tuple[list[float], list[float]]:
    """Return where every layer begins and ends; the farther arcs go to the side, the more room is above it."""
    tops, bottoms, y = [], [], 0.0
    for number, layer in enumerate(layers):
        if number:
            reach = max(abs(x[u] - x[v]) for v in layer for u in layered.above[v])
            y += min(max(_LEAST_GAP, _STEEPNESS * reach), _MOST_GAP)
        tops.append(y)
        y += max(heights[v] for v in layer if v < len(heights))
        bottoms.append(y)
    return tops, bottoms


def _ports(layered: Layered, x: list[float], widths: list[float]) -> dict[tuple[int, int], float]:
    """Return where every arc ends on the upper side of its child: next to each other, in the order in which they come."""
    coming: dict[int, list[tuple[float, int]]] = {}
    for (parent, child), lanes in layered.lanes.items():
        coming.setdefault(child, []).append((x[lanes[-1] if lanes else parent], parent))
    ends = {}
    for child, found in coming.items():
        step = min(_PORT_GAP, 0.8 * widths[child] / len(found))
        for i, (_, parent) in enumerate(sorted(found)):
            ends[parent, child] = x[child] + (i - (len(found) - 1) / 2) * step
    return ends


def _packed(n: int, parts: list[_Part], drawn: list[Layout], limit: float) -> Layout:
    corners, width, height = _shelves([(d.width, d.height) for d in drawn], max(limit, *(d.width for d in drawn), 0.0))
    centers: list[Point] = [(0.0, 0.0)] * n
    routes = {}
    for part, one, (left, top) in zip(parts, drawn, corners, strict=True):
        for v, (x, y) in zip(part.nodes, one.centers, strict=True):
            centers[v] = x + left, y + top
        for arc, points in one.routes.items():
            routes[arc] = [(x + left, y + top) for x, y in points]
    return Layout(centers, width, height, routes)

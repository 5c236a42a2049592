"""Layered graph layout: parents above their children, with room for every arc.

The algorithm of Sugiyama, Tagawa and Toda (1981): nodes are assigned to layers, layers are ordered to reduce crossings, and
coordinates are chosen to make arcs steep. Two things differ, because networks of classifiers are flat and wide: layers have
a maximum width, and nodes that do not fit go to a later layer; and long arcs pass the layers between in reserved lanes, one
for all arcs of a parent, so no arc runs through a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._utils.graphs import topological_order
from .layers import Layered, children_of, count_lanes, split_into_layers, with_lanes
from .order import ordered_layers
from .places import LANE, LANE_GAP, NODE_GAP, places_along

Point = tuple[float, float]

#: Gap between layers: minimum, estimate, maximum, and growth with the horizontal reach of arcs; gap between components.
_MIN_GAP, _USUAL_GAP, _MAX_GAP, _STEEPNESS = 2.5, 3.2, 7.0, 0.1
_PART_GAP = 2.5
#: Distance between the ends of arcs into one node.
_PORT_GAP = 1.2
#: Cost of one lane per node, relative to that of missing the aspect ratio by a factor of two.
_LANES_COST = 0.7


class Layout(NamedTuple):
    """Positions on a page; the origin is the top left corner, and y points down.

    Attributes
    ----------
    centers : list of (float, float)
        Centers of the nodes.
    width, height : float
        Size of the page.
    routes : dict of (int, int) to list of (float, float)
        Points of every arc (parent, child), from the bottom of the parent to the top of the child, from top to bottom.
        Between two points, draw a cubic curve with vertical ends, whose inner control points are at half the height, or a
        vertical line; then arcs do not touch nodes.
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
    """Lay out a directed acyclic graph; the result is deterministic.

    Parameters
    ----------
    names : sequence of str
        Names of the nodes, for messages.
    parents : sequence of sequence of int
        Parents of every node, by position.
    widths : sequence of float
        Width of every node in font sizes, the unit of all lengths.
    heights : sequence of float or float, default=2.0
        Height of every node, or of all nodes.
    aspect : float, default=1.5
        Target aspect ratio (width / height) of the page.

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
    """A connected component: its nodes, and their parents, widths and heights by position among them."""

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
            f"expected {n} parents, widths and heights, one per name, got {len(parents)}, {len(widths)} and {len(heights)}"
        )
    for child, found in enumerate(parents):
        wrong = [p for p in found if not 0 <= p < n]
        if wrong:
            raise ValueError(f"parents of {names[child]!r}: expected positions from 0 to {n - 1}, got {wrong[0]}")
        if len(set(found)) < len(found):
            raise ValueError(f"parents of {names[child]!r}: expected unique positions, got {list(found)}")
    free = set(topological_order(parents))
    if len(free) < n:
        caught = next(v for v in range(n) if v not in free)
        raise ValueError(f"expected an acyclic graph, got a cycle that leads to {names[caught]!r}")


def _connected(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the nodes of every connected component, in order."""
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
    """How layers are wrapped: maximum width, and maximum number of leaves of a parent side by side (None: unlimited)."""

    limit: float
    stack: int | None


def _best_wrapping(parts: list[_Part], aspect: float) -> _Wrapping:
    """Return the wrapping that best combines the target aspect ratio with few lanes."""
    n_nodes = sum(len(part.nodes) for part in parts)
    total = sum(sum(part.widths) + NODE_GAP * len(part.widths) for part in parts)
    factor = 1.15 if n_nodes <= 100 else 1.3
    least, found = float("inf"), _Wrapping(total, None)
    for stack in (None, 1, 2, 3, 5):
        limit = max(max(part.widths) for part in parts)
        while limit < total * factor:
            wrapping = _Wrapping(min(limit, total), stack)
            sizes, lanes = zip(*(_estimated_size(part, wrapping) for part in parts), strict=True)
            _, width, height = _pack_rows(list(sizes), wrapping.limit)
            shape = max(width / height / aspect, height / width * aspect)
            cost = shape * (1 + _LANES_COST * sum(lanes) / n_nodes)
            if cost < least - 1e-9:
                least, found = cost, wrapping
            limit *= factor
    return found


def _estimated_size(part: _Part, wrapping: _Wrapping) -> tuple[Point, int]:
    """Return estimated width and height of a component, and its number of lanes."""
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


def _pack_rows(boxes: list[Point], limit: float) -> tuple[list[Point], float, float]:
    """Pack boxes into rows, tallest first; return the top left corners, and the total width and height."""
    corners: list[Point] = [(0.0, 0.0)] * len(boxes)
    x = y = width = height = 0.0
    # A box wider than the page has its own row.
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
    """Lay out one connected component; lanes are numbered after its nodes."""
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
    """Return top and bottom of every layer; gaps grow with the horizontal reach of arcs."""
    tops, bottoms, y = [], [], 0.0
    for number, layer in enumerate(layers):
        if number:
            reach = max(abs(x[u] - x[v]) for v in layer for u in layered.above[v])
            y += min(max(_MIN_GAP, _STEEPNESS * reach), _MAX_GAP)
        tops.append(y)
        y += max(heights[v] for v in layer if v < len(heights))
        bottoms.append(y)
    return tops, bottoms


def _ports(layered: Layered, x: list[float], widths: list[float]) -> dict[tuple[int, int], float]:
    """Return the x coordinate where every arc ends at the top of its child, ordered to avoid crossings."""
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
    corners, width, height = _pack_rows(
        [(d.width, d.height) for d in drawn], max(limit, *(d.width for d in drawn), 0.0)
    )
    centers: list[Point] = [(0.0, 0.0)] * n
    routes = {}
    for part, one, (left, top) in zip(parts, drawn, corners, strict=True):
        for v, (x, y) in zip(part.nodes, one.centers, strict=True):
            centers[v] = x + left, y + top
        for arc, points in one.routes.items():
            routes[arc] = [(x + left, y + top) for x, y in points]
    return Layout(centers, width, height, routes)

"""Step 1 of the layout: layers of nodes, and lanes of long arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._utils.graphs import topological_order
from .places import NODE_GAP


@dataclass
class Layered:
    """Nodes and lanes in layers; every arc connects adjacent layers.

    Attributes
    ----------
    n_nodes : int
    layers : list of list of int
        Nodes, numbered from zero, and lanes, numbered after the nodes.
    layer_of : list of int
    above, below : list of list of int
        Neighbors of every node and lane in the adjacent layers.
    lanes : dict of (int, int) to list of int
        Lanes of every arc (parent, child), from top to bottom.
    """

    n_nodes: int
    layers: list[list[int]]
    layer_of: list[int]
    above: list[list[int]]
    below: list[list[int]]
    lanes: dict[tuple[int, int], list[int]]


def children_of(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the children of every node, in order."""
    children: list[list[int]] = [[] for _ in parents]
    for child, found in enumerate(parents):
        for parent in found:
            children[parent].append(child)
    return children


def split_into_layers(
    parents: list[list[int]], widths: Sequence[float], limit: float, stack: int | None = None
) -> list[int]:
    """Return the layer of every node; parents are above their children.

    Parameters
    ----------
    parents, widths
        Parents and width of every node.
    limit : float
        Maximum width of a layer; a wider node has a separate layer.
    stack : int or None, default=None
        Maximum number of leaves of a parent side by side; more are stacked below. None means unlimited.
    """
    sizes = [width + NODE_GAP for width in widths]
    children = children_of(parents)
    layer_of = _fill(parents, children, sizes, limit + NODE_GAP, stack)
    _pull_down(layer_of, parents, children, sizes, limit + NODE_GAP)
    used = {layer: i for i, layer in enumerate(sorted(set(layer_of)))}
    return [used[layer] for layer in layer_of]


def _fill(
    parents: list[list[int]], children: list[list[int]], sizes: list[float], limit: float, stack: int | None
) -> list[int]:
    """Fill layer by layer with nodes whose parents are above, those with the longest paths below them first."""
    depth = _depths(parents, children)
    spread, delay = _among_siblings(parents, children, depth, stack)
    n_waiting = [len(found) for found in parents]
    layer_of, layer = [0] * len(parents), 0
    ready = {0: [v for v, n in enumerate(n_waiting) if not n]}  # by their first possible layer
    while ready:
        now = ready.pop(layer, [])
        now.sort(key=lambda v: (-depth[v], spread[v], v))
        room, later = limit, []
        placed: list[int] = []
        for v in now:
            if not placed or sizes[v] <= room + 1e-9:
                room -= sizes[v]
                placed.append(v)
            else:
                later.append(v)
        for v in placed:
            layer_of[v] = layer
            for child in children[v]:
                n_waiting[child] -= 1
                if not n_waiting[child]:
                    ready.setdefault(layer + 1 + delay[child], []).append(child)
        layer += 1
        if later:
            ready.setdefault(layer, []).extend(later)
    return layer_of


def _among_siblings(
    parents: list[list[int]], children: list[list[int]], depth: list[int], stack: int | None
) -> tuple[list[float], list[int]]:
    """Return the relative position of every node among its siblings of the same depth, from 0 to 1, and its delay in layers.

    If siblings do not fit into one layer, those of every parent are spread over several, so they stay below it. Stacked
    leaves are delayed: only leaves with a single parent, because others cannot be near all of their parents.
    """
    spread, delay = [0.0] * len(parents), [0] * len(parents)
    for siblings in children:
        for height in {depth[v] for v in siblings}:
            alike = [v for v in siblings if depth[v] == height]
            for i, v in enumerate(alike):
                spread[v] = (i + 0.5) / len(alike)
        leaves = [v for v in siblings if not children[v] and len(parents[v]) == 1]
        for i, v in enumerate(leaves):
            delay[v] = i // stack if stack else 0
    return spread, delay


def _depths(parents: list[list[int]], children: list[list[int]]) -> list[int]:
    """Return the length of the longest path down from every node."""
    depth = [0] * len(parents)
    for v in reversed(topological_order(parents)):
        depth[v] = max((depth[child] + 1 for child in children[v]), default=0)
    return depth


def _pull_down(
    layer_of: list[int], parents: list[list[int]], children: list[list[int]], sizes: list[float], limit: float
) -> None:
    """Move nodes with more arcs below than above them down towards their children, if there is room."""
    filled = [0.0] * (max(layer_of) + 1)
    for v, layer in enumerate(layer_of):
        filled[layer] += sizes[v]
    for v in sorted(range(len(parents)), key=lambda v: -layer_of[v]):
        if len(children[v]) <= len(parents[v]):
            continue
        lowest = min(layer_of[child] for child in children[v]) - 1
        for layer in range(lowest, layer_of[v], -1):
            if filled[layer] + sizes[v] <= limit + 1e-9:
                filled[layer_of[v]] -= sizes[v]
                filled[layer] += sizes[v]
                layer_of[v] = layer
                break


def count_lanes(layer_of: list[int], parents: list[list[int]]) -> list[int]:
    """Return the number of lanes in every layer."""
    changes = [0] * (max(layer_of) + 2)
    for parent, found in enumerate(children_of(parents)):
        last = max((layer_of[child] for child in found), default=0)
        if last > layer_of[parent] + 1:
            changes[layer_of[parent] + 1] += 1
            changes[last] -= 1
    counts, open_lanes = [], 0
    for change in changes[:-1]:
        open_lanes += change
        counts.append(open_lanes)
    return counts


def with_lanes(layer_of: list[int], parents: list[list[int]]) -> Layered:
    """Add lanes: one in every layer between a parent and its last child, shared by all arcs of the parent."""
    n, layer_of = len(layer_of), list(layer_of)
    layers: list[list[int]] = [[] for _ in range(max(layer_of) + 1)]
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for v in range(n):
        layers[layer_of[v]].append(v)
    lanes = {}
    for parent, children in enumerate(children_of(parents)):
        chain: list[int] = []
        for child in sorted(children, key=lambda v: (layer_of[v], v)):
            while layer_of[parent] + len(chain) + 1 < layer_of[child]:
                lane, last = len(layer_of), chain[-1] if chain else parent
                layer_of.append(layer_of[last] + 1)
                layers[layer_of[lane]].append(lane)
                above.append([last])
                below.append([])
                below[last].append(lane)
                chain.append(lane)
            passed = chain[: layer_of[child] - layer_of[parent] - 1]
            lanes[parent, child] = passed
            last = passed[-1] if passed else parent
            below[last].append(child)
            above[child].append(last)
    return Layered(n, layers, layer_of, above, below, lanes)

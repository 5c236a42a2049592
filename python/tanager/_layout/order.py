"""Step 2 of the layout: order within layers, to reduce crossings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from itertools import pairwise

from .layers import Layered

#: Maximum of arcs times sweeps: large graphs get fewer sweeps.
_EFFORT = 30_000
_MAX_SWEEPS = 24


def ordered_layers(layered: Layered) -> list[list[int]]:
    """Return the ordered layers; without nodes of several parents nothing crosses."""
    best = _depth_first(layered)
    least = crossings(best, layered.below)
    if not least:
        return best
    n_arcs = sum(map(len, layered.below))
    order = [list(layer) for layer in best]
    for sweep in range(max(4, min(_MAX_SWEEPS, _EFFORT // n_arcs))):
        _sweep(order, layered, downwards=sweep % 2 == 0, to_right=sweep % 4 < 2)
        _swap_neighbors(order, layered)
        found = crossings(order, layered.below)
        if found < least:
            best, least = [list(layer) for layer in order], found
            if not least:
                break
    return best


def crossings(layers: list[list[int]], below: list[list[int]]) -> int:
    """Count the pairs of arcs that cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {v: i for i, v in enumerate(lower)}
        ends: list[int] = []
        for u in upper:
            mine = sorted(place[v] for v in below[u])
            for end in mine:
                total += len(ends) - bisect_right(ends, end)
            for end in mine:
                insort(ends, end)
    return total


def _depth_first(layered: Layered) -> list[list[int]]:
    """Order nodes by depth-first search, so subtrees stay together; lanes are in the middle of their siblings."""
    n = len(layered.layer_of)
    layers: list[list[int]] = [[] for _ in layered.layers]
    seen = [False] * n
    n_nodes = layered.n_nodes
    for start in [v for layer in layered.layers for v in layer if not layered.above[v]]:
        waiting = [start]
        while waiting:
            v = waiting.pop()
            if seen[v]:
                continue
            seen[v] = True
            layers[layered.layer_of[v]].append(v)
            nodes = [child for child in layered.below[v] if child < n_nodes]
            lanes = [child for child in layered.below[v] if child >= n_nodes]
            half = len(nodes) // 2
            waiting.extend(reversed([*nodes[:half], *lanes, *nodes[half:]]))
    return layers


def _sweep(order: list[list[int]], layered: Layered, *, downwards: bool, to_right: bool) -> None:
    """Sort every layer by the mean position of its neighbors in the previous layer, downwards or upwards."""
    near = layered.above if downwards else layered.below
    numbers = range(1, len(order)) if downwards else range(len(order) - 2, -1, -1)
    place = [0.0] * len(layered.layer_of)
    for layer in order:
        for i, v in enumerate(layer):
            place[v] = float(i)
    for number in numbers:
        layer = order[number]
        means = {v: sum(place[u] for u in near[v]) / len(near[v]) if near[v] else place[v] for v in layer}
        # Half of the sweeps keep the order of equal means, the others reverse it: either may be better.
        layer.sort(key=lambda v: (means[v], place[v] if to_right else -place[v]))
        for i, v in enumerate(layer):
            place[v] = float(i)


def _swap_neighbors(order: list[list[int]], layered: Layered) -> None:
    """Swap adjacent nodes while that reduces crossings."""
    place = [0] * len(layered.layer_of)
    for layer in order:
        for i, v in enumerate(layer):
            place[v] = i
    better, rounds = True, 0
    while better and rounds < 4:
        better, rounds = False, rounds + 1
        for layer in order:
            for i in range(len(layer) - 1):
                u, v = layer[i], layer[i + 1]
                if _pair(u, v, layered, place) > _pair(v, u, layered, place):
                    layer[i], layer[i + 1] = v, u
                    place[u], place[v] = i + 1, i
                    better = True


def _pair(left: int, right: int, layered: Layered, place: list[int]) -> int:
    """Count the crossings between the arcs of two adjacent nodes."""
    total = 0
    for near in (layered.above, layered.below):
        theirs = sorted(place[w] for w in near[right])
        total += sum(bisect_left(theirs, place[w]) for w in near[left])
    return total

"""Topological orders, cycles and spanning trees."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .text import shortened


def topological_order(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes with parents before their children, the lowest number first; without those on or below a cycle.

    >>> topological_order([[2], [], [1]])
    [1, 2, 0]
    """
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    n_waiting = [len(above) for above in parents]
    ready = [node for node, n in enumerate(n_waiting) if not n]
    order = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for child in children[node]:
            n_waiting[child] -= 1
            if not n_waiting[child]:
                heapq.heappush(ready, child)
    return order


def check_cycles(parents: Mapping[str, Sequence[str]]) -> None:
    """Raise an error that shows a cycle if the arcs form one."""
    names = list(parents)
    position = {name: i for i, name in enumerate(names)}
    free = topological_order([[position[parent] for parent in parents[name]] for name in names])
    left = dict.fromkeys(names)
    for i in free:
        del left[names[i]]
    if not left:
        return
    # Each of the remaining variables has a parent among them, so following parents must return to a visited one.
    path: dict[str, None] = {}
    name = next(iter(left))
    while name not in path:
        path[name] = None
        name = next(p for p in parents[name] if p in left)
    found = list(path)
    cycle = [*found[found.index(name) :], name][::-1]
    raise ValueError(f"the arcs {shortened(' -> '.join(map(repr, cycle)), 200)} form a cycle")


def maximum_spanning_tree(weights: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """Return the edges (parent, node) of a maximum spanning tree, in the order in which nodes join node 0.

    Prim's algorithm; of equal weights the node with the lowest number joins first.

    >>> maximum_spanning_tree(np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]]))
    [(0, 2), (2, 1)]
    """
    waiting = np.arange(1, len(weights))
    parent = np.zeros(len(weights), dtype=np.intp)
    edges = []
    while len(waiting):
        place = int(np.argmax(weights[waiting, parent[waiting]]))
        node = int(waiting[place])
        edges.append((int(parent[node]), node))
        waiting = np.delete(waiting, place)
        closer = waiting[weights[waiting, node] > weights[waiting, parent[waiting]]]
        parent[closer] = node
    return edges

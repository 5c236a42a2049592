"""Topological orders and spanning trees."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


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

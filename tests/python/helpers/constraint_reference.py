"""Slow, plain versions of what learners by tests of independence do: PC-stable over columns of codes, given the class."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import chi2

MISSING = 255


def dependence(columns, weights, x, y, given):
    """Return I(X;Y|Z), rows, combinations of Z and degrees of freedom, one combination after the other."""
    seen = np.all([columns[v] != MISSING for v in (x, y, *given)], axis=0) & (weights > 0)
    a, b, w = columns[x][seen], columns[y][seen], weights[seen]
    groups = {}
    for row, key in enumerate(zip(*(columns[g][seen] for g in given), strict=True) if given else [()] * len(a)):
        groups.setdefault(key, []).append(row)
    total, information, degrees = w.sum(), 0.0, 0
    for rows in groups.values():
        table = np.zeros((256, 256))
        np.add.at(table, (a[rows], b[rows]), w[rows])
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        known = table > 0
        information += (table[known] * np.log(table[known] / expected[known])).sum() / total
        degrees += (table.shape[0] - 1) * (table.shape[1] - 1)
    return information, total, len(groups), degrees


class Tests:
    """Strength of dependence given the class, the last column; remembered."""

    def __init__(self, columns, weights, kind="mutual-information", min_rows=5.0):
        self.columns, self.weights, self.kind, self.min_rows = columns, weights, kind, min_rows
        self.known = {}

    def __call__(self, x, y, given):
        key = (min(x, y), max(x, y), given)
        if key not in self.known:
            given_class = (*given, len(self.columns) - 1)
            found, rows, configurations, degrees = dependence(self.columns, self.weights, *key[:2], given_class)
            if given and rows < self.min_rows * max(1, configurations):
                self.known[key] = np.inf
            elif self.kind == "g2":
                self.known[key] = -chi2.logsf(2 * rows * max(found, 0.0), degrees) if degrees else 0.0
            else:
                self.known[key] = round(max(found, 0.0), 10)
        return self.known[key]


def pc_stable(n, test, threshold, most):
    """Return edges, and for every pair without one the smallest sets that separate it."""
    edges = {frozenset(pair) for pair in combinations(range(n), 2)}
    separators = {}
    for size in range(most + 1):
        around = {v: {u for e in edges if v in e for u in e if u != v} for v in range(n)}
        gone = set()
        for edge in edges:
            x, y = sorted(edge)
            sets = {s for v, w in ((x, y), (y, x)) for s in combinations(sorted(around[v] - {w}), size)}
            found = [s for s in sets if test(x, y, s) <= threshold]
            if found:
                separators[edge] = found
                gone.add(edge)
        edges -= gone
    return edges, separators


def in_a_circle(arcs, arc):
    """Say whether one can get back from the end of an arc to its begin."""
    reached, more = {arc[1]}, True
    while more:
        new = {v for u, v in arcs if u in reached} - reached
        reached |= new
        more = bool(new)
    return arc[0] in reached


def pattern(n, edges, separators):
    """Return the directed edges: colliders, then Meek's rules in rounds."""

    def adjacent(u, v):
        return frozenset((u, v)) in edges

    told = set()
    for z in range(n):
        for x, y in combinations([v for v in range(n) if adjacent(v, z)], 2):
            if not adjacent(x, y):
                sets = separators[frozenset((x, y))]
                if 2 * sum(z in s for s in sets) < len(sets):
                    told |= {(x, z), (y, z)}
    arcs = {(u, v) for u, v in told if (v, u) not in told}
    arcs -= {arc for arc in arcs if in_a_circle(arcs, arc)}
    left_alone = set()
    while True:

        def free(u, v):
            return adjacent(u, v) and (u, v) not in arcs and (v, u) not in arcs  # noqa: B023

        def implied(a, b):
            others = [v for v in range(n) if v not in (a, b)]
            return (
                any((c, a) in arcs and not adjacent(c, b) for c in others)  # noqa: B023
                or any((a, c) in arcs and (c, b) in arcs for c in others)  # noqa: B023
                or any(
                    free(a, c) and free(a, d) and (c, b) in arcs and (d, b) in arcs and not adjacent(c, d)  # noqa: B023
                    for c, d in combinations(others, 2)
                )
                or any(
                    adjacent(a, c) and free(a, d) and (d, c) in arcs and (c, b) in arcs and not adjacent(d, b)  # noqa: B023
                    for c in others
                    for d in others
                    if c != d
                )
            )

        new = set()
        for u, v in map(sorted, edges):
            if free(u, v) and (u, v) not in left_alone and implied(u, v) != implied(v, u):
                new.add((u, v) if implied(u, v) else (v, u))
        if not new:
            return arcs
        arcs = arcs | new
        undone = {arc for arc in new if in_a_circle(arcs, arc)}
        arcs -= undone
        left_alone |= {tuple(sorted(arc)) for arc in undone}


def extension(n, edges, arcs, preference, sizes):
    """Direct what is left: children first, the least preferred first. Return the parents of all."""
    left, parents = list(preference), [[] for _ in range(n)]
    while left:

        def around(v):
            return [u for u in left if u != v and frozenset((u, v)) in edges]

        sinks = [v for v in left if not any((v, u) in arcs for u in around(v))]
        good = [
            v
            for v in sinks
            if all((u, v) in arcs or all(w == u or frozenset((u, w)) in edges for w in around(v)) for u in around(v))
        ]
        cost = {v: (sizes[v] - 1) * np.prod([float(sizes[u]) for u in around(v)]) for v in sinks}
        child = good[-1] if good else min(reversed(sinks), key=cost.__getitem__)
        parents[child] = sorted(around(child))
        left.remove(child)
    return parents


def preferred(columns, weights, sizes):
    """Order features by their information about the class, then as documented."""

    def key(f):
        seen = columns[f] != MISSING
        counts = np.bincount(columns[f][seen], weights[seen], minlength=sizes[f])
        shares = counts[counts > 0] / counts.sum() if counts.sum() else np.zeros(0)
        about_class = dependence(columns, weights, f, len(columns) - 1, ())[0] if seen.any() else 0.0
        entropy = -(shares * np.log(shares)).sum()
        codes = np.where(seen, columns[f].astype(int), 65535)
        return (-round(about_class, 11), -round(float(entropy), 11), sizes[f], tuple(codes), f)

    return sorted(range(len(columns) - 1), key=key)


def constraint_augmented(columns, sizes, weights=None, kind="mutual-information", threshold=0.01, most=3, min_rows=5.0):
    """Return the feature parents of every feature; the last column is the class."""
    weights = np.ones(len(columns[-1])) if weights is None else weights
    n = len(columns) - 1
    edges, separators = pc_stable(n, Tests(columns, weights, kind, min_rows), threshold, most)
    return extension(n, edges, pattern(n, edges, separators), preferred(columns, weights, sizes), sizes)

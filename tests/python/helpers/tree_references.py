"""Graphs for tests of sums over spanning trees, and what is true of them."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import NamedTuple

import mpmath
import numpy as np

from tanager import _core
from tanager.tree_sums._weights import read_weights

#: Of numbers of mpmath, which know no largest exponent: references only add, multiply and divide positive ones.
BITS = 250


class Graph(NamedTuple):
    """Weights mantissa * 2**exponent, symmetric."""

    mantissa: np.ndarray
    exponent: np.ndarray

    def weight(self, u, v):
        return power(self.exponent[u, v]) * float(self.mantissa[u, v])


def power(exponent):
    return mpmath.ldexp(mpmath.mpf(1), int(exponent))


def symmetric(n, mantissas, exponents):
    m, e = np.zeros((n, n)), np.zeros((n, n), dtype=np.int64)
    upper = np.triu_indices(n, 1)
    m[upper], e[upper] = mantissas, exponents
    return Graph(m + m.T, e + e.T)


def all_trees(n):
    """The edges of all spanning trees, from their Pruefer sequences."""
    if n < 3:
        return [[(0, 1)][: n - 1]]
    trees = []
    for code in product(range(n), repeat=n - 2):
        degree = [1 + code.count(v) for v in range(n)]
        tree = []
        for v in code:
            leaf = degree.index(1)
            tree.append((min(leaf, v), max(leaf, v)))
            degree[leaf] -= 1
            degree[v] -= 1
        tree.append(tuple(v for v in range(n) if degree[v] == 1))
        trees.append(sorted(tree))
    return trees


TREES = {n: all_trees(n) for n in range(1, 7)}


def tree_weights(graph):
    """The product of the weights of every tree."""
    n = len(graph.mantissa)
    weight = {edge: graph.weight(*edge) for edge in combinations(range(n), 2)}
    return [math.prod((weight[edge] for edge in tree), start=mpmath.mpf(1)) for tree in TREES[n]]


def random_graph(n, seed):
    rng = np.random.default_rng(seed)
    n_edges = n * (n - 1) // 2
    return symmetric(n, rng.uniform(1, 2, n_edges) * (rng.random(n_edges) < 0.8), rng.integers(-3, 3, n_edges))


def relative_error(graph, *, log_sum=None, true_sum=None):
    """Of the core's sum, against the true one or its logarithm in many digits."""
    mantissa, exponent, _ = _core.tree_sum(read_weights(graph).to_core())
    with mpmath.workprec(BITS):
        found = power(exponent) * mantissa
        return abs(float(found / true_sum - 1 if log_sum is None else mpmath.expm1(mpmath.log(found) - log_sum)))

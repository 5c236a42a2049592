"""Sums over spanning trees by determinants of many digits: slow, and independent of the core."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._utils.graphs import maximum_spanning_tree
from ._weights import GivenWeights

#: Sums of two precisions that agree to so many bits are taken to be right.
_AGREEMENT = 100
#: Bits of a weight that is given as a logarithm, and of the logarithm that is returned.
_WEIGHT_BITS = 160
#: Determinants of more bits would take days.
_MOST_BITS = 2**24


def log_determinant(given: GivenWeights, digits: int | None) -> Any:
    """Return the logarithm of the tree sum of a graph as a number of mpmath."""
    import mpmath  # no other part of the package needs it

    if given.n_nodes == 1:
        return mpmath.mpf(0)
    bits = _needed_bits(given)
    if bits is None:
        return mpmath.mpf("-inf")
    if digits is not None:
        bits = math.ceil(digits * math.log2(10))
    if bits > _MOST_BITS:
        raise ValueError(
            f"log_weights must not be so far apart, for the determinant would need {round(bits / math.log2(10)):,} digits, "
            f"but at most {round(_MOST_BITS / math.log2(10)):,} are possible"
        )
    # A context of its own: the precision of mpmath's is the user's, and that of all threads.
    context = mpmath.MPContext()
    before = None
    factor = 1
    while True:
        found = _log_determinant(context, given, bits * factor, _WEIGHT_BITS * factor)
        if before is not None and found is not None and abs(found - before) < context.ldexp(1, -_AGREEMENT):
            return mpmath.mp.make_mpf(found._mpf_)
        before = found
        factor *= 2


def _needed_bits(given: GivenWeights) -> int | None:
    """Return how many bits a determinant needs, or None if no tree connects all nodes.

    An error e in every cell of the Laplacian changes the tree sum by at most e n² times the largest resistance between
    two nodes, and that is below n over the smallest weight of a maximum spanning tree. Rounding makes e the last place
    of n times the largest weight.
    """
    if given.exponents is None:
        sizes = given.values / math.log(2)
    else:
        sizes = np.where(given.values > 0, given.exponents, -np.inf)
    n = given.n_nodes
    smallest = min((float(sizes[edge]) for edge in maximum_spanning_tree(sizes)), default=math.inf)
    if smallest == -math.inf:
        return None
    return math.ceil(float(sizes.max() - smallest) + 4 * math.log2(n)) + _AGREEMENT + 32


def _log_determinant(context: Any, given: GivenWeights, bits: int, weight_bits: int) -> Any:
    """Return the logarithm of the determinant of a Laplacian without its last row and column; None if rounding ate it."""
    rows = _laplacian(context, given, bits, weight_bits)
    context.prec = bits
    determinant = context.one
    while rows:
        # The first row and column are eliminated; only the upper triangle is kept.
        first, rows = rows[0], rows[1:]
        pivot = first[0]
        if not pivot > 0:
            return None
        determinant *= pivot
        for i, row in enumerate(rows, start=1):
            if not first[i]:
                continue
            factor = first[i] / pivot
            for j in range(len(row)):
                row[j] -= factor * first[i + j]
    context.prec = weight_bits + max(0, context.mag(context.mag(determinant)))
    return context.log(determinant)


def _laplacian(context: Any, given: GivenWeights, bits: int, weight_bits: int) -> list[list[Any]]:
    """Return the rows of the Laplacian from the diagonal on, without the last row and column."""
    n = given.n_nodes
    weights = [[context.zero] * n for _ in range(n)]
    # The tree sum is as exact as its weights are: these need no more bits than the result, and are then kept as they are.
    context.prec = weight_bits + 64
    for u, v in np.argwhere(given.values > (-np.inf if given.exponents is None else 0)):
        if u < v:
            value = context.mpf(float(given.values[u, v]))
            weight = context.exp(value) if given.exponents is None else context.ldexp(value, int(given.exponents[u, v]))
            weights[u][v] = weights[v][u] = weight
    context.prec = max(bits, weight_bits + 64)
    rows = [[-weight for weight in weights[u][u:-1]] for u in range(n - 1)]
    for u, row in enumerate(rows):
        row[0] = context.fsum(weights[u])
    return rows

"""Tree sums as determinants in arbitrary precision: slow, and independent of the core."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._utils.graphs import maximum_spanning_tree
from ._weights import CheckedWeights

#: A sum is accepted if two precisions agree to this many bits.
_AGREEMENT = 100
#: Precision of weights given as logarithms, and of the returned logarithm.
_WEIGHT_BITS = 160
#: More bits would take days.
_MAX_BITS = 2**24


def log_determinant(given: CheckedWeights, digits: int | None) -> Any:
    """Return the logarithm of the tree sum of a graph as an mpmath number."""
    import mpmath  # slow to import, and rarely needed

    if given.n_nodes == 1:
        return mpmath.mpf(0)
    bits = required_bits(given)
    if bits is None:
        return mpmath.mpf("-inf")
    if digits is not None:
        bits = math.ceil(digits * math.log2(10))
    if bits > _MAX_BITS:
        raise ValueError(
            f"log_weights: the range is so large that the determinant would need {round(bits / math.log2(10)):,} digits; "
            f"the limit is {round(_MAX_BITS / math.log2(10)):,}"
        )
    # A new context: the precision of mpmath.mp belongs to the user and is shared by all threads.
    context = mpmath.MPContext()
    previous = None
    factor = 1
    while True:
        result = _log_determinant(context, given, bits * factor, _WEIGHT_BITS * factor)
        if previous is not None and result is not None and abs(result - previous) < context.ldexp(1, -_AGREEMENT):
            return mpmath.mp.make_mpf(result._mpf_)
        previous = result
        factor *= 2


def required_bits(given: CheckedWeights) -> int | None:
    """Return the number of bits that the determinant needs; None if the graph is not connected.

    An error e in every entry of the Laplacian changes the tree sum by at most e n² times the largest resistance between
    two nodes, which is less than n divided by the smallest weight of a maximum spanning tree. Rounding makes e one unit in
    the last place of n times the largest weight.
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


def _log_determinant(context: Any, given: CheckedWeights, bits: int, weight_bits: int) -> Any:
    """Return the log-determinant of the Laplacian without its last row and column; None if precision does not suffice."""
    rows = _laplacian(context, given, bits, weight_bits)
    context.prec = bits
    determinant = context.one
    while rows:
        # Eliminate the first row and column; only the upper triangle is stored.
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


def _laplacian(context: Any, given: CheckedWeights, bits: int, weight_bits: int) -> list[list[Any]]:
    """Return the rows of the Laplacian, starting at the diagonal, without the last row and column."""
    n = given.n_nodes
    weights = [[context.zero] * n for _ in range(n)]
    # The tree sum is as accurate as its weights, so these need no more bits than the result.
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

"""An expert's belief in every edge, as users give it: a matrix, or single edges by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._utils.typing import Floats
from .._utils.validation import check_number


def read_beliefs(value: Any, names: list[str]) -> Floats | None:
    """Return a symmetric matrix of beliefs with zeros on the diagonal, or None if nothing is believed."""
    if value is None:
        return None
    matrix = _from_pairs(value, names) if isinstance(value, Mapping) else _from_matrix(value, len(names))
    np.fill_diagonal(matrix, 0.0)
    bad = ~((matrix >= 0) & (matrix < np.inf))
    if bad.any():
        u, v = np.argwhere(bad)[0]
        raise ValueError(
            f"edge_beliefs must hold finite numbers that are not negative, but the one in {names[u]!r} and {names[v]!r} "
            f"is {matrix[u, v]:g}"
        )
    unequal = matrix != matrix.T
    if unequal.any():
        u, v = np.argwhere(unequal)[0]
        raise ValueError(
            f"edge_beliefs must be symmetric, but the one in {names[u]!r} and {names[v]!r} is {matrix[u, v]:g} and back "
            f"{matrix[v, u]:g}"
        )
    return matrix


def _from_matrix(value: Any, n: int) -> Floats:
    try:
        matrix = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError("edge_beliefs must be a dict, or a matrix of numbers, but some are not") from None
    if matrix.shape != (n, n):
        raise ValueError(
            f"edge_beliefs must have a row and a column for each of the {n} features, but has shape {matrix.shape}"
        )
    return matrix


def _from_pairs(value: Mapping[Any, Any], names: list[str]) -> Floats:
    matrix = np.ones((len(names), len(names)))
    position = {name: i for i, name in enumerate(names)}
    given: dict[tuple[int, int], float] = {}
    for pair, belief in value.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"edge_beliefs must have pairs of names as keys, but one is {pair!r}")
        unknown = [name for name in pair if name not in position]
        if unknown:
            raise ValueError(f"edge_beliefs names {unknown[0]!r}, but the features are {', '.join(names)}")
        u, v = sorted(position[name] for name in pair)
        if u == v:
            raise ValueError(f"edge_beliefs must be of two different features, but one is of {pair[0]!r} alone")
        number = check_number(belief, f"the belief in {pair!r}")
        if (u, v) in given and given[u, v] != number:
            raise ValueError(f"edge_beliefs has two different beliefs in the edge between {pair[0]!r} and {pair[1]!r}")
        given[u, v] = matrix[u, v] = matrix[v, u] = number
    return matrix

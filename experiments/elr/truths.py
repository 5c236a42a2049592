"""Distributions over binary variables that are known: rows at random, and exact error rates."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Equation 14: of the positive class; of a positive feature given the negative and the positive class.
PRIOR, GIVEN = 0.9, (0.8, 0.2)


class Truth:
    """A distribution over the class and k binary features, given as a table over all rows."""

    def __init__(self, joint: Mapping[tuple[int, ...], float]) -> None:
        self.rows = np.array([row[1:] for row in joint])
        self.classes = np.array([row[0] for row in joint])
        self.probabilities = np.array(list(joint.values()))

    def draw(self, rng: np.random.Generator, n: int, missing: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows at random; a missing cell is -1."""
        chosen = rng.choice(len(self.probabilities), n, p=self.probabilities)
        X = self.rows[chosen].copy()
        X[rng.random(X.shape) < missing] = -1
        return X, self.classes[chosen]

    def error(self, predicted: NDArray[Any]) -> float:
        """Percent of all rows that are predicted wrongly; one prediction for each of `rows`."""
        return 100 * float(self.probabilities[predicted != self.classes].sum())

    def best_error(self) -> float:
        """The least that any classifier can reach."""
        best: dict[tuple[int, ...], list[float]] = {}
        for row, label, p in zip(self.rows.tolist(), self.classes, self.probabilities, strict=True):
            best.setdefault(tuple(row), [0.0, 0.0])[label] += p
        return 100 * sum(min(pair) for pair in best.values())


def equal_features(m: int, k: int = 5) -> Truth:
    """Equation 14, where the first m features are one and the same."""
    joint: dict[tuple[int, ...], float] = {}
    for row in product((0, 1), repeat=k + 1):
        c, values = row[0], row[1:]
        p = PRIOR if c else 1 - PRIOR
        for i, value in enumerate(values):
            if 1 <= i < m:
                p *= value == values[0]
            else:
                p *= GIVEN[c] if value else 1 - GIVEN[c]
        if p > 0:
            joint[row] = p
    return Truth(joint)


def first_feature(agreement: float, k: int = 6) -> Truth:
    """The class agrees so often with the first feature; the others are coins."""
    joint: dict[tuple[int, ...], float] = {}
    for row in product((0, 1), repeat=k + 1):
        c, values = row[0], row[1:]
        p = (agreement if c == values[0] else 1 - agreement) * 0.5**k
        if p > 0:
            joint[row] = p
    return Truth(joint)

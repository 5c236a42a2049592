"""Known distributions over binary variables: random rows and exact error rates."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Equation 14: probabilities of the positive class, and of a positive feature given the negative and the positive class.
PRIOR, GIVEN = 0.9, (0.8, 0.2)


class Truth:
    """A distribution over the class and k binary features, given by the probability of every row."""

    def __init__(self, joint: Mapping[tuple[int, ...], float]) -> None:
        self.rows = np.array([row[1:] for row in joint])
        self.classes = np.array([row[0] for row in joint])
        self.probabilities = np.array(list(joint.values()))

    def sample(self, rng: np.random.Generator, n: int, missing: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sample rows; a missing value is -1."""
        chosen = rng.choice(len(self.probabilities), n, p=self.probabilities)
        X = self.rows[chosen].copy()
        X[rng.random(X.shape) < missing] = -1
        return X, self.classes[chosen]

    def error(self, predicted: NDArray[Any]) -> float:
        """Return the error rate in percent; one prediction for each of `rows`."""
        return 100 * float(self.probabilities[predicted != self.classes].sum())

    def best_error(self) -> float:
        """Return the lowest error rate of any classifier."""
        best: dict[tuple[int, ...], list[float]] = {}
        for row, label, p in zip(self.rows.tolist(), self.classes, self.probabilities, strict=True):
            best.setdefault(tuple(row), [0.0, 0.0])[label] += p
        return 100 * sum(min(pair) for pair in best.values())


def equal_features(m: int, k: int = 5) -> Truth:
    """Return the distribution of equation 14 with m identical features."""
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
    """Return a distribution whose class agrees with the first feature at this rate; other features are coin flips."""
    joint: dict[tuple[int, ...], float] = {}
    for row in product((0, 1), repeat=k + 1):
        c, values = row[0], row[1:]
        p = (agreement if c == values[0] else 1 - agreement) * 0.5**k
        if p > 0:
            joint[row] = p
    return Truth(joint)

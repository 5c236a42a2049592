"""Summaries of a stream in bounded memory: rows drawn at random, and approximate quantiles. Both can be merged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._utils.typing import Floats

#: Numbers per block, and points per summary of blocks.
CAPACITY = 1 << 14


class RowSample:
    """A random sample of rows without replacement: the rows with the smallest random keys; all rows if there are few.

    One key is drawn per row, in order, so the sample does not depend on where batches end. The smallest keys of two samples
    are the sample of both together.

    Parameters
    ----------
    size : int
        The size of the sample.
    seed : sequence of int
    """

    def __init__(self, size: int, seed: Sequence[int]) -> None:
        self._size = size
        self._random = np.random.Generator(np.random.PCG64(list(seed)))
        self._largest = np.inf
        self._keys = np.empty(0)
        self._codes: npt.NDArray[np.uint16] = np.empty(0, dtype=np.uint16)
        self._weights: Floats | None = None
        self._columns: dict[int, Floats] = {}

    def add(self, columns: dict[int, Floats], codes: npt.NDArray[np.integer], weights: Floats | None) -> None:
        """Sample from more rows, given by the numbers of some columns by position, class codes and weights."""
        keys = self._random.random(len(codes))
        chosen = np.flatnonzero(keys < self._largest)
        self._append(
            keys[chosen],
            codes[chosen].astype(np.uint16),
            None if weights is None else weights[chosen],
            {i: x[chosen] for i, x in columns.items()},
        )

    def _append(
        self,
        keys: Floats,
        codes: npt.NDArray[np.uint16],
        weights: Floats | None,
        columns: dict[int, Floats],
    ) -> None:
        n_before, n_more = len(self._keys), len(keys)
        if weights is not None or self._weights is not None:
            before = np.ones(n_before) if self._weights is None else self._weights
            self._weights = np.concatenate([before, np.ones(n_more) if weights is None else weights])
        for i in {*self._columns, *columns}:  # a column without numbers so far is missing
            before = self._columns.get(i, np.full(n_before, np.nan))
            self._columns[i] = np.concatenate([before, columns.get(i, np.full(n_more, np.nan))])
        self._keys = np.concatenate([self._keys, keys])
        self._codes = np.concatenate([self._codes, codes])
        if len(self._keys) > 2 * self._size:
            self._shrink()

    def _shrink(self) -> None:
        if len(self._keys) <= self._size:
            return
        kept = np.sort(np.argpartition(self._keys, self._size - 1)[: self._size])  # keeps the order of the rows
        self._keys, self._codes = self._keys[kept], self._codes[kept]
        self._weights = None if self._weights is None else self._weights[kept]
        self._columns = {i: x[kept] for i, x in self._columns.items()}
        self._largest = float(self._keys.max())

    def recode(self, moved: npt.NDArray[np.uint16]) -> None:
        """Change the codes of the classes."""
        self._codes = moved[self._codes] if len(self._codes) else self._codes

    def merge(self, other: RowSample) -> None:
        """Add the rows of another sample."""
        self._append(other._keys, other._codes, other._weights, other._columns)
        self._largest = min(self._largest, other._largest)
        self._shrink()

    def rows(self) -> tuple[dict[int, Floats], npt.NDArray[np.uint16], Floats | None]:
        """Return the numbers of every column, the class codes and the weights of the sampled rows."""
        self._shrink()
        return self._columns, self._codes, self._weights


class QuantileSummary:
    """A mergeable summary of numbers with approximate ranks.

    Numbers are collected in blocks of `CAPACITY`, each sorted, with equal numbers joined. Two blocks of the same level are
    merged: if they fit into one block, exactly; otherwise every second point takes the weight of its left or right neighbor,
    in turn, and the result moves one level up. A column of at most `CAPACITY` distinct numbers is therefore exact, however many
    rows it has; for others, ranks are off by at most levels / (2 CAPACITY) of all rows, less than 0.05 percent for a billion.
    The summary is deterministic and depends on the order of the numbers, but not on the batches.
    """

    def __init__(self) -> None:
        self._levels: list[tuple[Floats, Floats] | None] = []
        self._values: list[Floats] = []  # of the incomplete block
        self._weights: list[Floats | None] = []  # None if all weights are one
        self._n_pending = 0
        self._right = False

    def add(self, values: Floats, weights: Floats | None) -> None:
        """Add numbers; NaN is ignored."""
        there = ~np.isnan(values)
        if not there.all():
            values, weights = values[there], None if weights is None else weights[there]
        self._add(values, weights)

    def _add(self, values: Floats, weights: Floats | None) -> None:
        begin = 0
        while begin < len(values):
            end = begin + CAPACITY - self._n_pending
            self._values.append(values[begin:end].copy())
            self._weights.append(None if weights is None else weights[begin:end].copy())
            self._n_pending += len(self._values[-1])
            begin = end
            if self._n_pending == CAPACITY:
                self._put(self._pending(), 0)
                self._values, self._weights, self._n_pending = [], [], 0

    def _pending(self) -> tuple[Floats, Floats]:
        values = np.concatenate(self._values)
        if all(weights is None for weights in self._weights):
            values.sort()  # ten times as fast as sorting numbers with their weights
            return _joined_sorted(values, np.ones(len(values)))
        both = zip(self._values, self._weights, strict=True)
        return _joined(values, np.concatenate([np.ones(len(x)) if w is None else w for x, w in both]))

    def _put(self, points: tuple[Floats, Floats], level: int) -> None:
        while True:
            while len(self._levels) <= level:
                self._levels.append(None)
            held = self._levels[level]
            if held is None:
                self._levels[level] = points
                return
            points = _joined(np.concatenate([held[0], points[0]]), np.concatenate([held[1], points[1]]))
            if len(points[0]) <= CAPACITY:
                self._levels[level] = points
                return
            self._levels[level] = None
            points = self._halved(points)
            level += 1

    def _halved(self, points: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        values, weights = points
        starts = np.arange(0, len(values), 2)
        chosen = np.minimum(starts + self._right, len(values) - 1)
        self._right = not self._right
        sums = weights[starts]
        sums[: len(values) // 2] += weights[1::2]
        return values[chosen], sums

    def merge(self, other: QuantileSummary) -> None:
        """Add another summary."""
        for level, points in enumerate(other._levels):
            if points is not None:
                self._put(points, level)
        for values, weights in zip(other._values, other._weights, strict=True):
            self._add(values, weights)

    def points(self) -> tuple[Floats, Floats]:
        """Return numbers in ascending order and the weight that each represents."""
        all_points = [points for points in self._levels if points is not None]
        if self._n_pending:
            all_points.append(self._pending())
        if not all_points:
            return np.empty(0), np.empty(0)
        return _joined(np.concatenate([p[0] for p in all_points]), np.concatenate([p[1] for p in all_points]))


def _joined(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Sort numbers and join equal ones."""
    order = np.argsort(values, kind="stable")
    return _joined_sorted(values[order], weights[order])


def _joined_sorted(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    new = np.concatenate([[True], values[1:] != values[:-1]])
    if new.all():
        return values, weights
    starts = np.flatnonzero(new)
    return values[starts], np.add.reduceat(weights, starts)

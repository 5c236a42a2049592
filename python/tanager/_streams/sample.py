"""Rows drawn at random from a stream of unknown length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._utils.typing import Floats


class RowSample:
    """The rows with the smallest of random keys: all rows while they are few, else a sample without replacement.

    Keys are drawn one per row, in their order, so that where batches end makes no difference. The smallest keys of two
    samples are those of both together.

    Parameters
    ----------
    size : int
        How many rows to keep.
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
        """Draw from more rows: the numbers of some columns by position, class codes and weights."""
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
        for i in {*self._columns, *columns}:  # a column without any number is missing so far
            before = self._columns.get(i, np.full(n_before, np.nan))
            self._columns[i] = np.concatenate([before, columns.get(i, np.full(n_more, np.nan))])
        self._keys = np.concatenate([self._keys, keys])
        self._codes = np.concatenate([self._codes, codes])
        if len(self._keys) > 2 * self._size:
            self._shrink()

    def _shrink(self) -> None:
        if len(self._keys) <= self._size:
            return
        kept = np.sort(np.argpartition(self._keys, self._size - 1)[: self._size])  # in the order of the rows
        self._keys, self._codes = self._keys[kept], self._codes[kept]
        self._weights = None if self._weights is None else self._weights[kept]
        self._columns = {i: x[kept] for i, x in self._columns.items()}
        self._largest = float(self._keys.max())

    def recode(self, moved: npt.NDArray[np.uint16]) -> None:
        """Give the classes other codes."""
        self._codes = moved[self._codes] if len(self._codes) else self._codes

    def merge(self, other: RowSample) -> None:
        """Add the rows of another sample."""
        self._append(other._keys, other._codes, other._weights, other._columns)
        self._largest = min(self._largest, other._largest)
        self._shrink()

    def rows(self) -> tuple[dict[int, Floats], npt.NDArray[np.uint16], Floats | None]:
        """Return the numbers of every column, the class codes and the weights of the rows drawn."""
        self._shrink()
        return self._columns, self._codes, self._weights

"""What users give as ``cv``, turned into folds: a number of folds, the fold of each row, a splitter, or pairs of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.random import Seed
from .._utils.typing import Codes
from .._utils.validation import is_integer

Rows = npt.NDArray[np.int64]


class Split:
    """The rows that one fold is tested on, and those it is learned from: by default all others.

    The others are looked up only when asked for: learning from counts needs none.
    """

    def __init__(self, test: Rows, n_rows: int, train: Rows | None = None) -> None:
        self.test = test
        self.n_train = n_rows - len(test) if train is None else len(train)
        self._n_rows = n_rows
        self._train = train

    @property
    def train(self) -> Rows:
        """The rows that the fold is learned from."""
        if self._train is None:
            kept = np.ones(self._n_rows, dtype=bool)
            kept[self.test] = False
            self._train = np.flatnonzero(kept)
        return self._train


def fold_of_row(
    cv: Any, y_codes: Codes, n_classes: int, X: Any, seed: Seed, kept: npt.NDArray[np.bool_] | None = None
) -> tuple[npt.NDArray[np.uint32], int]:
    """Return the fold of every row, where every row is tested exactly once.

    Parameters
    ----------
    cv : int, array-like of shape (n_rows,), splitter or iterable of (train, test)
        As in `tanager.evaluation.cross_validate`. The test rows of the folds must share out all rows among them.
    y_codes : ndarray of uint8 or uint16
        The class of every row, from 0 to n_classes - 1.
    n_classes : int
    X : table or None
        Handed to splitters that look at it; most only count its rows.
    seed : int or callable
        Seed of stratified folds, or what draws one when it is needed.
    kept : ndarray of bool or None, default=None
        Which of the rows that a user gave are those of `y_codes`, if not all: lists of folds or rows mean the former,
        while splitters and numbers of folds share out the latter.

    Returns
    -------
    folds : ndarray of uint32
        From 0 to n_folds - 1.
    n_folds : int
    """
    if _is_number_of_folds(cv):
        return _stratified(cv, y_codes, n_classes, seed), int(cv)
    n_rows = len(y_codes) if kept is None or _is_splitter(cv) else len(kept)
    given = _given_folds(cv, n_rows)
    if given is None:
        splits = _splits(cv, X, y_codes, n_rows)
        folds, fault = _partition(splits, n_rows)
        if fault:
            raise ValueError(fault)
        given = folds, len(splits)
    if kept is None or n_rows == len(y_codes):
        return given
    found, renumbered = np.unique(given[0][kept], return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"cv must give at least 2 folds, but all rows that have weight are in fold {found[0]}")
    return renumbered.reshape(-1).astype(np.uint32), len(found)


def _partition(splits: list[Split], n_rows: int) -> tuple[npt.NDArray[np.uint32], str]:
    """Return the fold that every row is tested in, and what is wrong where folds do not share out all rows."""
    folds = np.zeros(n_rows, dtype=np.uint32)
    times = np.zeros(n_rows, dtype=np.int64)
    for number, split in enumerate(splits):
        folds[split.test] = number
        np.add.at(times, split.test, 1)
    if (times != 1).any():
        row = int(np.argmax(times != 1))
        return folds, (
            "the test rows of cv must share out all rows, each in exactly one fold, but "
            f"row {row} is in {'none' if times[row] == 0 else times[row]} of the {len(splits)} test sets"
        )
    for number, split in enumerate(splits):
        train, test = split.train, split.test
        # As many different rows as are left, none of them in the test: these are all others.
        if len(train) != n_rows - len(test) or np.bincount(train).max() > 1 or (folds[train] == number).any():
            return folds, (
                f"every fold of cv must be learned from all rows that it is not tested on, but fold {number} is not"
            )
    return folds, ""


def train_and_test_rows(
    cv: Any, X: Any, y: Any, y_codes: Codes, n_classes: int, seed: Seed
) -> tuple[list[Split], npt.NDArray[np.uint32] | None]:
    """Return the rows to learn from and to test on, fold by fold.

    Parameters
    ----------
    cv, y_codes, n_classes, X, seed
        As in `fold_of_row`, but rows may be tested several times or never.
    y : array-like of shape (n_rows,)
        The labels, as splitters see them.

    Returns
    -------
    splits : list of Split
    folds : ndarray of uint32 or None
        The fold of every row, if every row is tested exactly once and learned from in all other folds.
    """
    n_rows = len(y_codes)
    if _is_number_of_folds(cv):
        folds = _stratified(cv, y_codes, n_classes, seed)
        return _from_folds(folds, int(cv)), folds
    given = _given_folds(cv, n_rows)
    if given is not None:
        return _from_folds(*given), given[0]
    splits = _splits(cv, X, y, n_rows)
    folds, fault = _partition(splits, n_rows)
    return splits, None if fault else folds


def _is_number_of_folds(cv: Any) -> bool:
    if isinstance(cv, np.ndarray) and cv.ndim == 0:
        cv = cv[()]
    if cv is None or isinstance(cv, (bool, str, float)):
        raise TypeError(
            "cv must be a number of folds, the fold of each row, a splitter of scikit-learn or a list of pairs "
            f"(train, test), but is {cv!r}"
        )
    return is_integer(cv)


def _is_splitter(cv: Any) -> bool:
    return hasattr(cv, "split") and not isinstance(cv, np.ndarray)  # arrays of characters have a method of that name


def _stratified(n_folds: int, y_codes: Codes, n_classes: int, seed: Seed) -> npt.NDArray[np.uint32]:
    if not 2 <= n_folds <= len(y_codes):
        raise ValueError(
            f"cv must be at least 2 and at most the number of rows, which is {len(y_codes)}, but is {n_folds}"
        )
    drawn = seed() if callable(seed) else seed
    return _core.stratified_folds(y_codes, n_classes, int(n_folds), drawn)


def _given_folds(cv: Any, n_rows: int) -> tuple[npt.NDArray[np.uint32], int] | None:
    """Return the folds if `cv` is the fold of each row, else None."""
    if _is_splitter(cv):
        return None
    if isinstance(cv, (list, tuple)):
        if not cv or not all(map(np.isscalar, cv)):
            return None
    elif not hasattr(cv, "__array__"):
        return None
    labels = np.asarray(cv)
    if labels.ndim != 1:
        return None
    if labels.shape != (n_rows,):
        raise ValueError(f"cv must give the fold of each of the {n_rows} rows, but gives {len(labels)} folds")
    if labels.dtype.kind not in "iuUSOT" or (labels.dtype.kind == "O" and not all(map(_is_label, labels))):
        raise TypeError(f"cv must give the fold of each row as a whole number or a name, but holds {labels.dtype}")
    values, folds = np.unique(labels, return_inverse=True)
    if labels.dtype.kind == "i" and values[0] < 0:
        raise ValueError(
            f"the folds in cv must not be negative, but one is {values[0]}; rows that are never tested need a splitter "
            "such as scikit-learn's PredefinedSplit"
        )
    if len(values) < 2:
        raise ValueError(f"cv must give at least 2 folds, but all rows are in fold {values[0]}")
    return folds.reshape(-1).astype(np.uint32), len(values)


def _is_label(label: Any) -> bool:
    return isinstance(label, str) or is_integer(label)


def _from_folds(folds: npt.NDArray[np.uint32], n_folds: int) -> list[Split]:
    # Sorting by fold is far cheaper than one look at all rows for every fold, and numbers of 16 bits are the fastest.
    order = np.argsort(folds.astype(np.uint16) if n_folds <= 2**16 else folds, kind="stable")
    ends = np.cumsum(np.bincount(folds, minlength=n_folds))
    return [Split(test, len(folds)) for test in np.split(order, ends[:-1])]


def _splits(cv: Any, X: Any, y: Any, n_rows: int) -> list[Split]:
    if _is_splitter(cv):
        cv = cv.split(np.zeros((n_rows, 1)) if X is None else X, y)
    if not isinstance(cv, Iterable):
        raise TypeError(
            "cv must be a number of folds, the fold of each row, a splitter of scikit-learn or a list of pairs "
            f"(train, test), but is of type {type(cv).__name__}"
        )
    splits = [_check_pair(pair, number, n_rows) for number, pair in enumerate(cv)]
    if not splits:
        raise ValueError("cv must give at least one fold, but gives none")
    return splits


def _check_pair(pair: Any, number: int, n_rows: int) -> Split:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise ValueError(f"cv must give pairs (train, test), but fold {number} is {pair!r}")
    train, test = (_check_rows(rows, what, number, n_rows) for rows, what in zip(pair, ("train", "test"), strict=True))
    return Split(test, n_rows, train)


def _check_rows(rows: Any, what: str, number: int, n_rows: int) -> Rows:
    found = np.asarray(rows)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iub"):
        raise ValueError(f"cv must give rows by position, but the {what} rows of fold {number} are {rows!r}")
    if found.size and found.dtype.kind == "b":
        if len(found) != n_rows:
            raise ValueError(f"fold {number} of cv marks {len(found)} {what} rows, but there are {n_rows} rows")
        found = np.flatnonzero(found)
    if not found.size:
        raise ValueError(f"fold {number} of cv has no {what} rows")
    if found.min() < 0 or found.max() >= n_rows:
        raise ValueError(
            f"fold {number} of cv has {what} rows from {found.min()} to {found.max()}, but there are {n_rows} rows"
        )
    return found.astype(np.int64)

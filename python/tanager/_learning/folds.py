"""Folds from ``cv``: a number of folds, the fold of each row, a scikit-learn splitter, or pairs of row indices."""

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
    """The test rows and training rows of one fold; by default all other rows are training rows.

    Training rows are computed on first access: learners that work with counts do not need them.
    """

    def __init__(self, test: Rows, n_rows: int, train: Rows | None = None) -> None:
        self.test = test
        self.n_train = n_rows - len(test) if train is None else len(train)
        self._n_rows = n_rows
        self._train = train

    @property
    def train(self) -> Rows:
        """The training rows of the fold."""
        if self._train is None:
            is_train = np.ones(self._n_rows, dtype=bool)
            is_train[self.test] = False
            self._train = np.flatnonzero(is_train)
        return self._train


def fold_of_row(
    cv: Any, y_codes: Codes, n_classes: int, X: Any, seed: Seed, row_mask: npt.NDArray[np.bool_] | None = None
) -> tuple[npt.NDArray[np.uint32], int]:
    """Return the fold in which each row is a test row.

    Parameters
    ----------
    cv : int, array-like of shape (n_rows,), splitter or iterable of (train, test)
        As in `tanager.evaluation.cross_validate`. Every row must be a test row of exactly one fold.
    y_codes : ndarray of uint8 or uint16
        The class of each row, from 0 to n_classes - 1.
    n_classes : int
    X : table or None
        Passed to splitters; most of them use only its number of rows.
    seed : int or callable
        Seed of stratified folds, or a function that draws one if it is needed.
    row_mask : ndarray of bool or None, default=None
        Which of the rows passed by the user are in `y_codes`; None means all. An array of folds and lists of row indices
        refer to all rows passed; splitters and a number of folds refer to the rows in `y_codes`.

    Returns
    -------
    folds : ndarray of uint32
        From 0 to n_folds - 1.
    n_folds : int
    """
    if _is_number_of_folds(cv):
        return _stratified(cv, y_codes, n_classes, seed), int(cv)
    n_rows = len(y_codes) if row_mask is None or _is_splitter(cv) else len(row_mask)
    given = _given_folds(cv, n_rows)
    if given is None:
        splits = _splits(cv, X, y_codes, n_rows)
        folds, fault = _partition(splits, n_rows)
        if fault:
            raise ValueError(fault)
        given = folds, len(splits)
    if row_mask is None or n_rows == len(y_codes):
        return given
    used_folds, renumbered = np.unique(given[0][row_mask], return_inverse=True)
    if len(used_folds) < 2:
        raise ValueError(f"cv: expected at least 2 folds, got all rows of non-zero weight in fold {used_folds[0]}")
    return renumbered.reshape(-1).astype(np.uint32), len(used_folds)


def _partition(splits: list[Split], n_rows: int) -> tuple[npt.NDArray[np.uint32], str]:
    """Return the fold in which each row is tested, and an error message if the folds do not partition the rows."""
    folds = np.zeros(n_rows, dtype=np.uint32)
    times = np.zeros(n_rows, dtype=np.int64)
    for number, split in enumerate(splits):
        folds[split.test] = number
        np.add.at(times, split.test, 1)
    if (times != 1).any():
        row = int(np.argmax(times != 1))
        return folds, (
            "cv: expected every row in the test set of exactly one fold, got "
            f"row {row} in {'none' if times[row] == 0 else times[row]} of the {len(splits)} test sets"
        )
    for number, split in enumerate(splits):
        train, test = split.train, split.test
        # As many distinct rows as are left, none of them in the test set: these are all other rows.
        if len(train) != n_rows - len(test) or np.bincount(train).max() > 1 or (folds[train] == number).any():
            return folds, (
                f"cv: expected folds that train on all rows outside the test set, got other training rows in fold {number}"
            )
    return folds, ""


def train_and_test_rows(
    cv: Any, X: Any, y: Any, y_codes: Codes, n_classes: int, seed: Seed
) -> tuple[list[Split], npt.NDArray[np.uint32] | None]:
    """Return the training and test rows of each fold.

    Parameters
    ----------
    cv, y_codes, n_classes, X, seed
        As in `fold_of_row`, but a row may be tested several times or never.
    y : array-like of shape (n_rows,)
        The labels, passed to splitters.

    Returns
    -------
    splits : list of Split
    folds : ndarray of uint32 or None
        The fold of each row, if every row is tested exactly once and is a training row of all other folds.
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
            "cv: expected a number of folds, the fold of each row, a scikit-learn splitter or a list of pairs "
            f"(train, test), got {cv!r}"
        )
    return is_integer(cv)


def _is_splitter(cv: Any) -> bool:
    return hasattr(cv, "split") and not isinstance(cv, np.ndarray)  # character arrays have a method of that name


def _stratified(n_folds: int, y_codes: Codes, n_classes: int, seed: Seed) -> npt.NDArray[np.uint32]:
    if not 2 <= n_folds <= len(y_codes):
        raise ValueError(f"cv: expected from 2 folds to the number of rows, which is {len(y_codes)}, got {n_folds}")
    return _core.stratified_folds(y_codes, n_classes, int(n_folds), seed() if callable(seed) else seed)


def _given_folds(cv: Any, n_rows: int) -> tuple[npt.NDArray[np.uint32], int] | None:
    """Return the folds if `cv` is an array of the fold of each row, else None."""
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
        raise ValueError(f"cv: expected the fold of each of the {n_rows} rows, got {len(labels)} folds")
    if labels.dtype.kind not in "iuUSOT" or (labels.dtype.kind == "O" and not all(map(_is_label, labels))):
        raise TypeError(f"cv: expected the fold of each row as an integer or a string, got an array of {labels.dtype}")
    values, folds = np.unique(labels, return_inverse=True)
    if labels.dtype.kind == "i" and values[0] < 0:
        raise ValueError(
            f"cv: expected non-negative folds, got {values[0]}; to leave rows untested, use a splitter such as "
            "scikit-learn's PredefinedSplit"
        )
    if len(values) < 2:
        raise ValueError(f"cv: expected at least 2 folds, got all rows in fold {values[0]}")
    return folds.reshape(-1).astype(np.uint32), len(values)


def _is_label(label: Any) -> bool:
    return isinstance(label, str) or is_integer(label)


def _from_folds(folds: npt.NDArray[np.uint32], n_folds: int) -> list[Split]:
    # One sort is far cheaper than a scan of all rows per fold, and fastest with 16-bit integers.
    order = np.argsort(folds.astype(np.uint16) if n_folds <= 2**16 else folds, kind="stable")
    ends = np.cumsum(np.bincount(folds, minlength=n_folds))
    return [Split(test, len(folds)) for test in np.split(order, ends[:-1])]


def _splits(cv: Any, X: Any, y: Any, n_rows: int) -> list[Split]:
    if _is_splitter(cv):
        cv = cv.split(np.zeros((n_rows, 1)) if X is None else X, y)
    if not isinstance(cv, Iterable):
        raise TypeError(
            "cv: expected a number of folds, the fold of each row, a scikit-learn splitter or a list of pairs "
            f"(train, test), got {type(cv).__name__}"
        )
    splits = [_check_pair(pair, number, n_rows) for number, pair in enumerate(cv)]
    if not splits:
        raise ValueError("cv: expected at least one fold, got none")
    return splits


def _check_pair(pair: Any, number: int, n_rows: int) -> Split:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise ValueError(f"cv: expected pairs (train, test), got {pair!r} for fold {number}")
    train, test = (_check_rows(rows, what, number, n_rows) for rows, what in zip(pair, ("train", "test"), strict=True))
    return Split(test, n_rows, train)


def _check_rows(rows: Any, what: str, number: int, n_rows: int) -> Rows:
    indices = np.asarray(rows)
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iub"):
        raise ValueError(
            f"cv: expected row indices or a boolean mask, got {rows!r} as the {what} rows of fold {number}"
        )
    if indices.size and indices.dtype.kind == "b":
        if len(indices) != n_rows:
            raise ValueError(
                f"cv: expected masks of {n_rows} rows, got {len(indices)} for the {what} rows of fold {number}"
            )
        indices = np.flatnonzero(indices)
    if not indices.size:
        raise ValueError(f"cv: the {what} set of fold {number} is empty")
    if indices.min() < 0 or indices.max() >= n_rows:
        raise ValueError(
            f"cv: expected row indices from 0 to {n_rows - 1}, got {what} rows from {indices.min()} to {indices.max()} in fold {number}"
        )
    return indices.astype(np.int64)

"""Data encoded once for all folds of a cross-validation.

Fitting a fold encodes its training rows only: categories that do not occur in them have no code, and the cut points of
numeric columns come from these rows. Here all rows are encoded once, and each fold is a recoding of the result: some
categories are dropped, and intervals between the cut points of all folds are merged. Both keep counts exact, so the
training counts of a fold are the total counts minus those of its test rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.column_encoder import MAX_VALUES, encode_declared, learn_categories
from .._encoding.columns import CodedColumn, Column, ObjectColumn, is_missing
from .._encoding.encoder import EncodingSettings, learn_integers, read_columns
from .._encoding.table import Table
from .._learning.folds import Split
from .._utils.typing import Codes, Floats

#: The new code of each old code, and the number of new codes; None where the counts of a fold determine it.
Coding = tuple[npt.NDArray[np.uint16], int] | None

#: The new code of values that do not occur in the training rows of a fold.
DROPPED = 65535
# Every part of a column of one of these types is encoded alike; a part of a mixed column may be sorted or binned differently.
_CONSISTENT_TYPES = {str, bytes, bool, int, float}


class FoldsDiffer(Exception):
    """Raised when a fold might be encoded differently from the complete data, so folds have to be fitted one by one."""


@dataclass(frozen=True)
class FoldRows:
    """Classes and weights of all rows, and the folds.

    `folds` is the fold of each row if every row is tested in exactly one fold and used for training in all others, else None.
    """

    y_codes: Codes
    n_classes: int
    weights: Floats | None
    splits: Sequence[Split]
    folds: npt.NDArray[np.uint32] | None

    def train(self, fold: int) -> npt.NDArray[np.int64]:
        """Return the training rows of a fold with positive weight; rows of weight zero only contribute their class label."""
        train = self.splits[fold].train
        return train if self.weights is None else train[self.weights[train] > 0]


@dataclass
class _Column:
    """Codes of a feature for all rows."""

    codes: Codes
    n_values: int
    keep_all: bool


@dataclass
class _NumericColumn:
    """A numeric feature, which every fold discretizes with its own cut points."""

    values: Floats
    cuts: list[Floats] = field(default_factory=list)

    def discretize(
        self, rows: npt.NDArray[np.int64], y_codes: Codes, n_classes: int, weights: Floats | None, discretizer: Any
    ) -> None:
        """Find the cut points of the next fold, as fitting on its training rows does."""
        x = self.values[rows]
        cuts = np.empty(0) if np.isnan(x).all() else discretizer._find_cuts(x, y_codes, n_classes, weights)
        self.cuts.append(cuts)

    def joined(self) -> tuple[_Column, list[Coding]]:
        """Return the column discretized at the cut points of all folds, and how each fold merges these intervals."""
        points = np.unique(np.concatenate(self.cuts))
        if len(points) >= MAX_VALUES:
            raise FoldsDiffer
        codings: list[Coding] = []
        for cuts in self.cuts:
            # An interval begins above a point; its code in the fold is the number of the fold's cut points up to there.
            codes = np.concatenate([[0], np.searchsorted(cuts, points, side="right")])
            codings.append((codes.astype(np.uint16), len(cuts) + 1))
        return _Column(_core.apply_cuts(self.values, points), len(points) + 1, keep_all=True), codings


@dataclass(frozen=True)
class FoldTable:
    """The encoded data, and how the folds recode them.

    Attributes
    ----------
    dataset : Dataset
        All rows.
    keep_all : list of bool
        Whether a feature keeps codes without rows, because its categories are declared.
    features : list of list
        For every fold, the codings of its numeric features; an empty list if there are none.
    classes : list
        For every fold, the coding of the class, unless the counts determine it.
    seconds : list of float
        Time to find the cut points of every fold.
    """

    dataset: _core.Dataset
    keep_all: list[bool]
    features: list[list[Coding]]
    classes: list[Coding]
    seconds: list[float]


def make_fold_table(table: Table, rows: FoldRows, settings: EncodingSettings, threads: int) -> FoldTable:
    """Encode data for all folds; raise FoldsDiffer, or any error of encoding, if folds must be fitted one by one."""
    read = _read_columns(table, settings, threads)
    numeric = [column for column in read if isinstance(column, _NumericColumn)]
    n_folds = len(rows.splits)
    if rows.weights is not None and any(not len(rows.train(fold)) for fold in range(n_folds)):
        raise FoldsDiffer  # fitting raises the error
    classes: list[Coding] = [None] * n_folds
    if numeric or rows.weights is not None:
        classes = [_class_coding(rows, split) for split in rows.splits]
    seconds = [_discretize_all(numeric, rows, fold, classes[fold], settings.discretizer) for fold in range(n_folds)]

    features: list[list[Coding]] = [[None] * len(read) if numeric else [] for _ in range(n_folds)]
    columns: list[_Column] = []
    for position, column in enumerate(read):
        if isinstance(column, _Column):
            columns.append(column)
            continue
        joined, codings = column.joined()
        columns.append(joined)
        for given, coding in zip(features, codings, strict=True):
            given[position] = coding
    dataset = _core.Dataset(
        [column.codes for column in columns],
        [column.n_values for column in columns],
        rows.y_codes,
        rows.n_classes,
        rows.weights,
    )
    return FoldTable(dataset, [column.keep_all for column in columns], features, classes, seconds)


def _class_coding(rows: FoldRows, split: Split) -> Coding:
    used = np.bincount(rows.y_codes[split.train], minlength=rows.n_classes) > 0
    codes = np.where(used, np.cumsum(used) - 1, DROPPED).astype(np.uint16)
    return codes, int(used.sum())


def _discretize_all(
    numeric: Sequence[_NumericColumn], rows: FoldRows, fold: int, classes: Coding, discretizer: Any
) -> float:
    """Discretize all numeric columns on the training rows of one fold; return how long it took."""
    if not numeric or classes is None:
        return 0.0
    start = time.perf_counter()
    train = rows.train(fold)
    y_codes = _core.recode(rows.y_codes[train], *classes)
    weights = None if rows.weights is None else rows.weights[train]
    for column in numeric:
        column.discretize(train, y_codes, classes[1], weights, discretizer)
    return time.perf_counter() - start


def _read_columns(table: Table, settings: EncodingSettings, threads: int) -> list[_Column | _NumericColumn]:
    """Read all columns as `learn_encoding` does, except that numeric columns are not discretized yet."""
    integers = learn_integers(table, settings, threads)
    if integers is not None:
        encoder, codes = integers
        return [_Column(c, r, keep_all=False) for c, r in zip(codes, encoder.cardinalities, strict=True)]
    read: list[_Column | _NumericColumn] = []
    for task in read_columns(table, settings):
        if task.declared is not None:
            column_encoder, column_codes = encode_declared(task.declared, task.column, task.label)
            read.append(_Column(column_codes, column_encoder.cardinality, keep_all=True))
        elif task.role == "numeric":
            read.append(_read_numeric(task.column, task.label))
        else:
            column_encoder, column_codes = learn_categories(_consistent(task.column, task.label), task.label)
            keep_all = column_encoder.order != "sorted"
            read.append(_Column(column_codes, column_encoder.cardinality, keep_all=keep_all))
    return read


def _read_numeric(column: Column, label: str) -> _NumericColumn:
    if isinstance(column, ObjectColumn):
        raise FoldsDiffer
    values = np.ascontiguousarray(column.floats(label), dtype=np.float64)
    if np.isinf(values).any():
        raise FoldsDiffer  # fitting raises the error
    return _NumericColumn(values)


def _consistent(column: Column, label: str) -> Column:
    """Return a categorical column if any part of it would be encoded in the same way; otherwise raise FoldsDiffer."""
    if isinstance(column, ObjectColumn):
        if column.is_float:
            raise FoldsDiffer
        column = column.coded(label)
    if isinstance(column, CodedColumn) and not column.has_order:
        values = [value for value in column.values if not is_missing(value)]
        types = {type(value) for value in values}
        # Integers beyond 64 bits are objects; a part without them would be an integer array.
        if len(types) > 1 or not types <= _CONSISTENT_TYPES or (types == {int} and max(map(abs, values)) >= 2**63):
            raise FoldsDiffer
    return column

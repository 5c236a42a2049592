"""A table encoded once for all folds of a cross-validation.

Every fit encodes its own training rows: categories that do not occur in them have no code, and columns of numbers are
cut where these rows say. Here the whole table is encoded once, and what a fold does differently is a recoding: some
categories are dropped, and intervals between the cuts of all folds are joined. Both leave counts exact, so that the
training counts of a fold are the total less the rows left out.
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
from .._encoding.encoder import _learn_integers, declared_categories, numeric_rule
from .._encoding.table import Table
from .._learning.folds import Split
from .._utils.typing import Codes, Floats

#: The new code of every old one, and the number of new ones; None where a fold finds its coding in the counts.
Given = tuple[npt.NDArray[np.uint16], int] | None

#: What a recoding says of a value that a fold does not know.
DROPPED = 65535
# Any part of a column of one of these types is read as the whole is; mixed ones may be sorted or cut otherwise.
_STEADY_TYPES = {str, bytes, bool, int, float}


class Unsteady(Exception):
    """A fold might read the table otherwise than the whole: only fitting it on its own tells."""


@dataclass(frozen=True)
class Rows:
    """What all classifiers are judged on: the classes and weights of all rows, and the folds.

    `folds` is the fold of every row where each is tested exactly once and learned from otherwise, else None.
    """

    y_codes: Codes
    n_classes: int
    weights: Floats | None
    splits: Sequence[Split]
    folds: npt.NDArray[np.uint32] | None

    def train(self, fold: int) -> npt.NDArray[np.int64]:
        """Return the training rows of a fold that count; those of weight zero add nothing but the name of their class."""
        train = self.splits[fold].train
        return train if self.weights is None else train[self.weights[train] > 0]


@dataclass
class _Column:
    """A feature's codes for all rows."""

    codes: Codes
    n_values: int
    keep_all: bool


@dataclass
class _Numbers:
    """A feature that every fold cuts anew."""

    values: Floats
    cuts: list[Floats] = field(default_factory=list)

    def cut(
        self, rows: npt.NDArray[np.int64], y_codes: Codes, n_classes: int, weights: Floats | None, discretizer: Any
    ) -> None:
        """Find the cuts of the next fold, as fitting on its training rows does."""
        x = self.values[rows]
        found = np.empty(0) if np.isnan(x).all() else discretizer._find_cuts(x, y_codes, n_classes, weights)
        self.cuts.append(found)

    def joined(self) -> tuple[_Column, list[Given]]:
        """Return the column cut at the cuts of all folds, and which of these intervals a fold joins."""
        points = np.unique(np.concatenate(self.cuts))
        if len(points) >= MAX_VALUES:
            raise Unsteady
        codings: list[Given] = []
        for cuts in self.cuts:
            # An interval begins above a point; its code in the fold is the number of that fold's cuts up to there.
            codes = np.concatenate([[0], np.searchsorted(cuts, points, side="right")])
            codings.append((codes.astype(np.uint16), len(cuts) + 1))
        return _Column(_core.apply_cuts(self.values, points), len(points) + 1, keep_all=True), codings


@dataclass(frozen=True)
class FoldTable:
    """The encoded table, and what its folds do with the codes.

    Attributes
    ----------
    dataset : Dataset
        All rows.
    keep_all : list of bool
        Whether a feature keeps codes that do not occur, because its categories are declared.
    features : list of list
        For every fold the codings of features that it cuts; an empty list if there are none.
    classes : list
        For every fold the coding of the class, where the counts do not tell.
    seconds : list of float
        How long it took to find the cuts of every fold.
    """

    dataset: _core.Dataset
    keep_all: list[bool]
    features: list[list[Given]]
    classes: list[Given]
    seconds: list[float]


def make_fold_table(
    table: Table, rows: Rows, *, numeric_features: Any, discretizer: Any, categories: Any, threads: int
) -> FoldTable:
    """Encode a table for all folds; raise Unsteady, or what encoding raises, where folds must be fitted one by one."""
    read = _read_columns(table, numeric_features, discretizer, categories, threads)
    numbers = [column for column in read if isinstance(column, _Numbers)]
    n_folds = len(rows.splits)
    if rows.weights is not None and any(not len(rows.train(fold)) for fold in range(n_folds)):
        raise Unsteady  # fitting says what is wrong
    classes: list[Given] = [None] * n_folds
    if numbers or rows.weights is not None:
        classes = [_class_coding(rows, split) for split in rows.splits]
    seconds = [_cut_all(numbers, rows, fold, classes[fold], discretizer) for fold in range(n_folds)]

    features: list[list[Given]] = [[None] * len(read) if numbers else [] for _ in range(n_folds)]
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


def _class_coding(rows: Rows, split: Split) -> Given:
    used = np.bincount(rows.y_codes[split.train], minlength=rows.n_classes) > 0
    codes = np.where(used, np.cumsum(used) - 1, DROPPED).astype(np.uint16)
    return codes, int(used.sum())


def _cut_all(numbers: Sequence[_Numbers], rows: Rows, fold: int, classes: Given, discretizer: Any) -> float:
    """Cut all columns of numbers on the training rows of one fold; return how long it took."""
    if not numbers or classes is None:
        return 0.0
    start = time.perf_counter()
    train = rows.train(fold)
    y_codes = _core.recode(rows.y_codes[train], *classes)
    weights = None if rows.weights is None else rows.weights[train]
    for column in numbers:
        column.cut(train, y_codes, classes[1], weights, discretizer)
    return time.perf_counter() - start


def _read_columns(
    table: Table, numeric_features: Any, discretizer: Any, categories: Any, threads: int
) -> list[_Column | _Numbers]:
    """Read all columns as `learn_encoding` does, except that numbers are not cut yet."""
    declared = declared_categories(table, categories)
    is_numeric = numeric_rule(table, numeric_features, discretizer)
    array = table.array
    if array is not None and array.dtype.kind != "f" and not declared:
        first = table.column(0)  # all columns are of one type
        if not any(is_numeric(i, first) for i in range(table.n_features)):
            encoder, codes = _learn_integers(table, array, threads)
            return [_Column(c, r, keep_all=False) for c, r in zip(codes, encoder.cardinalities, strict=True)]
    read: list[_Column | _Numbers] = []
    for i in range(table.n_features):
        column, label = table.column(i), table.label(i)
        if i in declared:
            encoder_of_column, codes_of_column = encode_declared(declared[i], column, label)
            read.append(_Column(codes_of_column, encoder_of_column.cardinality, keep_all=True))
        elif is_numeric(i, column):
            read.append(_read_numbers(column, label))
        else:
            column = _steady(column, label)
            encoder_of_column, codes_of_column = learn_categories(column, label)
            keep_all = encoder_of_column.declared != ""
            read.append(_Column(codes_of_column, encoder_of_column.cardinality, keep_all=keep_all))
    return read


def _read_numbers(column: Column, label: str) -> _Numbers:
    if isinstance(column, ObjectColumn):
        raise Unsteady
    values = np.ascontiguousarray(column.floats(label), dtype=np.float64)
    if np.isinf(values).any():
        raise Unsteady  # fitting says what is wrong
    return _Numbers(values)


def _steady(column: Column, label: str) -> Column:
    """Return a column of categories if any part of it would be read in the same way."""
    if isinstance(column, ObjectColumn):
        if column.is_float:
            raise Unsteady
        column = column.coded(label)
    if isinstance(column, CodedColumn) and not column.declared:
        values = [value for value in column.values if not is_missing(value)]
        types = {type(value) for value in values}
        # Integers beyond 64 bits are objects; a part without them would be an array of integers.
        if len(types) > 1 or not types <= _STEADY_TYPES or (types == {int} and max(map(abs, values)) >= 2**63):
            raise Unsteady
    return column

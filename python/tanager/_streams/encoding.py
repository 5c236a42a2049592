"""Encodings that grow with the batches of a stream, and end as learning from all rows at once would have made them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.column_encoder import (
    ColumnEncoder,
    check_number,
    encode_declared,
    extend_categories,
    join_categories,
    learn_categories,
)
from .._encoding.columns import CodedColumn, Column, is_missing
from .._encoding.encoder import Encoder, declared_categories, numeric_rule
from .._encoding.labels import encode_labels
from .._encoding.merging import joined_labels, moved_codes, positions_among
from .._encoding.table import Table
from .._utils.typing import Codes, Floats, Recoding
from .kinds import ColumnKinds


class NeedsCuts(Exception):  # a turn of events, not an error
    """Columns of numbers are to be cut, and nothing is known of where."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self.label = label


class GrowingClasses:
    """The class labels so far.

    Parameters
    ----------
    declared : array-like or None
        All labels that may come, if they are known.
    """

    def __init__(self, declared: Any = None) -> None:
        self.declared = declared
        self.labels: npt.NDArray[Any] | None = None

    def encode(self, y: Any, n_rows: int, first_row: int) -> tuple[Codes, Recoding | None]:
        """Return the codes of a batch, and how the codes of earlier batches move: None if they do not."""
        found, codes = encode_labels(y, self.declared, first_row=first_row)
        if len(codes) != n_rows:
            raise ValueError(f"the batch at row {first_row} has {n_rows} rows, but {len(codes)} labels")
        before = self.labels
        if before is None:
            self.labels = found
            return codes, None
        if before.dtype == found.dtype and np.array_equal(before, found):
            return codes, None
        joined = self._joined(before, found, f"from row {first_row} on")
        moved = positions_among(found, joined)
        if not np.array_equal(moved, np.arange(len(moved))):
            codes = _core.recode(codes, moved, len(joined))
        elif len(joined) > 254 and codes.dtype == np.uint8:
            codes = codes.astype(np.uint16)
        self.labels = joined
        return codes, None if len(joined) == len(before) else positions_among(before, joined)

    def join(self, other: GrowingClasses) -> tuple[Recoding, Recoding]:
        """Add the labels of another part, and return how the codes of both move."""
        assert self.labels is not None
        assert other.labels is not None
        before, found = self.labels, other.labels
        self.labels = self._joined(before, found, "in another part")
        return positions_among(before, self.labels), positions_among(found, self.labels)

    @staticmethod
    def _joined(before: npt.NDArray[Any], found: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
        text = [all(isinstance(label, str) for label in labels.tolist()) for labels in (before, found)]
        if text[0] != text[1]:
            kinds = ["strings" if is_text else "other labels than strings" for is_text in text]
            raise ValueError(f"the class column holds {kinds[0]} in the batches so far, but {kinds[1]} {where}")
        return encode_labels(joined_labels(before, found))[0]


class GrowingEncoder:
    """The categories so far of every column.

    Parameters
    ----------
    numeric_features, discretizer, categories
        As a classifier has them.
    cuts : mapping of int to ndarray
        Where to cut columns of numbers, by position; a column to be cut that is not there raises `NeedsCuts`.
    threads : int
    """

    def __init__(
        self, numeric_features: Any, discretizer: Any, categories: Any, cuts: Mapping[int, Floats], threads: int = 1
    ) -> None:
        self._settings = (numeric_features, discretizer, categories)
        self._cuts = dict(cuts)
        self._threads = threads
        self._columns: list[ColumnEncoder | None] = []  # None while no batch had a value
        self._cut_if_empty: list[bool] = []
        self._kinds = ColumnKinds(0)
        self._known: Encoder | None = None

    @property
    def encoder(self) -> Encoder:
        """What is known by now."""
        assert self._known is not None
        return self._known

    def encode(self, table: Table, first_row: int) -> tuple[list[Codes], list[Recoding] | None]:
        """Return the codes of a batch, and how the codes of earlier batches move: None if they do not."""
        start = self._known is None
        if start:
            self._begin(table)
        elif (codes := self._encode_known_integers(table)) is not None:
            return codes, None
        numeric_features, discretizer, categories = self._settings
        declared = declared_categories(table, categories)
        is_numeric = numeric_rule(table, numeric_features, discretizer)
        all_codes, recodings, grown = [], [], start
        for i in range(table.n_features):
            column, label = table.column(i), table.label(i)
            if i not in declared:
                column = self._kinds.check(i, column, label, first_row)
            before = self._columns[i]
            self._cut_if_empty[i] = i not in declared and is_numeric(i, column)
            if before is None:
                now, codes_here = self._learn_column(i, column, label, declared.get(i), self._cut_if_empty[i])
                moved = np.arange(1, dtype=np.uint16)
            else:
                now, codes_here, moved = _grow_column(before, column, label)
            grown |= now is not before
            self._columns[i] = now
            all_codes.append(codes_here)
            recodings.append(moved)
        if grown:
            self._known = self._make(table.names)
        return all_codes, None if start or not grown else recodings

    def _begin(self, table: Table) -> None:
        self._columns, self._cut_if_empty = [None] * table.n_features, [False] * table.n_features
        self._kinds = ColumnKinds(table.n_features)

    def _encode_known_integers(self, table: Table) -> list[Codes] | None:
        """Encode an array of integers at once, if it brings nothing new."""
        array = table.array
        if array is None or array.dtype.kind == "f" or self.encoder._books is None:
            return None
        kind = "booleans" if array.dtype.kind == "b" else "integers"
        if any(name != kind for name in self._kinds.names):
            return None
        codes, unknown = self.encoder._books.encode(array, self._threads)
        return None if unknown else codes

    def _learn_column(
        self, position: int, column: Column, label: str, declared: Any, to_cut: bool
    ) -> tuple[ColumnEncoder | None, Codes]:
        if declared is not None:
            return encode_declared(declared, column, label)
        if position in self._cuts:
            encoder = ColumnEncoder("interval", cuts=self._cuts[position])
            check_number(encoder.cardinality, label)
            return encoder, encoder.encode(column, label)[0]
        if self._kinds.names[position] is None:
            return None, ColumnEncoder("category").encode(column, label)[0]
        if to_cut:
            raise NeedsCuts(label)
        return learn_categories(column, label)

    def _make(self, names: list[str] | None) -> Encoder:
        return Encoder([ColumnEncoder("category") if c is None else c for c in self._columns], names)

    def finish(self) -> Encoder:
        """Return what is known after the last batch: columns to be cut that never had a value have no cuts."""
        columns = [
            ColumnEncoder("interval", cuts=np.empty(0)) if column is None and to_cut else column
            for column, to_cut in zip(self._columns, self._cut_if_empty, strict=True)
        ]
        return Encoder([ColumnEncoder("category") if c is None else c for c in columns], self.encoder.names)

    def copy(self) -> GrowingEncoder:
        """Return another one that knows the same, to grow by itself."""
        other = copy(self)
        other._columns, other._cut_if_empty = list(self._columns), list(self._cut_if_empty)
        other._kinds = self._kinds.copy()
        return other

    def join(self, other: GrowingEncoder) -> tuple[list[Recoding], list[Recoding]]:
        """Add what another part of the stream knows, and return how the codes of both move."""
        names = self.encoder.names
        labels = [self.encoder.label(i) for i in range(len(self._columns))]
        self._kinds.join(other._kinds, labels)
        moved: list[Recoding] = []
        moved_other: list[Recoding] = []
        for i, (mine, theirs) in enumerate(zip(self._columns, other._columns, strict=True)):
            joined, recoding = (theirs, _nothing()) if mine is None else (mine, _same(mine))
            if mine is not None and theirs is not None:
                joined, recoding = join_categories(mine, theirs, labels[i])
            self._columns[i] = joined
            moved.append(recoding)
            moved_other.append(_nothing() if theirs is None or joined is None else moved_codes(theirs, joined))
            self._cut_if_empty[i] |= other._cut_if_empty[i]
        self._known = self._make(names)
        return moved, moved_other


def _nothing() -> Recoding:
    return np.zeros(1, dtype=np.uint16)


def _same(column: ColumnEncoder) -> Recoding:
    return np.arange(column.cardinality, dtype=np.uint16)


def _grow_column(before: ColumnEncoder, column: Column, label: str) -> tuple[ColumnEncoder, Codes, Recoding]:
    codes, unknown = before.encode(column, label)
    if before.kind == "interval":
        return before, codes, _same(before)
    if isinstance(column, CodedColumn) and column.declared:
        # A type that lists its values lists them for all rows, whether they occur or not.
        new = any(value not in before.index and not is_missing(value) for value in column.values)
    else:
        new = any(True for _ in unknown())
    if not new:
        return before, codes, _same(before)
    if before.declared == "user":
        for value in unknown():
            raise ValueError(f"{label} holds {value!r}, which is none of the categories declared for it")
        return before, codes, _same(before)
    grown, moved = extend_categories(before, column, label)
    return grown, grown.encode(column, label)[0], moved

"""Encodings that grow with the batches of a stream; at the end they equal those of all rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.column_encoder import (
    ColumnEncoder,
    check_n_values,
    encode_declared,
    extend_categories,
    join_categories,
    learn_categories,
    undeclared_category,
)
from .._encoding.columns import CodedColumn, Column, NumberColumn, ObjectColumn, is_missing
from .._encoding.encoder import Encoder, EncodingSettings, read_columns
from .._encoding.labels import encode_labels
from .._encoding.merging import joined_labels, moved_codes, positions_among
from .._encoding.table import Table
from .._utils.typing import Codes, Floats, Recoding


class NeedsCuts(Exception):  # control flow, not an error
    """A column is to be discretized, and its cut points are not known yet."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self.label = label


class ColumnKinds:
    """The kind of values of every column, which must be the same in all batches; None until a batch has a value."""

    def __init__(self, n_features: int) -> None:
        self.names: list[str | None] = [None] * n_features
        self._from_objects = [True] * n_features

    def check(self, position: int, column: Column, label: str, first_row: int) -> Column:
        """Note the kind of a column; raise if earlier batches had another one. Objects are returned as a CodedColumn."""
        objects = False
        if isinstance(column, ObjectColumn) and not column.is_float:
            objects, is_integer = True, column.is_integer
            column = column.coded(label)
            column.is_integer = is_integer
        kind = _kind_of(column, self.names[position])
        self._note(position, kind, objects, label, f"from row {first_row} on")
        return column

    def copy(self) -> ColumnKinds:
        """Return an independent copy."""
        other = ColumnKinds(0)
        other.names, other._from_objects = list(self.names), list(self._from_objects)
        return other

    def join(self, other: ColumnKinds, labels: list[str]) -> None:
        """Note the kinds of the columns of another part of the stream."""
        for i, kind in enumerate(other.names):
            self._note(i, kind, other._from_objects[i], labels[i], "in another part")

    def _note(self, position: int, kind: str | None, objects: bool, label: str, where: str) -> None:
        before = self.names[position]
        if kind is None:
            return
        if before is None:
            self.names[position], self._from_objects[position] = kind, objects
        elif kind != before:
            # Objects may be of several kinds in one table, too; numbers to discretize may not be among them.
            mixed = objects and self._from_objects[position] and "floats" not in {kind, before}
            if not mixed:
                raise ValueError(
                    f"{label} contains {before} in the batches so far, but {kind} {where}; use the same type in all batches"
                )


def _kind_of(column: Column, before: str | None) -> str | None:
    if isinstance(column, NumberColumn):
        if column.is_float:
            # CSV readers return NaN for a column without values in a batch, whatever its type.
            nothing = before != "floats" and bool(np.isnan(column.floats("")).all())
            return None if nothing else "floats"
        return "integers" if column.is_integer else "booleans"
    if isinstance(column, ObjectColumn):
        return "floats"
    if column.has_order:
        return "categories" if column.values else None
    kinds = {_value_kind(value) for value in column.values if not is_missing(value)}
    return None if not kinds else kinds.pop() if len(kinds) == 1 else "objects of several types"


def _value_kind(value: Any) -> str:
    if isinstance(value, str):
        return "strings"
    if isinstance(value, bool):
        return "booleans"
    if isinstance(value, float):
        return "integral floats"  # a column with fractional floats is a float column
    return "integers" if isinstance(value, int) else f"{type(value).__name__} values"


class GrowingClasses:
    """The class labels so far.

    Parameters
    ----------
    declared : array-like or None
        All labels that may occur, if they are known.
    """

    def __init__(self, declared: Any = None) -> None:
        self.declared = declared
        self.labels: npt.NDArray[Any] | None = None

    def encode(self, y: Any, n_rows: int, first_row: int) -> tuple[Codes, Recoding | None]:
        """Return the codes of a batch, and the new code of each earlier code; None if these do not change."""
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
        """Add the labels of another part, and return the new codes of both."""
        assert self.labels is not None
        assert other.labels is not None
        before, found = self.labels, other.labels
        self.labels = self._joined(before, found, "in another part")
        return positions_among(before, self.labels), positions_among(found, self.labels)

    @staticmethod
    def _joined(before: npt.NDArray[Any], found: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
        text = [all(isinstance(label, str) for label in labels.tolist()) for labels in (before, found)]
        if text[0] != text[1]:
            kinds = ["strings" if is_text else "labels other than strings" for is_text in text]
            raise ValueError(f"the class column contains {kinds[0]} in the batches so far, but {kinds[1]} {where}")
        return encode_labels(joined_labels(before, found))[0]


class GrowingEncoder:
    """The categories of every column so far.

    Parameters
    ----------
    settings : EncodingSettings
    cuts : mapping of int to ndarray
        Cut points by position of the column; a column to discretize that is not among them raises `NeedsCuts`.
    threads : int
    """

    def __init__(self, settings: EncodingSettings, cuts: Mapping[int, Floats], threads: int = 1) -> None:
        self._settings = settings
        self._cuts = dict(cuts)
        self._threads = threads
        self._columns: list[ColumnEncoder | None] = []  # None while no batch had a value
        self._cut_if_empty: list[bool] = []
        self._kinds = ColumnKinds(0)
        self._known: Encoder | None = None

    @property
    def encoder(self) -> Encoder:
        """The encoder for the batches so far."""
        assert self._known is not None
        return self._known

    def encode(self, table: Table, first_row: int) -> tuple[list[Codes], list[Recoding] | None]:
        """Return the codes of a batch, and the new code of each earlier code; None if these do not change."""
        start = self._known is None
        if start:
            self._begin(table)
        elif (known := self._encode_known_integers(table)) is not None:
            return known, None
        all_codes, recodings, grown = [], [], start
        for task in read_columns(table, self._settings):
            i, column, label = task.position, task.column, task.label
            self._cut_if_empty[i] = task.role == "numeric"
            if task.declared is None:
                column = self._kinds.check(i, column, label, first_row)
            before = self._columns[i]
            if before is None:
                now, codes = self._learn_column(i, column, label, task.declared, self._cut_if_empty[i])
                moved = np.arange(1, dtype=np.uint16)
            else:
                now, codes, moved = _grow_column(before, column, label)
            grown |= now is not before
            self._columns[i] = now
            all_codes.append(codes)
            recodings.append(moved)
        if grown:
            self._known = self._make(table.names)
        return all_codes, None if start or not grown else recodings

    def _begin(self, table: Table) -> None:
        self._columns, self._cut_if_empty = [None] * table.n_features, [False] * table.n_features
        self._kinds = ColumnKinds(table.n_features)

    def _encode_known_integers(self, table: Table) -> list[Codes] | None:
        """Encode an array of integers in one call, if all values are known."""
        array = table.array
        if array is None or array.dtype.kind == "f":
            return None
        kind = "booleans" if array.dtype.kind == "b" else "integers"
        if any(name != kind for name in self._kinds.names):
            return None
        return self.encoder.encode_integers(array, self._threads)

    def _learn_column(
        self, position: int, column: Column, label: str, declared: Any, to_cut: bool
    ) -> tuple[ColumnEncoder | None, Codes]:
        if declared is not None:
            return encode_declared(declared, column, label)
        if position in self._cuts:
            encoder = ColumnEncoder("interval", cuts=self._cuts[position])
            check_n_values(encoder.cardinality, label)
            return encoder, encoder.encode(column, label).codes
        if self._kinds.names[position] is None:
            return None, ColumnEncoder("category").encode(column, label).codes
        if to_cut:
            raise NeedsCuts(label)
        return learn_categories(column, label)

    def _make(self, names: list[str] | None) -> Encoder:
        return Encoder([ColumnEncoder("category") if c is None else c for c in self._columns], names)

    def finish(self) -> Encoder:
        """Return the encoder after the last batch; columns to discretize that never had a value get no cut points."""
        columns = [
            ColumnEncoder("interval", cuts=np.empty(0)) if column is None and to_cut else column
            for column, to_cut in zip(self._columns, self._cut_if_empty, strict=True)
        ]
        return Encoder([ColumnEncoder("category") if c is None else c for c in columns], self.encoder.names)

    def copy(self) -> GrowingEncoder:
        """Return an independent copy."""
        other = copy(self)
        other._columns, other._cut_if_empty = list(self._columns), list(self._cut_if_empty)
        other._kinds = self._kinds.copy()
        return other

    def join(self, other: GrowingEncoder) -> tuple[list[Recoding], list[Recoding]]:
        """Add the categories of another part of the stream, and return the new codes of both."""
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
    encoded = before.encode(column, label)
    if before.kind == "interval":
        return before, encoded.codes, _same(before)
    if isinstance(column, CodedColumn) and column.has_order:
        # All values that the type lists are categories, whether they occur or not.
        new = any(value not in before.index and not is_missing(value) for value in column.values)
    else:
        new = bool(encoded.unknown)
    if not new:
        return before, encoded.codes, _same(before)
    if before.order == "declared":
        if unknown := encoded.unknown:
            raise ValueError(undeclared_category(label, unknown[0]))
        return before, encoded.codes, _same(before)
    grown, moved = extend_categories(before, column, label)
    return grown, grown.encode(column, label).codes, moved

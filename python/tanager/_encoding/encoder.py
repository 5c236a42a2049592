"""Any table to small integer codes, and back to what the codes mean.

A feature with r known values has codes 0 .. r-1, in 8 bits with 255 for missing where r is at most 254, else in 16 bits
with 65535 for missing. `read_table` (in `_table`) and `encode_labels` (in `_labels`) belong to this module's interface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import Codes, Floats, missing_code
from .._utils.validation import is_integer
from .._utils.warnings import warn_user
from ..exceptions import UnseenWarning
from .column_encoder import (
    MAX_VALUES,
    ColumnEncoder,
    check_number,
    encode_declared,
    extend_categories,
    learn_categories,
    unseen_message,
)
from .columns import Column, NumberColumn, is_missing
from .labels import encode_labels
from .matching import unseen_column
from .table import Table, column_label, read_table

__all__ = ["ColumnEncoder", "Encoder", "Table", "encode_labels", "learn_encoding", "read_table", "warn_unseen"]


class Encoder:
    """What is known of every column, and how to turn a table into codes. Immutable.

    Parameters
    ----------
    columns : sequence of ColumnEncoder
    names : sequence of str, default=None
        Names of the columns, for messages.
    """

    def __init__(self, columns: Sequence[ColumnEncoder], names: Sequence[str] | None = None) -> None:
        self.columns = list(columns)
        self.names = None if names is None else list(names)

    @cached_property
    def cardinalities(self) -> list[int]:
        """The number of codes of every column, at least 1."""
        return [column.cardinality for column in self.columns]

    def encode(self, table: Table, unseen: str = "missing", threads: int = 1) -> list[Codes]:
        """Encode a table of the same columns to learn from; values must be those that are known.

        Parameters
        ----------
        table : Table
        unseen : {"missing", "error"}
            What a category that is not known becomes.
        threads : int

        Returns
        -------
        list of ndarray
            One array of codes, uint8 or uint16, per column.
        """
        return self._encode(table, unseen, threads, None)

    def encode_new(self, table: Table, unseen: str = "missing", threads: int = 1) -> tuple[list[Codes], list[str]]:
        """Encode a table of the same columns to predict from: values may also be known by another type.

        Parameters
        ----------
        table, unseen, threads
            As in `encode`.

        Returns
        -------
        codes : list of ndarray
        strange : list of str
            What to warn of: columns that hold no known value at all.
        """
        strange: list[str] = []
        return self._encode(table, unseen, threads, strange), strange

    def _encode(self, table: Table, unseen: str, threads: int, strange: list[str] | None) -> list[Codes]:
        array = table.array
        if array is not None and self._books is not None and array.dtype.kind != "f":
            codes, unknown = self._books.encode(array, threads)
            if unknown and unseen == "error":
                column = unknown[0]
                row = int(np.argmax(codes[column] == missing_code(codes[column])))
                raise ValueError(unseen_message(self.label(column), array[row, column].item()))
            if strange is not None:
                for i in unknown:
                    self._note_strange(codes[i], table.column(i), i, strange)
            return codes
        if table.n_features != len(self.columns):
            raise ValueError(f"a table of {len(self.columns)} columns was expected, but one of {table.n_features} came")
        if array is not None and array.dtype.kind == "f" and self._cuts is not None:
            return self._cuts.encode(array, threads)
        return [self._encode_column(table.column(i), i, unseen, strange) for i in range(table.n_features)]

    def _encode_column(self, column: Column, position: int, unseen: str, strange: list[str] | None) -> Codes:
        label = self.label(position)
        codes, unknown = self.columns[position].encode(column, label, match=strange is not None)
        if unknown is list:
            return codes
        if unseen == "error":
            for value in unknown():
                raise ValueError(unseen_message(label, value))
        if strange is not None:
            self._note_strange(codes, column, position, strange)
        return codes

    def _note_strange(self, codes: Codes, column: Column, position: int, strange: list[str]) -> None:
        """Note a column with values none of which is known."""
        if codes.min() < missing_code(codes):
            return
        coded = column.coded(self.label(position))
        counts = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.values))
        found = [(v, n) for v, n in zip(coded.values, counts.tolist(), strict=True) if n and not is_missing(v)]
        said = unseen_column(
            self.label(position),
            self.columns[position].categories.tolist(),
            [value for value, _ in found],
            sum(n for _, n in found),
        )
        if said is not None:
            strange.append(said)

    def extended(self, table: Table) -> tuple[Encoder, list[npt.NDArray[np.uint16]]]:
        """Return an encoder that also knows the new categories of a table, and how the codes known so far move.

        Categories stay in the order that learning from all rows at once would give. Intervals, and categories that the
        user declared, stay as they are.

        Returns
        -------
        encoder : Encoder
        recodings : list of ndarray of uint16
            For every column, the new code of each old code.
        """
        pairs = [extend_categories(column, table.column(i), self.label(i)) for i, column in enumerate(self.columns)]
        return Encoder([column for column, _ in pairs], self.names), [recoding for _, recoding in pairs]

    def label(self, position: int) -> str:
        """Return what messages call a column."""
        return column_label(self.names, position)

    @cached_property
    def _books(self) -> _core.CodeBooks | None:
        """All columns' integers at once, if integers are what they know."""
        books = [column.integer_book for column in self.columns]
        known = [book for book in books if book is not None]
        return _core.CodeBooks(known) if len(known) == len(books) else None

    @cached_property
    def _cuts(self) -> _core.CutBooks | None:
        """All columns' cut points at once, if all are cut."""
        cuts = [column.cuts for column in self.columns if column.cuts is not None]
        return _core.CutBooks(cuts) if len(cuts) == len(self.columns) else None

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "names": self.names}


def learn_encoding(
    table: Table,
    *,
    y_codes: Codes | None,
    n_classes: int,
    weights: Floats | None,
    numeric_features: Literal["float", "number"] | Iterable[str | int],
    discretizer: Any,
    categories: Sequence[Sequence[Any] | None] | Mapping[str, Sequence[Any]] | None = None,
    threads: int = 1,
) -> tuple[Encoder, list[Codes]]:
    """Learn how to encode a table, and encode it.

    Parameters
    ----------
    table : Table
    y_codes, n_classes
        The classes, for discretizers that look at them.
    weights : ndarray of float64 or None
        Weights of the rows, for discretizers.
    numeric_features : {"float", "number"} or iterable of names or positions
        Which columns are numbers to be cut into intervals.
    discretizer : object or None
        Finds cut points by its method ``_find_cuts(x, y_codes, n_classes, weights)``; None makes numbers categories.
    categories : sequence, mapping or None
        Categories of columns known beforehand, by position (None: not known) or by name. Others are refused.
    threads : int

    Returns
    -------
    encoder : Encoder
    codes : list of ndarray
        As `Encoder.encode` would return them.
    """
    declared = declared_categories(table, categories)
    is_numeric = numeric_rule(table, numeric_features, discretizer)
    array = table.array
    if array is not None and array.dtype.kind != "f" and not declared:
        first = table.column(0)  # all columns are of one type
        if not any(map(is_numeric, range(table.n_features), repeat(first))):
            return _learn_integers(table, array, threads)
    columns, codes = [], []
    for i in range(table.n_features):
        column, label = table.column(i), table.label(i)
        if i in declared:
            encoder, found = encode_declared(declared[i], column, label)
        elif is_numeric(i, column):
            encoder, found = _learn_intervals(column, label, discretizer, y_codes, n_classes, weights)
        else:
            encoder, found = learn_categories(column, label)
        columns.append(encoder)
        codes.append(found)
    return Encoder(columns, table.names), codes


def _learn_integers(table: Table, array: npt.NDArray[Any], threads: int) -> tuple[Encoder, list[Codes]]:
    keys, codes = _core.learn_integers(array, threads)
    if max(map(len, keys), default=0) > MAX_VALUES:
        for i, found in enumerate(keys):
            check_number(len(found), table.label(i))
    return Encoder([ColumnEncoder("category", categories=found) for found in keys], table.names), codes


def _learn_intervals(
    column: Column, label: str, discretizer: Any, y_codes: Codes | None, n_classes: int, weights: Floats | None
) -> tuple[ColumnEncoder, Codes]:
    numbers = column.floats(label)
    if np.isinf(numbers).any():
        raise ValueError(f"Input X contains infinity or a value too large to be cut into intervals: {label}")
    x = np.ascontiguousarray(numbers, dtype=np.float64)
    cuts = np.empty(0) if np.isnan(x).all() else discretizer._find_cuts(x, y_codes, n_classes, weights)
    check_number(len(cuts) + 1, label)
    encoder = ColumnEncoder("interval", cuts=cuts)
    return encoder, encoder.encode(NumberColumn(x), label)[0]


_Rule = Callable[[int, Column], bool]


def _never(position: int, column: Column) -> bool:  # noqa: ARG001
    return False


def numeric_rule(table: Table, numeric_features: Any, discretizer: Any) -> _Rule:
    """Return what tells whether a column is to be cut into intervals."""
    if discretizer is None:
        return _never
    by_type = isinstance(numeric_features, str) and numeric_features in {"float", "number"}
    if not by_type and (isinstance(numeric_features, (str, Iterator)) or not isinstance(numeric_features, Iterable)):
        raise ValueError(
            "numeric_features must be 'float', 'number' or a list of names or positions of columns, but is "
            f"{numeric_features!r}"
        )
    if by_type:
        integers = numeric_features == "number"
        return lambda _, column: column.is_float or (integers and column.is_integer)
    chosen = {_position(table, feature, "numeric_features") for feature in numeric_features}
    return lambda position, _: position in chosen


def _position(table: Table, feature: Any, setting: str) -> int:
    if isinstance(feature, str):
        if table.names is None or feature not in table.names:
            raise ValueError(f"{setting} names {feature!r}, but the table has no such column")
        return table.names.index(feature)
    if not is_integer(feature):
        raise TypeError(f"{setting} must hold names or positions of columns, but holds {feature!r}")
    if not 0 <= feature < table.n_features:
        raise ValueError(f"{setting} holds position {feature}, but the table has {table.n_features} columns")
    return int(feature)


def declared_categories(table: Table, categories: Any) -> dict[int, Sequence[Any]]:
    """Return the categories that a user has declared, by the position of their column."""
    if categories is None:
        return {}
    if isinstance(categories, Mapping):
        return {_position(table, name, "categories"): v for name, v in categories.items() if v is not None}
    if isinstance(categories, str) or not isinstance(categories, (Sequence, np.ndarray)):
        raise TypeError(f"categories must be a list of lists or a dict, but is {categories!r}")
    if len(categories) != table.n_features:
        raise ValueError(
            f"categories must have one entry for each of the {table.n_features} columns, but has {len(categories)}"
        )
    return {i: values for i, values in enumerate(categories) if values is not None}


def warn_unseen(columns: Sequence[str]) -> None:
    """Issue one warning about columns without any known value, each described by a sentence."""
    more = f"; and so on, {len(columns)} columns in all" if len(columns) > _MAX_WARNED else ""
    warn_user("; ".join(columns[:_MAX_WARNED]) + more, UnseenWarning)


_MAX_WARNED = 3

"""Encoders of whole tables: columns of any type become small integer codes.

A feature with r known values has codes 0 .. r-1, in 8 bits with 255 for missing values if r is at most 254, else in 16 bits
with 65535 for missing values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import Codes, Floats, Recoding, missing_code
from .._utils.validation import is_integer
from .._utils.warnings import warn_user
from ..exceptions import UnseenWarning
from .column_encoder import (
    MAX_VALUES,
    ColumnEncoder,
    check_n_values,
    encode_declared,
    extend_categories,
    learn_categories,
    unknown_category,
)
from .columns import Column, NumberColumn, is_missing
from .labels import encode_labels
from .matching import unseen_column
from .table import Table, column_label, read_table

__all__ = [
    "ColumnEncoder",
    "Encoder",
    "EncodingSettings",
    "Table",
    "encode_labels",
    "learn_encoding",
    "read_columns",
    "read_table",
    "warn_unseen",
]


class Encoder:
    """The encoders of all columns of a table. Immutable.

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
        """Encode a table of the same columns.

        Parameters
        ----------
        table : Table
        unseen : {"missing", "error"}
            How to treat unknown categories.
        threads : int

        Returns
        -------
        list of ndarray
            One array of codes, uint8 or uint16, per column.
        """
        return self._encode(table, unseen, threads, None)

    def encode_new(self, table: Table, unseen: str = "missing", threads: int = 1) -> tuple[list[Codes], list[str]]:
        """Encode a table to predict; values may equal a category except for their type, such as "1" for 1.

        Parameters
        ----------
        table, unseen, threads
            As in `encode`.

        Returns
        -------
        codes : list of ndarray
        unseen_columns : list of str
            A message for every column that has values, but no known one.
        """
        unseen_columns: list[str] = []
        return self._encode(table, unseen, threads, unseen_columns), unseen_columns

    def _encode(self, table: Table, unseen: str, threads: int, unseen_columns: list[str] | None) -> list[Codes]:
        if table.n_features != len(self.columns):
            raise ValueError(f"expected a table with {len(self.columns)} columns, got {table.n_features}")
        array = table.array
        if array is not None and self._books is not None and array.dtype.kind != "f":
            codes, unknown = self._books.encode(array, threads)
            if unknown and unseen == "error":
                column = unknown[0]
                row = int(np.argmax(codes[column] == missing_code(codes[column])))
                raise ValueError(unknown_category(self.label(column), array[row, column].item()))
            if unseen_columns is not None:
                for i in unknown:
                    self._note_unseen(codes[i], table.column(i), i, unseen_columns)
            return codes
        if array is not None and array.dtype.kind == "f" and self._cuts is not None:
            return self._cuts.encode(array, threads)
        return [self._encode_column(table.column(i), i, unseen, unseen_columns) for i in range(table.n_features)]

    def _encode_column(self, column: Column, position: int, unseen: str, unseen_columns: list[str] | None) -> Codes:
        label = self.label(position)
        encoded = self.columns[position].encode(column, label, match=unseen_columns is not None)
        if encoded.may_have_unknown:
            if unseen == "error" and (unknown := encoded.unknown):
                raise ValueError(unknown_category(label, unknown[0]))
            if unseen_columns is not None:
                self._note_unseen(encoded.codes, column, position, unseen_columns)
        return encoded.codes

    def _note_unseen(self, codes: Codes, column: Column, position: int, unseen_columns: list[str]) -> None:
        """Add a message if a column has values, but no known one."""
        if codes.min() < missing_code(codes):
            return
        coded = column.coded(self.label(position))
        counts = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.values))
        found = [(v, n) for v, n in zip(coded.values, counts.tolist(), strict=True) if n and not is_missing(v)]
        message = unseen_column(
            self.label(position),
            self.columns[position].categories.tolist(),
            [value for value, _ in found],
            sum(n for _, n in found),
        )
        if message is not None:
            unseen_columns.append(message)

    def extended(self, table: Table) -> tuple[Encoder, list[Recoding]]:
        """Return an encoder that also knows the new categories of a table, and the new code of each old code.

        Categories are in the same order as if all rows had been encoded at once. Cut points and declared categories do not
        change.

        Returns
        -------
        encoder : Encoder
        recodings : list of ndarray of uint16
            One per column.
        """
        pairs = [extend_categories(column, table.column(i), self.label(i)) for i, column in enumerate(self.columns)]
        return Encoder([column for column, _ in pairs], self.names), [recoding for _, recoding in pairs]

    def encode_integers(self, array: npt.NDArray[Any], threads: int) -> list[Codes] | None:
        """Encode an array of integers in one call; None if a column has other categories or a value is unknown."""
        if self._books is None:
            return None
        codes, unknown = self._books.encode(array, threads)
        return None if unknown else codes

    def label(self, position: int) -> str:
        """Return the name of a column in messages."""
        return column_label(self.names, position)

    @cached_property
    def _books(self) -> _core.CodeBooks | None:
        """The codes of all columns together, if all have integer categories."""
        books = [column.integer_book for column in self.columns]
        known = [book for book in books if book is not None]
        return _core.CodeBooks(known) if len(known) == len(books) else None

    @cached_property
    def _cuts(self) -> _core.CutBooks | None:
        """The cut points of all columns together, if all are discretized."""
        cuts = [column.cuts for column in self.columns if column.cuts is not None]
        return _core.CutBooks(cuts) if len(cuts) == len(self.columns) else None

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "names": self.names}


@dataclass(frozen=True)
class EncodingSettings:
    """The settings of a classifier that determine how columns are encoded. Hashable; equal settings encode equally.

    Parameters
    ----------
    numeric_features : {"float", "number"} or list of names or positions, default="float"
        The columns to discretize: those of floats, those of any numbers, or those listed.
    discretizer : object or None, default=None
        Finds cut points by its method ``_find_cuts(x, y_codes, n_classes, weights)``; None makes every number a category.
    categories : None, dict of name to list, or list of lists, default=None
        The categories of columns for which they are known beforehand, by position (None: not known) or by name.
    """

    numeric_features: Any = "float"
    discretizer: Any = None
    categories: Any = None

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        # Discretizers show all of their settings; an object of a class derived from them may hide some.
        discretizer: Any = self.discretizer
        is_plain = type(discretizer).__module__ == "tanager.discretize"
        shown = repr(discretizer) if discretizer is None or is_plain else id(discretizer)
        return shown, _hashable(self.numeric_features), _hashable(self.categories)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EncodingSettings) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def declared_categories(self, table: Table) -> dict[int, Sequence[Any]]:
        """Return the declared categories by position of their column."""
        categories = self.categories
        if categories is None:
            return {}
        if isinstance(categories, Mapping):
            return {_position(table, name, "categories"): v for name, v in categories.items() if v is not None}
        if isinstance(categories, str) or not isinstance(categories, (Sequence, np.ndarray)):
            raise TypeError(f"categories: expected a list of lists or a dict, got {categories!r}")
        if len(categories) != table.n_features:
            raise ValueError(
                f"categories: expected one entry for each of the {table.n_features} columns, got {len(categories)}"
            )
        return {i: values for i, values in enumerate(categories) if values is not None}

    def numeric_rule(self, table: Table) -> Callable[[int, Column], bool]:
        """Return a function of position and content that decides whether a column is to be discretized."""
        if self.discretizer is None:
            return lambda _position, _column: False
        features = self.numeric_features
        if isinstance(features, str) and features in {"float", "number"}:
            integers = features == "number"
            return lambda _, column: column.is_float or (integers and column.is_integer)
        if isinstance(features, (str, Iterator)) or not isinstance(features, Iterable):
            raise ValueError(  # noqa: TRY004
                f"numeric_features: expected 'float', 'number' or a list of names or positions of columns, got {features!r}"
            )
        chosen = {_position(table, feature, "numeric_features") for feature in features}
        return lambda position, _: position in chosen


def _hashable(value: Any) -> Any:
    """Return a setting as nested tuples, or its identity if it holds something that cannot be hashed."""
    frozen = _frozen(value)
    try:
        hash(frozen)
    except TypeError:
        return id(value)
    return frozen


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return "dict", frozenset((_frozen(key), _frozen(item)) for key, item in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        return "list", tuple(map(_frozen, value))
    return type(value), value  # 1, 1.0 and True are equal, but not the same label


def _position(table: Table, feature: Any, setting: str) -> int:
    if isinstance(feature, str):
        if table.names is None or feature not in table.names:
            raise ValueError(f"{setting} names {feature!r}, but there is no such column")
        return table.names.index(feature)
    if not is_integer(feature):
        raise TypeError(f"{setting}: expected names or positions of columns, got {feature!r}")
    if not 0 <= feature < table.n_features:
        raise ValueError(f"{setting}: expected positions from 0 to {table.n_features - 1}, got {feature}")
    return int(feature)


class ColumnToEncode:
    """A column, and what becomes of it; it is read when first asked for.

    Attributes
    ----------
    position : int
    label : str
        The name of the column in messages.
    declared : sequence or None
        The categories that the user declared for it.
    """

    def __init__(
        self, table: Table, position: int, declared: Sequence[Any] | None, is_numeric: Callable[[int, Column], bool]
    ) -> None:
        self._table = table
        self._is_numeric = is_numeric
        self.position = position
        self.label = table.label(position)
        self.declared = declared

    @cached_property
    def column(self) -> Column:
        """The content."""
        return self._table.column(self.position)

    @property
    def role(self) -> Literal["declared", "numeric", "category"]:
        """Whether it has declared categories, is to be discretized, or has its values as categories."""
        if self.declared is not None:
            return "declared"
        return "numeric" if self._is_numeric(self.position, self.column) else "category"


def read_columns(table: Table, settings: EncodingSettings) -> Iterator[ColumnToEncode]:
    """Yield the columns of a table, each with what the settings make of it; only one is in memory at a time."""
    declared = settings.declared_categories(table)
    is_numeric = settings.numeric_rule(table)
    for i in range(table.n_features):
        yield ColumnToEncode(table, i, declared.get(i), is_numeric)


def learn_encoding(
    table: Table,
    settings: EncodingSettings,
    *,
    y_codes: Codes | None,
    n_classes: int,
    weights: Floats | None,
    threads: int = 1,
) -> tuple[Encoder, list[Codes]]:
    """Find the categories and cut points of a table, and encode it.

    Parameters
    ----------
    table : Table
    settings : EncodingSettings
    y_codes, n_classes
        The classes, for supervised discretizers.
    weights : ndarray of float64 or None
        Weights of the rows, for discretizers.
    threads : int

    Returns
    -------
    encoder : Encoder
    codes : list of ndarray
        As `Encoder.encode` would return them.
    """
    integers = learn_integers(table, settings, threads)
    if integers is not None:
        return integers
    encoders, codes = [], []
    for task in read_columns(table, settings):
        if task.declared is not None:
            encoder, encoded = encode_declared(task.declared, task.column, task.label)
        elif task.role == "numeric":
            encoder, encoded = _learn_intervals(task, settings.discretizer, y_codes, n_classes, weights)
        else:
            encoder, encoded = learn_categories(task.column, task.label)
        encoders.append(encoder)
        codes.append(encoded)
    return Encoder(encoders, table.names), codes


def learn_integers(table: Table, settings: EncodingSettings, threads: int) -> tuple[Encoder, list[Codes]] | None:
    """Encode an array of integers in one call; None if the table is something else, or not all columns are categories."""
    array = table.array
    if array is None or array.dtype.kind == "f" or settings.declared_categories(table):
        return None
    first, is_numeric = table.column(0), settings.numeric_rule(table)  # all columns have the same type
    if any(is_numeric(i, first) for i in range(table.n_features)):
        return None
    keys, codes = _core.learn_integers(array, threads)
    if max(map(len, keys), default=0) > MAX_VALUES:
        for i, values in enumerate(keys):
            check_n_values(len(values), table.label(i))
    return Encoder([ColumnEncoder("category", categories=values) for values in keys], table.names), codes


def _learn_intervals(
    task: ColumnToEncode, discretizer: Any, y_codes: Codes | None, n_classes: int, weights: Floats | None
) -> tuple[ColumnEncoder, Codes]:
    x = finite_numbers(task.column, task.label)
    cuts = np.empty(0) if np.isnan(x).all() else discretizer._find_cuts(x, y_codes, n_classes, weights)
    check_n_values(len(cuts) + 1, task.label)
    encoder = ColumnEncoder("interval", cuts=cuts)
    return encoder, encoder.encode(NumberColumn(x), task.label).codes


def finite_numbers(column: Column, label: str) -> Floats:
    """Return a column to discretize as contiguous floats, NaN where missing; infinity is an error."""
    numbers = column.floats(label)
    if np.isinf(numbers).any():
        raise ValueError(f"Input X contains infinity or a value too large to be discretized: {label}")
    return np.ascontiguousarray(numbers, dtype=np.float64)


def warn_unseen(columns: Sequence[str]) -> None:
    """Issue one warning about columns without any known value, each described by a sentence."""
    more = f"; and so on, {len(columns)} columns in all" if len(columns) > _MAX_WARNED else ""
    warn_user("; ".join(columns[:_MAX_WARNED]) + more, UnseenWarning)


_MAX_WARNED = 3

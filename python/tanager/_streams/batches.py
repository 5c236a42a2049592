"""Sources of batches, and the content of a batch: a table, class labels and weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from .._encoding.schema import Schema
from .._encoding.table import Table, read_table, take_rows
from .._utils.text import join_names
from .._utils.validation import check_sample_weight
from .arrow_datasets import read_dataset, read_file


class BatchSource:
    """Batches that can be iterated once, or any number of times.

    Parameters
    ----------
    batches : iterable, pyarrow Dataset, ParquetFile or RecordBatchReader, or callable
        A callable returns a new iterable whenever it is called.
    """

    def __init__(self, batches: Any) -> None:
        if isinstance(batches, (str, bytes, os.PathLike)):
            raise TypeError(
                "batches: expected an iterable of tables, got a path; open it first, for example with "
                "pyarrow.dataset.dataset(path)"
            )
        if _is_table(batches):
            raise TypeError(
                f"batches: expected an iterable of tables, got a single {type(batches).__name__}; use fit or predict, or "
                "put it into a list"
            )
        self._open: Callable[[Sequence[str] | None], Iterable[Any]]
        self.can_repeat = True
        if _is_arrow(batches, "Dataset"):
            self._open = lambda columns: read_dataset(batches, columns)
        elif _is_arrow(batches, "ParquetFile"):
            self._open = lambda columns: read_file(batches, columns)
        elif _is_arrow(batches, "Scanner"):
            self._open, self.can_repeat = lambda _: batches.to_batches(), False
        elif callable(batches) and not isinstance(batches, Iterator):
            self._open = lambda columns: _opened(batches(), columns)
        elif isinstance(batches, Iterable):
            self._open = lambda _: batches
            self.can_repeat = not (isinstance(batches, Iterator) or _is_arrow(batches, "RecordBatchReader"))
        else:
            raise TypeError(
                "batches: expected an iterable of tables, a pyarrow dataset or reader, or a function that returns one, got "
                f"an object of type {type(batches).__name__}"
            )

    def open(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Return an iterator over the batches; sources that can read single columns read only those given."""
        return iter(self._open(columns))


def _opened(batches: Any, columns: Sequence[str] | None) -> Iterable[Any]:
    """Open what a user's function returned."""
    return BatchSource(batches).open(columns)


def _is_arrow(value: Any, name: str) -> bool:
    return any(k.__name__ == name and k.__module__.partition(".")[0] == "pyarrow" for k in type(value).__mro__)


def _is_table(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim <= 2
    return _is_arrow(value, "RecordBatch") or isinstance(
        nw.from_native(value, pass_through=True, allow_series=True), (nw.DataFrame, nw.LazyFrame, nw.Series)
    )


@dataclass(frozen=True)
class Batch:
    """Some rows of a stream.

    The table and the weights have no rows of weight zero; `labels` are those of all rows, and `kept` marks the rows that
    are in the table, or is None if all are.
    """

    table: Table | None  # None if all rows have weight zero
    labels: Any
    weights: npt.NDArray[np.float64] | None
    kept: npt.NDArray[np.bool_] | None
    n_rows: int
    names: list[str] | None
    n_features: int


class BatchReader:
    """Splits batches into a table, labels and weights.

    Parameters
    ----------
    y : str or None
        Name of the class column; None if batches are tuples ``(X, y)`` or ``(X, y, weights)``.
    sample_weight : str or None
        Name of the weight column.
    """

    def __init__(self, y: str | None, sample_weight: str | None = None) -> None:
        if y is not None and not isinstance(y, str):
            raise TypeError(
                "y: expected the name of the class column of the batches, or None if they are tuples (X, y), got an object of "
                f"type {type(y).__name__}"
            )
        if sample_weight is not None and not isinstance(sample_weight, str):
            raise TypeError(
                "sample_weight: expected the name of a column of the batches or None (batches may be tuples "
                f"(X, y, weights)), got an object of type {type(sample_weight).__name__}"
            )
        if sample_weight is not None and (y is None or sample_weight == y):
            raise ValueError(
                f"sample_weight={sample_weight!r} names a column, so y must name another column with the classes, got y={y!r}"
            )
        self.y = y
        self.sample_weight = sample_weight

    def read(self, raw: Any, first_row: int, known: Schema | None) -> Batch | None:
        """Return a batch that begins at a row of the stream; None if it has no rows.

        Parameters
        ----------
        raw : table or tuple
        first_row : int
        known : Schema or None
            The columns of earlier batches, which this one must have as well.
        """
        X, labels, weights = self._split(raw)
        n_rows = batch_length(X, first_row)
        taken = [name for name in (self.y, self.sample_weight) if name is not None]
        names = column_names(X)
        if taken:
            _check_present(names, taken, first_row, type(X).__name__)
        if n_rows == 0:
            return None
        table = read_table(X)
        if taken:
            assert table.names is not None  # since `taken` are among them
            labels = _native_column(X, taken[0])
            weights = _native_column(X, taken[1]) if len(taken) > 1 else None
            table = table.select([i for i, name in enumerate(table.names) if name not in taken])
        if known is not None:
            table = _in_known_order(table, known, first_row)
        checked = check_sample_weight(weights, n_rows, first_row=first_row, some=False)
        return self._without_zeros(X, table, labels, checked, n_rows)

    def _split(self, raw: Any) -> tuple[Any, Any, Any]:
        if self.y is not None:
            if isinstance(raw, tuple):
                raise ValueError(f"y={self.y!r} names the class column, so batches must be tables, got a tuple")
            return raw, None, None
        if not isinstance(raw, tuple) or len(raw) not in {2, 3}:
            what = f"a tuple of {len(raw)}" if isinstance(raw, tuple) else f"a {type(raw).__name__}"
            raise ValueError(
                f"without y, the name of the class column, batches must be tuples (X, y) or (X, y, weights), got {what}"
            )
        return raw if len(raw) == 3 else (*raw, None)

    @staticmethod
    def _without_zeros(
        X: Any, table: Table, labels: Any, weights: npt.NDArray[np.float64] | None, n_rows: int
    ) -> Batch:
        names, n_features, kept = table.names, table.n_features, None
        if weights is not None and not weights.all():
            kept = weights > 0
            rows, weights = np.flatnonzero(kept), weights[kept]
            if not len(rows):
                return Batch(None, labels, weights, kept, n_rows, names, n_features)
            taken = read_table(take_rows(X, rows))
            positions = range(n_features)
            if taken.names is not None and names is not None:
                positions = [taken.names.index(name) for name in names]  # type: ignore[assignment]
            table = taken if taken.n_features == n_features and taken.names == names else taken.select(list(positions))
        return Batch(table, labels, weights, kept, n_rows, names, n_features)


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a table; None if they have no names."""
    if _is_arrow(X, "RecordBatch") or _is_arrow(X, "Table"):
        return list(X.schema.names)
    if isinstance(X, (np.ndarray, list, tuple)):
        return None
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except ValueError:  # duplicate names
        return list(X.columns)  # `read_table` raises the error
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def batch_length(X: Any, first_row: int | None = None) -> int:
    """Return the number of rows of a batch; `first_row` is for messages."""
    try:
        return int(X.num_rows) if _is_arrow(X, "RecordBatch") else len(X)
    except TypeError:
        where = "" if first_row is None else f" at row {first_row}"
        raise TypeError(f"batches: expected tables, got an object of type {type(X).__name__}{where}") from None


def _native_column(X: Any, name: str) -> Any:
    if _is_arrow(X, "RecordBatch") or _is_arrow(X, "Table"):
        return X.column(name)
    return nw.from_native(X, eager_only=True).get_column(name).to_native()


def _check_present(names: list[Any] | None, wanted: list[str], first_row: int, kind: str) -> None:
    if names is None:
        raise ValueError(
            f"y={wanted[0]!r} names the class column, but the batch at row {first_row} is a {kind} without column names; pass "
            "tuples (X, y) instead"
        )
    for name, what in zip(wanted, ("class column", "weight column"), strict=False):
        if name not in names:
            raise ValueError(
                f"the {what} {name!r} is not among the columns of the batch at row {first_row}: {join_names(names)}"
            )


def _in_known_order(table: Table, known: Schema, first_row: int) -> Table:
    """Return the table with its columns in the order of the first batch."""
    if table.names == known.names and table.n_features == known.n_features:
        return table
    if table.names is None or known.names is None:
        if (table.names is None) != (known.names is None):
            raise ValueError(f"either all batches or none must have column names; the batch at row {first_row} differs")
        raise ValueError(
            f"the batch at row {first_row} has {table.n_features} features, but earlier batches have {known.n_features}"
        )
    lacking = [name for name in known.names if name not in table.names]
    beyond = [name for name in table.names if name not in known.names]
    if lacking or beyond:
        parts = [f"lacks {join_names(lacking)}"] * bool(lacking) + [f"also has {join_names(beyond)}"] * bool(beyond)
        raise ValueError(
            f"all batches must have the same columns, but the batch at row {first_row} {' and '.join(parts)}"
        )
    return table.select([table.names.index(name) for name in known.names])

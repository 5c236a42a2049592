"""Where batches come from, and what is in one: a table, the class of every row, and perhaps weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from .._encoding.table import Table, read_table, take_rows
from .._utils.validation import check_sample_weight
from .arrow_datasets import read_dataset, read_file


class BatchSource:
    """Batches that can be gone through once, or again and again.

    Parameters
    ----------
    batches : iterable, pyarrow Dataset, ParquetFile or RecordBatchReader, or callable
        A callable returns an iterable anew whenever it is called.
    """

    def __init__(self, batches: Any) -> None:
        if isinstance(batches, (str, bytes, os.PathLike)):
            raise TypeError(
                "batches must be an iterable of tables, but is a path: open it first, for example with "
                "pyarrow.dataset.dataset(path)"
            )
        if _is_table(batches):
            raise TypeError(
                f"batches must be an iterable of tables, but is a single {type(batches).__name__}: use fit or predict, or "
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
                "batches must be an iterable of tables, a pyarrow dataset or reader, or a function that returns one of "
                f"them, but is of type {type(batches).__name__}"
            )

    def open(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Begin to go through the batches; sources that can read some columns alone read only those named."""
        return iter(self._open(columns))


def _opened(batches: Any, columns: Sequence[str] | None) -> Iterable[Any]:
    """Return what a user's function gave, opened."""
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
    """Some rows of a stream: none has weight zero, but `labels` are those of all rows, and `kept` marks the others."""

    table: Table | None  # None if no row is left
    labels: Any
    weights: npt.NDArray[np.float64] | None
    kept: npt.NDArray[np.bool_] | None
    n_rows: int
    names: list[str] | None
    n_features: int


class BatchReader:
    """Takes batches apart; knows the columns of the first one, which all others must have.

    Parameters
    ----------
    y : str or None
        Name of the class column; None if batches are tuples ``(X, y)`` or ``(X, y, weights)``.
    sample_weight : str or None
        Name of the column of weights.
    """

    def __init__(self, y: str | None, sample_weight: str | None = None) -> None:
        if y is not None and not isinstance(y, str):
            raise TypeError(
                f"y must be the name of the class column within the batches, or None if they are tuples (X, y), but is of "
                f"type {type(y).__name__}"
            )
        if sample_weight is not None and not isinstance(sample_weight, str):
            raise TypeError(
                "sample_weight must be the name of a column within the batches or None (batches may be tuples "
                f"(X, y, weights)), but is of type {type(sample_weight).__name__}"
            )
        if sample_weight is not None and (y is None or sample_weight == y):
            raise ValueError(
                "sample_weight names a column beside the class column, so that y must name the class column and another "
                f"one, but y is {y!r}"
            )
        self.y = y
        self.sample_weight = sample_weight

    def read(self, raw: Any, first_row: int, known: Known | None) -> Batch | None:
        """Take a batch apart that begins at a row of the stream; None if it has no rows.

        Parameters
        ----------
        raw : table or tuple
        first_row : int
        known : Known or None
            The columns of an earlier batch.
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
                raise ValueError(
                    f"y names the class column {self.y!r}, so that batches must be tables, but one is a tuple"
                )
            return raw, None, None
        if not isinstance(raw, tuple) or len(raw) not in {2, 3}:
            what = f"a tuple of {len(raw)}" if isinstance(raw, tuple) else f"of type {type(raw).__name__}"
            raise ValueError(
                "without y, the name of the class column, batches must be tuples (X, y) or (X, y, weights), but one is "
                f"{what}"
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


@dataclass(frozen=True)
class Known:
    """The columns of the batches so far."""

    names: list[str] | None
    n_features: int


def column_names(X: Any) -> list[Any] | None:
    """Return the names of a table's columns; None if it has none."""
    if _is_arrow(X, "RecordBatch") or _is_arrow(X, "Table"):
        return list(X.schema.names)
    if isinstance(X, (np.ndarray, list, tuple)):
        return None
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except ValueError:  # two of one name
        return list(X.columns)  # `read_table` says what is wrong with them
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def batch_length(X: Any, first_row: int | None = None) -> int:
    """Return the number of rows of a batch; its place in the stream is for messages."""
    try:
        return int(X.num_rows) if _is_arrow(X, "RecordBatch") else len(X)
    except TypeError:
        where = "one" if first_row is None else f"that at row {first_row}"
        raise TypeError(f"batches must be tables, but {where} is of type {type(X).__name__}") from None


def _native_column(X: Any, name: str) -> Any:
    if _is_arrow(X, "RecordBatch") or _is_arrow(X, "Table"):
        return X.column(name)
    return nw.from_native(X, eager_only=True).get_column(name).to_native()


def _check_present(names: list[Any] | None, wanted: list[str], first_row: int, kind: str) -> None:
    if names is None:
        raise ValueError(
            f"the class column is named {wanted[0]!r}, but the batch at row {first_row} is a {kind} without names of "
            "columns: pass tuples (X, y) instead"
        )
    for name, what in zip(wanted, ("class column", "column of weights"), strict=False):
        if name not in names:
            raise ValueError(
                f"the {what} {name!r} is not among the columns of the batch at row {first_row}: {_listed(names)}"
            )


def _in_known_order(table: Table, known: Known, first_row: int) -> Table:
    """Return the table with its columns as in the first batch."""
    if table.names == known.names and table.n_features == known.n_features:
        return table
    if table.names is None or known.names is None:
        if (table.names is None) != (known.names is None):
            raise ValueError(f"batches must all name their columns or none, but that at row {first_row} differs")
        raise ValueError(
            f"the batch at row {first_row} has {table.n_features} columns of features, but those before have "
            f"{known.n_features}"
        )
    lacking = [name for name in known.names if name not in table.names]
    beyond = [name for name in table.names if name not in known.names]
    if lacking or beyond:
        parts = [f"lacks {_listed(lacking)}"] * bool(lacking) + [f"has {_listed(beyond)} beyond them"] * bool(beyond)
        raise ValueError(
            f"all batches must have the columns of the first, but the batch at row {first_row} {' and '.join(parts)}"
        )
    return table.select([table.names.index(name) for name in known.names])


def _listed(names: Sequence[Any], most: int = 8) -> str:
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")

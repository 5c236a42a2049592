"""Tables of any type (data frames, arrays, lists of rows), read column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from .._utils.arrays import native
from .columns import EXACT, Column, NumberColumn, unsupported
from .readers import array_column, arrow_column, exceeds_int64, pandas_column, polars_column


class Table:
    """A table whose columns can be read one by one.

    Attributes
    ----------
    n_rows, n_features : int
    names : list of str or None
        Names of the columns, if all of them are strings.
    array : ndarray or None
        The whole table, if it is an array of numbers.
    """

    __slots__ = ("_read", "array", "n_features", "n_rows", "names")

    def __init__(
        self, n_rows: int, n_features: int, read: Callable[[int, str], Column], *, names: list[str] | None = None
    ) -> None:
        self.n_rows = n_rows
        self.n_features = n_features
        self.names = names
        self.array: npt.NDArray[Any] | None = None
        self._read: Callable[[int, str], Column] | None = read

    def column(self, position: int) -> Column:
        """Read a column; it is not cached, so only one column at a time takes memory."""
        label = self.label(position)
        if self._read is not None:
            return self._read(position, label)
        assert self.array is not None
        return array_column(self.array[:, position], label)

    def select(self, positions: Sequence[int]) -> Table:
        """Return a table of some columns, in the order of the positions."""
        if not positions:
            check_size(self.n_rows, 0)
        names = None if self.names is None else [self.names[i] for i in positions]
        return Table(self.n_rows, len(positions), lambda i, _: self.column(positions[i]), names=names)

    def label(self, position: int) -> str:
        """Return the name of a column in messages."""
        return column_label(self.names, position)


class _ArrayTable(Table):
    """A two-dimensional array of numbers; single-row predictions make one per row, so it does as little as possible."""

    __slots__ = ()

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.n_rows, self.n_features = array.shape
        self.names = None
        self.array = array
        self._read = None


def column_label(names: Sequence[str] | None, position: int) -> str:
    """Return the name of a column in messages."""
    return f"column {position}" if names is None else f"column {names[position]!r}"


def read_table(X: Any) -> Table:
    """Read a table.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        A pandas, polars, pyarrow or other table that narwhals supports, a two-dimensional array, or a list of rows.

    Returns
    -------
    Table
        With at least one row and one column; otherwise raises ValueError.
    """
    if type(X) is np.ndarray:
        return _read_array(X)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        return _read_masked(X)
    if issparse(X):
        raise TypeError("sparse input is not supported; pass a dense array, such as X.toarray()")
    if isinstance(X, (str, bytes, dict)) or X is None:
        raise ValueError(f"Expected a table or a 2D array, got {type(X).__name__} instead.")
    table = _read_frame(X)
    return _read_rows(X) if table is None else table


def _read_array(X: npt.NDArray[Any]) -> Table:
    if X.ndim != 2:
        raise ValueError(_wrong_dimension(X))
    kind = X.dtype.kind
    if not (X.shape[0] and X.shape[1]):
        check_size(*X.shape)
    if kind in "ibf" or (kind == "u" and not exceeds_int64(X)):
        return _ArrayTable(native(X))
    if kind == "c":
        raise ValueError(f"Complex data not supported: the array has type {X.dtype}")
    if kind in "mMV":
        raise TypeError(unsupported("the array", f"{X.dtype} values"))
    return Table(X.shape[0], X.shape[1], lambda position, label: array_column(X[:, position], label))


def _read_masked(X: Any) -> Table:
    _read_array(X.data)  # checks
    missing = np.ma.getmaskarray(X)
    if X.dtype.kind not in "biuf":
        objects = X.data.astype(object)
        objects[missing] = None
        return _read_array(objects)
    n_rows, n_features = X.shape
    return Table(n_rows, n_features, lambda i, _: NumberColumn(native(X.data[:, i]), missing[:, i]))


def _wrong_dimension(X: npt.NDArray[Any]) -> str:
    if X.ndim > 2:
        return f"Found array with dim {X.ndim}, while dim <= 2 is required."
    got = "scalar" if X.ndim == 0 else "1D"
    return (
        f"Expected 2D array, got {got} array instead:\narray={X}.\n"
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
        "or array.reshape(1, -1) if it contains a single sample."
    )


def check_size(n_rows: int, n_features: int) -> None:
    """Reject a table without rows or columns; the message is that of scikit-learn."""
    for count, what in ((n_rows, "sample"), (n_features, "feature")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape=({n_rows}, {n_features})) while a minimum of 1 is required."
            )


def _to_array(X: Any) -> npt.NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"Expected a table or a 2D array with rows of equal length: {error}") from error
    if array.dtype.kind in "US" and isinstance(X, (list, tuple)):
        # NumPy would convert numbers next to strings into strings.
        array = np.array(X, dtype=object)
    return array


def _read_rows(X: Any) -> Table:
    """Read a list of rows, or anything else that NumPy can convert."""
    array = _to_array(X)
    if array.dtype.kind != "f" or array.ndim != 2 or not isinstance(X, (list, tuple)):
        return _read_array(array)
    if not np.abs(array).max(initial=0, where=np.isfinite(array)) >= EXACT:
        return _read_array(array)
    # NumPy converts large integers next to floats into floats, which can make different integers equal.
    table, objects = _read_array(array), np.array(X, dtype=object)
    rounded = {j for j in range(table.n_features) if _is_rounded(objects[:, j].tolist(), array[:, j].tolist())}
    if not rounded:
        return table

    def read(i: int, label: str) -> Column:
        return array_column(objects[:, i], label) if i in rounded else table.column(i)

    return Table(table.n_rows, table.n_features, read)


def _is_rounded(given: list[Any], floats: list[float]) -> bool:
    plain = [value.item() if isinstance(value, np.integer) else value for value in given]
    return any(isinstance(value, int) and value != number for value, number in zip(plain, floats, strict=True))


def _read_frame(X: Any) -> Table | None:
    """Read a data frame; None if X is something else."""
    from narwhals import dependencies

    if dependencies.is_pandas_dataframe(X):
        return _frame(X.shape, X.columns, lambda i, label: pandas_column(X.iloc[:, i], label))
    if dependencies.is_polars_dataframe(X):
        return _frame(X.shape, X.columns, lambda i, label: polars_column(X.to_series(i), label))
    if _is_record_batch(X):
        return _frame((X.num_rows, X.num_columns), X.schema.names, lambda i, label: arrow_column(X.column(i), label))
    if dependencies.is_pyarrow_table(X):
        return _frame(X.shape, X.column_names, lambda i, label: arrow_column(X.column(i), label))
    if isinstance(X, (list, tuple, np.ndarray)):
        return None
    return _read_other_frame(X)


def _read_other_frame(X: Any) -> Table | None:
    import narwhals as nw

    frame: Any = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"expected an in-memory table, got a lazy {type(X).__name__}; call .collect() or .compute() first"
        )
    if isinstance(frame, nw.Series):
        raise ValueError(_wrong_dimension(frame.to_numpy()))  # noqa: TRY004
    if isinstance(frame, nw.DataFrame):
        return _read_frame(frame.to_pandas())
    return None


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Return some rows of a table, as a table of the same type."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows].to_native()
    if isinstance(X, (list, tuple)):
        return [X[i] for i in rows]
    if _is_record_batch(X):
        return X.take(rows)
    return X[rows] if isinstance(X, np.ndarray) else np.asarray(X)[rows]


def _is_record_batch(X: Any) -> bool:
    return type(X).__name__ == "RecordBatch" and type(X).__module__.partition(".")[0] == "pyarrow"


def _frame(shape: tuple[int, int], columns: Any, read: Callable[[int, str], Column]) -> Table:
    names = list(columns)
    check_size(*shape)
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"column names must be unique, but {min(map(repr, twice))} occurs more than once")
    strings = [isinstance(name, str) for name in names]
    if any(strings) and not all(strings):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            f"Feature names are only supported if all input features have string names, but your input has {kinds} as "
            "feature name / column name types."
        )
    return Table(*shape, read, names=[str(name) for name in names] if all(strings) else None)

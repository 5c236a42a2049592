"""Fitting and predicting on a Dask cluster.

Workers count their partitions, and the counts are added up in a tree. Structure and parameters are fitted in the process that
calls `fit`, from counts whose size does not depend on the number of rows. Requires Dask: ``pip install 'tanager[dask]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._streams.counts import Counted, CountedPart, RecountedPart
from ._streams.cuts import CutPart
from ._streams.encoding import NeedsCuts
from ._streams.plan import StreamPlan
from ._utils.random import draw_seed
from .classifiers._base import BaseClassifier

try:
    import dask
    from dask.delayed import Delayed, delayed
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "tanager.dask needs dask; install it with: pip install 'tanager[dask]'", name="dask"
    ) from error

__all__ = ["fit", "predict", "predict_log_proba", "predict_proba"]

#: How many parts one task adds up: few enough that their tables fit into the memory of a worker.
_FAN_IN = 8

Clf = TypeVar("Clf", bound=BaseClassifier)


def fit(clf: Clf, X: Any, y: Any, *, sample_weight: Any = None, classes: Any = None) -> Clf:
    """Fit a classifier on data that is distributed over the workers of a cluster.

    The model is the same as that of ``clf.fit`` on the whole dataset, bit for bit, for any partitions; categories and classes
    may occur in only some of them. There are two exceptions, as in `fit_stream`: the cut points of numeric columns, and the last
    bits of sums of fractional weights.

    Parameters
    ----------
    clf : classifier
        One that supports `fit_stream`; it is fitted in place.
    X : dask DataFrame, dask Array or sequence of Delayed tables
        The rows.
    y : str, dask Series, dask Array or None
        Name of the class column of X; or the classes, in the same partitions as X. None if X is a sequence of tuples
        ``(table, classes)`` or ``(table, classes, weights)``.
    sample_weight : str, dask Series, dask Array or None, default=None
        Name of a column of weights, or the weights, as for y.
    classes : array-like or None, default=None
        All classes, if some may not occur, or if any other label is to be an error.

    Returns
    -------
    clf

    Notes
    -----
    Every pass over the rows computes X again. `KDB` and numeric columns need more than one pass; call ``X.persist()`` first to
    keep the data in the memory of the workers. If a worker is lost, its partitions are counted again elsewhere.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import tanager as tg
    >>> import tanager.dask
    >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
    >>> table = dd.from_pandas(data.X.assign(outcome=list(data.y)), npartitions=4)
    >>> clf = tg.dask.fit(tg.TANClassifier(), table, "outcome")
    >>> clf.counts_ == tg.TANClassifier().fit(data.X, data.y).counts_
    True
    >>> tg.dask.predict_proba(clf, table).head(1).round(2)
       negative  positive
    0      0.66      0.34
    """
    clf._check_settings()
    clf._check_stream(True)
    partitions, class_column, weight_column = _partitions(X, y, sample_weight)
    plan = clf._stream_plan()
    columns = (class_column, weight_column)
    counted = _add_up(_count, partitions, delayed(plan), *columns, classes, {})
    if isinstance(counted, NeedsCuts):
        if plan.random_state is not None:  # one seed for all partitions; each draws its own sample from it
            plan = replace(plan, random_state=draw_seed(plan.random_state))
        cut_points = _add_up(_find_cuts, partitions, delayed(plan), *columns).cuts()
        counted = _add_up(_count, partitions, delayed(plan), *columns, classes, delayed(cut_points))
    result = counted.result()

    def recount(families: list[tuple[int, list[int]]]) -> _core.CountSet:
        known = delayed(replace(result, counts=None))
        again = _add_up(_recount, partitions, delayed(plan), known, families, *columns)
        if again.n_rows != counted.n_rows:
            raise ValueError(
                f"every pass over the partitions must give the same rows, but one gave {counted.n_rows:,} and the next "
                f"{again.n_rows:,}; call X.persist() first"
            )
        counts: _core.CountSet = again.counts
        return counts

    clf._fit_counts(result, recount)
    return clf


def predict_proba(clf: BaseClassifier, X: Any) -> Any:
    """Return the probability of every class, lazily, for data that is distributed over a cluster.

    Parameters
    ----------
    clf : classifier
        A fitted classifier.
    X : dask DataFrame or dask Array
        The rows. The columns of a DataFrame may be in any order; columns that are not features are ignored.

    Returns
    -------
    dask DataFrame or dask Array
        One column per class, with the index and partitions of X.
    """
    return _predict(clf, X, "predict_proba")


def predict_log_proba(clf: BaseClassifier, X: Any) -> Any:
    """Return the logarithm of the probability of every class, lazily.

    Parameters
    ----------
    clf, X
        As in `predict_proba`.
    """
    return _predict(clf, X, "predict_log_proba")


def predict(clf: BaseClassifier, X: Any) -> Any:
    """Return the most probable class of every row, lazily.

    Parameters
    ----------
    clf, X
        As in `predict_proba`.

    Returns
    -------
    dask Series or dask Array
        A Series has the name of the class column.
    """
    return _predict(clf, X, "predict")


# -- the rows

_Source = tuple[list[Delayed], "str | None", "str | None"]


def _partitions(X: Any, y: Any, sample_weight: Any) -> _Source:
    """Return the partitions as batches of a stream, and the names of the class and weight columns."""
    if _is_frame(X):
        if isinstance(y, str) and (sample_weight is None or isinstance(sample_weight, str)):
            return list(X.to_delayed()), y, sample_weight
        parts = [X.to_delayed()]
        for what, given in (("y", y), ("sample_weight", sample_weight)):
            if isinstance(given, str):  # while the other one is a Series
                given = X[given]  # noqa: PLW2901
            if given is not None:
                parts.append(_aligned(given, what, len(parts[0])))
        if isinstance(y, str):
            parts[0] = X.drop(columns=[y]).to_delayed()
        if isinstance(sample_weight, str):
            raise TypeError("sample_weight: expected a dask Series since y is one, got the name of a column")
        return _zipped(parts, y), None, None
    if _is_array(X):
        if X.ndim != 2:
            raise ValueError(f"X: expected two dimensions, got {X.ndim}")
        whole = X.rechunk({1: -1})
        parts = [whole.to_delayed().ravel()]
        for what, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None:
                parts.append(_blocks(given, what, whole))
        return _zipped(parts, y), None, None
    if isinstance(X, Sequence) and not isinstance(X, str) and all(isinstance(part, Delayed) for part in X):
        for what, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None and not isinstance(given, str):
                raise TypeError(
                    f"{what}: expected the name of a column since X is a sequence of tables, got an object of type "
                    f"{type(given).__name__}"
                )
        return list(X), y, sample_weight
    raise TypeError(
        "X: expected a dask DataFrame, a dask Array or a sequence of Delayed tables, got an object of type "
        f"{type(X).__name__}; use clf.fit for in-memory data"
    )


def _aligned(values: Any, what: str, n_partitions: int) -> Any:
    if not _is_frame(values) or values.ndim != 1:
        raise TypeError(
            f"{what}: expected the name of a column or a dask Series since X is a dask DataFrame, got an object of type "
            f"{type(values).__name__}"
        )
    if values.npartitions != n_partitions:
        raise ValueError(f"{what}: expected the {n_partitions} partitions of X, got {values.npartitions}")
    return values.to_delayed()


def _blocks(values: Any, what: str, X: Any) -> Any:
    if not _is_array(values) or values.ndim != 1:
        raise TypeError(
            f"{what}: expected a one-dimensional dask Array since X is a dask Array, got an object of type "
            f"{type(values).__name__}"
        )
    known = not (np.isnan(X.shape[0]) or np.isnan(values.shape[0]))
    if known and values.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but {what} has {values.shape[0]}")
    if known and values.chunks[0] != X.chunks[0]:
        values = values.rechunk((X.chunks[0],))
    if values.npartitions != X.npartitions:
        raise ValueError(f"{what}: expected the {X.npartitions} chunks of X, got {values.npartitions}")
    return values.to_delayed()


def _zipped(parts: list[Any], y: Any) -> list[Delayed]:
    if y is None:
        raise ValueError("y: expected the name of the class column or the classes, got None")
    together = delayed(_as_tuple)
    return [together(*together_parts) for together_parts in zip(*parts, strict=True)]


def _as_tuple(*parts: Any) -> tuple[Any, ...]:
    return parts


def _is_frame(value: Any) -> bool:
    """Return whether a value is a dask DataFrame or Series, without importing them: arrays do not need pandas."""
    return dask.is_dask_collection(value) and hasattr(value, "map_partitions") and hasattr(value, "divisions")


def _is_array(value: Any) -> bool:
    return dask.is_dask_collection(value) and hasattr(value, "map_blocks") and hasattr(value, "chunks")


# -- one map and one tree of sums


def _add_up(task: Callable[..., Any], partitions: list[Delayed], *settings: Any) -> Any:
    """Run a task on every partition, and merge the results of neighbors, in order, until one is left."""
    if not partitions:
        raise ValueError("the Dask collection has no partitions")
    run, merge = delayed(_named), delayed(_merge)
    parts = [run(task, number, partition, *settings) for number, partition in enumerate(partitions)]
    while len(parts) > 1:
        parts = [merge(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    return dask.compute(parts[0])[0]


def _named(task: Callable[..., Any], number: int, rows: Any, *settings: Any) -> Any:
    """Run a task; errors name the partition, since rows are numbered within it."""
    try:
        return task(number, rows, *settings)
    except (ValueError, TypeError) as error:
        raise type(error)(f"partition {number}: {error}") from None


def _merge(parts: list[Any]) -> Any:
    for part in parts:
        if isinstance(part, NeedsCuts):
            return part
    # Merging does not change the parts: other tasks may need them again if a worker is lost.
    return reduce(lambda total, part: total.merge(part), parts)


def _count(
    _number: int, rows: Any, plan: StreamPlan, y: str | None, weight: str | None, classes: Any, cuts: dict[int, Any]
) -> CountedPart | NeedsCuts:
    part = CountedPart(plan, y, weight, classes, cuts)
    try:
        part.add(rows)
    except NeedsCuts as needs:
        return needs
    return part


def _find_cuts(number: int, rows: Any, plan: StreamPlan, y: str | None, weight: str | None) -> CutPart:
    part = CutPart(plan, y, weight, number)
    part.add(rows)
    return part


def _recount(
    _number: int,
    rows: Any,
    plan: StreamPlan,
    counted: Counted,
    families: list[tuple[int, list[int]]],
    y: str | None,
    weight: str | None,
) -> RecountedPart:
    part = RecountedPart(plan, counted, families, y, weight)
    part.add(rows)
    return part


# -- prediction


def _predict(clf: BaseClassifier, X: Any, method: str) -> Any:
    clf._check_fitted()
    model = delayed(clf)
    classes = clf.classes_
    if _is_frame(X) and X.ndim == 2:
        import pandas as pd
        from dask.dataframe import from_delayed

        names = clf._schema.names
        if names is not None and set(names) <= set(X.columns):
            X = X[names]
        meta: Any = _series(classes[:0], clf, X._meta.index)
        if method != "predict":
            meta = pd.DataFrame(np.empty((0, len(classes))), columns=classes.tolist(), index=X._meta.index)
        predicted = [delayed(_predict_frame)(rows, model, method) for rows in X.to_delayed()]
        return from_delayed(predicted, meta=meta, divisions=X.divisions if X.known_divisions else None)
    if _is_array(X) and X.ndim == 2:
        whole = X.rechunk({1: -1})
        if method == "predict":
            return whole.map_blocks(_predict_block, model, method, drop_axis=1, dtype=classes.dtype, meta=classes[:0])
        chunks = (whole.chunks[0], (len(classes),))
        return whole.map_blocks(_predict_block, model, method, chunks=chunks, dtype=np.float64)
    raise TypeError(
        f"X: expected a dask DataFrame or a two-dimensional dask Array, got an object of type {type(X).__name__}; use "
        f"clf.{method} for in-memory data"
    )


def _predict_frame(rows: Any, clf: BaseClassifier, method: str) -> Any:
    import pandas as pd

    found = _predict_block(rows, clf, method)
    if method == "predict":
        return _series(found, clf, rows.index)
    return pd.DataFrame(found, index=rows.index, columns=clf.classes_.tolist())


def _series(labels: Any, clf: BaseClassifier, index: Any) -> Any:
    """Return labels as a pandas Series, of the same type for all partitions, including empty ones."""
    import pandas as pd

    kind = object if labels.dtype.kind in "OU" else labels.dtype
    return pd.Series(labels, index=index, name=clf._schema.class_name, dtype=kind)


def _predict_block(rows: Any, clf: BaseClassifier, method: str) -> Any:
    if len(rows):
        return getattr(clf, method)(rows)
    return clf.classes_[:0] if method == "predict" else np.empty((0, len(clf.classes_)))

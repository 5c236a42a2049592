"""Learning and predicting batch by batch, in the memory of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Table, read_table, warn_unseen
from .._utils.validation import check_features
from .batches import BatchSource, batch_length
from .counts import Counted, CountedPart, RecountedPart
from .cuts import CutPart
from .encoding import NeedsCuts

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..classifiers._base import BaseClassifier

#: What `predict_stream` gives, by the name of the method that gives it for a table.
_OUTPUTS = {
    "predict": None,
    "predict_proba": "posterior",
    "predict_log_proba": "log_posterior",
    "predict_joint_log_proba": "log_joint",
}


class StreamMethods:
    """`fit_stream` and `predict_stream` of all classifiers."""

    def fit_stream(
        self, batches: Any, y: str | None = None, *, sample_weight: str | None = None, classes: Any = None
    ) -> Self:
        """Learn from a stream of tables, in memory for one batch, however many rows there are.

        Learns what `fit` learns from all batches in one table, to the last bit; only columns of numbers that are cut may
        be cut elsewhere, see below. Counts add up batch by batch, and structure and parameters are learned once, at the end.

        Parameters
        ----------
        batches : iterable of tables, pyarrow Dataset, ParquetFile or RecordBatchReader, or callable
            Tables as `fit` takes them, all with the same columns; categories and classes may appear in any of them. A
            callable without arguments returns such an iterable anew, for learning that takes two passes: an iterator,
            such as a generator or a reader, gives only one.
        y : str or None, default=None
            Name of the class column within the tables. None if batches are tuples ``(X, y)`` or ``(X, y, weights)``.
        sample_weight : str or None, default=None
            Name of a column of weights within the tables.
        classes : array-like or None, default=None
            All classes, if others than those that appear are to be known, or none but these.

        Returns
        -------
        self

        Notes
        -----
        All learners that need nothing but counts learn this way, in one pass; `KDB` with k above 1 takes two, since only
        counts of all pairs tell which tables it needs. Others, such as searches, say that they cannot.

        Columns of numbers that are cut take one pass more, before the others. Equal width finds the same cuts as `fit`.
        Equal frequency does so for columns of at most 16,384 distinct numbers; the shares of others are off by less than
        0.05 percent of the rows. Cuts by minimum description length are those of 100,000 rows drawn at random
        (``random_state``; None means the same rows every time), and those of `fit` if there are no more rows than that.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
        >>> table = data.X.assign(outcome=list(data.y))
        >>> batches = [table[:500], table[500:]]  # or a pyarrow dataset, or pandas.read_csv(..., chunksize=100_000)
        >>> clf = tg.TANClassifier().fit_stream(batches, "outcome")
        >>> clf.counts_ == tg.TANClassifier().fit(data.X, data.y).counts_
        True
        """
        clf = cast("BaseClassifier", self)
        clf._check_settings()
        source = BatchSource(batches)
        clf._check_stream(source.can_repeat)
        part = _count(clf, source, y, sample_weight, classes)
        counted = part.result()

        def recount(families: list[tuple[int, list[int]]]) -> _core.CountSet:
            again = RecountedPart(clf, counted, families, y, sample_weight)
            for raw in source.open():
                again.add(raw)
            _check_same_rows(part.n_rows, again.n_rows)
            return again.counts

        clf._fit_counts(counted, recount if source.can_repeat else None)
        return self

    def _fit_counts(
        self, counted: Counted, recount: Callable[[list[tuple[int, list[int]]]], _core.CountSet] | None = None
    ) -> None:
        """Learn structure and parameters from counts; `recount` counts families in another pass over the rows."""
        clf = cast("BaseClassifier", self)
        context = clf._context(counted.schema, len(counted.classes), counted.counts, None)
        learned = clf._fit_model(replace(context, recount=recount))
        clf._adopt(counted.schema, counted.encoder, counted.classes, learned)

    def predict_stream(self, batches: Any, method: str | Sequence[str] = "predict_proba") -> Iterator[Any]:
        """Predict a stream of tables, batch by batch.

        While one batch is predicted, the next one is read and encoded, and whoever asks for the results works on those
        before. No more than two batches are held at a time.

        Parameters
        ----------
        batches : iterable of tables, pyarrow Dataset, ParquetFile or RecordBatchReader, or callable
            As in `fit_stream`. Where columns have names, those of the features are taken, in any order; others, such as
            the class, are left alone, and files need not even be read for them.
        method : {"predict_proba", "predict", "predict_log_proba", "predict_joint_log_proba"} or several of them
            What to predict.

        Returns
        -------
        iterator of ndarray
            What the method returns for each batch, in their order; a tuple of arrays if several methods were asked for.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
        >>> clf = tg.TANClassifier().fit(data.X, data.y)
        >>> for proba in clf.predict_stream([data.X[:2], data.X[2:5]]):
        ...     print(proba.shape)
        (2, 2)
        (3, 2)
        """
        clf = cast("BaseClassifier", self)
        clf._check_fitted()
        methods = [method] if isinstance(method, str) else list(method)
        if wrong := [method] if not methods else [name for name in methods if name not in _OUTPUTS]:
            raise ValueError(f"method must be one of {', '.join(_OUTPUTS)} or a list of them, but is {wrong[0]!r}")
        source = BatchSource(batches)
        names = clf._schema.names
        warned: list[str] = []
        results = _overlapped(
            source.open(names),
            lambda raw: _encode(clf, raw, names, warned),
            lambda codes: _predict(clf, codes, methods),
        )
        return (found[0] for found in results) if isinstance(method, str) else results


def _count(clf: BaseClassifier, source: BatchSource, y: Any, sample_weight: Any, classes: Any) -> CountedPart:
    """Count all batches; where columns of numbers are to be cut, after a pass that finds out where."""
    cuts: Mapping[int, npt.NDArray[np.float64]] = {}
    n_rows = None
    while True:
        part = CountedPart(clf, y, sample_weight, classes, cuts)
        try:
            for _ in _overlapped(source.open(), part.encode, part.count):
                pass
        except NeedsCuts as needs:
            if not source.can_repeat:
                raise ValueError(
                    f"{needs.label} holds numbers to be cut into intervals, which takes a pass over all batches before they "
                    "are counted, but an iterator gives its batches only once: pass a function that returns them anew, a "
                    "list or a pyarrow dataset, or set discretizer=None"
                ) from None
            cuts, n_rows = _find_cuts(clf, source, y, sample_weight)
            continue
        if n_rows is not None:
            _check_same_rows(n_rows, part.n_rows)
        return part


def _find_cuts(
    clf: BaseClassifier, source: BatchSource, y: Any, sample_weight: Any
) -> tuple[Mapping[int, npt.NDArray[np.float64]], int]:
    looked = CutPart(clf, y, sample_weight)
    for raw in source.open():
        looked.add(raw)
    return looked.cuts(), looked.n_rows


def _check_same_rows(first: int, second: int) -> None:
    if first != second:
        raise ValueError(
            f"every pass over the batches must give the same rows, but one gave {first:,} and the next {second:,}: a "
            "function must return all batches anew whenever it is called"
        )


def _overlapped(items: Iterator[Any], prepare: Callable[[Any], Any], work: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield work(prepare(item)) of all items in their order, with one piece of work always under way in a thread.

    Items are taken and prepared in the caller's own thread: iterators of databases and the like may be bound to it. Work
    that is under way when the caller ends or an item fails is waited for, and what it did is dropped.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="tanager") as worker:
        under_way: Future[Any] | None = None
        for item in items:
            prepared = prepare(item)
            done = under_way
            if done is not None:
                result = done.result()
                under_way = worker.submit(work, prepared)
                yield result
            else:
                under_way = worker.submit(work, prepared)
        if under_way is not None:
            yield under_way.result()


def _encode(
    clf: BaseClassifier, raw: Any, names: list[str] | None, warned: list[str]
) -> tuple[list[npt.NDArray[Any]] | None, int]:
    if batch_length(raw) == 0:
        return None, 0
    table = _features(read_table(raw), names)
    check_features(clf, table.names, table.n_features)
    columns, strange = clf._encoder.encode_new(table, clf.unseen, clf._threads())
    if strange and not warned:  # once per stream
        warned += strange
        warn_unseen(strange)
    clf._announce(clf._core_model, columns, table.n_rows)
    return columns, table.n_rows


def _features(table: Table, names: list[str] | None) -> Table:
    """Return the columns that the model knows, if they are all there by name."""
    if names is None or table.names is None or table.names == names or not set(names) <= set(table.names):
        return table
    places = {name: i for i, name in enumerate(table.names)}
    return table.select([places[name] for name in names])


def _predict(
    clf: BaseClassifier, codes: tuple[list[npt.NDArray[Any]] | None, int], methods: list[str]
) -> tuple[npt.NDArray[Any], ...]:
    columns, n_rows = codes
    if columns is None:
        return tuple(clf.classes_[:0] if name == "predict" else np.empty((0, len(clf.classes_))) for name in methods)
    return tuple(clf._predict_codes(columns, n_rows, _OUTPUTS[name]) for name in methods)

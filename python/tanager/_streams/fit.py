"""Counting a stream of batches, in memory for one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .. import _core
from .._utils.typing import Floats
from .batches import BatchSource
from .counts import Counted, CountedPart, RecountedPart
from .cuts import CutPart
from .encoding import NeedsCuts
from .plan import StreamPlan

#: Counts families in another pass over the rows.
Recount = Callable[[list[tuple[int, list[int]]]], _core.CountSet]


def count_stream(
    plan: StreamPlan, source: BatchSource, y: Any, sample_weight: Any, classes: Any
) -> tuple[Counted, Recount | None]:
    """Count all batches, after a pass that finds cut points if columns are to be discretized.

    Parameters
    ----------
    plan : StreamPlan
    source : BatchSource
    y, sample_weight, classes
        As in ``fit_stream``.

    Returns
    -------
    counted : Counted
    recount : callable or None
        Counts further families in another pass; None if the source gives its batches only once.
    """
    part = _count(plan, source, y, sample_weight, classes)
    counted = part.result()

    def recount(families: list[tuple[int, list[int]]]) -> _core.CountSet:
        again = RecountedPart(plan, counted, families, y, sample_weight)
        for raw in source.open():
            again.add(raw)
        _check_same_rows(part.n_rows, again.n_rows)
        return again.counts

    return counted, recount if source.can_repeat else None


def _count(plan: StreamPlan, source: BatchSource, y: Any, sample_weight: Any, classes: Any) -> CountedPart:
    cuts: Mapping[int, Floats] = {}
    n_rows = None
    while True:
        part = CountedPart(plan, y, sample_weight, classes, cuts)
        try:
            for _ in overlapped(source.open(), part.encode, part.count):
                pass
        except NeedsCuts as needs:
            if not source.can_repeat:
                raise ValueError(
                    f"{needs.label} is to be discretized, which takes an additional pass over the batches, but an iterator "
                    "gives them only once; pass a list, a pyarrow dataset or a function that returns a new iterator, or set "
                    "discretizer=None"
                ) from None
            cuts, n_rows = _find_cuts(plan, source, y, sample_weight)
            continue
        if n_rows is not None:
            _check_same_rows(n_rows, part.n_rows)
        return part


def _find_cuts(plan: StreamPlan, source: BatchSource, y: Any, sample_weight: Any) -> tuple[Mapping[int, Floats], int]:
    part = CutPart(plan, y, sample_weight)
    for raw in source.open():
        part.add(raw)
    return part.cuts(), part.n_rows


def _check_same_rows(first: int, second: int) -> None:
    if first != second:
        raise ValueError(
            f"every pass over the batches must give the same rows, but one gave {first:,} and the next {second:,}; a "
            "function must return all batches whenever it is called"
        )


def overlapped(items: Iterator[Any], prepare: Callable[[Any], Any], work: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield ``work(prepare(item))`` for all items in order, with one call of `work` always running in a thread.

    Items are read and prepared in the caller's thread, since iterators of databases, for example, may be bound to it. A
    call that is running when the caller stops or an item fails is waited for, and its result is dropped.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="tanager") as worker:
        running: Future[Any] | None = None
        for item in items:
            prepared = prepare(item)
            done = running
            if done is not None:
                result = done.result()
                running = worker.submit(work, prepared)
                yield result
            else:
                running = worker.submit(work, prepared)
        if running is not None:
            yield running.result()

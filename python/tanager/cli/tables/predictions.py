"""Probabilities and predicted classes of the rows of a file, batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from ...evaluation._held_out import most_probable

#: At a time: a batch may have many rows, and a model many classes.
MAX_PROBABILITIES = 1 << 22


def predict_batches(clf: Any, batches: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the kept columns of every batch, the probabilities of its rows, and the positions of their classes.

    Parameters
    ----------
    clf : BaseClassifier
    batches : iterable of (features, kept columns)
        Record batches, as `ModelRows.batches` yields them.
    """
    waiting: deque[Any] = deque()
    step = max(1, MAX_PROBABILITIES // len(clf.classes_))

    def features() -> Iterator[Any]:
        for batch, kept in batches:
            for start in range(0, max(1, batch.num_rows), step):
                waiting.append((batch.slice(start, step), kept.slice(start, step)))
                yield waiting[-1][0]

    for proba in clf.predict_stream(features()):
        batch, kept = waiting.popleft()
        yield kept, proba, most_probable(clf, batch, proba)

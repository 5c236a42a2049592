"""Counts of parts of a stream, in one process or in many; merged, they equal the counts of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Encoder
from .._encoding.labels import class_name, encode_labels
from .._encoding.schema import Schema
from .._utils.text import join_names
from .._utils.typing import Floats, Recoding
from .batches import Batch, BatchReader
from .encoding import GrowingClasses, GrowingEncoder
from .plan import StreamPlan


@dataclass(frozen=True)
class EncodedBatch:
    """Codes of a batch, and the new codes of features and classes that were counted before; None if unchanged."""

    dataset: _core.Dataset | None  # None if all rows have weight zero
    sizes: list[int]
    n_classes: int
    features: list[Recoding] | None
    classes: Recoding | None


class CountedPart:
    """Columns, categories, classes and counts of some rows. Parts can be merged and pickled.

    Parts that are merged in the order of their rows equal one part of all rows: categories ordered by a column's type are in
    the order of the batches, all others are sorted. Counts are exact; sums of weights are exact as long as weights are
    integers, and otherwise may differ between parts in their last bits.

    Parameters
    ----------
    plan : StreamPlan
    y, sample_weight : str or None
        As in `fit_stream`.
    classes : array-like or None
        All classes, if they are known beforehand.
    cuts : mapping of int to ndarray, default=None
        Cut points of columns to discretize, by position (from `CutPart`).
    """

    def __init__(
        self,
        plan: StreamPlan,
        y: str | None = None,
        sample_weight: str | None = None,
        classes: Any = None,
        cuts: Mapping[int, Floats] | None = None,
    ) -> None:
        self._plan = plan
        self._reader = BatchReader(y, sample_weight)
        self._classes = GrowingClasses(classes)
        self._encoder = GrowingEncoder(plan.encoding, cuts or {}, plan.threads)
        self.schema: Schema | None = None
        self.n_rows = 0
        self._weighted = False
        self._counts: _core.CountSet | None = None

    def add(self, raw: Any) -> None:
        """Count a batch: a table, or a tuple ``(X, y)`` or ``(X, y, weights)`` if no class column is named."""
        self.count(self.encode(raw))

    def encode(self, raw: Any) -> EncodedBatch | None:
        """Encode a batch: the first half of `add`. The second half is `count`, in the same order."""
        schema = self.schema
        batch = self._reader.read(raw, self.n_rows, schema)
        if batch is None:
            return None
        if schema is None:
            schema = self.schema = self._make_schema(batch)
        codes, moved_classes = self._classes.encode(batch.labels, batch.n_rows, self.n_rows)
        assert self._classes.labels is not None
        n_classes = len(self._classes.labels)
        first_row = self.n_rows
        self.n_rows += batch.n_rows
        if batch.table is None:
            return EncodedBatch(None, [], n_classes, None, moved_classes)
        columns, moved = self._encoder.encode(batch.table, first_row)
        sizes = self._encoder.encoder.cardinalities
        weights = batch.weights
        self._weighted |= weights is not None
        if weights is None and self._weighted:  # so sums are rounded as before
            weights = np.ones(batch.n_rows)
        codes = codes if batch.kept is None else codes[batch.kept]
        dataset = _core.Dataset(columns, sizes, codes, n_classes, weights)
        return EncodedBatch(dataset, sizes, n_classes, moved, moved_classes)

    def count(self, batch: EncodedBatch | None) -> None:
        """Add the counts of an encoded batch; None is a batch without rows."""
        if batch is None:
            return
        if batch.dataset is None:
            # The batch only adds classes; counts that do not exist yet get them later.
            if self._counts is not None:
                self._move(self._counts.cardinalities, batch.n_classes, None, batch.classes)
            return
        assert self.schema is not None
        if self._counts is None:
            requirements = self._plan.check(self.schema, batch.sizes, batch.n_classes)
            self._counts = _core.CountSet(batch.sizes, batch.n_classes, *requirements)
        else:
            self._move(batch.sizes, batch.n_classes, batch.features, batch.classes)
        self._counts.add_rows(batch.dataset, self._plan.threads)

    def _move(
        self, sizes: list[int], n_classes: int, features: list[Recoding] | None, classes: Recoding | None
    ) -> None:
        if features is None and classes is None:
            return
        assert self._counts is not None
        assert self.schema is not None
        self._plan.check(self.schema, sizes, n_classes)
        if features is None:
            features = [np.arange(size, dtype=np.uint16) for size in sizes]
        if classes is None:
            classes = np.arange(n_classes, dtype=np.uint16)
        self._counts = self._counts.recoded(sizes, n_classes, features, classes)

    def _make_schema(self, batch: Batch) -> Schema:
        schema = Schema(batch.names, batch.n_features, "class")
        name = self._reader.y or class_name(batch.labels, schema.feature_names)
        return Schema(batch.names, batch.n_features, name)

    def merge(self, other: CountedPart) -> CountedPart:
        """Return the part of these rows and of another part's rows, which come after them; neither part changes."""
        if other.schema is None:
            return self
        if self.schema is None:
            return other
        joined = copy(self)
        joined._classes, joined._encoder = copy(self._classes), self._encoder.copy()
        joined._add_part(other)
        return joined

    def _add_part(self, other: CountedPart) -> None:
        assert self.schema is not None
        assert other.schema is not None
        mine, theirs = self.schema, other.schema
        if mine.names != theirs.names or mine.n_features != theirs.n_features:
            raise ValueError(
                f"all parts must have the same columns, but one has {join_names(mine.feature_names)} and another "
                f"{join_names(theirs.feature_names)}"
            )
        self.n_rows += other.n_rows
        self._weighted |= other._weighted
        classes, classes_other = self._classes.join(other._classes)
        assert self._classes.labels is not None
        n_classes = len(self._classes.labels)
        if other._counts is None:
            if self._counts is not None:
                self._move(self._counts.cardinalities, n_classes, None, classes)
            return
        if self._counts is None:
            self._encoder, self._counts = other._encoder.copy(), other._counts
            self._move(self._counts.cardinalities, n_classes, None, classes_other)
            return
        moved, moved_other = self._encoder.join(other._encoder)
        sizes = self._encoder.encoder.cardinalities
        self._move(sizes, n_classes, moved, classes)
        self._counts += other._counts.recoded(sizes, n_classes, moved_other, classes_other)

    def result(self) -> Counted:
        """Return the counts of all rows and what they refer to; raise if there are no rows."""
        if self.schema is None:
            raise ValueError("the stream has no rows")
        if self._counts is None:
            raise ValueError("sample_weight: expected at least one positive weight, got only zeros")
        if not np.isfinite(self._counts.n_rows):
            raise ValueError("sample_weight: expected weights with a finite sum, got weights that add up to infinity")
        assert self._classes.labels is not None
        encoder, classes = self._encoder.finish(), self._classes.labels
        return Counted(self.schema, encoder, classes, self._counts)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_counts": None if self._counts is None else _pack(self._counts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        counts = state["_counts"]
        self.__dict__.update(state, _counts=None if counts is None else _core.CountSet.from_cells(*counts))


@dataclass(frozen=True)
class Counted:
    """Counts of all rows, and the columns, categories and classes that they refer to."""

    schema: Schema
    encoder: Encoder
    classes: npt.NDArray[Any]
    counts: _core.CountSet


class RecountedPart:
    """Counts of families that were chosen after a first pass, which found all categories and classes."""

    def __init__(
        self,
        plan: StreamPlan,
        counted: Counted,
        families: list[tuple[int, list[int]]],
        y: str | None = None,
        sample_weight: str | None = None,
    ) -> None:
        self._threads = plan.threads
        self._known = counted
        self._reader = BatchReader(y, sample_weight)
        self.n_rows = 0
        self._weighted = False
        self.counts = _core.CountSet(counted.encoder.cardinalities, len(counted.classes), "singles", families)

    def add(self, raw: Any) -> None:
        """Count a batch."""
        known = self._known
        batch = self._reader.read(raw, self.n_rows, known.schema)
        if batch is None:
            return
        codes = encode_labels(batch.labels, known.classes, first_row=self.n_rows)[1]
        self.n_rows += batch.n_rows
        if batch.table is None:
            return
        codes = codes if batch.kept is None else codes[batch.kept]
        columns = known.encoder.encode(batch.table, "error", self._threads)
        self._weighted |= batch.weights is not None
        weights = np.ones(len(codes)) if self._weighted and batch.weights is None else batch.weights
        dataset = _core.Dataset(columns, known.encoder.cardinalities, codes, len(known.classes), weights)
        self.counts.add_rows(dataset, self._threads)

    def merge(self, other: RecountedPart) -> RecountedPart:
        """Return the counts of both parts; neither changes."""
        joined = copy(self)
        joined.n_rows += other.n_rows
        joined.counts = self.counts + other.counts
        return joined

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "counts": _pack(self.counts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, counts=_core.CountSet.from_cells(*state["counts"]))


def _pack(counts: _core.CountSet) -> tuple[Any, ...]:
    return counts.cardinalities, counts.n_classes, counts.scope, counts.families, counts.cells()

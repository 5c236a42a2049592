"""Cut points for the numeric columns of a stream: a pass over all batches, in bounded memory, before they are counted.

Equal width needs the minimum and the maximum, equal frequency approximate quantiles, and minimum description length the
numbers with their classes, for which a random sample of rows is used. All of them are exact for small streams, and do not
depend on where batches end.
"""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from .._encoding.encoder import finite_numbers, read_columns
from .._encoding.schema import Schema
from .._encoding.table import column_label
from .._utils.random import draw_seed
from .._utils.typing import Floats
from ..discretize import EqualFrequencyDiscretizer, EqualWidthDiscretizer
from .batches import BatchReader
from .encoding import ColumnKinds, GrowingClasses
from .plan import StreamPlan
from .sketches import QuantileSummary, RowSample

#: The size of the sample of rows for cut points by minimum description length.
SAMPLE_ROWS = 100_000


class CutPart:
    """Summary of the numeric columns of some rows, from which cut points are found. Parts can be merged and pickled.

    Parameters
    ----------
    plan : StreamPlan
    y, sample_weight : str or None
        As in `fit_stream`.
    part : int, default=0
        The number of this part, which makes its random sample independent of others.
    """

    def __init__(self, plan: StreamPlan, y: str | None = None, sample_weight: str | None = None, part: int = 0) -> None:
        self._settings = plan.encoding
        self._reader = BatchReader(y, sample_weight)
        self._discretizer: Any = plan.encoding.discretizer
        self._classes = GrowingClasses()
        self._known: Schema | None = None
        self._kinds = ColumnKinds(0)
        self.n_rows = 0
        seed = 0 if plan.random_state is None else draw_seed(plan.random_state)
        self._sample = RowSample(SAMPLE_ROWS, [seed, part])
        self._summaries: dict[int, QuantileSummary] = {}
        self._ranges: dict[int, Floats] = {}

    def add(self, raw: Any) -> None:
        """Add a batch."""
        batch = self._reader.read(raw, self.n_rows, self._known)
        if batch is None:
            return
        if self._known is None:
            self._known = Schema(batch.names, batch.n_features, "class")
            self._kinds = ColumnKinds(batch.n_features)
        first_row = self.n_rows
        self.n_rows += batch.n_rows
        codes, moved = self._classes.encode(batch.labels, batch.n_rows, first_row)
        if moved is not None:
            self._sample.recode(moved)
        if batch.table is None:
            return
        codes = codes if batch.kept is None else codes[batch.kept]
        numbers: dict[int, Floats] = {}
        for task in read_columns(batch.table, self._settings):
            i = task.position
            if task.declared is not None or self._kinds.names[i] not in {None, "floats", "integers"}:
                continue  # without reading it
            column = self._kinds.check(i, task.column, task.label, first_row)
            if task.role == "numeric":
                numbers[i] = finite_numbers(column, task.label)
        self._take(numbers, codes, batch.weights)

    def _take(self, numbers: dict[int, Floats], codes: npt.NDArray[Any], weights: Floats | None) -> None:
        if isinstance(self._discretizer, EqualWidthDiscretizer):
            for i, x in numbers.items():
                seen = x[~np.isnan(x)]
                if len(seen):
                    ends = np.array([seen.min(), seen.max()])
                    self._ranges[i] = _wider(self._ranges.get(i, ends), ends)
        elif isinstance(self._discretizer, EqualFrequencyDiscretizer):
            for i, x in numbers.items():
                self._summaries.setdefault(i, QuantileSummary()).add(x, weights)
        else:
            self._sample.add(numbers, codes, weights)

    def merge(self, other: CutPart) -> CutPart:
        """Return the summary of these rows and of another part's rows, which come after them; neither part changes."""
        if other._known is None:
            return self
        if self._known is None:
            return other
        joined = copy(self)
        for name in ("_classes", "_sample", "_summaries", "_ranges"):
            setattr(joined, name, deepcopy(getattr(self, name)))
        joined._kinds = self._kinds.copy()
        joined._add_part(other)
        return joined

    def _add_part(self, other: CutPart) -> None:
        assert self._known is not None
        assert other._known is not None
        if self._known != other._known:
            raise ValueError(
                "all parts must have the same columns, but one has "
                f"{self._known.names or self._known.n_features} and another {other._known.names or other._known.n_features}"
            )
        labels = [column_label(self._known.names, i) for i in range(self._known.n_features)]
        self._kinds.join(other._kinds, labels)
        mine, theirs = self._classes.join(other._classes)
        self._sample.recode(mine)
        their_sample = copy(other._sample)
        their_sample.recode(theirs)
        self._sample.merge(their_sample)
        for i, summary in other._summaries.items():
            self._summaries.setdefault(i, QuantileSummary()).merge(summary)
        for i, ends in other._ranges.items():
            self._ranges[i] = _wider(self._ranges.get(i, ends), ends)
        self.n_rows += other.n_rows

    def cuts(self) -> dict[int, Floats]:
        """Return the cut points of every column to discretize, by position."""
        found: dict[int, Floats] = {}
        find = self._discretizer._find_cuts
        if isinstance(self._discretizer, EqualWidthDiscretizer):
            found = {i: find(ends, None, 1, None) for i, ends in self._ranges.items()}
        elif isinstance(self._discretizer, EqualFrequencyDiscretizer):
            for i, summary in self._summaries.items():
                values, weights = summary.points()
                found[i] = find(values, None, 1, weights) if len(values) else np.empty(0)
        elif self._classes.labels is not None:
            columns, codes, row_weights = self._sample.rows()
            n_classes = len(self._classes.labels)
            narrow = codes.astype(np.uint8) if n_classes <= 254 else codes
            for i, x in columns.items():
                found[i] = np.empty(0) if np.isnan(x).all() else find(x, narrow, n_classes, row_weights)
        return found


def _wider(a: Floats, b: Floats) -> Floats:
    return np.array([min(a[0], b[0]), max(a[1], b[1])])

"""Where to cut the numbers of a stream: a pass over all batches, in bounded memory, before they are counted.

Equal width needs the smallest and the largest number, equal frequency a summary that knows the rank of every number
nearly, and cuts by minimum description length need classes beside the numbers, for which a sample of the rows stands.
All of them are exact as long as they are small, and do not depend on where batches end.
"""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._encoding.encoder import declared_categories, numeric_rule
from .._encoding.table import column_label
from .._utils.random import resolve_seed
from .._utils.typing import Floats
from ..discretize import EqualFrequencyDiscretizer, EqualWidthDiscretizer
from .batches import BatchReader, Known
from .encoding import GrowingClasses
from .kinds import ColumnKinds
from .sample import RowSample
from .sketches import QuantileSummary

if TYPE_CHECKING:
    from ..classifiers._base import BaseClassifier


#: Cuts by minimum description length come from so many rows, drawn at random where there are more.
SAMPLE_ROWS = 100_000


class CutPart:
    """What must be known of some rows to cut columns of numbers. Parts merge and can be pickled.

    Parameters
    ----------
    clf : classifier
        Says which columns are cut, and how.
    y, sample_weight : str or None
        As in `fit_stream`.
    part : int, default=0
        The number of this part, where several draw rows at random.
    """

    def __init__(
        self, clf: BaseClassifier, y: str | None = None, sample_weight: str | None = None, part: int = 0
    ) -> None:
        self._clf = clf
        self._reader = BatchReader(y, sample_weight)
        self._discretizer = clf._resolved_discretizer()
        self._classes = GrowingClasses()
        self._known: Known | None = None
        self._kinds = ColumnKinds(0)
        self.n_rows = 0
        seed = 0 if clf.random_state is None else resolve_seed(clf.random_state)
        self._sample = RowSample(SAMPLE_ROWS, [seed() if callable(seed) else seed, part])
        self._summaries: dict[int, QuantileSummary] = {}
        self._ranges: dict[int, Floats] = {}

    def add(self, raw: Any) -> None:
        """Look at a batch."""
        batch = self._reader.read(raw, self.n_rows, self._known)
        if batch is None:
            return
        if self._known is None:
            self._known = Known(batch.names, batch.n_features)
            self._kinds = ColumnKinds(batch.n_features)
        first_row = self.n_rows
        self.n_rows += batch.n_rows
        codes, moved = self._classes.encode(batch.labels, batch.n_rows, first_row)
        if moved is not None:
            self._sample.recode(moved)
        if batch.table is None:
            return
        codes = codes if batch.kept is None else codes[batch.kept]
        declared = declared_categories(batch.table, self._clf.categories)
        is_numeric = numeric_rule(batch.table, self._clf.numeric_features, self._discretizer)
        numbers: dict[int, Floats] = {}
        for i in range(batch.n_features):
            if i in declared or self._kinds.names[i] not in {None, "floats", "integers"}:
                continue
            label = batch.table.label(i)
            column = self._kinds.check(i, batch.table.column(i), label, first_row)
            if is_numeric(i, column):
                numbers[i] = _finite(column.floats(label), label)
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
        """Return what is known of these rows and of those of another part that come after; both stay as they are."""
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
        """Return where to cut every column of numbers, by position."""
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


def _finite(numbers: npt.NDArray[Any], label: str) -> Floats:
    if np.isinf(numbers).any():
        raise ValueError(f"Input X contains infinity or a value too large to be cut into intervals: {label}")
    return np.ascontiguousarray(numbers, dtype=np.float64)


def _wider(a: Floats, b: Floats) -> Floats:
    return np.array([min(a[0], b[0]), max(a[1], b[1])])

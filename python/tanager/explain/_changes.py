"""Which other values of a row would change its prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._coded_rows import CodedRows, SingleChanges, best_flip, best_pair

__all__ = ["EvidenceChange", "Flip"]

Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class EvidenceChange:
    """Another value of one feature: of all its values that which speaks most against the prediction.

    Attributes
    ----------
    feature : str
        The name of the feature.
    value : object
        The value it has; None if it is missing.
    to : object
        The value it would have.
    log_odds : float
        Those of the class predicted now against the most probable other class, with the other value.
    fall : float
        How much lower these are than now; below zero if every other value would speak for the prediction.
    prediction : object
        The class that would be predicted.
    """

    feature: str
    value: Any
    to: Any
    log_odds: float
    fall: float
    prediction: Any


@dataclass(frozen=True)
class Flip:
    """The nearest change that makes another class predicted.

    Attributes
    ----------
    changes : dict
        The other value of every feature that changes: of one, or of two where one is not enough.
    prediction : object
        The class that is predicted then.
    probability : float
        Its probability then.
    """

    changes: dict[str, Any]
    prediction: Any
    probability: float


@dataclass(frozen=True)
class Labels:
    """What codes mean: the values of every feature, and the classes."""

    features: list[list[Any]]
    classes: list[Any]

    def of_cell(self, rows: CodedRows, row: int, feature: int) -> Any:
        """Return the label of a cell; None if it is missing."""
        code = int(rows.columns[feature][row])
        return self.features[feature][code] if code < rows.cardinalities[feature] else None


def find_changes(
    rows: CodedRows, labels: Labels, changes: SingleChanges, log_odds: npt.NDArray[np.float64]
) -> tuple[tuple[EvidenceChange, ...], ...]:
    """Return for every row the strongest change of every feature, the strongest first."""
    found = []
    for row in range(rows.n_rows):
        of_row = []
        odds = changes.log_odds[row]
        usable = changes.real[row] & ~np.isnan(odds)
        for feature in np.unique(changes.features[usable]).tolist():
            places = np.flatnonzero(usable & (changes.features == feature))
            place = int(places[np.argmin(odds[places])])
            after, now = float(odds[place]), float(log_odds[row])
            change = EvidenceChange(
                rows.feature_names[feature],
                labels.of_cell(rows, row, feature),
                labels.features[feature][changes.values[place]],
                after,
                0.0 if after == now else now - after,  # both may be infinite
                labels.classes[changes.classes[row, place]],
            )
            of_row.append(change)
        found.append(tuple(sorted(of_row, key=lambda change: change.log_odds)))
    return tuple(found)


def find_flips(
    rows: CodedRows, labels: Labels, changes: SingleChanges, predicted: Places, max_pairs: int
) -> tuple[tuple[Flip | None, ...], npt.NDArray[np.bool_]]:
    """Return for every row the nearest change that flips its prediction, and whether all changes were tried in vain."""
    flips: list[Flip | None] = []
    exhausted = np.zeros(rows.n_rows, dtype=bool)
    for row in range(rows.n_rows):
        single = best_flip(changes, row, int(predicted[row]))
        places: Sequence[int] | None = None if single is None else [single]
        if places is None:
            places, exhausted[row] = best_pair(rows, changes, row, int(predicted[row]), max_pairs)
        flips.append(None if places is None else _flip(rows, labels, changes, row, places))
    return tuple(flips), exhausted & np.array([flip is None for flip in flips], dtype=bool)


def _flip(rows: CodedRows, labels: Labels, changes: SingleChanges, row: int, places: Sequence[int]) -> Flip:
    changed = {int(changes.features[place]): int(changes.values[place]) for place in places}
    columns = [np.array([changed.get(f, column[row])], dtype=column.dtype) for f, column in enumerate(rows.columns)]
    posterior = rows.predict(columns, 1, "posterior")[0]
    best = int(rows.best_classes(columns, rows.predict(columns, 1))[0])
    named = {rows.feature_names[f]: labels.features[f][value] for f, value in changed.items()}
    return Flip(named, labels.classes[best], float(posterior[best]))

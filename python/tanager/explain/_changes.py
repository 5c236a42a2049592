"""Counterfactuals: changes of feature values that weaken or change a prediction."""

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
    """The strongest counterfactual value of one feature: the value that lowers the log-odds of the prediction most.

    Attributes
    ----------
    feature : str
        Name of the feature.
    value : object
        Current value; None if missing.
    to : object
        Counterfactual value.
    log_odds : float
        Log-odds of the predicted class against the most probable other class after the change.
    fall : float
        Decrease of the log-odds; negative if every other value would support the prediction more.
    prediction : object
        Predicted class after the change.
    """

    feature: str
    value: Any
    to: Any
    log_odds: float
    fall: float
    prediction: Any


@dataclass(frozen=True)
class Flip:
    """The smallest change of feature values that flips the prediction.

    Attributes
    ----------
    changes : dict
        New values of the changed features: one feature, or two if one is not enough.
    prediction : object
        Predicted class after the change.
    probability : float
        Probability of that class after the change.
    """

    changes: dict[str, Any]
    prediction: Any
    probability: float


@dataclass(frozen=True)
class Labels:
    """Labels of codes: the values of every feature, and the classes."""

    features: list[list[Any]]
    classes: list[Any]

    def of_cell(self, rows: CodedRows, row: int, feature: int) -> Any:
        """Return the label of a value; None if it is missing."""
        code = int(rows.columns[feature][row])
        return self.features[feature][code] if code < rows.cardinalities[feature] else None


def find_changes(
    rows: CodedRows, labels: Labels, changes: SingleChanges, log_odds: npt.NDArray[np.float64]
) -> tuple[tuple[EvidenceChange, ...], ...]:
    """Return for every row the strongest change of each feature, strongest first."""
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
    """Return for every row the smallest change of its prediction, and whether it is certain that there is none."""
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

"""Scores of one fitted model on held-out data, as reports show them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._encoding.labels import encode_labels
from .._encoding.table import take_rows
from .._utils.text import distinct_labels
from .._utils.typing import Floats
from ._curves import NORMAL_95, Reliability, reliability_of_codes, wilson_interval
from ._scoring import auc

if TYPE_CHECKING:
    from ..classifiers._base import BaseClassifier

Codes = npt.NDArray[np.int64]

Interval = tuple[float, float]

#: Relative distance below which probabilities count as nearly equal.
_NEARLY_EQUAL = 1e-9


class HeldOutScores:
    """Scores of predictions for rows whose classes are known.

    Parameters
    ----------
    name : str
        Name of the dataset.
    labels : list of str
        Class labels, in the order of the columns of `proba`.
    truth : ndarray of shape (n_rows,)
        Position of the true class among the labels, or -1 for a class that the model does not know.
    proba : ndarray of shape (n_rows, n_classes)
    predicted : ndarray of shape (n_rows,)
        Position of the predicted class of each row.
    """

    def __init__(self, name: str, labels: list[str], truth: Codes, proba: Floats, predicted: Codes) -> None:
        self.name = name
        self.labels = labels
        self.truth = truth
        self.proba = proba
        self.predicted = predicted
        self.n_rows = len(truth)

    @cached_property
    def n_unknown(self) -> int:
        """Number of rows of classes that the model does not know; they count as errors."""
        return int((self.truth < 0).sum())

    @cached_property
    def accuracy(self) -> float:
        """Fraction of correctly predicted rows."""
        return float((self.predicted == self.truth).mean())

    @cached_property
    def accuracy_interval(self) -> Interval:
        """Wilson's 95% interval of the accuracy."""
        low, high = wilson_interval(np.array(self.accuracy), np.array(self.n_rows))
        return float(low), float(high)

    @cached_property
    def log_loss(self) -> float:
        """Mean of -ln P(true class)."""
        return float(_losses(self.truth, self.proba).mean())

    @cached_property
    def log_loss_interval(self) -> Interval | None:
        """95% interval of the log loss from its standard error over rows; None if undefined."""
        losses = _losses(self.truth, self.proba)
        if len(losses) < 2 or not np.isfinite(losses).all():
            return None
        half = NORMAL_95 * float(losses.std(ddof=1)) / float(np.sqrt(len(losses)))
        return max(0.0, self.log_loss - half), self.log_loss + half

    @cached_property
    def auc(self) -> float:
        """Area under the ROC curve; NaN where it is undefined."""
        known = self.truth >= 0
        if not known.any():
            return float("nan")
        return float(auc(self.truth[known], self.proba[known], np.arange(len(self.labels))))

    @cached_property
    def frequencies(self) -> tuple[float, float]:
        """Accuracy and log loss of a model that predicts the class frequencies of these rows."""
        shares = np.bincount(self.truth[self.truth >= 0], minlength=len(self.labels)) / self.n_rows
        rows = np.broadcast_to(shares, self.proba.shape)
        return float(shares.max()), float(_losses(self.truth, rows).mean())

    def summary(self) -> list[tuple[str, float, Interval | None, float]]:
        """Return name, value, 95% interval and baseline of every score; the baseline predicts the class frequencies."""
        accuracy, log_loss = self.frequencies
        return [
            ("accuracy", self.accuracy, self.accuracy_interval, accuracy),
            ("log loss", self.log_loss, self.log_loss_interval, log_loss),
            ("AUC", self.auc, None, 0.5),
        ]

    @cached_property
    def confusion(self) -> npt.NDArray[np.int64]:
        """Number of rows of each true class (row) that are predicted as each class (column)."""
        n = len(self.labels)
        known = self.truth >= 0
        cells = np.bincount(self.truth[known] * n + self.predicted[known], minlength=n * n)
        return cells.reshape(n, n).astype(np.int64)

    def per_class(self) -> list[tuple[str, int, float, float]]:
        """Return label, number of rows, precision and recall of every class; NaN for 0 / 0."""
        right, true, predicted = self.confusion.diagonal(), self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = right / predicted, right / true
        return [(label, int(true[i]), float(precision[i]), float(recall[i])) for i, label in enumerate(self.labels)]

    @cached_property
    def reliability(self) -> Reliability:
        """Calibration of the probabilities, as `tanager.evaluation.reliability` computes it by default."""
        return reliability_of_codes(self.truth, self.proba, self.labels)


def held_out_scores(clf: BaseClassifier, X: Any, y: Any, name: str = "the data passed to the report") -> HeldOutScores:
    """Predict rows whose classes are known and score the predictions."""
    proba = clf.predict_proba(X)
    labels, codes = encode_labels(y)
    if len(codes) != len(proba):
        raise ValueError(f"X has {len(proba)} rows, but y has {len(codes)}")
    if not len(codes):
        raise ValueError("X: expected at least one row, got none")
    known = {label: position for position, label in enumerate(clf.classes_.tolist())}
    truth = np.array([known.get(label, -1) for label in labels.tolist()], dtype=np.int64)[codes]
    return HeldOutScores(name, distinct_labels(clf.classes_.tolist()), truth, proba, most_probable(clf, X, proba))


def most_probable(clf: BaseClassifier, X: Any, proba: Floats) -> Codes:
    """Return the positions of the classes that ``clf.predict(X)`` returns.

    `predict` compares logarithms, which may order nearly equal probabilities differently. Only such rows are predicted
    again: predicting all rows twice would take up to twice the time.
    """
    positions: Codes = proba.argmax(axis=1).astype(np.int64)
    best = proba[np.arange(len(proba)), positions]
    near = np.flatnonzero((proba >= best[:, None] * (1 - _NEARLY_EQUAL)).sum(axis=1) > 1)
    if len(near):
        columns, n_rows = clf._encode(take_rows(X, near))
        positions[near] = clf._predictor.predict_classes(columns, n_rows, clf._threads())
    return positions


def _losses(truth: Codes, proba: Floats) -> Floats:
    chosen = np.where(truth >= 0, proba[np.arange(len(truth)), truth], 0.0)
    with np.errstate(divide="ignore"):
        losses: Floats = -np.log(chosen)
    return losses

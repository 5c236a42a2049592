"""How well a model predicts rows whose classes are known."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from .._utils.typing import Floats
from . import auc
from ._curves import wilson_interval

Codes = npt.NDArray[np.int64]

Interval = tuple[float, float]

_BINS = 10
#: Of a normal distribution: 95 % lie this many standard deviations around the mean.
_NORMAL = 1.959963984540054


class Judgment:
    """Scores of predictions.

    Parameters
    ----------
    name : str
        What the table is called.
    labels : list of str
    truth : ndarray of shape (n_rows,)
        The position of the true class among the labels, or -1 for one that the model does not know.
    proba : ndarray of shape (n_rows, n_classes)
    predicted : ndarray of shape (n_rows,)
        The positions of the predicted classes.
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
        """How many rows are of classes that the model does not know; they count as wrong."""
        return int((self.truth < 0).sum())

    @cached_property
    def accuracy(self) -> float:
        """The share of rows whose class is right."""
        return float((self.predicted == self.truth).mean())

    @cached_property
    def accuracy_interval(self) -> Interval:
        """The 95 % interval of the accuracy by Wilson's score, which never leaves 0 to 1."""
        low, high = wilson_interval(np.array(self.accuracy), np.array(self.n_rows))
        return float(low), float(high)

    @cached_property
    def log_score(self) -> float:
        """The mean of -ln P(true class)."""
        return float(_losses(self.truth, self.proba).mean())

    @cached_property
    def log_score_interval(self) -> Interval | None:
        """The 95 % interval of the log score from the standard error over rows; None where it has none."""
        losses = _losses(self.truth, self.proba)
        if len(losses) < 2 or not np.isfinite(losses).all():
            return None
        half = _NORMAL * float(losses.std(ddof=1)) / float(np.sqrt(len(losses)))
        return max(0.0, self.log_score - half), self.log_score + half

    @cached_property
    def auc(self) -> float:
        """The area under the ROC curve; NaN where it is not defined."""
        known = self.truth >= 0
        if not known.any():
            return float("nan")
        return float(auc(self.truth[known], self.proba[known], np.arange(len(self.labels))))

    @cached_property
    def frequencies(self) -> tuple[float, float]:
        """Accuracy and log score of a model that always gives the classes their shares in this table."""
        shares = np.bincount(self.truth[self.truth >= 0], minlength=len(self.labels)) / self.n_rows
        rows = np.broadcast_to(shares, self.proba.shape)
        return float(shares.max()), float(_losses(self.truth, rows).mean())

    @cached_property
    def confusion(self) -> npt.NDArray[np.int64]:
        """How often each true class (row) was predicted as each class (column)."""
        n = len(self.labels)
        known = self.truth >= 0
        cells = np.bincount(self.truth[known] * n + self.predicted[known], minlength=n * n)
        return cells.reshape(n, n).astype(np.int64)

    def per_class(self) -> list[tuple[str, int, float, float]]:
        """Return label, number of rows, precision and recall of every class; NaN where there is nothing to divide by."""
        right, true, said = self.confusion.diagonal(), self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = right / said, right / true
        return [(label, int(true[i]), float(precision[i]), float(recall[i])) for i, label in enumerate(self.labels)]

    def calibration(self) -> list[tuple[float, float, int, float, float]]:
        """Return from, to, rows, mean probability and share of right answers by the probability of the answer."""
        confidence = self.proba[np.arange(self.n_rows), self.predicted]
        bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
        right = self.predicted == self.truth
        rows = [(b, bins == b) for b in range(_BINS)]
        return [
            (b / _BINS, (b + 1) / _BINS, int(here.sum()), float(confidence[here].mean()), float(right[here].mean()))
            for b, here in rows
            if here.any()
        ]

    @cached_property
    def calibration_error(self) -> float:
        """The mean distance between probability and share of right answers, over the rows."""
        return sum(n * abs(mean - share) for _, _, n, mean, share in self.calibration()) / self.n_rows


def _losses(truth: Codes, proba: Floats) -> Floats:
    chosen = np.where(truth >= 0, proba[np.arange(len(truth)), truth], 0.0)
    with np.errstate(divide="ignore"):
        losses: Floats = -np.log(chosen)
    return losses

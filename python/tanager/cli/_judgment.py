"""How well a model predicts rows whose classes are known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..evaluation import auc
from ._errors import InputError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

_BINS = 10


def class_codes(column: Any, content: Any, name: str, missing: Sequence[str]) -> Codes:
    """Return the position of every true class among those of the model; -1 for a class that it does not know."""
    texts = [content.class_name(i) for i in range(len(content.classes))]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    known = {text: position for position, text in enumerate(texts)}
    codes = []
    for value in column.dictionary.to_pylist():
        text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
        codes.append(-2 if value is None or text in missing else known.get(text, known.get(_as_whole(text), -1)))
    found: Codes = np.array([*codes, -2], dtype=np.int64)[column.indices.fill_null(len(codes)).to_numpy()]
    if (found == -2).any():
        raise InputError(f"the class {name!r} is missing in {int((found == -2).sum()):,} rows; leave them out")
    return found


def _as_whole(text: str) -> str:
    """Return 3 for 3.0, as whole numbers are read."""
    return text.removesuffix(".0")


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
    def log_score(self) -> float:
        """The mean of -ln P(true class)."""
        return _log_score(self.truth, self.proba)

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
        return float(shares.max()), _log_score(self.truth, rows)

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


def _log_score(truth: Codes, proba: Floats) -> float:
    chosen = np.where(truth >= 0, proba[np.arange(len(truth)), truth], 0.0)
    with np.errstate(divide="ignore"):
        return float(-np.log(chosen).mean())

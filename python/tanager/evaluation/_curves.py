"""Reliability (calibration) curves and ROC curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.optional import import_optional
from .._utils.text import display_label, join_names, plural
from .._utils.typing import Floats
from .._utils.validation import check_int
from ._scoring import checked, known_classes

if TYPE_CHECKING:
    import pandas as pd

#: Half the width, in standard deviations, of the interval that holds 95% of a normal distribution.
NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, repr=False, eq=False)
class Reliability:
    """Reliability curve: predicted probabilities and observed frequencies, in bins with about the same number of rows.

    Attributes
    ----------
    of : str
        Class whose probability it is, or "the predicted class".
    predicted : ndarray of shape (n_bins,)
        Mean predicted probability of each bin.
    observed : ndarray of shape (n_bins,)
        Observed frequency of the class in each bin.
    low, high : ndarray of shape (n_bins,)
        Wilson's 95% confidence interval of the observed frequency.
    n : ndarray of shape (n_bins,)
        Number of rows of each bin.
    histogram : ndarray of shape (20,)
        Number of predictions in each of 20 intervals of equal width from 0 to 1.
    calibration_error : float
        Expected calibration error (ECE): the mean of abs(observed - predicted) over the bins, weighted by their rows.

    Examples
    --------
    >>> from tanager.evaluation import reliability
    >>> reliability(["no", "yes", "yes", "no"], [[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.9, 0.1]])
    expected calibration error 0.1000 in 2 bins of 4 rows, P(yes)
    """

    of: str
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    n: npt.NDArray[np.int64]
    histogram: npt.NDArray[np.int64]
    calibration_error: float

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per bin."""
        pd = import_optional("pandas", "to_frame")
        names = ("predicted", "observed", "low", "high", "n")
        return pd.DataFrame({name: getattr(self, name) for name in names}).rename_axis("bin")

    def __repr__(self) -> str:
        rows = plural(int(self.n.sum()), "row")
        return (
            f"expected calibration error {self.calibration_error:.4f} in {plural(len(self.n), 'bin')} of {rows}, "
            f"P({self.of})"
        )


@dataclass(frozen=True, repr=False, eq=False)
class RocCurve:
    """Receiver operating characteristic (ROC) curve of one class against the rest.

    Attributes
    ----------
    of : str
        The positive class.
    false_positive, true_positive : ndarray of shape (n_points,)
        False positive rate and true positive rate of each threshold, from (0, 0) to (1, 1).
    thresholds : ndarray of shape (n_points,)
        Rows with at least this probability are predicted as positive; infinite for the first point.
    auc : float
        Area under the curve; NaN if all rows or no rows are of the class.

    Examples
    --------
    >>> from tanager.evaluation import roc_curve
    >>> roc_curve(["no", "yes", "yes", "no"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2], [0.6, 0.4]])
    AUC 0.7500 of yes
    """

    of: str
    false_positive: Floats
    true_positive: Floats
    thresholds: Floats
    auc: float

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per point."""
        pd = import_optional("pandas", "to_frame")
        names = ("thresholds", "false_positive", "true_positive")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        return f"AUC {self.auc:.4f} of {self.of}"


def reliability(y_true: Any, proba: Any, classes: Any = None, *, of: Any = None, n_bins: int = 10) -> Reliability:
    """Compute a reliability curve: compare predicted probabilities with observed frequencies.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`.
    of : class label or None, default=None
        Class whose probability to evaluate. None means the second class if there are two, and the predicted class of each
        row if there are more: then the probability is the confidence of the classifier.
    n_bins : int, default=10
        Number of bins. All bins have about the same number of rows; equal probabilities are in the same bin.

    Returns
    -------
    Reliability
    """
    check_int(n_bins, "n_bins", minimum=1)
    probabilities, truth = checked(y_true, proba, classes)
    _check_rows(probabilities, truth)
    known = known_classes(y_true, classes)
    code = None if of is None else _code_of(of, known)
    return reliability_of_codes(truth, probabilities, [display_label(label) for label in known], code, int(n_bins))


def reliability_of_codes(
    truth: npt.NDArray[Any], proba: Floats, labels: list[str], of: int | None = None, n_bins: int = 10
) -> Reliability:
    """Compute a reliability curve from positions of classes; positions without a column stand for unknown classes."""
    if of is None and len(labels) == 2:
        of = 1
    name, chosen = (
        ("the predicted class", proba.argmax(axis=1)) if of is None else (labels[of], np.full(len(truth), of))
    )
    p, right = np.minimum(proba[np.arange(len(truth)), chosen], 1.0), truth == chosen
    bins = _bins(p, n_bins)
    n = np.array([len(b) for b in bins])
    predicted, observed = np.array([p[b].mean() for b in bins]), np.array([right[b].mean() for b in bins])
    low, high = wilson_interval(observed, n)
    histogram = np.histogram(p, bins=20, range=(0.0, 1.0))[0]
    error = float((n * np.abs(observed - predicted)).sum() / n.sum())
    return Reliability(name, predicted, observed, low, high, n, histogram, error)


def roc_curve(y_true: Any, proba: Any, classes: Any = None, *, of: Any = None) -> RocCurve:
    """Compute the receiver operating characteristic (ROC) curve of a class against the rest.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`.
    of : class label or None, default=None
        The positive class; None means the second of two classes.

    Returns
    -------
    RocCurve
    """
    probabilities, truth = checked(y_true, proba, classes)
    _check_rows(probabilities, truth)
    known = known_classes(y_true, classes)
    if of is None and len(known) != 2:
        raise ValueError(f"of: required with {len(known)} classes; expected one of {join_names(known)}")
    code = _code_of(of, known)
    p, own = probabilities[:, code], truth == code
    order = np.argsort(-p, kind="stable")
    last = np.flatnonzero(np.append(np.diff(p[order]) != 0, True))  # position of the last row of each threshold
    hits = np.append(0, np.cumsum(own[order])[last])
    misses = np.append(0, last + 1) - hits
    with np.errstate(invalid="ignore", divide="ignore"):
        false_positive, true_positive = misses / misses[-1], hits / hits[-1]
    area = _core.auc(np.ascontiguousarray(np.stack([np.maximum(1 - p, 0.0), p], axis=1)), own.astype(np.uint16))
    return RocCurve(
        display_label(known[code]), false_positive, true_positive, np.append(np.inf, p[order][last]), float(area)
    )


def wilson_interval(share: Floats, n: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Return Wilson's 95% confidence interval of a fraction of n rows, which stays between 0 and 1."""
    middle = (share + NORMAL_95**2 / (2 * n)) / (1 + NORMAL_95**2 / n)
    half = NORMAL_95 / (1 + NORMAL_95**2 / n) * np.sqrt(share * (1 - share) / n + NORMAL_95**2 / (4 * n**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _bins(p: Floats, n_bins: int) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each bin: about the same number, with equal probabilities in the same bin."""
    order = np.argsort(p, kind="stable")
    between = np.flatnonzero(np.diff(p[order]) > 0) + 1
    if not len(between):
        return [order]
    wanted = np.arange(1, n_bins) * len(p) / n_bins
    right = np.minimum(np.searchsorted(between, wanted), len(between) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(between[left] - wanted) <= np.abs(between[right] - wanted), between[left], between[right])
    return np.split(order, np.unique(nearest))


def _check_rows(probabilities: Floats, truth: npt.NDArray[Any]) -> None:
    if len(probabilities) != len(truth) or not len(truth):
        raise ValueError(f"proba: expected one row per label, {len(truth)}, got {len(probabilities)}")


def _code_of(of: Any, known: list[Any]) -> int:
    if of is None:
        return 1
    if of not in known:
        raise ValueError(f"of: expected one of the classes {join_names(known)}, got {of!r}")
    return known.index(of)

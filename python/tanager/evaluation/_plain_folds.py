"""Cross-validation of any classifier by fitting it in every fold."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy.sparse import issparse
from sklearn.base import clone

from .._encoding.labels import label_array
from .._encoding.table import take_rows as take_table_rows
from .._learning.folds import Split
from .._utils.typing import Floats
from ..exceptions import UnseenWarning
from ._fold_table import FoldRows
from ._scoring import Outcome, Scorer, positions


@dataclass(frozen=True)
class FoldData:
    """The data as the user passed them, the classes, and the folds."""

    X: Any
    y: Any
    classes: npt.NDArray[Any]
    rows: FoldRows

    def labels(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return the true labels of some rows."""
        return self.classes[self.rows.y_codes[rows]]


@dataclass(frozen=True)
class FoldResult:
    """Scores of one classifier in one fold, and the time it took."""

    classifier: int
    fold: int
    scores: list[float]
    fit_seconds: float
    predict_seconds: float


def refit_folds(
    position: int, classifier: Any, data: FoldData, scorers: Sequence[Scorer], n_jobs: int | None
) -> Iterator[FoldResult]:
    """Fit and evaluate one classifier in all folds, in parallel processes if `n_jobs` is more than 1."""
    folds = range(len(data.rows.splits))
    if n_jobs in {None, 1}:
        for fold in folds:
            yield plain_fold(position, fold, classifier, data, scorers)
        return
    yield from Parallel(n_jobs=n_jobs)(delayed(plain_fold)(position, fold, classifier, data, scorers) for fold in folds)


def plain_fold(position: int, fold: int, classifier: Any, data: FoldData, scorers: Sequence[Scorer]) -> FoldResult:
    """Fit a clone of a classifier on the training rows of a fold and score it on the test rows."""
    with warnings.catch_warnings():
        # An ID column is unseen in every fold, and evaluate_group does not warn about it either.
        warnings.simplefilter("ignore", UnseenWarning)
        return _plain_fold(position, fold, classifier, data, scorers)


def _plain_fold(position: int, fold: int, classifier: Any, data: FoldData, scorers: Sequence[Scorer]) -> FoldResult:
    split = data.rows.splits[fold]
    fitted, fit_seconds = _fit(classifier, data, split)
    X_test, y_true = take_rows(data.X, split.test), data.labels(split.test)
    n_right, proba = 0, np.empty((0, 0))
    start = time.perf_counter()
    if any(not scorer.needs_proba for scorer in scorers):
        n_right = int(np.count_nonzero(np.asarray(fitted.predict(X_test)) == y_true))
    if any(scorer.needs_proba for scorer in scorers):
        proba = np.ascontiguousarray(fitted.predict_proba(X_test), dtype=np.float64)
    predict_seconds = time.perf_counter() - start

    def log_proba() -> Floats | None:
        if not hasattr(fitted, "predict_log_proba"):
            return None
        with np.errstate(divide="ignore"):  # some classifiers take the logarithm of zero
            return np.ascontiguousarray(fitted.predict_log_proba(X_test), dtype=np.float64)

    outcome = Outcome(y_true, positions(y_true, fitted.classes_), fitted.classes_, n_right, proba, log_proba)
    scores = [scorer.compute(outcome) for scorer in scorers]
    return FoldResult(position, fold, scores, fit_seconds, predict_seconds)


def _fit(classifier: Any, data: FoldData, split: Split) -> tuple[Any, float]:
    fitted = clone(classifier)
    weights = data.rows.weights
    given = {} if weights is None else {"sample_weight": weights[split.train]}
    X, y = take_rows(data.X, split.train), take_labels(data.y, split.train)
    start = time.perf_counter()
    fitted.fit(X, y, **given)
    seconds = time.perf_counter() - start
    check_interrupted(getattr(fitted, "search_trace_", None))
    return fitted, seconds


def check_interrupted(trace: Any) -> None:
    """Raise KeyboardInterrupt if a search was interrupted and returned its best structure so far."""
    if trace is not None and trace.stopped == "interrupted":
        raise KeyboardInterrupt


def take_rows(X: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return some rows of X, whatever its type."""
    if hasattr(X, "iloc"):  # pandas: fitting checks the names
        return X.iloc[rows]
    return X[rows] if issparse(X) else take_table_rows(X, rows)


def take_labels(y: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return some labels; a Series keeps its name."""
    if hasattr(y, "iloc"):
        return y.iloc[rows]
    if isinstance(y, (list, tuple)):
        return [y[i] for i in rows]
    if hasattr(y, "null_count"):  # polars and pyarrow
        return y.take(rows) if hasattr(y, "take") else y[rows]
    return label_array(y)[rows]

"""Learning curves: scores by the number of training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from .._encoding.encoder import encode_labels
from .._utils.optional import import_optional
from .._utils.typing import Floats
from .._utils.validation import check_int, check_number, is_integer
from ._cross_validate import cross_validate
from ._result import CrossValidation

if TYPE_CHECKING:
    import pandas as pd

Rows = npt.NDArray[np.int64]
_N_SIZES, _MIN_ROWS = 8, 10


class LearningCurve:
    """Scores of classifiers by the number of training rows.

    Attributes
    ----------
    names : list of str
        Names of the classifiers.
    scoring : list of str
        Names of the scores.
    sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    n_test : int
        Number of test rows, the same for all sizes.
    scores : dict of name to dict of score to ndarray of shape (n_sizes, n_splits)
        Scores of every classifier for every size and split.
    mean, std : dict of name to dict of score to ndarray of shape (n_sizes,)
        Mean and sample standard deviation over the splits.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> classifiers = {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}
    >>> curve = tg.evaluation.learning_curve(classifiers, data.X, data.y, sizes=[50, 600], n_splits=5, random_state=1)
    >>> curve.mean["TAN"]["accuracy"].round(2)
    array([0.63, 0.76])
    """

    def __init__(self, result: CrossValidation, sizes: Rows, n_splits: int):
        self.names = result.names
        self.scoring = result.scoring
        self.sizes = sizes
        self.n_test = int(result.n_test[0])
        self.scores: dict[str, dict[str, Floats]] = {
            name: {score: values.reshape(len(sizes), n_splits) for score, values in scores.items()}
            for name, scores in result.scores.items()
        }

    @property
    def mean(self) -> dict[str, dict[str, Floats]]:
        """Mean of every score over the splits, for every size."""
        return {name: {s: v.mean(axis=1) for s, v in scores.items()} for name, scores in self.scores.items()}

    @property
    def std(self) -> dict[str, dict[str, Floats]]:
        """Sample standard deviation over the splits; NaN if a score is infinite or there is one split."""
        return {name: {s: _deviations(v) for s, v in scores.items()} for name, scores in self.scores.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per classifier, size and split."""
        pd = import_optional("pandas", "to_frame")
        frames = []
        for name, scores in self.scores.items():
            n_splits = next(iter(scores.values())).shape[1]
            columns: dict[str, Any] = {
                "classifier": name,
                "size": np.repeat(self.sizes, n_splits),
                "split": np.tile(np.arange(n_splits), len(self.sizes)),
            }
            frames.append(pd.DataFrame({**columns, **{s: v.reshape(-1) for s, v in scores.items()}}))
        return pd.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.sizes.tolist()))
        lines = [f"mean scores for {sizes} training rows"]
        for name, scores in self.mean.items():
            lines += [f"{name}, {score}: {', '.join(f'{v:.4f}' for v in means)}" for score, means in scores.items()]
        return "\n".join(lines)


def learning_curve(
    clf: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[Any] | None = None,
    n_splits: int = 10,
    test_size: float = 0.3,
    scoring: Any = ("accuracy", "log_loss"),
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> LearningCurve:
    """Evaluate classifiers on the same test rows with increasing numbers of training rows.

    Every split shuffles the rows in stratified order, so every part of them has about the same class frequencies. The last
    rows are the test rows, and the first ones the training rows, so larger training sets contain the smaller ones. The
    training rows begin with one row of each class, so every training set has all classes.

    Parameters
    ----------
    clf, X, y, scoring, n_jobs, verbose
        As in `cross_validate`.
    sizes : list of int, list of float or None, default=None
        Numbers of training rows, or fractions of the available ones. None means eight sizes in geometric progression, from
        ten rows (or two per class) to all.
    n_splits : int, default=10
        Number of random splits.
    test_size : float, default=0.3
        Fraction of test rows.
    random_state : int, RandomState or None, default=None
        Seed of the splits. An integer gives the same splits on every platform.

    Returns
    -------
    LearningCurve
    """
    check_int(n_splits, "n_splits", minimum=1)
    if not 0 < check_number(test_size, "test_size") < 1:
        raise ValueError(f"test_size: expected a number between 0 and 1, both excluded, got {test_size!r}")
    classes, codes = encode_labels(y)
    n_train = len(codes) - max(1, round(test_size * len(codes)))
    if n_train < max(len(classes), 1):
        raise ValueError(
            f"expected at least one training row for each of the {len(classes)} classes, got {n_train} training rows"
        )
    counts = _resolve_sizes(sizes, n_train, len(classes))
    draw = check_random_state(random_state)
    orders = [_shuffled(codes, len(classes), draw) for _ in range(int(n_splits))]
    splits = [(order[:size], order[n_train:]) for size in counts for order in orders]
    result = cross_validate(clf, X, y, cv=splits, scoring=scoring, n_jobs=n_jobs, verbose=verbose)
    return LearningCurve(result, np.array(counts, dtype=np.int64), int(n_splits))


def _shuffled(codes: npt.NDArray[Any], n_classes: int, draw: np.random.RandomState) -> Rows:
    """Return all rows in stratified random order: every part has about the same class frequencies."""
    noise = draw.random_sample(len(codes))
    place = np.empty(len(codes))
    for code in range(n_classes):
        rows = np.flatnonzero(codes == code)
        rows = rows[np.argsort(noise[rows], kind="stable")]
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
        place[rows[:1]] = 0.0
    return np.lexsort((noise, place)).astype(np.int64)


def _resolve_sizes(sizes: Sequence[Any] | None, n_train: int, n_classes: int) -> list[int]:
    if sizes is None:
        first = min(max(_MIN_ROWS, 2 * n_classes), n_train)
        return sorted({round(size) for size in np.geomspace(first, n_train, _N_SIZES)})
    counts: list[int] = []
    for size in sizes:
        if is_integer(size):
            count = int(size)
        elif isinstance(size, float) and 0 < size <= 1:
            count = round(size * n_train)
        else:
            raise ValueError(f"sizes: expected integers, or fractions above 0 and up to 1, got {size!r}")
        if not n_classes <= count <= n_train:
            raise ValueError(
                f"sizes: expected from {n_classes} (the number of classes) to {n_train} training rows, got {count}"
            )
        counts.append(count)
    if not counts or sorted(set(counts)) != counts:
        raise ValueError(f"sizes: expected at least one size, in increasing order, got {counts}")
    return counts


def _deviations(values: Floats) -> Floats:
    if values.shape[1] < 2:
        return np.full(len(values), np.nan)
    finite = np.isfinite(values).all(axis=1)
    deviations = np.full(len(values), np.nan)
    deviations[finite] = values[finite].std(axis=1, ddof=1)
    return deviations

"""Results of cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from .._learning.folds import Split
from .._utils.optional import import_optional
from .._utils.text import plural, text_table
from .._utils.typing import Floats
from ._plain_folds import FoldResult
from ._scoring import Scorer

if TYPE_CHECKING:
    import pandas as pd


class CrossValidation:
    """Scores of one or more classifiers in every fold.

    With one classifier, ``result["accuracy"]`` is the array of that score over the folds; with several,
    ``result["TAN"]["accuracy"]`` is that of one of them.

    Attributes
    ----------
    names : list of str
        Names of the classifiers.
    scoring : list of str
        Names of the scores.
    n_folds : int
        Number of folds.
    scores : dict of name to dict of score to ndarray of shape (n_folds,)
        Scores of every classifier in every fold.
    mean, std : dict of name to dict of score to float
        Mean and sample standard deviation over the folds.
    fit_seconds, predict_seconds : dict of name to ndarray of shape (n_folds,)
        Time to fit and to predict. Work that several classifiers share, such as counting the rows of a fold, is divided
        evenly among them.
    n_train, n_test : ndarray of shape (n_folds,)
        Numbers of training and test rows.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> result = tg.evaluation.cross_validate(tg.TANClassifier(), data.X, data.y, cv=3, random_state=0)
    >>> result.n_test
    array([144, 144, 144])
    >>> result.mean["TANClassifier"]["accuracy"]
    1.0
    """

    def __init__(self, names: Sequence[str], scorers: Sequence[Scorer], splits: Sequence[Split]) -> None:
        self.names = list(names)
        self.scoring = [scorer.name for scorer in scorers]
        self.n_folds = len(splits)
        self.n_train = np.array([split.n_train for split in splits])
        self.n_test = np.array([len(split.test) for split in splits])
        self.scores: dict[str, dict[str, Floats]] = {
            name: {score: np.full(self.n_folds, np.nan) for score in self.scoring} for name in self.names
        }
        self.fit_seconds = {name: np.zeros(self.n_folds) for name in self.names}
        self.predict_seconds = {name: np.zeros(self.n_folds) for name in self.names}
        self._greater_is_better = {scorer.name: scorer.greater_is_better for scorer in scorers}

    def _add(self, result: FoldResult) -> None:
        name = self.names[result.classifier]
        for score, value in zip(self.scoring, result.scores, strict=True):
            self.scores[name][score][result.fold] = value
        self.fit_seconds[name][result.fold] = result.fit_seconds
        self.predict_seconds[name][result.fold] = result.predict_seconds

    @staticmethod
    def joined(results: Sequence[CrossValidation]) -> CrossValidation:
        """Combine the results of several classifiers with the same scores on the same folds.

        Parameters
        ----------
        results : sequence of CrossValidation
            At least one; the names of all classifiers must be different.
        """
        first = results[0]
        names = [name for result in results for name in result.names]
        if len(set(names)) < len(names):
            raise ValueError(f"expected unique names of classifiers, got {names}")
        for other in results[1:]:
            same_rows = np.array_equal(other.n_train, first.n_train) and np.array_equal(other.n_test, first.n_test)
            if not same_rows or other.scoring != first.scoring:
                raise ValueError("cannot combine results with different scores or folds")
        joined = copy(first)
        joined.names = names
        joined.scores = {name: scores for result in results for name, scores in result.scores.items()}
        joined.fit_seconds = {name: s for result in results for name, s in result.fit_seconds.items()}
        joined.predict_seconds = {name: s for result in results for name, s in result.predict_seconds.items()}
        return joined

    def __getitem__(self, key: str) -> Floats | dict[str, Floats]:
        if key in self.scores:
            return self.scores[key]
        if len(self.names) == 1 and key in self.scoring:
            return self.scores[self.names[0]][key]
        known = ", ".join(map(repr, self.names if len(self.names) > 1 else [*self.names, *self.scoring]))
        raise KeyError(f"unknown key {key!r}; expected one of {known}")

    @property
    def mean(self) -> dict[str, dict[str, float]]:
        """Mean of every score over the folds."""
        return {name: {s: float(np.mean(v)) for s, v in scores.items()} for name, scores in self.scores.items()}

    @property
    def std(self) -> dict[str, dict[str, float]]:
        """Sample standard deviation of every score over the folds; NaN if a score is infinite or there is one fold."""
        return {name: {s: _deviation(v) for s, v in scores.items()} for name, scores in self.scores.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per classifier and fold.

        Returns
        -------
        pandas.DataFrame
            Columns ``classifier`` and ``fold``, one per score, ``fit_seconds``, ``predict_seconds``, ``n_train`` and
            ``n_test``.
        """
        pd = import_optional("pandas", "to_frame")
        folds = [
            pd.DataFrame(
                {
                    "classifier": name,
                    "fold": np.arange(self.n_folds),
                    **scores,
                    "fit_seconds": self.fit_seconds[name],
                    "predict_seconds": self.predict_seconds[name],
                    "n_train": self.n_train,
                    "n_test": self.n_test,
                }
            )
            for name, scores in self.scores.items()
        ]
        return pd.concat(folds, ignore_index=True)

    def __repr__(self) -> str:
        lines = [["", *self.scoring, "fit s", "predict s"]]
        mean, std = self.mean, self.std
        digits = {score: _digits([mean[name][score] for name in self.names]) for score in self.scoring}
        for name in self.names:
            cells = [f"{mean[name][s]:.{digits[s]}f} ± {std[name][s]:.{digits[s]}f}" for s in self.scoring]
            seconds = self.fit_seconds[name].sum(), self.predict_seconds[name].sum()
            lines.append([name, *cells, *(f"{s:.3g}" for s in seconds)])
        return f"{plural(self.n_folds, 'fold')}, mean ± standard deviation; total seconds\n{text_table(lines, left=1)}"


def _deviation(values: Floats) -> float:
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    return float(np.std(values, ddof=1))


def _digits(means: Sequence[float]) -> int:
    largest = max((abs(mean) for mean in means if np.isfinite(mean)), default=0.0)
    return 4 if largest < 10 else 2 if largest < 1000 else 1

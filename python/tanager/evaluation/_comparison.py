"""Paired significance tests between classifiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.optional import import_optional
from .._utils.text import join_names, text_table
from .._utils.typing import Floats
from .._utils.validation import check_choice, check_number
from ._result import CrossValidation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PairedTest:
    """Comparison of two classifiers on the same folds or datasets.

    Attributes
    ----------
    first, second : str
        Names of the classifiers.
    difference : float
        Mean score of the first minus that of the second.
    wins, ties, losses : int
        Number of folds or datasets where the first is better than, equal to and worse than the second.
    wilcoxon_p : float
        Two-sided p-value of Wilcoxon's signed-rank test; 1 if all scores are equal.
    t_p : float
        Two-sided p-value of the paired t-test; 1 if all scores are equal.
    corrected_t_p : float
        Two-sided p-value of the corrected resampled t-test (Nadeau and Bengio), which accounts for overlapping training
        sets; NaN if the scores do not come from a cross-validation.
    """

    first: str
    second: str
    difference: float
    wins: int
    ties: int
    losses: int
    wilcoxon_p: float
    t_p: float
    corrected_t_p: float


class Comparison(Sequence[PairedTest]):
    """Pairwise comparisons of classifiers by one score; returned by `compare`.

    Attributes
    ----------
    score : str
        Name of the score.
    n_scores : int
        Number of folds or datasets.
    alpha : float
        Significance level: smaller p-values are marked.
    """

    def __init__(
        self, tests: Sequence[PairedTest], score: str, n_scores: int, alpha: float, *, greater: bool, of_folds: bool
    ) -> None:
        self._tests = tuple(tests)
        self.score = score
        self.n_scores = n_scores
        self.alpha = alpha
        self._greater = greater
        self._of_folds = of_folds

    def __len__(self) -> int:
        return len(self._tests)

    def __getitem__(self, index: Any) -> Any:
        """Return a test by position, or by a pair of names."""
        if not isinstance(index, tuple):
            return self._tests[index]
        for test in self._tests:
            if (test.first, test.second) == index:
                return test
        raise KeyError(f"no comparison of {index[0]!r} with {index[1]!r} in this order")

    def __iter__(self) -> Iterator[PairedTest]:
        return iter(self._tests)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per pair."""
        pd = import_optional("pandas", "to_frame")
        return pd.DataFrame([vars(test) for test in self._tests])

    def __repr__(self) -> str:
        lines = [["", "difference", "wins-ties-losses", "Wilcoxon p", "t p", "corrected t p"]]
        for test in self._tests:
            p = test.corrected_t_p if self._of_folds else test.wilcoxon_p
            arrow = " " if not p < self.alpha else "↑" if (test.difference > 0) == self._greater else "↓"
            lines.append(
                [
                    f"{test.first} - {test.second}",
                    f"{test.difference:+.4f} {arrow}",
                    f"{test.wins}-{test.ties}-{test.losses}",
                    *(f"{p:.3g}" for p in (test.wilcoxon_p, test.t_p, test.corrected_t_p)),
                ]
            )
        better = "larger" if self._greater else "smaller"
        rule = "corrected t p" if self._of_folds else "Wilcoxon p"
        return (
            f"{self.score} ({better} is better) on {self.n_scores} {'folds' if self._of_folds else 'datasets'}\n"
            f"{text_table(lines, left=1)}\n↑ the first is significantly better, ↓ worse: {rule} < {self.alpha:g}"
        )


def compare(
    result: CrossValidation | Mapping[str, Any],
    score: str | None = None,
    *,
    baseline: str | None = None,
    greater_is_better: bool | None = None,
    alpha: float = 0.05,
) -> Comparison:
    """Compare pairs of classifiers by their scores on the same folds or datasets.

    Parameters
    ----------
    result : CrossValidation, or dict of name to array-like
        Result of `cross_validate` for several classifiers; or the scores of each classifier on the same folds or datasets
        in the same order, such as mean accuracies on many datasets.
    score : str or None, default=None
        Score of the cross-validation to compare; None means the first. For a dict, it is only a title.
    baseline : str or None, default=None
        If given, all other classifiers are compared with this one only, instead of all pairs.
    greater_is_better : bool or None, default=None
        Whether larger scores are better. None is known for the scores of this package, and means True for other scores.
    alpha : float, default=0.05
        Significance level. The printed comparison marks pairs with a smaller p-value by an arrow: of the corrected t-test
        for folds, of Wilcoxon's test for datasets.

    Returns
    -------
    Comparison
        A sequence of `PairedTest`, one per pair; ``comparison["TAN", "naive"]`` looks up a pair by name.

    Notes
    -----
    The folds of a cross-validation share most of their training rows, so their scores are not independent and the plain
    tests are too optimistic. The corrected t-test accounts for that. Across datasets, Wilcoxon's test is the usual choice.
    The p-values are not adjusted for multiple comparisons.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets. JMLR 7.
    Nadeau and Bengio (2003), Inference for the generalization error. Machine Learning 52.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> classifiers = {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}
    >>> result = tg.evaluation.cross_validate(classifiers, data.X, data.y, random_state=1)
    >>> test = tg.evaluation.compare(result, "accuracy", baseline="naive")["TAN", "naive"]
    >>> test.wins, test.ties, test.losses, round(test.difference, 3)
    (9, 1, 0, 0.07)
    """
    if not isinstance(result, (CrossValidation, Mapping)):
        raise TypeError(
            f"result: expected the result of cross_validate, or a dict of name to scores, got {type(result).__name__}"
        )
    check_number(alpha, "alpha", minimum=0, maximum=1)
    if isinstance(result, CrossValidation):
        score = result.scoring[0] if score is None else score
        check_choice(score, "score", result.scoring)
        columns = {name: result.scores[name][score] for name in result.names}
        overlap: float = float(np.mean(result.n_test / result.n_train))
        greater = result._greater_is_better[score] if greater_is_better is None else greater_is_better
    else:
        columns = {str(name): np.asarray(scores, dtype=np.float64) for name, scores in result.items()}
        overlap = float("nan")
        score = "score" if score is None else score
        greater = score not in {"log_loss", "error"} if greater_is_better is None else greater_is_better
    n_scores = _check_scores(columns, baseline)
    if baseline is None:
        pairs = list(combinations(columns, 2))
    else:
        pairs = [(name, baseline) for name in columns if name != baseline]
    tests = [_test_pair(first, second, columns, overlap, greater) for first, second in pairs]
    of_folds = isinstance(result, CrossValidation)
    return Comparison(tests, score, n_scores, alpha, greater=greater, of_folds=of_folds)


def _check_scores(columns: Mapping[str, Floats], baseline: str | None) -> int:
    if len(columns) < 2:
        raise ValueError(f"expected at least two classifiers to compare, got {len(columns)}")
    if baseline is not None and baseline not in columns:
        raise ValueError(f"baseline: expected one of {join_names(columns)}, got {baseline!r}")
    sizes = {column.shape for column in columns.values()}
    if len(sizes) > 1 or len(next(iter(sizes))) != 1:
        raise ValueError(
            f"expected one score per fold or dataset for every classifier, got arrays of shapes {sorted(sizes)}"
        )
    size = next(iter(sizes))[0]
    if size < 2:
        raise ValueError(f"expected scores on at least two folds or datasets, got {size}")
    return int(size)


def _test_pair(first: str, second: str, columns: Mapping[str, Floats], overlap: float, greater: bool) -> PairedTest:
    with np.errstate(invalid="ignore"):
        differences = columns[first] - columns[second]
    differences = np.where(columns[first] == columns[second], 0.0, differences)  # infinities, too
    signs = np.sign(differences if greater else -differences)
    wins, ties, losses = (
        int((signs == sign).sum()) for sign in (1, 0, -1)
    )  # a NaN, possible for AUC, counts as none of these
    tests = _p_values(differences, overlap)
    return PairedTest(first, second, float(differences.mean()), wins, ties, losses, *tests)


def _p_values(differences: Floats, overlap: float) -> tuple[float, float, float]:
    """Return the p-values of Wilcoxon's test, the t-test and the corrected t-test."""
    from scipy import stats

    if not differences.any():
        return 1.0, 1.0, 1.0 if np.isfinite(overlap) else float("nan")
    if np.isnan(differences).any():
        return float("nan"), float("nan"), float("nan")
    wilcoxon = _signed_rank_p(differences[differences != 0])
    n = len(differences)
    variance = float(np.var(differences, ddof=1)) if np.isfinite(differences).all() else float("inf")
    if not np.isfinite(variance):
        return wilcoxon, float("nan"), float("nan")
    if variance == 0:
        return wilcoxon, 0.0, 0.0 if np.isfinite(overlap) else float("nan")
    plain, corrected = (
        float(2 * stats.t.sf(abs(differences.mean()) / np.sqrt(variance * factor), n - 1))
        for factor in (1 / n, 1 / n + overlap)
    )
    return wilcoxon, plain, corrected


def _signed_rank_p(differences: Floats) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, exact for up to 50 differences, with or without ties.

    SciPy's choice between the exact and the approximate distribution depends on its version. Differences that are equal
    up to rounding, such as 0.9 - 0.8 and 0.8 - 0.7, are ties.
    """
    from scipy import stats

    differences = np.array([float(f"{difference:.9g}") for difference in differences])
    if len(differences) > _MAX_EXACT:
        return float(stats.wilcoxon(differences).pvalue)
    ranks = np.rint(2 * stats.rankdata(np.abs(differences))).astype(
        np.int64
    )  # doubled, so that ranks of ties are integers, too
    ways = np.zeros(int(ranks.sum()) + 1)  # number of sign patterns for each sum of the positive ranks
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    distance = np.abs(2 * np.arange(len(ways)) - ranks.sum())
    observed = abs(2 * int(ranks[differences > 0].sum()) - int(ranks.sum()))
    return float(ways[distance >= observed].sum() / ways.sum())


_MAX_EXACT = 50

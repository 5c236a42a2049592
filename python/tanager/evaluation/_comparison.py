"""Paired comparisons: whether two classifiers differ by more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.optional import import_optional
from .._utils.typing import Floats
from .._utils.validation import check_number
from ._result import CrossValidation, aligned

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PairedTest:
    """Two classifiers on the same folds or tables.

    Attributes
    ----------
    first, second : str
        Their names.
    difference : float
        Mean of the first's scores less the second's.
    wins, ties, losses : int
        How often the first was better than, equal to and worse than the second.
    wilcoxon_p : float
        Of Wilcoxon's signed-rank test, two-sided; 1 if the scores are all equal.
    t_p : float
        Of the paired t-test, two-sided; 1 if the scores are all equal.
    corrected_t_p : float
        Of the t-test with the variance corrected for training sets that overlap (Nadeau and Bengio); NaN where the
        scores are not those of a cross-validation.
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
    """All pairs of classifiers by one score; see `compare`.

    Attributes
    ----------
    score : str
        The score they are compared by.
    n_scores : int
        On how many folds or tables.
    alpha : float
        The level below which a difference is marked.
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
        """Return a test by position, or by the names of two classifiers."""
        if not isinstance(index, tuple):
            return self._tests[index]
        for test in self._tests:
            if (test.first, test.second) == index:
                return test
        raise KeyError(f"there is no comparison of {index[0]!r} with {index[1]!r} in this order")

    def __iter__(self) -> Iterator[PairedTest]:
        return iter(self._tests)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per pair."""
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
        better = "greater" if self._greater else "less"
        rule = "corrected t p" if self._of_folds else "Wilcoxon p"
        return (
            f"{self.score} ({better} is better) on {self.n_scores} {'folds' if self._of_folds else 'tables'}\n"
            f"{aligned(lines)}\n↑ the first is better, ↓ worse: {rule} < {self.alpha:g}"
        )


def compare(
    result: CrossValidation | Mapping[str, Any],
    score: str | None = None,
    *,
    baseline: str | None = None,
    greater_is_better: bool | None = None,
    alpha: float = 0.05,
) -> Comparison:
    """Compare classifiers in pairs, by their scores on the same folds or on the same tables.

    Parameters
    ----------
    result : CrossValidation, or dict of name to array-like
        What `cross_validate` returns for several classifiers; or the scores of every classifier, in the same order of
        folds or tables, such as the mean accuracies of many tables.
    score : str or None, default=None
        Which score of a cross-validation; None is the first. For a dict it is only shown.
    baseline : str or None, default=None
        If given, the others are compared with this classifier only, instead of all with each other.
    greater_is_better : bool or None, default=None
        Whether larger scores are better; None knows it for the scores of this package, and takes it for others.
    alpha : float, default=0.05
        Pairs with a smaller p-value are marked by an arrow when shown: that of the corrected t-test for folds, and that of
        Wilcoxon's test for tables.

    Returns
    -------
    Comparison
        A sequence of `PairedTest`, one per pair; ``comparison["TAN", "naive"]`` is that of two names.

    Notes
    -----
    The folds of one cross-validation share most of their training rows, so that their scores are not independent, and
    the plain tests find differences too easily. The corrected t-test takes that into account; across tables, as papers
    compare classifiers, Wilcoxon's test is the usual one. No p-value is corrected for the number of pairs.

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
            "result must be what cross_validate returns, or a dict of name to scores, but is of type "
            f"{type(result).__name__}"
        )
    if not 0 <= check_number(alpha, "alpha") <= 1:
        raise ValueError(f"alpha must be between 0 and 1, but is {alpha}")
    if isinstance(result, CrossValidation):
        score = result.scoring[0] if score is None else score
        if score not in result.scoring:
            raise ValueError(f"score must be one of {', '.join(result.scoring)}, but is {score!r}")
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
        raise ValueError(f"at least two classifiers are needed for a comparison, but there is {len(columns)}")
    if baseline is not None and baseline not in columns:
        raise ValueError(f"baseline must be one of {', '.join(map(repr, columns))}, but is {baseline!r}")
    sizes = {column.shape for column in columns.values()}
    if len(sizes) > 1 or len(next(iter(sizes))) != 1:
        raise ValueError(f"all classifiers need scores of the same folds or tables, but have {sorted(sizes)}")
    size = next(iter(sizes))[0]
    if size < 2:
        raise ValueError(f"at least two folds or tables are needed for a comparison, but there is {size}")
    return int(size)


def _test_pair(first: str, second: str, columns: Mapping[str, Floats], overlap: float, greater: bool) -> PairedTest:
    with np.errstate(invalid="ignore"):
        differences = columns[first] - columns[second]
    differences = np.where(columns[first] == columns[second], 0.0, differences)  # also of infinities
    signs = np.sign(differences if greater else -differences)
    wins, ties, losses = (int((signs == sign).sum()) for sign in (1, 0, -1))  # NaN, as of AUC, is none of these
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
    """Return the p-value of Wilcoxon's signed-rank test, exact for up to 50 differences, ties among them or not.

    SciPy's choice between exact and approximate distributions changes with its version. Differences that are equal but for
    rounding, as 0.9 - 0.8 and 0.8 - 0.7, are ties.
    """
    from scipy import stats

    differences = np.array([float(f"{difference:.9g}") for difference in differences])
    if len(differences) > _MOST_EXACT:
        return float(stats.wilcoxon(differences).pvalue)
    ranks = np.rint(2 * stats.rankdata(np.abs(differences))).astype(np.int64)  # twice the ranks: whole with ties, too
    ways = np.zeros(int(ranks.sum()) + 1)  # of choosing the signs so that the positive ranks have a given sum
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    distance = np.abs(2 * np.arange(len(ways)) - ranks.sum())
    observed = abs(2 * int(ranks[differences > 0].sum()) - int(ranks.sum()))
    return float(ways[distance >= observed].sum() / ways.sum())


_MOST_EXACT = 50

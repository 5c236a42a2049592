"""Paired tests as used in the papers, and ranks of several methods over several datasets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, norm, rankdata, studentized_range, t, ttest_rel

Floats = NDArray[np.float64]
#: Smaller differences count as ties: a test would depend on the last digits.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Paired:
    """Two methods on the same datasets or splits: the mean of first minus second, a t-test and Wilcoxon's test.

    Attributes
    ----------
    interval : float
        Half the width of the 95 % confidence interval of the mean.
    p_greater, p_less, p_two_sided : float
        P-values of the t-test: the first is above the second, below it, or different.
    z : float
        Statistic of the signed-rank test, positive if the first is larger. `p_signed_rank` is the one-sided p-value of the
        larger one.
    """

    mean: float
    n: int
    interval: float
    p_greater: float
    p_less: float
    p_two_sided: float
    z: float
    p_signed_rank: float
    wins: int
    ties: int
    losses: int

    @property
    def counts(self) -> str:
        return f"{self.wins}-{self.ties}-{self.losses}"


def compare(first: Floats, second: Floats) -> Paired:
    """Compare two methods; if all differences are equal, their sign decides the tests."""
    difference = np.round(first - second, 9)  # values that differ only by rounding share a rank
    n, mean = len(difference), float(difference.mean()) if len(difference) else float("nan")
    counts = (int((difference > 0).sum()), int((difference == 0).sum()), int((difference < 0).sum()))
    if n < 2:
        return Paired(mean, n, float("nan"), *[float("nan")] * 5, *counts)
    if np.ptp(difference) <= ROUNDING:
        p = 0.5 if mean == 0 else float(mean < 0)
        p_values, interval = (p, 1 - p, 1.0 if mean == 0 else 0.0), 0.0
    else:
        sides = ("greater", "less", "two-sided")
        p_values = tuple(float(ttest_rel(first, second, alternative=side).pvalue) for side in sides)
        interval = float(t.ppf(0.975, n - 1) * difference.std(ddof=1) / np.sqrt(n))
    return Paired(mean, n, interval, *p_values, *wilcoxon(difference), *counts)


def wilcoxon(difference: Floats) -> tuple[float, float]:
    """Return z of the signed-rank test and the one-sided p-value of the larger one; ties are dropped."""
    if not np.any(difference != 0):
        return 0.0, 0.5
    # Implemented here because SciPy's function warns below ten differences in some versions only.
    left = difference[difference != 0]
    sizes = rankdata(np.abs(left))
    n = len(left)
    ties = sum(float(k**3 - k) for k in np.unique(sizes, return_counts=True)[1])
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    z = float((sizes[left > 0].sum() - n * (n + 1) / 4) / np.sqrt(variance))
    return z, float(norm.sf(abs(z)))


def corrected_p(difference: Floats, folds: int) -> float:
    """Return the two-sided p-value of Nadeau and Bengio's t-test over the folds of repeated cross-validation."""
    if np.ptp(difference) <= ROUNDING:
        return 1.0 if abs(difference.mean()) <= ROUNDING else 0.0
    error = difference.std(ddof=1) * np.sqrt(1 / len(difference) + 1 / (folds - 1))
    return float(2 * t.sf(abs(difference.mean()) / error, len(difference) - 1))


@dataclass(frozen=True)
class Ranks:
    """Average ranks of methods over datasets (1 is best), Friedman's test and Nemenyi's critical difference at 5 %."""

    mean: dict[str, float]
    n_datasets: int
    p_friedman: float
    critical: float


def ranks(scores: dict[str, Floats], higher_is_better: bool) -> Ranks:
    """Rank methods on every dataset; `scores` has one value per dataset for each. Differences due to rounding are ties."""
    names, table = list(scores), np.array(list(scores.values())).T.round(9)
    placed = np.array([rankdata(-row if higher_is_better else row) for row in table])
    n, k = placed.shape
    p = float(friedmanchisquare(*placed.T).pvalue) if n > 1 and k > 2 else float("nan")
    critical = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
    return Ranks(dict(zip(names, placed.mean(axis=0).tolist(), strict=True)), n, p, float(critical))

"""Information and family scores against their definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf

from tanager import scores


def entropy_of(*variables):
    rows = list(zip(*variables, strict=True))
    counts = [rows.count(v) for v in set(rows)]
    return -sum(n / len(rows) * np.log(n / len(rows)) for n in counts)


def test_information_is_made_of_entropies():
    rng = np.random.default_rng(0)
    x, y, z = (rng.integers(k, size=200).tolist() for k in (3, 4, 2))
    y = [(a + b) % 4 if b else b for a, b in zip(x, y, strict=True)]
    assert scores.entropy(x) == pytest.approx(entropy_of(x))
    assert scores.mutual_information(x, y) == pytest.approx(entropy_of(x) + entropy_of(y) - entropy_of(x, y))
    expected = entropy_of(x, z) + entropy_of(y, z) - entropy_of(x, y, z) - entropy_of(z)
    assert scores.conditional_mutual_information(x, y, z) == pytest.approx(expected)


def test_missing_values_are_not_counted():
    assert scores.entropy(["a", None, "b", None]) == pytest.approx(np.log(2))
    assert scores.mutual_information(["a", "b", None, "a"], [1, 2, 1, None]) == pytest.approx(np.log(2))
    with pytest.raises(ValueError, match="expected variables of the same length, got"):
        scores.mutual_information([1, 2], [1])
    with pytest.raises(TypeError, match="expected a sequence of values for each variable, got NoneType"):
        scores.entropy(None)


def log_marginal(table, alpha):
    """ln of the Dirichlet-multinomial marginal likelihood, in 50 digits."""
    mp.dps = 50
    total = mpf(0)
    for counts in table:
        a = mpf(alpha)
        total += mp.loggamma(len(counts) * a) - mp.loggamma(len(counts) * a + sum(counts))
        total += sum(mp.loggamma(a + n) - mp.loggamma(a) for n in counts)
    return total


def test_marginal_likelihoods_against_mpmath():
    rng = np.random.default_rng(1)
    X, y = rng.integers(3, size=(500, 3)), rng.integers(2, size=500)
    table = [
        [int(((X[:, 0] == k) & (X[:, 1] == j) & (X[:, 2] == i) & (y == c)).sum()) for k in range(3)]
        for j, i, c in product(range(3), range(3), range(2))
    ]
    k2 = scores.family_score(X, y, 0, [1, 2], score="k2")
    assert k2 == pytest.approx(float(log_marginal(table, 1)), rel=1e-13)
    for size in (1e-3, 1.0, 10.0):
        bdeu = scores.family_score(X, y, 0, [1, 2], score="bdeu", equivalent_sample_size=size)
        assert bdeu == pytest.approx(float(log_marginal(table, mpf(size) / 54)), rel=1e-12)


def test_family_scores_of_names():
    import pandas as pd

    frame = pd.DataFrame({"a": [0, 1, 0, 1], "b": ["x", "y", "x", "y"]})
    loglik = scores.family_score(frame, [0, 0, 0, 0], "a", ["b"], score="loglik")
    assert loglik == 0.0
    assert scores.family_score(frame, [0, 0, 0, 0], "a", ["b"], score="aic") == -2.0
    assert scores.family_score(frame, [0, 0, 0, 0], "a", ["b"], score="bic") == pytest.approx(-np.log(4))
    with pytest.raises(ValueError, match="child: expected one of the features"):
        scores.family_score(frame, [0, 0, 0, 0], "c")
    with pytest.raises(ValueError, match="score: expected one of"):
        scores.family_score(frame, [0, 0, 0, 0], "a", score="mdl")

"""Random search problems, with what a search did on each as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

import tanager as tg
from tanager import structure as st

N_PROBLEMS = 200


def problem(number: int) -> tuple[Any, Any, Any, Any, int]:
    """Return data, classes, weights, a learner and a number of threads; each number gives another mixture of settings."""
    rng = np.random.default_rng([2026, number])
    n, n_rows, n_classes = int(rng.integers(2, 13)), int(rng.integers(20, 400)), int(rng.integers(2, 7))
    cardinalities = rng.integers(2, 40 if number % 11 == 0 else 7, n)
    hidden = rng.integers(0, n_classes, n_rows)
    X = np.empty((n_rows, n), dtype=object)
    for k in range(n):
        source = X[:, k - 1] if k and rng.random() < 0.5 else hidden
        mixed = (source.astype(int) * int(rng.integers(1, 4)) + (hidden if rng.random() < 0.5 else 0)) % cardinalities[
            k
        ]
        X[:, k] = np.where(rng.random(n_rows) < 0.35, rng.integers(0, cardinalities[k], n_rows), mixed)
    y = np.where(rng.random(n_rows) < 0.15, rng.integers(0, n_classes, n_rows), hidden)
    y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    if number % 4 == 1:
        X[rng.random(X.shape) < 0.08] = None
    weights = rng.integers(1, 4, n_rows).astype(float) if number % 7 == 3 else None
    return X, y, weights, _learner(number, rng, n), 1 + number % 2


def _learner(number: int, rng: np.random.Generator, n: int) -> Any:
    common: dict[str, Any] = {
        "cv": int(rng.integers(2, 6)),
        "epsilon": float(rng.choice([0.0, 0.005, 0.01])),
        "alpha": float(rng.choice([0.5, 1.0, 2.0])),
        "objective": "cll" if number % 3 == 2 else "accuracy",
    }
    if number % 13 == 5:
        common["max_steps"] = 2
    if number % 9 == 4 and n > 3:
        common["forbidden"] = [(0, 1), (1, 0), (2, 1)]
    kind = number % 5
    if kind in (0, 1):
        limits = {"max_parents": int(rng.integers(1, 4)), "symmetric": bool(number % 2)}
        return st.HillClimb(**common, **limits)
    common.pop("forbidden", None)
    return (st.SuperParent, st.ForwardJoin, st.BackwardJoin)[kind - 2](**common)


def record(number: int) -> dict[str, Any]:
    """Run one search and return its steps, scores as hexadecimal text, and the network's arcs."""
    X, y, weights, learner, threads = problem(number)
    clf = tg.BayesNetClassifier(learner, random_state=number, n_jobs=threads, numeric_features=[])
    clf.fit(X, y, sample_weight=weights)
    trace = clf.search_trace_
    return {
        "stopped": trace.stopped,
        "n_candidates": trace.n_candidates,
        "steps": [[step.change, step.score.hex(), step.n_candidates] for step in trace[1:]],
        "first": trace[0].score.hex(),
        "arcs": [list(arc) for arc in clf.network_.feature_arcs],
    }
